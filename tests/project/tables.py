# SPDX-License-Identifier: Apache-2.0
"""The tables of properties in the docs, from the rows of every kind."""

from __future__ import annotations

import re

from verify import kinds
from verify.kind import PropertyTable

HEAD = "| property | of | what it says | isa | proof | gpu |\n|---|---|---|---|---|---|\n"
TABLE = re.compile(r"\| property \| of .*?\n(?=\n|\Z)", re.DOTALL)


def tables() -> dict[str, list[PropertyTable]]:
    """The tables of each page of the docs, in their order."""
    pages: dict[str, list[PropertyTable]] = {}
    for kind in kinds.all():
        for table in kind.tables():
            pages.setdefault(table.page, []).append(table)
    return pages


def text(table: PropertyTable) -> str:
    """A table as Markdown."""
    lines = []
    for row in (row for row in table.rows if table.sort in row.says):
        methods = [how if isinstance(how, str) else how.get(table.sort, "") for how in row.how]
        lines.append(f"| {' | '.join((f'`{row.key}`', row.scope, row.says[table.sort], *methods))} |\n")
    return HEAD + "".join(line.replace("|  |", "| |").replace("|  |", "| |") for line in lines)


def page(name: str, before: str) -> str:
    """The text of a page with today's tables in it. Raises ValueError unless it has a place for each."""
    made = [text(table) for table in tables()[name]]
    if len(TABLE.findall(before)) != len(made):
        raise ValueError(f"docs/{name} should have {len(made)} tables of properties")
    rest = iter(made)
    return TABLE.sub(lambda _: next(rest), before)
