# SPDX-License-Identifier: Apache-2.0
"""The laws of operations decided for many cases at once: cases whose layouts have the same shapes.

`proofs.symbolic.enumerated` states each law and decides it for one case, in plain Python. For pairs of layouts that
takes 3 to 15 times as long, even with 8 points. So the arrays decide all cases, and plain Python decides the smallest
counterexample and one confirmed case again; the two share no evaluation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from layouts.batched.evaluate import sum_modes
from layouts.coords import INT64_MAX, digit_sum
from layouts.int_tuple import IntTuple, leaves
from proofs.definitions import TooLarge
from proofs.symbolic.enumerated import refines

Array = Any  # of numpy
SHARED = 1 << 20  # points: the values of so many are kept for other cases
Decided = tuple[Array, Array]
"""For each case whether the law is broken, and whether it does not apply, or not at every point."""


@dataclass(frozen=True)
class LayoutBatch:
    """Layouts of one shape, with a row of strides for each."""

    shape: IntTuple
    strides: Array  # (layouts, modes)

    def __len__(self) -> int:
        return len(self.strides)

    @cached_property
    def extents(self) -> tuple[int, ...]:
        """The extents from left to right."""
        return leaves(self.shape)

    @cached_property
    def size(self) -> int:
        """The number of points."""
        return prod(self.extents)

    @cached_property
    def table(self) -> Array:
        """Their values: (layouts, points)."""
        return sum_modes(np, self.extents, _columns(self.strides), np.int64)

    @cached_property
    def once(self) -> Array:
        """Whether each takes each of its values once."""
        return _ascends(np.sort(self.table))

    @cached_property
    def compact(self) -> Array:
        """Whether each takes each of 0, ..., size - 1 once."""
        return self.once & (self.table.max(1) == self.size - 1)

    @cached_property
    def fewest(self) -> Array:
        """How few modes have the values of each."""
        counts = np.zeros(len(self), dtype=np.int64)
        end = np.zeros_like(counts)  # the stride with which the next mode would continue the last one
        for extent, stride in zip(self.extents, self.strides.T, strict=True):
            if extent > 1:
                counts += (counts == 0) | (end != stride)
                end = extent * stride
        return np.maximum(counts, 1)


@dataclass(frozen=True)
class Rows:
    """One of some layouts for each case: the one with the number `which[n]`, or a layout of its own, with number n."""

    layouts: LayoutBatch
    which: Array | None = None

    def __len__(self) -> int:
        return len(self.layouts if self.which is None else self.which)

    def each(self, answers: Array) -> Array:
        """For each case what was found for its layout."""
        return answers if self.which is None else answers[self.which]

    def part(self, cases: slice) -> Rows:
        """Return the rows of some cases.

        Where the values of all layouts are too many, those of each case are made instead.
        """
        if self.which is not None and len(self.layouts) * self.size <= SHARED:
            return Rows(self.layouts, self.which[cases])
        chosen = cases if self.which is None else self.which[cases]
        return Rows(LayoutBatch(self.shape, self.layouts.strides[chosen]))

    @property
    def shape(self) -> IntTuple:
        """The shape of all."""
        return self.layouts.shape

    @property
    def extents(self) -> tuple[int, ...]:
        """The extents from left to right."""
        return self.layouts.extents

    @property
    def size(self) -> int:
        """The number of points."""
        return self.layouts.size

    @cached_property
    def strides(self) -> Array:
        """The strides of each case's layout: (cases, modes)."""
        return self.each(self.layouts.strides)

    @cached_property
    def values(self) -> Array:
        """The values of each case's layout: (cases, points)."""
        return self.each(self.layouts.table)

    def after(self, inner: Rows) -> Array:
        """L(R(k)) for each index k of R, a row for each case, the last mode of L unbounded. Raises TooLarge."""
        last = int(inner.values.max())
        if last < self.size <= inner.size:
            return self.inside(inner.values)
        if last * int(self.strides.max()) * len(self.extents) > INT64_MAX:
            raise TooLarge(f"values at the index {last}, which may not fit 64 bits")
        return digit_sum(inner.values, self.extents, _columns(self.strides))

    def inside(self, indices: Array) -> Array:
        """Return the values at indices of the domain, a row for each case."""
        number = np.arange(len(self)) if self.which is None else self.which
        return np.take(self.layouts.table, indices + self.size * number[:, None])

    def modes(self, *places: int) -> tuple[Rows, ...]:
        """Return some modes as layouts of their own."""
        assert isinstance(self.shape, tuple)
        ends = np.cumsum([0, *(len(leaves(part)) for part in self.shape)])
        strides = self.layouts.strides
        return tuple(Rows(LayoutBatch(self.shape[i], strides[:, ends[i] : ends[i + 1]]), self.which) for i in places)


@dataclass(frozen=True, slots=True)
class BatchDecision:
    """How the cases of a law are decided as arrays."""

    decide: Callable[..., Decided]  # of the arguments and the result
    points: Callable[..., int]  # of the same: how many points a case has, for the memory that it takes


def _decide_coalesce(a: Rows, r: Rows) -> Decided:
    if r.size != a.size or (isinstance(r.shape, tuple) and any(isinstance(part, tuple) for part in r.shape)):
        return _all(a)
    more = len(r.extents) > a.each(a.layouts.fewest)
    return more | (r.values != a.values).any(1), _none(a)


