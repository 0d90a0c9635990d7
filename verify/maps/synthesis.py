# SPDX-License-Identifier: Apache-2.0
"""A map in other forms: as a CuTe layout, as F2 bases, as expressions of C; or the points that prevent a form.

Each text is read again by the reader of its form, and has the map's image at every point.

`forms` writes a map in every form.

>>> from verify.maps.map import Axis
>>> C = of_layout(read_layout("((4,8),(2,2)):((32,1),(16,8))"), (Axis("m", 16), Axis("n", 8)))
>>> print(*(form.text for form in forms(C)), sep=chr(10))
((4,8),(2,2)):((32,1),(16,8))
m = lane/4 + i/2*8; n = lane%4*2 + i%2
{register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []}
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from layouts.fit import modes_of
from layouts.pasted import read_layout
from verify.core.digits import digits, modes
from verify.maps import bases
from verify.maps.expression import IndexFunction
from verify.maps.fitted import Rows, fit_layout, layout_of
from verify.maps.fragment_map import FragmentMap
from verify.maps.map import WARP, Map, MapError, inside
from verify.maps.operand import coordinates
from verify.maps.search import list_differences
from verify.maps.strided import of_layout

FORMS = ("layout", "bases", "c")


class Form(NamedTuple):
    """A map in one form, or why it has none."""

    name: str  # layout, bases, c
    text: str  # empty where there is none
    why: str = ""


def forms(m: FragmentMap, wanted: Sequence[str] = FORMS) -> list[Form]:
    """Return a total map of (lane, value) in each of some forms; those that there are first, the shortest first."""
    write: dict[str, Callable[[FragmentMap], str]] = {"layout": as_layout, "bases": bases.spell_bases, "c": as_c}
    listed = []
    for name in wanted:
        try:
            listed.append(Form(name, write[name](m)))
        except MapError as error:
            listed.append(Form(name, "", str(error)))
        else:
            _check_read(listed[-1], m)
    return sorted(listed, key=lambda form: (not form.text, len(form.text)))


def _check_read(form: Form, m: FragmentMap) -> None:
    """Raise AssertionError unless a form's text, read again, is the map at every point."""
    if form.name == "layout":
        again = [of_layout(read_layout(form.text), m.outputs)]
    elif form.name == "bases":
        again = [bases.of_operand(bases.read_bases(form.text), m.outputs)]
    else:
        lines = [line.split(" = ", 1) for line in form.text.split("; ")]
        texts = {axis.name: text for axis, (_, text) in zip(m.outputs, lines, strict=True)}
        lanes, values = m.inputs
        function = IndexFunction(texts, m.outputs, coordinates(lanes.extent, values.extent))
        again = [function.map("c", signed) for signed in ("int", "unsigned")]
    for reread in again:
        if differing := list_differences(m, reread):
            raise AssertionError(f"{form.text}, read again, differs at {m.show_input(differing[0])}")


def as_layout(m: Map) -> str:
    """Return the (lane, value) layout of a map, element x + X*y; raise MapError with the points that prevent one."""
    for point, image in m.pairs():
        if not inside(image, m.outputs):
            raise MapError(f"no layout: {m.show_input(point)} has {m.show(image)}, outside the tile")
    rows = m.elements()
    if text := layout_of(rows):
        return text
    raise MapError(f"no layout, also behind a swizzle of the tile's bits: {_list_obstacles(rows)}")


def _list_obstacles(rows: Rows) -> str:
    """Return the points that no layout has: it moves each digit of lane and value by one step, wherever the others are.

    The digits and their steps are those that the numbers of lane 0 and of value 0 leave to a layout.
    """
    if rows[0][0]:
        return f"lane 0, value 0 has {rows[0][0]}, a layout 0"
    for names, line in (("lane {}, value 0", [row[0] for row in rows]), ("lane 0, value {}", list(rows[0]))):
        shape, stride = modes_of(line)
        units = [1, *accumulate(shape, int.__mul__)]
        for at, number in enumerate(line):
            digit = list(digits(shape, at))
            if number != sum(part * step for part, step in zip(digit, stride, strict=True)):
                last = max(mode for mode, part in enumerate(digit) if part)
                before = at - units[last]
                return (
                    f"from {names.format(before)} to {names.format(at)} it steps by {number - line[before]}, "
                    f"from {names.format(0)} to {names.format(units[last])} by {stride[last]}"
                )
        for unit, extent, step in zip(units, shape, stride, strict=False):
            if len(line) // unit % extent:
                at = unit * extent
                return (
                    f"from {names.format(at - unit)} to {names.format(at)} it steps by {line[at] - line[at - unit]}, "
                    f"before by {step}; {extent} does not divide {len(line)}"
                )
    lane, value = next((t, v) for t, row in enumerate(rows) for v, n in enumerate(row) if n != row[0] + rows[0][v])
    return (
        f"from lane 0 to lane {lane} value {value} steps by {rows[lane][value] - rows[0][value]}, "
        f"value 0 by {rows[lane][0]}"
    )


