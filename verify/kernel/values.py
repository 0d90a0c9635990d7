# SPDX-License-Identifier: Apache-2.0
"""The values that a kernel computes: polynomials of the inputs, each as residues modulo random primes.

A value has a number (its id). Two polynomials that differ have different residues at random points, but for a chance
that `Values.chance` bounds (Schwartz and Zippel): by their degree, and by how many primes may divide a coefficient.
Besides the residues a value has a sample, the number that it is for small whole inputs, so that a refutation can be
shown in numbers; a type; the narrowest format that it went through; and, where its meaning is not known, the reason.

Operations are queued, and computed in batches: nothing but data depends on them. Main declarations: `Values`, `Exact`
(an array of values while a formula is computed), `decoded` (the number that bits are).

Ids below FIRST are reserved: BITS (plain bits, no value), UNWRITTEN, OUTSIDE an array, and reasons for no meaning.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from isa_tables.formula import Tree, evaluate
from verify.kernel.choices import Choices

Ids: TypeAlias = NDArray[np.uint32]
Bits: TypeAlias = NDArray[np.uint64]
Mask: TypeAlias = NDArray[np.bool_]

BITS, UNWRITTEN, OUTSIDE, FIRST = 0, 1, 2, 4096
KINDS = ("", "f16", "bf16", "f32", "tf32", "f64", "s8", "u8", "s32", "u32", "e4m3", "e5m2", "s16", "u16", "s64", "u64")
CODE = {name: code for code, name in enumerate(KINDS)}
BYTES = (0, 2, 2, 4, 4, 8, 1, 1, 4, 4, 1, 1, 2, 2, 8, 8)
SIZE = dict(zip(KINDS, BYTES, strict=True))
MANTISSA = {"f64": 53, "f32": 24, "tf32": 11, "f16": 11, "bf16": 8, "e4m3": 4, "e5m2": 3}  # bits with the hidden one
LEAST, MOST = 1 << 30, 1 << 31  # of a prime
PRIMES_THERE = 50_000_000  # fewer than there are primes in that range
CAUSE, ABSORBED, NARROWED, OPAQUE = range(4)  # rows of `marks`
SLOT, LAST = (
    4,
    5,
)  # and for kernels with wmma: the place in a fragment, and END less it, which differ if two places meet
END = 0xFFFF
EXACT, CHOSEN, FREE = range(3)  # opaque: a polynomial; a comparison chose; a function without meaning was applied
DEGREE, NORM, DENOMINATOR = range(3)  # rows of `growth`
_ADDED = np.array([[0.0], [1.0], [0.0]], np.float32)
_QUEUED = 1 << 17  # elements of a batch


def prime(source: random.Random) -> int:
    """A random prime from LEAST to MOST."""
    while True:
        found = source.randrange(LEAST, MOST) | 1
        if all(pow(base, found - 1, found) == 1 for base in (2, 3, 5, 7)) and _strong(found):
            return found


def _strong(odd: int) -> bool:
    """Whether an odd number below 2^32 is prime (Miller and Rabin; 2, 7 and 61 suffice there)."""
    power, odd_part = 0, odd - 1
    while odd_part % 2 == 0:
        power, odd_part = power + 1, odd_part // 2
    for base in (2, 7, 61):
        x = pow(base, odd_part, odd)
        if x in (1, odd - 1):
            continue
        for _ in range(power - 1):
            x = x * x % odd
            if x == odd - 1:
                break
        else:
            return False
    return True


@dataclass(slots=True)
class Exact:
    """An array of values while a formula is computed: residues by prime, samples, growth."""

    primes: Sequence[np.uint64]
    residues: Bits  # (primes, n)
    sample: NDArray[np.float64]
    growth: NDArray[np.float32]  # (3, n)

    def _lift(self, other: Any) -> Exact:
        if isinstance(other, Exact):
            return other
        residues = np.array([[int(other) % int(prime)] for prime in self.primes], np.uint64)
        return Exact(self.primes, residues, np.array([float(other)]), np.zeros((3, 1), np.float32))

    def __add__(self, other: Any) -> Exact:
        other = self._lift(other)
        growth = np.maximum(self.growth, other.growth) + _ADDED
        return Exact(self.primes, self._cut(self.residues + other.residues), self.sample + other.sample, growth)

    def __sub__(self, other: Any) -> Exact:
        other = self._lift(other)
        top = np.array([[prime] for prime in self.primes])
        growth = np.maximum(self.growth, other.growth) + _ADDED
        return Exact(self.primes, self._cut(self.residues + (top - other.residues)), self.sample - other.sample, growth)

    def __rsub__(self, other: Any) -> Exact:
        return self._lift(other) - self

    def __mul__(self, other: Any) -> Exact:
        other = self._lift(other)
        product = self._cut(self.residues * other.residues)
        return Exact(self.primes, product, self.sample * other.sample, self.growth + other.growth)

    __radd__, __rmul__ = __add__, __mul__

    def _cut(self, numbers: Bits) -> Bits:
        """Numbers modulo the primes, in place; a division by a constant is three times as fast as a remainder."""
        for number, prime in enumerate(self.primes):
            numbers[number] -= numbers[number] // prime * prime
        return numbers


Operands: TypeAlias = list[Ids]
Compute: TypeAlias = Callable[["Values", Operands], Exact]


@dataclass(slots=True)
class _Batch:
    """Queued operations of one kind: none needs another's result."""

    key: Any  # what operations of one batch have in common
    compute: Compute  # the results of all operands
    first: int  # the first id that it makes
    made: list[tuple[int, int]]  # (first id, count) of each
    operands: list[list[Ids]]  # by operand, one array for each
    event: int  # the narrowing that each result went through; 0 for none
    keeps: bool  # whether the results are the operands, as another type
    count: int = 0  # elements so far


