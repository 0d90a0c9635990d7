# SPDX-License-Identifier: Apache-2.0
"""What values went through: how far they may have grown, and their marks. Each distinct history is kept once.

Main declarations: `History`, `Histories` (their numbers), `Growth` (computes a formula on bounds instead of values).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from math import floor, inf, isfinite, nextafter, trunc
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from verify.kernel.data import levels, logarithms
from verify.kernel.data.choices import LAWLESS
from verify.kernel.data.residues import Stack

Numbers = NDArray[np.uint32]  # of histories, one for each value
_BITS = (12, 16, 2, 16, 16, 2)  # of a cause, a narrowing, opaque, slot, last and rounded, in one number
LATELY, BEFORE = 1, 2  # rounded: as the last operation alone, or before it
_MONOTONE = frozenset({"relu", "abs", "min", "max"})  # of one value they commute with rounding to the nearest
_STICKY = frozenset({"ex2", "lg2", "log2", "rcp", "sqrt"})  # functions that pass a NaN on, as max and min do not
_ROUNDINGS: Mapping[str, Callable[[float], int]] = {"floor": floor, "trunc": trunc, "rint": round}
END = 0xFFFF  # above every place in a fragment
MIXED = -1.0  # a unit: of no one number
UNKNOWN_WEIGHT = inf
NO_NUMBER, NAN = 3, 4  # causes of what infinities make: not known what, and what is NaN for all data
_TABLE = 1 << 22  # the most entries of a table that finds different numbers without sorting


class History(NamedTuple):
    """Bounds on a value as a polynomial of the inputs, and its marks: 0 for none."""

    degree: float = 0.0  # of the polynomial
    norm: float = 0.0  # log2 of the sum of its coefficients' absolute values
    denominator: float = 0.0  # log2 of their common denominator
    cause: int = 0  # why it has no meaning
    absorbed: int = 0  # the event of a narrowing before the last operation
    narrowed: int = 0  # that of a narrowing as the last operation
    opaque: int = 0  # whether a function was applied that isn't a polynomial
    slot: int = 0  # its place in a fragment of wmma
    last: int = 0  # and END less it: the two differ if values of two places meet
    rounded: int = 0  # whether it went through a narrower format, also one that the claim allows: LATELY or BEFORE
    low: float = -inf  # the least number that it may be
    high: float = inf  # and the greatest
    level: int = levels.FINITE  # whether it is an infinity for all data
    sign: int = levels.ANY  # what is known of its sign
    divided: int = 0  # whether it is a quotient of polynomials
    unit: float = MIXED  # it is this number times an integer combination of products of inputs and of functions
    weight: float = 0.0  # what numbers that stand for -inf make up of it; UNKNOWN_WEIGHT if that is not known
    joined: int = 0  # whether it is the largest of several, as a sum of their hashes
    logs: int = logarithms.NONE  # what is known of the logarithms in it
    carried: int = 0  # bits of the operands whose signs modulo p it has, as `logarithms` has them

    @property
    def has_marks(self) -> bool:
        """Whether it has any mark."""
        return any(self[3:10])

    @property
    def growth(self) -> Growth:
        """Its bounds, to compute with."""
        ends, logs = (self.low, self.high), self.logs
        return Growth(*self[:3], *ends, self.level, self.sign, self.divided, self.unit, self.weight, logs)


@dataclass(frozen=True, slots=True)
class Growth:
    """The bounds of a value while a formula is computed."""

    degree: float = 0.0  # as in a history, like all others
    norm: float = 0.0  # log2
    denominator: float = 0.0  # log2
    low: float = -inf  # the least number
    high: float = inf  # the greatest
    level: int = levels.FINITE  # an infinity for all data, or what infinities make
    sign: int = levels.ANY  # what is known of it
    divided: int = 0  # whether it is a quotient
    unit: float = MIXED  # 0 for the number 0
    weight: float = 0.0  # of numbers that stand for -inf
    logs: int = logarithms.NONE  # what is known of the logarithms in it
    carried: int = 0  # bits of operands

    @property
    def _known_sign(self) -> int:
        return self.sign if self.unit else levels.ZERO

    def _add(self, right: Growth, ends: tuple[float, float], level: int, sign: int, weight: float) -> Growth:
        """Return bounds of a sum; numerators of quotients are multiplied with denominators, so degrees add up."""
        norm, divided = max(self.norm, right.norm) + 1, self.divided | right.divided
        degree = self.degree + right.degree if divided else max(self.degree, right.degree)
        denominator = max(self.denominator, right.denominator)
        unit = self.unit if right.unit in (0.0, self.unit) else right.unit if not self.unit else MIXED
        mask = any(term.weight and not term.degree for term in (self, right))  # it stands for -inf, and goes
        if mask:
            unit = self.unit if self.degree else right.unit
        elif not self.degree * right.degree and self.unit and right.unit:  # a constant term
            unit = MIXED
        logs, carried = logarithms.join(self.logs, right.logs), self.carried ^ right.carried
        return Growth(degree, norm, denominator, *ends, level, sign, divided, unit, weight, logs, carried)

    def __add__(self, other: Any) -> Growth:
        right = _lift(other)
        sign = max(self.sign, right.sign) if self.sign and right.sign else levels.ANY
        level = levels.add(self.level, right.level)
        ends = self.low + right.low, self.high + right.high
        return self._add(right, ends, level, sign, add_weights(self._weight_beside(right), right._weight_beside(self)))

    def __sub__(self, other: Any) -> Growth:
        right = _lift(other)
        level = levels.add(self.level, levels.opposite(right.level))
        ends = self.low - right.high, self.high - right.low
        weight = add_weights(self._weight_beside(right), -right._weight_beside(self))
        return self._add(right, ends, level, levels.ANY, weight)

    def __rsub__(self, other: Any) -> Growth:
        return _lift(other) - self

    def __mul__(self, other: Any) -> Growth:
        right = _lift(other)
        ends = [x * y if x and y else 0.0 for x in (self.low, self.high) for y in (right.low, right.high)]
        degree, norm = self.degree + right.degree, self.norm + right.norm
        level = levels.multiply(self.level, self._known_sign, right.level, right._known_sign)
        sign, divided = min(self.sign, right.sign), self.divided | right.divided
        denominator, unit = self.denominator + right.denominator, multiply_units(self.unit, right.unit)
        weight = self._scale(right) if self.weight else right._scale(self)
        logs, odd = logarithms.NONE, False
        if self.logs or right.logs:
            logs, odd = logarithms.scale(self.logs or right.logs, (right if self.logs else self)._find_number())
        more = weight, logs, (self.carried | right.carried) * odd
        return Growth(degree, norm, denominator, min(ends), max(ends), level, sign, divided, unit, *more)

    def _find_number(self) -> Fraction | None:
        """Return the constant that it is, if a double holds it."""
        if self.degree or self.weight or self.level or self.logs or self.low != self.high:
            return None
        number = Fraction(self.low)
        return number if number.denominator.bit_length() - 1 == self.denominator else None

    def _weight_beside(self, addend: Growth) -> float:
        """Return its weight in a sum: beside a number that stands for -inf, a small constant is one that adds to it."""
        constant = addend.weight and not self.weight and not self.degree and not self.level and self.low == self.high
        return self.low if constant else self.weight

    def _scale(self, factor: Growth) -> float:
        """Return its weight times a constant; not known for anything else."""
        if not self.weight or not factor.unit:
            return 0.0
        constant = not factor.degree and factor.low == factor.high and not factor.weight
        made = self.weight * factor.low if constant else UNKNOWN_WEIGHT
        exact = constant and isfinite(made) and Fraction(self.weight) * Fraction(factor.low) == Fraction(made)
        return made if exact else UNKNOWN_WEIGHT

    __radd__, __rmul__ = __add__, __mul__


def _lift(number: Any) -> Growth:
    """Return a number of a formula as bounds."""
    if isinstance(number, Growth):
        return number
    return Growth(low=float(number), high=float(number), sign=sign_of(number), unit=abs(float(number)))


def add_weights(left: float, right: float) -> float:
    """Return the weight of a sum; UNKNOWN_WEIGHT if a double does not hold it."""
    if not (isfinite(left) and isfinite(right)):
        return UNKNOWN_WEIGHT
    made = left + right
    if not (left and right):
        return made
    return made if Fraction(left) + Fraction(right) == Fraction(made) else UNKNOWN_WEIGHT


def multiply_units(left: float, right: float) -> float:
    """Return the unit of a product; MIXED if a double does not hold it."""
    if 0.0 in (left, right) or MIXED in (left, right):
        return min(left, right)
    made = left * right
    if 1.0 in (left, right):
        return made
    return made if isfinite(made) and Fraction(left) * Fraction(right) == Fraction(made) else MIXED


def sign_of(number: Any) -> int:
    """Return what is known of a number's sign."""
    return levels.POSITIVE if number > 0 else levels.ANY if number < 0 else levels.NONNEGATIVE


