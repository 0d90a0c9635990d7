# SPDX-License-Identifier: Apache-2.0
"""Logarithms in exponents: 2^(a - log2(s)) is 2^a / s, but a logarithm modulo q can't tell s from -s.

Modulo p = 2q + 1 a number is a power of 2 times 1 or -1, so s is 2^log2(s) times a sign that `Pair.logarithm` loses. It
is kept beside the residues, a bit for each pair: of a sum of logarithms it is the sum of theirs, of one times an odd
integer its own, of one times an even integer 0. A power of 2 takes it back. A logarithm times any other number, or
times data, is OPEN: its powers have no laws, since half a logarithm is a root, which may be either of two.

As ln(2) and log2(e) are unknowns, the powers of log2(e) that a logarithm is multiplied by are counted, and a power of
2 has laws if they cancel.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from verify.kernel.data.choices import LAWLESS, split_log2_e

NONE, OPEN, PLAIN = 0, 255, 16  # no logarithm, some of which no more is known, sums of integers times logarithms
CHOOSING = frozenset({"max", "min", "relu", "abs"})  # functions that are an argument plus an unknown
_UNKNOWNS = frozenset({"ex2", LAWLESS, "lg2", "sqrt"})  # functions whose results are unknowns or powers


def join(left: int, right: int) -> int:
    """Return what is known of a sum.

    >>> join(NONE, PLAIN) == PLAIN, join(PLAIN, PLAIN - 1) == OPEN
    (True, True)
    """
    return left or right if NONE in (left, right) or left == right else OPEN


def scale(logs: int, number: Fraction | None) -> tuple[int, bool]:
    """Return what is known of a product with a number (None for anything else), and whether it keeps the signs.

    >>> scale(PLAIN, Fraction(3)), scale(PLAIN, Fraction(2)), scale(PLAIN, Fraction(1, 2))
    ((16, True), (16, False), (255, False))
    """
    if number is None or logs == OPEN:
        return OPEN, False
    power, rest = split_log2_e(number)
    known = rest.denominator == 1 and 0 < logs + power < 2 * PLAIN
    return (logs + power, rest.numerator % 2 == 1) if known else (OPEN, False)


def apply(name: str, parts: Sequence[int]) -> int:
    """Return what is known of a function's result."""
    if name == "log2":
        return PLAIN
    if name in _UNKNOWNS:
        return NONE
    return reduce(join, parts) if name in CHOOSING else OPEN * any(parts)


def choose_signs(name: str, turned: NDArray[np.bool_], signs: Sequence[NDArray[np.uint8]]) -> NDArray[np.uint8]:
    """Return the signs of a function that is an argument plus an unknown; `turned` is `Choices.turns` of it."""
    if name == "abs":
        return signs[0]
    second = np.zeros_like(signs[0]) if name == "relu" else signs[1]
    return np.where(turned != (name == "min"), signs[0], second)
