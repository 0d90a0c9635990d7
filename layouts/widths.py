# SPDX-License-Identifier: Apache-2.0
"""Layouts in wider or narrower elements. Source: CUTLASS, include/cute/layout.hpp, swizzle_layout.hpp."""

from __future__ import annotations

from math import gcd
from typing import Protocol, TypeVar

from layouts.composed import ComposedLayout
from layouts.errors import LayoutError
from layouts.int_tuple import leaves, nest
from layouts.layout import Layout, trust_layout
from layouts.swizzle import Swizzle

Recastable = TypeVar("Recastable", bound="Layout | Swizzle | ComposedLayout")


def upcast(layout: Recastable, n: int) -> Recastable:
    """Return the layout in words of n elements: the word that has the element.

    R(..., c_i // r_i, ...) = L(..., c_i, ...) // n, where r_i = n / d_i for strides 0 < d_i < n and 1 otherwise.
    For a swizzle: R(x // n) = S(x) // n. For a composed layout: both, and the offset in words.

    >>> print(upcast(Layout((8, 4), (1, 8)), 2), upcast(Swizzle(3, 4, 3), 8))
    (4,4):(1,4) Sw<3,1,3>

    Raises LayoutError when n and a stride do not divide one another, when strides below n are negative or
    together extend beyond a word, when n does not divide an offset, and for a swizzle when n isn't a power of two, or
    when bits inside a word change the bits of the word.
    """
    return _recast(layout, n, _Upcast())


def downcast(layout: Recastable, n: int) -> Recastable:
    """Return the layout with each element split into n parts, which run along the mode of stride 1.

    R(..., n * c_i + p, ...) = n * L(..., c_i, ...) + p for the mode i of stride 1 and all 0 <= p < n.
    For a swizzle: R(n * x + p) = n * S(x) + p. For a composed layout: both, and the offset in parts.

    >>> print(downcast(Layout((8, 4), (1, 8)), 2), downcast(Swizzle(3, 1, 3), 8))
    (16,4):(1,16) Sw<3,4,3>

    Modes of extent 1 count only where no other mode has stride 1: then the first of them is split.

    Raises LayoutError unless the layout has exactly one mode of stride 1 and none of stride -1, and for a swizzle
    when n isn't a power of two.
    """
    return _recast(layout, n, _Downcast())


def recast(layout: Recastable, old_bits: int, new_bits: int) -> Recastable:
    """Return the layout of elements of ``old_bits`` bits, counted in elements of ``new_bits`` bits.

    With new_bits / old_bits = p / q in lowest terms: downcast(upcast(L, p), q).

    >>> print(recast(Layout((8, 4), (1, 8)), 8, 16), recast(Layout((8, 4), (1, 8)), 16, 4))
    (4,4):(1,4) (32,4):(1,32)

    Raises LayoutError for widths below 1, and where upcast and downcast do.
    """
    if old_bits < 1 or new_bits < 1:
        raise LayoutError(f"recast of {layout} from {old_bits} to {new_bits} bits: widths must be at least 1")
    common = gcd(old_bits, new_bits)
    return downcast(upcast(layout, new_bits // common), old_bits // common)


class _Direction(Protocol):
    """Upcast or downcast, by n > 1, of the three parts of a composed layout."""

    def layout(self, layout: Layout, n: int) -> Layout: ...
    def swizzle(self, swizzle: Swizzle, bits: int) -> Swizzle: ...
    def offset(self, offset: int, n: int) -> int: ...


def _recast(function: Recastable, n: int, direction: _Direction) -> Recastable:
    if type(n) is not int or n < 1:
        raise LayoutError(f"{function} cannot be recast by {n!r}: the factor must be an int of at least 1")
    if n == 1:
        return function
    result: Layout | Swizzle | ComposedLayout
    if isinstance(function, Layout):
        result = direction.layout(function, n)
    elif isinstance(function, Swizzle):
        if n.bit_count() != 1:
            raise LayoutError(f"{function} cannot be recast by {n}: the factor must be a power of two")
        result = direction.swizzle(function, n.bit_length() - 1)
    elif isinstance(function.layout_a, Swizzle):
        outer = _recast(function.layout_a, n, direction)
        inner = _recast(function.layout_b, n, direction)
        result = ComposedLayout(outer, direction.offset(function.offset, n), inner)
    else:
        raise LayoutError(f"{function} cannot be recast: its outer function isn't a swizzle")
    return result  # type: ignore[return-value]


class _Upcast:
    def layout(self, layout: Layout, n: int) -> Layout:
        shapes: list[int] = []
        strides: list[int] = []
        last = 0
        for s, d in zip(leaves(layout.shape), leaves(layout.stride), strict=True):
            ratio = 1
            if s > 1 and d % n:
                if d < 0 or n % d:
                    raise LayoutError(f"upcast of {layout} by {n}: neither of {n} and the stride {d} divides the other")
                ratio = n // d
                last += d * (min(s, ratio) - 1)
            shapes.append(-(-s // ratio))
            strides.append(-(-d // n))
        if last >= n:
            raise LayoutError(f"upcast of {layout} by {n}: strides below {n} go to element {last} from a word's first")
        return trust_layout(nest(iter(shapes), layout.shape), nest(iter(strides), layout.shape))

    def swizzle(self, swizzle: Swizzle, bits: int) -> Swizzle:
        base = swizzle.base - bits
        if base >= 0 or swizzle.bits == 0:
            return Swizzle(swizzle.bits, max(base, 0), swizzle.shift)
        if swizzle.shift < 0 and swizzle.period >> bits > 1:
            raise LayoutError(
                f"upcast of {swizzle} by {1 << bits}: it reads bit {swizzle.base}, inside a word, to move words"
            )
        return Swizzle(max(swizzle.bits + base, 0), 0, swizzle.shift)

    def offset(self, offset: int, n: int) -> int:
        if offset % n:
            raise LayoutError(f"upcast of the offset {offset} by {n}: the offset is inside a word")
        return offset // n


class _Downcast:
    def layout(self, layout: Layout, n: int) -> Layout:
        modes = list(zip(leaves(layout.shape), leaves(layout.stride), strict=True))
        units = [i for i, (s, d) in enumerate(modes) if d == 1 and s > 1]
        units = units or [i for i, (_, d) in enumerate(modes) if d == 1][:1]  # extents of 1 are all alike: the first
        backward = sum(d == -1 and s > 1 for s, d in modes)
        if len(units) != 1 or backward:
            raise LayoutError(
                f"downcast of {layout} by {n}: it needs exactly one mode of stride 1 and none of stride -1, "
                f"got {len(units)} and {backward}"
            )
        shapes = [s * n if i == units[0] else s for i, (s, _) in enumerate(modes)]
        strides = [d if i == units[0] else d * n for i, (_, d) in enumerate(modes)]
        return trust_layout(nest(iter(shapes), layout.shape), nest(iter(strides), layout.shape))

    def swizzle(self, swizzle: Swizzle, bits: int) -> Swizzle:
        return Swizzle(swizzle.bits, swizzle.base + bits, swizzle.shift)

    def offset(self, offset: int, n: int) -> int:
        return offset * n
