# SPDX-License-Identifier: Apache-2.0
"""A bug planted in one evaluation of a map contradicts the others: `at`, `block`, `Layout.__call__`, the proof.

Each class of maps has each property checked with each bug, of a right map and of a wrong one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import proofs
from layouts import Layout
from verify.core.verdict import Check, Counterexample
from verify.layout import command
from verify.layout.reading import as_pairs, read_any
from verify.maps import search
from verify.maps.fragment_map import FragmentMap
from verify.maps.map import Axis, IsaFormula, Map, MapOrigin
from verify.maps.strided import StridedMap

TILE = Axis("m", 16), Axis("n", 8)
PLAIN, SWIZZLED, COORDINATES = "(16,8):(1,16)", "Sw<1,0,4> o (16,8):(1,16)", "(16,8):(1@0,1@1)"
ISA = frozenset({Check.ISA})


def locate(lane: Any, value: Any) -> tuple[Any, Any]:
    return lane % 16, value % 8


def layout_map(text: str) -> Callable[[], Map]:
    return lambda: StridedMap(as_pairs(read_any(text)), TILE)


def formula_map() -> Map:
    return IsaFormula(locate, "f", range(16), 8, TILE)


CLASSES: dict[str, Callable[[], Map]] = {
    "plain": layout_map(PLAIN),
    "swizzled": layout_map(SWIZZLED),
    "coordinates": layout_map(COORDINATES),
    "formula": formula_map,
}
PROPERTIES: dict[str, Callable[[Map], Counterexample | None]] = {
    "bounds": search.find_out_of_bounds,
    "owners": lambda m: search.find_owner_fault(m, 1),
    "a missing owner": search.find_missing_owner,
    "equality": lambda m: search.find_difference(m, formula_map()),
}
BLOCK = {StridedMap: StridedMap.block, IsaFormula: IsaFormula.block}


def one_further(columns: tuple[Any, ...]) -> tuple[Any, ...]:
    return (columns[0] + 1, *columns[1:])


def exchange(columns: tuple[Any, ...]) -> tuple[Any, ...]:
    """A bijection still, that is wrong everywhere."""
    return (columns[0] ^ 1, *columns[1:])


def last_alone(columns: tuple[Any, ...]) -> tuple[Any, ...]:
    first = columns[0].copy()
    first[-1] ^= 1
    return (first, *columns[1:])


def test_every_class_is_right_where_nothing_is_planted() -> None:
    wrong = [(kind, name) for kind, make in CLASSES.items() for name, find in PROPERTIES.items() if find(make())]
    assert wrong == [("swizzled", "equality")]  # it is another function


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("change", [one_further, exchange, last_alone])
def test_a_bug_in_block_is_never_reproduced(kind: str, change: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = IsaFormula if kind == "formula" else StridedMap
    monkeypatch.setattr(owner, "block", lambda self, start, stop: change(BLOCK[owner](self, start, stop)))
    for name, find in PROPERTIES.items():
        wrong = find(CLASSES[kind]())
        assert wrong is not None and not wrong.reproduced, name


@pytest.mark.parametrize("kind", CLASSES)
def test_a_bug_in_at_is_never_reproduced(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right = IsaFormula.at if kind == "formula" else StridedMap.image
    if kind == "formula":
        monkeypatch.setattr(IsaFormula, "at", lambda self, *point: tuple((x ^ 1, y) for x, y in right(self, *point)))
    else:
        monkeypatch.setattr(StridedMap, "image", lambda self, t, v: right(self, t ^ 1, v))
    for name, find in PROPERTIES.items():
        wrong = find(CLASSES[kind]())
        assert wrong is not None and not wrong.reproduced, name


@pytest.mark.parametrize("where", [(1, 0), (0, 1), (15, 7)])
def test_a_bug_in_the_library_is_seen_at_a_unit_and_at_the_last_point(
    where: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    right = Layout.__call__
    monkeypatch.setattr(Layout, "__call__", lambda self, *at: right(self, *at) ^ (at == where))
    for name, find in PROPERTIES.items():
        wrong = find(CLASSES["plain"]())
        assert wrong is not None and not wrong.reproduced, name


@pytest.mark.parametrize(("text", "tile"), [(PLAIN, "16x8"), ("(16,8):(1,8)", "16x8"), ("(16,8):(1,17)", "16x8")])
def test_a_bug_in_any_evaluation_ends_in_exit_3(text: str, tile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a right layout, of one with several owners, and of one that leaves the tile."""
    assert command.main([text, "--onto", tile]) == int(text != PLAIN)
    call, image = Layout.__call__, StridedMap.image
    bugs: list[tuple[Any, str, Any]] = [
        (Layout, "__call__", lambda self, *at: call(self, *at) + (at == (15, 7))),
        (StridedMap, "image", lambda self, t, v: image(self, t ^ 1, v)),
        (StridedMap, "block", lambda self, start, stop: exchange(BLOCK[StridedMap](self, start, stop))),
    ]
    for owner, name, bug in bugs:
        with monkeypatch.context() as planted:
            planted.setattr(owner, name, bug)
            assert command.main([text, "--onto", tile]) == 3, name


