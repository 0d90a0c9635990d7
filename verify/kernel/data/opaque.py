# SPDX-License-Identifier: Apache-2.0
"""Data of which nothing is known but an interval and zero bits: what a run without a claim computes with.

A label has the form of `values`: id * 8 + byte. Data without bounds are the one id DATA in every byte, data with known
zero bits an id for each mask; both may be taken apart and put together byte by byte. Data with an interval that the
mask doesn't say have an id of their own for each thread and instruction, since bytes of two of them are neither.
Ids below FIRST say, as they do in `Values`, why there is no value: nobody wrote it, or it lies outside of its array.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isa_tables.formula import Tree
from verify.kernel.data.intervals import Interval, fill_ones, of_mask, settle
from verify.kernel.data.registers import Word, octets, word
from verify.kernel.data.values import FIRST, LIMITS, SIZE, Bits, Ids, Samples, Values

DATA = FIRST  # the id of data without bounds
MOST = 1 << 23  # ids of a batch; data beyond keep their zero bits alone
_BYTES = np.arange(8, dtype=np.uint32)
_ALL = np.uint64((1 << 64) - 1)  # the mask of which every bit may be set


class OperandRows(NamedTuple):
    """What an operand is in each thread: the columns of an `Interval`, and the id that says why it isn't a value."""

    start: Bits
    extent: Bits
    mask: Bits
    lost: Ids


def lost_of(ids: Ids) -> Ids:
    """Return the ids that say why there is no value, 0 for values and plain bits."""
    return np.where(ids < FIRST, ids, np.uint32(0))


