# SPDX-License-Identifier: Apache-2.0
"""Integers that are data, times a number that isn't an integer, rounded to an integer: shifts, divisions, upper halves.

`floor` and `trunc` of a polynomial are functions of it (`choices`). Two ways to write one quotient meet: a quotient of
a quotient is one quotient, and a multiplication by a "magic number" with a shift is the division that it stands for.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, isfinite

import numpy as np

from isa_tables.formula_parser import parse
from verify.kernel.data.distinct import sort_distinct
from verify.kernel.data.histories import History
from verify.kernel.data.values import CHOSEN, CODE, FIRST, LIMITS, Ids, Values

_PRODUCT = parse("a * b", {"a": False, "b": False}).tree
_REST = parse("a - b", {"a": False, "b": False}).tree


def scale(values: Values, ids: Ids, factor: Fraction, kind: str) -> Ids:
    """Return the ids of values times a number."""
    return values.field(_PRODUCT, ("a", "b"), [ids, np.full(1, values.number(factor, kind), np.uint32)], kind)


def floor_quotient(values: Values, ids: Ids, factor: Fraction, kind: str, of_kind: str = "") -> Ids:
    """Return the ids of integers, as numbers of the same type or another, times a factor, rounded down."""
    numbers = values.whole(ids, of_kind or kind)
    values.flush()
    quotients = np.empty(len(ids), np.uint32)
    groups: dict[Fraction, list[tuple[int, int]]] = {}
    divisors: dict[tuple[int, Fraction], Fraction] = {}
    for place, (own, number) in enumerate(zip(ids.tolist(), numbers.tolist(), strict=True)):
        of, before = number, Fraction(1)
        if factor.numerator == 1 and not values.histories[int(values.history[number])].cause:
            of, before = values.quotients.get(own, (of, before))  # floor(floor(x) / n) is floor(x / n)
        key = int(values.history[of]), before * factor
        if key not in divisors:
            divisors[key] = _divisor(values.histories[key[0]], key[1])
        groups.setdefault(divisors[key], []).append((place, of))
    for each, members in groups.items():
        places, sources = (np.array(part) for part in zip(*members, strict=True))
        made = values.apply("floor", [scale(values, sources.astype(np.uint32), each, kind)], kind, CHOSEN)
        values.quotients.update(zip(made.tolist(), ((source, each) for source in sources.tolist()), strict=True))
        quotients[places] = made
    return _settle(values, quotients, kind)


def divide_toward_zero(values: Values, ids: Ids, factor: Fraction, kind: str) -> Ids:
    """Return the ids of integers, as numbers of a type, times a factor, rounded toward zero.

    That is down for those that are not negative.
    """
    if factor > 0 and all(history.low >= 0 for history in values.among(ids)):
        return floor_quotient(values, ids, factor, kind)
    numbers = values.whole(ids, kind)
    return _settle(values, values.apply("trunc", [scale(values, numbers, factor, kind)], kind, CHOSEN), kind)


def remainder(values: Values, ids: Ids, quotients: Ids, divisor: int, kind: str) -> Ids:
    """Return the ids of x - d * (x / d), by those of x and of x / d rounded toward zero."""
    remainders = values.field(_REST, ("a", "b"), [ids, scale(values, quotients, Fraction(divisor), kind)], kind)
    top = abs(divisor) - 1
    least = 0 if all(history.low >= 0 for history in values.among(ids)) else -top

    def limit_history(parts: Sequence[History]) -> History:
        return parts[0]._replace(low=max(parts[0].low, least), high=min(parts[0].high, top))

    return values.with_histories(("remainder", least, top), remainders, limit_history, kind)


def _divisor(history: History, factor: Fraction) -> Fraction:
    """Return 1 / d if that is the same as the factor, rounded down, for all integers that a value may be."""
    if not 0 < factor < 1 or history.low < 0 or not isfinite(history.high):
        return factor
    divisor = ceil(1 / factor)
    return Fraction(1, divisor) if Fraction(history.high) * (factor * divisor - 1) < 1 else factor


def _settle(values: Values, ids: Ids, kind: str) -> Ids:
    """Return ids with the number itself for a value that can only be one."""
    settled = ids.copy()
    for number in sort_distinct(values.history[ids]):
        history = values.histories[int(number)]
        if history.low == history.high and not history.cause:
            settled[values.history[ids] == number] = values.number(Fraction(history.low), kind)
    return settled


def integers_of(values: Values, labels: Ids) -> bool:
    """Whether the data of a register are integers, or partly without a meaning, whatever of their bytes it holds."""
    ids = sort_distinct(labels[labels > 0] >> np.uint32(3))
    integers = np.isin(values.kind[ids], [CODE[kind] for kind in LIMITS])
    return bool(((ids < FIRST) | integers).all() and (integers.any() or not len(ids)))
