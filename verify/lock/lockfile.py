# SPDX-License-Identifier: Apache-2.0
r"""The lock: a TOML file with a table for each function, made to be reviewed and compared line by line.

A function is a layout where it has one, behind a swizzle if need be; else its points, a line for each value of the
first input. Both are whole: reading a lock gives every point again.

["atoms.toml"."mine"]
ptx = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"

["atoms.toml"."mine"."C"]
map = "thread 32, value 4 -> m 16, n 8"
layout = "((4,8),(2,2)):((32,1),(16,8))"
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from layouts import LayoutError
from layouts.pasted import read_layout
from verify.core.errors import UsageError
from verify.lock.functions import Subject
from verify.maps.changes import signature
from verify.maps.fragment_map import FragmentMap
from verify.maps.map import LARGEST, Axis, MapError, Point, grid
from verify.maps.strided import of_layout
from verify.maps.synthesis import as_layout

SCHEMA = 1
MOST_BYTES = 64 << 20
HEAD = f"""# What each map is, reviewed. `lanecheck lock --check` compares the files with it. Where a change is
# meant, write it anew with `lanecheck lock FILE...` and review the difference.
schema = {SCHEMA}
"""
AXIS = re.compile(r"(\S(?:[^,>]*\S)?) ([0-9]{1,9})")
NUMBER = re.compile(r"-?[0-9]{1,18}")


def write(subjects: Sequence[Subject]) -> str:
    """Return the text of a lock; the same subjects give the same text."""
    return "\n".join([HEAD, *(line for subject in subjects for line in _subject(subject))])


def _subject(subject: Subject) -> Iterator[str]:
    path = f"{_quote(subject.file)}.{_quote(subject.name)}"
    yield f"[{path}]"
    yield from (f"{_quote(name) if ' ' in name else name} = {_quote(text)}" for name, text in subject.says.items())
    yield ""
    for operand, fragment in subject.maps.items():
        yield f"[{path}.{_quote(operand)}]"
        yield f"map = {_quote(signature(fragment))}"
        yield from _function(fragment)
        yield ""


def _quote(text: str) -> str:
    """Return a text as TOML has it: a JSON string is one, for texts that can be printed."""
    return json.dumps(text, ensure_ascii=not text.isprintable())


def _function(fragment: FragmentMap) -> Iterator[str]:
    if text := _layout(fragment):
        yield f"layout = {_quote(text)}"
        return
    rows: dict[int, list[str]] = {axis: [] for axis in range(fragment.inputs[0].extent)}
    for point in grid(fragment.inputs):
        rows[point[0]].append("|".join(",".join(map(str, image)) for image in fragment.at(*point)) or "-")
    yield "points = ["
    yield from (f'  "{" ".join(row)}",' for row in rows.values())
    yield "]"


def _layout(fragment: FragmentMap) -> str:
    """Return the layout of a function that is read from it again as the same; empty where there is none."""
    try:
        text = as_layout(fragment)
        return text if of_layout(read_layout(text), fragment.outputs, _names(fragment.inputs)) == fragment else ""
    except MapError:
        return ""


def _names(inputs: Sequence[Axis]) -> tuple[str, str]:
    first, second = (axis.name for axis in inputs)
    return first, second


@dataclass(frozen=True)
class Locked:
    """A subject as a lock has it."""

    name: str
    file: str
    says: Mapping[str, str]
    maps: Mapping[str, FragmentMap]


def read_lock(path: Path) -> list[Locked]:
    """Return the subjects of a lock. Raises UsageError, with the line or the table, for what isn't a lock."""
    try:
        with path.open("rb") as stream:
            raw = stream.read(MOST_BYTES + 1)
        if len(raw) > MOST_BYTES:
            raise UsageError(f"{path}: is over {MOST_BYTES >> 20} MiB")
        document = tomllib.loads(raw.decode())
    except OSError as error:
        hint = ": write it first, `lanecheck lock FILE...`" if isinstance(error, FileNotFoundError) else ""
        raise UsageError(f"{path}: cannot be read: {error.strerror}{hint}") from error
    except (ValueError, RecursionError) as error:  # also of UTF-8 and TOML
        raise UsageError(f"{path}: isn't a lock: {' '.join(str(error).split())}") from error
    if document.pop("schema", None) != SCHEMA:
        raise UsageError(f"{path}: isn't a lock: expected schema = {SCHEMA}")
    locked = []
    for file, entries in document.items():
        for name, table in _table(entries, path, file).items():
            where = f"{path}: {_quote(file)}.{_quote(name)}"
            inner = _table(table, path, f"{file}.{name}")
            says = {key: value for key, value in inner.items() if isinstance(value, str)}
            maps = {key: _map(value, f"{where}.{key}") for key, value in inner.items() if key not in says}
            locked.append(Locked(name, file, says, maps))
    return locked


def _table(value: object, path: Path, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise UsageError(f"{path}: {where}: expected a table, found {value!r:.60}")
    return value


def _map(table: object, where: str) -> FragmentMap:
    """Return the function of a table; UsageError for what is none."""
    given = table if isinstance(table, dict) else {}
    sides = [[AXIS.fullmatch(text) for text in side.split(", ")] for side in str(given.get("map")).split(" -> ")]
    inputs, outputs = ([Axis(match[1], int(match[2])) for match in side if match] for side in (*sides, [], [])[:2])
    written = [key for key in ("layout", "points") if key in given]
    known = [len(side) for side in sides] == [len(inputs), len(outputs)] and inputs and outputs
    if not known or len(written) != 1 or set(given) != {"map", *written}:
        raise UsageError(f"{where}: expected map, such as 'thread 32, value 4 -> m 16, n 8', and layout or points")
    try:
        if "layout" in given:
            fragment = of_layout(read_layout(str(given["layout"])), outputs, _names(inputs))
            if list(fragment.inputs) != inputs:
                raise MapError(f"has other extents than {given['map']}")
            return fragment
        return _of_points(given["points"], inputs, outputs)
    except (LayoutError, MapError, ValueError) as error:
        raise UsageError(f"{where}.{written[0]}: {error}") from error


def _of_points(rows: object, inputs: Sequence[Axis], outputs: Sequence[Axis]) -> FragmentMap:
    first, *rest = inputs
    if not isinstance(rows, list) or len(rows) != first.extent or prod(axis.extent for axis in inputs) > LARGEST:
        raise MapError(f"expected a list of {first.extent} lines")
    places = list(grid(rest))
    images: dict[Point, tuple[Point, ...]] = {}
    for number, row in enumerate(rows):
        words = str(row).split(" ")
        if len(words) != len(places):
            raise MapError(f"line {number} has {len(words)} points, not {len(places)}")
        for place, word in enumerate(words):
            if word != "-":
                images[number, *places[place]] = tuple(_point(text, len(outputs)) for text in word.split("|"))
    return FragmentMap(tuple(inputs), tuple(outputs), images)


def _point(word: str, length: int) -> Point:
    parts = word.split(",")
    if len(parts) != length or not all(map(NUMBER.fullmatch, parts)):
        raise MapError(f"expected {length} numbers with commas, found {word!r:.40}")
    return tuple(map(int, parts))
