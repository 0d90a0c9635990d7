# SPDX-License-Identifier: Apache-2.0
"""The map to identify, from any of its forms, as the element of every (lane, value).

A layout names elements by one number, x + X*y, whatever the tile's X is; expressions, tables and bases name them by
(row, column), as the PTX ISA does. An atom's operand is a layout with its tile.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from layouts import LayoutError, leaves, size
from layouts.atoms import Atom, registry
from layouts.composed import ComposedLayout
from layouts.pasted import read_layout
from layouts.tensor import Coordinates
from verify.atom.checker import prepare_atom
from verify.core.digits import lane_of
from verify.core.errors import SpecError, UsageError
from verify.core.files import purpose
from verify.core.names import nearest
from verify.core.python_files import find_fault
from verify.index.bind import columns, map_of
from verify.index.memory import NAMES
from verify.maps import bases, search, table
from verify.maps import strided as reader
from verify.maps.fragment_map import FragmentMap
from verify.maps.map import Axis, MapError, grid
from verify.maps.operand import LOOPS
from verify.maps.tree import ExpressionError

if TYPE_CHECKING:
    from layouts.atoms import AnyAtom
    from verify.index.spec import OperandSpec

UNBOUNDED = 1 << 62
MOST = 1 << 17  # points: four times as many as the largest map of the ISA tables has
OPERAND = re.compile(r"(?P<atom>.*[A-Za-z_>\d]):(?P<operand>[A-Z][A-Z0-9]{0,7})")
BASES = re.compile(r"\blane(_bases)?\b")
TABLES = (".csv", ".json", ".txt", ".md")
ROW_AND_COLUMN = Axis("row", UNBOUNDED), Axis("col", UNBOUNDED)


@dataclass(frozen=True)
class Query:
    """A map of (lane, value), each with one element."""

    text: str  # as its user wrote it
    fragment: FragmentMap  # to one number, or to two coordinates
    as_isa: bool = False  # whether two coordinates are (row, column), in the order of the ISA
    tile: tuple[int, int] | None = None  # X and Y, where they are known; in the order of an atom's layout
    placed: tuple[int, int] | None = None  # rows and columns, of a map of tensor memory

    def __post_init__(self) -> None:
        if self.fragment.total:
            return

        if wrong := search.find_size_fault(self.fragment, self.fragment.inputs):
            at = " and ".join(f"{axis.extent} {axis.word}s" for axis in self.fragment.inputs)
            problem = f"the map has not one element for each of {at}: {wrong.statement}"
            raise SpecError("", f"{self.text:.80}: {problem}")

    @property
    def lanes(self) -> int:
        """The number of lanes."""
        return self.fragment.inputs[0].extent

    @property
    def lane(self) -> str:
        """What the lanes are called: those of several warps are threads."""
        return self.fragment.inputs[0].word

    @property
    def value(self) -> str:
        """What the values are called: columns of tensor memory."""
        return self.fragment.inputs[1].word

    @property
    def values(self) -> int:
        """The values of each lane."""
        return self.fragment.inputs[1].extent

    @cached_property
    def columns(self) -> list[list[int]]:
        """Each coordinate of the images, at every value of every lane."""
        images = self.fragment.images
        pairs = [image for (image,) in map(images.__getitem__, grid(self.fragment.inputs))]
        return [[image[axis] for image in pairs] for axis in range(len(self.fragment.outputs))]


def of_text(text: str, pool: Any = None, tile: tuple[int, int] | None = None) -> Query:
    """Return the map of a layout in any spelling, with a tile if known, of F2 bases, a table, an operand ATOM:A.

    Raises SpecError and UsageError.
    """
    try:
        if tile is not None:
            return replace(of_layout(text), tile=tile)
        if text.lower().endswith(TABLES):
            return _of_table(text)
        named = OPERAND.fullmatch(text.strip())
        if named:
            return _of_atom(named["atom"], named["operand"], pool)
        if fault := find_fault(text):
            raise UsageError(fault)
        if os.path.isfile(text):
            raise UsageError(f"{text} isn't a map: {purpose(Path(text))}")
        if BASES.search(text):
            return Query(text, bases.of_operand(bases.read_bases(text), ROW_AND_COLUMN), as_isa=True)
        return of_layout(text)
    except MapError as error:
        raise SpecError("", f"{text:.80}: {error}") from error


def of_layout(text: str) -> Query:
    """Return the map of a layout: with coordinates as strides to (x, y), any other to one number."""
    try:
        layout = read_layout(text)
    except LayoutError as error:
        wanted = (
            "a layout, F2 bases, a .csv or .json table, or an operand of an atom such as SM80_16x8x16_F32F16F16F32_TN:A"
        )
        raise UsageError(f"{error}; expected {wanted}") from error
    if size(layout) > MOST:
        raise MapError(f"more than {MOST} points")
    pairs = not isinstance(layout, ComposedLayout) and any(isinstance(s, Coordinates) for s in leaves(layout.stride))
    outputs = (Axis("x", UNBOUNDED), Axis("y", UNBOUNDED)) if pairs else (Axis("element", UNBOUNDED),)
    return Query(text, reader.of_layout(layout, outputs))


def _of_table(name: str) -> Query:
    inputs = Axis("lane", UNBOUNDED), Axis("value", UNBOUNDED)
    try:
        fragment = table.read_table(Path(name), table.Columns(inputs, ROW_AND_COLUMN, columns(ROW_AND_COLUMN)))
    except MapError as error:
        raise SpecError("", str(error)) from error  # it names the file
    ends = [1 + max(point[place] for point in fragment.images) for place in (0, 1)]
    if prod(ends) > MOST:
        raise MapError(f"more than {MOST} points")
    return Query(name, replace(fragment, inputs=tuple(map(Axis, ("lane", "value"), ends))), as_isa=True)


def _of_atom(name: str, operand: str, pool: Any) -> Query:
    """Return the map of an atom's operand, by the lanes of its threads and their replicas."""
    atoms = registry() if pool is None else pool
    if name not in atoms:
        raise UsageError(f"no atom is named {name!r}{nearest(name, list(atoms), 'atom')}")
    atom: AnyAtom = atoms[name]
    subject = prepare_atom(atom)
    part = next((candidate for candidate in subject.parts if candidate.name == operand), None)
    if not isinstance(subject.atom, Atom) or part is None:
        has = ", ".join(matrix.name for matrix in subject.parts)
        raise UsageError(f"{name} has no matrix {operand}: it has {has}")
    if not part.well_formed or subject.thr is None:
        raise UsageError(f"{name}:{operand}: {part.fault or subject.thr_fault}")
    thr, rep = subject.numbering
    rows = part.rows()

    lanes = {
        lane_of(thr, thread) + lane_of(rep, replica): row
        for thread, row in enumerate(rows)
        for replica in range(subject.rep_size)
    }
    fragment = FragmentMap.tabulate(
        lambda lane, value: lanes[lane][value],
        (Axis("lane", len(lanes)), Axis("value", part.values)),
        (Axis("element", UNBOUNDED),),
    )
    return Query(f"{name}:{operand}", fragment, tile=part.extent)