def _decide_composition(a: Rows, b: Rows, r: Rows) -> Decided:
    if not refines(r.shape, b.shape):
        return _all(a)
    return _image(a, b, r)


def _image(a: Rows, b: Rows, r: Rows) -> Decided:
    """R(k) = A(B(k)) wherever B(k) lies in the domain of A; the law applies where that is every k."""
    outside = b.layouts.table >= a.size
    if not outside.any():
        return (r.values != a.inside(b.values)).any(1), _none(a)
    differ = r.values != a.inside(b.each(np.where(outside, 0, b.layouts.table)))
    return (differ & ~b.each(outside)).any(1), b.each(outside.any(1))


def _decide_complement(a: Rows, target: int, r: Rows) -> Decided:
    """A(i) + R(j) are all different and cover [0, target), R grows and is no larger than that takes.

    Modes of A with stride 0 only repeat values: index 0 in them, and all others, are the values once.
    """
    counted = (a.strides != 0) & (np.array(a.extents) > 1)
    pattern = counted @ (1 << np.arange(counted.shape[1]))
    wrong = np.empty(len(a), dtype=bool)
    for kind in np.unique(pattern):
        cases = np.flatnonzero(pattern == kind)
        extents = tuple(e if c else 1 for e, c in zip(a.extents, counted[cases[0]], strict=True))
        wrong[cases] = _find_uncovered(LayoutBatch(extents, a.strides[cases] * counted[cases]), target, r.values[cases])
    return wrong, _none(a)


def _find_uncovered(a: LayoutBatch, target: int, rest: Array) -> Array:
    sums = np.sort((a.table[:, :, None] + rest[:, None, :]).reshape(len(rest), -1))
    first = sums[:, :target]
    covers = np.all(first == np.arange(first.shape[1]), axis=1) & (first.shape[1] == target)
    reach = (a.strides * np.array(a.extents, dtype=np.int64)).max(1, initial=1)
    fits = sums.shape[1] <= -(-target // reach) * reach
    return ~(_ascends(rest) & _ascends(sums) & covers & fits)


def _right_inverted(a: Rows, r: Rows) -> Decided:
    wrong = (a.after(r) != np.arange(r.size)).any(1)
    return wrong | a.each(a.layouts.compact) if r.size < a.size else wrong, _none(a)


def _left_inverted(a: Rows, r: Rows) -> Decided:
    return ~a.each(a.layouts.once) | (r.after(a) != np.arange(a.size)).any(1), _none(a)


def _decide_divide(a: Rows, tiler: Rows, r: Rows) -> Decided:
    if not _has_two_modes(r) or not refines(r.shape[0], tiler.shape):  # type: ignore[index]  # a tuple, as was seen
        return _all(a)
    first, second = r.modes(0, 1)
    wrong, partly = _image(a, tiler, first)
    sums = (first.values[:, :, None] + second.values[:, None, :]).reshape(len(wrong), -1)
    row = np.arange(len(wrong))[:, None]
    taken = np.zeros((len(wrong), int(a.values.max()) + 2), dtype=bool)
    taken[row, np.minimum(sums, taken.shape[1] - 1)] = True  # the last column is of larger values
    return wrong | ~taken[row, a.values].all(1), partly


def _decide_product(block: Rows, tiler: Rows, r: Rows) -> Decided:
    """R[0] is the block, and all values differ, in T's order, where the block and T take each value once."""
    if not _has_two_modes(r):
        return _all(block)
    first, second = r.modes(0, 1)
    if first.size != block.size or not refines(second.shape, tiler.shape):
        return _all(block)
    wrong = (first.values != block.values).any(1)
    once = block.each(block.layouts.once) & tiler.each(tiler.layouts.once)
    sums = np.sort((first.values[:, :, None] + second.values[:, None, :]).reshape(len(wrong), -1))
    wrong |= once & ~_ascends(sums)
    ordered = tiler.each(_ascends(tiler.layouts.table))
    wrong |= once & ordered & (second.values[:, 1:] < second.values[:, :-1]).any(1)
    return wrong, ~once


def _columns(strides: Array) -> tuple[Array, ...]:
    return tuple(strides.T[:, :, None])


def _has_two_modes(r: Rows) -> bool:
    return isinstance(r.shape, tuple) and len(r.shape) == 2


def _ascends(values: Array) -> Array:
    ascends: Array = (values[:, 1:] > values[:, :-1]).all(1)
    return ascends


def _all(a: Rows) -> Decided:
    return np.ones(len(a), dtype=bool), _none(a)


def _none(a: Rows) -> Array:
    return np.zeros(len(a), dtype=bool)


def _largest(*rows: Rows) -> int:
    return max(row.size for row in rows)


def _product(a: Rows, cotarget: int, r: Rows) -> int:
    return a.size * r.size


DECISIONS: Mapping[str, BatchDecision] = {
    "coalesce": BatchDecision(_decide_coalesce, _largest),
    "composition": BatchDecision(_decide_composition, _largest),
    "complement": BatchDecision(_decide_complement, _product),
    "right_inverse": BatchDecision(_right_inverted, _largest),
    "left_inverse": BatchDecision(_left_inverted, lambda a, r: a.size),
    "logical_divide": BatchDecision(_decide_divide, _largest),
    "logical_product": BatchDecision(_decide_product, _largest),
}
"""How each law of `proofs.symbolic.enumerated` is decided."""
