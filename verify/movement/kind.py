# SPDX-License-Identifier: Apache-2.0
"""Movements as a kind of subject."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from verify.core.registry import Signs
from verify.kind import Kind, PropertyTable, Resources

if TYPE_CHECKING:
    from layouts.toml.tables import ReadTables
    from verify.movement.bind import Movement
    from verify.report import Case


def list_specs() -> Sequence[type]:
    """Return the forms of a movement."""
    from verify.movement.spec import SORTS

    return tuple(SORTS.values())


def read_movements(path: Path) -> ReadTables[Movement]:
    """Return the movements of a file, and all errors of the others."""
    from verify.movement.bind import read_movements

    return read_movements(path)


def verifier(resources: Resources) -> Callable[[Movement], Case]:
    """Return what verifies one movement after the other."""
    from verify.movement.properties import MovementChecker

    return MovementChecker(resources.checks).case


def tables() -> Sequence[PropertyTable]:
    """Return the properties of movements."""
    from verify.movement import properties

    return (PropertyTable("movement.md", properties.MOVEMENT, properties.PROPERTIES),)


MOVEMENT: Kind[Movement] = Kind(
    name="movement",
    singular="a movement",
    plural="movements",
    example=("examples/movement.toml",),
    command="verify.movement.command",
    signs=Signs(frozenset({"from", "to", "access", "descriptor"}), "movements"),
    specs=list_specs,
    read=read_movements,
    verifier=verifier,
    tables=tables,
)
