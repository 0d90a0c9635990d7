# SPDX-License-Identifier: Apache-2.0
"""Functions that aren't polynomials: a choice by a comparison, and functions about which nothing is known.

Each is a new unknown for every argument, by a keyed hash of the argument's residues: equal arguments give equal values.
A choice is normalised, so that the ways to write one function meet: max(x, y) = y + relu(x - y), and
relu(z) = z + relu(-z).

In a run with pairs of primes (`exponents`) the rows of residues are those modulo each p, then those modulo each q.
There ex2 is a power modulo p by the exponent modulo q, log2 (of what is known to be positive) is a logarithm modulo q
of a number modulo p, and rcp is an inverse. In the rows that such a law says nothing of, they are hashed as well. rsqrt
is the inverse of sqrt, of which no law is known: the square of a root modulo p is x or -x.

Where a claim has the largest of a row, max is not normalised: it is a sum of hashes of all that it is the largest of,
so that neither their order nor how a kernel groups them matters (`by_leaves`).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verify.kernel.data.exponents import Pair, inverse
from verify.kernel.data.points import SPLITMIX

Residues = NDArray[np.uint64]  # (primes, n)
Samples = NDArray[np.float64]
_LOG2_E, _LN_2 = (Fraction(float(np.float32(number))) for number in (np.log2(np.e), np.log(2.0)))
LAWLESS = "ex2 without laws"  # the name of a power of 2 whose exponent has logarithms that are not known well enough
POLES = frozenset({"rcp", "rsqrt", "lg2"})  # functions that are infinite at 0


def _quiet(function: Callable[..., Any]) -> Callable[[Samples], Samples]:
    def apply(sample: Samples) -> Samples:
        with np.errstate(all="ignore"):
            return np.asarray(np.nan_to_num(function(sample), nan=0.0, posinf=0.0, neginf=0.0))

    return apply


FUNCTIONS: dict[str, Callable[[Samples], Samples]] = {
    "ex2": _quiet(np.exp2),
    "lg2": _quiet(np.log2),
    "sqrt": _quiet(np.sqrt),
    "rsqrt": _quiet(lambda x: 1 / np.sqrt(x)),
    "rcp": _quiet(lambda x: 1 / x),
    "sin": _quiet(np.sin),
    "cos": _quiet(np.cos),
    "tanh": _quiet(np.tanh),
}


def _snap(function: Callable[[Samples], Samples]) -> Callable[[Samples], Samples]:
    """Return a rounding that takes what a double makes of an integer's quotient for that integer."""

    def apply(sample: Samples) -> Samples:
        nearest = np.rint(sample)
        return np.where(np.abs(sample - nearest) <= 2.0**-48 * (1 + np.abs(nearest)), nearest, function(sample))

    return apply


def _keep_infinities(function: Callable[..., Any]) -> Callable[[Samples], Samples]:
    """Return a function of samples that keeps an infinity and a NaN, which verify nothing."""

    def apply(sample: Samples) -> Samples:
        with np.errstate(all="ignore"):
            return np.asarray(function(sample))

    return apply


POWERS: dict[str, Callable[[Samples], Samples]] = {
    "ex2": _keep_infinities(np.exp2),
    LAWLESS: _keep_infinities(np.exp2),
    "log2": _keep_infinities(np.log2),
    "lg2": _keep_infinities(np.log2),
    "rcp": _keep_infinities(lambda x: 1 / x),
}
ROUNDED: dict[str, Callable[[Samples], Samples]] = {
    "floor": _snap(np.floor),
    "trunc": _snap(np.trunc),
    "rint": np.rint,
}


def split_log2_e(number: Fraction) -> tuple[int, Fraction]:
    """Return the power of log2(e) in a number, 1 or -1 of a power of 2 times log2(e) or ln(2), and what is left.

    >>> split_log2_e(Fraction(float(np.float32(np.log2(np.e)))) / 8), split_log2_e(Fraction(3))
    ((1, Fraction(1, 8)), (0, Fraction(3, 1)))
    """
    for power, of in ((1, _LOG2_E), (-1, _LN_2)):
        rest = number / of
        if (
            rest
            and not abs(rest.numerator) & (abs(rest.numerator) - 1)
            and not rest.denominator & (rest.denominator - 1)
        ):
            return power, rest
    return 0, number


