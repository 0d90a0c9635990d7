# SPDX-License-Identifier: Apache-2.0
"""Several statements judged one by one: what is refused, or fails by a fault of ours, costs none of the others."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from proofs.progress import Progress, each
from verify.cli import Exit, Named, UsageError, complain
from verify.report import Case, Report
from verify.verdict import Witness

S = TypeVar("S", bound=Named)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Partial(Report):
    """The report on those statements that could be judged: whatever it says, the exit code tells of the others."""

    refused: int = 0
    broken: int = 0  # not judged, by a fault of ours

    def exit(self) -> Exit:
        """As of any report; but 2 where a statement was refused, unless witnesses contradict each other.

        3 where one could not be judged by a fault of ours.
        """
        code = Report.exit(self)
        if code is Exit.INTERRUPTED:
            return code
        code = Exit.CONTRADICTION if self.broken else code
        return Exit.USAGE if self.refused and code is not Exit.CONTRADICTION else code


def judged(
    atoms: Sequence[S],
    judge: Callable[[S], Case],
    require: Iterable[str] = (),
    expect_known: bool = False,
    quiet: bool = False,
) -> Partial:
    """The report on some atoms, each judged by itself."""
    told, missing = told_apart(atoms, judge, "atoms", quiet)
    cases = tuple(case for case in told if isinstance(case, Case))
    refused, broken = (told.count(code) for code in (Exit.USAGE, Exit.CONTRADICTION))
    return Partial(cases, frozenset(map(Witness, require)), expect_known, missing, refused, broken)


def told_apart(
    stated: Sequence[S], tell: Callable[[S], T], what: str, quiet: bool = False
) -> tuple[list[T | Exit], int]:
    """What is told of each statement, and how many an interruption left out; `what` names them, in the plural.

    Of one that is refused, or that we fail at, a line on stderr and its code.
    """
    from gpu_checks import RecordingError
    from isa_tables import TableError
    from layouts.atoms import AtomFileError

    def told(one: S, shown: Progress) -> T | Exit:
        try:
            return tell(one)
        except (UsageError, AtomFileError, TableError, RecordingError) as error:
            with shown.aside():
                return complain(f"lanecheck: {error}", Exit.USAGE)
        except Exception as error:
            if os.environ.get("LANECHECK_TRACEBACK"):
                raise
            with shown.aside():
                return complain(f"lanecheck: {internal(one.name, error)}", Exit.CONTRADICTION)

    return each(stated, told, what, lambda one: one.name, quiet)


def internal(name: str, error: Exception) -> str:
    """That a subject was not judged by a fault of ours, in one line."""
    what = next(iter(f"{type(error).__name__}: {error}".splitlines()))
    return f"internal error, {name} was not judged: {what} (LANECHECK_TRACEBACK=1 shows where)"
