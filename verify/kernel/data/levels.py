# SPDX-License-Identifier: Apache-2.0
"""Infinities and signs that are known of a value whatever the data are, and what arithmetic makes of them.

A mask's -inf is an infinity of IEEE 754: inf - inf and 0 * inf are NaN, and an infinity times a number whose sign isn't
known has no meaning here.
"""

from __future__ import annotations

FINITE, BELOW, ABOVE, UNDEFINED, NAN = range(5)  # levels: a number, -inf, +inf, not known which, NaN
ANY, NONNEGATIVE, POSITIVE, ZERO = range(4)  # signs: not known, not below 0, above 0, the number 0


def opposite(level: int) -> int:
    """Return the level of -x."""
    return {BELOW: ABOVE, ABOVE: BELOW}.get(level, level)


def add(left: int, right: int) -> int:
    """Return the level of x + y.

    >>> add(FINITE, BELOW) == BELOW, add(ABOVE, BELOW) == NAN
    (True, True)
    """
    if FINITE in (left, right) or left == right:
        return left or right
    return UNDEFINED if UNDEFINED in (left, right) else NAN


def multiply(left: int, sign: int, right: int, right_sign: int) -> int:
    """Return the level of x * y, by their levels and signs.

    >>> multiply(BELOW, ANY, FINITE, POSITIVE) == BELOW, multiply(BELOW, ANY, FINITE, ANY) == UNDEFINED
    (True, True)
    """
    if left == right == FINITE:
        return FINITE
    if NAN in (left, right) or UNDEFINED in (left, right):
        return max(left, right)
    if left and right:
        return ABOVE if left == right else BELOW
    sign = right_sign if left else sign
    return NAN if sign == ZERO else (left or right) if sign == POSITIVE else UNDEFINED
