# SPDX-License-Identifier: Apache-2.0
"""Operations on the modes of a layout: group, select, replace, append. Source: CUTLASS, include/cute/layout.hpp."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from layouts.errors import LayoutError
from layouts.int_tuple import IntTuple, leaves, wrap
from layouts.int_tuple import unflatten as nest_like
from layouts.layout import Layout, trust_layout
from layouts.order import compact_order

UNIT = Layout(1, 0)
Modes = tuple[IntTuple, ...]


def flatten(layout: Layout) -> Layout:
    """Return the layout with all inner parentheses removed; an unnested layout is unchanged.

    >>> print(flatten(Layout.parse("((2,3),4):((1,2),6)")))
    (2,3,4):(1,2,6)
    """
    if not isinstance(layout.shape, tuple):
        return layout
    return trust_layout(leaves(layout.shape), leaves(layout.stride))


def unflatten(layout: Layout, profile: IntTuple) -> Layout:
    """Return the modes of a flat layout in the nesting of ``profile``.

    >>> print(unflatten(Layout.parse("(2,3,4):(1,2,6)"), ((0, 0), 0)))
    ((2,3),4):((1,2),6)

    Raises ProfileError when the layout is not flat or the profile has another number of integers.
    """
    return Layout(nest_like(wrap(layout.shape), profile), nest_like(wrap(layout.stride), profile))


def group(layout: Layout, begin: int, end: int) -> Layout:
    """Return the layout with its modes begin .. end-1 grouped into one mode; unchanged when begin = end.

    >>> print(group(Layout.parse("(2,3,5):(1,2,6)"), 0, 2))
    ((2,3),5):((1,2),6)

    Raises LayoutError unless 0 <= begin <= end <= rank.
    """
    _check_range(layout, begin, end)
    if begin == end:
        return layout
    return _map(lambda m: (*m[:begin], m[begin:end], *m[end:]), layout)


def take(layout: Layout, begin: int, end: int) -> Layout:
    """Return the modes begin .. end-1, as a tuple even when there is only one.

    >>> print(take(Layout.parse("(2,3,5):(1,2,6)"), 1, 3))
    (3,5):(2,6)

    Raises LayoutError unless 0 <= begin < end <= rank.
    """
    _check_range(layout, begin, end)
    if begin == end:
        raise LayoutError(f"take needs at least one mode, got {begin} .. {end}")
    return _map(lambda m: m[begin:end], layout)


def select(layout: Layout, modes: Sequence[int]) -> Layout:
    """Return the given modes in the given order, as a tuple even when there is only one.

    >>> print(select(Layout.parse("(2,3,5):(1,2,6)"), (2, 0)))
    (5,2):(6,1)

    Raises LayoutError for a mode outside 0 .. rank-1.
    """
    for mode in modes:
        _check_mode(layout, mode)
    return _map(lambda m: tuple(m[i] for i in modes), layout)


def replace(layout: Layout, mode: int, x: Layout) -> Layout:
    """Return the layout with ``x`` in place of mode ``mode``.

    >>> print(replace(Layout.parse("(2,3):(1,2)"), 1, Layout((4, 5), (8, 2))))
    (2,(4,5)):(1,(8,2))

    Raises LayoutError for a mode outside 0 .. rank-1.
    """
    _check_mode(layout, mode)
    if not isinstance(layout.shape, tuple):
        return x
    return _map(lambda m, y: (*m[:mode], y, *m[mode + 1 :]), layout, x)


def append(layout: Layout, x: Layout = UNIT, up_to_rank: int | None = None) -> Layout:
    """Return the layout with ``x`` as one more mode at the right, or as often as makes its rank ``up_to_rank``.

    >>> print(append(Layout(8, 2), Layout(3, 1)), append(Layout(8, 2), up_to_rank=3))
    (8,3):(2,1) (8,1,1):(2,0,0)

    Raises LayoutError when the layout already has more modes than ``up_to_rank``.
    """
    times = _times(layout, up_to_rank)
    return _map(lambda m, y: (*m, *(y,) * times), layout, x) if times else layout


def prepend(layout: Layout, x: Layout = UNIT, up_to_rank: int | None = None) -> Layout:
    """Return the layout with ``x`` as one more mode at the left, or as often as makes its rank ``up_to_rank``.

    >>> print(prepend(Layout(8, 2), Layout(3, 1)))
    (3,8):(1,2)

    Raises LayoutError when the layout already has more modes than ``up_to_rank``.
    """
    times = _times(layout, up_to_rank)
    return _map(lambda m, y: (*(y,) * times, *m), layout, x) if times else layout


def make_ordered_layout(shape: IntTuple, order: IntTuple) -> Layout:
    """Return the compact layout whose modes run in the given order: the smallest order fastest.

    >>> print(make_ordered_layout((2, 2, 2, 2), (0, 2, 3, 1)))
    (2,2,2,2):(1,4,8,2)

    Raises LayoutError when ``order`` does not fit the shape or repeats itself.
    """
    return Layout(shape, compact_order(shape, order))


def make_layout_like(layout: Layout) -> Layout:
    """Return the compact layout of the same shape with its modes in the order of the strides; strides of 0 remain 0.

    >>> print(make_layout_like(Layout.parse("(2,3,4,5):(0,42,1,0)")))
    (2,3,4,5):(0,4,1,0)

    Raises LayoutError when two modes have the same stride: then their order is not given.
    """
    extents = tuple(1 if d == 0 else s for s, d in zip(leaves(layout.shape), leaves(layout.stride), strict=True))
    return trust_layout(layout.shape, compact_order(nest_like(extents, layout.shape), layout.stride))


def _map(change: Callable[..., Modes], *layouts: Layout) -> Layout:
    """Return the first layout with one change applied to the tuple of its shape's modes and to that of its strides."""
    first, *rest = layouts
    return trust_layout(
        change(wrap(first.shape), *(x.shape for x in rest)),
        change(wrap(first.stride), *(x.stride for x in rest)),
    )


def _times(layout: Layout, up_to_rank: int | None) -> int:
    if up_to_rank is None:
        return 1
    if up_to_rank < len(layout):
        raise LayoutError(f"{layout} has {len(layout)} modes, more than the {up_to_rank} asked for")
    return up_to_rank - len(layout)


def _check_mode(layout: Layout, mode: int) -> None:
    if not 0 <= mode < len(layout):
        raise LayoutError(f"{layout} has the modes 0 .. {len(layout) - 1}, not {mode}")


def _check_range(layout: Layout, begin: int, end: int) -> None:
    if not 0 <= begin <= end <= len(layout):
        raise LayoutError(f"{layout} has {len(layout)} modes, {begin} .. {end} isn't a range of them")
