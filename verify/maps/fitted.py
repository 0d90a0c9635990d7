# SPDX-License-Identifier: Apache-2.0
"""The layout that has the numbers of a table, behind one swizzle if need be: all are compared, in plain integers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from layouts import ComposedLayout, Layout, Swizzle, make_layout
from layouts.coalesce import from_modes
from layouts.fit import modes_of
from layouts.swizzle import swizzles
from verify.core.digits import every

Rows = Sequence[Sequence[int]]  # a number for each value of each lane


def layout_of(rows: Rows | Sequence[int]) -> str:
    """Return the layout with the number rows[t][v] at (t, v), or numbers[i] at i, behind one swizzle if need be.

    Empty where there is none.

    >>> layout_of([[0, 1], [3, 2]]), layout_of([0, 2, 1, 3]), layout_of([[0, 1], [3, 3]])
    ('Sw<1,0,1> o 0 o (2,2):(2,1)', '(2,2):(2,1)', '')
    """
    table: Any = [rows] if isinstance(rows[0], int) else rows

    def orient(layout: Layout) -> Layout:
        return layout[1] if table[0] is rows else layout

    if (plain := fit_layout(table)) is not None:
        return str(orient(plain))
    most = max(map(max, table))
    for swizzle in swizzles(most.bit_length()) if min(map(min, table)) >= 0 else ():
        if (inner := fit_layout(table, swizzle)) is not None:
            return str(ComposedLayout(swizzle, 0, orient(inner)))
    return ""


def fit_layout(rows: Rows, swizzle: Swizzle | None = None) -> Layout | None:
    """Return the layout with the number rows[t][v], or what a swizzle makes of it, at (t, v); None for none."""
    first, column = (_swizzle_line(line, swizzle) for line in (rows[0], [row[0] for row in rows]))
    parts = []
    for line in (column, first):
        shape, stride = modes_of(line)
        if every(tuple(shape), tuple(stride)) != line:
            return None
        parts.append(from_modes(shape, stride))
    for row, start in zip(rows, column, strict=True):
        if _swizzle_line(row, swizzle) != [start + number for number in first]:
            return None
    return make_layout(*parts)


def _swizzle_line(line: Sequence[int], swizzle: Swizzle | None) -> list[int]:
    """Return the numbers of a line behind each swizzle: the field that it reads is moved onto the one it changes."""
    if swizzle is None:
        return list(line)
    mask, right, left = swizzle.yyy_mask, max(0, swizzle.shift), max(0, -swizzle.shift)
    return [number ^ ((number & mask) >> right << left) for number in line]
