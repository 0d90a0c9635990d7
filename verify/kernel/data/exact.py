# SPDX-License-Identifier: Apache-2.0
"""Arrays of values while a formula is computed, and operations that are queued to be computed together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from verify.kernel.data.histories import Numbers

Ids: TypeAlias = NDArray[np.uint32]
Bits: TypeAlias = NDArray[np.uint64]


@dataclass(slots=True)
class Exact:
    """An array of values while a formula is computed: residues by prime, and samples."""

    primes: Sequence[np.uint64]
    residues: NDArray[Any]  # (primes, n)
    sample: NDArray[np.float64]

    def _lift(self, value: Any) -> Exact:
        if isinstance(value, Exact):
            return value
        residues = np.array([[int(value) % int(prime)] for prime in self.primes], np.uint64)
        return Exact(self.primes, residues, np.array([float(value)]))

    def __add__(self, other: Any) -> Exact:
        right = self._lift(other)
        return Exact(self.primes, self._reduce(self.residues + right.residues), self.sample + right.sample)

    def __sub__(self, other: Any) -> Exact:
        right = self._lift(other)
        top = np.array([[prime] for prime in self.primes])
        return Exact(self.primes, self._reduce(self.residues + (top - right.residues)), self.sample - right.sample)

    def __rsub__(self, other: Any) -> Exact:
        return self._lift(other) - self

    def __mul__(self, other: Any) -> Exact:
        right = self._lift(other)
        return Exact(self.primes, self._reduce(self.residues * right.residues), self.sample * right.sample)

    __radd__, __rmul__ = __add__, __mul__

    def _reduce(self, numbers: Bits) -> Bits:
        """Numbers modulo the primes, in place; a division by a constant is three times as fast as a remainder."""
        for number, prime in enumerate(self.primes):
            numbers[number] -= numbers[number] // prime * prime
        return numbers


Parts: TypeAlias = list[list[Ids]]  # by operand, one array for each operation
Compute: TypeAlias = Callable[[Parts], tuple[Exact, Numbers]]  # the results, and the numbers of their histories


@dataclass(slots=True)
class ExactBatch:
    """Queued operations of one kind: none needs another's result."""

    key: Any  # what operations of one batch have in common
    compute: Compute  # what makes all of their results
    first: int  # the first id that it makes
    made: list[tuple[int, int]]  # spans of ids, in the order of the operations
    operands: Parts  # their ids
    count: int = 0  # elements so far
