# SPDX-License-Identifier: Apache-2.0
"""Exponentials modulo pairs of primes p = 2q + 1 in which 2 has the order q.

2^(x mod q) mod p keeps the laws 2^(a+b) = 2^a * 2^b and 2^(x+1) = 2 * 2^x exactly, so an exponent is a residue modulo q
and its power one modulo p. The logarithm is half that of the square, which makes it a homomorphism of all residues; it
can't tell x from -x, so whoever applies it must know that x is positive.

>>> pair = Pair(23, 11)
>>> pair.power(np.array([3, 10], np.uint64)).tolist(), pair.logarithm(np.array([8, 15], np.uint64)).tolist()
([8, 12], [3, 3])
"""

from __future__ import annotations

import random
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from verify.kernel.data.residues import is_prime

Residues = NDArray[np.uint64]
LEAST_ORDER, MOST_ORDER = 1 << 29, 1 << 30  # of the order q
PAIRS_THERE = 800_000  # fewer than there are pairs in that range
_SMALL = (3, 5, 7, 11, 13, 17, 19, 23)
_DIGIT = 10  # bits of an exponent that one table has
_BABY = 1 << 18  # steps of a logarithm that a table has
_ROOM = 1 << 16  # numbers of the others that are looked up at once
_SEEN, _HIGH = (1 << 22) - 1, 9  # places of the filter before that table; the bits that its second place leaves out


class Pair:
    """Two primes p = 2q + 1, where 2 has the order q modulo p."""

    def __init__(self, prime: int, order: int) -> None:
        self.prime, self.order = prime, order

    @cached_property
    def _tables(self) -> list[Residues]:
        """The powers of 2 by each digit of an exponent."""
        made = []
        for place in range(-(-self.order.bit_length() // _DIGIT)):
            base, powers = pow(2, 1 << (_DIGIT * place), self.prime), [1]
            for _ in range((1 << _DIGIT) - 1):
                powers.append(powers[-1] * base % self.prime)
            made.append(np.array(powers, np.uint64))
        return made

    def power(self, exponents: Residues) -> Residues:
        """Return 2^x modulo p of exponents modulo q."""
        digit, modulus = np.uint64((1 << _DIGIT) - 1), np.uint64(self.prime)
        powers = self._tables[0][exponents & digit]
        for place, table in enumerate(self._tables[1:], 1):
            powers = powers * table[exponents >> np.uint64(_DIGIT * place) & digit] % modulus
        return np.asarray(powers)

    @cached_property
    def _steps(self) -> tuple[Residues, NDArray[np.intp], int]:
        """The first powers of 2 in order, their exponents, and how many there are."""
        count, modulus = min(_BABY, self.order), np.uint64(self.prime)
        powers = np.ones(1, np.uint64)
        while len(powers) < count:
            step = np.uint64(pow(2, len(powers), self.prime))
            powers = np.concatenate([powers, powers * step % modulus])[:count]
        order = np.argsort(powers)
        return powers[order], order, count

    @cached_property
    def _filter(self) -> NDArray[np.bool_]:
        """The places of the table's powers, two of each: a search in the table costs twenty times a look here."""
        seen, powers = np.zeros(_SEEN + 1, bool), self._steps[0]
        for high in (0, _HIGH):
            seen[powers >> np.uint64(high) & np.uint64(_SEEN)] = True
        return seen

    def _look_up(self, tried: Residues) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the places of the numbers that the table has, and their exponents."""
        powers, exponents, count = self._steps
        place = np.flatnonzero(self._filter[tried & np.uint64(_SEEN)])
        place = place[self._filter[tried[place] >> np.uint64(_HIGH) & np.uint64(_SEEN)]]
        at = np.minimum(np.searchsorted(powers, tried[place]), count - 1)
        there = powers[at] == tried[place]
        return place[there], exponents[at[there]]

    def logarithm(self, numbers: Residues) -> Residues:
        """Return half the logarithm of x^2 to the base 2, modulo q; 0 of 0."""
        modulus, count = np.uint64(self.prime), self._steps[2]
        distinct, place = np.unique(numbers, return_inverse=True)
        squares, logs = distinct * distinct % modulus, np.zeros(len(distinct), np.uint64)
        back, left = pow(pow(2, count, self.prime), -1, self.prime), np.flatnonzero(distinct)
        giants = -(-self.order // count)
        for start in range(0, giants, per := max(1, _ROOM // max(len(distinct), 1))):
            if not len(left):
                break
            steps = [pow(back, start, self.prime)]
            for _ in range(min(per, giants - start) - 1):
                steps.append(steps[-1] * back % self.prime)
            tried = squares[left][:, None] * np.array(steps, np.uint64) % modulus
            place_of, exponents = self._look_up(tried.ravel())
            row, step = np.divmod(place_of, len(steps))
            logs[left[row]] = exponents + (start + step) * count
            left = np.delete(left, row)
        half = np.uint64(pow(2, -1, self.order))
        return np.asarray((logs % np.uint64(self.order) * half % np.uint64(self.order))[place.reshape(numbers.shape)])


def random_pair(source: random.Random, least: int = LEAST_ORDER, most: int = MOST_ORDER) -> Pair:
    """Return a random pair whose order lies within limits; the order is 3 modulo 4, so that 2 is a square modulo p."""
    while True:
        order = source.randrange(least, most) | 3
        prime = 2 * order + 1
        small = (factor for factor in _SMALL if factor < order)
        if all(order % factor and prime % factor for factor in small) and is_prime(order) and is_prime(prime):
            return Pair(prime, order)


def inverse(numbers: Residues, prime: np.uint64) -> Residues:
    """Return the inverses of residues modulo a prime; 0 of 0."""
    distinct, place = np.unique(numbers, return_inverse=True)
    inverses, base, rest = np.ones_like(distinct), distinct.copy(), int(prime) - 2
    while rest:
        if rest & 1:
            inverses = inverses * base % prime
        base, rest = base * base % prime, rest >> 1
    return np.asarray(inverses[place.reshape(numbers.shape)])
