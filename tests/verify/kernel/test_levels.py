# SPDX-License-Identifier: Apache-2.0
"""Levels of infinities against the floats of Python: every sum and product of an infinity, a NaN and numbers."""

from __future__ import annotations

from itertools import product
from math import inf, isnan, nan

import pytest

from verify.kernel.data import levels

NUMBERS = (2.0, 0.5, 0.0, -0.5, -2.0)
SIGNS = {  # what is known of a sign -> the numbers that it may be
    levels.ANY: NUMBERS,
    levels.NONNEGATIVE: (2.0, 0.5, 0.0),
    levels.POSITIVE: (2.0, 0.5),
    levels.ZERO: (0.0,),
}
VALUES = {levels.BELOW: (-inf,), levels.ABOVE: (inf,), levels.NAN: (nan,), levels.UNDEFINED: (-inf, inf, nan, 1.0)}


def level_of(number: float) -> int:
    """Return the level of a float."""
    return levels.NAN if isnan(number) else {inf: levels.ABOVE, -inf: levels.BELOW}.get(number, levels.FINITE)


def numbers_of(level: int, sign: int) -> tuple[float, ...]:
    """Return floats of a level, of a sign if they are numbers."""
    return SIGNS[sign] if level == levels.FINITE else VALUES[level]


@pytest.mark.parametrize(("left", "right"), [*product(range(5), repeat=2)])
def test_a_sum_has_the_level_that_ieee_754_says_whatever_the_numbers_are(left: int, right: int) -> None:
    level = levels.add(left, right)
    there = {level_of(x + y) for x in numbers_of(left, levels.ANY) for y in numbers_of(right, levels.ANY)}
    assert level == levels.UNDEFINED if len(there) > 1 else level in (*there, levels.UNDEFINED)
    assert level != levels.UNDEFINED or levels.UNDEFINED in (left, right)
    assert levels.opposite(level) == levels.add(levels.opposite(left), levels.opposite(right))


@pytest.mark.parametrize(("left", "right"), [*product(range(5), repeat=2)])
def test_a_product_has_the_level_that_ieee_754_says_whatever_the_numbers_are(left: int, right: int) -> None:
    for left_sign, right_sign in product(SIGNS, repeat=2):
        level = levels.multiply(left, left_sign, right, right_sign)
        there = {level_of(x * y) for x in numbers_of(left, left_sign) for y in numbers_of(right, right_sign)}
        assert level == levels.UNDEFINED if len(there) > 1 else level in (*there, levels.UNDEFINED)
        assert level == levels.multiply(right, right_sign, left, left_sign)
    assert levels.multiply(left, levels.POSITIVE, levels.FINITE, levels.POSITIVE) == left
