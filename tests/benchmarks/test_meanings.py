# SPDX-License-Identifier: Apache-2.0
"""Edits of meanings: which a text has, of which class, and for which a row says that they have no effect."""

from __future__ import annotations

import shutil

import pytest

from benchmarks.kernels.edits import Edit
from benchmarks.kernels.meanings import SORTS, draw_meanings, excuse, misread, respelled, sort_of, take
from isa_tables.semantics import meaning, rows
from tests.verify.kernel.forms import choose_first, list_pairs

TEXT = """.version 8.7
.target sm_90a
.address_size 64
.visible .entry k()
{
\t.reg .pred %p<3>;
\t.reg .b32 %r<9>;
\t.reg .f32 %f<9>;
\t.reg .b64 %rd<9>;
\t.shared .align 16 .b8 memory[64];
\tmul.wide.u32 %rd1, %r1, 4;
\tadd.rn.f32 %f1, %f2, 0f3F800000;
\tselp.b32 %r1, %r2, %r3, !%p1;
\t@%p1 st.global.b32 [%rd1], %r1;
\tfence.acq_rel.gpu;
\tshfl.sync.bfly.b32 %r4, %r5, 1, 31, -1;
\t{.reg .pred p; setp.lt.s32 p, %r4, 7; @p bar.warp.sync 0xffffffff;}
\tret;
}
"""
EXPECTED = {  # class -> text that one of its edits has
    "modifiers": ("add.rn.sat.f32", "shfl.sync.up.b32", "setp.le.s32 p, %r4, 7"),
    "signedness": ("mul.wide.s32 ", "setp.lt.u32 p"),
    "widths": ("mul.lo.u32", "st.global.b8 ", "selp.b64"),
    "rounding": ("add.f32 ", "add.rz.f32 "),
    "scopes": ("fence.acq_rel.cta", "fence.sc.gpu", "st.release.gpu.global.b32"),
    "masks": ("1, 31, 0x0000ffff;", "bar.warp.sync 0x7fffffff;}"),
    "negations": (
        "%r3, %p1;", "@!%p1 st", "0fBF800000", "neg.f32 %f1, %f2; add.rn.f32 %f1, %f1, 0f3F800000;", "5, -1, 31",
        "setp.lt.s32 p, %r4, -7", "@!p bar.warp",
    ),
    "alignments": (".align 1 .b8", ".align 4 .b8", ".align 8 .b8"),
}  # fmt: skip


def test_a_text_has_edits_of_every_class() -> None:
    edits = list(misread(TEXT))
    assert {edit.sort for edit in edits} == set(SORTS) == EXPECTED.keys()
    for sort, parts in EXPECTED.items():
        for part in parts:
            assert any(edit.sort == sort and part in edit.new for edit in edits), (sort, part)
    lines = TEXT.splitlines()
    assert all(lines[edit.line - 1] == edit.old != edit.new for edit in edits)


@pytest.mark.long
def test_every_word_of_every_row_is_another_opcode() -> None:
    """Each value of each list, and each optional word, of all rows but those whose words are in isa_tables/ptx."""
    pairs = 0
    for row in rows():
        for form, base in () if row.spelling.endswith("*") else list_pairs(row):
            if form.opcode != base.opcode and form.opcode.split(".")[0] == base.opcode.split(".")[0]:
                assert form.opcode in {name for _, name in respelled(base.opcode)}, (base.opcode, form.opcode)
                pairs += 1
    assert pairs > 700
    assert all(meaning(name) for row in rows() for _, name in respelled(choose_first(row).opcode))


def test_matrix_instructions_become_others_of_their_shape() -> None:
    product = "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32"
    names = {name for _, name in respelled(product)}
    assert names >= {product.replace("s8.s8", "u8.s8"), product.replace(".s32.s8", ".satfinite.s32.s8")}
    assert all(".m16n8k32." in name for name in names)
    trans = "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16"
    assert ("modifiers", trans) in respelled(trans.replace(".trans", ""))


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("ld.global.b32 %r1, [%rd1];", "ld.global.ca.b32 %r1, [%rd1];", "9.7.9.8, a cache operator is a hint of speed"),
        ("ld.global.b32 %r1, [%rd1];", "ld.global.s32 %r1, [%rd1];", ""),
        ("ld.global.b32 %r1, [%rd1];", "ld.global.ca.b32 %r1, [%rd2];", ""),
        ("ld.global.ca.b32 %r1, [%rd1];", "ld.global.nc.b32 %r1, [%rd1];", ""),
        ("add.s32 %r1, %r2, 4;", "", ""),
    ],
)
def test_a_row_excuses_its_own_words_alone(old: str, new: str, reason: str) -> None:
    assert excuse(Edit(1, "modifiers", old, new)) == reason


@pytest.mark.parametrize(
    ("old", "new", "sort"),
    [
        ("shr.s32", "shr.u32", "signedness"),
        ("setp.lt.s32", "setp.lt.b32", "signedness"),
        ("mov.b32", "mov.f32", "modifiers"),
        ("cvt.rn.f16.f32", "cvt.rn.bf16.f32", "modifiers"),
        ("cvt.rn.f16.f32", "cvt.rn.relu.f16.f32", "modifiers"),
        ("cvt.rni.s32.f32", "cvt.rzi.s32.f32", "rounding"),
        ("cvt.u32.u16", "cvt.u32.u8", "widths"),
        ("mul.lo.s32", "mul.hi.s32", "widths"),
        ("bar.cta.sync", "bar.sync", "scopes"),
        ("fence.acq_rel.gpu", "fence.acq_rel.cta", "scopes"),
    ],
)
def test_a_change_has_the_class_of_what_it_changes(old: str, new: str, sort: str) -> None:
    assert sort_of(old, new) == sort


@pytest.mark.skipif(shutil.which("ptxas") is None, reason="needs ptxas")
def test_edits_are_drawn_that_ptxas_takes_and_repeatably() -> None:
    edits = list(misread(TEXT))
    kept = take(TEXT, edits)
    assert {edit.sort for edit in kept} == set(SORTS) and len(kept) < len(edits)
    opcodes = {edit.new.split()[0] for edit in kept}
    assert "mul.wide.s32" in opcodes and "mul.lo.u32" not in opcodes  # of which the destination has 32 bits
    assert any("p, %r4, -7; @p bar.warp.sync 0xffffffff;}" in edit.new for edit in kept)
    chosen = draw_meanings(TEXT, 16, seed=3)
    assert chosen == draw_meanings(TEXT, 16, seed=3) != draw_meanings(TEXT, 16, seed=4)
    assert set(chosen) <= set(kept) and len(set(chosen)) == 16 and {edit.sort for edit in chosen} == set(SORTS)
