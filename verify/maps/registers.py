# SPDX-License-Identifier: Apache-2.0
r"""Tables of registers as maps: `v1{16}.[31:16]` is bits 16 to 31 of register 1 of lane 16, as AMD's tools print.

Its two tables are read, as CSV, in Markdown, or drawn with lines: that of a matrix, whose cells are registers, and that
of the lanes, whose cells are elements. Values are numbered by register, then by their lowest bit.

>>> rows = Axis("row", 2), Axis("col", 2)
>>> by_element = read_registers("D[M][N],0,1\n0,v0{0},v0{1}\n1,v1{0},v1{1}\n", "d.csv", rows)
>>> by_lane = read_registers("lane,v0,v1\n0,D[0][0],D[1][0]\n1,D[0][1],D[1][1]\n", "d.csv", rows)
>>> next(by_element), {pair for _, pair in by_element} < {pair for _, pair in by_lane}
((2, ((0, 0), (0, 0))), True)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

from verify.maps.map import Axis, MapError, Point

N = "([0-9]{1,7})"
MATRIX = re.compile(r"[A-Za-z]+\[([A-Z])\]\[([A-Z])\]")
PLACE = rf"v(?:{N}|\[{N}:{N}\])"
BITS = rf"(?:\.\[{N}:{N}\])?"
REGISTER = re.compile(PLACE + BITS)
OF_LANE = re.compile(PLACE + rf"\{{{N}\}}" + BITS)
ELEMENT = re.compile(rf"[A-Za-z]+\[{N}\]\[{N}\](\.B{N})?")
RULES = frozenset("+-=:| ")
HEADER = re.compile(r"^[|\s]*(?:[A-Za-z]+\[[A-Z]\]\[[A-Z]\]|lane\s*[,|]\s*v[0-9\[])", re.MULTILINE)
Found: TypeAlias = "tuple[int, tuple[Point, Point]]"


class RegisterCell(NamedTuple):
    """An element at a place: line, lane, (register, lowest bit), (row, column)."""

    line: int
    lane: int
    place: tuple[int, int]
    element: Point


def is_one(text: str) -> bool:
    """Whether a text is a table of registers."""
    return HEADER.search(text[:10_000]) is not None


def read_registers(text: str, file: str, outputs: Sequence[Axis]) -> Iterator[Found]:
    """(line, ((lane, value), element)) of each cell, elements in the order of the outputs; raises MapError."""
    cells = list(_cells(text, file, [axis.name.upper() for axis in outputs]))
    if not cells:
        raise MapError(f"{file}: a table of registers without a register")
    values = {place: value for value, place in enumerate(sorted({cell.place for cell in cells}))}
    for cell in cells:
        yield cell.line, ((cell.lane, values[cell.place]), cell.element)


def _cells(text: str, file: str, axes: Sequence[str]) -> Iterator[RegisterCell]:
    """Yield the cells of all lines below the header."""
    header: list[str] = []
    turned = False
    for number, line in enumerate(text.splitlines(), 1):
        cells = [cell.strip() for cell in (line.strip().strip("|").split("|") if "|" in line else line.split(","))]
        where = f"{file}:{number}"
        if HEADER.match(line):
            if header:
                raise MapError(f"{where}: a second block: give the table of one block")
            header, matrix = cells, MATRIX.fullmatch(cells[0])
            turned = matrix is not None and _is_transposed(matrix.groups(), axes, where)
        elif header and line.strip() and set(line) - RULES:
            if len(cells) != len(header):
                if cells[0].isdecimal():
                    raise MapError(f"{where}: {len(cells)} fields, the header has {len(header)}")
                continue  # a title, or the end of what is drawn
            yield from (_of_lane if cells[0] and header[0] == "lane" else _of_row)(cells, header, number, where, turned)


def _is_transposed(printed: tuple[str, ...], axes: Sequence[str], where: str) -> bool:
    """Whether a matrix has the wanted axes in the other order; raises MapError where it has others."""
    if not set(axes) & set("MNK") or list(printed) == list(axes):
        return False
    if list(printed) != list(axes)[::-1]:
        raise MapError(f"{where}: a matrix {printed[0]} x {printed[1]}, expected {' x '.join(axes)}")
    return True


def _of_row(cells: list[str], header: list[str], line: int, where: str, turned: bool) -> Iterator[RegisterCell]:
    """Yield the cells of a row of the matrix: registers, several where several lanes have the element."""
    row = _number(cells[0], where)
    for name, cell in zip(header[1:], cells[1:], strict=True):
        column = _number(name, where)
        for word in cell.split():
            match = OF_LANE.fullmatch(word)
            if match is None:
                raise MapError(f"{where}: expected a register such as v0{{16}} or v0{{16}}.[15:0], found {word!r:.60}")
            single, _, low, lane, _, bit = match.groups()
            element = (column, row) if turned else (row, column)
            yield RegisterCell(line, int(lane), (int(single or low), int(bit or 0)), element)


def _of_lane(cells: list[str], header: list[str], line: int, where: str, _: bool) -> Iterator[RegisterCell]:
    """Yield the cells of a lane: the element of each register."""
    lane = _number(cells[0], where)
    for name, cell in zip(header[1:], cells[1:], strict=True):
        register, element = REGISTER.fullmatch(name), ELEMENT.fullmatch(cell)
        if register is None:
            raise MapError(f"{where}: expected a register such as v0 or v0.[15:0], found {name!r:.60}")
        if element is None:
            raise MapError(f"{where}: expected an element such as A[0][1], found {cell!r:.60}")
        single, _high, low, _top, bit = register.groups()
        if element[3] and int(element[4]):
            raise MapError(f"{where}: a second block, {cell}: give the table of one block")
        yield RegisterCell(line, lane, (int(single or low), int(bit or 0)), (int(element[1]), int(element[2])))


def _number(word: str, where: str) -> int:
    if not re.fullmatch(N, word):
        raise MapError(f"{where}: expected an integer, found {word!r:.60}")
    return int(word)
