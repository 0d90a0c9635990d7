# SPDX-License-Identifier: Apache-2.0
"""How a time grows with the size of its input: the slope of log(time) over log(size), and where it is 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log
from statistics import linear_regression

Point = tuple[float, float]  # size, time

TOLERANCE = 0.1
STEP = 2  # sizes closer than by this factor have no slope of their own: it would be noise


@dataclass(frozen=True, slots=True)
class Growth:
    """The slope of a fit through all points, and the longest range of sizes over which each step's slope is about 1."""

    slope: float
    linear: tuple[float, float] | None  # from, to; None where no step is linear
    steps: tuple[float, ...]  # the slope of each step
    after: float | None  # the slope of the step after that range; None where it ends with the last size


def growth(points: Sequence[Point]) -> Growth | None:
    """The growth of a time; None of fewer than two sizes."""
    chosen: list[Point] = []
    for point in sorted(points):
        if not chosen or point[0] >= STEP * chosen[-1][0]:
            chosen.append(point)
    if len(chosen) < 2:
        return None
    slope = linear_regression([log(x) for x, _ in points], [log(y) for _, y in points]).slope
    steps = [log(y / v) / log(x / u) for (u, v), (x, y) in pairwise(chosen)]
    start, stop = longest([abs(one - 1) <= TOLERANCE for one in steps])
    if start == stop:
        return Growth(slope, None, tuple(steps), None)
    after = steps[stop] if stop < len(steps) else None
    return Growth(slope, (chosen[start][0], chosen[stop][0]), tuple(steps), after)


def longest(steps: Sequence[bool]) -> tuple[int, int]:
    """The longest range (start, stop) of steps that are true, the last of several; an empty one where there is none."""
    best, start = (0, 0), 0
    for stop, true in enumerate([*steps, False]):
        if not true:
            if stop - start >= best[1] - best[0] and stop > start:
                best = start, stop
            start = stop + 1
    return best
