# SPDX-License-Identifier: Apache-2.0
"""How a time grows with the size of its input: slopes of log(time) over log(size), and where they are 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from math import log
from statistics import linear_regression

Point = tuple[float, float]  # size, time

TOLERANCE = 0.1
STEP = 2  # sizes closer than by this factor have no slope of their own: it would be noise


@dataclass(frozen=True, slots=True)
class Range:
    """Consecutive sizes, and the slope from the first to the last."""

    start: float
    stop: float
    slope: float

    @property
    def linear(self) -> bool:
        """Whether the slope is about 1."""
        return not beyond(self.slope)


@dataclass(frozen=True, slots=True)
class Growth:
    """The slope of a fit through all points, and that of each range."""

    slope: float
    ranges: tuple[Range, ...]  # as long as possible: the slopes of the steps of one are all about 1, below, or above


def growth(points: Sequence[Point]) -> Growth | None:
    """The growth of a time; None of fewer than two sizes."""
    chosen: list[Point] = []
    for point in sorted(points):
        if not chosen or point[0] >= STEP * chosen[-1][0]:
            chosen.append(point)
    if len(chosen) < 2:
        return None
    whole = linear_regression([log(x) for x, _ in points], [log(y) for _, y in points]).slope
    ranges = []
    for _, steps in groupby(pairwise(chosen), key=lambda step: beyond(slope(*step))):
        first, *_, last = (point for step in steps for point in step)
        ranges.append(Range(first[0], last[0], slope(first, last)))
    return Growth(whole, tuple(ranges))


def slope(first: Point, last: Point) -> float:
    """The slope from one point to another."""
    return log(last[1] / first[1]) / log(last[0] / first[0])


def beyond(slope: float) -> int:
    """-1 of a slope below 1, 1 of one above, 0 of one that is about 1."""
    return (slope > 1 + TOLERANCE) - (slope < 1 - TOLERANCE)
