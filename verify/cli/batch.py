# SPDX-License-Identifier: Apache-2.0
"""Entries checked one by one: an entry that is rejected, or ends in an internal error, stops no other.

`verify_each` makes a report, `check_each` any results, `attempt` one result.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from gpu_checks import RecordingError
from isa_tables import TableError
from lanecheck.console.progress import Progress, each
from layouts.toml.errors import AtomFileError
from verify.cli.ending import complain, option
from verify.core.errors import Exit, SpecError, UsageError
from verify.core.names import Named
from verify.core.verdict import Check
from verify.report import Case, Failure, Report

S = TypeVar("S", bound=Named)
T = TypeVar("T")


def verify_each(
    subjects: Sequence[S],
    verify: Callable[[S], Case],
    what: str,
    require: Iterable[str] = (),
    expect_known: bool = False,
    quiet: bool = False,
) -> Report:
    """Return the report on some subjects, each verified by itself; `what` names them, in the plural."""
    results, missing = check_each(subjects, verify, what, quiet)
    cases = tuple(case for case in results if isinstance(case, Case))
    failures = tuple(failure for failure in results if isinstance(failure, Failure))
    return Report(cases, frozenset(map(Check, require)), expect_known, missing, failures=failures)


def check_each(
    entries: Sequence[S], check: Callable[[S], T], what: str, quiet: bool = False
) -> tuple[list[T | Failure], int]:
    """(results, missing): the result or failure of each entry, and how many entries an interruption left out.

    `what` names the entries, in the plural. A failure is also printed as one line on stderr.
    """

    def check_one(entry: S, shown: Progress) -> T | Failure:
        outcome = attempt(entry, check)
        if isinstance(outcome, Failure):
            with shown.aside():
                complain(f"lanecheck: {outcome.message.splitlines()[0]}", outcome.code)
        return outcome

    return each(entries, check_one, what, lambda entry: entry.name, quiet)


def attempt(entry: S, check: Callable[[S], T]) -> T | Failure:
    """Return the result of `check` on an entry, or the failure; LANECHECK_TRACEBACK=1 raises internal errors."""
    try:
        return check(entry)
    except SpecError as error:
        return Failure(entry.name, option(error), Exit.USAGE)
    except UsageError as error:
        return Failure(entry.name, str(error), Exit.USAGE)
    except Exception as error:
        if isinstance(error, (AtomFileError, TableError, RecordingError)):
            return Failure(entry.name, str(error), Exit.USAGE)
        if os.environ.get("LANECHECK_TRACEBACK"):
            raise
        what = next(iter(f"{type(error).__name__}: {error}".splitlines()))
        line = f"internal error, {entry.name} was not verified: {what} (LANECHECK_TRACEBACK=1 shows where)"
        return Failure(entry.name, line, Exit.CONTRADICTION)
