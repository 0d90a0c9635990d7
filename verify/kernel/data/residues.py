# SPDX-License-Identifier: Apache-2.0
"""Residues modulo random primes in doubles, which hold integers below 2^53 exactly.

Main declarations: `random_prime`, `Stack` (matrices of many operations), `reduce_in_place` (reduces products).
"""

from __future__ import annotations

import random
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

LEAST, MOST = 1 << 30, 1 << 31  # of a prime
PRIMES_THERE = 50_000_000  # fewer than there are primes in that range
DEPTH = 32  # of a product: a double holds so many products of 16 and 31 bits, and a multiple of 2^16, exactly


def random_prime(source: random.Random) -> int:
    """Return a random prime from LEAST to MOST."""
    while True:
        candidate = source.randrange(LEAST, MOST) | 1
        if all(pow(base, candidate - 1, candidate) == 1 for base in (2, 3, 5, 7)) and is_prime(candidate):
            return candidate


def is_prime(odd: int) -> bool:
    """Return whether an odd number below 2^32 is prime (Miller and Rabin; 2, 7 and 61 suffice there)."""
    power, odd_part = 0, odd - 1
    while odd_part % 2 == 0:
        power, odd_part = power + 1, odd_part // 2
    for base in (2, 7, 61):
        x = pow(base, odd_part, odd)
        if x in (0, 1, odd - 1):  # 0 of a base itself
            continue
        for _ in range(power - 1):
            x = x * x % odd
            if x == odd - 1:
                break
        else:
            return False
    return True


class Stack:
    """The matrices of some operations, one after the other; an array that several have is looked up once."""

    def __init__(self, parts: list[NDArray[np.uint32]]) -> None:
        own = {id(part): part for part in parts}
        self.ids = np.concatenate(list(own.values())).astype(np.intp)  # (matrices, rows, columns)
        self.size = sum(part.size for part in parts)
        self.order: NDArray[np.intp] | None = None  # the matrix of each place, where some are shared
        if len(own) < len(parts):
            ends = dict(zip(own, accumulate(map(len, own.values())), strict=True))
            spans = (np.arange(ends[id(part)] - len(part), ends[id(part)]) for part in parts)
            self.order = np.concatenate(list(spans))

    def of(self, table: NDArray[Any]) -> NDArray[Any]:
        """Return a table's entries for the different matrices."""
        return table.take(self.ids)

    def each(self, results: NDArray[Any]) -> NDArray[Any]:
        """Return what was found for the different matrices, for each operation."""
        return results if self.order is None else results.take(self.order, 0)


def reduce_in_place(numbers: NDArray[np.float64], prime: float) -> None:
    """Reduce integers from 0 to 2^53 modulo a prime, in place."""
    quotient = numbers * ((1 - 2.0**-50) / prime)  # never too large, and too small by less than 1
    np.floor(quotient, quotient)
    quotient *= prime
    numbers -= quotient
    np.subtract(numbers, prime, out=numbers, where=numbers >= prime)
