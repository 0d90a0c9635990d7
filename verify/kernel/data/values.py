# SPDX-License-Identifier: Apache-2.0
"""The values that a kernel computes: polynomials of the inputs, each as residues modulo random primes.

A value has a number (its id). Two polynomials that differ have different residues at random points, but for a chance
that `chance` bounds (Schwartz and Zippel): by their degree, and by how many primes may divide a coefficient.
Besides the residues a value has a sample, the number that it is for small whole inputs, so that a refutation can be
shown in numbers; a type; the narrowest format that it went through; and, where its meaning is not known, the reason.

A run with `exponents` has pairs of primes, in which exponentials keep their laws (`exponents`), and infinities that
are known of a value whatever the data are (`levels`).

Operations are queued, and computed in batches: nothing but data depends on them. Main declarations:
`Values`, `SIZE` (bytes of each type), `LIMITS` (of integer types).

Ids below FIRST are reserved: BITS (plain bits, no value), UNWRITTEN, OUTSIDE an array, and reasons for no meaning.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import inf, isfinite
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from isa_tables.formula import Tree, evaluate
from verify.kernel.data import applications, logarithms
from verify.kernel.data.applications import apply_with_laws, make_special
from verify.kernel.data.choices import LAWLESS, Choices
from verify.kernel.data.exact import Compute, Exact, ExactBatch, Parts
from verify.kernel.data.exponents import random_pair
from verify.kernel.data.floats import decode, fits
from verify.kernel.data.histories import (
    BEFORE,
    LATELY,
    UNKNOWN_WEIGHT,
    Growth,
    Histories,
    History,
    Numbers,
    apply,
    merge,
    sign_of,
    widest,
)
from verify.kernel.data.points import Points
from verify.kernel.data.residues import DEPTH, Stack, random_prime, reduce_in_place

Ids: TypeAlias = NDArray[np.uint32]
Bits: TypeAlias = NDArray[np.uint64]
Mask: TypeAlias = NDArray[np.bool_]
Samples: TypeAlias = NDArray[np.float64]

BITS, UNWRITTEN, OUTSIDE, FIRST = 0, 1, 2, 4096  # ids with a meaning of their own; ids of values begin at FIRST
KINDS = ("", "f16", "bf16", "f32", "tf32", "f64", "s8", "u8", "s32", "u32", "e4m3", "e5m2", "s16", "u16", "s64", "u64")
CODE = {name: code for code, name in enumerate(KINDS)}
BYTES = (0, 2, 2, 4, 4, 8, 1, 1, 4, 4, 1, 1, 2, 2, 8, 8)  # by kind; tf32 is held in 32 bits (PTX ISA 5.2.3)
SIZE = dict(zip(KINDS, BYTES, strict=True))
MANTISSA = {"f64": 53, "f32": 24, "tf32": 11, "f16": 11, "bf16": 8, "e4m3": 4, "e5m2": 3}  # bits, the hidden 1 too
EXACT, CHOSEN, FREE = range(3)  # opaque: a polynomial; a comparison chose; a function without meaning was applied
LIMITS = {  # integer type -> its least and greatest number
    f"{sign}{bits}": (-(1 << bits - 1), (1 << bits - 1) - 1) if sign == "s" else (0, (1 << bits) - 1)
    for sign in "su"
    for bits in (8, 16, 32, 64)
}
_TABLES = ("residues", "sample", "kind", "origin", "history", "signs")  # of `Values`, by id
EVEN = 1e-9  # what rounding makes of a 0 on the sample is below
USED = "an integer is used as a number of type {}, from {} to {}"
_QUEUED = 1 << 17  # elements of a batch


class Values:
    """All values of a run."""

    opaque, rounding = False, False  # whether nothing but bounds is known of data; each rounding is a function

    def __init__(  # few at first: numpy has arrays of 4 MiB and more in pages of 2 MiB, each of which counts as used
        self, seed: int, primes: int = 3, capacity: int = (1 << 20) // 3, exponents: bool = False
    ) -> None:
        source = random.Random(seed)
        self.pairs = [random_pair(source) for _ in range(primes)] if exponents else []
        orders = [np.uint64(pair.order) for pair in self.pairs]
        firsts = [pair.prime for pair in self.pairs] or [random_prime(source) for _ in range(primes)]
        self.primes = [*map(np.uint64, firsts), *orders]
        self.points = Points(source)
        self.residues = np.zeros((len(self.primes), capacity), np.uint32)
        self.sample = np.zeros(capacity)
        self.kind = np.zeros(capacity, np.uint8)
        self.origin = np.zeros(capacity, np.uint8)  # of an exact copy, the type of what it is a copy of
        self.history = np.zeros(capacity, np.uint32)
        self.signs = np.zeros(capacity, np.uint8)  # of what its logarithms are of, as `logarithms` has them
        self.logged = False  # whether there is a logarithm with laws
        self.histories = Histories(FIRST)
        self.top, self.history[:FIRST] = FIRST, np.arange(FIRST)
        self.causes: list[tuple[int, str]] = [(0, ""), (0, "was never written"), (0, "lies outside of its array")]
        self.causes += [(0, "an infinity in an operation that gives it no meaning"), (0, "is NaN for all data")]
        self.levels = exponents  # whether infinities are known
        self.infinite, self.floor = False, 0.0  # whether any value is an infinity; numbers up to here stand for -inf
        self.events: list[tuple[str, int]] = [("", 0)]  # (format, line) of a narrowing
        self.constants: dict[tuple[int, int], int] = {}
        self.units: set[float] = set()  # of exponents
        self.hashed = Growth()  # the largest bounds of an argument of a function that is hashed
        self.above: set[int] = set()  # lines of powers of 2 whose exponent is above 0 on the sample
        self.rounded: dict[int, int] = {}  # numbers that a kernel computed and rounded: their bits
        self.contracted: set[int] = set()  # of those, products that ptxas may fuse with a sum
        self.quotients: dict[int, tuple[int, Fraction]] = {}  # integers that are others times a factor, rounded down
        self.batch: ExactBatch | None = None
        self.inputs = FIRST  # the ids below are reserved or of arrays' elements
        self.poles: set[int] = set()  # the causes that are a division by 0
        self.maybe = 0  # the reserved id of bytes that may have been written, on opaque data
        self.lost: dict[int, int] = {}  # line -> the reserved id of reads there that no write precedes
        self.allowed: frozenset[str] = frozenset()  # formats to which the claim allows a narrowing
        self.choices = Choices(self.primes, source.getrandbits(64), self.pairs)
        self.line = 0  # of the instruction that is executed
        self.copies: list[tuple[int, Ids]] = []  # of `placed`: the first id that it made, and of which

    # ---- numbers of values

    def new(self, count: int, kind: int) -> int:
        """Return the first of so many new ids of a type; their residues are still to be written."""
        first = self.top
        if first + count > len(self.sample):
            self.reserve(max(first + count, len(self.sample) * 3 // 2))
        self.top += count
        self.kind[first : self.top] = kind
        return first

    def reserve(self, size: int) -> None:
        """Make room for so many values."""
        for name in _TABLES if size > len(self.sample) else ():
            old = getattr(self, name)
            grown = np.zeros((*old.shape[:-1], size), old.dtype)
            grown[..., : self.top] = old[..., : self.top]
            setattr(self, name, grown)

    def drop(self, used: Sequence[Ids]) -> None:
        """Keep the inputs, the constants and the values of some labels alone; the labels get their new numbers."""
        self.flush()
        kept = np.zeros(self.top, bool)
        kept[: self.inputs] = True
        kept[list(self.constants.values())] = True
        for labels in used:
            kept[labels >> np.uint32(3)] = True
        old, number = np.flatnonzero(kept), np.cumsum(kept, dtype=np.uint32) - np.uint32(1)
        for name in _TABLES:
            table = getattr(self, name)
            table[..., self.inputs : len(old)] = table[..., old[self.inputs :]]
        for labels in used:
            labels[:] = (number[labels >> np.uint32(3)] << np.uint32(3)) | (labels & np.uint32(7))
        self.constants = {key: int(number[source]) for key, source in self.constants.items()}
        self.rounded = {int(number[source]): bits for source, bits in self.rounded.items() if kept[source]}
        self.contracted = {int(number[source]) for source in self.contracted if kept[source]}
        pairs = ((source, of, by) for source, (of, by) in self.quotients.items() if kept[source] and kept[of])
        self.quotients = {int(number[source]): (int(number[of]), by) for source, of, by in pairs}
        self.origin[len(old) : self.top] = self.signs[len(old) : self.top] = 0
        self.top, self.copies = len(old), []

    def variables(self, kind: str, samples: Samples, limits: tuple[float, float] | None = None) -> int:
        """Return the first id of an array's elements: independent unknowns, at random points, within limits."""
        first, self.inputs = self.new(samples.size, CODE[kind]), self.top
        self.give_variables(slice(first, self.top), kind, samples, limits)
        return first

    def give_variables(self, at: slice, kind: str, samples: Samples, limits: tuple[float, float] | None = None) -> None:
        """Make independent unknowns of ids that are new."""
        for row, prime in zip(self.residues, self.primes, strict=True):
            row[at] = self.points.draw(int(prime), samples.size)
        self.sample[at], (low, high) = samples.ravel(), limits or LIMITS.get(kind) or (-inf, inf)
        self.history[at] = self.histories.number(History(degree=1, low=low, high=high, unit=1.0))

    def join_bytes(self, bits: Bits, labels: Ids, size: int) -> Ids:
        """Return the ids of values of so many bytes, if these are read without their types."""
        raise TypeError("these values are read by their types")

    def reason(self, text: str, line: int | None = None) -> int:
        """Return the reserved id of values that have no meaning, by its reason."""
        entry = (self.line if line is None else line, text)
        if entry not in self.causes:
            if len(self.causes) >= FIRST - 1:
                return len(self.causes) - 1
            self.causes.append(entry)
        return self.causes.index(entry)

    def nowhere(self, text: str) -> int:
        """Return the reserved id of what is read at this line from memory that nobody wrote; the first text is kept."""
        if self.line not in self.lost:
            self.lost[self.line] = self.reason(text)
        return self.lost[self.line]

    def event(self, kind: str) -> int:
        """Return the number of a narrowing to a format at this line."""
        if kind in self.allowed:
            return 0
        entry = (kind, self.line)
        if entry not in self.events:
            self.events.append(entry)
        return self.events.index(entry)

    def constant(self, bits: int, kind: str) -> int:
        """Return the id of a constant, by its bits in a type."""
        key = (bits, CODE[kind])
        if key not in self.constants:
            number = decode(bits, kind)
            made = self.number(number, kind) if number is not None else make_special(self, bits, kind, CODE[kind])
            self.constants[key] = made
        return self.constants[key]

    def number(self, number: Fraction, kind: str) -> int:
        """Return the id of a rational number as a value of a type."""
        first = self.new(1, CODE[kind])
        self.residues[:, first] = self.choices.constant(number)
        self.sample[first] = float(number)
        norm = max(abs(number.numerator).bit_length() - number.denominator.bit_length() + 1, 0)
        low = high = float(number)
        denominator, sign = number.denominator.bit_length() - 1, sign_of(number)
        history = History(norm=norm, denominator=denominator, low=low, high=high, sign=sign, unit=abs(low))
        if self.floor and abs(low) >= -self.floor:  # a large positive number may take a mask away again
            history = history._replace(weight=low if Fraction(low) == number else UNKNOWN_WEIGHT)
        self.history[first] = self.histories.number(history)
        return first

    # ---- operations

    def field(self, tree: Tree, roles: Sequence[str], operands: Sequence[Ids], kind: str, narrows: str = "") -> Ids:
        """Return the ids of a formula's results, for arrays of operands' ids; `narrows` is the arithmetic's format."""
        event = self.event(narrows) if narrows else 0

        def bounds(parts: Sequence[History]) -> History:
            growth = [part.growth for part in parts]
            growth = [replace(term, carried=1 << at) if term.logs else term for at, term in enumerate(growth)]
            return merge(parts, evaluate(tree, dict(zip(roles, growth, strict=True))), event, bool(narrows))

        def compute(parts: Parts) -> tuple[Exact, Numbers]:
            ids = [np.concatenate(part) for part in parts]
            computed = evaluate(tree, dict(zip(roles, map(self.exact, ids), strict=True)))
            return computed, self.histories.combine([self.history.take(operand) for operand in ids], bounds, key)

        key = tree, kind, event, bool(narrows)
        count = max(len(operand) for operand in operands)
        spread = [operand if len(operand) == count else np.broadcast_to(operand, count) for operand in operands]
        return self._queue(key, compute, spread, count, kind)

    def copy(self, ids: Ids, kind: str, narrows: bool) -> Ids:
        """Return the same values as values of another type: a conversion; `narrows` says that it rounds."""
        origin = np.where(self.origin[ids], self.origin[ids], self.kind[ids])
        narrows = narrows and not all(fits(KINDS[code], kind) for code in np.flatnonzero(np.bincount(origin.ravel())))
        event = self.event(kind) if narrows else 0

        def again(parts: Sequence[History]) -> History:
            past = parts[0]
            past = past._replace(rounded=BEFORE if past.rounded else LATELY if narrows else 0)
            return past._replace(absorbed=max(past.absorbed, past.narrowed), narrowed=event) if event else past

        made = self.with_histories(("copy", event, narrows), ids, again, kind)
        self.origin[made] = 0 if narrows else origin
        return made

    def whole(self, ids: Ids, kind: str) -> Ids:
        """Return the same values, used as the numbers that their bits are in an integer type.

        Bits are a number modulo 2^n; a value that may lie outside of the type is another number, and has no meaning.
        """
        if (ids < self.inputs).all() and (self.kind[ids] == CODE[kind]).all():  # elements of arrays are of their type
            return ids
        return self.within(ids, *LIMITS[kind], USED.format(kind, *LIMITS[kind]), kind)

    def within(self, ids: Ids, low: int, high: int, used: str, kind: str) -> Ids:
        """Return the same values; one that may lie outside of the limits has no meaning, as what it is used."""
        return self.with_histories(("within", used, self.line), ids, self._limit_rule(low, high, used), kind)

    def _limit_rule(self, low: int, high: int, used: str) -> Callable[[Sequence[History]], History]:
        """Return a rule that gives a history a cause at this line if its number may lie outside of the limits."""
        line = self.line

        def limit_history(parts: Sequence[History]) -> History:
            past = parts[0]
            if past.cause or (low <= past.low and past.high <= high):
                return past
            bounded = isfinite(past.high - past.low)
            there = f"it lies from {past.low:.0f} to {past.high:.0f}" if bounded else "it has no bound"
            reason = f"{used}, and {there}: `range` of the claim's arrays bounds what they hold"
            return past._replace(cause=self.reason(reason, line))

        return limit_history

    def with_histories(self, key: Any, ids: Ids, rule: Callable[[Sequence[History]], History], kind: str) -> Ids:
        """Return the same values with other histories, by a rule for each."""

        def keep(parts: Sequence[History]) -> History:
            made = rule(parts)
            return made._replace(carried=1) if made.logs else made

        def compute(parts: Parts) -> tuple[Exact, Numbers]:
            flat = np.concatenate(parts[0])
            return self.exact(flat), self.histories.combine([self.history.take(flat)], keep, key)

        made = self._queue((*key, kind), compute, [ids.ravel()], ids.size, kind)
        if self.quotients and kind in LIMITS:
            pairs = zip(ids.ravel().tolist(), made.tolist(), strict=True)
            self.quotients.update((new, self.quotients[old]) for old, new in [*pairs] if old in self.quotients)
        return made.reshape(ids.shape)

    def among(self, ids: Ids) -> list[History]:
        """Return the different histories of some values."""
        self.flush()
        return self.histories.among(self.history[ids])

    def bounds(self, ids: Ids) -> tuple[float, float]:
        """Return the least and the greatest number that any of these values may be, of those that have a meaning."""
        there = [past for past in self.among(ids) if not past.cause]
        return min((past.low for past in there), default=inf), max((past.high for past in there), default=-inf)

    def product(self, a: Ids, b: Ids, c: Ids, kind: str, narrows: str = "", clamps: bool = False) -> Ids:
        """Return the ids of a * b + c, for stacks of matrices of ids; integers of a and b are numbers of their types.

        One that `clamps` has a meaning if its bounds show that it lies within its type: each sum on the way to it lies
        between c and one with as many more extreme products, so nothing is clamped.
        """
        if kind in LIMITS:
            a, b = (self.whole(each, KINDS[int(self.kind[each].max())] or kind) for each in (a, b))
        if a.shape[2] > DEPTH:
            c = self.product(a[:, :, DEPTH:], b[:, DEPTH:], c, kind, narrows, clamps)
            a, b = a[:, :, :DEPTH], b[:, :DEPTH]
        event = self.event(narrows) if narrows else 0
        key = a.shape[1:], b.shape[1:], kind, event, bool(narrows), clamps and self.line
        bound = self._limit_rule(*LIMITS[kind], USED.format(kind, *LIMITS[kind])) if clamps else None
        compute = partial(self._multiply, event=event, rounds=bool(narrows), bound=bound)
        return self._queue(key, compute, [a, b, c], c.size, kind).reshape(c.shape)

    def _queue(self, key: Any, compute: Compute, operands: Sequence[Ids], count: int, kind: str) -> Ids:
        """Return the ids of an operation's results, which are computed together with others of its key."""
        batch = self.batch
        if not count:
            return np.zeros(0, np.uint32)
        if batch and (
            batch.key != key or batch.count > _QUEUED or any(int(operand.max()) >= batch.first for operand in operands)
        ):
            self.flush()
            batch = None
        first = self.new(count, CODE[kind])
        if batch is None:
            batch = self.batch = ExactBatch(key, compute, first, [], [[] for _ in operands])
        for home, operand in zip(batch.operands, operands, strict=True):
            home.append(operand)
        if batch.made and batch.made[-1][1] == first:
            batch.made[-1] = batch.made[-1][0], first + count
        else:
            batch.made.append((first, first + count))
        batch.count += count
        return np.arange(first, first + count, dtype=np.uint32)

    def flush(self) -> None:
        """Compute what is queued."""
        batch, self.batch = self.batch, None
        if batch is None:
            return
        with np.errstate(invalid="ignore", over="ignore"):  # of samples: inf - inf, as of masks, is a NaN there too
            computed, history = batch.compute(batch.operands)
        history, start = np.broadcast_to(history, batch.count), 0
        signs = applications.carry_signs(self, batch, history) if self.logged else None
        for first, end in batch.made:
            place, part = slice(first, end), slice(start, start + end - first)
            if signs is not None:
                self.signs[place] = signs[part]
            self.residues[:, place] = computed.residues[:, part]
            self.sample[place] = computed.sample[part]
            self.history[place] = history[part]
            start = part.stop
            if self.infinite and (level := self.marks("level", np.arange(first, end, dtype=np.uint32))).any():
                self.residues[:, place][:, level > 0] = 0

    def exact(self, ids: Ids) -> Exact:
        """Residues and samples of ids."""
        places = ids.astype(np.intp)
        return Exact(self.primes, self.residues.take(places, 1).astype(np.uint64), self.sample.take(places))

    def weights(self, ids: Ids) -> NDArray[np.float64]:
        """Return what numbers that stand for -inf make up of each value."""
        return self.histories.column("weight")[self.history[ids]]

    def marks(self, name: str, ids: Ids) -> NDArray[np.int64]:
        """One of the marks of each value, by its name in a history."""
        return self.histories.column(name)[self.history[ids]].astype(np.int64)

    def _multiply(
        self, parts: Parts, event: int, rounds: bool, bound: Callable[[Sequence[History]], History] | None
    ) -> tuple[Exact, Numbers]:
        """Return a * b + c for stacks of matrices, the residues by products of halves that doubles hold exactly.

        Instructions that follow each other share operands: each array is looked up once.
        """
        a, b, c = map(Stack, parts)
        residues = np.empty((len(self.primes), c.size), np.uint32)
        for row, table, prime in zip(residues, self.residues, map(float, self.primes), strict=True):
            left, right = a.of(table), b.each(b.of(table).astype(np.float64))
            total = a.each((left >> np.uint32(16)).astype(np.float64)) @ right  # below 2^15 * 2^31 * DEPTH
            reduce_in_place(total, prime)
            total *= 65536.0
            total += a.each((left & np.uint32(0xFFFF)).astype(np.float64)) @ right
            total += c.each(c.of(table))
            reduce_in_place(total, prime)
            row[:] = total.ravel()
        sample = a.each(a.of(self.sample)) @ b.each(b.of(self.sample)) + c.each(c.of(self.sample))
        grown = self.histories.multiply((a, b, c), self.history, event, rounds)
        grown = self.histories.combine([grown], bound) if bound is not None else grown
        return Exact(self.primes, residues, sample.ravel()), grown

    def apply(self, name: str, ids: Sequence[Ids], kind: str, opaque: int) -> Ids:
        """Return the ids of a function that isn't a polynomial, of arrays of operands' ids."""
        self.flush()
        flat, both = [operand.ravel() for operand in ids], (CHOSEN, opaque)
        made = apply_with_laws(self, name, flat, kind, both) if self.levels else self.choose(name, flat, kind, opaque)
        return made.reshape(ids[0].shape)

    def choose(self, name: str, flat: Sequence[Ids], kind: str, opaque: int) -> Ids:
        """Return the ids of a function of arguments that are numbers, as `choices` has it."""
        first = self.new(len(flat[0]), CODE[kind])
        place = slice(first, self.top)
        parts = [self.exact(operand) for operand in flat]
        joined = [self.marks("joined", operand) > 0 for operand in flat] if self.choices.joins(name) else []
        made = self.choices(name, [part.residues for part in parts], [part.sample for part in parts], joined)
        self.residues[:, place], self.sample[place] = made
        if name in ("ex2", LAWLESS):
            self.above |= {self.line} if (parts[0].sample > EVEN).any() else set()
            self.units |= {history.unit for history in self.histories.among(self.history[flat[0]]) if not history.cause}
        if (name == "log2" or self.logged) and not joined:
            applications.apply_to_signs(self, name, flat, place, [part.residues for part in parts])

        def unknown(parts: Sequence[History]) -> History:
            self.hashed = widest((self.hashed, *parts)) if self.choices.is_hashed(name) else self.hashed
            made = apply(name, opaque, parts)
            return made._replace(joined=1, logs=logarithms.NONE) if joined else made

        key = name, opaque, bool(joined)
        self.history[place] = self.histories.combine([self.history[operand] for operand in flat], unknown, key)
        return applications.lose_poles(self, name, flat[0], np.arange(first, self.top, dtype=np.uint32))

    def inverse(self, ids: Ids, kind: str) -> Ids:
        """Return the ids of inverses: of a number it is a number, of anything else a function of it."""
        made = applications.invert_numbers(self, ids, CODE[kind])
        return self.apply("rcp", [ids], kind, FREE) if made is None else made

    def equal(self, left: NDArray[Any], right: NDArray[Any]) -> Mask:
        """Return where residues are those of equal values: modulo all primes; of pairs, all p or all q suffice."""
        return self.choices.agree(left, right)
