# SPDX-License-Identifier: Apache-2.0
"""Operands in shared and Tensor Memory: addresses, descriptors and placements, coded a second time."""

from __future__ import annotations

import re
from pathlib import Path

import numpy
import pytest

import isa_tables
from isa_tables import IsaError, NotInIsa, TableError, instruction, mnemonics, smem
from isa_tables.signature import signature
from tests.isa_tables import second_coding

HOME = Path(isa_tables.__file__).parent
F16 = "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16"
MMA = "tcgen05.mma{}.cta_group::{}.kind::f16"

# 9.7.15.5.1.2: the canonical layouts in elements, as (shape, stride) along the first and the second coordinate; the
# first is m or n, the second k, whatever the major. None means "as many as there are".
CHUNKS = {"none": 1, "32B": 2, "64B": 4, "128B": 8}
BITS = {"none": 0, "32B": 1, "64B": 2, "128B": 3}


def canonical(swizzle: str, major: str, t: int, lbo: int, sbo: int) -> list[list[tuple[int | None, int]]]:
    w = CHUNKS[swizzle]
    if major == "K":
        inner = [(t, 1), (None, lbo)] if swizzle == "none" else [(t, 1), (None, t)]
        return [[(8, t if swizzle == "none" else w * t), (None, sbo)], inner]
    if swizzle == "none":
        return [[(t, 1), (None, sbo)], [(8, t), (None, lbo)]]
    return [[(t, 1), (w, t), (None, lbo)], [(8, w * t), (None, sbo)]]


def offset(place: int, modes: list[tuple[int | None, int]]) -> int:
    total = 0
    for extent, stride in modes:
        total += (place if extent is None else place % extent) * stride
        place = 0 if extent is None else place // extent
    return total


def swizzle_chunk(address: int, bits: int) -> int:
    """The 16-byte chunk of a 128-byte line is exchanged by the low bits of the line's number."""
    line, rest = divmod(address, 128)
    chunk, byte = divmod(rest, 16)
    return 128 * line + 16 * (chunk ^ line % 2**bits) + byte


def find_wrong(layouts: smem.Layouts) -> list[tuple[str, str, int]]:
    wrong = []
    for swizzle, major in layouts.texts:
        for bits in (1, 4, 8, 16, 32) if major == "K" else (16,):
            t = 128 // bits
            lbo, sbo = 5 * 128, 9 * 1024  # bytes, and no multiples of each other
            modes = canonical(swizzle, major, t, lbo * 8 // bits, sbo * 8 // bits)
            rows, cols = (32, 2 * t) if major == "K" else (16 * t, 32)
            linear = [
                [(offset(mn, modes[0]) + offset(k, modes[1])) * bits // 8 for k in range(cols)] for mn in range(rows)
            ]
            expected = [[swizzle_chunk(address, BITS[swizzle]) for address in line] for line in linear]
            said = layouts.address(*numpy.indices((rows, cols)), bits, swizzle, major, lbo=lbo, sbo=sbo)
            if said.tolist() != expected:
                wrong.append((swizzle, major, bits))
    return wrong


def test_addresses_are_those_of_the_canonical_layouts() -> None:
    layouts = smem.read_layouts("wgmma")
    assert set(layouts.texts) == {(swizzle, major) for swizzle in CHUNKS for major in ("K", "MN")}
    assert find_wrong(layouts) == []


@pytest.mark.long
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("mn % 8 * 16 + mn // 8 * sbo", "mn % 8 * 16 + mn // 8 * lbo"),
        ("mn % 8 * 64", "mn % 8 * 128"),
        ("+ k % 8 * 16 + k // 8 * lbo", "+ k % 8 * 16 + k // 8 * sbo"),
        ("mn // (4 * T) * lbo", "mn // (4 * T) * sbo"),
        (">> 7) & 3) << 4", ">> 7) & 1) << 4"),
        (">> 7) & 7) << 4", ">> 8) & 7) << 4"),
    ],
)
def test_a_planted_address_error_is_seen(old: str, new: str, tmp_path: Path) -> None:
    text = (HOME / "memory" / "wgmma.toml").read_text()
    assert old in text
    (tmp_path / "wgmma.toml").write_text(text.replace(old, new, 1))
    assert find_wrong(smem.read_layouts("wgmma", tmp_path)) != []