class Values:
    """All values of a run."""

    def __init__(self, seed: int, primes: int = 3, capacity: int = 1 << 16) -> None:
        source = random.Random(seed)
        self.primes = [np.uint64(prime(source)) for _ in range(primes)]
        self.points = np.random.Generator(np.random.PCG64(source.getrandbits(128)))
        self.residues = np.zeros((primes, capacity), np.uint64)
        self.sample = np.zeros(capacity)
        self.kind = np.zeros(capacity, np.uint8)
        self.marks = np.zeros((4, capacity), np.uint16)
        self.growth = np.zeros((3, capacity), np.float32)
        self.top = FIRST
        self.marks[CAUSE, :FIRST] = np.arange(FIRST)
        self.causes: list[tuple[int, str]] = [(0, ""), (0, "was never written"), (0, "lies outside of its array")]
        self.events: list[tuple[str, int]] = [("", 0)]  # (format, line) of a narrowing
        self.constants: dict[tuple[int, int], int] = {}
        self.batch: _Batch | None = None
        self.inputs = FIRST  # the ids below are reserved or of arrays' elements
        self.marked = False  # whether a value that is not reserved has a mark
        self.lost: dict[int, int] = {}  # line -> the reserved id of reads there that no write precedes
        self.allowed: frozenset[str] = frozenset()  # formats to which the claim allows a narrowing
        self.choices = Choices(self.primes, source.getrandbits(64))
        self.line = 0  # of the instruction that is executed
        self.copies: list[tuple[int, Ids]] = []  # of `placed`: the first id that it made, and of which

    # ---- numbers of values

    def new(self, count: int, kind: int) -> int:
        """The first of so many new ids of a type; their residues are still to be written."""
        first = self.top
        self.top += count
        if self.top > len(self.sample):
            size = max(self.top, 2 * len(self.sample))
            for name in ("residues", "marks", "growth", "sample", "kind"):
                old = getattr(self, name)
                grown = np.zeros((*old.shape[:-1], size), old.dtype)
                grown[..., :first] = old[..., :first]
                setattr(self, name, grown)
        self.kind[first : self.top] = kind
        return first

    def variables(self, kind: str, samples: NDArray[np.float64]) -> int:
        """The first id of an array's elements: independent unknowns, at random points."""
        count = samples.size
        first = self.new(count, CODE[kind])
        place = slice(first, first + count)
        for row, prime in zip(self.residues, self.primes, strict=True):
            row[place] = self.points.integers(0, int(prime), count, dtype=np.uint64)
        self.sample[place] = samples.ravel()
        self.growth[DEGREE, place] = 1
        self.inputs = self.top
        return first

    def reason(self, text: str, line: int | None = None) -> int:
        """The reserved id of values that have no meaning, by its reason."""
        entry = (self.line if line is None else line, text)
        if entry not in self.causes:
            if len(self.causes) >= FIRST - 1:
                return len(self.causes) - 1
            self.causes.append(entry)
        return self.causes.index(entry)

    def nowhere(self, text: str) -> int:
        """The reserved id of what is read at this line from memory that nobody wrote; the first text is kept."""
        if self.line not in self.lost:
            self.lost[self.line] = self.reason(text)
        return self.lost[self.line]

    def event(self, kind: str) -> int:
        """The number of a narrowing to a format at this line."""
        if kind in self.allowed:
            return 0
        entry = (kind, self.line)
        if entry not in self.events:
            self.events.append(entry)
            self.marked = True
        return self.events.index(entry)

    def constant(self, bits: int, kind: str) -> int:
        """The id of a constant, by its bits in a type."""
        key = (bits, CODE[kind])
        if key not in self.constants:
            number = decoded(bits, kind)
            if number is None:
                self.constants[key] = self.reason(f"an infinity or NaN of type {kind} is no number")
            else:
                self.constants[key] = self.number(number, kind)
        return self.constants[key]

    def number(self, number: Fraction, kind: str) -> int:
        """The id of a rational number as a value of a type."""
        first = self.new(1, CODE[kind])
        for row, prime in zip(self.residues, self.primes, strict=True):
            p = int(prime)
            row[first] = number.numerator * pow(number.denominator, -1, p) % p
        self.sample[first] = float(number)
        self.growth[NORM, first] = max(abs(number.numerator).bit_length() - number.denominator.bit_length() + 1, 0)
        self.growth[DENOMINATOR, first] = number.denominator.bit_length() - 1
        return first

    # ---- operations

    def field(self, tree: Tree, roles: Sequence[str], operands: Sequence[Ids], kind: str, narrows: str = "") -> Ids:
        """The ids of a formula's results, for arrays of operands' ids; `narrows` is the format of the arithmetic."""

        def compute(values: Values, found: Operands) -> Exact:
            result: Exact = evaluate(tree, dict(zip(roles, map(values.exact, found), strict=True)))
            return result

        count = max(len(one) for one in operands)
        return self._queue((id(tree), kind), compute, operands, count, kind, self.event(narrows) if narrows else 0)

    def product(self, a: Ids, b: Ids, c: Ids, kind: str, narrows: str = "") -> Ids:
        """The ids of a * b + c, for stacks of matrices of ids."""
        shape = (a.shape[1:], b.shape[1:], c.shape[1:])

        def compute(values: Values, found: Operands) -> Exact:
            left, right, sums = (one.reshape(-1, *extent) for one, extent in zip(found, shape, strict=True))
            return values.multiplied(left, right, sums)

        operands = [a.ravel(), b.ravel(), c.ravel()]
        event = self.event(narrows) if narrows else 0
        return self._queue((shape, kind), compute, operands, c.size, kind, event).reshape(c.shape)

    def _queue(
        self, key: Any, compute: Compute, operands: Sequence[Ids], count: int, kind: str, event: int,
        keeps: bool = False,
    ) -> Ids:  # fmt: skip
        batch, key = self.batch, (key, event, keeps)
        if not count:
            return np.zeros(0, np.uint32)
        if batch and (
            batch.key != key or batch.count > _QUEUED or any(int(one.max()) >= batch.first for one in operands)
        ):
            self.flush()
            batch = None
        first = self.new(count, CODE[kind])
        if batch is None:
            batch = self.batch = _Batch(key, compute, first, [], [[] for _ in operands], event, keeps)
        elementwise = isinstance(key[0][0], int)
        for home, one in zip(batch.operands, operands, strict=True):
            home.append(np.broadcast_to(one, count) if elementwise else one)
        batch.made.append((first, count))
        batch.count += count
        return np.arange(first, first + count, dtype=np.uint32)

    def flush(self) -> None:
        """Compute what is queued."""
        batch, self.batch = self.batch, None
        if batch is None:
            return
        operands = [np.concatenate(parts) if len(parts) > 1 else parts[0] for parts in batch.operands]
        found = batch.compute(self, operands)
        if batch.keeps:
            marks = self.marks[:, operands[0]]
            if batch.event:
                marks[ABSORBED] = np.maximum(marks[ABSORBED], marks[NARROWED])
        elif not self.marked and all(int(one.min(initial=FIRST)) >= FIRST for one in operands):
            marks = np.zeros((len(self.marks), batch.count), np.uint16)
        elif isinstance(batch.key[0][0], int):
            marks = self.merged([self.marks[:, one] for one in operands])
        else:
            marks = self._spread(operands, batch.key[0][0])
        if batch.event:
            marks[NARROWED] = batch.event
        self.marked = self.marked or bool(marks.any())
        start = 0
        for first, count in batch.made:
            place, part = slice(first, first + count), slice(start, start + count)
            self.residues[:, place] = found.residues[:, part]
            self.sample[place] = found.sample[part]
            self.growth[:, place] = found.growth[:, part]
            self.marks[:, place] = marks[:, part]
            start += count

    @staticmethod
    def merged(marks: Sequence[NDArray[np.uint16]]) -> NDArray[np.uint16]:
        """The marks of a result of arithmetic: what its operands went through, it went through."""
        top = marks[0].copy()
        for one in marks[1:]:
            np.maximum(top, one, out=top)
        np.maximum(top[ABSORBED], top[NARROWED], out=top[ABSORBED])
        top[NARROWED] = 0
        return top

    def _spread(self, operands: Operands, shape: Any) -> NDArray[np.uint16]:
        """The marks of matrix products: those of their row of A, of their column of B, of C."""
        (rows, depth), (_, columns), _ = shape
        if not self.marked and all(int(one.min(initial=FIRST)) >= FIRST for one in operands):
            return np.zeros((len(self.marks), operands[2].size), np.uint16)
        kinds = len(self.marks)
        a = self.marks[:, operands[0]].reshape(kinds, -1, rows, depth).max(3)[..., None]
        b = self.marks[:, operands[1]].reshape(kinds, -1, depth, columns).max(2)[:, :, None]
        c = self.marks[:, operands[2]].reshape(kinds, -1, rows, columns)
        return self.merged([np.maximum(np.maximum(a, b), c).reshape(kinds, -1)])

    def exact(self, ids: Ids) -> Exact:
        """Residues, samples and growth of ids."""
        return Exact(self.primes, self.residues[:, ids], self.sample[ids], self.growth[:, ids])

    def multiplied(self, a: Ids, b: Ids, c: Ids) -> Exact:
        """A * b + c for stacks of matrices, the residues by products of halves that doubles hold exactly."""
        residues = np.empty((len(self.primes), c.size), np.uint64)
        for row, table, prime in zip(residues, self.residues, self.primes, strict=True):
            left, right = table[a], table[b].astype(np.float64)
            high = (left >> np.uint64(16)).astype(np.float64) @ right  # below 2^15 * 2^31 * depth
            high -= np.floor(high / float(prime)) * float(prime)
            total = high * 65536.0 + (left & np.uint64(0xFFFF)).astype(np.float64) @ right
            whole = (total.astype(np.int64) + table[c].astype(np.int64)).ravel()
            whole += np.int64(prime) << np.int64(18)  # `high` may be below 0 by a rounding
            whole -= whole // np.int64(prime) * np.int64(prime)
            row[:] = whole.view(np.uint64)
        sample = self.sample[a] @ self.sample[b] + self.sample[c]
        grown = [self._most(one) for one in (a, b, c)]
        products = grown[0] + grown[1]
        products[NORM] += max(a.shape[-1] - 1, 1).bit_length()
        top = np.maximum(products, grown[2])[:, None] + _ADDED
        return Exact(self.primes, residues, sample.ravel(), np.broadcast_to(top, (3, c.size)))

    def _most(self, ids: Ids) -> NDArray[np.float32]:
        """The largest growth among some values; that of inputs is known."""
        if int(ids.max(initial=0)) < self.inputs:
            return np.array([1, 0, 0], np.float32)
        found: NDArray[np.float32] = self.growth[:, ids].reshape(3, -1).max(1, initial=0)
        return found

    def copy(self, ids: Ids, kind: str, narrows: bool) -> Ids:
        """The same values as values of another type: a conversion; `narrows` says that it rounds."""
        event = self.event(kind) if narrows else 0
        flat = ids.ravel()
        made = self._queue(
            (0, kind), lambda values, found: values.exact(found[0]), [flat], len(flat), kind, event, True
        )
        return made.reshape(ids.shape)

    def apply(self, name: str, ids: Sequence[Ids], kind: str, opaque: int) -> Ids:
        """The ids of a function that is no polynomial, of arrays of operands' ids."""
        self.flush()
        shape, flat = ids[0].shape, [one.ravel() for one in ids]
        first = self.new(len(flat[0]), CODE[kind])
        place = slice(first, self.top)
        found, sample = self.choices(name, [self.residues[:, one] for one in flat], [self.sample[one] for one in flat])
        self.residues[:, place], self.sample[place] = found, sample
        self.growth[DEGREE, place] = 1
        self.marks[:, place] = self.merged([self.marks[:, one] for one in flat])
        self.marked = True
        self.marks[OPAQUE, place] = np.maximum(self.marks[OPAQUE, place], opaque)
        return np.arange(first, self.top, dtype=np.uint32).reshape(shape)

    def inverse(self, ids: Ids, kind: str) -> Ids:
        """The ids of inverses: of a number it is a number, of anything else a function of it."""
        self.flush()
        unique, place = np.unique(ids, return_inverse=True)
        if len(unique) < 16 and not self.growth[DEGREE, unique].any() and not self.marks[:, unique].any():
            if self.residues[:, unique].all():
                made = self.new(len(unique), CODE[kind])
                for at, one in enumerate(unique):
                    for row, p in zip(self.residues, self.primes, strict=True):
                        row[made + at] = pow(int(row[one]), -1, int(p))
                    self.sample[made + at] = 1 / self.sample[one]
                    self.growth[[NORM, DENOMINATOR], made + at] = self.growth[:, one].sum()
                return (made + place.reshape(ids.shape)).astype(np.uint32)
        return self.apply("rcp", [ids], kind, FREE)

    def chance(self, ids: Ids) -> float:
        """A bound on the chance that any of these values differs from what it is compared with, unnoticed.

        A polynomial of degree d that is not zero modulo p vanishes at a random point with at most d / p; and fewer than
        height / 30 primes above 2^30 divide a coefficient below 2^height.
        """
        self.flush()
        if not ids.size:
            return 0.0
        degree = float(self.growth[DEGREE, ids].max()) + 1
        height = float(self.growth[NORM, ids].max() + self.growth[DENOMINATOR, ids].max()) + 1
        one = degree / LEAST + height / 30 / PRIMES_THERE
        return float((ids.size + self.choices.applied) * one ** len(self.primes))


