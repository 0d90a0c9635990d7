# SPDX-License-Identifier: Apache-2.0
"""Layouts, compositions and many layouts at once, evaluated over ranges of their indices.

`Batch`      one function, or as many functions as it has rows
`batch`      a Batch of layouts, composed layouts or swizzles
`stacked`    a Batch of arrays of extents and strides
`compose`    R(i) = F(G(i))
`table`      a layout at every coordinate, one axis for each mode
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from math import isqrt, prod
from operator import mul
from typing import Any, TypeAlias

from layouts.arrays import np
from layouts.composed import ComposedLayout
from layouts.coords import INT64_MAX, digit_sum, natural
from layouts.errors import LayoutError
from layouts.int_tuple import leaves, size
from layouts.layout import Layout
from layouts.swizzle import Swizzle

Array: TypeAlias = Any  # of the namespace in use
Column: TypeAlias = Any  # an int that all rows share, or an array [row][1]
Function: TypeAlias = "Layout | ComposedLayout | Swizzle"

BUDGET = 1 << 24
"""Bytes of one block of values, unless another budget is given; a check holds a few such blocks at a time."""
INT32_MAX = 2**31 - 1  # values up to it are kept in int32, which halves the memory
LINE = 4096  # points: the shorter of the two tables has at least so many, where the layout has
TABLE = 1 << 20  # points: a longer table is not kept


@dataclass(frozen=True, slots=True)
class Linear:
    """A layout's flat modes: the extents and strides of its digits, each an int or a column with one for each row."""

    xp: Any  # the namespace of its columns, as numpy or cupy
    extents: tuple[Column, ...]  # of each mode
    strides: tuple[Column, ...]  # of each mode
    shortest: tuple[int, ...] = field(init=False)  # the least extent of each mode, of all rows
    longest: tuple[int, ...] = field(init=False)  # the largest extent of each mode
    steps: tuple[tuple[int, int], ...] = field(init=False)  # the least and the largest stride of each mode

    def __post_init__(self) -> None:
        low, high = zip(*map(self._range, self.extents), strict=True)
        object.__setattr__(self, "shortest", low)
        object.__setattr__(self, "longest", high)
        object.__setattr__(self, "steps", tuple(map(self._range, self.strides)))
        if low == high:
            object.__setattr__(self, "extents", low)
        if min(low) < 1:
            raise LayoutError(f"extents must be at least 1, got {min(low)}")

    def _range(self, column: Column) -> tuple[int, int]:
        if isinstance(column, int):
            return column, column
        return int(self.xp.min(column)), int(self.xp.max(column))

    @property
    def common(self) -> bool:
        """Whether all rows have the same extents."""
        return self.shortest == self.longest

    def interval(self, low: int, high: int, whole: bool) -> tuple[int, int, int]:
        """Bounds of the values at the indices low .. high, and of the absolute value of every intermediate result.

        Where these indices are the ``whole`` domain of all rows, the last digit is below its extent; else it is as
        large as the index makes it.
        """
        if low < 0:
            raise LayoutError(f"an index must not be negative, and the layout inside goes down to {low}")
        tops, rest = [], 1
        for s, least in zip(self.longest, self.shortest, strict=True):
            tops.append(min(s - 1, high // rest))
            rest *= least
        if not whole:
            tops[-1] = high // prod(self.shortest[:-1])
        below = above = 0
        for top, (least, most) in zip(tops, self.steps, strict=True):
            below += top * min(0, least)
            above += top * max(0, most)
        return below, above, max(high, above - below)

    def cast(self, dtype: Any) -> Linear:
        """Return the same layout in numbers of a type in which all its indices and values fit.

        A stride beyond them belongs to a digit that is always 0, an extent beyond them to one that never wraps.
        """
        most = INT32_MAX if dtype == self.xp.int32 else INT64_MAX
        columns = (*self.extents, *self.strides)
        if all(isinstance(c, int) and -most < c < most for c in columns):
            return self
        return Linear(
            self.xp,
            tuple(min(s, most) if isinstance(s, int) else self.xp.asarray(s, dtype=dtype) for s in self.extents),
            tuple(
                (d if abs(d) <= most else 0) if isinstance(d, int) else self.xp.asarray(d, dtype=dtype)
                for d in self.strides
            ),
        )

    def rows(self, which: slice) -> Linear:
        """Return some of the rows."""
        extents, strides = (
            tuple(c if isinstance(c, int) else c[which, :] for c in columns) for columns in (self.extents, self.strides)
        )
        return Linear(self.xp, extents, strides)

    def row(self, number: int) -> Linear:
        """One row, its columns as integers."""
        extents, strides = (
            tuple(c if isinstance(c, int) else int(c[number, 0]) for c in columns)
            for columns in (self.extents, self.strides)
        )
        return Linear(self.xp, extents, strides)

    def split(self, room: int) -> tuple[Linear, Linear]:
        """Return the first modes, as many as have at most ``room`` indices together, and the others.

        One mode may be cut.
        """
        inner: list[tuple[int, Column]] = []
        outer: list[tuple[int, Column]] = []
        for s, d in zip(self.extents, self.strides, strict=True):
            part = 1 if outer else next(n for n in range(min(s, room), 0, -1) if s % n == 0)
            if part > 1 or not inner:  # the first one always: it may be a column
                inner.append((part, d))
            if part < s:
                outer.append((s // part, d * part))
            room //= part
        low, high = (zip(*modes, strict=True) for modes in (inner, outer or [(1, 0)]))
        return Linear(self.xp, *low), Linear(self.xp, *high)

    def table(self, dtype: Any) -> Array:
        """Return the value at every index, where rows have the same extents."""
        return sum_modes(self.xp, self.extents, self.strides, dtype)

    def at(self, index: Array, dtype: Any) -> Array:
        """Return the values at an array of indices, digit by digit."""
        fitting = self.cast(dtype)
        return digit_sum(index, fitting.extents, fitting.strides)


def sum_modes(xp: Any, extents: Sequence[int], strides: Sequence[Column], dtype: Any) -> Array:
    """Return the value at every index of modes: sums of one line for each mode, first fastest. The numbers must fit."""
    sums = None
    for s, d in zip(extents, strides, strict=True):
        line = xp.arange(s, dtype=dtype) * d
        if sums is None:
            sums = line
        elif s > 1:
            whole = line[..., :, None] + sums[..., None, :]
            sums = xp.reshape(whole, (*whole.shape[:-2], whole.shape[-2] * whole.shape[-1]))
    return sums


Step: TypeAlias = "int | Swizzle | Linear"  # what is added, xored or looked up, after what came before


@dataclass(frozen=True, slots=True)
class Batch:
    """One function on indices, or one for each row: values as an array [index], or as an array [row][index].

    F(i) = step_k(... step_1(sum of digit_j(i) * d_j)), where the steps add an offset, swizzle, or apply a layout to
    the index that they are given. Rows may differ in extents, strides and size; they have one rank.

    >>> batch(Layout.parse("(2,4):(4,1)")).values().tolist()
    [0, 4, 1, 5, 2, 6, 3, 7]
    >>> batch([Layout((2, 2), (1, 2)), Layout((2, 2), (2, 1))]).values().tolist()
    [[0, 1, 2, 3], [0, 2, 1, 3]]

    Raises LayoutError where a value, an index or an intermediate result may need more than 64 bits, where a step is
    given a negative index, and for extents below 1.
    """

    xp: Any  # the namespace of its arrays, as numpy or cupy
    first: Linear  # the layout inside, which has the domain
    then: tuple[Step, ...] = ()  # what is done to its values, in order
    count: int | None = None  # rows; None of one function
    low: int = field(init=False, default=0)  # no value is smaller
    high: int = field(init=False, default=0)  # no value is larger
    most: int = field(init=False, default=0)  # no index, value or intermediate result is larger
    tables: dict[Any, Any] = field(init=False, default_factory=dict, repr=False, compare=False)  # dtype -> (low, high)

    def __post_init__(self) -> None:
        size = self.size
        low, high, most = self.first.interval(0, size - 1, self.first.common)
        for step in self.then:
            if isinstance(step, int):
                low, high, larger = low + step, high + step, abs(low) + abs(high) + step
            elif isinstance(step, Swizzle):
                natural(low, step)
                every = (1 << high.bit_length()) - 1
                low, high = 0, every | _move_axis(step, every & step.yyy_mask)
                larger = high
            else:
                low, high, larger = step.interval(low, high, False)
            most = max(most, larger)
        most = max(most, size)
        if most >= INT64_MAX:
            raise LayoutError(f"values or indices up to {most} do not fit 64 bits")
        for name, bound in (("low", low), ("high", high), ("most", most)):
            object.__setattr__(self, name, bound)

    @property
    def rank(self) -> int:
        """The number of flat modes of the domain."""
        return len(self.first.extents)

    @property
    def size(self) -> int:
        """The number of indices; of rows that differ, the largest."""
        if self.first.common:
            return prod(self.first.extents)
        tops = prod(self.first.longest)  # more than any row has
        return int(self.xp.max(self.sizes)) if tops <= INT64_MAX else tops

    @property
    def sizes(self) -> Any:
        """The number of indices: an int that all rows share, or an array [row]."""
        product = reduce(mul, self.first.extents)
        return product if isinstance(product, int) else product[:, 0]

    @property
    def cosizes(self) -> Any:
        """The number of integers that the image spans, 1 + sum of (s_i - 1) * |d_i|: an int, or an array [row].

        Raises LayoutError where the values are not those of a layout alone.
        """
        if self.then:
            raise LayoutError("a composed layout has no cosize: its image is known by its values alone")
        modes = zip(self.first.extents, self.first.strides, strict=True)
        cosize = 1 + sum((s - 1) * abs(d) for s, d in modes)
        return cosize if isinstance(cosize, int) else cosize[:, 0]

    def dtype(self, narrow: bool) -> Any:
        """int64, or the int32 in which everything fits."""
        if not narrow:
            return self.xp.int64
        linear = [part for part in (self.first, *self.then) if isinstance(part, Linear) and self.count is not None]
        tops = (max(*part.longest, *(abs(d) for step in part.steps for d in step)) for part in linear)
        return self.xp.int32 if max(self.most, *tops, 0) < INT32_MAX else self.xp.int64

    def values(self, start: int = 0, stop: int | None = None, narrow: bool = False) -> Array:
        """F(start), ..., F(stop - 1) as int64, or in int32 where ``narrow`` and everything fits; up to its size.

        A row that has fewer indices is continued beyond its last, as every layout is.
        """
        stop = self.size if stop is None else stop
        if not 0 <= start <= stop <= self.size:
            raise LayoutError(f"the range {start} .. {stop} is not within 0 .. {self.size}")
        dtype = self.dtype(narrow)
        return self._follow(self._first(start, stop, dtype), dtype)

    def at(self, index: Array) -> Array:
        """F at every index of an array of integers: of one function of any shape, else [row][index] or [1][index].

        Raises LayoutError for an index outside 0 .. size - 1.
        """
        if self.xp.any((index < 0) | (index >= self.size)):
            raise LayoutError(f"indices must be within 0 .. {self.size - 1}")
        dtype = self.xp.int64
        return self._follow(self.first.at(self.xp.asarray(index, dtype=dtype), dtype), dtype)

    def rows(self, which: slice) -> Batch:
        """Return some of the rows."""
        if self.count is None:
            return self
        then = tuple(step.rows(which) if isinstance(step, Linear) else step for step in self.then)
        count = len(range(*which.indices(self.count)))
        return Batch(self.xp, self.first.rows(which), then, count)

    def row(self, number: int) -> Batch:
        """One row, as one function."""
        first = self.first.row(number)
        then = tuple(step.row(number) if isinstance(step, Linear) else step for step in self.then)
        return Batch(self.xp, first, then)

    def spans(self, budget: int = BUDGET, end: int | None = None) -> Iterator[tuple[int, int]]:
        """Return the domain, or its indices before ``end``, in ranges (start, stop) of at most ``budget`` bytes."""
        points, end = max(1, budget // (8 * (self.count or 1))), self.size if end is None else end
        return ((i, min(i + points, end)) for i in range(0, end, points))

    def blocks(self, budget: int = BUDGET) -> Iterator[tuple[int, Array]]:
        """(start, values from there on) over the whole domain, at most ``budget`` bytes at a time, narrow if they fit.

        >>> [(start, values.tolist()) for start, values in batch(Layout(5, 3)).blocks(budget=16)]
        [(0, [0, 3]), (2, [6, 9]), (4, [12])]
        """
        return ((start, self.values(start, stop, narrow=True)) for start, stop in self.spans(budget))

    def follow(self, values: Array) -> Array:
        """Return the steps alone, applied to values of the layout inside."""
        return self._follow(values, self.xp.int64)

    def _first(self, start: int, stop: int, dtype: Any) -> Array:
        """Return the layout inside, at a range: the sums of two short tables, or digit by digit where rows differ in
        shape.

        With i = q * n + r, r < n, where the n are the indices of the first modes: L(i) = high(q) + low(r).
        """
        xp = self.xp
        if not self.first.common:
            return self.first.at(xp.arange(start, stop, dtype=dtype)[None, :], dtype)
        if dtype not in self.tables:
            inner, outer = self.first.cast(dtype).split(max(LINE, isqrt(self.size)))
            short = prod(outer.extents) <= TABLE
            high = outer.table(dtype)[..., :, None] if short else None
            self.tables[dtype] = inner.table(dtype)[..., None, :], high, outer
        low, high, outer = self.tables[dtype]
        n = low.shape[-1]
        first, last = start // n, -(-stop // n)
        if high is None:
            high = outer.at(xp.arange(first, last, dtype=dtype), dtype)[..., :, None]
        elif last - first < high.shape[-2]:
            high = high[..., first:last, :]
        whole = high + low
        flat = xp.reshape(whole, (*whole.shape[:-2], whole.shape[-2] * n))
        return flat if stop - start == flat.shape[-1] else flat[..., start - first * n : stop - first * n]

    def _follow(self, values: Array, dtype: Any) -> Array:
        for step in self.then:
            if isinstance(step, int):
                values = values + step
            elif isinstance(step, Swizzle):
                mask = step.yyy_mask & (INT32_MAX if dtype == self.xp.int32 else INT64_MAX)
                values = values ^ _move_axis(step, values & mask)
            else:
                values = step.at(values, dtype)
        return values


def batch(what: Function | Batch | Sequence[Layout], xp: Any = np) -> Batch:
    """One layout, composed layout or swizzle as a Batch; or layouts of one rank, a row for each.

    A swizzle has the domain of its period, after which it repeats.

    Raises LayoutError where layouts differ in the number of their flat modes, and where Batch does.
    """
    if isinstance(what, Batch):
        return what
    if isinstance(what, Layout):
        return Batch(xp, _modes(what, xp))
    if isinstance(what, Swizzle):
        return Batch(xp, Linear(xp, (what.period,), (1,)), (what,))
    if isinstance(what, ComposedLayout):
        inner = batch(what.layout_b, xp)
        return replace(inner, then=(*inner.then, *([what.offset] if what.offset else []), *_steps(what.layout_a, xp)))
    ranks = sorted({len(leaves(layout.shape)) for layout in what})
    if len(ranks) != 1:
        raise LayoutError(f"layouts of one rank are evaluated at once, got layouts of {ranks} flat modes")
    return stack_layouts(
        [leaves(layout.shape) or (1,) for layout in what], [leaves(layout.stride) or (0,) for layout in what], xp
    )


def stack_layouts(extents: Any, strides: Any, xp: Any = np) -> Batch:
    """Layouts of one rank from two arrays [row][mode], of their flat extents and of their strides.

    >>> stack_layouts([[2, 2], [4, 1]], [[2, 1], [1, 0]]).values().tolist()
    [[0, 2, 1, 3], [0, 1, 2, 3]]

    Raises LayoutError for integers beyond 64 bits, arrays of different or other forms, and where Batch does.
    """
    columns = []
    for given in (extents, strides):
        try:
            array = xp.asarray(given, dtype=xp.int64)
        except OverflowError as error:
            raise LayoutError(f"extents and strides must fit 64 bits: {error}") from error
        if array.ndim != 2 or 0 in array.shape:
            raise LayoutError(f"extents and strides are arrays [row][mode], got the form {array.shape}")
        columns.append([array[:, k : k + 1] for k in range(array.shape[1])])
    shapes, steps = columns
    if len(shapes) != len(steps) or shapes[0].shape != steps[0].shape:
        raise LayoutError("extents and strides have different forms")
    return Batch(xp, Linear(xp, tuple(shapes), tuple(steps)), count=shapes[0].shape[0])


def compose(outer: Function | Batch, inner: Function | Batch, xp: Any = np) -> Batch:
    """R(i) = F(G(i)) for every index i of G; rows of both correspond, or one of them is one function.

    >>> compose(Layout((4, 2), (2, 1)), Layout(4, 2)).values().tolist()
    [0, 4, 1, 5]

    Beyond its domain the last mode of F continues. Raises LayoutError where rows differ in number, and as Batch does.
    """
    after, before = batch(outer, xp), batch(inner, xp)
    if None not in (after.count, before.count) and after.count != before.count:
        raise LayoutError(f"{after.count} functions are composed with {before.count}: rows must correspond")
    first = () if isinstance(outer, Swizzle) else (after.first,)
    count = before.count if after.count is None else after.count
    return Batch(before.xp, before.first, (*before.then, *first, *after.then), count)


def table(function: Layout | ComposedLayout, xp: Any = np) -> Array:
    """Return the values at every coordinate, as an array with one axis for each mode: T[c_0, c_1, ...] = F(c_0, c_1,
    ...).

    Along a mode whose strides are 0 the values are not repeated in memory: the array is for reading.

    >>> table(Layout.parse("((2,2),3):((1,6),2)")).tolist()
    [[0, 2, 4], [1, 3, 5], [6, 8, 10], [7, 9, 11]]

    Raises LayoutError where Batch does.
    """
    whole, inner = batch(function, xp), function
    while not isinstance(inner, Layout):
        inner = inner.layout_b
    shape = tuple(map(size, inner))
    values = xp.zeros((1,) * len(shape), dtype=xp.int64)
    for axis, mode in enumerate(inner):
        if any(leaves(mode.stride)):
            line = _modes(mode, xp).cast(xp.int64).table(xp.int64)
            values = values + xp.reshape(line, tuple(-1 if k == axis else 1 for k in range(len(shape))))
    values = whole.follow(values)
    return values if values.shape == shape else xp.broadcast_to(values, shape)


def _modes(layout: Layout, xp: Any) -> Linear:
    return Linear(xp, leaves(layout.shape) or (1,), leaves(layout.stride) or (0,))


def _steps(outer: Function, xp: Any) -> tuple[Step, ...]:
    """Return what the outer function of a composed layout does to an index, step by step."""
    if isinstance(outer, Swizzle):
        return (outer,)
    if isinstance(outer, Layout):
        return (_modes(outer, xp),)
    return (*_steps(outer.layout_b, xp), *([outer.offset] if outer.offset else []), *_steps(outer.layout_a, xp))


def _move_axis(swizzle: Swizzle, field: Any) -> Any:
    """Return the bits that a swizzle reads, where it changes others."""
    return field >> swizzle.shift if swizzle.shift >= 0 else field << -swizzle.shift
