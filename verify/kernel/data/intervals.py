# SPDX-License-Identifier: Apache-2.0
"""Which numbers data may be: an interval modulo 2^width, and the bits that may be one.

A value x of `width` bits lies in `Interval(start, extent, mask)` if (x - start) mod 2^width <= extent and x has no one
outside of `mask`. The interval may wrap, so it holds unsigned and signed numbers alike: {-1, 0, 1} is start = -1,
extent = 2. Every function here returns an interval with all numbers that its operation can give, in plain integers.

>>> ANY = of_mask(0xFFFFFFFF)
>>> bitwise("and", ANY, of_number(252), 32)
Interval(start=0, extent=252, mask=252)
>>> clamp("min", clamp("max", ANY, of_number(0), "s32"), of_number(99), "s32")
Interval(start=0, extent=99, mask=127)
"""

from __future__ import annotations

from typing import Any, NamedTuple

from isa_tables.formula import BinaryOperation, Constant, Identifier, Tree, evaluate


class Interval(NamedTuple):
    """Numbers from `start`, modulo 2^width, to `start + extent`, without ones outside of `mask`."""

    start: int
    extent: int
    mask: int


class Reach(NamedTuple):
    """Integers from `low` to `high` that 2^zeros divides, while a formula is computed without a modulus."""

    low: int
    high: int
    zeros: int

    def __add__(self, other: Any) -> Reach:
        right = _reach(other)
        return Reach(self.low + right.low, self.high + right.high, min(self.zeros, right.zeros))

    def __sub__(self, other: Any) -> Reach:
        right = _reach(other)
        return Reach(self.low - right.high, self.high - right.low, min(self.zeros, right.zeros))

    def __rsub__(self, other: Any) -> Reach:
        return _reach(other) - self

    def __mul__(self, other: Any) -> Reach:
        right = _reach(other)
        ends = [x * y for x in (self.low, self.high) for y in (right.low, right.high)]
        return Reach(min(ends), max(ends), min(self.zeros + right.zeros, 64))

    def __radd__(self, other: Any) -> Reach:
        return _reach(other) + self

    def __rmul__(self, other: Any) -> Reach:
        return _reach(other) * self

    def __rshift__(self, count: int) -> Reach:
        return Reach(self.low >> count, self.high >> count, max(self.zeros - count, 0))


def _reach(number: Any) -> Reach:
    return number if isinstance(number, Reach) else Reach(int(number), int(number), zeros_of(int(number)))


def fill_ones(width: int) -> int:
    """Return the number of `width` ones."""
    return (1 << width) - 1


def zeros_of(number: int) -> int:
    """Return by which power of two a number can be divided, 64 at most."""
    return min((number & -number).bit_length() - 1, 64) if number else 64


def of_number(number: int) -> Interval:
    """Return the interval of one number."""
    return Interval(number, 0, number)


def of_mask(mask: int) -> Interval:
    """Return the interval of all numbers whose ones lie in a mask."""
    return Interval(0, mask, mask)


def settle(start: int, extent: int, mask: int, width: int) -> Interval:
    """Return the interval of these numbers modulo 2^width, the mask and the ends each cut by the other.

    >>> settle(-4, 3, 0xFF, 8), settle(16, 4, ~3, 8)
    (Interval(start=252, extent=3, mask=255), Interval(start=16, extent=4, mask=28))
    """
    full = fill_ones(width)
    mask &= full
    if not mask:
        return of_number(0)
    if extent >= full:
        return of_mask(mask)
    start &= full
    if not extent:
        return of_number(start)
    if start + extent <= full:
        mask &= fill_ones((start + extent).bit_length())
    return Interval(start, extent, mask) if extent < mask else of_mask(mask)


def of_reach(made: Reach, width: int) -> Interval:
    """Return the integers of a formula's result modulo 2^width."""
    return settle(made.low, made.high - made.low, ~fill_ones(made.zeros), width)


def number_range(interval: Interval, kind: str, width: int) -> tuple[int, int]:
    """Return the least and the greatest number of an interval of `width` bits, signed if `kind` is.

    >>> number_range(settle(-4, 8, 0xFF, 8), "s8", 8), number_range(settle(-4, 8, 0xFF, 8), "u8", 8)
    ((-4, 4), (0, 255))
    """
    half = 1 << (width - 1) if kind[0] == "s" else 0
    first = (interval.start + half) & fill_ones(width)
    if first + interval.extent <= fill_ones(width):
        return first - half, first + interval.extent - half
    return -half, fill_ones(width) - half


def hull(left: Interval, right: Interval, width: int) -> Interval:
    """Return an interval with the numbers of two."""
    full, mask = fill_ones(width), left.mask | right.mask
    ends = []
    for first, second in ((left, right), (right, left)):
        gap = (second.start - first.start) & full
        ends.append((max(first.extent, gap + second.extent), first.start))
    extent, start = min(ends)
    return settle(start, extent, mask, width)


