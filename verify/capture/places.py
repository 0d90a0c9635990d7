# SPDX-License-Identifier: Apache-2.0
"""Where the elements of a view lie in a storage: an offset and strides where these say it, each place otherwise.

A tensor of a benchmark has too many elements to list them. What is found by offset and strides is what a comparison of
lists would find, which is made where they don't say it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

MOST = 1 << 24  # elements that are listed
Listed: TypeAlias = NDArray[np.int64]
Fit: TypeAlias = tuple[tuple[int, ...], tuple[int, ...], int]  # shape, strides, offset


class Unchecked(Exception):
    """What the test says isn't a claim that can be compared: the reason, in words."""


class ViewPlaces:
    """The place of each element of a view, in elements, in the order of its indices."""

    def __init__(self, offset: int, shape: Sequence[int], strides: Sequence[int], listed: Listed | None = None) -> None:
        self.offset, self.shape, self.strides = offset, tuple(shape), tuple(strides)
        self.listed = listed  # where no strides describe them; offset and strides mean nothing then

    @classmethod
    def of_list(cls, listed: Listed) -> ViewPlaces:
        """Return places that are given one by one."""
        return cls(0, listed.shape, (), listed)

    def __len__(self) -> int:
        return int(np.prod(self.shape, dtype=object))

    @cached_property
    def each(self) -> Listed:
        """Return all of them; raises Unchecked if they are too many."""
        if self.listed is not None:
            return self.listed
        if len(self) > MOST:
            raise Unchecked(f"a tensor of more than {MOST} elements, in an order that is not read")
        places = np.full(self.shape, self.offset, np.int64)
        for axis, stride in enumerate(self.strides):
            places += (np.arange(self.shape[axis]) * stride).reshape(-1, *[1] * (len(self.shape) - 1 - axis))
        return places.ravel()

    @cached_property
    def axes(self) -> tuple[tuple[int, int], ...] | None:
        """Return (extent, stride) of the fewest axes that give these places in this order; None if they are listed.

        >>> ViewPlaces(0, (4, 8, 1), (8, 1, 5)).axes, ViewPlaces(0, (4, 8), (1, 4)).axes
        (((32, 1),), ((4, 1), (8, 4)))
        """
        if self.listed is not None:
            return None
        axes: list[tuple[int, int]] = []
        for extent, stride in reversed(list(zip(self.shape, self.strides, strict=True))):
            if axes and stride == axes[-1][0] * axes[-1][1] and extent != 1:
                axes[-1] = extent * axes[-1][0], axes[-1][1]
            elif extent != 1:
                axes.append((extent, stride))
        return tuple(reversed(axes))

    def is_same(self, view: ViewPlaces) -> bool:
        """Return whether two views have the same places in the same order."""
        if self.axes is None or view.axes is None:
            return len(self) == len(view) and bool(np.array_equal(self.each, view.each))
        return (self.axes, self.offset) == (view.axes, view.offset)  # an order has the fewest axes in one way

    @cached_property
    def distinct(self) -> int:
        """Return how many different places these are."""
        count, reach = 1, 0
        for extent, stride in sorted(self.axes or (), key=lambda axis: abs(axis[1])):
            if stride and abs(stride) <= reach:
                return len(np.unique(self.each))
            count, reach = count * (extent if stride else 1), reach + (extent - 1) * abs(stride)
        return count if self.axes is not None else len(np.unique(self.each))

    @property
    def span(self) -> tuple[int, int]:
        """Return the first and the last place in the storage."""
        if self.axes is None:
            return int(self.each.min()), int(self.each.max())
        ends = [(extent - 1) * stride for extent, stride in self.axes]
        return self.offset + sum(min(end, 0) for end in ends), self.offset + sum(max(end, 0) for end in ends)

    def has_same_set(self, view: ViewPlaces) -> bool:
        """Return whether two views have the same places, in any order."""
        if (self.distinct, self.span) != (view.distinct, view.span):
            return False
        if self.distinct == self.span[1] - self.span[0] + 1:  # without gaps
            return True
        return self.is_same(view) or bool(np.array_equal(np.unique(self.each), np.unique(view.each)))

    def meets(self, view: ViewPlaces) -> bool:
        """Return whether two views have a place in common."""
        (first, last), (begin, end) = self.span, view.span
        return first <= end and begin <= last and bool(len(np.intersect1d(self.each, view.each)))

    def relocate(self, own: ViewPlaces, theirs: ViewPlaces) -> ViewPlaces | None:
        """Return these places where element by element `own` is `theirs`; None if one of them is not in `own`."""
        if len(own) != len(theirs):
            return None
        if len(self) == len(own) and self.is_same(own):
            return theirs
        moved = self._scale(own, theirs)
        if moved is not None:
            return moved
        order = np.argsort(own.each)
        ordered = own.each[order]
        at = np.minimum(np.searchsorted(ordered, self.each), len(ordered) - 1)
        return ViewPlaces.of_list(theirs.each[order[at]]) if (ordered[at] == self.each).all() else None

    def _scale(self, own: ViewPlaces, theirs: ViewPlaces) -> ViewPlaces | None:
        """Return these places where both others go through the storage in one step; None if that isn't so."""
        if self.axes is None or own.axes is None or theirs.axes is None or len(own.axes) != 1 or len(theirs.axes) != 1:
            return None
        (extent, step), (_, their_step) = own.axes[0], theirs.axes[0]
        start, end = own.offset, own.offset + (extent - 1) * step
        if step <= 0 or not start <= self.span[0] <= self.span[1] <= end:
            return None
        if any(distance % step for distance in (self.offset - start, *self.strides)):
            return None
        strides = [stride // step * their_step for stride in self.strides]
        return ViewPlaces(theirs.offset + (self.offset - start) // step * their_step, self.shape, strides)

    def _split(self, shape: Sequence[int]) -> tuple[int, ...] | None:
        """Return the strides of another shape that goes through the same axes; None if one goes beyond an axis."""
        rest, strides = list(self.axes or ()), list[int]()
        room, step = 1, 0
        for extent in reversed(tuple(shape)):
            if room == 1 and extent != 1 and rest:
                room, step = rest.pop()
            if room % extent or self.axes is None:
                return None
            strides.append(step if extent > 1 else 0)
            room, step = room // extent, step * extent
        return tuple(reversed(strides)) if room == 1 and not rest else None

    def fit(self, shape: Sequence[int]) -> Fit | None:
        """Return (shape, strides, offset) of a view of these places, 0 along one element; None if there is none."""
        strides = self._split(shape)
        if strides is not None:
            return tuple(shape), strides, self.offset
        grid = self.each.reshape(tuple(shape))
        origin, steps = int(self.each[0]), []
        for axis, extent in enumerate(shape):
            at = tuple(1 if dim == axis else 0 for dim in range(len(shape)))
            steps.append(int(grid[at]) - origin if extent > 1 else 0)
        same = (ViewPlaces(origin, shape, steps).each == self.each).all()
        return (tuple(shape), tuple(steps), origin) if same else None