def joined_growth(parts: Sequence[History]) -> Growth:
    """Return bounds of values of any of these histories; one without a meaning, of an idle thread, bounds no number."""
    degree, norm, denominator = (max(part[row] for part in parts) for row in range(3))
    clear = [part for part in parts if not part.cause] or parts
    divided = max(part.divided for part in parts)
    low, high = min(part.low for part in clear), max(part.high for part in clear)
    logs = logarithms.OPEN * any(part.logs for part in clear)
    return Growth(degree, norm, denominator, low, high, divided=divided, unit=find_unit(clear), logs=logs)


def chosen_growth(name: str, parts: Sequence[Growth]) -> Growth:
    """Return the bounds of a function that isn't a polynomial, by its name and its arguments'."""
    lows, highs = [part.low for part in parts], [part.high for part in parts]
    low, high = -inf, inf
    if name == "relu":
        low, high = max(lows[0], 0.0), max(highs[0], 0.0)
    elif name == "abs":
        low, high = max(lows[0], -highs[0], 0.0), max(-lows[0], highs[0])
    elif name in ("max", "min"):
        apply = max if name == "max" else min
        low, high = apply(lows), apply(highs)
    elif name in _ROUNDINGS:  # the bounds may be rounded themselves
        low, high = (
            _round(name, nextafter(end, side) if end else end) for end, side in ((lows[0], -inf), (highs[0], inf))
        )
    elif name == "where":  # where(a > b, x, y)
        low, high = min(lows[2:]), max(highs[2:])
    degree, norm, denominator = (parts[0].degree, parts[0].norm, parts[0].denominator) if name == "rcp" else (1, 0, 0)
    unit = MIXED if name in ("rcp", "rsqrt", "lg2", "log2") else 1.0
    if name in ("max", "min", "largest"):
        unit = find_unit(parts)
    sign, divided = _chosen_sign(name, parts), int(name in ("rcp", "rsqrt"))
    weight = parts[0].weight if name in ("max", "min") and len({part.weight for part in parts}) == 1 else 0.0
    logs = logarithms.apply(name, [part.logs for part in parts])
    return Growth(max(degree, 1), norm, denominator, low, high, 0, sign, divided, unit, weight, logs)


