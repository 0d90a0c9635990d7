# SPDX-License-Identifier: Apache-2.0
"""Right and left inverses. Source: CUTLASS, include/cute/layout.hpp (right_inverse, left_inverse)."""

from __future__ import annotations

from layouts.coalesce import from_modes, merge
from layouts.errors import LayoutError
from layouts.int_tuple import leaves
from layouts.layout import Layout


def right_inverse(layout: Layout) -> Layout:
    """The layout R that finds an index for each of the first values: L(R(k)) = k for all 0 <= k < size(R).

    It follows the modes of L of stride 1, s, s*t, ... as far as they go. When the strides of L are not negative
    and L takes each value once, apart from its stride-0 modes, R is maximal: size(R) is no value of L. Where
    modes overlap, a longer inverse may exist.

    >>> print(right_inverse(Layout.parse("(4,(2,2)):(2,(1,16))")))
    (2,4):(4,1)
    """
    modes: dict[int, tuple[int, int]] = {}
    before = 1
    for s, d in zip(*merge(leaves(layout.shape), leaves(layout.stride)), strict=True):
        if d not in modes or modes[d][0] < s:
            modes[d] = (s, before)
        before *= s
    shapes: list[int] = []
    strides: list[int] = []
    reach = 1
    while mode := modes.get(reach):
        shapes.append(mode[0])
        strides.append(mode[1])
        reach *= mode[0]
    return from_modes(*merge(tuple(shapes), tuple(strides)))


def left_inverse(layout: Layout) -> Layout:
    """The layout R that gives the index back: R(L(k)) = k for all 0 <= k < size(L).

    Sorted by stride, R splits a value by the strides d_0 | d_1 | ... and weighs each digit with what its mode
    counts for in the index. Values between those of L are rounded down to one.

    >>> print(left_inverse(Layout.parse("(4,8):(1,5)")))
    (5,8):(1,4)

    Raises LayoutError when a stride is 0 or negative, when one stride does not divide the next, and when two
    modes overlap, s_i * d_i > d_{i+1}: in the last case and for a stride of 0, L is not injective.
    """
    shapes, strides = merge(leaves(layout.shape), leaves(layout.stride))
    if not shapes:
        return from_modes([], [])
    before = 1
    modes: list[tuple[int, int, int]] = []
    for s, d in zip(shapes, strides, strict=True):
        modes.append((d, s, before))
        before *= s
    modes.sort()
    extents: list[int] = []
    last_stride, last_extent = 1, 1
    for d, s, _ in modes:
        if d < 1 or d % last_stride or d < last_stride * last_extent:
            raise LayoutError(f"left_inverse of {layout}: {_obstacle(d, s, last_stride, last_extent)}")
        extents.append(d // last_stride)
        last_stride, last_extent = d, s
    extents.append(last_extent)
    return from_modes(*merge(tuple(extents), (0, *(weight for _, _, weight in modes))))


def _obstacle(d: int, s: int, last_stride: int, last_extent: int) -> str:
    if d < 1:
        return f"the mode {s}:{d} needs a stride of at least 1"
    if d < last_stride * last_extent:
        return f"the modes {last_extent}:{last_stride} and {s}:{d} overlap, so two indices may have one value"
    return f"the stride {last_stride} does not divide the stride {d}"
