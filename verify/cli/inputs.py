# SPDX-License-Identifier: Apache-2.0
"""What a command is given: the files with their statements, and the solver's budget."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from verify.cli.arguments import parsed
from verify.cli.ending import complain
from verify.cli.output import list_names
from verify.core.errors import Exit, MalformedError, UsageError
from verify.core.names import S, select

if TYPE_CHECKING:
    from layouts.atoms import AtomFileError
    from layouts.atoms.tables import Found


def in_files(options: argparse.Namespace, read: Callable[[Path], Found[S]], what: str) -> list[S]:
    """What the files state, or those of it that --only names; what cannot be read is told, and counts as a failure."""
    from layouts.atoms import AtomFileError

    found: list[S] = []
    errors: list[AtomFileError] = []
    for file in options.files:
        try:
            stated = read(Path(file))
        except AtomFileError as error:
            errors += error.errors
            continue
        found += stated.items
        errors += stated.errors
    note(errors, options, bool(found))
    if not options.only:
        return found
    chosen = select(options.only, dict.fromkeys(one.name for one in found), what)
    return [one for one in found if one.name in chosen]


def note(errors: Sequence[AtomFileError], options: argparse.Namespace, others: bool) -> None:
    """Print what is wrong with files, and keep it as failures; MalformedError where there are no others to judge."""
    from verify.report import Failure

    before = getattr(options, "malformed", ())
    failures = {Failure(error.key or error.file, str(error), Exit.USAGE): error for error in errors}
    told = [error for failure, error in failures.items() if failure not in before]
    if errors and not others:
        raise MalformedError(errors)
    if told:
        complain(MalformedError(told).shown, Exit.USAGE)
    options.malformed = tuple(dict.fromkeys((*before, *failures)))


def budget(options: argparse.Namespace) -> int:
    """The solver's budget per proof."""
    import proofs

    if options.rlimit is not None and not 0 < options.rlimit < 1 << 32:
        raise UsageError(f"--rlimit {options.rlimit}: the budget must be positive and below 2^32")
    return options.rlimit or proofs.BUDGET


def stating(
    parser: Callable[[], argparse.ArgumentParser],
    stated: Callable[[argparse.Namespace], Sequence[S]],
    judge: Callable[[Sequence[S], argparse.Namespace], int],
    stops: Mapping[str, Collection[str]],
) -> Callable[[Sequence[str] | None], int]:
    """The body of a command that judges what its arguments state, or with --list names it."""

    def body(argv: Sequence[str] | None) -> int:
        options = parsed(parser(), argv, stops)
        found = stated(options)
        return list_names(found, options) if options.list else judge(found, options)

    return body