def test_a_bug_in_the_reading_of_the_proof_ends_in_exit_3(monkeypatch: pytest.MonkeyPatch) -> None:
    right = proofs.OperandLayout

    def misread(layout: Layout, *rest: Any) -> Any:
        (rows, columns), (down, across) = layout.shape, layout.stride  # type: ignore[misc]
        return right(Layout((rows, columns), (down, across // 2)), *rest)

    monkeypatch.setattr(proofs, "OperandLayout", misread)
    monkeypatch.setattr(proofs, "certificate", lambda *_: None)
    assert command.main([PLAIN, "--onto", "16x8"]) == 3


def test_keys_hold_what_a_map_depends_on_and_no_place() -> None:
    """Another field is another key or an equal function."""
    make = {kind: build().key for kind, build in CLASSES.items()}
    assert len(set(make.values())) == len(CLASSES)
    layout = Layout.parse(PLAIN)
    same = StridedMap(layout, TILE, origin=MapOrigin("another text", "file.toml", 7))
    assert same.key == CLASSES["plain"]().key
    changed = [
        StridedMap(Layout.parse("(16,8):(8,1)"), TILE),
        StridedMap(layout, (Axis("m", 16), Axis("k", 8))),
        StridedMap(layout, (Axis("m", 8), Axis("n", 16))),
        StridedMap(layout, TILE, ("lane", "value")),
    ]
    assert len({m.key for m in (same, *changed)}) == 5
    formulas = [
        IsaFormula(locate, "f", range(16), 8, TILE),
        IsaFormula(locate, "g", range(16), 8, TILE),
        IsaFormula(locate, "f", range(1, 17), 8, TILE),
        IsaFormula(locate, "f", range(16), 4, TILE),
        IsaFormula(locate, "f", range(16), 8, TILE, ("lane", "value")),
        IsaFormula(locate, "f", range(16), 8, (Axis("m", 16), Axis("k", 8))),
    ]
    assert len({formula.key for formula in formulas}) == len(formulas)


def test_the_key_of_a_table_has_its_pairs_and_no_line() -> None:
    inputs, outputs = (Axis("lane", 2), Axis("value", 1)), (Axis("m", 4),)
    pairs = [((0, 0), (3,)), ((1, 0), (1,))]
    table = FragmentMap.from_pairs(inputs, outputs, pairs, MapOrigin("", "a.csv"), {(0, 0): 7})
    assert table.key == FragmentMap.from_pairs(inputs, outputs, pairs[::-1], MapOrigin("lane*2", "b.csv")).key
    changed = [
        FragmentMap.from_pairs(inputs, outputs, pairs[:1]),
        FragmentMap.from_pairs(inputs, outputs, [*pairs, ((0, 0), (2,))]),
        FragmentMap.from_pairs(inputs[::-1], outputs, [((0, 0), (3,)), ((0, 1), (1,))]),
        FragmentMap.from_pairs(inputs, (Axis("m", 5),), pairs),
        FragmentMap.from_pairs(inputs, (Axis("n", 4),), pairs),
    ]
    assert len({table.key, *(m.key for m in changed)}) == 6
