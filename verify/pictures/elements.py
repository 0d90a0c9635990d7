# SPDX-License-Identifier: Apache-2.0
"""The element that each (thread, value) of an operand has: of all, or of a large operand those in a window alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np

from verify.binding.operand import BoundOperand
from verify.core.digits import walk
from verify.maps import blocks
from verify.maps.map import Map, MapError, Point
from verify.maps.strided import misread
from verify.pictures import points

LARGEST = 1 << 20  # points of an operand: each is kept with its element
SHOWN = 3  # points outside the tile that are named


@dataclass(frozen=True)
class Elements:
    """Which (thread, value) has which element of the tile, and which points have none."""

    at: Mapping[Point, int]  # (thread, value) -> element; -1 outside the tile
    count: int  # points in the tile, or in the window, also where they are too many to be kept
    outside: int = 0  # points outside the tile
    first: tuple[str, ...] = ()  # the first of these in words

    def beyond(self) -> str:
        """Which points are in no cell; empty where all are in one."""
        more = f" and {self.outside - len(self.first)} more" if self.outside > len(self.first) else ""
        return f"outside the tile, in no cell: {', '.join(self.first)}{more}" if self.outside else ""


def every(part: BoundOperand, threads: int, grain: int) -> Elements:
    """Return the elements of so many threads, of the first of each `grain` values.

    >>> from layouts import Layout
    >>> C = BoundOperand("C", "", None, "", (2, 2), ()).of_layout(Layout.parse("(2,2):(1,-1)"))
    >>> every(C, 2, 1)
    Elements(at={(0, 0): 0, (0, 1): -1, (1, 0): 1, (1, 1): 0}, count=3, outside=1, first=('T0 V1 at (m=1, n=-1)',))
    """
    if not part.well_formed:
        return Elements({}, 0)
    shown = list(product(range(threads), range(0, part.values, grain)))
    if part.layout is None:
        at: dict[Point, int] = {point: _number(part, point) for point in shown}
    else:
        end, (step, _) = prod(part.extent), part.domain
        numbers = points.values(part.layout, [thread + step * value for thread, value in shown])
        at = {point: e if 0 <= e < end else -1 for point, e in zip(shown, numbers, strict=True)}
    outside = [point for point, element in at.items() if element < 0]
    return Elements(at, len(at) - len(outside), len(outside), tuple(_words(part, point) for point in outside[:SHOWN]))


def within(part: BoundOperand, xs: range, ys: range) -> Elements:
    """Return the elements (x, y) of a window, found by blocks; each is computed again in plain integers.

    Of more than LARGEST points in the window none is kept. Raises EvaluationMismatch.
    """
    m, width = _map(part), part.extent[0]
    kept: list[tuple[int, int]] = []  # points of the window with their elements
    count = outside = 0
    first: list[int] = []
    for start, block in blocks.walk_elements(m, every=True):
        inside = block >= 0
        x, y = block % width, block // width
        (chosen,) = np.nonzero(inside & (x >= xs.start) & (x < xs.stop) & (y >= ys.start) & (y < ys.stop))
        count += len(chosen)
        if count <= LARGEST:
            kept += zip((start + chosen).tolist(), block[chosen].tolist(), strict=True)
        (beyond,) = np.nonzero(~inside)
        outside += len(beyond)
        first += (start + beyond[: SHOWN - len(first)]).tolist()
    at: dict[Point, int] = {}
    for place, among in kept if count <= LARGEST else ():
        point = m.point(place)
        at[point] = find_element(part, point)
        if at[point] != among:
            raise blocks.EvaluationMismatch(misread(point, str(at[point]), str(among)))
    return Elements(at, count, outside, tuple(_words(part, m.point(place)) for place in first))


def find_element(part: BoundOperand, point: Point) -> int:
    """Return the element of one (thread, value) in plain integers; -1 outside the tile."""
    if part.layout is None:
        return _number(part, point)
    element = int(walk(part.layout, *point))
    return element if 0 <= element < prod(part.extent) else -1


def _number(part: BoundOperand, point: Point) -> int:
    """Return the element of a point of a map, by its coordinates: those outside are of no other element."""
    image = part.points(*point)
    try:
        return part.points.element(image)
    except MapError:
        return -1


def _map(part: BoundOperand) -> Map:
    """Return the map of an operand; raise TypeError for one that keeps its points."""
    m = part.points
    if not m.searchable:
        raise TypeError(f"{part.text} is a map that keeps its points")
    return m


def _words(part: BoundOperand, point: Point) -> str:
    """Return a point, and the place outside the tile that it has."""
    if part.layout is None:
        return f"T{point[0]} V{point[1]} at {part.points.show(part.points(*point))}"
    return f"T{point[0]} V{point[1]} at {part.show(walk(part.layout, *point))}"
