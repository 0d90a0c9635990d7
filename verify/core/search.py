# SPDX-License-Identifier: Apache-2.0
"""Numbers at every (thread, value), searched block by block: a block is an array, so memory is bounded.

A point is an index here: thread * values + value, so that the smallest index is the smallest (thread, value). Some
points of each block are evaluated again, one at a time and in plain integers. Where these differ there is a
Misread: an error of ours, and no finding.

`Numbers`     what is searched
`of_layout`   those of a layout, or of one behind swizzles
`outside`, `once`, `owners`, `crowded`, `places`, `unequal`    what is found in them
`described`   elements of a tile in words
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeAlias

from layouts import Layout, batched, size
from layouts.arrays import np
from layouts.layout import trusted
from verify.core.verdict import Counterexample
from verify.core.wording import SHOWN, Some, box, listed

if TYPE_CHECKING:
    from layouts import ComposedLayout

Array: TypeAlias = Any  # of numpy
BLOCK = 1 << 18  # points
SAMPLES = 32  # points of a block that are evaluated again, the first and the last among them
GOLDEN = 0x9E3779B1  # odd: its multiples spread over a block


class Misread(Exception):
    """Numbers of a block that plain integers do not give: an evaluation of ours is wrong."""

    def __init__(self, counterexample: Counterexample) -> None:
        super().__init__(counterexample.statement)
        self.counterexample = counterexample


def misread(thread: int, value: int, alone: int, among: int) -> Counterexample:
    """A point that plain integers evaluate otherwise than a block: never reproduced."""
    where = f"T{thread} V{value}: {alone} by itself, {among} among all points"
    return Counterexample(
        {"thread": thread, "value": value}, f"{where}: an evaluation of ours is wrong", reproduced=False
    )


def or_misread(find: Callable[..., Counterexample | None]) -> Callable[..., Counterexample | None]:
    """A finding whose counterexample is the misread point, where one of its evaluations is wrong."""

    @wraps(find)
    def found(*of: Any, **options: Any) -> Counterexample | None:
        try:
            return find(*of, **options)
        except Misread as fault:
            return fault.counterexample

    return found


@dataclass(frozen=True)
class Numbers:
    """A number at every (thread, value)."""

    threads: int  # how many
    values: int  # of each thread
    block: Callable[[int, int], Array]  # those at the points from the first to before the second
    alone: Callable[[int, int], int]  # that at one (thread, value), in plain integers
    compared: bool = False  # whether all of it was compared with plain integers before
    alike: int = 1  # so many times the first threads' numbers are all: the block is one of these

    @property
    def points(self) -> int:
        """How many there are."""
        return self.threads * self.values

    def at(self, point: int) -> tuple[int, int]:
        """The (thread, value) of a point."""
        return divmod(point, self.values)

    def gives(self, point: int, number: int) -> bool:
        """Whether plain integers give a number that was found at a point."""
        return self.alone(*self.at(point)) == number

    def item(self, thread: int, value: int) -> int:
        """The number that a block has at one (thread, value)."""
        point = thread * self.values + value
        return int(self.block(point, point + 1)[0])

    def read(self, start: int, stop: int) -> Array:
        """The block, some of it compared with plain integers. Raises Misread where they differ."""
        found, count = self.block(start, stop), stop - start
        for place in () if self.compared else {count - 1, *(k * GOLDEN % count for k in range(SAMPLES - 1))}:
            thread, value = self.at(start + place)
            if (alone := self.alone(thread, value)) != (among := int(found[place])):
                raise Misread(misread(thread, value, alone, among))
        return found

    def blocks(self) -> Iterator[tuple[int, Array]]:
        """(first point, numbers from there on), of the first threads where the others are alike."""
        points = self.points // self.alike
        return ((at, self.read(at, min(at + BLOCK, points))) for at in range(0, points, BLOCK))

    def then(self, change: Callable[[Array], Array], alone: Callable[[int, int], int]) -> Numbers:
        """The numbers changed by a function of arrays."""
        return replace(self, block=lambda start, stop: change(self.block(start, stop)), alone=alone)


def of_layout(layout: Layout | ComposedLayout, alone: Callable[[int, int], int]) -> Numbers:
    """The numbers of a layout of rank 2, behind any swizzles, by `layouts.batched`; `alone` has one of them.

    >>> numbers = of_layout(Layout.parse("(2,3):(10,1)"), lambda thread, value: 10 * thread + value)
    >>> numbers.read(0, 6).tolist(), outside(numbers, 12), places([numbers], [11])
    ([0, 1, 2, 10, 11, 12], (1, 5, 12), [4])

    Raises LayoutError where a number may not fit 64 bits.
    """
    from layouts.composed import on_layout

    whole = batched.batch(on_layout(_by_thread, layout))
    return Numbers(size(layout[0]), size(layout[1]), whole.values, alone)


def _by_thread(layout: Layout) -> Layout:
    """The layout with its values first, so that the indices of a thread follow one another."""
    (thread, value), (step, other) = layout.shape, layout.stride  # type: ignore[misc]
    return trusted((value, thread), (other, step))


def outside(numbers: Numbers, stop: int) -> tuple[int, int, int]:
    """How many points have no number in 0 .. stop - 1; the first of them and its number, -1 for none."""
    count, first, number = 0, -1, -1
    for start, block in numbers.blocks():
        if block.min() < 0 or block.max() >= stop:
            bad = (block < 0) | (block >= stop)
            if not count:
                first = int(bad.argmax())
                first, number = start + first, int(block[first])
            count += int(np.count_nonzero(bad))
    return count * numbers.alike, first, number


def once(numbers: Numbers, stop: int) -> bool:
    """Whether each of 0 .. stop - 1 is the number of one point, and no point has another."""
    if numbers.points != stop:
        return False
    seen = np.zeros(stop, dtype=bool)
    for _, block in numbers.blocks():
        if block.min() < 0 or block.max() >= stop or seen[block].any():
            return False
        seen[block] = True
    return bool(seen.all())


def owners(numbers: Numbers, stop: int) -> Array:
    """How many points have each of 0 .. stop - 1: an array [number]."""
    counts = np.zeros(stop, dtype=np.int32)
    for _, block in numbers.blocks():
        found, times = np.unique(block, return_counts=True)
        inside = (found >= 0) & (found < stop)
        counts[found[inside]] += times[inside].astype(np.int32)
    return counts * np.int32(numbers.alike) if numbers.alike > 1 else counts


def crowded(numbers: Numbers, counts: Array, copies: int) -> tuple[int, int]:
    """The first point whose number more than `copies` points have, and that number; -1 for none."""
    for start, block in numbers.blocks():
        many = counts[np.clip(block, 0, len(counts) - 1)] > copies
        many &= (block >= 0) & (block < len(counts))
        if many.any():
            first = int(many.argmax())
            return start + first, int(block[first])
    return -1, -1


def places(columns: Sequence[Numbers], wanted: Sequence[int], most: int = 1) -> list[int]:
    """The first points at which several numbers are the wanted ones."""
    first, *others = columns
    found: list[int] = []
    for start, block in first.blocks():
        alike = block == wanted[0]
        for other, number in zip(others, wanted[1:], strict=True):
            alike &= other.read(start, start + len(block)) == number
        found += (start + np.flatnonzero(alike)[:most]).tolist()
        if len(found) >= most:
            break
    if found and len(found) < most and first.alike > 1:
        found.append(found[0] + first.points // first.alike)
    return found[:most]


def unequal(ones: Sequence[Numbers], others: Sequence[Numbers]) -> tuple[int, int, int, int]:
    """Where several numbers differ from several others: (points, all points, thread, value), -1 and -1 for none.

    A point that only one of the two has is one of them.
    """
    one, other = ones[0], others[0]
    threads, values = min(one.threads, other.threads), min(one.values, other.values)
    every = one.points + other.points - threads * values
    count, found = every - threads * values, []
    if one.values != other.values:
        found.append((0, values))
    if one.threads != other.threads:
        found.append((threads, 0))
    within: tuple[int, int] | None = None
    for rows, columns in _rectangles(threads, values, max(one.values, other.values)):
        pairs = zip(ones, others, strict=True)
        unlike = np.logical_or.reduce([_cut(a, rows, columns) != _cut(b, rows, columns) for a, b in pairs])
        if unlike.any():
            count += int(np.count_nonzero(unlike))
            if within is None:
                row, column = divmod(int(unlike.argmax()), len(columns))
                within = rows[row], columns[column]
    thread, value = min([*found, *([within] if within else [])], default=(-1, -1))
    return count, every, thread, value


def _rectangles(threads: int, values: int, longest: int) -> Iterator[tuple[range, range]]:
    """(threads, values) of rectangles that cover all: whole threads, or part of one, of at most a block of points."""
    height = max(1, BLOCK // longest)
    width = values if longest <= BLOCK else BLOCK
    for top in range(0, threads, height):
        for left in range(0, values, width):
            yield range(top, min(top + height, threads)), range(left, min(left + width, values))


def _cut(numbers: Numbers, rows: range, columns: range) -> Array:
    """The numbers in a rectangle, as an array [thread][value]."""
    first = rows.start * numbers.values
    if len(rows) == 1:
        return numbers.read(first + columns.start, first + columns.stop)[None, :]
    whole = numbers.read(first, rows.stop * numbers.values)
    return whole.reshape(len(rows), numbers.values)[:, columns.start : columns.stop]


def described(chosen: Array, axes: Sequence[str]) -> str:
    """Elements of a tile in words, as `wording.describe` has them: those that are true in an array [x][y].

    >>> described(np.array([[0, 0, 1, 1], [0, 0, 1, 1]], dtype=bool), ("m", "n"))
    'n = 2..3, every m'
    """
    lines = chosen.any(axis=1), chosen.any(axis=0)
    spans = [_some(line) for line in lines]
    extents = chosen.shape
    if len(axes) == 1:
        return box(spans[:1], extents[:1], axes)
    count = int(np.count_nonzero(chosen))
    if spans[0].many * spans[1].many == count:
        return box(spans, extents, axes)
    points = [(x, y) for x in spans[0].first for y in _some(chosen[x]).first]
    return listed(points[:SHOWN], count, axes)


def _some(line: Array) -> Some:
    """The first few places that are true, how many there are, and the last."""
    first: list[int] = []
    for start in range(0, len(line), BLOCK):
        first += (start + np.flatnonzero(line[start : start + BLOCK])[:SHOWN]).tolist()
        if len(first) >= SHOWN:
            break
    last = len(line) - 1 - int(line[::-1].argmax())
    return Some(tuple(first[:SHOWN]), int(np.count_nonzero(line)), last)
