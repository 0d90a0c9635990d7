# SPDX-License-Identifier: Apache-2.0
"""What values went through: how far they may have grown, and their marks. Each distinct history is kept once.

Main declarations: `History`, `Histories` (their numbers), `Growth` (computes a formula on bounds instead of values).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import floor, inf, isfinite, nextafter, trunc
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.uint32]  # of histories, one for each value
_BITS = (12, 16, 2, 16, 16, 2)  # of a cause, a narrowing, opaque, slot, last and rounded, in one number
LATELY, BEFORE = 1, 2  # rounded: as the last operation alone, or before it
_MONOTONE = frozenset({"relu", "abs", "min", "max"})  # of one value they commute with rounding to the nearest
END = 0xFFFF  # above every place in a fragment
_TABLE = 1 << 22  # the most entries of a table that finds different numbers without sorting


class History(NamedTuple):
    """Bounds on a value as a polynomial of the inputs, and its marks: 0 for none."""

    degree: float = 0.0  # of the polynomial
    norm: float = 0.0  # log2 of the sum of its coefficients' absolute values
    denominator: float = 0.0  # log2 of their common denominator
    cause: int = 0  # why it has no meaning
    absorbed: int = 0  # the event of a narrowing before the last operation
    narrowed: int = 0  # that of a narrowing as the last operation
    opaque: int = 0  # whether a function was applied that is no polynomial
    slot: int = 0  # its place in a fragment of wmma
    last: int = 0  # and END less it: the two differ if values of two places meet
    rounded: int = 0  # whether it went through a narrower format, also one that the claim allows: LATELY or BEFORE
    low: float = -inf  # the least number that it may be
    high: float = inf  # and the greatest

    @property
    def marked(self) -> bool:
        """Whether it has any mark."""
        return any(self[3:10])

    @property
    def growth(self) -> Growth:
        """Its bounds, to compute with."""
        return Growth(*self[:3], self.low, self.high)


@dataclass(frozen=True, slots=True)
class Growth:
    """The bounds of a value while a formula is computed."""

    degree: float = 0.0
    norm: float = 0.0
    denominator: float = 0.0
    low: float = -inf
    high: float = inf

    def _add(self, other: Any, low: float, high: float) -> Growth:
        norm = max(self.norm, other.norm) + 1
        return Growth(max(self.degree, other.degree), norm, max(self.denominator, other.denominator), low, high)

    def __add__(self, other: Any) -> Growth:
        other = _lift(other)
        return self._add(other, self.low + other.low, self.high + other.high)

    def __sub__(self, other: Any) -> Growth:
        other = _lift(other)
        return self._add(other, self.low - other.high, self.high - other.low)

    def __rsub__(self, other: Any) -> Growth:
        return _lift(other) - self

    def __mul__(self, other: Any) -> Growth:
        other = _lift(other)
        ends = [x * y if x and y else 0.0 for x in (self.low, self.high) for y in (other.low, other.high)]
        degree, norm = self.degree + other.degree, self.norm + other.norm
        return Growth(degree, norm, self.denominator + other.denominator, min(ends), max(ends))

    __radd__, __rmul__ = __add__, __mul__


def _lift(number: Any) -> Growth:
    """Return a number of a formula as bounds."""
    return number if isinstance(number, Growth) else Growth(low=float(number), high=float(number))


def joined_growth(parts: Sequence[History]) -> Growth:
    """Return bounds of values of any of these histories; one without a meaning, of an idle thread, bounds no number."""
    degree, norm, denominator = (max(one[row] for one in parts) for row in range(3))
    clear = [one for one in parts if not one.cause] or parts
    return Growth(degree, norm, denominator, min(one.low for one in clear), max(one.high for one in clear))


def chosen_growth(name: str, parts: Sequence[Growth]) -> Growth:
    """Return the bounds of a function that is no polynomial, by its name and its arguments'."""
    lows, highs = [one.low for one in parts], [one.high for one in parts]
    low, high = -inf, inf
    if name == "relu":
        low, high = max(lows[0], 0.0), max(highs[0], 0.0)
    elif name == "abs":
        low, high = max(lows[0], -highs[0], 0.0), max(-lows[0], highs[0])
    elif name in ("max", "min"):
        apply = max if name == "max" else min
        low, high = apply(lows), apply(highs)
    elif name in ("floor", "trunc"):  # the bounds may be rounded themselves
        low, high = (
            _round(name, nextafter(end, side) if end else end) for end, side in ((lows[0], -inf), (highs[0], inf))
        )
    elif name == "where":  # where(a > b, x, y)
        low, high = min(lows[2:]), max(highs[2:])
    return Growth(degree=1, low=low, high=high)


def _round(name: str, number: float) -> float:
    """Return a bound rounded to an integer."""
    return float(floor(number) if name == "floor" else trunc(number)) if isfinite(number) else number


