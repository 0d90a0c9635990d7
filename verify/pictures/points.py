# SPDX-License-Identifier: Apache-2.0
"""Layouts at the points that a picture shows, many of them by `layouts.batched`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import product

from layouts import ComposedLayout, Layout, LayoutError, batched, size
from layouts.arrays import np

FEW = 4096  # points that take less time one by one than numpy's import does


def values(layout: Layout | ComposedLayout, indices: Sequence[int]) -> list[int]:
    """Return the values at some indices of the domain.

    >>> values(Layout.parse("(2,4):(4,1)"), [0, 3, 5])
    [0, 5, 6]

    Raises LayoutError for an index without a value.
    """
    if len(indices) > FEW:
        with suppress(LayoutError, OverflowError):  # of all values between the first index and the last
            offsets: list[int] = batched.batch(layout).at(np.asarray(indices, dtype=np.int64)).tolist()
            return offsets
    return [layout(index) for index in indices]


def within(
    layout: Layout | ComposedLayout, height: int, rows: Sequence[int], columns: Sequence[int]
) -> dict[tuple[int, int], int]:
    """Return the value at each (row, column) of some rows and columns, whose index is row + height * column.

    >>> within(Layout.parse("(2,4):(4,1)"), 2, range(1, 2), range(2, 4))
    {(1, 2): 6, (1, 3): 7}

    Raises LayoutError where there is no value; elsewhere there may be none.
    """
    places = list(product(rows, columns))
    return dict(zip(places, values(layout, [row + height * column for row, column in places]), strict=True))


def rows(layout: Layout) -> list[list[int]]:
    """Return the values of a (thread, value) layout, those of each thread in a row.

    >>> rows(Layout.parse("(2,3):(10,1)"))
    [[0, 1, 2], [10, 11, 12]]
    """
    threads = size(layout[0])
    offsets = values(layout, range(size(layout)))
    return [offsets[thread::threads] for thread in range(threads)]