def test_canonical_layouts_are_printed_as_the_isa_prints_them() -> None:
    for (swizzle, major), text in smem.read_layouts("wgmma").canonical.items():
        w = CHUNKS[swizzle]
        wt = "T" if swizzle == "none" else f"{w}T"
        k_major = f"((8,m),(T,2k)):(({wt},SBO),(1,{'LBO' if swizzle == 'none' else 'T'}))"
        strides = "(1,T,SBO),(T,LBO)" if swizzle == "none" else f"(1,T,LBO),({wt},SBO)"
        assert text == (k_major if major == "K" else f"((T,{w},m),(8,k)):({strides})")


@pytest.mark.parametrize("swizzle", sorted(CHUNKS))
@pytest.mark.parametrize("major", ["K", "MN"])
def test_a_tile_fills_its_bytes_once(swizzle: str, major: str) -> None:
    """B of m64n64k16 f16, packed as tightly as the layout allows: 2048 bytes, each element at one place."""
    b = instruction(F16).operands["B"]
    w = CHUNKS[swizzle]
    if major == "K":
        tight = {"lbo": 128, "sbo": 256} if swizzle == "none" else {"sbo": 8 * 16 * w}
    else:
        tight = {"lbo": 64 // 8 * 128, "sbo": 128} if swizzle == "none" else {"lbo": 2 * 128 * w, "sbo": 128 * w}
    row, col = numpy.indices(b.extent)
    places = b.address(row, col, swizzle, major, **tight)
    assert places.dtype == numpy.int64
    assert len(numpy.unique(places)) == 16 * 64
    if major == "MN" or swizzle in ("none", "32B"):
        assert sorted(places.ravel()) == list(range(0, 2048, 2))
    assert b.address(3, 9, swizzle, major, **tight) == places[3, 9]


def test_rows_of_a_and_columns_of_b_are_the_outer_coordinate() -> None:
    ss = instruction(F16)
    assert ss.operands["A"].address(9, 3, "32B", "K", sbo=256) == 256 + 32 + 6
    assert ss.operands["B"].address(3, 9, "32B", "K", sbo=256) == 256 + 32 + 6
    with pytest.raises(IsaError, match="m = 64 is outside"):
        ss.operands["A"].address(64, 0, "none", "K")


def test_a_descriptor_of_wgmma_has_its_fields_where_the_isa_has_them() -> None:
    """9.7.15.5.1.2.2: 13-0 start, 29-16 LBO, 45-32 SBO, 51-49 base offset, 63-62 swizzle."""
    word = smem.read_layouts("wgmma").descriptor(start=0x12340, lbo=16, sbo=1024, swizzle="128B", base_offset=5)
    assert word == 0x1234 | 1 << 16 | 64 << 32 | 5 << 49 | 1 << 62
    codes = {s: smem.read_layouts("wgmma").descriptor(start=0, lbo=0, sbo=0, swizzle=s) >> 62 for s in CHUNKS}
    assert codes == {"none": 0, "128B": 1, "64B": 2, "32B": 3}
    for bad in ({"start": 8}, {"start": 1 << 18}, {"lbo": -16}, {"base_offset": 8}, {"swizzle": "16B"}):
        with pytest.raises(IsaError, match=r"descriptor|no swizzle"):
            smem.read_layouts("wgmma").descriptor(**{"start": 0, "lbo": 16, "sbo": 16, "swizzle": "none", **bad})


def test_what_cannot_be_addressed_is_rejected() -> None:
    ss, rs = instruction(F16), instruction(F16, A_space="reg")
    for question in (
        lambda: rs.operands["A"].address(0, 0, "none", "K"),
        lambda: ss.operands["B"].address(0, 0, "16B", "K"),
        lambda: instruction(F16.replace("k16", "k8").replace("f16", "tf32")).operands["B"].address(0, 0, "none", "MN"),
        lambda: smem.read_layouts("wgmma").address(0, 0, 6, "none", "K"),
        lambda: ss.operands["B"].locate(0, 0),
        lambda: ss.operands["B"].place(0, 0),
    ):
        with pytest.raises(IsaError):
            question()
    assert ss.operands["B"].text() == "in smem, K- or MN-major, by the address maps of wgmma"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("mn % 8 * 16", "nm % 8 * 16", "layout.K.none: unknown name 'nm'"),
        ('major     = "K"', "mayor = 1", "layout[0].mayor: unknown key"),
        ('name      = "64B"', 'name      = "65B"', "no such swizzle: '65B'"),
        ("schema  = 1", "schema = 2", "only schema 1"),
        ('value = "x"', 'value = "y"', "field.base_offset.value: unknown name 'y'"),
        ("low   = 16", 'low   = "16"', "field[1].low: must be a bit of the descriptor, 0 to 63, not '16'"),
        ("high  = 63", "high  = 64", "field[4].high: must be a bit of the descriptor"),
        ("high  = 29", "high  = 15", "field.lbo: bits 16 to 15 are an empty range or overlap another field"),
        ("low   = 16", "low   = 13", "field.lbo: bits 13 to 29 are an empty range or overlap another field"),
        ('name  = "lbo"', 'name  = "lob"', "field.lbo: this field is missing"),
        ('name  = "lbo"', 'name  = "sbo"', "field: sbo is described twice"),
        ("code    = 3", 'code    = "3"', "swizzle[1].code: must be an integer from 0 up, not '3'"),
        ("code    = 3", "code    = -1", "swizzle[1].code: must be an integer"),
        ('name    = "64B"', 'name    = "32B"', "swizzle: 32B is described twice"),
        ('name      = "64B"', 'name      = "32B"', "layout: K 32B is described twice"),
    ],
)
def test_a_bad_file_of_layouts(old: str, new: str, words: str, tmp_path: Path) -> None:
    text = (HOME / "memory" / "wgmma.toml").read_text()
    (tmp_path / "wgmma.toml").write_text(text.replace(old, new, 1))
    with pytest.raises(TableError, match=re.escape(words)):
        smem.read_layouts("wgmma", tmp_path).address(0, 0, 16, "none", "K")


