# SPDX-License-Identifier: Apache-2.0
"""Simplify a layout without changing its function. Source: CUTLASS, include/cute/layout.hpp."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from layouts.errors import LayoutError
from layouts.int_tuple import IntTuple
from layouts.layout import Layout, leaves_of, make_layout, trust_layout


def coalesce(layout: Layout, profile: IntTuple | None = None) -> Layout:
    """Return the flat layout of the fewest modes with the same function on indices.

    R(i) = L(i) for all 0 <= i < size(L), size(R) = size(L), depth(R) <= 1. Extents of 1 are dropped, and neighbours
    (s0,s1):(d, s0*d) become s0*s1:d. Two layouts have the same function exactly when they coalesce alike.
    A tuple ``profile`` coalesces mode by mode at its integers; modes beyond its rank stay.

    >>> print(coalesce(Layout.parse("(2,(1,6)):(1,(6,2))")))
    12:1
    >>> print(coalesce(Layout.parse("(2,(1,6)):(1,(6,2))"), (1, 1)))
    (2,6):(1,2)

    Raises LayoutError when the profile has more modes than the layout.
    """
    return _by_profile(_coalesce, layout, profile)


def filter(layout: Layout, profile: IntTuple | None = None) -> Layout:
    """Return the layout without its stride-0 modes, coalesced: the same image with less repetition.

    A tuple ``profile`` filters mode by mode at its integers; modes beyond its rank stay.

    >>> print(filter(Layout.parse("(2,4,3):(1,0,2)")))
    6:1

    Raises LayoutError when the profile has more modes than the layout.
    """
    return _by_profile(lambda mode: _coalesce(filter_zeros(mode)), layout, profile)


def filter_zeros(layout: Layout, profile: IntTuple | None = None) -> Layout:
    """Return the layout with extent 1 wherever its stride, or else ``profile``, is 0.

    >>> print(filter_zeros(Layout.parse("(2,(4,3)):(1,(0,2))")))
    (2,(1,3)):(1,(0,2))
    >>> print(filter_zeros(Layout.parse("(2,(4,3)):(1,(8,2))"), (1, 0)))
    (2,(1,1)):(1,(8,2))

    Raises LayoutError unless each int of ``profile`` is at the place of a mode or submode of the shape.
    """
    return trust_layout(_ones(layout.stride if profile is None else profile, layout.shape), layout.stride)


def same_function(a: Layout, b: Layout) -> bool:
    """Whether two layouts have the same domain size and the same value at every index.

    Decided on the coalesced forms, which are unique: the first extent is the least k > 0 with L(k) != k*L(1).

    >>> same_function(Layout.parse("(4,2):(1,4)"), Layout.parse("(2,2,2,1):(1,2,4,9)"))
    True
    """
    return _coalesce(a) == _coalesce(b)


def merge(shapes: Sequence[int], strides: Sequence[int]) -> tuple[list[int], list[int]]:
    """Flat modes without extents of 1 and with mergeable neighbours merged; both lists may be empty."""
    out_shapes: list[int] = []
    out_strides: list[int] = []
    extent = stride = 0
    follow = None
    for i, s in enumerate(shapes):
        if s == 1:
            continue
        if strides[i] == follow:
            extent *= s
            out_shapes[-1] = extent
        else:
            extent, stride = s, strides[i]
            out_shapes.append(extent)
            out_strides.append(stride)
        follow = extent * stride
    return out_shapes, out_strides


def from_modes(shapes: list[int], strides: list[int]) -> Layout:
    """Return the layout of the given flat modes: an int for one mode, 1:0 for none."""
    if len(shapes) == 1:
        return trust_layout(shapes[0], strides[0])
    if not shapes:
        return trust_layout(1, 0)
    return trust_layout(tuple(shapes), tuple(strides))


def _coalesce(layout: Layout) -> Layout:
    return from_modes(*merge(*leaves_of(layout)))


def _by_profile(simplify: Callable[[Layout], Layout], layout: Layout, profile: IntTuple | None) -> Layout:
    if not isinstance(profile, tuple):
        return simplify(layout)
    if len(profile) > len(layout):
        raise LayoutError(f"profile {profile} has {len(profile)} modes, the layout {layout} has {len(layout)}")
    modes = list(layout)
    modes[: len(profile)] = [_by_profile(simplify, m, p) for m, p in zip(modes, profile, strict=False)]
    return make_layout(*modes)


def _ones(guide: IntTuple, shape: IntTuple) -> IntTuple:
    if isinstance(guide, tuple):
        if not isinstance(shape, tuple) or len(shape) != len(guide):
            raise LayoutError(f"profile {guide} has {len(guide)} modes, the shape {shape} does not")
        return tuple(map(_ones, guide, shape))
    return _all_ones(shape) if guide == 0 else shape


def _all_ones(shape: IntTuple) -> IntTuple:
    return tuple(map(_all_ones, shape)) if isinstance(shape, tuple) else 1
