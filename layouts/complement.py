# SPDX-License-Identifier: Apache-2.0
"""The complement of a layout. Source: CUTLASS, include/cute/layout.hpp (complement)."""

from __future__ import annotations

from layouts.coalesce import from_modes, merge
from layouts.errors import LayoutError, RejectedError
from layouts.int_tuple import Shaped, size
from layouts.interleaved import below_interleaved
from layouts.layout import Layout, cosize, leaves_of


def complement(layout: Layout, cotarget: Shaped | None = None) -> Layout:
    """Return the layout R that completes L to [0, size(cotarget)); ``cotarget`` defaults to L's cosize.

    With F = filter(L):
    disjoint   F(i) + R(j) takes each of its values once; so R(j) isn't a value of L for j >= 1
    ordered    R(j - 1) < R(j)
    covering   every x in [0, size(cotarget)) is some F(i) + R(j)

    >>> print(complement(Layout(4, 2), 24), complement(Layout((2, 4), (1, 6)), 24))
    (2,3):(1,8) 3:2

    Sorted by stride, with P_0 = 1 and P_{i+1} = s_i * d_i, R has the modes d_i // P_i : P_i and a last one that
    covers the cotarget. Modes that begin at or above the cotarget may interleave, d_i < P_i: then R has the modes
    below the cotarget alone, provided that the values of the others differ by at least the size of the range that R
    fills together with F (layouts.interleaved).

    >>> print(complement(Layout((2, 2), (12, 8)), 4))
    4:1

    Raises LayoutError for a negative stride, when d_i < P_i otherwise (the modes of L overlap), and when P_i does not
    divide d_i and the cotarget lies beyond the hole that this leaves.
    """
    if isinstance(cotarget, int):
        target = cotarget
    else:
        target = cosize(layout) if cotarget is None else size(cotarget)
    if target < 1:
        raise LayoutError(f"complement of {layout}: the cotarget must be at least 1, got {target}")
    shapes, strides, end = gaps(layout, target)
    if end:
        shapes.append(-(-target // end))
        strides.append(end)
    return of_gaps(shapes, strides)


def gaps(layout: Layout, target: int) -> tuple[list[int], list[int], int]:
    """Extents and strides of the modes between those of L, and where the last one ends: what is beyond has no gaps.

    Where modes interleave, the modes of the whole complement in [0, target), and 0.

    >>> gaps(Layout((2, 4), (3, 12)), 24), gaps(Layout((2, 2), (12, 8)), 4)
    (([3, 2], [1, 6], 48), ([4], [1], 0))

    Raises LayoutError where complement does.
    """
    shapes: list[int] = []
    strides: list[int] = []
    end = 1
    hole: tuple[int, int, int] | None = None
    extents, steps = leaves_of(layout)
    modes = list(zip(steps, extents, strict=True))
    if len(modes) > 1:
        modes.sort()
    for d, s in modes:
        if s == 1 or d == 0:
            continue
        if d < end:
            if (beside := below_interleaved(modes, target)) is not None:
                return *beside, 0
            if d < 0:
                raise RejectedError("complement of {}: the mode {}:{} has a negative stride", layout, s, d)
            raise RejectedError(
                "complement of {}: the mode {}:{} has overlapping modes: the smaller strides fill [0, {})",
                layout, s, d, end,
            )  # fmt: skip
        gap, rest = d // end, d % end
        if rest and hole is None:
            hole = (gap * end, end, d)
        shapes.append(gap)
        strides.append(end)
        end = s * d
    if hole is not None and hole[0] < target:
        raise RejectedError(
            "complement of {} in [0, {}): {} does not divide the stride {}, so {} cannot be covered",
            layout, target, hole[1], hole[2], hole[0],
        )  # fmt: skip
    return shapes, strides, end


def of_gaps(shapes: list[int], strides: list[int]) -> Layout:
    """Return the layout of gaps, no two of which merge; those of extent 1 are dropped."""
    return from_modes(*merge(shapes, strides)) if 1 in shapes else from_modes(shapes, strides)
