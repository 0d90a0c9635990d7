# SPDX-License-Identifier: Apache-2.0
"""An operand of an instruction as a map, with the names by which kernels call its coordinates.

`reference`     the operand's map by the ISA tables
`elements`      row, col, m, n, ... : the names of an element
`coordinates`   lane, threadIdx.x, i, ... : the names that index arithmetic for the operand may use
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import prod

import isa_tables
from verify.maps.c_meaning import UNSIGNED
from verify.maps.expression import DeclaredName, InputCoordinates
from verify.maps.fragment_map import FragmentMap
from verify.maps.map import WARP, Axis, MapError

LANES = ("lane", "laneid", "lane_id")
THREADS = ("thread", "tid")
WARPS = ("warp", "warpid", "warp_id")
VALUES = ("i", "value", "v")
ROWS, COLUMNS = ("row", "r", "x"), ("col", "column", "c", "y")
LOOPS = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*([0-9]{1,6})\s*")


def reference(operand: isa_tables.Operand) -> FragmentMap:
    """Return the map of an operand in registers by the ISA tables; raise IsaError where they have none."""
    return FragmentMap.from_operand(operand)


def coordinates(lanes: int, values: int, loops: str = "") -> InputCoordinates:
    """Return the names of (lane, value): those of the lane, of a warpgroup's threads, and of the value or its loops.

    `loops` names nested loops over the values, the outermost first.

    >>> names = coordinates(32, 4, "i=2, j=2").names
    >>> list(names), names["i"].value(5, 3), names["j"].value(5, 2)
    (['lane', 'laneid', 'lane_id', 'thread', 'tid', 'threadIdx.x', 'value', 'v', 'i', 'j'], 1, 0)

    Raises MapError for loops that do not count the values.
    """
    inputs = Axis("lane", lanes), Axis("value", values)
    names = {name: DeclaredName(lambda lane, _: lane % WARP) for name in LANES}
    names |= {name: DeclaredName(lambda lane, _: lane) for name in THREADS}
    names["threadIdx.x"] = DeclaredName(lambda lane, _: lane, UNSIGNED)
    missing = {name: "only a warpgroup has several warps" for name in WARPS}
    if lanes > WARP:
        names |= {name: DeclaredName(lambda lane, _: lane // WARP) for name in WARPS}
        missing = {}
    if not loops:
        missing["j"] = 'state the loops over the values, the outermost first: values = "i=2, j=2"'
    return InputCoordinates(inputs, {**names, **_of_values(values, loops)}, missing)


def _of_values(values: int, loops: str) -> Mapping[str, DeclaredName]:
    """Return the names of the value: i, or those of nested loops."""
    if not loops:
        return {name: DeclaredName(lambda _, value: value) for name in VALUES}
    matches = [LOOPS.fullmatch(part) for part in loops.split(",")]
    counts = {match[1]: int(match[2]) for match in matches if match}
    if None in matches or len(counts) < len(matches):
        raise MapError(f"expected loops such as i=2, j=2, the outermost first, found {loops!r:.60}")
    if prod(counts.values()) != values:
        raise MapError(f"{loops} are {prod(counts.values())} values, a lane has {values}")
    names = {name: DeclaredName(lambda _, value: value) for name in VALUES if name not in ("i", *counts)}
    rest = values
    for name, count in counts.items():
        rest //= count
        names[name] = DeclaredName(lambda _, value, unit=rest, count=count: value // unit % count)
    return names


def elements(tile: tuple[Axis, ...]) -> InputCoordinates:
    """Return the names of an element's row and column, also as the ISA calls them.

    >>> list(elements((Axis("k", 16), Axis("n", 8))).names)
    ['row', 'r', 'x', 'k', 'col', 'column', 'c', 'y', 'n']
    """
    first = {name: DeclaredName(lambda row, _: row) for name in (*ROWS, word(tile[0].name))}
    second = {name: DeclaredName(lambda _, col: col) for name in (*COLUMNS, word(tile[1].name))}
    return InputCoordinates(tile, {**first, **second})


def word(axis: str) -> str:
    """Return an axis as a name of expressions: k_stored."""
    return axis.replace(" ", "_")
