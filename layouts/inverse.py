# SPDX-License-Identifier: Apache-2.0
"""Right and left inverses. Source: CUTLASS, include/cute/layout.hpp (right_inverse, left_inverse)."""

from __future__ import annotations

from layouts.coalesce import from_modes, merge
from layouts.errors import LayoutError
from layouts.layout import Layout, leaves_of


def right_inverse(layout: Layout) -> Layout:
    """Return the layout R of indices at which L takes the values 0, 1, ...: L(R(k)) = k for all 0 <= k < size(R).

    R chains modes s:1, t:s, u:s*t, ... of the coalesced L, the longest such chain. When the strides of L are not
    negative and L takes each value once, except by its stride-0 modes, R is maximal: size(R) isn't a value of L.
    Where modes overlap, an inverse that uses parts of modes may be longer.

    >>> print(right_inverse(Layout.parse("(4,(2,2)):(2,(1,16))")))
    (2,4):(4,1)
    """
    chains = _longest_chains(*merge(*leaves_of(layout)))
    shapes: list[int] = []
    strides: list[int] = []
    reach = 1
    while reach in chains:
        _, s, before = chains[reach]
        shapes.append(s)
        strides.append(before)
        reach *= s
    return from_modes(*merge(shapes, strides))


def _longest_chains(shapes: list[int], strides: list[int]) -> dict[int, tuple[int, int, int]]:
    """By stride d: the end of the longest chain d, s*d, s*t*d, ... of modes, and its first mode's s and weight."""
    modes: list[tuple[int, int, int]] = []
    before = 1
    for s, d in zip(shapes, strides, strict=True):
        if d > 0:
            modes.append((-d, before, s))
        before *= s
    modes.sort()
    chains: dict[int, tuple[int, int, int]] = {}
    for negative, before, s in modes:
        d = -negative
        end = s * d
        if end in chains:
            end = chains[end][0]
        if d not in chains or chains[d][0] < end:
            chains[d] = (end, s, before)
    return chains


def left_inverse(layout: Layout) -> Layout:
    """Return the layout R that gives the index back: R(L(k)) = k for all 0 <= k < size(L).

    R splits a value into digits by the sorted strides d_0 | d_1 | ..., and multiplies each digit by the weight of its
    mode in the index. A value between two of L's is rounded down to one of them.

    >>> print(left_inverse(Layout.parse("(4,8):(1,5)")))
    (5,8):(1,4)

    Raises LayoutError when a stride is 0 or negative, when one stride does not divide the next, and when two
    modes overlap, s_i * d_i > d_{i+1}: in the last case and for a stride of 0, L is not injective.
    """
    shapes, strides = merge(*leaves_of(layout))
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
