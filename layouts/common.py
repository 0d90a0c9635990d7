# SPDX-License-Identifier: Apache-2.0
"""Common vectors, alignment, null spaces, distribution of indices. Source: CUTLASS, include/cute/layout.hpp."""

from __future__ import annotations

from math import gcd

from layouts import batched
from layouts.coalesce import coalesce, from_modes, merge
from layouts.composed import ComposedLayout, composition
from layouts.errors import LayoutError
from layouts.int_tuple import Shaped, leaves, shape, size
from layouts.inverse import right_inverse
from layouts.layout import Layout
from layouts.order import compact_col_major
from layouts.swizzle import Swizzle


def max_common_vector(a: Layout, b: Layout) -> int:
    """Return the number of elements, from 0 on, that are contiguous in memory and correspond in both layouts.

    The largest n with A(i_k) = B(i_k) = k for all 0 <= k < n, where i_k = right_inverse(B)(k) is the index at which
    B takes the value k, and i_k < size(A).

    >>> max_common_vector(Layout((8, 4)), Layout((8, 4), (1, 16)))
    8
    """
    inverse = right_inverse(b)
    faults = batched.first_outside(inverse, size(a)), batched.first_not_inverse(a, inverse)
    return min((fault for fault in faults if fault is not None), default=size(inverse))


def max_common_layout(a: Layout, b: Layout) -> Layout:
    """Return the layout of the indices of the longest vector that A and B have in common.

    A(R(k)) = B(R(k)) = k for all 0 <= k < size(R) = max_common_vector(A, B).

    >>> print(max_common_layout(Layout((4, 8), (8, 1)), Layout((4, 8), (16, 1))))
    8:4

    Raises LayoutError when these indices form no layout.
    """
    return coalesce(composition(right_inverse(b), Layout(max_common_vector(a, b))))


def max_alignment(layout: Layout | ComposedLayout) -> int:
    """Return the largest n for which the layout consists of vectors of n elements that begin at multiples of n.

    With C = right_inverse(L), the contiguous part, and W the other modes of L: n is the greatest common divisor of
    size(C) and the strides of W. So L takes the values k*n, ..., k*n + n-1 equally often, for every k. For a
    composed layout S o offset o B with a swizzle S: the gcd of 2^base (if S has bits), the offset and B's n; else 1.

    >>> max_alignment(Layout((8, 4), (1, 20))), max_alignment(Layout(8, 2))
    (4, 1)
    """
    if isinstance(layout, ComposedLayout):
        if not isinstance(layout.layout_a, Swizzle):
            return 1
        unmoved = 1 << layout.layout_a.base if layout.layout_a.bits else 0
        return gcd(unmoved, layout.offset, max_alignment(layout.layout_b))
    modes = list(zip(*merge(leaves(layout.shape), leaves(layout.stride)), strict=True))
    contiguous = 1
    while mode := next((m for m in modes if m[1] == contiguous), None):
        modes.remove(mode)
        contiguous *= mode[0]
    return gcd(contiguous, *(d for _, d in modes))


def nullspace(layout: Layout) -> Layout:
    """Return the layout of the indices that the modes of stride 0 run over.

    L(R(k)) = 0 for all 0 <= k < size(R), R takes each of its values once, and
    size(R) = size(L) / size(filter(L)): with non-negative strides these are the k with L(k) = 0 that repetition
    makes.

    >>> print(nullspace(Layout.parse("(4,2,3):(0,1,0)")))
    (4,3):(1,8)
    """
    flat = leaves(layout.shape)
    modes = [
        (s, d)
        for s, d, stride in zip(flat, leaves(compact_col_major(flat)), leaves(layout.stride), strict=True)
        if stride == 0
    ]
    if all(s == 1 for s, _ in modes):
        return Layout(1, 0)
    return from_modes([s for s, _ in modes], [d for _, d in modes])


def domain_distribute(a: Shaped, b: int) -> Layout:
    """Return the layout of up to b indices of a shape, distributed over its modes so that they tile it.

    Mode by mode from the left, R takes g_i = gcd(a_i, b / (g_0 * ... * g_{i-1})) places of mode i. R is ordered,
    R(k) < R(k + 1), size(R) divides b, and g_i divides a_i: so R divides the shape evenly.

    >>> print(domain_distribute((15, 14), 6))
    (3,2):(1,15)

    Raises LayoutError for b below 1.
    """
    if type(b) is not int or b < 1:
        raise LayoutError(f"domain_distribute over {shape(a)}: the number of indices must be at least 1, got {b!r}")
    extents = leaves(shape(a))
    taken: list[int] = []
    for s in extents:
        taken.append(gcd(s, b))
        b //= taken[-1]
    return coalesce(Layout(tuple(taken), compact_col_major(extents)))
