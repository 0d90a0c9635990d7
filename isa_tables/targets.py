# SPDX-License-Identifier: Apache-2.0
"""The targets that a kernel may name, as data: `targets.toml` lists what the assembler takes."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from isa_tables import schema, tables

SHIPPED = Path(__file__).with_suffix(".toml")


@cache
def known_targets() -> tuple[str, ...]:
    """Return the targets of `.target` in the table (PTX ISA, 11.1.2), in its order.

    >>> "sm_90a" in known_targets(), "sm_107a" in known_targets()
    (True, False)
    """
    data = tables.parse_tables(str(SHIPPED), tables.text_of(SHIPPED))
    kinds = schema.keys()["assembler"]
    schema.check(data, kinds, str(SHIPPED), "", tuple(kinds))
    tables.check_schema(data, str(SHIPPED))
    return tuple(data["targets"])
