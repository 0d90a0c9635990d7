# SPDX-License-Identifier: Apache-2.0
r"""Tables as maps: CSV with named columns, JSON as rows or as nested lists, and tables of registers.

>>> lane, value, row, col = Axis("lane", 2), Axis("value", 1), Axis("m", 2), Axis("n", 1)
>>> names = {"lane": "lane", "i": "value", "row": "m", "col": "n"}
>>> m = from_csv("lane,i,row,col\n0,0,1,0\n1,0,0,0\n", "c.csv", Columns((lane, value), (row, col), names))
>>> m(1, 0), m.source((1, 0))
((0, 0), 'c.csv:3')
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from verify.maps import registers
from verify.maps.fragment_map import FragmentMap
from verify.maps.map import Axis, MapError, MapOrigin, Point

MAX_BYTES = 4 << 20
NUMBER = re.compile(r"\s*(-?[0-9]{1,18})\s*")


class Columns(NamedTuple):
    """The axes that a table has, and the names of columns for them; a name may be in capitals."""

    inputs: tuple[Axis, ...]
    outputs: tuple[Axis, ...]
    names: Mapping[str, str]  # name of a column -> name of an axis

    @property
    def axes(self) -> list[str]:
        """The axes' names."""
        return [axis.name for axis in (*self.inputs, *self.outputs)]

    def columns(self, header: Sequence[str], where: str) -> list[int]:
        """Return the column of each axis; raise MapError for a missing, doubled or unknown one."""
        axes = [self.names.get(name.strip().lower(), "") for name in header]
        for name, axis in zip(header, axes, strict=True):
            if not axis:
                raise MapError(f"{where}: unknown column {name!r:.60}; known are {', '.join(self.names)}")
        for axis in self.axes:
            if axes.count(axis) != 1:
                has = "no column" if axis not in axes else "several columns"
                listed = ", ".join(name for name, meant in self.names.items() if meant == axis)
                raise MapError(f"{where}: {has} for {axis}: expected one of {listed}")
        return [axes.index(axis) for axis in self.axes]

    def relation(self, rows: Sequence[tuple[int, Point]], file: str) -> FragmentMap:
        """Return the map of (line, coordinates), each in the order of the axes; line 0 where none is known."""
        split = len(self.inputs)
        lines = {row[:split]: line for line, row in rows if line}
        pairs = ((row[:split], row[split:]) for _, row in rows)
        return FragmentMap.from_pairs(self.inputs, self.outputs, pairs, MapOrigin("", file), lines)


def read_table(path: Path, wanted: Columns) -> FragmentMap:
    """Read a file's map: JSON if its name says so, else a table of registers or CSV. Raise MapError, with the line."""
    try:
        with path.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise MapError(f"cannot be read: {reason}: {path}") from error
    if len(raw) > MAX_BYTES:
        raise MapError(f"{path}: is over {MAX_BYTES >> 20} MiB")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise MapError(f"{path}: is not UTF-8 text: byte {error.start}") from error
    if path.suffix.lower() == ".json":
        return from_json(text, str(path), wanted)
    return (from_registers if registers.is_one(text) else from_csv)(text, str(path), wanted)


def from_registers(text: str, file: str, wanted: Columns) -> FragmentMap:
    """Return the map of a table of registers, as AMD's calculator prints them. Raise MapError."""
    rows = [
        (line, (*place, *element)) for line, (place, element) in registers.read_registers(text, file, wanted.outputs)
    ]
    return wanted.relation(rows, file)


def from_csv(text: str, file: str, wanted: Columns) -> FragmentMap:
    """Return the map of a CSV table: a line of names, then a line of integers for each point. Raise MapError."""
    rows: list[tuple[int, Point]] = []
    columns: list[int] | None = None
    header: list[str] = []
    reader = csv.reader(text.splitlines(), skipinitialspace=True, strict=True)
    try:
        for row in reader:
            if not row or row[0].startswith("#"):
                continue
            where = f"{file}:{reader.line_num}"
            if columns is None:
                columns, header = wanted.columns(row, where), row
                continue
            if len(row) != len(header):
                raise MapError(f"{where}: {len(row)} fields, the header has {len(header)}")
            rows.append((reader.line_num, tuple(_whole(row[column], where) for column in columns)))
    except csv.Error as error:
        raise MapError(f"{file}:{reader.line_num}: {error}") from error
    if not rows:
        raise MapError(f"{file}: a line of names ({', '.join(wanted.axes)}) and at least one of numbers are expected")
    return wanted.relation(rows, file)


def _whole(field: str, where: str) -> int:
    match = NUMBER.fullmatch(field)
    if match is None:
        raise MapError(f"{where}: expected an integer, found {field!r:.60}")
    return int(match[1])


def from_json(text: str, file: str, wanted: Columns) -> FragmentMap:
    """Read a JSON list, of objects with named fields or nested as [lane][value] = [row, col]. Raise MapError.

    Or the report of `lanecheck discover --format json` on one map.
    """
    try:
        data = json.loads(text, object_pairs_hook=_Object)
    except (ValueError, RecursionError) as error:
        raise MapError(f"{file}: isn't JSON: {error}") from error
    if isinstance(data, _Object) and isinstance(maps := dict(data).get("maps"), list):
        if len(maps) != 1 or not isinstance(maps[0], _Object):
            raise MapError(f"{file}: has {len(maps)} maps: write one, with `lanecheck discover --operand`")
        data = dict(maps[0]).get("table")
    if not isinstance(data, list) or isinstance(data, _Object) or not data:
        what = "an object" if isinstance(data, _Object) else type(data).__name__
        raise MapError(f"{file}: expected a list of points, found {what}")
    listed = _read_objects(data, file, wanted) if isinstance(data[0], _Object) else _read_nested(data, (), file, wanted)
    return wanted.relation([(0, point) for point in listed], file)


class _Object(list[Any]):
    """The (key, value) of a JSON object: one may be there twice."""

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{key!r}: {value!r}" for key, value in self) + "}"


def _read_objects(data: list[Any], file: str, wanted: Columns) -> Iterator[Point]:
    for number, record in enumerate(data):
        where = f"{file}: point {number}"
        if not isinstance(record, _Object):
            raise MapError(f"{where}: expected an object, found {record!r:.60}")
        keys, values = [key for key, _ in record], [value for _, value in record]
        if twice := next((key for key in keys if keys.count(key) > 1), ""):
            raise MapError(f"{where}: the key {twice!r:.60} is there twice")
        columns = wanted.columns(keys, where)
        yield tuple(_number(values[column], where) for column in columns)


def _read_nested(data: Any, point: Point, file: str, wanted: Columns) -> Iterator[Point]:
    """Yield the points of nested lists: as many levels as inputs, then the image, a list or one number."""
    where = f"{file}: {list(point)}"
    if len(point) < len(wanted.inputs):
        if not isinstance(data, list) or isinstance(data, _Object):
            raise MapError(f"{where}: expected a list by {wanted.inputs[len(point)].name}, found {data!r:.60}")
        for number, inner in enumerate(data):
            yield from _read_nested(inner, (*point, number), file, wanted)
        return
    image = data if isinstance(data, list) and not isinstance(data, _Object) else [data]
    if len(image) != len(wanted.outputs):
        listed = ", ".join(axis.name for axis in wanted.outputs)
        raise MapError(f"{where}: expected [{listed}], found {data!r:.60}")
    yield (*point, *(_number(coordinate, where) for coordinate in image))


def _number(value: object, where: str) -> int:
    if type(value) is not int or abs(value) >= 1 << 62:
        raise MapError(f"{where}: expected an integer, found {value!r:.60}")
    return value