def is_polynomial(tree: Tree) -> bool:
    """Return whether a formula is made of sums, differences and products, and shifts to the right by a constant."""
    if isinstance(tree, BinaryOperation):
        shift = tree.op == ">>" and isinstance(tree.right, Constant)
        return (tree.op in ("+", "-", "*") or shift) and is_polynomial(tree.left) and is_polynomial(tree.right)
    return isinstance(tree, Identifier | Constant)


def is_ring(tree: Tree) -> bool:
    """Return whether a formula is made of sums, differences and products: it may be computed modulo 2^width."""
    if isinstance(tree, BinaryOperation):
        return tree.op in ("+", "-", "*") and is_ring(tree.left) and is_ring(tree.right)
    return isinstance(tree, Identifier | Constant)


def compute(tree: Tree, named: dict[str, Reach], width: int) -> Interval:
    """Return the numbers of a formula that `is_polynomial`."""
    reach: Reach = _reach(evaluate(tree, named))
    return of_reach(reach, width)


def bitwise(head: str, a: Interval, b: Interval, width: int) -> Interval:
    """Return a & b, a | b or a ^ b; of two that share no bit the last two are a sum."""
    if head == "and":
        return settle(0, fill_ones(width), a.mask & b.mask, width)
    if not a.mask & b.mask:
        return settle(a.start + b.start, a.extent + b.extent, a.mask | b.mask, width)
    return settle(0, fill_ones(width), a.mask | b.mask, width)


def insert(new: Interval, old: Interval, at: int, count: int, width: int) -> Interval:
    """Return `old` with the lowest `count` bits of `new` in the place of its own from bit `at` on.

    >>> insert(of_number(3), of_mask(31), 5, 27, 32)
    Interval(start=96, extent=31, mask=127)
    """
    field = fill_ones(min(count, max(width - at, 0))) << at
    if old.extent:
        kept = old if not old.mask & field else of_mask(old.mask & ~field)
    else:
        kept = of_number(old.start & ~field)
    if new.extent:
        whole = new.mask <= fill_ones(count) and not (new.mask << at) & ~field
        moved = shift(new, at, True, f"u{width}", width) if whole else of_mask((new.mask << at) & field)
    else:
        moved = of_number((new.start << at) & field)
    return bitwise("or", kept, moved, width)


def clamp(head: str, a: Interval, b: Interval, kind: str) -> Interval:
    """Return min(a, b) or max(a, b) of numbers of a type."""
    width, choose = int(kind[1:]), min if head == "min" else max
    (low, high), (least, most) = (number_range(each, kind, width) for each in (a, b))
    low, high = choose(low, least), choose(high, most)
    return settle(low, high - low, a.mask | b.mask, width)


def absolute(a: Interval, kind: str) -> Interval:
    """Return |a| of signed numbers; of the least one it is itself."""
    width = int(kind[1:])
    low, high = number_range(a, kind, width)
    least = 0 if low <= 0 <= high else min(abs(low), abs(high))
    return settle(least, max(abs(low), abs(high)) - least, ~fill_ones(zeros_of(a.mask)), width)


def shift(a: Interval, count: int, left: bool, kind: str, width: int) -> Interval:
    """Return a << count or a >> count; a shift by `width` or more leaves zeros, or signs."""
    low, high = number_range(a, kind, width)
    if left:
        if count >= width:
            return of_number(0)
        return settle(low << count, (high - low) << count, a.mask << count, width)
    count = min(count, width)
    mask = a.mask >> count if low >= 0 else ~fill_ones(max(zeros_of(a.mask) - count, 0))
    return settle(low >> count, (high >> count) - (low >> count), mask, width)


def divide(a: Interval, by: int, kind: str, rest: bool) -> Interval:
    """Return a / by rounded toward zero, or what remains, for a positive number `by`."""
    width = int(kind[1:])
    low, high = number_range(a, kind, width)
    if not rest:
        low, high = (end // by if end >= 0 else -(-end // by) for end in (low, high))
    elif low >= 0 and high < by:
        return a
    else:
        low, high = (0 if low >= 0 else -min(by - 1, -low)), max(0, min(by - 1, high))
    return settle(low, high - low, fill_ones(width), width)


def compare(relation: str, a: Interval, b: Interval, kind: str) -> bool | None:
    """Return what a comparison of numbers of a type says of all of them; None if it depends.

    >>> compare("lt", of_mask(255), of_number(256), "u32"), compare("eq", of_mask(255), of_number(7), "b32")
    (True, None)
    """
    width = int(kind[1:])
    (low, high), (least, most) = (number_range(each, kind, width) for each in (a, b))
    if relation in ("eq", "ne"):
        known = [(single.start, partner.mask) for single, partner in ((a, b), (b, a)) if not single.extent]
        apart = low > most or high < least or any(number & ~mask for number, mask in known)
        return (relation == "ne") if apart else None
    if relation in ("gt", "ge"):
        relation, (low, high), (least, most) = {"gt": "lt", "ge": "le"}[relation], (least, most), (low, high)
    if relation == "lt":
        return True if high < least else False if low >= most else None
    return True if high <= least else False if low > most else None