class Choices:
    """The functions of one run."""

    def __init__(self, primes: Sequence[np.uint64], seed: int, pairs: Sequence[Pair] = ()) -> None:
        self.primes = np.array(primes, np.uint64)[:, None]
        self.seed, self.pairs = seed, pairs
        source = random.Random(f"{seed} log2(e)")
        self.log2_e = [source.randrange(1, int(prime)) for prime in primes]  # an unknown of its own
        self.stand_for = False  # whether a constant was log2(e) or ln(2)
        self.hashed = 0  # arguments so far of functions that are hashed modulo p too
        self.by_leaves = False  # whether max is a sum of hashes

    def __call__(
        self, name: str, residues: Sequence[Residues], samples: Sequence[Samples],
        joined: Sequence[NDArray[np.bool_]] = (),
    ) -> tuple[Residues, Samples]:  # fmt: skip
        """Return the values of a function of arguments; `joined` says which arguments of max are sums of hashes."""
        self.hashed += samples[0].size * self.is_hashed(name)
        known = POWERS if self.pairs and name in POWERS else FUNCTIONS | ROUNDED
        if name in known:
            return self._unary(name, residues[0]), known[name](samples[0])
        if name == "relu":
            return self._relu(residues[0]), np.maximum(samples[0], 0.0)
        if name == "abs":
            double = self._relu(residues[0]) * np.uint64(2)
            return (double + self.primes - residues[0]) % self.primes, np.abs(samples[0])
        gap = self._minus(residues[0], residues[1])
        if name == "max":
            made = self._join(residues, joined) if joined else (residues[1] + self._relu(gap)) % self.primes
            return made, np.maximum(samples[0], samples[1])
        if name == "min":
            return self._minus(residues[0], self._relu(gap)), np.minimum(samples[0], samples[1])
        made = self._gate(gap, self._minus(residues[2], residues[3]))  # where(a > b, x, y)
        sample = np.where(samples[0] > samples[1], samples[2], samples[3])
        return (residues[3] + made) % self.primes, sample

    def joins(self, name: str) -> bool:
        """Return whether the results of a function are sums of hashes of all that they are the largest of."""
        return name == "max" and self.by_leaves

    def _join(self, residues: Sequence[Residues], joined: Sequence[NDArray[np.bool_]]) -> Residues:
        """Return the larger ones of two arrays of arguments; those that are `joined` are sums of hashes."""
        self.hashed += joined[0].size
        leaves = [self.hash_leaves(arguments) for arguments in residues]
        first, second = (np.where(*each) for each in zip(joined, residues, leaves, strict=True))
        return np.asarray((first + second) % self.primes)

    def find_largest(self, residues: Residues, below: NDArray[np.bool_]) -> Residues:
        """Return the largest of each column of (primes, terms, columns) arguments; those `below` are -inf."""
        self.hashed += int((~below).sum())
        primes, alone = self.primes, (~below).sum(0) == 1
        made = [np.zeros((len(primes), below.shape[1]), np.uint64) for _ in range(2)]
        for term, masked in zip(residues.transpose(1, 0, 2), below, strict=True):
            for total, each in zip(made, (term, self.hash_leaves(term)), strict=True):
                total[:] = (total + np.where(masked, np.uint64(0), each)) % primes
        return np.where(alone, *made)  # one term alone is the largest, and isn't a sum

    def hash_leaves(self, residues: Residues) -> Residues:
        """Return the hashes of arguments, of which the largest of several is the sum."""
        return self._hash_arguments("largest", [residues])

    def is_hashed(self, name: str) -> bool:
        """Return whether a function has no law modulo p, so that two arguments which are taken for one matter."""
        return not self.pairs or name not in ("ex2", "rcp")

    def turns(self, residues: Sequence[Residues]) -> NDArray[np.bool_]:
        """Return where the function of an argument z, or of the gap z of two, is z plus one of -z."""
        gap = self._minus(*residues) if len(residues) > 1 else residues[0]
        return np.asarray(self._minus(np.zeros_like(gap), gap)[0] < gap[0])

    def find_signs(self, numbers: Residues, logarithms: NDArray[Any]) -> NDArray[np.uint8]:
        """Return a bit for each pair: whether a number is not 2^x, and so -2^x, where x is its logarithm."""
        made, half = np.zeros(numbers.shape[1], np.uint8), len(self.pairs)
        for place, pair in enumerate(self.pairs):
            negative = pair.power(logarithms[half + place].astype(np.uint64)) != numbers[place]
            made |= negative.astype(np.uint8) << np.uint8(place)
        return made

    def turn_signs(self, powers: NDArray[Any], signs: NDArray[np.uint8]) -> None:
        """Multiply powers of 2 modulo each p by their signs, in place."""
        for place, row in enumerate(powers[: len(self.pairs)]):
            turned = (signs >> np.uint8(place) & np.uint8(1)).astype(bool)
            row[turned] = self.primes[place, 0].astype(row.dtype) - row[turned]

    def agree(self, left: NDArray[Any], right: NDArray[Any] | int) -> NDArray[np.bool_]:
        """Return where residues are those of equal values: modulo all primes; of pairs, all p or all q suffice."""
        half, same = len(self.pairs), np.asarray(left == right)
        return np.asarray(same[:half].all(0) | same[half:].all(0) if half else same.all(0))

    def constant(self, number: Fraction) -> list[int]:
        """Return the residues of a number; log2(e) and ln(2), as f32 holds them, are an unknown and its inverse.

        So log2(exp(x)) * ln(2) is x, which it is not for the numbers that f32 has in place of these.
        """
        power, of = split_log2_e(number) if self.pairs else (0, number)
        rows = [of.numerator * pow(of.denominator, -1, int(p)) % int(p) for p in self.primes[:, 0]]
        if not power:
            return rows
        self.stand_for = True
        return [
            row * pow(known, power, int(p)) % int(p)
            for row, known, p in zip(rows, self.log2_e, self.primes[:, 0], strict=True)
        ]

    def round_to(self, kind: str, argument: Residues) -> Residues:
        """Return values rounded to a format, where that is a function of its own; 0 is in every format."""
        made = self._hash_arguments(f"round to {kind}", [argument])
        return np.where((argument == 0).all(0), np.uint64(0), made)

    def _unary(self, name: str, argument: Residues) -> Residues:
        if name in ROUNDED:
            return self._round(name, argument)
        if name == "sqrt":
            return np.where((argument == 0).all(0), np.uint64(0), self._hash_arguments(name, [argument]))
        if name == "rsqrt" and self.pairs:  # the inverse of the root, for every number
            return self._power("rcp", self._unary("sqrt", argument))
        return self._power(name, argument) if self.pairs and name in POWERS else self._hash_arguments(name, [argument])

    def _power(self, name: str, argument: Residues) -> Residues:
        if name == "rcp":
            return np.stack([inverse(row, prime) for row, prime in zip(argument, self.primes[:, 0], strict=True)])
        half = len(self.pairs)
        if name == "ex2":
            powers = [pair.power(row) for pair, row in zip(self.pairs, argument[half:], strict=True)]
            return np.concatenate([powers, self._hash_arguments(name, [argument], slice(half, None))])
        if name == "log2":
            exponents = [pair.logarithm(row) for pair, row in zip(self.pairs, argument[:half], strict=True)]
            return np.concatenate([self._hash_arguments(name, [argument], slice(half)), exponents])
        return self._hash_arguments(name, [argument])

    def _minus(self, left: Residues, right: Residues) -> Residues:
        return (left + self.primes - right) % self.primes

    def _hash_arguments(self, name: str, parts: Sequence[Residues], rows: slice = slice(None)) -> Residues:
        """Return rows of a hash of arguments: each row is one of the arguments' residues modulo all primes."""
        source = random.Random(f"{self.seed} {name}")
        count = max(part.shape[1] for part in parts)
        keys = [[source.getrandbits(64)] for _ in self.primes]
        made = np.repeat(np.array(keys, np.uint64)[rows], count, 1)
        given = [row for part in parts for row in part]
        for low, high in zip_longest(given[::2], given[1::2]):  # two of them, each below 2^32, fill a word
            made ^= low if high is None else low | high << np.uint64(32)
            made *= SPLITMIX[0]
            made ^= made >> np.uint64(30)
            made *= SPLITMIX[1]
            made ^= made >> np.uint64(27)
            made *= SPLITMIX[2]
            made ^= made >> np.uint64(31)
        return made % self.primes[rows]

    def _round(self, name: str, argument: Residues) -> Residues:
        """Floor, and trunc and rint by the one of z and -z that has the smaller residue: trunc(-z) = -trunc(z)."""
        if name == "floor":
            return self._hash_arguments(name, [argument])
        opposite = self._minus(np.zeros_like(argument), argument)
        turned = opposite[0] < argument[0]
        made = self._hash_arguments(name, [np.where(turned, opposite, argument)])
        return np.where(turned, self._minus(np.zeros_like(made), made), made)

    def _relu(self, argument: Residues) -> Residues:
        """Relu by the one of z and -z that has the smaller residue: relu(z) = z + relu(-z)."""
        opposite = self._minus(np.zeros_like(argument), argument)
        turned = opposite[0] < argument[0]
        made = self._hash_arguments("relu", [np.where(turned, opposite, argument)])
        made = np.where((argument == 0).all(0), np.uint64(0), made)
        return np.where(turned, (made + argument) % self.primes, made)

    def _gate(self, condition: Residues, value: Residues) -> Residues:
        """`value` where the condition is above 0, else 0; by the one of v and -v that has the smaller residue."""
        relu = self._relu(condition)
        opposite = self._minus(np.zeros_like(condition), condition)
        minus = self._minus(np.zeros_like(value), value)
        turned = minus[0] < value[0]
        made = self._hash_arguments("gate", [condition, np.where(turned, minus, value)])
        made = np.where(turned, self._minus(np.zeros_like(made), made), made)
        made = np.where((value == opposite).all(0), self._minus(np.zeros_like(relu), relu), made)
        made = np.where((value == condition).all(0), relu, made)
        return np.where((value == 0).all(0), np.uint64(0), made)
