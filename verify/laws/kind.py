# SPDX-License-Identifier: Apache-2.0
"""Laws of the layout algebra as a kind of subject."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from verify.core.names import select
from verify.kind import SURE, Kind, PropertyTable, Recognition
from verify.report import Report


def tables() -> Sequence[PropertyTable]:
    """Return the properties of laws, and those of an implementation's operations."""
    from verify.laws import properties as of

    return PropertyTable("laws.md", of.LAW, of.LAWS), PropertyTable("laws.md", of.OPERATION, of.CODE)


def names() -> Sequence[str]:
    """Return the names of the laws, of the published claims and of the open statements."""
    from verify.laws import report

    return report.names(True)


def recognize_name(text: str) -> Recognition | None:
    """Return a recognition of the name of a law, or of a published claim."""
    return Recognition(SURE, "a law's name") if text in names() else None


def report_laws(what: Sequence[str], *, seeds: int = 1, jobs: int | None = None, allow_exec: bool = False) -> Report:
    """Return the verdicts on laws and on those that their proofs use, by every solver that is installed."""
    from verify.laws import report

    chosen = select(what, names(), "law")
    return report.verify_laws(chosen, ("z3", "cvc5"), seeds, jobs, quiet=True)


LAW: Kind[Any] = Kind(
    name="law",
    singular="a law",
    plural="laws",
    argument="a law",
    example=("DM",),
    command="verify.laws.command",
    spelled=recognize_name,
    report=report_laws,
    names=names,
    tables=tables,
)
