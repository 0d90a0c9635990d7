# SPDX-License-Identifier: Apache-2.0
"""The two pictures of a refuted statement: what the document says, and what is right."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tests.ledger.ledger import Claim
from tests.ledger.tables import DOCUMENT, DRAWN, LANES, RIGHT, ROWS, Sketch, list_offsets
from verify.pictures.picture import Cell, Picture, grid

TABLES = ("rows", "cells", "elements", "are", "layout")  # inputs that are tables


def pictures(claim: Claim) -> tuple[Picture, ...]:
    """Return both pictures, the differences marked in the first; one, or none, of a statement that has a reason."""
    key = next((table for table in TABLES if [*claim.correct] == [table]), None)
    if key is not None:
        said, right = (_table(key, inputs) for inputs in (claim.given, claim.right))
        sketches: tuple[Sketch, ...] = (Sketch(DOCUMENT, said), Sketch(RIGHT, right))
    else:
        sketches = DRAWN[claim.kind](claim) if claim.kind in DRAWN else ()
    return tuple(_picture(sketch, sketches[-1]) for sketch in sketches)


def _table(key: str, inputs: Mapping[str, Any]) -> list[list[str]]:
    """Return the cells of an input, row by row."""
    value = inputs[key]
    if key == "layout":
        return list_offsets(value)
    if key == "cells":
        return [value.split()]
    if key == "elements":
        return [[",".join(map(str, element)) for element in value]]
    rows = [value] if key == "are" else value
    return [row.split() if isinstance(row, str) else [str(cell) for cell in row] for row in rows]


def _picture(sketch: Sketch, right: Sketch) -> Picture:
    """Return the picture of a table, where it differs from the right one with what is right."""
    rows = max(len(sketch.rows), len(right.rows))
    width = max(len(row) for side in (sketch, right) for row in side.rows)

    def at(row: int, column: int) -> Cell:
        said, wanted = _cell(sketch, row, column), _cell(right, row, column)
        number = re.match(r"[TV]?(\d+)", said or "")
        shade = int(number[1]) % 8 if number else -1
        differs = sketch is not right and said is not None and said != wanted
        return Cell((said or "",), shade, expected=(wanted or "nothing") if differs else "")

    names = (sketch.names.__getitem__ if sketch.names else None, None)
    window = (range(rows if rows <= ROWS else LANES), None)  # threads go on alike
    panel = grid(sketch.title, sketch.title, sketch.axes, (rows, width), at, window=window, names=names)
    return Picture(sketch.title, (panel,), expected="what is right")


def _cell(sketch: Sketch, row: int, column: int) -> str | None:
    """Return what is in a cell; empty outside of the table."""
    inside = row < len(sketch.rows) and column < len(sketch.rows[row])
    return sketch.rows[row][column] if inside else ""
