# SPDX-License-Identifier: Apache-2.0
"""Laws of the layout algebra as a kind of subject."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from verify.kind import Kind, PropertyTable


def tables() -> Sequence[PropertyTable]:
    """Return the properties of laws, and those of an implementation's operations."""
    from verify.laws.properties import CODE, LAWS, OPERATION
    from verify.laws.properties import LAW as SORT

    return PropertyTable("laws.md", SORT, LAWS), PropertyTable("laws.md", OPERATION, CODE)


LAW: Kind[Any] = Kind(name="law", one="a law", plural="laws", command="verify.laws.command", tables=tables)
