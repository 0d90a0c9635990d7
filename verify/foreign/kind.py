# SPDX-License-Identifier: Apache-2.0
"""Other projects as a kind of subject: their own functions are called."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from verify.cli.arguments import check_execution
from verify.kind import SURE, Kind, PropertyTable, Recognition
from verify.report import Report

ADAPTERS = Path(__file__).with_name("adapters")


def recognize_project(text: str) -> Recognition | None:
    """Return a recognition of a project that has an adapter."""
    if text.isidentifier() and (ADAPTERS / f"{text}.py").is_file():
        return Recognition(SURE, "a project's name")
    return None


def report_projects(
    what: Sequence[str],
    *,
    python: str = sys.executable,
    only: Sequence[str] = (),
    seconds: float = 20.0,
    allow_exec: bool = False,
) -> Report:
    """Return the verdicts on the maps of projects, which `python` imports in a child process."""
    from verify.foreign import command

    check_execution(allow_exec, "allow_exec=True")
    results = command.verify_projects(what, python, only, command.Limits(seconds))
    return Report(tuple(case for _, _, case in results))


def tables() -> Sequence[PropertyTable]:
    """Return the properties of a project's map."""
    from verify.foreign import checker

    return (PropertyTable("foreign.md", checker.FOREIGN, checker.PROPERTIES),)


FOREIGN: Kind[Any] = Kind(
    name="foreign",
    singular="a project",
    plural="projects",
    argument="a project",
    example=("tinygrad",),
    command="verify.foreign.command",
    spelled=recognize_project,
    report=report_projects,
    names=lambda: sorted(path.stem for path in ADAPTERS.glob("[!_]*.py")),
    tables=tables,
)