def decoded(bits: int, kind: str) -> Fraction | None:
    """The number that bits are in a type; None for an infinity or NaN.

    >>> decoded(0x3C00, "f16"), decoded(0xBF80, "bf16"), decoded(0xFF, "s8"), decoded(0x7E, "e4m3")
    (Fraction(1, 1), Fraction(-1, 1), Fraction(-1, 1), Fraction(448, 1))
    """
    width = 8 * SIZE[kind]
    bits &= (1 << width) - 1
    if kind[0] in "su":
        return Fraction(bits - (1 << width if kind[0] == "s" and bits >> (width - 1) else 0))
    exponent_bits = {"f16": 5, "bf16": 8, "f32": 8, "tf32": 8, "f64": 11, "e4m3": 4, "e5m2": 5}[kind]
    fraction_bits = width - 1 - exponent_bits
    sign, exponent = bits >> (width - 1), bits >> fraction_bits & ((1 << exponent_bits) - 1)
    fraction = bits & ((1 << fraction_bits) - 1)
    full = (1 << exponent_bits) - 1
    if exponent == full and (kind != "e4m3" or fraction == 7):
        return None
    whole = fraction | (1 << fraction_bits if exponent else 0)
    scale = max(exponent, 1) - ((1 << (exponent_bits - 1)) - 1) - fraction_bits
    return Fraction((-1) ** sign * whole) * (Fraction(2) ** scale)
