# SPDX-License-Identifier: Apache-2.0
"""The ISA tables' check: every point of every replica, products with metadata and scale factors."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from layouts import Layout
from layouts.atoms import Atom, registry
from layouts.batched import Batch
from tests.verify.test_cross_check import ATOM
from tests.verify.test_families import list_refuted, shelf
from verify.binding.atom import BoundAtom, prepare
from verify.binding.coordinates import Registers
from verify.core.digits import walks
from verify.core.verdict import Status
from verify.evidence import isa
from verify.evidence.product import product
from verify.layout.properties import bind_onto_tile

SCALED = shelf("sm120_sparse_block_scaled.toml")


@pytest.mark.long
@pytest.mark.parametrize("operand", ["A", "E", "SFA", "SFB"])
def test_scale_factors_and_metadata_must_equal_the_isa_tables(operand: str) -> None:
    name = (
        "SM120::BLOCKSCALED::SPARSE::SM120_SPARSE_16x8x128_TN_VS<float_e2m1_t, float_e2m1_t, float, float_ue8m0_t, 64>"
    )
    atom = SCALED[name]
    assert isinstance(atom, Atom)
    assert list_refuted(atom) == set()
    text = atom.operands[operand]
    swapped = {
        "A": "((4,8),(16,2,2)):((256,1),(16,1024,8))",
        "E": "((2,2,8),(64)):((1024,8,1),(16))",
        "SFA": "((2,2,8),128):((0,8,1),16)",
        "SFB": "((8,4),128):((1,0),8)",
    }[operand]
    assert swapped != text
    assert (operand, "equals_isa") in list_refuted(replace(atom, operands={**atom.operands, operand: swapped}))


@pytest.mark.parametrize(("extent", "inside"), [((16, 8), True), ((127, 1), False), ((15, 8), False)])
def test_the_element_just_beyond_the_tile_is_out_of_bounds(extent: tuple[int, int], inside: bool) -> None:
    """The layout of C has elements 0..127."""
    subject = prepare(registry()["SM80_16x8x16_F32F16F16F32_TN"])
    (part,) = (part for part in subject.parts if part.name == "C")
    method, points, wrong = isa.in_bounds(part._replace(extent=extent).of_layout(part.layout_of_text).points)
    assert (method, points, wrong is None) == ("exhaustive", 128, inside)


def test_layouts_of_one_shape_are_not_confused() -> None:
    kept: dict[Hashable, Any] = {}
    layouts = [Layout.parse(text) for text in ("(2,2):(1,2)", "(2,2):(2,1)")]
    assert [isa.evaluate(layout, kept).tolist() for layout in layouts * 2] == [[[0, 2], [1, 3]], [[0, 1], [2, 3]]] * 2


def test_a_layout_of_another_size_is_not_evaluated(monkeypatch: pytest.MonkeyPatch) -> None:
    subject = prepare(registry()["SM80_16x8x16_F32F16F16F32_TN"])
    large = Layout((4096, 4096), (4096, 1))
    right = isa.batched.table
    monkeypatch.setattr(
        isa.batched, "table", lambda layout: pytest.fail("2^24 points") if layout == large else right(layout)
    )
    method, points, wrong = isa.equals(subject, subject.parts[2].of_layout(large))
    assert (method, points) == ("exhaustive", 1 << 24) and wrong is not None
    assert wrong.statement == "the layout has 4096 x 4096 points, the ISA 32 x 4"


@pytest.mark.parametrize(("bug", "words"), [(0, "each element has 8 owners"), (1, "")])
def test_a_wrong_size_counts_owners(bug: int, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """None where the table is wrong."""
    entry = replace(ATOM, ptx=None, operands={**ATOM.operands, "C": "((4,8),(8,2)):((0,1),(8,0))"}, shape=(8, 8, 4))
    subject, right = prepare(entry), Batch.values
    (part,) = (part for part in subject.parts if part.name == "C")
    monkeypatch.setattr(Batch, "values", lambda *given: right(*given) + bug)
    wrong = isa.fragment_size(subject, part)[2]
    assert wrong is not None and bool(wrong.damage) == bool(words) and all(words in line for line in wrong.damage)


def test_every_point_of_every_replica_is_counted() -> None:
    """Four groups of eight threads do what one of them does: 8 threads x 8 values are compared four times."""
    subject = prepare(registry()["SM70_8x8x4_F32F16F16F32_NT"])
    (part,) = (part for part in subject.parts if part.name == "C")
    assert isa.equals(subject, part) == ("exhaustive", 256, None)


@pytest.mark.parametrize("extent", [(8, 7), (7, 8)])
def test_an_element_just_beyond_the_tile_differs_from_the_instructions(extent: tuple[int, int]) -> None:
    """Although the layout has there what the formula of the instruction has: its last row, or its last column."""
    subject = prepare(ATOM)
    (part,) = (part for part in subject.parts if part.name == "C")
    layout = Layout(((4, 8), 2), ((2 * extent[0], 1), extent[0]))
    wrong = isa.equals(subject, part._replace(extent=extent).of_layout(layout))[2]
    assert wrong is not None and f"outside {extent[0]}x{extent[1]} (m,n)" in wrong.statement
    assert wrong.damage == ("8 of 64 points disagree",)


def test_evidence_has_the_time_it_took(monkeypatch: pytest.MonkeyPatch) -> None:
    times, m = iter([200.0, 201.5]), prepare(ATOM).parts[0].points
    monkeypatch.setattr(isa.time, "perf_counter", lambda: next(times))
    assert isa.compare_points(lambda: isa.ownership(m, 1), m).seconds == 1.5


def test_a_layout_is_evaluated_once_for_an_atom_and_anew_for_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error planted in between shows in the next one, though it has the same layouts."""
    first, second = prepare(ATOM), prepare(ATOM)
    layout, right = first.parts[0].layout_of_text, isa.batched.table
    monkeypatch.setattr(isa.batched, "table", lambda layout: calls.append(layout) or right(layout) + len(calls) - 1)
    calls: list[Layout] = []
    tables = [isa.evaluate(layout, atom.tables) for atom in (first, first, second)]
    assert len(calls) == 2 and tables[0] is tables[1] and (tables[2] == tables[0] + 1).all()