class OpaqueValues(Values):
    """Data of a run without a claim. What is computed of them is data, or is lost if an operand is."""

    opaque = True

    def __init__(self, seed: int) -> None:
        super().__init__(seed, primes=0)
        self.maybe = super().reason("may come from memory that nobody has written, as data decide", 0)
        self.reached = False  # whether a span of bytes stood for an address that data decide
        self.classes: list[tuple[Interval, int]] = []  # of ids, by `history`: their interval, and their bytes
        self.known: dict[tuple[Interval, int], int] = {}  # and its number
        self._columns: tuple[NDArray[Any], ...] = ()
        assert self._of_mask((1 << 64) - 1) == DATA
        self.sample[DATA] = np.nan  # near no number, so that plain floats keep their bits
        self.inputs = self.top

    # ---- ids

    def _class(self, interval: Interval, size: int) -> int:
        if (interval, size) not in self.known:
            self.known[interval, size] = len(self.classes)
            self.classes.append((interval, size))
            self._columns = ()
        return self.known[interval, size]

    def _of_mask(self, mask: int) -> int:
        """Return the id of all data with these bits; `drop` keeps the constants."""
        if (mask, 0) not in self.constants:
            self.constants[mask, 0] = made = self.new(1, 0)
            self.history[made] = self._class(of_mask(mask), 8)
        return self.constants[mask, 0]

    def give_variables(self, at: slice, kind: str, samples: Samples, limits: tuple[float, float] | None = None) -> None:
        """Make data within their limits of ids that are new."""
        width, integers = 8 * SIZE[kind], LIMITS.get(kind)  # of floats any bits: their order is another
        low, high = map(int, (limits if integers else None) or integers or (0, fill_ones(width)))
        self.history[at], self.kind[at] = self._class(settle(low, high - low, fill_ones(width), width), SIZE[kind]), 0

    def reason(self, text: str, line: int | None = None) -> int:
        """Return data: a number that is not known here may be any."""
        return DATA

    def nowhere(self, text: str) -> int:
        """Return the id of what is read at this line from memory that nobody wrote."""
        if self.line not in self.lost:
            self.lost[self.line] = super().reason(text)
        return self.lost[self.line]

    def constant(self, bits: int, kind: str) -> int:
        """Return data: no number is known by its value."""
        return DATA

    def number(self, number: Fraction, kind: str) -> int:
        """Return data."""
        return DATA

    # ---- operations

    def join_bytes(self, bits: Bits, labels: Ids, size: int) -> Ids:
        """Return the ids (threads or 1, values) of a register's values: DATA, or why one has no value."""
        ids = self._data(lost_of(labels >> np.uint32(3)).reshape(len(labels), -1, size).max(2))
        return np.broadcast_to(ids, (max(len(bits), len(ids)), ids.shape[1]))

    def _data(self, lost: Ids) -> Ids:
        return np.where(lost > 0, lost, np.uint32(DATA)).astype(np.uint32)

    def field(self, tree: Tree, roles: Sequence[str], operands: Sequence[Ids], kind: str, narrows: str = "") -> Ids:
        """Return data, lost where an operand is."""
        return self._together(operands)

    def _together(self, operands: Sequence[Ids]) -> Ids:
        return self._data(reduce(np.maximum, map(lost_of, operands)))

    def with_histories(self, key: Any, ids: Ids, rule: Any, kind: str) -> Ids:
        """Return data, lost where they were."""
        return self._together([ids])

    def whole(self, ids: Ids, kind: str) -> Ids:
        """Return data, lost where they were."""
        return self._together([ids])

    def apply(self, name: str, ids: Sequence[Ids], kind: str, opaque: int) -> Ids:
        """Return data, lost where an argument is."""
        return self._together(ids)

    def inverse(self, ids: Ids, kind: str) -> Ids:
        """Return data, lost where they were."""
        return self._together([ids])

    def product(self, a: Ids, b: Ids, c: Ids, kind: str, narrows: str = "", clamps: bool = False) -> Ids:
        """Return a * b + c of stacks of matrices: lost where the row of a, the column of b, or c is."""
        row, column = lost_of(a).max(2)[:, :, None], lost_of(b).max(1)[:, None]
        return self._data(np.maximum(np.maximum(row, column), lost_of(c)))

    def marks(self, name: str, ids: Ids) -> NDArray[np.int64]:
        """Return that no value has a mark."""
        return np.zeros(ids.shape, np.int64)

    def bounds(self, ids: Ids) -> tuple[float, float]:
        """Return that nothing is known of floats."""
        return -np.inf, np.inf

    # ---- bounds

    def rows(self, held: Word, size: int) -> OperandRows:
        """Return what the lowest bytes of a register are in each thread (or 1): intervals of 8 * size bits."""
        labels, full = held.wide(size), np.uint64(fill_ones(8 * size))
        ids = labels >> np.uint32(3)
        lost = lost_of(ids).max(1)
        start, extent, mask, bytes_ = self._tables(np.where(ids < FIRST, np.uint32(DATA), ids))
        byte = (labels & np.uint32(7)).astype(np.uint64) << np.uint64(3)
        there = np.where(labels > 0, (mask >> byte) & np.uint64(255), np.uint64(0))
        any_bits = (there << (np.arange(size, dtype=np.uint64) << np.uint64(3))).sum(1, dtype=np.uint64)
        plain = np.where(labels > 0, np.uint64(0), octets(held.bits, size))
        bits = (plain << (np.arange(size, dtype=np.uint64) << np.uint64(3))).sum(1, dtype=np.uint64)
        consecutive = (ids[:, :1] << np.uint32(3)) + _BYTES[:size]
        run = np.where(_BYTES[:size] < bytes_[:, :1], labels == consecutive, labels == 0).all(1) & (ids[:, 0] > FIRST)
        ends = np.uint64(fill_ones(63)) >> (np.uint64(63) - np.minimum(bytes_[:, 0] * np.uint64(8), np.uint64(63)))
        wraps = (start[:, 0] > ends) | (extent[:, 0] > ends - np.minimum(start[:, 0], ends))
        whole = run & (bits == 0) & ((bytes_[:, 0] >= size) | ~wraps)  # zeros above one that wraps: no interval
        any_bits, bits = np.broadcast_arrays(any_bits, bits)
        return OperandRows(
            np.where(whole, start[:, 0], bits) & full, np.where(whole, np.minimum(extent[:, 0], full), any_bits),
            np.where(whole, mask[:, 0], any_bits | bits) & full, np.broadcast_to(lost, whole.shape),
        )  # fmt: skip

    def lost_in(self, held: Word) -> Ids:
        """Return for each thread (or 1) why a register holds no value, 0 if it does."""
        return np.zeros(1, np.uint32) if held.labels is None else lost_of(held.labels >> np.uint32(3)).max(1)

    def _tables(self, ids: Ids) -> tuple[NDArray[Any], ...]:
        """Return start, extent, mask and bytes of ids."""
        if not self._columns:
            columns = zip(*((*interval, size) for interval, size in self.classes), strict=True)
            self._columns = tuple(np.array(column, np.uint64) for column in columns)
        classes = self.history[ids]
        return tuple(column[classes] for column in self._columns)

    def register(
        self, intervals: Sequence[Interval], place: NDArray[np.intp], lost: Ids, size: int, count: int
    ) -> Word:
        """Return the register of numbers in these intervals: `place` says which one each thread (or all) has."""
        labels = np.zeros((len(intervals), 8), np.uint32)
        bits = np.zeros(len(intervals), np.uint64)
        own = np.zeros(len(intervals), bool)
        for row, each in enumerate(intervals):
            if not each.extent:
                bits[row] = each.start
                continue
            wide = each != of_mask(each.mask)
            own[row] = wide and self.top + count < MOST + self.inputs
            label = np.uint32(self._of_mask(each.mask) << 3)
            labels[row] = np.where([each.mask >> 8 * byte & 255 for byte in range(8)], label + _BYTES, 0)
        if len(intervals) == 1 and not lost.any():  # one row for all threads
            place, lost = place[:1], lost[:1]
        spread, held = labels[place], bits[place]
        if own.any():
            spread, held = np.broadcast_to(spread, (count, 8)).copy(), np.broadcast_to(held, count).copy()
            lost, which = np.broadcast_to(lost, count), np.broadcast_to(place, count)
            there = np.flatnonzero(own[which])
            first = self.new(len(there), 0)
            numbers = np.array([self._class(each, size) for each in intervals], np.uint32)
            self.history[first : self.top] = numbers[which[there]]
            ids = np.arange(first, self.top, dtype=np.uint32) << np.uint32(3)
            spread[there] = np.where(_BYTES < size, ids[:, None] + _BYTES, 0)
        spread = np.where(lost[:, None] > 0, lost[:, None] << np.uint32(3), spread)
        return word(np.where(lost > 0, np.uint64(0), held), spread[:, : max(size, 1)] if size < 8 else spread)