def find_unit(parts: Sequence[Growth | History]) -> float:
    """Return the unit that all parts have, of those that are not the number 0; MIXED if they differ."""
    units = {part.unit for part in parts} - {0.0} or {0.0}
    return units.pop() if len(units) == 1 else MIXED


def _chosen_sign(name: str, parts: Sequence[Growth]) -> int:
    """Return what is known of the sign of a function that isn't a polynomial."""
    signs = [part.sign for part in parts]
    if name in ("ex2", LAWLESS):
        return levels.POSITIVE
    if name == "max":
        return max(signs)
    if name in ("min", "where"):
        return min(signs[-2:])
    if name in ("rcp", "sqrt", "rsqrt") and signs[0] == levels.POSITIVE:
        return levels.POSITIVE
    return levels.NONNEGATIVE if name in ("relu", "abs") else levels.ANY


def _round(name: str, number: float) -> float:
    """Return a bound rounded to an integer."""
    return float(_ROUNDINGS[name](number)) if isfinite(number) else number


def merge(parts: Sequence[History], growth: Growth, event: int = 0, rounds: bool = False) -> History:
    """Return the history of a result of arithmetic: what its operands went through, it went through."""
    rounded = BEFORE if any(part.rounded for part in parts) else LATELY if rounds else 0
    cause, opaque = max(part.cause for part in parts), max(part.opaque for part in parts)
    absorbed = max(max(part.absorbed, part.narrowed) for part in parts)
    slot, last = max(part.slot for part in parts), max(part.last for part in parts)
    bounds, marks = (growth.degree, growth.norm, growth.denominator), (absorbed, event, opaque, slot, last, rounded)
    if growth.level >= levels.UNDEFINED and not cause:
        cause = NAN if growth.level == levels.NAN else NO_NUMBER
    level = growth.level if growth.level < levels.UNDEFINED else levels.FINITE
    divided, unit, weight = growth.divided, growth.unit, growth.weight
    ends, logs, carried = (growth.low, growth.high), growth.logs, growth.carried
    history = History(*bounds, cause, *marks, *ends, level, growth.sign, divided, unit, weight, logs=logs)
    return history._replace(carried=carried) if carried else history


