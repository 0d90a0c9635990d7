# SPDX-License-Identifier: Apache-2.0
"""A formula that a declaration numbers anew, on integers and on arrays; a declaration that is none changes nothing."""

import isa_tables
from layouts.arrays import np
from verify.binding.coordinates import Registers
from verify.binding.relabelling import blocks, order, relabel_formula

MMA = isa_tables.instruction("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
A = Registers("A", MMA.operands["A"], MMA.section)
B = Registers("B", MMA.operands["B"], MMA.section)


def test_k_is_numbered_anew_in_a_and_b() -> None:
    numbers = order("(2,8):(8,1)", 16)
    for name, formula, extent, place in (("A", A, (16, 16), 1), ("B", B, (8, 16), 1)):
        mine = relabel_formula(formula, {"k": "(2,8):(8,1)"}, name, extent)
        assert mine.key != formula.key
        assert "k relabelled by (2,8):(8,1)" in mine.citation
        lanes, values = np.arange(32)[:, None], np.arange(formula.values)[None, :]
        table = mine.locate(lanes, values)
        for lane in range(32):
            for value in range(formula.values):
                plain, moved = formula.locate(lane, value), mine.locate(lane, value)
                assert moved[place] == numbers[plain[place]]
                assert moved[1 - place] == plain[1 - place]
                assert moved == tuple(int(part[lane, value]) for part in table)


def test_another_axis_or_no_permutation_changes_nothing() -> None:
    for relabel in ({}, {"n": "(2,4):(4,1)"}, {"k": "8:1"}, {"k": "16:2"}, {"k": "(4"}):
        assert relabel_formula(A, relabel, "A", (16, 16)).key == A.key


def test_blocks_are_whole_or_there_are_none() -> None:
    assert blocks(order("(16,2,2):(1,32,16)", 64), 16) == (0, 2, 1, 3)
    assert blocks(order("(32,2):(2,1)", 64), 16) == ()
    assert blocks((1, 0, 3, 2), 2) == (0, 1)
