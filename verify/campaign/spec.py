# SPDX-License-Identifier: Apache-2.0
"""Specs of campaigns, as users write them: tables of a TOML file, parsed and never executed.

["pairs of small layouts"]
kind    = "laws"
laws    = ["composition", "logical_divide"]
rank    = 2
size    = 16
strides = [0, 1, 2, 4, 8]

["every atom"]
kind  = "mutants"
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from layouts.toml.tables import tables
from verify.core.files import open_document, values
from verify.core.specs import Between, Choice, Several, key, keys, require, text

if TYPE_CHECKING:
    from layouts.toml.entry import Entry
    from layouts.toml.tables import ReadTables

# The keys of `proofs.symbolic.enumerated.LAWS`, here again because that module loads z3; a test compares them.
OPERATIONS = (
    "coalesce", "composition", "complement", "right_inverse", "left_inverse", "logical_divide", "logical_product",
)  # fmt: skip
MOST = 1 << 12  # points of a layout
LARGEST = 1 << 16  # of a cotarget, and of a stride


def names(value: object) -> tuple[str, ...]:
    """Return a list of texts. Raises ValueError."""
    if not isinstance(value, list) or not value:
        raise ValueError(f"expected a list of one name or more, found {value!r}")
    return tuple(map(text, value))


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignSpec:
    """A campaign as its user gives it; each kind of campaign has further keys."""

    name: str
    kind: str = require("laws: every layout up to a bound; mutants: every one-edit mutant of atoms", text)

    def as_key(self) -> dict[str, Any]:
        """Return what its results depend on: all but the name."""
        return {attribute.name: getattr(self, attribute.name) for attribute in fields(self) if attribute.name != "name"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LawsSpec(CampaignSpec):
    """The laws of operations, on every layout, or every pair of layouts, up to a bound."""

    laws: tuple[str, ...] = key(
        "operations whose definition is checked (default: all of them)",
        Several(Choice(OPERATIONS)),
        default=OPERATIONS,
    )
    rank: int = require("modes of a layout, at most", Between(1, 6))
    depth: int = key("how deep modes are nested, at most (default: 1, flat layouts)", Between(1, 4), default=1)
    size: int = require("points of a layout, at most", Between(1, MOST))
    extents: tuple[int, ...] | None = key(
        "extents of the modes (default: all up to the size)", Several(Between(1, MOST))
    )
    strides: tuple[int, ...] = require("strides of the modes", Several(Between(0, LARGEST)))
    cotargets: tuple[int, ...] | None = key("cotargets of complement (default: the size)", Several(Between(1, LARGEST)))


@dataclass(frozen=True, slots=True, kw_only=True)
class MutantsSpec(CampaignSpec):
    """Every one-edit mutant of the operands of atoms."""

    atoms: tuple[str, ...] = key("names, prefixes or globs of atoms (default: all)", names, default=("*",))
    rlimit: int = key(
        "the solver's budget per proof, in z3's units (default: that of the other commands)",
        Between(1, (1 << 32) - 1),
    )


KINDS: Mapping[str, type[CampaignSpec]] = {"laws": LawsSpec, "mutants": MutantsSpec}


def read_campaigns(path: Path) -> ReadTables[CampaignSpec]:
    """Return the campaigns of a file that can be read, and what is wrong with the others.

    Raises AtomFileError where none can be.
    """
    known = {name for kind in KINDS.values() for name in keys(kind)}
    return tables(open_document(path, "campaign"), "a campaign", known, lambda entry: [of_entry(entry)])


def of_entry(entry: Entry) -> CampaignSpec:
    """Return the spec that a table of a file gives; raises AtomFileError with all its errors."""
    named = entry.table.get("kind")
    if not isinstance(named, str) or named not in KINDS:
        entry.fail("kind", f"expected one of {', '.join(KINDS)}" + f", found {named!r}" * ("kind" in entry.table))
    return KINDS[named](name=entry.name, **values(entry, KINDS[named]))
