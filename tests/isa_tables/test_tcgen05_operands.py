# SPDX-License-Identifier: Apache-2.0
"""A and B of tcgen05.mma: their extents and types, their shares of two CTAs, their places, coded a second time."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy
import pytest

import isa_tables
from isa_tables import IsaError, NotInIsa, TableError, instruction, mnemonics, smem
from isa_tables.signature import signature
from tests.cases import each

PTX = Path(isa_tables.__file__).parent / "ptx"
MMA = "tcgen05.mma{}.cta_group::{}.kind::{}"
# 9.7.16.2.1: K where A is dense, and bits of an element
KINDS = {"f16": (16, 16), "tf32": (8, 32), "f8f6f4": (32, 8), "i8": (32, 8)}
SCALED = {"mxf8f6f4.block_scale": (32, 8), "mxf4.block_scale": (64, 4), "mxf4nvf4.block_scale.block16": (64, 4)}


@each("group", [1, 2])
@each("sparse", [False, True])
@each("kind", [*KINDS, *SCALED])
def test_k_is_that_of_the_kind(kind: str, sparse: bool, group: int) -> None:
    k, bits = {**KINDS, **SCALED}[kind]
    s = signature(MMA.format(".sp" * sparse, group, kind))
    m, n = s.operands["D"].extent
    a, b = s.operands["A"], s.operands["B"]
    assert (a.extent, b.extent) == ((m, k), (2 * k if sparse else k, n))
    assert (a.bits, b.bits, s.ctas) == (bits, bits, group)
    assert s.shape == (m, n, 2 * k if sparse else k)


def test_k_of_96_is_of_one_architecture() -> None:
    name = MMA.format("", 1, "mxf4nvf4.block_scale.block16")
    assert signature(name, K=96).shape == (128, 8, 96) and signature(name, K=96).targets == ("sm_103a",)
    assert signature(name).shape[2] == 64
    with pytest.raises(NotInIsa, match="no K = 96"):
        signature(MMA.format("", 1, "mxf8f6f4.block_scale"), K=96)
    with pytest.raises(IsaError, match="without formulas for the place"):
        instruction(name, K=96).operands["SFA"].place(0, 0)


def halves(extent: int, at: int) -> int:
    """The CTA that has row or column `at` of a matrix: the first half belongs to CTA 0."""
    return [*(0 for _ in range(extent // 2)), *(1 for _ in range(extent // 2))][at]


@each("name", [name for name in mnemonics("tcgen05.mma*") if "cta_group::2" in name])
def test_each_of_two_ctas_has_half_of_the_rows_of_a_and_of_the_columns_of_b(name: str) -> None:
    isa = instruction(name)
    a, b = isa.operands["A"], isa.operands["B"]
    m, n = isa.operands["D"].extent
    assert a.cta(*numpy.indices(a.extent))[:, 0].tolist() == [halves(m, row) for row in range(m)]
    assert b.cta(*numpy.indices(b.extent))[0].tolist() == [halves(n, column) for column in range(n)]
    alone = instruction(name.replace("cta_group::2", "cta_group::1"))
    assert not alone.operands["B"].cta(*numpy.indices(alone.operands["B"].extent)).any()


def a_in_tensor_memory(layout: str, m: int, k: int, bits: int, base: int) -> dict[tuple[int, ...], tuple[int, int]]:
    """(cta, lane, column, bit) -> element, walked through the memory of both CTAs: the fragments of CUTLASS.

    A row of A is `k` elements side by side in one lane. With 64 rows a warp has 16 of them, from `base` on; where two
    CTAs share 128 rows, each holds its 64 twice, in the lower and in the upper lanes.
    """
    elements = {}
    for cta in range(2 if layout in "AB" else 1):
        for lane in range(128):
            warp, inside = divmod(lane, 32)
            row = {
                "A": 128 * cta + lane,
                "B": 64 * cta + lane % 64,
                "D": lane,
                "F": 16 * warp + inside - base if base <= inside < base + 16 else m,
            }[layout]
            for element in range(k if row < m else 0):
                elements[cta, lane, *divmod(element * bits, 32)] = (row, element)
    return elements


def find_misplaced(folder: Path = PTX) -> list[str]:
    wrong = []
    for kind, (k, bits) in KINDS.items():
        for m, group, layout in ((256, 2, "A"), (128, 2, "B"), (128, 1, "D"), (64, 1, "F")):
            for base in (0, 16) if layout == "F" else (0,):
                extra = {"base": base} if layout == "F" else {}
                a = instruction(MMA.format("", group, kind), folder, M=m, A_space="tmem", **extra).operands["A"]
                row, col, copy = numpy.indices((*a.extent, a.copies)).reshape(3, -1)
                places = zip(*(part.tolist() for part in a.place(row, col, copy=copy).values()), strict=True)
                placed = dict(zip(places, zip(row.tolist(), col.tolist(), strict=True), strict=True))
                if placed != a_in_tensor_memory(layout, m, k, bits, base):
                    wrong.append(f"{kind} {layout}")
    return wrong


def test_a_is_in_the_lanes_of_tensor_memory() -> None:
    assert find_misplaced() == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('lane = "m % 64 + 64 * copy"', 'lane = "m % 64 + 32 * copy"'),
        ('lane = "m % 16 + 32 * (m // 16) + base", column = "k', 'lane = "m + base", column = "k'),
        ('column = "k * bits // 32"', 'column = "k * bits // 16"'),
        ('bit = "k * bits % 32"', 'bit = "k * bits % 16"'),
    ],
)
def test_a_planted_place_is_seen(old: str, new: str, tmp_path: Path) -> None:
    text = (PTX / "tcgen05_mma.toml").read_text()
    assert old in text
    shutil.copy(PTX / "tcgen05.sp_mma.toml", tmp_path)
    (tmp_path / "tcgen05_mma.toml").write_text(text.replace(old, new))
    assert find_misplaced(tmp_path)


def test_where_the_isa_has_a_figure_only_there_is_no_place() -> None:
    a = instruction(MMA.format(".ws", 1, "f16"), M=32, A_space="tmem").operands["A"]
    assert a.unmapped and a.text().startswith("in tmem")
    with pytest.raises(IsaError, match="without formulas for the place"):
        a.place(0, 0)


# Swizzle<B, M, S> of CuTe on addresses in bytes, and the canonical layouts in 16-byte units: ((chunks,m),(k0,k)) of an
# MN-major matrix, strides in brackets of those of LBO and SBO
MODES = {"none": (0, 4, 3, 1, 8), "32B": (1, 4, 3, 2, 8), "64B": (2, 4, 3, 4, 8), "128B": (3, 4, 3, 8, 8)}
MN_MODES = {**MODES, "128B32": (2, 5, 2, 8, 4)}


def swizzle(address: int, width: int, low: int, shift: int) -> int:
    """Bits low.. of an address, `width` of them, are exchanged by those `shift` higher."""
    mask = ((1 << width) - 1) << low
    return address ^ (address >> shift & mask)


def address(mode: str, major: str, mn: int, k: int, bits: int, lbo: int, sbo: int) -> int:
    per = 128 // bits
    width, low, shift, chunks, rows = MN_MODES[mode]
    if major == "K":
        inner, outer = (k // per) * (lbo if mode == "none" else 16), mn % 8 * chunks * 16 + mn // 8 * sbo
        return swizzle(inner + outer + k % per * bits // 8, width, low, shift)
    chunk, line = divmod(mn, per)[0], k
    along = chunk * sbo if mode == "none" else chunk % chunks * 16 + chunk // chunks * lbo
    across = line % rows * chunks * 16 + line // rows * (lbo if mode == "none" else sbo)
    return swizzle(along + across + mn % per * bits // 8, width, low, shift)


def wrong_addresses(layouts: smem.Layouts) -> list[tuple[str, str, int]]:
    wrong = []
    for mode, major in layouts.texts:
        for bits in (4, 8, 16, 32):
            ends = (32, 2 * 128 // bits) if major == "K" else (9 * 128 // bits, 24)
            said = layouts.address(*numpy.indices(ends), bits, mode, major, lbo=11 * 1024, sbo=3 * 1024)
            want = [
                [address(mode, major, mn, k, bits, 11 * 1024, 3 * 1024) for k in range(ends[1])]
                for mn in range(ends[0])
            ]
            if said.tolist() != want:
                wrong.append((mode, major, bits))
    return wrong


def test_addresses_are_those_of_the_canonical_layouts() -> None:
    layouts = smem.read_layouts("tcgen05")
    assert {*layouts.texts} == {(m, "K") for m in MODES} | {(m, "MN") for m in MN_MODES}
    assert wrong_addresses(layouts) == []
    assert instruction(MMA.format("", 1, "tf32")).operands["B"].address(1, 4, "128B32", "MN", lbo=0, sbo=0) == 144 ^ 32


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (">> 7) & 3) << 5", ">> 7) & 3) << 4"),
        ("k % 4 * 128 + k // 4 * sbo", "k % 8 * 128 + k // 8 * sbo"),
        ("mn // (2 * T) * lbo", "mn // (2 * T) * sbo"),
        ("mn % 8 * 32", "mn % 8 * 64"),
    ],
)
def test_a_planted_address_is_seen(old: str, new: str, tmp_path: Path) -> None:
    text = (PTX.parent / "memory" / "tcgen05.toml").read_text()
    assert old in text
    (tmp_path / "tcgen05.toml").write_text(text.replace(old, new))
    assert wrong_addresses(smem.read_layouts("tcgen05", tmp_path))


def test_a_descriptor_of_tcgen05_has_its_fields_where_the_isa_has_them() -> None:
    """9.7.16.4.1: as that of wgmma, but 48-46 hold 0b001 and 63-61 another code of the swizzle."""
    layouts = smem.read_layouts("tcgen05")
    word = layouts.descriptor(start=0x12340, lbo=16, sbo=1024, swizzle="128B", base_offset=5)
    assert word == 0x1234 | 1 << 16 | 64 << 32 | 1 << 46 | 5 << 49 | 2 << 61
    codes = {s: layouts.descriptor(start=0, lbo=0, sbo=0, swizzle=s) >> 61 for s in MN_MODES}
    assert codes == {"none": 0, "128B32": 1, "128B": 2, "64B": 4, "32B": 6}


def test_the_share_of_a_cta_goes_with_address_maps_only(tmp_path: Path) -> None:
    text = (PTX / "tcgen05_mma.toml").read_text()
    (tmp_path / "tcgen05_mma.toml").write_text(text.replace('[D]\ntype   = "b32"', '[D]\ncta = "0"\ntype   = "b32"'))
    with pytest.raises(TableError, match=r"D\.cta: has no meaning with 'place'"):
        instruction(MMA.format("", 1, "f16"), tmp_path)
