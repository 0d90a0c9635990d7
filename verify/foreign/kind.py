# SPDX-License-Identifier: Apache-2.0
"""Other projects as a kind of subject: their own functions are called."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from verify.kind import SURE, Kind, PropertyTable, Recognition

ADAPTERS = Path(__file__).with_name("adapters")


def recognize_project(text: str) -> Recognition | None:
    """Return a recognition of a project that has an adapter."""
    if text.isidentifier() and (ADAPTERS / f"{text}.py").is_file():
        return Recognition(SURE, "a project's name")
    return None


def tables() -> Sequence[PropertyTable]:
    """Return the properties of a project's map."""
    from verify.foreign import checker

    return (PropertyTable("foreign.md", checker.FOREIGN, checker.PROPERTIES),)


FOREIGN: Kind[Any] = Kind(
    name="foreign",
    one="a project",
    plural="projects",
    argument="a project",
    example=("tinygrad",),
    command="verify.foreign.command",
    spelled=recognize_project,
    tables=tables,
)
