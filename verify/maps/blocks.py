# SPDX-License-Identifier: Apache-2.0
"""The blocks of a map: read in turn, some points of each compared with `at`.

`walk_blocks`, `walk_elements`   every block, as coordinates or as elements x + X*y
`read_block`                     one block; raises EvaluationMismatch if `at` has a point otherwise
`or_mismatch`                    a search whose counterexample is the mismatch
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import ParamSpec, TypeAlias

from layouts.arrays import np
from verify.core.verdict import Counterexample
from verify.maps.map import Array, Axis, Map, Point, contradict

BLOCK = 1 << 18  # points
GOLDEN = 0x9E3779B1  # odd: its multiples spread over a block
P = ParamSpec("P")
Columns: TypeAlias = "tuple[Array, ...]"  # one for each coordinate of the images


class EvaluationMismatch(Exception):
    """Two evaluations of a map of ours that differ: one of them is wrong."""

    def __init__(self, counterexample: Counterexample) -> None:
        super().__init__(counterexample.statement)
        self.counterexample = counterexample


def or_mismatch(find: Callable[P, Counterexample | None]) -> Callable[P, Counterexample | None]:
    """Return a search whose counterexample is the mismatch of one of its maps, if there is one."""

    @wraps(find)
    def search(*of: P.args, **options: P.kwargs) -> Counterexample | None:
        try:
            check_readings(*(argument for argument in of if isinstance(argument, Map)))
            return find(*of, **options)
        except EvaluationMismatch as fault:
            return fault.counterexample

    return search


def read_block(m: Map, start: int, stop: int) -> Columns:
    """Return the coordinates of a block, some compared with `at`. Raises EvaluationMismatch where they differ."""
    columns, count = m.block(start, stop), stop - start
    compared = vars(m).setdefault("compared", set())
    if (start, stop) not in compared:
        for place in {count - 1, *(k * GOLDEN % count for k in range(m.samples - 1))}:
            point = m.point(start + place)
            (alone,), among = m.at(*point), image_at(columns, place)
            if alone != among:
                raise EvaluationMismatch(contradict(m, point, alone, among))
        compared.add((start, stop))
    return columns


def image_at(columns: Columns, place: int) -> Point:
    """Return the image at a place of a block."""
    return tuple(int(column[place]) for column in columns)


def walk_blocks(m: Map, every: bool = False) -> Iterator[tuple[int, Columns]]:
    """Yield (first number, coordinates from there on), of the first inputs alone if the others have the same images.

    `every` visits those too. Raises EvaluationMismatch.
    """
    check_readings(m)
    points = len(m) // (1 if every else m.repeats)
    for at in range(0, points, BLOCK):
        yield at, read_block(m, at, min(at + BLOCK, points))


def check_readings(*maps: Map) -> None:
    """Raise EvaluationMismatch if two evaluations of a map are known to differ."""
    for m in maps:
        if (wrong := m.mismatch()) is not None:
            raise EvaluationMismatch(wrong)


def walk_elements(m: Map, every: bool = False) -> Iterator[tuple[int, Array]]:
    """Yield (first number, elements x + X*y from there on): -1 for an image outside the tile."""
    for at, columns in walk_blocks(m, every):
        yield at, number_elements(columns, m.outputs)


def number_elements(columns: Columns, axes: Sequence[Axis]) -> Array:
    """Return the element of each image: -1 outside the tile."""
    elements, strays, unit = columns[0], [], axes[0].extent
    for column, axis in zip(columns, axes, strict=True):
        if column.min() < 0 or column.max() >= axis.extent:
            strays.append((column < 0) | (column >= axis.extent))
    for column, axis in zip(columns[1:], axes[1:], strict=True):
        elements = elements + unit * column
        unit *= axis.extent
    return np.where(np.logical_or.reduce(strays), -1, elements) if strays else elements
