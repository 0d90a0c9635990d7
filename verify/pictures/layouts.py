# SPDX-License-Identifier: Apache-2.0
"""Pictures of layouts: the offset of each point, its bank, and a swizzle before and after."""

from __future__ import annotations

from collections.abc import Callable

from layouts import ComposedLayout, Layout, Swizzle, leaves, size
from layouts.bank_conflicts import BANKS, WORD
from layouts.tensor import Coordinates
from verify.pictures import points
from verify.pictures.picture import WHOLE, Cell, Panel, Picture, Window, choose_shown, grid


def of_layout(text: str, layout: Layout | ComposedLayout, banks: int = 0, window: Window = WHOLE) -> Picture:
    """Return the picture of a layout as (row, column) -> offset; a swizzled one beside what it is without the swizzle.

    With `banks`, the bits of an element, each cell has the bank of its offset too, and that is its colour.

    >>> from layouts import parse_layout
    >>> picture = of_layout("(2,2):(2,1)", parse_layout("(2,2):(2,1)"))
    >>> [cell.text for cell in picture.panels[0].every()]
    ['0', '1', '2', '3']
    """
    inner = layout
    while isinstance(inner, ComposedLayout):
        inner = inner.layout_b
    unit = _unit(layout)

    def cell(offset: int, at: str) -> Cell:
        if not banks:
            return Cell((str(offset),), offset // unit % 8, about=(f"{at} -> {offset}",))
        number = bank(offset, banks)
        return Cell((str(offset), f"b{number}"), number // 4, about=(f"{at} -> {offset}", f"bank {number} of {BANKS}"))

    shades = "bank / 4" if banks else f"offset / {unit}" if unit > 1 else "offset"
    if inner is layout:
        return Picture(text, (offsets("", str(layout), layout, cell, window=window),), shades=shades)
    before = offsets("before", f"before {inner}", inner, cell, window=window)
    place = (1, 0) if before.whole[1] > before.whole[0] else (0, 1)
    after = offsets("after", f"after {layout}", layout, cell, window=window, place=place)
    return Picture(text, (before, after), shades=shades)


def offsets(
    name: str,
    heading: str,
    layout: Layout | ComposedLayout,
    cell: Callable[[int, str], Cell],
    *,
    window: Window = WHOLE,
    place: tuple[int, int] = (0, 0),
) -> Panel:
    """Return the panel of a layout with the cell of each offset: its first mode down, all others across.

    The index of (row, column) is row + rows * column. Raises LayoutError where the layout has no value.
    """
    inner = layout
    while isinstance(inner, ComposedLayout):
        inner = inner.layout_b
    height = size(inner[0]) if isinstance(inner.shape, tuple) and len(inner.shape) > 1 else 1
    whole = height, size(inner) // height
    rows, columns = choose_shown(whole, window)
    values = points.within(layout, height, rows, columns)
    return grid(
        name, heading, ("row", "column"), whole,
        lambda row, column: cell(values[row, column], f"({row},{column})"),
        window=(rows, columns), place=place,
    )  # fmt: skip


def bank(offset: int, bits: int) -> int:
    """Return the bank of an element of so many bits.

    >>> bank(64, 16), bank(66, 16)
    (0, 1)
    """
    return offset * bits // 8 // WORD % BANKS


def has_coordinates(layout: Layout | ComposedLayout) -> bool:
    """Whether its values are coordinates, not offsets."""
    steps: tuple[object, ...] = leaves(layout.stride) if isinstance(layout, Layout) else ()
    return any(isinstance(step, Coordinates) for step in steps)


def _unit(layout: Layout | ComposedLayout) -> int:
    """Return the elements that a swizzle moves together; 1 without a swizzle."""
    if isinstance(layout, ComposedLayout) and isinstance(layout.layout_a, Swizzle) and layout.layout_a.bits:
        return 1 << layout.layout_a.base
    return 1
