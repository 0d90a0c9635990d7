# SPDX-License-Identifier: Apache-2.0
"""All layouts up to a bound, each with a number: its shape first, from small to large, then its strides.

The layouts are numbered and never listed: a domain may have more of them than fit in memory.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, islice
from itertools import product as grid
from math import prod

from layouts.int_tuple import IntTuple, leaves, nest

SHAPES = 1 << 16
Pair = tuple[IntTuple, IntTuple]


@dataclass(frozen=True)
class Domain:
    """Every layout of at most `rank` modes, nested `depth` deep, with `size` points, of these extents and strides.

    >>> domain = Domain(2, 1, 4, (1, 2, 4), (0, 1))
    >>> len(domain), domain[0], domain[len(domain) - 1]
    (30, (1, 0), ((4, 1), (1, 1)))

    Raises ValueError where it has more than 2^16 shapes.
    """

    rank: int  # modes, at most
    depth: int  # how deep they are nested, at most
    size: int  # points, at most
    extents: Sequence[int]  # of the modes
    strides: Sequence[int]  # of the modes
    _shapes: list[IntTuple] = field(init=False, repr=False, compare=False)  # from small to large
    _ends: list[int] = field(init=False, repr=False, compare=False)  # the number after the last layout of each shape

    def __post_init__(self) -> None:
        known = (
            nest(iter(extents), profile)
            for n in range(1, self.rank + 1)
            for profile in profiles(n, self.depth)
            for extents in _extents(n, self.size, sorted(self.extents))
        )
        shapes = list(islice(known, SHAPES + 1))
        if len(shapes) > SHAPES:
            raise ValueError(f"there are more than {SHAPES} shapes: name fewer, or a smaller rank, depth or size")
        shapes.sort(key=lambda shape: (prod(leaves(shape)), len(leaves(shape)), repr(shape)))
        object.__setattr__(self, "_shapes", shapes)
        counts = (len(self.strides) ** len(leaves(shape)) for shape in shapes)
        object.__setattr__(self, "_ends", list(accumulate(counts)))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __getitem__(self, number: int) -> Pair:
        return next(self.between(number, number + 1))

    def between(self, start: int, stop: int) -> Iterator[Pair]:
        """Yield the layouts with the numbers start, ..., stop - 1."""
        place = bisect_right(self._ends, start)
        while start < stop:
            shape = self._shapes[place]
            begin, end = self._ends[place - 1] if place else 0, min(stop, self._ends[place])
            extents = leaves(shape)
            strides = self._strides(len(extents), start - begin, end - begin)
            # Strides of a flat shape are nested as it is.
            yield from ((shape, row if extents is shape else nest(iter(row), shape)) for row in strides)
            start, place = end, place + 1

    def _strides(self, modes: int, start: int, stop: int) -> Iterator[tuple[int, ...]]:
        """Yield the strides of some modes with the numbers start, ..., stop - 1; the first is the lowest digit."""
        if modes == 0:
            yield ()
            return
        radix = len(self.strides)
        begin, end = start // radix, -(-stop // radix)
        for number, rest in enumerate(self._strides(modes - 1, begin, end), begin):
            low, high = max(start - number * radix, 0), min(stop - number * radix, radix)
            for stride in self.strides[low:high]:
                yield stride, *rest


def profiles(modes: int, depth: int) -> Iterator[IntTuple]:
    """Yield the nestings of some modes, at most `depth` deep, where each tuple has two parts or more.

    >>> list(profiles(3, 2))
    [(0, 0, 0), (0, (0, 0)), ((0, 0), 0)]
    """
    if modes == 1:
        yield 0
    elif depth:
        for parts in _splits(modes):
            yield from grid(*(list(profiles(part, depth - 1)) for part in parts))


def _splits(total: int) -> Iterator[tuple[int, ...]]:
    """Yield the ways to write a number as a sum of two or more positive ones, the most summands first."""
    for first in range(1, total):
        yield from ((first, *rest) for rest in _splits(total - first))
        yield first, total - first


def _extents(modes: int, size: int, extents: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield the extents of some modes whose product is at most `size`."""
    if modes == 0:
        yield ()
        return
    for extent in extents:
        if extent > size:
            return
        yield from ((extent, *rest) for rest in _extents(modes - 1, size // extent, extents))