def as_c(m: FragmentMap) -> str:
    """Return an expression of C for each coordinate of a map: a sum of digits of lane and i, or an xor of their bits.

    Of an inverse map they are digits of row and col. Raises MapError with the points that prevent both, and for numbers
    that C's int and unsigned do not have in common: their values would depend on the type.
    """
    if not m.total or len(m.inputs) != 2:
        raise MapError("no sum of digits: the map is not one of two coordinates with an image for each")
    for point, image in m.pairs():
        if not all(0 <= c < 1 << 31 for c in image):
            raise MapError(f"no text of C: {m.show_input(point)} has {m.show(image)}, not in 0..2^31 - 1")
    lanes, values = m.inputs
    names = ("row", "col") if lanes.name != "lane" else ("lane" if lanes.extent <= WARP else "tid", "i")
    lines = []
    for place, axis in enumerate(m.outputs):
        rows = [[m(t, v)[place] for v in range(values.extent)] for t in range(lanes.extent)]
        text = _sum(rows, names) or _xor(rows, names)
        if not text:
            why = _list_obstacles([[number - rows[0][0] for number in row] for row in rows])
            raise MapError(f"no sum of digits and no xor of bits is {axis.name}: {why}")
        lines.append(f"{axis.name.replace(' ', '_')} = {text}")
    return "; ".join(lines)


def _sum(rows: Rows, names: tuple[str, str]) -> str:
    """Return the sum of digits, each times its step, that is the table; empty where there is none."""
    first = rows[0][0]
    fitted = fit_layout([[number - first for number in row] for row in rows])
    if fitted is None:
        return ""
    terms = [] if not first else [str(first)]
    for mode, name, extent in zip(fitted, names, (len(rows), len(rows[0])), strict=True):
        unit = 1
        for size, step in modes(mode.shape, mode.stride):
            if step:
                terms.append(_times(_digit(name, unit, size, extent), step))
            unit *= size
    text = " + ".join(terms).replace("+ -", "- ") or "0"
    return f"0 - {text[1:]}" if text.startswith("-") else text


def _digit(name: str, unit: int, size: int, extent: int) -> str:
    """Return a digit of an index below `extent`: index/unit%size, without what changes nothing."""
    return name + (f"/{unit}" if unit > 1 else "") + (f"%{size}" if unit * size < extent else "")


def _times(digit: str, step: int) -> str:
    return f"{'-' * (step < 0)}{digit}" + (f"*{abs(step)}" if abs(step) > 1 else "")


def _xor(rows: Rows, names: tuple[str, str]) -> str:
    """Return the xor of bits, each times its basis, that is the table; empty where there is none."""
    sizes = len(rows), len(rows[0])
    first = rows[0][0]
    if any(size & (size - 1) for size in sizes) or min(map(min, rows)) < 0:
        return ""
    units = {
        (place, bit): (rows[1 << bit][0] if place == 0 else rows[0][1 << bit]) ^ first
        for place, size in enumerate(sizes)
        for bit in range(size.bit_length() - 1)
    }
    for t, row in enumerate(rows):
        for v, number in enumerate(row):
            total = first
            for (place, bit), basis in units.items():
                total ^= basis * ((t, v)[place] >> bit & 1)
            if total != number:
                return ""
    terms = [str(first)] if first else []
    for place, (name, size) in enumerate(zip(names, sizes, strict=True)):
        columns = [units[place, bit] for bit in range(size.bit_length() - 1)]
        terms += [_times(_digit(name, 1 << bit, 1 << count, size), step) for bit, count, step in _runs(columns)]
    return " ^ ".join(terms) or "0"


def _runs(columns: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """(first bit, number of bits, basis) of neighbouring bits whose bases are one basis, doubled without a carry."""
    bit = 0
    while bit < len(columns):
        step, count = columns[bit], 1
        while step & (step - 1) == 0 and bit + count < len(columns) and columns[bit + count] == step << count:
            count += 1
        if step:
            yield bit, count, step
        bit += count