def apply(name: str, opaque: int, parts: Sequence[History]) -> History:
    """Return the history of a function that isn't a polynomial; `opaque` is the mark that it leaves."""
    history = merge(parts, chosen_growth(name, [part.growth for part in parts]))
    moving = [part for part in parts if part.degree]
    if name in _MONOTONE and len(moving) == 1:
        history = history._replace(absorbed=moving[0].absorbed, narrowed=moving[0].narrowed)
    if history.cause == NAN and name not in _STICKY:
        history = history._replace(cause=NO_NUMBER)
    return history._replace(opaque=max(history.opaque, opaque))


def widest(parts: Sequence[Growth | History]) -> Growth:
    """Return the largest bounds of any of several values as polynomials."""
    degree, norm = max(part.degree for part in parts), max(part.norm for part in parts)
    return Growth(degree, norm, max(part.denominator for part in parts), divided=max(part.divided for part in parts))


def join_histories(histories: Sequence[History]) -> History:
    """Return the history of a place that may hold any of several values."""
    if len(histories) == 1:
        return histories[0]
    logs = reduce(logarithms.join, [history.logs for history in histories])
    return History(*map(max, *histories))._replace(logs=logs)


class Histories:
    """Every distinct history, by its number; the first ones are those of the reserved ids."""

    def __init__(self, reserved: int) -> None:
        self._reserved = reserved
        self._others: list[History] = []  # those that follow
        self._numbers: dict[History, int] = {}
        self._made: dict[tuple[Hashable, tuple[int, ...]], int] = {}  # by a rule of histories, with its key
        self._table = np.zeros((2 * reserved, len(History._fields)))  # with room for more
        self._table[:reserved, History._fields.index("cause")] = np.arange(reserved)
        self._filled = reserved

    def __len__(self) -> int:
        return self._reserved + len(self._others)

    def __getitem__(self, number: int) -> History:
        reserved = number < self._reserved
        return History(cause=number) if reserved else self._others[number - self._reserved]

    def number(self, history: History) -> int:
        """Return the number of a history."""
        number = self._numbers.get(history)  # once: the hash of so many numbers takes its time
        if number is None:
            reserved = history.cause < self._reserved and history == History(cause=history.cause)
            self._numbers[history] = number = history.cause if reserved else len(self)
            if not reserved:
                self._others.append(history)
        return number

    def table(self) -> NDArray[np.float64]:
        """Return the fields of every history."""
        if self._filled < len(self):
            if len(self._table) < len(self):
                self._table = np.concatenate([self._table, np.zeros((len(self), self._table.shape[1]))])
            self._table[self._filled : len(self)] = self._others[self._filled - self._reserved :]
            self._filled = len(self)
        return self._table[: self._filled]

    def column(self, name: str) -> NDArray[np.float64]:
        """Return a field of every history."""
        return self.table()[:, History._fields.index(name)]

    def among(self, numbers: Numbers) -> list[History]:
        """Return the different histories of some values."""
        return [self[number] for number in _rank(numbers, len(self))[0]]

    def combine(
        self, operands: Sequence[Numbers], rule: Callable[[Sequence[History]], History], key: Hashable = None
    ) -> Numbers:
        """Return the numbers of results, by a rule for the histories of operands that meet.

        What a rule with a key made is kept: the instructions of a loop meet the same histories again and again.
        """
        there, place = _rank(operands[0], len(self))
        met: list[tuple[int, ...]] = [(number,) for number in there]
        for operand in operands[1:]:
            there, rank = _rank(operand, len(self))
            used, place = _rank(place * len(there) + rank, len(met) * len(there))
            met = [(*met[both // len(there)], there[both % len(there)]) for both in used]
        return np.array([self._apply(rule, parts, key) for parts in met], np.uint32)[place]

    def _apply(self, rule: Callable[[Sequence[History]], History], parts: tuple[int, ...], key: Hashable) -> int:
        number = None if key is None else self._made.get((key, parts))
        if number is None:
            number = self.number(rule([self[part] for part in parts]))
            if key is not None:
                self._made[key, parts] = number
        return number

    def multiply(self, stacks: Sequence[Stack], history: Numbers, event: int, rounds: bool) -> Numbers:
        """Return the histories of a * b + c: one for all where no operand has a mark; no infinity has a meaning."""
        numbers = [stack.of(history) for stack in stacks]
        among = [self.among(of_stack) for of_stack in numbers]
        if any(past.level or past.weight for each in among for past in each):
            fields = [History._fields.index(name) for name in ("level", "weight")]
            odd = np.asarray(self.table()[:, fields].any(1))
            numbers = [
                np.where(odd[of_stack], np.uint32(NO_NUMBER), of_stack).astype(np.uint32) for of_stack in numbers
            ]
            among = [self.among(of_stack) for of_stack in numbers]
        left, right, sums = (joined_growth(each) for each in among)
        count = stacks[0].ids.shape[2]
        terms = Growth(norm=max(count - 1, 1).bit_length(), low=count, high=count, unit=1.0)
        growth = left * right * terms + sums
        if growth.divided:  # by as many denominators as there are terms
            growth = replace(growth, degree=(left.degree + right.degree) * count + sums.degree)
        if any(past.has_marks for each in among for past in each):
            whole = [stack.each(each) for stack, each in zip(stacks, numbers, strict=True)]
            return self.mark_product(whole[0], whole[1], whole[2], growth, event, rounds).ravel()
        bounds, rounded = (growth.degree, growth.norm, growth.denominator), LATELY * rounds
        made = History(*bounds, narrowed=event, rounded=rounded, low=growth.low, high=growth.high)
        made = made._replace(divided=growth.divided, unit=growth.unit, logs=growth.logs)
        return np.array([self.number(made)], np.uint32)

    def mark_product(self, a: Numbers, b: Numbers, c: Numbers, growth: Growth, event: int, rounds: bool) -> Numbers:
        """Return the numbers of a * b + c, stacks of matrices: marks of a row of a, of a column of b, of c."""
        fields = self.table()[:, :10].T.astype(np.uint64)
        packed = np.zeros(c.shape, np.uint64)
        for bits, marks in zip(_BITS, (fields[3], fields[4:6].max(0), *fields[6:]), strict=True):
            factors = np.maximum(marks[a].max(2)[:, :, None], marks[b].max(1)[:, None])
            packed = packed << np.uint64(bits) | np.maximum(factors, marks[c])
        distinct, place = np.unique(packed, return_inverse=True)
        parts = []
        for bits in reversed(_BITS):
            parts.append((distinct & np.uint64((1 << bits) - 1)).tolist())
            distinct = distinct >> np.uint64(bits)
        bounds = growth.degree, growth.norm, growth.denominator
        rule = History(*bounds, low=growth.low, high=growth.high, divided=growth.divided, unit=growth.unit)
        rule = rule._replace(logs=growth.logs)
        ends, new = rule[10:], LATELY if rounds else 0
        made = [
            self.number(
                History._make((*bounds, cause, absorbed, event, opaque, slot, last, BEFORE if rounded else new, *ends))
            )
            for rounded, last, slot, opaque, absorbed, cause in zip(*parts, strict=True)
        ]
        return np.array(made, np.uint32)[place.reshape(c.shape)]


def _rank(numbers: NDArray[Any], count: int) -> tuple[list[int], NDArray[np.intp]]:
    """Return the different ones of numbers below `count`, and the place of each among them."""
    if not numbers.size:
        return [], np.zeros(0, np.intp)
    first = numbers.flat[0]
    if (numbers == first).all():
        return [int(first)], np.zeros(1, np.intp)
    if count > _TABLE:
        distinct, place = np.unique(numbers, return_inverse=True)
        return distinct.tolist(), place
    there = np.zeros(count, bool)
    there[numbers] = True
    rank = np.cumsum(there) - 1
    return np.flatnonzero(there).tolist(), rank[numbers]