def test_every_replica_is_compared_at_its_own_lanes() -> None:
    class Seen(Registers):
        def locate(self, lane: Any, value: Any) -> Any:
            lanes.update(np.unique(lane).tolist())
            return super().locate(lane, value)

    lanes = set[int]()
    subject = prepare(registry()["SM70_8x8x4_F32F16F16F32_NT"])
    (part,) = (part for part in subject.parts if part.name == "C")
    (formula,) = part.formulas
    assert isinstance(formula, Registers)
    assert isa.equals(subject, part._replace(formulas=(Seen(*formula),)))[2] is None
    assert lanes == set(range(32))


TN = "SM80_16x8x16_F32F16F16F32_TN"


def change_layout(which: int, text: str) -> BoundAtom:
    atom = prepare(registry()[TN])
    parts = list(atom.parts)
    parts[which] = parts[which].of_layout(Layout.parse(text))
    return replace(atom, parts=tuple(parts))


@pytest.mark.parametrize(
    ("which", "text"),
    [
        (0, "((4,8),(2,2,2)):((32,1),(16,128,8))"),
        (1, "((4,8),(2,2)):((16,1),(64,8))"),
        (2, "((4,8),(2,2)):((32,1),(8,16))"),
        (2, "((4,8),(2,2)):((32,1),(0,8))"),
    ],
)
def test_a_wrong_map_is_refuted_by_the_formula_and_by_a_product(which: int, text: str) -> None:
    atom = change_layout(which, text)
    assert isa.equals(atom, atom.parts[which])[2] is not None and product(atom).counterexample is not None


def test_what_leaves_a_tile_or_does_not_cover_it_is_found_again() -> None:
    m = bind_onto_tile("(64,32):(32,2)", (64, 32)).part.points
    wrong = [isa.in_bounds(m)[2], isa.ownership(m, 1)[2]]
    assert [counterexample is not None and counterexample.reproduced for counterexample in wrong] == [True, True]


def test_a_bug_at_one_thread_is_not_agreed_to(monkeypatch: pytest.MonkeyPatch) -> None:
    atom, right = prepare(registry()[TN]), Layout.__call__
    monkeypatch.setattr(Layout, "__call__", lambda self, *coord: right(self, *coord) ^ (coord[0] == 4))
    assert [isa.equals(atom, part)[2] is None for part in atom.parts] == [False] * 3


HIDDEN = "((4,8),(2,2)):((32,1),(8,16))"  # C with its two digits of a value exchanged


def test_a_bug_that_hides_a_wrong_map_is_not_agreed_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the bug planted, `Layout.__call__` gives the right map for a wrong one. Arrays do not, and refute it."""
    atom, right = change_layout(2, HIDDEN), Layout.__call__

    def exchanged(layout: Layout, thread: int, value: int) -> int:
        return right(layout, thread, value % 2 * 2 + value // 2)

    monkeypatch.setattr(Layout, "__call__", exchanged)
    part = atom.parts[2]
    wanted = [right(prepare(registry()[TN]).parts[2].layout_of_text, t, v) for t in range(32) for v in range(4)]
    assert [exchanged(part.layout_of_text, t, v) for t in range(32) for v in range(4)] == wanted
    evidence = isa.compare_points(lambda: isa.equals(atom, part), part.points)
    assert evidence.status is Status.REFUTED and evidence.counterexample is not None


def test_layouts_of_other_domains_with_the_same_values_in_their_order_are_no_one_function() -> None:
    first, second = Layout.parse("(4,2):(2,1)"), Layout.parse("(2,4):(4,1)")
    assert [e for row in walks(first) for e in row] == [e for row in walks(second) for e in row]
    assert isa.same_function(first, second).status is Status.REFUTED


def test_two_layouts_that_a_bug_makes_equal_are_never_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A comparison of two layouts has no other check: both evaluations must agree."""
    first, second = Layout.parse("(4,2):(1,4)"), Layout.parse("(4,2):(1,8)")
    monkeypatch.setattr(Layout, "__call__", lambda self, *coord: 0)
    evidence = isa.same_function(first, second)
    assert (
        evidence.status is Status.REFUTED
        and evidence.counterexample is not None
        and not evidence.counterexample.reproduced
    )
    same = isa.same_function(first, Layout.parse("((2,2),2):((1,2),4)"))
    assert same.status is Status.REFUTED and same.counterexample is not None and not same.counterexample.reproduced
    monkeypatch.undo()
    monkeypatch.setattr(Batch, "values", lambda self, start, stop: np.zeros(stop - start, dtype=np.int64))
    evidence = isa.same_function(first, second)
    assert (
        evidence.status is Status.REFUTED
        and evidence.counterexample is not None
        and not evidence.counterexample.reproduced
    )
