# SPDX-License-Identifier: Apache-2.0
"""The key of a map: each argument of each class changed gives another key, or an equal function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from layouts import Layout
from layouts.pasted import read_layout
from tests.messages import WRONG_EVALUATION
from verify.core.verdict import Counterexample
from verify.maps.array_map import ArrayMap
from verify.maps.expression import DeclaredName, ExpressionMap, IndexFunction, InputCoordinates
from verify.maps.fragment_map import FragmentMap, Packing
from verify.maps.linear import BasesMap
from verify.maps.map import Axis, IsaFormula, Map, MapOrigin
from verify.maps.strided import StridedMap

TILE = Axis("m", 16), Axis("n", 8)
RENAMED, RESIZED = (Axis("m", 16), Axis("k", 8)), (Axis("m", 8), Axis("n", 16))
OTHER = MapOrigin("another text", "maps.toml", 7)
INPUTS = Axis("lane", 2), Axis("value", 1)
IMAGES = {(0, 0): ((3, 0),), (1, 0): ((1, 0),)}


def locate(lane: Any, value: Any) -> tuple[Any, Any]:
    return lane % 16, value % 8


def find_place(lane: Any, value: Any) -> tuple[Any, Any]:
    return locate(lane, value)


def first(lane: int, value: int) -> int:
    return lane


def second(lane: int, value: int) -> int:
    return value


COLUMNS = [np.array([[3], [1]]), np.array([[0], [0]])]


def first_of_two(lane: int, value: int) -> tuple[int, int]:
    return (3, 1)[lane], value


def names(**more: DeclaredName) -> InputCoordinates:
    return InputCoordinates(
        (Axis("lane", 16), Axis("value", 8)), {"lane": DeclaredName(first), "i": DeclaredName(second), **more}
    )


def function(
    row: str = "lane", outputs: tuple[Axis, ...] = TILE, known: InputCoordinates | None = None, **let: str
) -> IndexFunction:
    return IndexFunction({outputs[0].name: row, outputs[1].name: "i"}, outputs, known or names(), let)


# class -> the arguments of one map, and others for each of them
CLASSES: Mapping[Callable[..., Map], tuple[dict[str, Any], dict[str, list[Any]]]] = {
    StridedMap: (
        {
            "layout": Layout.parse("(16,8):(1,16)"),
            "outputs": TILE,
            "inputs": ("thread", "value"),
            "origin": MapOrigin(""),
        },
        {
            "layout": [Layout.parse(text) for text in ("(16,8):(8,1)", "(8,16):(1,8)", "((4,4),8):((1,4),16)")]
            + [read_layout(text) for text in ("Sw<1,0,4> o (16,8):(1,16)", "(16,8):(1@0,1@1)")],
            "outputs": [RENAMED, RESIZED, (Axis("element", 128),)],
            "inputs": [("lane", "value")],
            "origin": [OTHER],
        },
    ),
    IsaFormula: (
        {"locate": locate, "key": "f", "lanes": range(16), "values": 8, "outputs": TILE, "names": ("thread", "value")},
        {
            "locate": [find_place],  # the same function: the key names the formula, not the code that has it
            "key": ["g"],
            "lanes": [range(1, 17), range(8)],
            "values": [4],
            "outputs": [RENAMED, RESIZED],
            "names": [("lane", "value")],
        },
    ),
    BasesMap: (
        {"bases": {"lane": [(1, 0), (2, 0)], "value": [(0, 1)]}, "outputs": TILE, "origin": MapOrigin("")},
        {
            "bases": [
                {"lane": [(2, 0), (1, 0)], "value": [(0, 1)]},
                {"value": [(0, 1)], "lane": [(1, 0), (2, 0)]},
                {"lane": [(1, 0)], "value": [(2, 0), (0, 1)]},
                {"lane": [(1, 0), (2, 0)], "warp": [(0, 1)]},
            ],
            "outputs": [RENAMED, RESIZED],
            "origin": [OTHER],
        },
    ),
    ExpressionMap: (
        {"function": function(), "language": "c", "type": "int"},
        {
            "function": [
                function("lane ^ 1"),
                function(outputs=RENAMED),
                function(outputs=RESIZED),
                function("g", g="lane"),
                function("g", g="lane/2"),
                function(known=names(i=DeclaredName(first))),
                function(known=InputCoordinates((Axis("lane", 8), Axis("value", 16)), names().names)),
            ],
            "language": ["python", ""],
            "type": ["unsigned", ""],
        },
    ),
    ArrayMap: (
        {"key": "f", "inputs": INPUTS, "columns": COLUMNS, "outputs": TILE, "locate": first_of_two},
        {
            "key": ["g"],
            "inputs": [(Axis("thread", 2), Axis("value", 1))],
            "columns": [[column.copy() for column in COLUMNS]],  # the key names the program that makes them
            "outputs": [RENAMED, RESIZED],
            "locate": [lambda lane, value: first_of_two(lane, value)[:2]],
        },
    ),
    FragmentMap: (
        {
            "inputs": INPUTS, "outputs": TILE, "images": IMAGES, "origin": MapOrigin(""), "lines": {}, "packing": None,
            "misread": None,
        },
        {
            "inputs": [(Axis("thread", 2), Axis("value", 1)), (Axis("lane", 4), Axis("value", 1))],
            "outputs": [RENAMED, RESIZED],
            "images": [{(0, 0): ((3, 0),)}, {**IMAGES, (1, 0): ((1, 0), (2, 0))}, {**IMAGES, (1, 0): ((2, 0),)}],
            "origin": [OTHER],
            "lines": [{(0, 0): 7}],
            "packing": [Packing(16)],
            "misread": [Counterexample({}, WRONG_EVALUATION)],
        },
    ),
}  # fmt: skip
CASES = [(make, name, number) for make, (_, alternatives) in CLASSES.items() for name in alternatives
         for number in range(len(alternatives[name]))]  # fmt: skip


def is_equal_function(left: Map, right: Map) -> bool:
    if (left.inputs, left.outputs) != (right.inputs, right.outputs):
        return False
    return all(left.at(*point) == right.at(*point) for point in {*left.domain, *right.domain})


def subclasses(base: type[Map]) -> set[type[Map]]:
    return {base, *(below for derived in base.__subclasses__() for below in subclasses(derived))}


def test_every_class_of_maps_and_every_argument_is_changed() -> None:
    ours = {kind for kind in subclasses(Map) if kind.__module__.startswith("verify.")} - {Map}
    assert ours == {*CLASSES}
    for make, (given, alternatives) in CLASSES.items():
        assert list(inspect.signature(make).parameters) == list(given) == list(alternatives)


@pytest.mark.parametrize(("make", "name", "number"), CASES)
def test_another_argument_is_another_key_or_an_equal_function(make: Callable[..., Map], name: str, number: int) -> None:
    given, alternatives = CLASSES[make]
    kept, changed = make(**given), make(**{**given, name: alternatives[name][number]})
    assert kept.key == make(**given).key and hash(kept.key) == hash(make(**given).key)
    assert kept.key != changed.key or is_equal_function(kept, changed)


@pytest.mark.parametrize("make", [StridedMap, BasesMap, FragmentMap])
def test_a_key_has_no_place(make: Callable[..., Map]) -> None:
    given, _ = CLASSES[make]
    assert make(**given).key == make(**{**given, "origin": OTHER}).key
