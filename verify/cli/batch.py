# SPDX-License-Identifier: Apache-2.0
"""Several statements judged one by one: what is refused, or fails by a fault of ours, costs none of the others."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from proofs.progress import Progress, each
from verify.cli.ending import complain, option
from verify.core.errors import Exit, SpecError, UsageError
from verify.core.names import Named
from verify.core.verdict import Check
from verify.report import Case, Failure, Report

S = TypeVar("S", bound=Named)
T = TypeVar("T")


def judged(
    subjects: Sequence[S],
    judge: Callable[[S], Case],
    what: str,
    require: Iterable[str] = (),
    expect_known: bool = False,
    quiet: bool = False,
) -> Report:
    """The report on some subjects, each judged by itself; `what` names them, in the plural."""
    told, missing = told_apart(subjects, judge, what, quiet)
    cases = tuple(case for case in told if isinstance(case, Case))
    failures = tuple(failure for failure in told if isinstance(failure, Failure))
    return Report(cases, frozenset(map(Check, require)), expect_known, missing, failures=failures)


def told_apart(
    stated: Sequence[S], tell: Callable[[S], T], what: str, quiet: bool = False
) -> tuple[list[T | Failure], int]:
    """What is told of each statement, and how many an interruption left out; `what` names them, in the plural.

    Of one that is refused, or that we fail at, the failure, which is a line on stderr too.
    """

    def told(one: S, shown: Progress) -> T | Failure:
        found = attempt(one, tell)
        if isinstance(found, Failure):
            with shown.aside():
                complain(f"lanecheck: {found.message.splitlines()[0]}", found.code)
        return found

    return each(stated, told, what, lambda one: one.name, quiet)


def attempt(one: S, tell: Callable[[S], T]) -> T | Failure:
    """What is told of a statement, or why nothing can be; LANECHECK_TRACEBACK=1 lets faults of ours through."""
    from gpu_checks import RecordingError
    from isa_tables import TableError
    from layouts.atoms import AtomFileError

    try:
        return tell(one)
    except SpecError as error:
        return Failure(one.name, option(error), Exit.USAGE)
    except (UsageError, AtomFileError, TableError, RecordingError) as error:
        return Failure(one.name, str(error), Exit.USAGE)
    except Exception as error:
        if os.environ.get("LANECHECK_TRACEBACK"):
            raise
        what = next(iter(f"{type(error).__name__}: {error}".splitlines()))
        line = f"internal error, {one.name} was not judged: {what} (LANECHECK_TRACEBACK=1 shows where)"
        return Failure(one.name, line, Exit.CONTRADICTION)
