# SPDX-License-Identifier: Apache-2.0
"""Compact strides in a chosen order of the modes. Source: CUTLASS, include/cute/stride.hpp (compact_*)."""

from __future__ import annotations

from layouts.errors import LayoutError
from layouts.int_tuple import IntTuple, leaves, product


def compact_col_major(shape: IntTuple, current: IntTuple = 1) -> IntTuple:
    """Strides with the leftmost mode fastest: d_i = current * s_0 * ... * s_{i-1}; 0 for extents of 1.

    >>> compact_col_major((3, (2, 1), 4))
    (1, (3, 0), 6)

    A tuple ``current`` starts each mode at its own stride; LayoutError when its rank is not the shape's.
    """
    if isinstance(current, tuple):
        return tuple(map(compact_col_major, _modes(shape, current), current))
    return _order_left(shape, current)[0]


def compact_row_major(shape: IntTuple, current: IntTuple = 1) -> IntTuple:
    """Strides with the rightmost mode fastest: d_i = current * s_{i+1} * ... * s_last; 0 for extents of 1.

    >>> compact_row_major((3, (2, 1), 4))
    (8, (4, 0), 1)

    A tuple ``current`` starts each mode at its own stride; LayoutError when its rank is not the shape's.
    """
    if isinstance(current, tuple):
        return tuple(map(compact_row_major, _modes(shape, current), current))
    return _mirror(_order_left(_mirror(shape), current)[0])


def compact_order(shape: IntTuple, order: IntTuple) -> IntTuple:
    """Strides with the modes of ``shape`` ranked by ``order``: the smallest order runs fastest.

    d of a mode = product of the extents of all modes of smaller order; the inner modes of one order are
    column-major. Extents of 1 have stride 0.

    >>> compact_order((2, 3, 4, 5), (2, 0, 3, 1))
    (15, 1, 30, 3)

    Raises LayoutError unless each int of ``order`` is at the place of a part of ``shape``, and the orders of parts
    larger than 1 differ.
    """
    starts: dict[int, int] = {}
    start = 1
    for rank, extent in sorted(zip(leaves(order), _parts(shape, order), strict=True)):
        if starts.get(rank, start) != start:
            raise LayoutError(f"two modes of the shape {shape} have the order {rank}: strides would collide")
        starts.setdefault(rank, start)
        start *= extent
    return _strides(shape, order, starts)


def _strides(shape: IntTuple, order: IntTuple, starts: dict[int, int]) -> IntTuple:
    if isinstance(order, tuple):
        return tuple(_strides(s, o, starts) for s, o in zip(_modes(shape, order), order, strict=True))
    return compact_col_major(shape, starts[order])


def _parts(shape: IntTuple, order: IntTuple) -> tuple[int, ...]:
    """Return the size of the part of ``shape`` at the place of each int of ``order``."""
    if not isinstance(order, tuple):
        return (product(shape),)
    return tuple(x for s, o in zip(_modes(shape, order), order, strict=True) for x in _parts(s, o))


def _modes(shape: IntTuple, guide: tuple[IntTuple, ...]) -> tuple[IntTuple, ...]:
    if not isinstance(shape, tuple) or len(shape) != len(guide):
        raise LayoutError(f"{guide} has {len(guide)} modes, the shape {shape} does not")
    return shape


def _order_left(shape: IntTuple, current: int) -> tuple[IntTuple, int]:
    if not isinstance(shape, tuple):
        return (0, current) if shape == 1 else (current, current * shape)
    strides: list[IntTuple] = []
    for s in shape:
        mode, current = _order_left(s, current)
        strides.append(mode)
    return tuple(strides), current


def _mirror(t: IntTuple) -> IntTuple:
    return tuple(map(_mirror, reversed(t))) if isinstance(t, tuple) else t
