# SPDX-License-Identifier: Apache-2.0
"""Tables of properties as the docs have them."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from verify.core.verdict import Property

DOCS = Path(__file__).parents[2] / "docs"
HEAD = "| property | of | what it says | isa | proof | gpu |\n|---|---|---|---|---|---|\n"
TABLE = re.compile(r"\| property \| of .*?\n(?=\n)", re.DOTALL)


def table(rows: Sequence[Property], sort: str) -> str:
    """The properties of a sort of subjects as a table of the docs."""
    rows = [row for row in rows if sort in row.says]
    methods = [[how if isinstance(how, str) else how.get(sort, "") for how in row.how] for row in rows]
    cells = [(f"`{row.key}`", row.scope, row.says[sort], *how) for row, how in zip(rows, methods, strict=True)]
    return HEAD + "".join(f"| {' | '.join(row)} |\n".replace("|  |", "| |").replace("|  |", "| |") for row in cells)


def assert_documented(page: str, *tables: str) -> None:
    """A page of the docs has these tables, in this order; LANECHECK_SNAPSHOTS=update writes them anew."""
    made = iter(tables)
    text = (DOCS / page).read_text(encoding="utf-8")
    assert len(TABLE.findall(text)) == len(tables)
    renewed = TABLE.sub(lambda _: next(made), text)
    if os.environ.get("LANECHECK_SNAPSHOTS") == "update":
        (DOCS / page).write_text(renewed, encoding="utf-8")
    assert renewed == (DOCS / page).read_text(encoding="utf-8")
