# SPDX-License-Identifier: Apache-2.0
"""The tables of properties, from which the docs are made (`make generate`): they have every check that is made."""

from __future__ import annotations

import re

import pytest

from tests.project.tables import tables
from verify.core.verdict import Check

TABLES = {f"{page} {table.sort}": table for page, listed in tables().items() for table in listed}


@pytest.mark.parametrize("name", TABLES)
def test_a_key_names_one_property_and_each_check_that_is_made_is_in_the_docs(name: str) -> None:
    _, sort, rows = TABLES[name]
    assert len({row.key for row in rows}) == len(rows) and any(sort in row.says for row in rows)
    for row in rows:
        assert re.fullmatch(r"[a-z]+(_[a-z]+)*", row.key) and row.says
        assert [bool(how) for how in row.how] == [row.by(check) is not None for check in Check], row.key
