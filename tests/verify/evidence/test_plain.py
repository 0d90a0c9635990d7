# SPDX-License-Identifier: Apache-2.0
"""Few points in Python's integers: they agree where arrays do, and never where arrays find a counterexample."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from layouts import Layout, arrays, batched, right_inverse, size
from layouts.atoms import registry
from layouts.batched import Batch
from verify.binding.atom import BoundAtom, prepare
from verify.core.digits import FEW
from verify.core.verdict import Status
from verify.evidence import isa, plain
from verify.evidence.product import NUMBERS, product
from verify.layout.command import bound

TN = "SM80_16x8x16_F32F16F16F32_TN"
VOLTA = "SM70_8x8x4_F32F16F16F32_TN"  # two products in one warp, of quad pairs


@pytest.fixture(autouse=True)
def without_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "loaded", lambda: False)


def changed(atom: BoundAtom, which: int, text: str) -> BoundAtom:
    parts = list(atom.parts)
    parts[which] = parts[which]._replace(text=text, layout=Layout.parse(text))
    return replace(atom, parts=tuple(parts))


@pytest.mark.parametrize("name", [TN, VOLTA])
def test_right_maps_agree_at_as_many_points_as_with_arrays(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    atom = prepare(registry()[name])
    found = [plain.equals(atom, part) for part in atom.parts]
    assert plain.multiplies(atom, 2, 0, NUMBERS)
    assert all(
        plain.inverts(part.parsed, right_inverse(part.parsed), part.extent[0] * part.extent[1]) for part in atom.parts
    )
    monkeypatch.setattr(arrays, "loaded", lambda: True)
    assert found == [isa.equals(atom, part)[1] for part in atom.parts]


@pytest.mark.parametrize(
    ("which", "text"),
    [
        (0, "((4,8),(2,2,2)):((32,1),(16,128,8))"),
        (1, "((4,8),(2,2)):((16,1),(64,8))"),
        (2, "((4,8),(2,2)):((32,1),(8,16))"),
        (2, "((4,8),(2,2)):((32,1),(0,8))"),
    ],
)
def test_a_wrong_map_agrees_nowhere_and_is_refuted_by_arrays(which: int, text: str) -> None:
    atom = changed(prepare(registry()[TN]), which, text)
    assert plain.equals(atom, atom.parts[which]) == 0 and not plain.multiplies(atom, 2, 0, NUMBERS)
    assert isa.equals(atom, atom.parts[which])[2] is not None and product(atom).counterexample is not None


def test_no_inverse_and_no_point_too_many() -> None:
    layout = Layout.parse("((4,8),(2,2)):((32,1),(16,8))")
    assert plain.inverts(layout, right_inverse(layout), 128) and not plain.inverts(layout, Layout.parse("128:1"), 128)


LARGE = ["(64,32):(32,1)", "((4,8,2),(2,2,8)):((512,-3,7),(0,64,128))", "(2048,1):(-5,9)", "(1,(4,512)):(3,(512,1))"]


@pytest.mark.parametrize("text", LARGE)
def test_more_points_are_sums_of_what_a_thread_and_a_value_have(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    layout = Layout.parse(text)
    assert size(layout) == 2 * arrays.FEW
    assert plain.few(layout) == batched.table(layout).reshape(-1).tolist()
    monkeypatch.setattr(arrays, "loaded", lambda: True)
    assert plain.few(layout) is None


def test_most_points_that_are_summed() -> None:
    every = range(FEW)
    assert plain.few(Layout.parse(f"(2,{FEW // 2}):(1,2)")) == [*every[::2], *every[1::2]]
    assert plain.few(Layout.parse(f"(2,{FEW // 2 + 1}):(1,2)")) is None


def test_at_few_points_a_bug_at_any_one_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    layout, right = Layout.parse("(32,32):(32,1)"), Layout.__call__
    assert plain.few(layout) is not None
    monkeypatch.setattr(Layout, "__call__", lambda self, *coord: right(self, *coord) ^ (coord == (5, 7)))
    assert plain.few(layout) is None


def test_more_points_are_not_compared_with_a_formula(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays are sooner there: a formula of the ISA is computed point by point."""
    atom = prepare(registry()["SM90_64x256x16_F16F16F16_SS"])
    assert arrays.FEW < size(atom.parts[2].parsed) <= FEW
    assert plain.few(atom.parts[2].parsed) is not None and plain.equals(atom, atom.parts[2]) == 0
    monkeypatch.setattr(arrays, "loaded", lambda: True)
    assert isa.equals(atom, atom.parts[2])[2] is None


