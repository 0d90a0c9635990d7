# SPDX-License-Identifier: Apache-2.0
"""`lanecheck check` without WHAT: the files of a project, as `[tool.lanecheck]` of its pyproject.toml lists them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lanecheck.console.command import add_execution
from verify.check.command import MISSING
from verify.cli import arguments, output
from verify.cli.batch import check_each
from verify.core.errors import Exit, UsageError
from verify.core.settings import Settings, find_settings
from verify.core.verdict import Check, Place
from verify.gate import GateEntry, Suite
from verify.report import Case, Failure, Report

STRICT = "refute what breaks the letter of the ISA too"


@dataclass(frozen=True)
class ProjectEntry:
    """An entry of one of a project's files."""

    name: str
    file: str
    entry: GateEntry

    def cases(self) -> Sequence[Case]:
        """Verify it; each case has a place."""
        return [replace(case, place=case.place or Place(self.file, self.entry.line)) for case in self.entry.cases()]


def verify_project(words: Sequence[str]) -> Exit:
    """Verify the files of the project here, with the options of a command; return the exit code."""
    settings = find_settings(Path.cwd())
    if settings is None or not settings.files:
        raise UsageError(MISSING)
    parser = arguments.parser("lanecheck check", "Verify the files of this project.", "")
    add_execution(parser)
    arguments.add_require(parser)
    parser.add_argument("--target", default=settings.target, metavar="SM", help="the GPU that kernels are compiled for")
    parser.add_argument("--seed", type=int, default=settings.seed, metavar="N", help="the seed of kernels' points")
    parser.add_argument("--strict", action="store_true", default=settings.strict, help=STRICT)
    options = parser.parse_args(list(words))
    settings = replace(settings, target=options.target, seed=options.seed, strict=options.strict)
    entries, failures = _read_entries(settings, options.allow_exec)
    results, missing = check_each(entries, lambda entry: entry.cases(), "entries", options.quiet)
    cases = tuple(case for outcome in results if not isinstance(outcome, Failure) for case in outcome)
    failures += [outcome for outcome in results if isinstance(outcome, Failure)]
    require = frozenset(map(Check, options.require or settings.require))
    return output.report(Report(cases, require, missing=missing, failures=tuple(failures)), options)


def _read_entries(settings: Settings, allow_exec: bool) -> tuple[list[ProjectEntry], list[Failure]]:
    """Return the entries of all files, and an error of each file that can't be read."""
    suite = Suite(allow_exec, "--allow-exec", settings.of_kernels())
    entries: list[ProjectEntry] = []
    failures: list[Failure] = []
    for path in settings.list_files():
        file = os.path.relpath(path)
        listed, problem = suite.read_entries(Path(file))
        entries += [ProjectEntry(entry.name, file, entry) for entry in listed]
        failures += [Failure(file, problem, Exit.USAGE, Place(file, 1))] if problem else []
    return entries, failures