# M, cta_group, mode -> layout (9.7.16.10.5)
LAYOUTS = [
    (256, 2, "", "A"), (256, 2, ".sp", "A"), (128, 2, "", "B"), (128, 2, ".sp", "C"), (128, 1, "", "D"),
    (128, 1, ".ws", "D"), (64, 1, ".ws", "E"), (64, 1, "", "F"), (64, 1, ".sp", "F"), (32, 1, ".ws", "G"),
    (32, 1, ".ws.sp", "G"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("m", "group", "mode", "layout"), LAYOUTS)
@pytest.mark.parametrize("n", [64, 128])
def test_d_lies_in_tensor_memory_as_its_layout_says(m: int, group: int, mode: str, layout: str, n: int) -> None:
    for base in (0, 16) if layout in "CF" else (0,):
        extra = {"base": base} if layout in "CF" else {}
        mma = instruction(MMA.format(mode, group), M=m, N=n, **extra)
        assert mma.signature.chosen["layout"] == layout
        d = mma.operands["D"]
        assert (d.space, d.extent, d.provenance.split(":")[0]) == ("tmem", (m, n), "derived")
        place = d.place(*numpy.indices(d.extent))
        assert list(place) == ["cta", "lane", "column"]
        placed = {
            (int(c), int(lane), int(column)): (row, col)
            for (row, col), c, lane, column in zip(
                numpy.ndindex(m, n), *(place[key].ravel() for key in place), strict=True
            )
        }
        assert placed == second_coding.in_tensor_memory(layout, m, n, base)


@pytest.mark.slow
def test_a_planted_placement_error_is_seen(tmp_path: Path) -> None:
    text = (HOME / "ptx" / "tcgen05_mma.toml").read_text()
    for old in ("m % 64 + 64 * (n // (N // 2))", "m + 32 * (n // (N // 4))", "m % 16 + 32 * (m // 16) + base"):
        assert old in text
        (tmp_path / "tcgen05_mma.toml").write_text(text.replace(old, f"{old} ^ 1"))
        hits = 0
        for m, group, mode, layout in LAYOUTS:
            if ".sp" not in mode:
                d = instruction(MMA.format(mode, group), folder=tmp_path, M=m, N=64).operands["D"]
                expected = second_coding.in_tensor_memory(layout, m, 64, 0)
                hits += any(
                    expected.get(tuple(d.place(*element).values())) != element for element in ((0, 0), (m - 1, 63))
                )
        assert hits == 1


def test_every_layout_of_d_is_covered_and_no_other_shape_exists() -> None:
    assert {layout for *_, layout in LAYOUTS} == set("ABCDEFG")
    with pytest.raises(NotInIsa, match="the ISA has no M = 96"):
        instruction(MMA.format("", 1), M=96)
    names = [name for name in mnemonics("tcgen05.mma*")]
    assert len(names) == 24 + 40 and all(signature(name).operands["D"].space == "tmem" for name in names)


# 9.7.16.2.1: the N of each kind, by cta_group and by .ws
EIGHTS, SIXTEENS = tuple(range(8, 257, 8)), tuple(range(16, 257, 16))
SIZES = {
    ("", 1): EIGHTS, ("", 2): SIXTEENS, (".sp", 1): EIGHTS, (".sp", 2): SIXTEENS,
    (".ws", 1): (64, 128, 256), (".ws.sp", 1): (64, 128),
}  # fmt: skip


@pytest.mark.parametrize("mode", [".ws", ".ws.sp", "", ".sp"])
@pytest.mark.parametrize("kind", ["f16", "tf32", "f8f6f4", "i8"])
def test_n_is_one_of_the_sizes_of_its_kind(kind: str, mode: str) -> None:
    for group in (1, 2) if "ws" not in mode else (1,):
        sizes = SIZES[mode, group]
        if kind == "i8" and "ws" not in mode:
            sizes = (8, 16, 24, *range(32, 257, 16)) if group == 1 else tuple(range(32, 257, 32))
        for m in {(1, True): (32, 64, 128), (1, False): (64, 128), (2, False): (128, 256)}[group, "ws" in mode]:
            assert signature(f"tcgen05.mma{mode}.cta_group::{group}.kind::{kind}", M=m).select["N"] == sizes


# 9.7.14.4.1: registers of A, B and C
WMMA = {
    "m16n16k16 f16": (8, 8, 8), "m8n32k16 f16": (8, 8, 8), "m32n8k16 f16": (8, 8, 8),
    "m16n16k16 bf16": (4, 4, 8), "m8n32k16 bf16": (2, 8, 8), "m32n8k16 bf16": (8, 2, 8), "m16n16k8 tf32": (4, 4, 8),
    "m8n8k4 f64": (1, 1, 2), "m16n16k16 u8": (2, 2, 8), "m8n32k16 u8": (1, 4, 8), "m32n8k16 u8": (4, 1, 8),
    "m8n8k32 u4": (1, 1, 2), "m8n8k128 b1": (1, 1, 2),
}  # fmt: skip


# 32 lanes of 16 elements of f16 hold 16x16, 8x16 or 32x16 of them; each other fragment is as large as its matrix
COPIES = {"m16n16k16 f16": (2, 2), "m8n32k16 f16": (4, 1), "m32n8k16 f16": (1, 4)}


def test_fragments_of_wmma_have_registers_but_no_layout() -> None:
    seen = set()
    for name in mnemonics("wmma.mma*"):
        mma = instruction(name)
        (shape,) = re.findall(r"m\d+n\d+k\d+", name)
        key = f"{shape} {mma.operands['A'].type}".replace("s8", "u8").replace("s4", "u4")
        seen.add(key)
        a, b, c = WMMA[key]
        regs = {k: o.regs for k, o in mma.operands.items()}
        assert (regs["A"], regs["B"]) == (a, b)
        for x in "CD":
            assert regs[x] == (c // 2 if mma.operands[x].type == "f16" else c)
        for operand in mma.operands.values():
            assert operand.unspecified and operand.provenance == "ISA text"
            assert operand.text().startswith("unspecified by the ISA")
            for ask in (lambda o=operand: o.locate(0, 0), lambda o=operand: o.row):
                with pytest.raises(IsaError, match="leaves unspecified"):
                    ask()
            copies = {"A": COPIES.get(key, (1, 1))[0], "B": COPIES.get(key, (1, 1))[1]}.get(operand.name, 1)
            assert operand.copies == copies, (name, operand.name)
    assert seen == set(WMMA)
    load = instruction("wmma.load.a.sync.aligned.m16n16k16.row.shared.f16")
    assert load.signature == signature("wmma.load.a.sync.aligned.m16n16k16.row.shared.f16")
    assert list(load.operands) == ["A"] and load.operands["A"].copies == 2
    assert instruction("wmma.load.b.sync.aligned.row.m32n8k16.f16").operands["B"].copies == 4
    assert instruction("wmma.store.d.sync.aligned.row.m32n8k16.f32").operands["D"].copies == 1


@pytest.mark.parametrize(("extent", "reason"), [("[16, 24]", "1 x 16x24"), ("[64, 64]", "0 x 64x64")])
def test_a_fragment_without_a_layout_has_each_element_equally_often(extent: str, reason: str, tmp_path: Path) -> None:
    text = (Path(isa_tables.__file__).parent / "ptx" / "wmma_m16n16k16.toml").read_text()
    (tmp_path / "wmma_m16n16k16.toml").write_text(text.replace("[A]\nextent = [16, 16]", f"[A]\nextent = {extent}"))
    with pytest.raises(TableError, match=f"A.values: 32 lanes x 16 values is not {reason} elements"):
        signature("wmma.load.a.sync.aligned.m16n16k16.row.shared.f16", tmp_path)


@pytest.mark.parametrize(("swizzle", "advance"), [("64B", 32), ("128B", 32), ("128B", 64), ("128B", 96)])
def test_a_start_inside_the_pattern_is_permuted_with_it(swizzle: str, advance: int) -> None:
    """CUTLASS steps along k by the start alone: element (mn, k) of the step is element (mn, k + step) of the tile."""
    layouts = smem.read_layouts("wgmma")
    mn, k = numpy.indices((16, 8))
    whole = layouts.address(mn, k + advance // 2, 16, swizzle, "K", sbo=1024, start=4096)
    assert (layouts.address(mn, k, 16, swizzle, "K", sbo=1024, start=4096 + advance) == whole).all()
    assert (layouts.address(mn, k, 16, swizzle, "K", sbo=1024) + 4096 + advance != whole).any()


@pytest.mark.parametrize("name", ["wgmma", "tcgen05"])
def test_a_descriptor_is_decoded(name: str) -> None:
    layouts = smem.read_layouts(name)
    for swizzle in layouts.swizzles:
        said = {"start": 0x12340, "lbo": 16, "sbo": 1024, "base_offset": 5, "swizzle": swizzle}
        assert layouts.decode(layouts.descriptor(**said)) == smem.Descriptor(**said)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "flip", "words"),
    [
        ("wgmma", 1 << 14, "outside its fields: 0x4000"),
        ("tcgen05", 1 << 46, r"bits 46-48 (constant) of the descriptor are 0; they must be 1"),
        ("tcgen05", 1 << 52, r"bits 52-52 (lbo_mode) of the descriptor are 1; they must be 0"),
        ("tcgen05", 7 << 61, "no swizzle has the code 7"),
    ],
)
def test_bits_that_mean_nothing_are_an_error(name: str, flip: int, words: str) -> None:
    word = smem.read_layouts(name).descriptor(start=0, lbo=16, sbo=16, swizzle="none")
    with pytest.raises(IsaError, match=re.escape(words)):
        smem.read_layouts(name).decode(word ^ flip)
