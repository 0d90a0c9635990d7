# SPDX-License-Identifier: Apache-2.0
"""The two pictures of a refuted statement that can be drawn: what the document says, and what is right."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from layouts import Layout, size
from tests.ledger.ledger import Claim
from verify.pictures.picture import Cell, Picture, grid

TABLES = ("rows", "cells", "elements", "are", "layout")  # inputs that are drawn
MOST = 32  # rows that are drawn: those of a layout are its threads


def pictures(claim: Claim) -> tuple[Picture, Picture] | None:
    """Return both pictures, the differences marked in the first; None if the statement is no table and no layout."""
    key = next((one for one in TABLES if one in claim.correct), None)
    if key is None or list(claim.correct) != [key]:
        return None
    says, right = (_table(key, inputs) for inputs in (claim.given, claim.right))
    return _picture("the document", says, right), _picture("right", right, right)


def _table(key: str, inputs: Mapping[str, Any]) -> list[list[str]]:
    """Return the cells of an input, row by row."""
    value = inputs[key]
    if key == "layout":
        found = Layout.parse(value)
        threads, values = size(found[0]), size(found[1])
        return [[str(found(thread, i)) for i in range(values)] for thread in range(min(MOST, threads))]
    if key == "cells":
        return [value.split()]
    if key == "elements":
        return [[",".join(map(str, element)) for element in value]]
    rows = [value] if key == "are" else value
    return [row.split() if isinstance(row, str) else [str(one) for one in row] for row in rows]


def _picture(name: str, cells: Sequence[Sequence[str]], right: Sequence[Sequence[str]]) -> Picture:
    """Return the picture of a table, where it differs from the right one with what is right."""
    width = max(map(len, cells))

    def at(row: int, column: int) -> Cell:
        text = cells[row][column] if column < len(cells[row]) else ""
        there = row < len(right) and column < len(right[row])
        wanted = (right[row][column] if there else "nothing") if name != "right" else text
        number = re.match(r"[TV]?(\d+)", text)
        shade = int(number[1]) % 8 if number else -1
        return Cell((text,), shade, expected="" if text == wanted else wanted)

    panel = grid(name, name, ("row", "column"), (len(cells), width), at)
    return Picture(name, (panel,), expected="what is right")
