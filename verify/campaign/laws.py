# SPDX-License-Identifier: Apache-2.0
"""The laws of a campaign, each decided for many cases at once: cases whose layouts have the same shapes.

A law is the definition of an operation. `proofs.symbolic.enumerated` has each for one case, in plain Python, and
decides counterexamples again; the arrays here share no evaluation with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, Literal

import numpy as np

from layouts.batched import Batch, compose, stacked
from layouts.int_tuple import IntTuple, leaves
from proofs.symbolic.enumerated import refines

Array = Any  # of numpy
Decided = tuple[Array, Array]
"""For each case whether the law is broken, and whether it does not apply, or not at every point."""


@dataclass(frozen=True)
class Rows:
    """Layouts of one shape, one for each case: that of case n has the strides `strides[which[n]]`."""

    shape: IntTuple
    strides: Array  # (layouts, modes)
    which: Array

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
        """The values of each of the layouts, not of each case."""
        return self._batch(self.strides).values()

    @cached_property
    def values(self) -> Array:
        """The values of each case's layout: (cases, points)."""
        return self.table[self.which]

    def after(self, inner: Rows) -> Array:
        """L(R(k)) for each index k of R, a row for each case, the last mode of L unbounded."""
        return compose(self._batch(self.strides[self.which]), inner._batch(inner.strides[inner.which])).values()

    def _batch(self, strides: Array) -> Batch:
        return stacked(np.broadcast_to(np.array(self.extents), strides.shape), strides)

    def inside(self, indices: Array) -> Array:
        """The values at indices of the domain, a row for each case."""
        return np.take(self.table, indices + self.size * self.which[:, None])

    def modes(self, *places: int) -> tuple[Rows, ...]:
        """Some modes as layouts of their own."""
        assert isinstance(self.shape, tuple)
        ends = np.cumsum([0, *(len(leaves(part)) for part in self.shape)])
        return tuple(Rows(self.shape[i], self.strides[:, ends[i] : ends[i + 1]], self.which) for i in places)


@dataclass(frozen=True, slots=True)
class Law:
    """A law: its statement, what its cases are besides a layout, and how it is decided."""

    statement: str
    second: Literal["", "layout", "cotarget"]
    decide: Callable[..., Decided]  # of the arguments and the result
    points: Callable[..., int]  # of the same: how many points a case has, for the memory that it takes
    partial: bool = False  # whether there are cases to which it does not apply, or not at every point


def _coalesced(a: Rows, r: Rows) -> Decided:
    if r.size != a.size or (isinstance(r.shape, tuple) and any(isinstance(part, tuple) for part in r.shape)):
        return _all(a)
    fewest = np.zeros(len(a.strides), dtype=np.int64)
    end = np.zeros_like(fewest)  # the stride with which the next mode would continue the last one
    for extent, stride in zip(a.extents, a.strides.T, strict=True):
        if extent > 1:
            fewest += (fewest == 0) | (end != stride)
            end = extent * stride
    more = len(r.extents) > np.maximum(fewest, 1)[a.which]
    return more | (r.values != a.values).any(1), _none(a)


def _composed(a: Rows, b: Rows, r: Rows) -> Decided:
    if not refines(r.shape, b.shape):
        return _all(a)
    return _image(a, b, r)


def _image(a: Rows, b: Rows, r: Rows) -> Decided:
    """R(k) = A(B(k)) wherever B(k) lies in the domain of A; the law applies where that is every k."""
    inside = b.values < a.size
    differ = r.values != a.inside(np.minimum(b.values, a.size - 1))
    return (differ & inside).any(1), ~inside.all(1)


def _complemented(a: Rows, target: int, r: Rows) -> Decided:
    """A(i) + R(j) are all different and cover [0, target), R grows and is no larger than that takes.

    Modes of A with stride 0 only repeat values: index 0 in them, and all others, are the values once.
    """
    counted = (a.strides != 0) & (np.array(a.extents) > 1)
    wrong = np.empty(len(a.which), dtype=bool)
    for pattern in np.unique(counted, axis=0):
        cases = np.flatnonzero((counted == pattern).all(1)[a.which])
        kept = Rows(
            tuple(e if c else 1 for e, c in zip(a.extents, pattern, strict=True)), a.strides * pattern, a.which[cases]
        )
        wrong[cases] = _uncovered(kept, target, r.values[cases])
    return wrong, _none(a)


