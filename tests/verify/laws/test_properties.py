# SPDX-License-Identifier: Apache-2.0
"""The tables of the properties of laws and of operations: the docs are made from them."""

from __future__ import annotations

import re

import pytest

from tests.verify.property_tables import assert_documented, table
from verify.core.verdict import Check, Property
from verify.laws.properties import CODE, LAW, LAWS, OPERATION


def test_the_docs_have_the_tables() -> None:
    assert_documented("laws.md", table(LAWS, LAW), table(CODE, OPERATION))


@pytest.mark.parametrize("row", [*LAWS, *CODE], ids=lambda row: f"{row.scope} {row.key}")
def test_each_check_that_is_made_is_in_the_docs(row: Property) -> None:
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", row.key) and len(row.says) == 1
    assert [bool(how) for how in row.how] == [row.by(check) is not None for check in Check]
