# SPDX-License-Identifier: Apache-2.0
"""What an adapter answers for one map, checked against its schema, as a `FragmentMap`.

    {"source": "mma_layout.py: mma_load_a_32x8_to_shared_16x16_layout",
     "ptx": "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "operand": "A",
     "inputs": [["lane", 32], ["value", 8]], "outputs": [["m", 16], ["k", 16]],
     "pairs": [[0, 0, 0, 0], [0, 1, 0, 1], ...], "inverse": [[0, 0, 0, 0], ...]}

`pairs` has a row for each point, the inputs' coordinates and then the outputs'. `inverse`, in the same columns, is
what the project's own inverse says. `ptx` and `operand` are left out where the project names no instruction of
NVIDIA's; `note` says why. `select` chooses what the mnemonic leaves open, as `isa_tables.instruction` does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from verify.maps.fragment_map import FragmentMap
from verify.maps.map import LARGEST, Axis, MapOrigin

_KEYS = {"source", "ptx", "select", "operand", "inputs", "outputs", "pairs", "inverse", "note"}
_TEXTS = ("source", "ptx", "operand", "note")
_MOST_TEXT = 500


class MalformedAnswer(ValueError):
    """An answer that is not what an adapter may answer."""


@dataclass(frozen=True, slots=True)
class ForeignMap:
    """A map of a project, as its own functions give it."""

    name: str  # as the adapter has it
    map: FragmentMap  # in the direction that the project gives
    ptx: str = ""  # the instruction that the project uses it for; empty where it names none of NVIDIA's
    operand: str = ""  # which operand of it
    select: Mapping[str, int | str] = field(default_factory=dict)  # what the mnemonic leaves open: A_space, F
    inverse: FragmentMap | None = None  # the same relation, from the project's own inverse function
    note: str = ""  # why no instruction is named


@dataclass(frozen=True, slots=True)
class MissingMap:
    """A map that could not be loaded, and why."""

    name: str
    why: str
    whole: bool = False  # every map of the project: it could not be loaded


def read_answer(answer: Any) -> ForeignMap | MissingMap:
    """Return the map of an answer of the child, or why there is none; an answer against the schema is a missing map.

    >>> read_answer({"name": "C", "missing": "no answer within 5 s"})
    MissingMap(name='C', why='no answer within 5 s', whole=False)
    >>> read_answer({"name": "C", "map": {"pairs": [[0, 1e3]]}}).why
    "the answer lacks 'inputs'"
    """
    if not isinstance(answer, dict) or not isinstance(answer.get("name"), str):
        return MissingMap("?", "the answer has no name")
    name = answer["name"][:_MOST_TEXT]
    if "missing" in answer:
        return MissingMap(name, str(answer["missing"])[:_MOST_TEXT])
    try:
        return _read_map(name, answer.get("map"))
    except ValueError as error:  # of the schema, or of the map
        return MissingMap(name, str(error)[:_MOST_TEXT])


def _read_map(name: str, answer: Any) -> ForeignMap:
    if not isinstance(answer, dict):
        raise MalformedAnswer("the answer isn't a table")
    for key in ("inputs", "outputs", "pairs"):
        if key not in answer:
            raise MalformedAnswer(f"the answer lacks {key!r}")
    for key in answer:
        if key not in _KEYS:
            raise MalformedAnswer(f"the answer has an unknown key {key!r:.50}")
    texts = {key: answer.get(key) or "" for key in _TEXTS}
    for key, text in texts.items():
        if not isinstance(text, str) or len(text) > _MOST_TEXT:
            raise MalformedAnswer(f"{key!r} of the answer isn't a short text")
    inputs, outputs = _axes(answer["inputs"]), _axes(answer["outputs"])
    origin = MapOrigin(texts["source"])
    made = _map(answer["pairs"], inputs, outputs, origin)
    own = None if answer.get("inverse") is None else _map(answer["inverse"], inputs, outputs, origin)
    return ForeignMap(name, made, texts["ptx"], texts["operand"], _read_selection(answer), own, texts["note"])


def _read_selection(answer: dict[str, Any]) -> dict[str, int | str]:
    chosen = answer.get("select") or {}
    if not isinstance(chosen, dict) or any(type(value) not in (int, str) for value in chosen.values()):
        raise MalformedAnswer("'select' of the answer isn't a table of numbers and texts")
    return {str(key): value for key, value in chosen.items()}


def _axes(listed: Any) -> tuple[Axis, ...]:
    if not isinstance(listed, list) or not 0 < len(listed) <= 4:
        raise MalformedAnswer("inputs and outputs are lists of one to four [name, extent]")
    for axis in listed:
        if not (isinstance(axis, list) and len(axis) == 2 and isinstance(axis[0], str) and type(axis[1]) is int):
            raise MalformedAnswer("a coordinate is [name, extent]")
        if not 0 < axis[1] <= LARGEST or len(axis[0]) > 50:
            raise MalformedAnswer(f"the extent of {axis[0]!r:.50} is {axis[1]}")
    return tuple(Axis(name, extent) for name, extent in listed)


def _map(rows: Any, inputs: tuple[Axis, ...], outputs: tuple[Axis, ...], origin: MapOrigin) -> FragmentMap:
    width = len(inputs) + len(outputs)
    if not isinstance(rows, list) or any(
        not isinstance(row, list) or len(row) != width or any(type(c) is not int for c in row) for row in rows
    ):
        raise MalformedAnswer(f"pairs are lists of {width} integers")
    pairs = ((tuple(row[: len(inputs)]), tuple(row[len(inputs) :])) for row in rows)
    return FragmentMap.from_pairs(inputs, outputs, pairs, origin)