def of_spec(given: OperandSpec, lanes: int, text: str, values: str = "") -> Query:
    """Return the map of expressions or of a function.

    The number of values is that of the loops, or `values` is a number.
    """
    if given.form not in (("row", "col"), ("function",)):
        raise SpecError(given.form[0], "give row and col")
    values = values or given.values
    if not values:
        raise SpecError("values", "missing: how many values has a lane? Give --values 4, or loops: i=2, j=2")
    loops = [LOOPS.fullmatch(part) for part in values.split(",")]
    plain = values.strip().isdecimal()
    if not plain and None in loops:
        raise SpecError("values", f"expected a number, or loops such as i=2, j=2, found {values!r:.60}")
    counts = [int(loop[2]) for loop in loops if loop]
    count = int(values) if plain else prod(counts)
    if not 0 < count * lanes <= MOST:
        raise SpecError("values", f"{lanes} lanes of {count} values: expected 1 to {MOST} points")
    try:
        given = replace(given, values="") if plain else given
        made, _ = map_of(given, lanes, count, ROW_AND_COLUMN, Path())
    except (ExpressionError, MapError) as error:
        raise SpecError("" if given.runs_code else "row", str(error)) from error
    return Query(text, made, as_isa=True)


def of_inverse(given: OperandSpec, tile: tuple[int, int] | None, text: str) -> Query:
    """Return the map whose inverse is given: each element's lane and value, or lane and column of tensor memory."""
    if given.form not in (("lane", "value"), ("lane", "column")):
        raise SpecError(given.form[0], "give lane and value, or lane and column")
    placed = given.column is not None
    if tile is None:
        raise SpecError("tile", "missing: which rows and columns has the inverse map? Give --tile 16x8")
    if prod(tile) > MOST:
        raise SpecError("tile", f"more than {MOST} elements")
    axes = Axis("row", tile[0]), Axis("col", tile[1])
    try:
        made, _ = map_of(replace(given, column=None, value=given.column) if placed else given, 1, 1, axes, Path())
    except (ExpressionError, MapError) as error:
        raise SpecError("lane", str(error)) from error
    fragment = made.inverse()
    ends = [1 + max(point[place] for point in fragment.images) for place in (0, 1)]
    if prod(ends) > MOST:
        raise SpecError("lane", f"{ends[0]} lanes of {ends[1]} values: more than {MOST} points")
    names = NAMES.values() if placed else ("lane", "value")
    fragment = replace(fragment, inputs=tuple(map(Axis, names, ends)), outputs=ROW_AND_COLUMN)
    return Query(text, fragment, as_isa=True, placed=tile if placed else None)
