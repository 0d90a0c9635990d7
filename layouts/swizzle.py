# SPDX-License-Identifier: Apache-2.0
"""Swizzles: xor one bit field of an index into another. Source: CUTLASS, include/cute/swizzle.hpp."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, overload

from layouts.coords import Index, IndexArray, natural
from layouts.errors import LayoutError

INDEX_BITS = 63  # an index is an int64 of numpy, without its sign


@dataclass(frozen=True, slots=True, repr=False)
class Swizzle:
    """A permutation of the natural numbers that xors a field of ``bits`` bits into another.

    S(x) = x ^ shift_right(x & Y, shift), where Z is the field of ``bits`` bits that is changed, Y the one that
    is read, and |shift| is the distance between them. The lower of the two begins at bit ``base``: it is Z when shift
    >= 0, and Y when shift < 0 (shifting right by a negative number shifts left). S is its own inverse and linear over
    F2.

    >>> S = Swizzle(2, 0, 3)
    >>> S(0b01000), S(0b11001), S(S(25)), str(S)
    (9, 26, 25, 'Sw<2,0,3>')

    Raises LayoutError for negative bits or base, for |shift| < bits (Y and Z would overlap, and S would not be
    its own inverse) and for fields beyond bit 62 (indices have 63 bits).
    """

    bits: int
    base: int
    shift: int

    def __post_init__(self) -> None:
        if not all(type(x) is int for x in (self.bits, self.base, self.shift)):
            raise LayoutError(f"{self} must be made of three ints")
        if self.bits < 0 or self.base < 0:
            raise LayoutError(f"{self} needs bits >= 0 and base >= 0")
        if abs(self.shift) < self.bits:
            raise LayoutError(
                f"{self} needs |shift| >= bits, got {abs(self.shift)} < {self.bits}: "
                "the field read and the field changed overlap"
            )
        if self.bits + self.base + abs(self.shift) > INDEX_BITS:
            raise LayoutError(
                f"{self} needs bits + base + |shift| <= {INDEX_BITS}, got {self.bits + self.base + abs(self.shift)}"
            )

    @property
    def yyy_mask(self) -> int:
        """The bits that are read."""
        return ((1 << self.bits) - 1) << (self.base + max(0, self.shift))

    @property
    def zzz_mask(self) -> int:
        """The bits that are changed."""
        return ((1 << self.bits) - 1) << (self.base + max(0, -self.shift))

    @property
    def period(self) -> int:
        """2^(bits + base + |shift|): S(x + k * period) = S(x) + k * period, and S permutes [0, period)."""
        return 1 << (self.bits + self.base + abs(self.shift))

    @overload
    def __call__(self, index: int) -> int: ...
    @overload
    def __call__(self, index: Index) -> Any: ...
    def __call__(self, index: Index) -> int | IndexArray:
        """Return the index with its Z field xored with its Y field; integer arrays elementwise, in int64.

        Raises LayoutError for negative or non-integer indices.
        """
        x: Any = natural(index, self)
        field = x & self.yyy_mask
        moved: Any = field >> self.shift if self.shift >= 0 else field << -self.shift
        result: int | IndexArray = x ^ moved
        return result

    def __str__(self) -> str:
        return f"Sw<{self.bits},{self.base},{self.shift}>"

    def __repr__(self) -> str:
        return f"Swizzle({self.bits}, {self.base}, {self.shift})"


def make_swizzle(yyy_mask: int, zzz_mask: int) -> Swizzle:
    """Return the swizzle that reads the field ``yyy_mask`` and changes the field ``zzz_mask``.

    >>> make_swizzle(0b11000000, 0b00000110)
    Swizzle(2, 1, 5)

    Raises LayoutError unless the masks are two disjoint runs of ones of the same length, or both 0.
    """
    for mask in (yyy_mask, zzz_mask):
        if mask < 0 or mask & (mask + (mask & -mask)):  # adding the lowest bit clears one run of bits
            raise LayoutError(f"a swizzle needs masks of neighbouring bits, got {mask:#b}")
    if yyy_mask.bit_count() != zzz_mask.bit_count():
        raise LayoutError(f"a swizzle needs masks of one length, got {yyy_mask:#b} and {zzz_mask:#b}")
    if yyy_mask == 0:
        return Swizzle(0, 0, 0)
    low_y, low_z = _trailing_zeros(yyy_mask), _trailing_zeros(zzz_mask)
    return Swizzle(yyy_mask.bit_count(), min(low_y, low_z), low_y - low_z)


def merge_swizzles(a: Swizzle, b: Swizzle) -> Swizzle:
    """Return the swizzle R with R(x) = a(b(x)) for every x.

    >>> merge_swizzles(Swizzle(1, 0, 3), Swizzle(1, 1, 3))
    Swizzle(2, 0, 3)

    Raises LayoutError when no single swizzle is that function: the shifts differ, ``a`` reads what ``b`` has
    changed, or the fields that remain are not runs of neighbouring bits.
    """
    if a.bits == 0 or b.bits == 0:
        return b if a.bits == 0 else a
    if a.shift != b.shift:
        raise LayoutError(f"{a} o {b} isn't a swizzle: shifts {a.shift} and {b.shift} differ")
    if a.yyy_mask & b.zzz_mask:
        raise LayoutError(f"{a} o {b} isn't a swizzle: {a} reads bits {a.yyy_mask & b.zzz_mask:#b}, which {b} changes")
    return make_swizzle(a.yyy_mask ^ b.yyy_mask, a.zzz_mask ^ b.zzz_mask)


def swizzles(bits: int) -> Iterator[Swizzle]:
    """Every swizzle that changes some number of so many bits within them, simplest first: its period is at most 2^bits.

    >>> list(swizzles(2))
    [Swizzle(1, 0, 1), Swizzle(1, 0, -1)]
    """
    for width in range(1, bits // 2 + 1):
        for base in range(bits - 2 * width + 1):
            for distance in range(width, bits - width - base + 1):
                yield Swizzle(width, base, distance)
                yield Swizzle(width, base, -distance)


def _trailing_zeros(mask: int) -> int:
    return (mask & -mask).bit_length() - 1
