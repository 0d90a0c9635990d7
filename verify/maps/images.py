# SPDX-License-Identifier: Apache-2.0
"""The images of a map that are computed where they are asked for: one in plain integers, or a block as arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

from layouts.arrays import any_of

if TYPE_CHECKING:
    from verify.core.search import Array, Numbers

Point: TypeAlias = "tuple[int, ...]"


class Images(Mapping[Point, tuple[Point, ...]]):
    """The only image of each (thread, value), none of them kept.

    A subclass computes `image` in plain integers and `columns` otherwise, so that each can be compared with the other.
    Where its points are few, it may have all of them as plain integers too, in `listed`, and `columns` are these.
    """

    def __init__(self, extents: Sequence[int], tile: Sequence[int]) -> None:
        self.extents = tuple(extents)  # of the inputs
        self.tile = tuple(tile)  # the extents of the outputs

    def image(self, thread: int, value: int) -> Point:
        """The image of one (thread, value), in plain integers."""
        raise NotImplementedError

    @property
    def columns(self) -> tuple[Numbers, ...]:
        """Each coordinate of the images, by blocks."""
        raise NotImplementedError

    @property
    def listed(self) -> list[list[int]] | None:
        """Numbers that are equal where images are, at every point, in plain integers: one list or several.

        None where they are not listed.
        """
        return None

    @property
    def listed_elements(self) -> list[int] | None:
        """The listed images as elements of the tile, in plain integers: -1, or too large, for those outside."""
        return None

    def same(self, other: object) -> bool:
        """Whether other images are known to be these without computing them."""
        return self is other

    def count(self, image: Point) -> int:
        """How many points have an image, in plain integers."""
        return sum(self.image(*point) == image for point in self)

    def coordinate(self, axis: int) -> Callable[[int, int], int]:
        """One coordinate of the image of one (thread, value), in plain integers."""
        return lambda thread, value: self.image(thread, value)[axis]

    def element(self, thread: int, value: int) -> int:
        """The image of one (thread, value) as a number, in plain integers."""
        return self.number(self.image(thread, value))

    def number(self, image: Point) -> int:
        """An image as the element x + X*y + ... of the tile."""
        return sum(c * prod(self.tile[:axis]) for axis, c in enumerate(image))

    @property
    def elements(self) -> Numbers:
        """The images as elements of the tile, by blocks: -1 for those outside it."""
        from verify.core.search import Numbers

        columns = self.columns
        threads, values = self.extents
        return Numbers(
            threads,
            values,
            lambda start, stop: self._inside(*(column.block(start, stop) for column in columns)),
            lambda thread, value: int(self._inside(*self.image(thread, value))),
        )

    def _inside(self, *coordinates: Any) -> Any:
        """The elements at some coordinates, integers or arrays: -1 outside the tile."""
        found = sum(coordinate * prod(self.tile[:axis]) for axis, coordinate in enumerate(coordinates))
        outside: Any = False
        for coordinate, extent in zip(coordinates, self.tile, strict=True):
            outside = outside | (coordinate < 0) | (coordinate >= extent)
        return found - outside * (found + 1) if any_of(outside) else found

    def __getitem__(self, point: Point) -> tuple[Point, ...]:
        if not all(0 <= c < extent for c, extent in zip(point, self.extents, strict=True)):
            raise KeyError(point)
        return (self.image(*point),)

    def __iter__(self) -> Iterator[Point]:
        return product(*map(range, self.extents))

    def __len__(self) -> int:
        return prod(self.extents)


class FunctionImages(Images):
    """The images of a function of (lane, value), integers or arrays, at the lanes of the threads."""

    def __init__(
        self, function: Callable[..., Sequence[Any]], lanes: Sequence[int], values: int, tile: Sequence[int]
    ) -> None:
        super().__init__((len(lanes), values), tile)
        self.function, self.lanes = function, lanes

    def image(self, thread: int, value: int) -> Point:
        """The image of one (thread, value), in plain integers."""
        return tuple(map(int, self.function(self.lanes[thread], value)))

    @property
    def columns(self) -> tuple[Numbers, ...]:
        """Each coordinate of the images, by blocks."""
        from layouts.arrays import np
        from verify.core.search import Numbers

        lanes, (threads, values) = np.array(self.lanes, dtype=np.int64), self.extents

        def block(axis: int, start: int, stop: int) -> Array:
            points = np.arange(start, stop, dtype=np.int64)
            return np.broadcast_to(self.function(lanes[points // values], points % values)[axis], points.shape)

        return tuple(
            Numbers(threads, values, partial(block, axis), self.coordinate(axis)) for axis in range(len(self.tile))
        )