@pytest.mark.parametrize("wrong", [(5, 0), (0, 7), (63, 31)])
def test_sums_that_a_bug_makes_wrong_show_nothing(wrong: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """`Layout.__call__` is wrong at a thread, at a value, or at the last point alone."""
    layout, right = Layout.parse("(64,32):(32,1)"), Layout.__call__
    assert plain.few(layout) is not None
    monkeypatch.setattr(Layout, "__call__", lambda self, *coord: right(self, *coord) ^ (coord == wrong))
    assert plain.few(layout) is None


def test_sums_never_agree_to_a_tile_that_is_left_or_not_covered() -> None:
    atom, _ = bound("(64,32):(32,2)", (64, 32))
    wrong = [find(atom, atom.parts[0])[2] for find in (isa.in_bounds, isa.ownership)]
    assert [one is not None and one.reproduced for one in wrong] == [True, True]


def test_a_bug_in_the_evaluation_of_layouts_is_not_agreed_to(monkeypatch: pytest.MonkeyPatch) -> None:
    atom, right = prepare(registry()[TN]), Layout.__call__
    monkeypatch.setattr(Layout, "__call__", lambda self, *coord: right(self, *coord) ^ (coord[0] == 4))
    assert [plain.equals(atom, part) for part in atom.parts] == [0, 0, 0]
    assert [isa.equals(atom, part)[2] is None for part in atom.parts] == [False] * 3


HIDDEN = "((4,8),(2,2)):((32,1),(8,16))"  # C with its two digits of a value exchanged


def test_a_bug_that_hides_a_wrong_map_is_not_agreed_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the bug planted, `Layout.__call__` gives the right map for a wrong one. Arrays do not, and refute it."""
    atom, right = changed(prepare(registry()[TN]), 2, HIDDEN), Layout.__call__

    def exchanged(layout: Layout, thread: int, value: int) -> int:
        return right(layout, thread, value % 2 * 2 + value // 2)

    monkeypatch.setattr(Layout, "__call__", exchanged)
    part = atom.parts[2]
    wanted = [right(prepare(registry()[TN]).parts[2].parsed, t, v) for t in range(32) for v in range(4)]
    assert [exchanged(part.parsed, t, v) for t in range(32) for v in range(4)] == wanted
    assert plain.equals(atom, part) == 0 and not plain.multiplies(atom, 2, 0, NUMBERS)
    found = isa.compared(isa.equals, atom, part)
    assert found.status is Status.REFUTED and found.counterexample is not None


def test_layouts_of_other_domains_with_the_same_values_in_their_order_are_no_one_function() -> None:
    first, second = Layout.parse("(4,2):(2,1)"), Layout.parse("(2,4):(4,1)")
    assert plain.few(first) == plain.few(second)
    assert isa.same_function(first, second).status is Status.REFUTED


@pytest.mark.parametrize("numpy", [False, True])
def test_two_layouts_that_a_bug_makes_equal_are_never_equal(numpy: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A comparison of two layouts has no other check: both evaluations must agree."""
    monkeypatch.setattr(arrays, "loaded", lambda: numpy)
    first, second = Layout.parse("(4,2):(1,4)"), Layout.parse("(4,2):(1,8)")
    monkeypatch.setattr(Layout, "__call__", lambda self, *coord: 0)
    found = isa.same_function(first, second)
    assert found.status is Status.REFUTED and found.counterexample is not None and found.counterexample.reproduced
    same = isa.same_function(first, Layout.parse("((2,2),2):((1,2),4)"))
    assert same.status is Status.REFUTED and same.counterexample is not None and not same.counterexample.reproduced
    monkeypatch.undo()
    monkeypatch.setattr(arrays, "loaded", lambda: numpy)
    monkeypatch.setattr(Batch, "values", lambda self, start, stop: np.zeros(stop - start, dtype=np.int64))
    found = isa.same_function(first, second)
    assert found.status is Status.REFUTED and found.counterexample is not None and not found.counterexample.reproduced