def merged(parts: Sequence[History], growth: Growth, event: int = 0, rounds: bool = False) -> History:
    """The history of a result of arithmetic: what its operands went through, it went through."""
    rounded = BEFORE if any(one.rounded for one in parts) else LATELY if rounds else 0
    cause, opaque = max(one.cause for one in parts), max(one.opaque for one in parts)
    absorbed = max(max(one.absorbed, one.narrowed) for one in parts)
    slot, last = max(one.slot for one in parts), max(one.last for one in parts)
    bounds, marks = (growth.degree, growth.norm, growth.denominator), (absorbed, event, opaque, slot, last, rounded)
    return History(*bounds, cause, *marks, growth.low, growth.high)


def applied(name: str, opaque: int, parts: Sequence[History]) -> History:
    """Return the history of a function that is no polynomial; `opaque` is the mark that it leaves."""
    found = merged(parts, chosen_growth(name, [one.growth for one in parts]))
    moving = [one for one in parts if one.degree]
    if name in _MONOTONE and len(moving) == 1:
        found = found._replace(absorbed=moving[0].absorbed, narrowed=moving[0].narrowed)
    return found._replace(opaque=max(found.opaque, opaque))


def joined(histories: Sequence[History]) -> History:
    """The history of a place that may hold any of several values."""
    return History(*map(max, *histories)) if len(histories) > 1 else histories[0]


class Histories:
    """Every distinct history, by its number; the first ones are those of the reserved ids."""

    def __init__(self, reserved: int) -> None:
        self._reserved = reserved
        self._others: list[History] = []  # those that follow
        self._numbers: dict[History, int] = {}
        self._table = np.zeros((reserved, len(History._fields)))
        self._table[:, History._fields.index("cause")] = np.arange(reserved)

    def __len__(self) -> int:
        return self._reserved + len(self._others)

    def __getitem__(self, number: int) -> History:
        reserved = number < self._reserved
        return History(cause=number) if reserved else self._others[number - self._reserved]

    def number(self, history: History) -> int:
        """The number of a history."""
        if history not in self._numbers:
            reserved = history.cause < self._reserved and history == History(cause=history.cause)
            self._numbers[history] = history.cause if reserved else len(self)
            if not reserved:
                self._others.append(history)
        return self._numbers[history]

    def table(self) -> NDArray[np.float64]:
        """The fields of every history."""
        if len(self._table) < len(self):
            self._table = np.concatenate([self._table, self._others[len(self._table) - self._reserved :]])
        return self._table

    def among(self, numbers: Numbers) -> list[History]:
        """The different histories of some values."""
        return [self[one] for one in _ranked(numbers, len(self))[0]]

    def combined(self, operands: Sequence[Numbers], rule: Callable[[Sequence[History]], History]) -> Numbers:
        """The numbers of results, by a rule for the histories of operands that meet."""
        met: list[tuple[History, ...]] = [()]
        place: NDArray[np.intp] = np.zeros(1, np.intp)
        for one in operands:
            there, rank = _ranked(one, len(self))
            used, place = _ranked(place * len(there) + rank, len(met) * len(there))
            met = [(*met[both // len(there)], self[there[both % len(there)]]) for both in used]
        made = np.array([self.number(rule(parts)) for parts in met], np.uint32)
        return made[place]

    def spread(self, a: Numbers, b: Numbers, c: Numbers, growth: Growth, event: int, rounds: bool) -> Numbers:
        """The numbers of a * b + c, stacks of matrices: marks of a row of a, of a column of b, of c."""
        fields = self.table()[:, :10].T.astype(np.uint64)
        packed = np.zeros(c.shape, np.uint64)
        for bits, one in zip(_BITS, (fields[3], fields[4:6].max(0), *fields[6:]), strict=True):
            factors = np.maximum(one[a].max(2)[:, :, None], one[b].max(1)[:, None])
            packed = packed << np.uint64(bits) | np.maximum(factors, one[c])
        found, place = np.unique(packed, return_inverse=True)
        made = []
        for whole in found.tolist():
            cause, absorbed, opaque, slot, last, rounded = (
                whole >> sum(_BITS[at + 1 :]) & (1 << bits) - 1 for at, bits in enumerate(_BITS)
            )
            bounds = growth.degree, growth.norm, growth.denominator
            rounded = BEFORE if rounded else LATELY if rounds else 0
            marks = absorbed, event, opaque, slot, last, rounded
            made.append(self.number(History(*bounds, cause, *marks, growth.low, growth.high)))
        return np.array(made, np.uint32)[place.reshape(c.shape)]


def _ranked(numbers: NDArray[Any], count: int) -> tuple[list[int], NDArray[np.intp]]:
    """The different ones of numbers below `count`, and the place of each among them."""
    if not numbers.size:
        return [], np.zeros(0, np.intp)
    first = numbers.flat[0]
    if (numbers == first).all():
        return [int(first)], np.zeros(1, np.intp)
    if count > _TABLE:
        found, place = np.unique(numbers, return_inverse=True)
        return found.tolist(), place
    there = np.zeros(count, bool)
    there[numbers] = True
    rank = np.cumsum(there) - 1
    return np.flatnonzero(there).tolist(), rank[numbers]
