# SPDX-License-Identifier: Apache-2.0
"""Inverses of layouts, composed ones too. Source: CUTLASS, include/cute/layout_composed.hpp, swizzle_layout.hpp.

A swizzle S is its own inverse, so the inverses of S o B are B' o S with an inverse B' of B. CuTe forms them without
asking whether S leaves the domain of B'. If it does, the result isn't an inverse, so here it's an error.
"""

from __future__ import annotations

from typing import TypeVar

from layouts import inverse
from layouts.composed import ComposedLayout, Inner, composition
from layouts.errors import LayoutError
from layouts.int_tuple import size
from layouts.layout import Layout, cosize
from layouts.swizzle import Swizzle

L = TypeVar("L", Layout, ComposedLayout, Inner)


def right_inverse(layout: L) -> L:
    """Return the layout R of indices at which L takes the values 0, 1, ...: L(R(k)) = k for all 0 <= k < size(R).

    For a layout see layouts.inverse. For a composed layout A o B it is the right inverse of B after that of A.

    >>> print(right_inverse(Layout.parse("(4,(2,2)):(2,(1,16))")))
    (2,4):(4,1)
    >>> print(right_inverse(composition(Swizzle(3, 3, 3), Layout((8, 64), (64, 1)))))
    Sw<3,0,-6> o 0 o (64,8):(8,1)

    Raises LayoutError for an offset, and where A maps some k < size(R) to a value that B doesn't have.
    """
    return inverse.right_inverse(layout) if isinstance(layout, Layout) else _right(layout)  # type: ignore[return-value]


def left_inverse(layout: L) -> L:
    """Return the layout R that gives the index back: R(L(k)) = k for all 0 <= k < size(L).

    For a layout see layouts.inverse. For a composed layout A o B it is the left inverse of B after that of A.

    >>> print(left_inverse(Layout.parse("(4,8):(1,5)")))
    (5,8):(1,4)
    >>> print(left_inverse(composition(Swizzle(2, 0, 2), Layout((4, 4), (4, 1)))))
    (4,4):(4,1) o 0 o Sw<2,0,2> o 0 o (4,4):(1,4)

    Raises LayoutError for an offset, where layouts.inverse does, and where B takes values outside the domain of A.
    """
    return inverse.left_inverse(layout) if isinstance(layout, Layout) else _invert_left(layout)  # type: ignore[return-value]


def _right(layout: ComposedLayout) -> Inner:
    outer, inner = _parts(layout, "right_inverse")
    back: Inner = right_inverse(inner)
    if isinstance(outer, Swizzle):
        if (last := _largest(outer, size(back))) >= size(back):
            problem = f"{outer} takes a value below {size(back)} to {last}, and {inner} has only the values below"
            raise LayoutError(f"right_inverse of {layout}: {problem} {size(back)}; use a multiple of {outer.period}")
        return composition(back, outer)
    first = inverse.right_inverse(outer)
    if cosize(first) > size(back):
        problem = f"{outer} is inverted by {first}, whose values go beyond the {size(back)} that {inner} has"
        raise LayoutError(f"right_inverse of {layout}: {problem}")
    return composition(back, first)


def _invert_left(layout: ComposedLayout) -> Inner:
    outer, inner = _parts(layout, "left_inverse")
    back: Inner = left_inverse(inner)
    if isinstance(outer, Swizzle):
        # CuTe moves the swizzle to the left of `back` where it can. That is right for indices below size(back) only,
        # and the values of the layout may lie beyond.
        return ComposedLayout(back, 0, ComposedLayout(outer, 0, Layout(back.shape)))
    if (stop := _stop(inner)) > size(outer):
        problem = f"{inner} may go up to {stop - 1}, {outer} has only the indices below {size(outer)}"
        raise LayoutError(f"left_inverse of {layout}: {problem}")
    return ComposedLayout(back, 0, inverse.left_inverse(outer))


def _parts(layout: ComposedLayout, name: str) -> tuple[Swizzle | Layout, Inner]:
    """Return A and B of a composed layout A o B, where A is not composed itself. Raises LayoutError for an offset."""
    outer, inner = layout.layout_a, layout.layout_b
    if layout.offset:
        problem = f"the offset {layout.offset} isn't an index of the inverse"
        without = ComposedLayout(outer, 0, inner)
        raise LayoutError(f"{name} of {layout}: {problem}; invert {without}, and count indices from there")
    if isinstance(outer, ComposedLayout):
        return _parts(ComposedLayout(outer.layout_a, outer.offset, ComposedLayout(outer.layout_b, 0, inner)), name)
    return outer, inner


def _stop(layout: Inner) -> int:
    """Return a bound that the values of a layout stay below."""
    if isinstance(layout, Layout):
        return cosize(layout)
    outer, stop = layout.layout_a, layout.offset + _stop(layout.layout_b)
    if isinstance(outer, Swizzle):
        return _largest(outer, stop) + 1
    raise LayoutError(f"left_inverse: what values {layout} has is not known without evaluating it")


def _largest(swizzle: Swizzle, stop: int) -> int:
    """Return max S(x) over 0 <= x < stop.

    [0, stop) is a union of blocks [p, p + 2^q) with 2^q dividing p. S is linear over F2, so S(p + x) is S(p) ^ S(x),
    and the largest value in a block follows from a basis of S(1), S(2), ..., S(2^(q-1)), as in Gauss' elimination.

    >>> _largest(Swizzle(2, 0, 2), 5), max(map(Swizzle(2, 0, 2), range(5)))
    (5, 5)
    """
    largest = 0
    basis: dict[int, int] = {}  # by the length of each vector in bits
    for bit in range(stop.bit_length()):
        if stop >> bit & 1:
            value = swizzle(stop >> bit + 1 << bit + 1)
            for length in sorted(basis, reverse=True):
                value = max(value, value ^ basis[length])
            largest = max(largest, value)
        vector = swizzle(1 << bit)
        while vector and vector.bit_length() in basis:
            vector ^= basis[vector.bit_length()]
        if vector:
            basis[vector.bit_length()] = vector
    return largest
