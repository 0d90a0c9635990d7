# SPDX-License-Identifier: Apache-2.0
"""Scale factors and what tcgen05.cp copies, in Tensor Memory, coded a second time."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy
import pytest

import isa_tables
from isa_tables import IsaError, NotInIsa, Operand, instruction, mnemonics
from isa_tables.signature import signature
from tests.isa_tables import second_coding
from tests.isa_tables.test_fragments import Term

pytestmark = pytest.mark.slow

PTX = Path(isa_tables.__file__).parent / "ptx"
SCALED = [name for name in mnemonics("tcgen05.mma*") if ".block_scale" in name]
COPIES = mnemonics("tcgen05.cp")
BLOCKS = {"mxf8f6f4": 1, "mxf4": 2, "block32": 2, "2X": 2, "block16": 4, "4X": 4}
Elements = dict[tuple[int, ...], tuple[int, int]]


def contents(operand: Operand, swap: bool = False) -> Elements:
    """Every place and the element there, one coordinate pair for all copies; no place twice."""
    row, col, copy = numpy.indices((*operand.extent, operand.copies)).reshape(3, -1)
    places = zip(*(part.tolist() for part in operand.place(row, col, copy=copy).values()), strict=True)
    elements = zip(*((col.tolist(), row.tolist()) if swap else (row.tolist(), col.tolist())), strict=True)
    placed: Elements = dict(zip(places, elements, strict=True))
    assert len(placed) == row.size, "two elements at one place"
    return placed


def blocks(name: str) -> int:
    """Scale factors of a row: by the vector that is named, else by the kind."""
    kind = name.partition("kind::")[2].partition(".")[0]
    word = name.rpartition("scale_vec::")[2] if "scale_vec" in name else name.rpartition(".")[2]
    return BLOCKS[kind if kind == "mxf8f6f4" or word == "block_scale" else word]


def wrong_scales(name: str, folder: Path = PTX, every_id: bool = True) -> list[str]:
    select = signature(name, folder).select
    wrong = []
    for stype in select["stype"]:
        for n in (select["N"][0], 48, 256):
            for byte_id in select["SFA_ID"] if every_id else select["SFA_ID"][-1:]:
                isa = instruction(name, folder, N=n, SFA_ID=byte_id, SFB_ID=byte_id, stype=stype)
                group = int(name.partition("cta_group::")[2][0])
                for operand, extent in (("SFA", 128 * group), ("SFB", n)):
                    placed = contents(isa.operands[operand], operand == "SFB")
                    want = second_coding.scales_in_tensor_memory(operand, group, extent, blocks(name), byte_id)
                    if placed != want or list(isa.operands[operand].place(0, 0)) != ["cta", "lane", "column", "byte"]:
                        wrong.append(f"{name} {operand} {n} {byte_id}")
    return wrong


@pytest.mark.parametrize("name", SCALED)
def test_scale_factors_are_where_the_second_coding_has_them(name: str) -> None:
    assert wrong_scales(name) == []
    isa = instruction(name)
    m, n = isa.operands["D"].extent
    layout = isa.signature.chosen["layout"]
    assert (layout, m) == (("A", 256) if "group::2" in name else ("D", 128))
    assert contents(isa.operands["D"]) == second_coding.in_tensor_memory(str(layout), m, n, 0)


def test_a_scale_factor_has_the_type_that_is_chosen() -> None:
    name = "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16"
    for stype in ("ue8m0", "ue4m3"):
        operands = signature(name, stype=stype).operands
        assert {operands["SFA"].type, operands["SFB"].type} == {stype}
    with pytest.raises(NotInIsa, match="no stype = 'ue4m3'"):
        signature("tcgen05.mma.cta_group::1.kind::mxf4.block_scale", stype="ue4m3")
    with pytest.raises(NotInIsa, match="SFA_ID of 0, 2"):
        signature("tcgen05.mma.cta_group::1.kind::mxf4.block_scale", SFA_ID=1)


@pytest.mark.parametrize("name", COPIES)
def test_what_is_copied_arrives_where_the_second_coding_has_it(name: str) -> None:
    copied = instruction(name).operands["T"]
    assert contents(copied) == second_coding.copied_to_tensor_memory(name)
    rows, bits = (int(word) for word in name.split(".")[3].rstrip("b").split("x"))
    assert copied.extent[0] * copied.extent[1] * copied.bits == rows * bits


PLANTED = [
    ("tcgen05.block-scale_mma", "m % 32 + 32 * copy", "(m % 32 ^ 1) + 32 * copy"),
    ("tcgen05.block-scale_mma", "m % 128 // 32", "m // 32"),
    ("tcgen05.block-scale_mma", "SFA_ID + block", "block"),
    ("tcgen05.block-scale_mma", "n % 32 + 32 * (copy % 4)", "n % 32 + 32 * (copy // 4)"),
    ("tcgen05.sp.block-scale_mma", "SFB_ID + block", "SFB_ID"),
    ("tcgen05.sp.block-scale_mma", '"copy // 4"', '"0"'),
    ("tcgen05_cp", '"32 * row"', '"row"'),
    ("tcgen05_cp", "row + 64 * (copy % 2)", "row % 32 + 64 * (row // 32) + 32 * (copy % 2)"),
    ("tcgen05_cp", "row % 32 + 64 * (row // 32) + 32 * (copy % 2)", "row + 64 * (copy % 2)"),
    ("tcgen05_cp", "row + 32 * (copy % 4)", "row + 32 * (copy // 2)"),
    ("tcgen05_cp", "col // parts", "col // parts ^ 1"),
]


@pytest.mark.parametrize(("file", "old", "new"), PLANTED)
def test_a_planted_error_is_seen(file: str, old: str, new: str, tmp_path: Path) -> None:
    text = (PTX / f"{file}.toml").read_text()
    assert old in text
    shutil.copy(PTX / f"{file}.toml", tmp_path)
    (tmp_path / f"{file}.toml").write_text(text.replace(old, new))
    seen = False
    for name in mnemonics("*", tmp_path):
        try:
            wrong = (
                contents(instruction(name, tmp_path).operands["T"]) != second_coding.copied_to_tensor_memory(name)
                if file == "tcgen05_cp"
                else wrong_scales(name, tmp_path, every_id=False) != []
            )
        except AssertionError:  # two elements at one place
            wrong = True
        seen |= wrong
    assert seen


def test_a_copy_is_asked_for_by_its_number() -> None:
    t = instruction("tcgen05.cp.cta_group::2.32x128b.warpx4").operands["T"]
    assert t.copies == 8
    assert t.place(3, 1, copy=6) == {"cta": 1, "lane": 67, "column": 1, "byte": 0}
    places = t.place(*numpy.indices((32, 4)), copy=numpy.int64(2))
    assert places["lane"].shape == (32, 4) and places["lane"][31, 0] == 95
    place = t.place(Term("row"), Term("col"), copy=Term("copy"))
    assert place["lane"].text == "(row + (32 * (copy % 4)))"
    for copy in (-1, 8):
        with pytest.raises(IsaError, match=f"copy = {copy} is outside 0..7"):
            t.place(0, 0, copy=copy)
    d = instruction("tcgen05.mma.cta_group::1.kind::f16").operands["D"]
    with pytest.raises(IsaError, match=r"copy = 1 is outside 0\.\.0"):
        d.place(0, 0, copy=1)


def test_a_load_with_reduction_has_one_result_a_thread() -> None:
    isa = instruction("tcgen05.ld.red.sync.aligned.16x32bx2.x4.min.f32", immHalfSplitoff=8)
    red, r = isa.operands["RED"], isa.operands["R"]
    assert (red.values, red.extent, r.extent, isa.signature.products) == (1, (16, 1), (16, 4), 2)
    assert [red.locate(lane, 0) for lane in (0, 15, 16, 31)] == [(0, 0), (15, 0), (0, 0), (15, 0)]
    assert isa.signature.asm == "{R}, {RED}, [taddr], 8"
    assert red.provenance.startswith("derived: by analogy")
    plain = instruction("tcgen05.ld.red.sync.aligned.32x32b.x2.max.s32")
    assert plain.operands["RED"].provenance == "ISA text" and plain.operands["RED"].type == "s32"
