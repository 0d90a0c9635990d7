# SPDX-License-Identifier: Apache-2.0
"""Pictures of layouts: the offset of each point, its bank, and a swizzle before and after."""

from __future__ import annotations

from collections.abc import Callable

from layouts import ComposedLayout, Layout, Swizzle, leaves
from layouts.bank_conflicts import BANKS, WORD
from layouts.layout import trusted
from layouts.tensor import Coordinates
from verify.core.digits import every
from verify.maps.of_layout import outside
from verify.pictures.picture import Cell, Panel, Picture, grid

Window = tuple[range, range]


def of_layout(text: str, layout: Layout | ComposedLayout, banks: int = 0, window: Window | None = None) -> Picture:
    """The picture of a layout as (row, column) -> offset; a swizzled one beside what it is without the swizzle.

    With `banks`, the bits of an element, each cell has the bank of its offset too, and that is its colour.

    >>> from layouts import parse_layout
    >>> picture = of_layout("(2,2):(2,1)", parse_layout("(2,2):(2,1)"))
    >>> [cell.text for cell in picture.panels[0].every()]
    ['0', '1', '2', '3']
    """
    inner = layout
    while isinstance(inner, ComposedLayout):
        inner = inner.layout_b
    rows, columns = _halves(inner)
    unit = _unit(layout)
    colour: Callable[[int], int] = (lambda offset: bank(offset, banks)) if banks else (lambda offset: offset // unit)

    def panel(name: str, shown: Layout | ComposedLayout, column: int) -> Panel:
        down, across = every(rows.shape, rows.stride), every(columns.shape, columns.stride)

        def at(r: int, c: int) -> Cell:
            offset = outside(shown, down[r] + across[c])
            lines = (str(offset), f"b{bank(offset, banks)}") if banks else (str(offset),)
            where = f"bank {bank(offset, banks)} of {BANKS}" if banks else ""
            return Cell(lines, colour(offset) % 8, about=tuple(filter(None, (f"({r},{c}) -> {offset}", where))))

        return grid(name, f"{name} {shown}".strip(), ("row", "column"), (len(down), len(across)), at,
                    window=window, place=(0, column))  # fmt: skip

    shades = "bank" if banks else f"offset / {unit}" if unit > 1 else "offset"
    if inner is layout:
        return Picture(text, (panel("", layout, 0),), shades=f"{shades} mod 8")
    return Picture(text, (panel("before", inner, 0), panel("after", layout, 1)), shades=f"{shades} mod 8")


def bank(offset: int, bits: int) -> int:
    """The bank of an element of so many bits.

    >>> bank(64, 16), bank(66, 16)
    (0, 1)
    """
    return offset * bits // 8 // WORD % BANKS


def has_coordinates(layout: Layout | ComposedLayout) -> bool:
    """Whether its values are coordinates, not offsets."""
    steps: tuple[object, ...] = leaves(layout.stride) if isinstance(layout, Layout) else ()
    return any(isinstance(step, Coordinates) for step in steps)


def _halves(layout: Layout) -> tuple[Layout, Layout]:
    """The rows and the columns: the first mode, and all others as one; of rank 1 a single row."""
    if not isinstance(layout.shape, tuple) or len(layout.shape) < 2:
        return Layout(1, 0), layout
    first, *others = layout
    if len(others) == 1:
        return first, others[0]
    return first, trusted(tuple(mode.shape for mode in others), tuple(mode.stride for mode in others))


def _unit(layout: Layout | ComposedLayout) -> int:
    """The elements that a swizzle moves together; 1 without a swizzle."""
    if isinstance(layout, ComposedLayout) and isinstance(layout.layout_a, Swizzle) and layout.layout_a.bits:
        return 1 << layout.layout_a.base
    return 1
