# SPDX-License-Identifier: Apache-2.0
"""How two maps differ, as they are shown to a reader: each as a layout, then the points that changed.

>>> from layouts.pasted import read_layout
>>> from verify.maps.map import Axis
>>> from verify.maps.strided import of_layout
>>> tile = (Axis("m", 16), Axis("n", 8))
>>> old, new = (of_layout(read_layout(f"((4,8),(2,2)):((32,1),{step})"), tile) for step in ("(16,8)", "(8,16)"))
>>> print(*change(old, new, most=1).lines, sep=chr(10))
64 of 128 points changed
was ((4,8),(2,2)):((32,1),(16,8))
now ((4,8),4):((32,1),8)
lane 0, value 1: was (m=0, n=1), now (m=8, n=0)
and 63 more
"""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

from verify.maps import bases
from verify.maps.fragment_map import FragmentMap
from verify.maps.map import MapError, Point
from verify.maps.search import list_differences
from verify.maps.synthesis import as_layout


class Change(NamedTuple):
    """The smallest point at which two maps differ, and the lines that show how."""

    point: Point
    statement: str  # about the point
    lines: tuple[str, ...]  # how many points, both as layouts, and some of the points


def change(old: FragmentMap, new: FragmentMap, most: int = 8) -> Change | None:
    """How a map differs from the old one; None where both are one function. `most`: points that are shown."""
    if old == new:
        return None
    named = old if _names(old) == _names(new) else new
    points = list_differences(new, old) or [new.domain[0] if new.images else ()]
    shown = [f"{named.show_input(point)}: {_was(old, new, point)}" for point in points[:most]]
    lines = [f"{len(points)} of {len(old.images.keys() | new.images.keys())} points changed"]
    if (old.inputs, old.outputs) != (new.inputs, new.outputs):
        lines = [f"was a map {signature(old)}, now {signature(new)}"]
    lines += [f"was {text(old)}", f"now {text(new)}", *shown]
    lines += [f"and {len(points) - most} more"] if len(points) > most else []
    return Change(points[0], shown[0], tuple(lines))


def signature(m: FragmentMap) -> str:
    """Return the inputs and outputs of a map with their extents.

    >>> from verify.maps.map import Axis
    >>> signature(FragmentMap((Axis("lane", 32),), (Axis("m", 16), Axis("n", 8)), {}))
    'lane 32 -> m 16, n 8'
    """
    sides = (", ".join(f"{axis.name} {axis.extent}" for axis in axes) for axes in (m.inputs, m.outputs))
    return " -> ".join(sides)


def text(m: FragmentMap) -> str:
    """Return a map as a layout, or as F2 bases; or why it has neither."""
    try:
        return as_layout(m)
    except MapError as error:
        why = str(error)
    if [axis.name for axis in m.inputs] == ["lane", "value"]:
        with suppress(MapError):
            return bases.spell_bases(m)
    return why


def _names(m: FragmentMap) -> list[str]:
    return [axis.name for axis in (*m.inputs, *m.outputs)]


def _was(old: FragmentMap, new: FragmentMap, point: Point) -> str:
    was, now = (" and ".join(map(side.show, side.at(*point))) or "nothing" for side in (old, new))
    return f"was {was}, now {now}"
