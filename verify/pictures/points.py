# SPDX-License-Identifier: Apache-2.0
"""Layouts at the points that a picture shows: one at a time where they are few, else by `layouts.batched`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from layouts import ComposedLayout, Layout, LayoutError, batched, size
from layouts.arrays import few, np


def values(layout: Layout | ComposedLayout, indices: Sequence[int]) -> list[int]:
    """The values at some indices of the domain.

    >>> values(Layout.parse("(2,4):(4,1)"), [0, 3, 5])
    [0, 5, 6]

    Raises LayoutError where there is no value.
    """
    if few(len(indices)):
        with suppress(LayoutError):  # the error is that of all of them, also where numpy is loaded already
            return [layout(index) for index in indices]
    found: list[int] = batched.batch(layout).at(np.asarray(indices, dtype=np.int64)).tolist()
    return found


def rows(layout: Layout) -> list[list[int]]:
    """The values of a (thread, value) layout, those of each thread in a row.

    >>> rows(Layout.parse("(2,3):(10,1)"))
    [[0, 1, 2], [10, 11, 12]]
    """
    threads = size(layout[0])
    found = values(layout, range(size(layout)))
    return [found[thread::threads] for thread in range(threads)]
