# SPDX-License-Identifier: Apache-2.0
"""The first wrong cells of a picture, as many as the screen of a phone shows in a size that can be read."""

from __future__ import annotations

from dataclasses import replace

from verify.pictures.picture import Panel, Picture
from verify.pictures.svg import Sizes

WIDE = 226.0  # of the columns with the names of their rows: 400 pixels at the scale of pictures, without margins
ROWS = 6


def zoom(picture: Picture) -> tuple[Panel, Picture] | None:
    """Return the window of a panel with the counterexample, else with what is wrong first, and its picture alone.

    None where nothing is wrong. The picture has no heading, so that it is no wider than its cells.

    >>> from verify.pictures.picture import Cell, grid
    >>> tile = grid("C", "C 8x9", ("m", "n"), (8, 9), lambda r, c: Cell(("T10 V10",), r, expected="T0" * (r == c == 7)))
    >>> panel, _ = zoom(Picture("tile", (tile,)))
    >>> panel.window
    'shown: m 2..7 of 0..7, n 4..8 of 0..8'
    """
    wrong = [(panel, *at) for panel in picture.panels if (at := first_wrong(panel))]
    if not wrong:
        return None
    panel, row, column = max(wrong, key=lambda place: place[0].cells[place[1]][place[2]].marked)
    size = Sizes.of_all((panel,))[panel.name]
    part = around(panel, (row, column), ROWS, max(1, int((WIDE - size.left) / size.width)))
    bare = replace(part, heading=panel.name, whole=part.extent, place=(0, 0), captions=())
    return part, replace(picture, panels=(bare,), notes=())


def first_wrong(panel: Panel) -> tuple[int, int] | None:
    """Return the row and column of the counterexample, else of what is wrong first; None where nothing is."""
    wrong = [
        (not cell.marked, row, column)
        for row, cells in enumerate(panel.cells)
        for column, cell in enumerate(cells)
        if cell.marked or cell.fault or cell.expected
    ]
    return min(wrong)[1:] if wrong else None


def around(panel: Panel, at: tuple[int, int] | None, rows: int, columns: int) -> Panel:
    """Return so many rows and columns of a panel, `at` among them with those before it; without `at` the first."""
    parts = []
    for place, extent, count in zip(at or (0, 0), panel.extent, (rows, columns), strict=True):
        first = max(0, min(place - 1, extent - count))
        parts.append(range(first, min(extent, first + count)))
    return panel.crop(*parts)