def _uncovered(a: Rows, target: int, rest: Array) -> Array:
    sums = np.sort((a.values[:, :, None] + rest[:, None, :]).reshape(len(rest), -1))
    grows = (np.diff(rest) > 0).all(1)
    once = (np.diff(sums) > 0).all(1)
    first = sums[:, :target]
    covers = np.all(first == np.arange(first.shape[1]), axis=1) & (first.shape[1] == target)
    reach = (a.strides * np.array(a.extents, dtype=np.int64)).max(1, initial=1)[a.which]
    return ~(grows & once & covers & (sums.shape[1] <= -(-target // reach) * reach))


def _right_inverted(a: Rows, r: Rows) -> Decided:
    compact = np.zeros(len(a.strides), dtype=bool)
    likely = np.flatnonzero(a.table.max(1) == a.size - 1)
    compact[likely] = (np.sort(a.table[likely]) == np.arange(a.size)).all(1)
    back = a.after(r) == np.arange(r.size)
    return ~back.all(1) | (compact[a.which] & (r.size < a.size)), _none(a)


def _left_inverted(a: Rows, r: Rows) -> Decided:
    return ~_injective(a) | (r.after(a) != np.arange(a.size)).any(1), _none(a)


def _divided(a: Rows, tiler: Rows, r: Rows) -> Decided:
    if not _has_two_modes(r) or not refines(r.shape[0], tiler.shape):  # type: ignore[index]  # a tuple, as was seen
        return _all(a)
    first, second = r.modes(0, 1)
    wrong, partly = _image(a, tiler, first)
    found = (first.values[:, :, None] + second.values[:, None, :]).reshape(len(wrong), -1)
    row = np.arange(len(wrong))[:, None]
    taken = np.zeros((len(wrong), int(a.table.max()) + 2), dtype=bool)
    taken[row, np.minimum(found, taken.shape[1] - 1)] = True  # the last column is of larger values
    return wrong | ~taken[row, a.values].all(1), partly


def _multiplied(block: Rows, tiler: Rows, r: Rows) -> Decided:
    """R[0] is the block, and all values differ, in T's order, where the block and T take each value once."""
    if not _has_two_modes(r):
        return _all(block)
    first, second = r.modes(0, 1)
    if first.size != block.size or not refines(second.shape, tiler.shape):
        return _all(block)
    wrong = (first.values != block.values).any(1)
    once = _injective(block) & _injective(tiler)
    sums = np.sort((first.values[:, :, None] + second.values[:, None, :]).reshape(len(wrong), -1))
    wrong |= once & (np.diff(sums) == 0).any(1)
    ordered = (np.diff(tiler.values) > 0).all(1)
    wrong |= once & ordered & (np.diff(second.values) < 0).any(1)
    return wrong, ~once


def _has_two_modes(r: Rows) -> bool:
    return isinstance(r.shape, tuple) and len(r.shape) == 2


def _injective(a: Rows) -> Array:
    once: Array = (np.diff(np.sort(a.table)) > 0).all(1)
    return once[a.which]


def _all(a: Rows) -> Decided:
    return np.ones(len(a.which), dtype=bool), _none(a)


def _none(a: Rows) -> Array:
    return np.zeros(len(a.which), dtype=bool)


def _largest(*rows: Rows) -> int:
    return max(one.size for one in rows)


def _product(a: Rows, cotarget: int, r: Rows) -> int:
    return a.size * r.size


LAWS: Mapping[str, Law] = {
    "coalesce": Law("R(i) = L(i), with the fewest modes", "", _coalesced, _largest),
    "composition": Law("R(c) = A(B(c)), compatible(B, R)", "layout", _composed, _largest, partial=True),
    "complement": Law("(A, R) takes each value once and covers [0, n)", "cotarget", _complemented, _product),
    "right_inverse": Law("L(R(k)) = k", "", _right_inverted, _largest),
    "left_inverse": Law("R(L(k)) = k", "", _left_inverted, _largest),
    "logical_divide": Law("R(t, 0) = A(T(t)), and R has every value of A", "layout", _divided, _largest, partial=True),
    "logical_product": Law(
        "R(i, 0) = A(i), and R takes each value once", "layout", _multiplied, _largest, partial=True
    ),
}
"""The laws by operation."""
