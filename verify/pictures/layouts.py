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
    unit = _unit(layout)

    def cell(offset: int, at: str) -> Cell:
        if not banks:
            return Cell((str(offset),), offset // unit % 8, about=(f"{at} -> {offset}",))
        one = bank(offset, banks)
        return Cell((str(offset), f"b{one}"), one // 4, about=(f"{at} -> {offset}", f"bank {one} of {BANKS}"))

    shades = "bank / 4" if banks else f"offset / {unit} mod 8" if unit > 1 else "offset mod 8"
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
    window: Window | None = None,
    place: tuple[int, int] = (0, 0),
) -> Panel:
    """The panel of a layout with the cell of each offset: its first mode down, all others across."""
    inner = layout
    while isinstance(inner, ComposedLayout):
        inner = inner.layout_b
    down, across = (every(mode.shape, mode.stride) for mode in _halves(inner))
    return grid(
        name, heading, ("row", "column"), (len(down), len(across)),
        lambda row, column: cell(outside(layout, down[row] + across[column]), f"({row},{column})"),
        window=window, place=place,
    )  # fmt: skip


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
