# SPDX-License-Identifier: Apache-2.0
"""The tables of properties: the docs are made from them, and have every check that is made."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from verify.atom import properties as atom
from verify.core.verdict import Check, Property
from verify.index import properties as index
from verify.laws import properties as laws
from verify.movement import properties as movement
from verify.tiling import properties as tiling

DOCS = Path(__file__).parents[2] / "docs"
HEAD = "| property | of | what it says | isa | proof | gpu |\n|---|---|---|---|---|---|\n"
TABLE = re.compile(r"\| property \| of .*?\n(?=\n)", re.DOTALL)
PAGES = {  # page of the docs -> the rows and the sort of subject of each of its tables
    "claims.md": ((atom.PROPERTIES, atom.MMA), (atom.PROPERTIES, atom.COPY)),
    "tiling.md": ((tiling.PROPERTIES, tiling.TILE),),
    "movement.md": ((movement.PROPERTIES, movement.MOVEMENT),),
    "maps.md": ((index.PROPERTIES, index.MAP),),
    "laws.md": ((laws.LAWS, laws.LAW), (laws.CODE, laws.OPERATION)),
}
TABLES = {f"{page} {sort}": (rows, sort) for page, tables in PAGES.items() for rows, sort in tables}


def made(rows: Sequence[Property], sort: str) -> str:
    """The properties of a sort of subjects as a table of the docs."""
    lines = []
    for row in (row for row in rows if sort in row.says):
        methods = [how if isinstance(how, str) else how.get(sort, "") for how in row.how]
        lines.append(f"| {' | '.join((f'`{row.key}`', row.scope, row.says[sort], *methods))} |\n")
    return HEAD + "".join(line.replace("|  |", "| |").replace("|  |", "| |") for line in lines)


@pytest.mark.parametrize("page", PAGES)
def test_the_docs_have_the_tables(page: str) -> None:
    """`LANECHECK_SNAPSHOTS=update pytest …` writes the tables anew."""
    tables = iter([made(rows, sort) for rows, sort in PAGES[page]])
    text = (DOCS / page).read_text(encoding="utf-8")
    renewed, found = TABLE.subn(lambda _: next(tables), text, count=len(PAGES[page]))
    if os.environ.get("LANECHECK_SNAPSHOTS") == "update":
        (DOCS / page).write_text(renewed, encoding="utf-8")
    assert found == len(PAGES[page])
    assert renewed == (DOCS / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", TABLES)
def test_a_key_names_one_property_and_each_check_that_is_made_is_in_the_docs(name: str) -> None:
    rows, sort = TABLES[name]
    assert len({row.key for row in rows}) == len(rows) and any(sort in row.says for row in rows)
    for row in rows:
        assert re.fullmatch(r"[a-z]+(_[a-z]+)*", row.key) and row.says
        assert [bool(how) for how in row.how] == [row.by(check) is not None for check in Check], row.key
