# SPDX-License-Identifier: Apache-2.0
"""Index arithmetic as a kind of subject: expressions, tables, bases and functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verify.core.registry import Signs
from verify.kind import Functions, Kind, PropertyTable, Resources

if TYPE_CHECKING:
    from layouts.toml.tables import ReadTables
    from verify.index.bind import BoundIndex
    from verify.report import Case

SIGNS = frozenset({"row", "col", "table", "bases", "function", "inverse", "column", "byte", "lang"})


def list_specs() -> Sequence[type]:
    """Return what an entry has, and what each of its operands may have."""
    from verify.index.spec import EntrySpec, OperandSpec

    return EntrySpec, OperandSpec


def read_maps(path: Path) -> ReadTables[BoundIndex]:
    """Return the maps of a file, and all errors of the others."""
    from verify.index.bind import read_indices

    return read_indices(path)


def bind_keys(keys: Mapping[str, Any]) -> BoundIndex:
    """Return the map of keys; `map` is a map as a value. Raises SpecError."""
    from verify.index.bind import bind, of_map
    from verify.index.spec import of_options

    if "map" in keys:
        return of_map(keys["map"], keys["ptx"], keys["operand"], keys["select"])
    return bind(of_options(keys))


def verifier(resources: Resources) -> Callable[[BoundIndex], Case]:
    """Return what verifies one map after the other."""
    from verify.index.properties import case

    return case


def functions_of(index: BoundIndex, resources: Resources) -> Functions:
    """Return the map of each operand that its texts compute."""
    return Functions({"ptx": index.spec.ptx}, {part.name: part.given for part in index.parts})


def tables() -> Sequence[PropertyTable]:
    """Return the properties of index arithmetic."""
    from verify.index.properties import MAP, PROPERTIES

    return (PropertyTable("maps.md", MAP, PROPERTIES),)


INDEX: Kind[BoundIndex] = Kind(
    name="index",
    singular="a map",
    plural="maps",
    example=("examples/maps.toml",),
    command="verify.index.command",
    template="verify.index.template",
    signs=Signs(SIGNS, "index arithmetic", inside=True),
    specs=list_specs,
    read=read_maps,
    from_keys=bind_keys,
    runs_code=lambda index: index.spec.runs_code,
    verifier=verifier,
    functions=functions_of,
    tables=tables,
)
