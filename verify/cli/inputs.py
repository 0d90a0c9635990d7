# SPDX-License-Identifier: Apache-2.0
"""What a command reads: the files with their entries, and the solver's budget."""

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
    """The entries of the files, or those that --only names; an entry that cannot be read is reported as a failure."""
    from layouts.atoms import AtomFileError
    from verify.report.placing import Source

    options.sources = {}
    found: list[S] = []
    errors: list[AtomFileError] = []
    for file in dict.fromkeys(options.files):
        if not file:
            raise UsageError("'' is the name of no file")
        try:
            entries = read(Path(file))
        except AtomFileError as error:
            errors += error.errors
            continue
        found += entries.items
        options.sources |= {one.name: Source(file, one.name) for one in entries.items}
        errors += entries.errors
    note(errors, options, bool(found))
    if not options.only:
        return found
    chosen = select(options.only, dict.fromkeys(one.name for one in found), what)
    return [one for one in found if one.name in chosen]


def note(errors: Sequence[AtomFileError], options: argparse.Namespace, others: bool) -> None:
    """Print the errors of files and keep them as failures; MalformedError where no other entry is left."""
    from verify.report import failure_of

    before = getattr(options, "malformed", ())
    failures = {failure_of(error): error for error in errors}
    fresh = [error for failure, error in failures.items() if failure not in before]
    if errors and not others:
        raise MalformedError(errors)
    if fresh:
        complain(MalformedError(fresh).shown, Exit.USAGE)
    options.malformed = tuple(dict.fromkeys((*before, *failures)))


def budget(options: argparse.Namespace) -> int:
    """The solver's budget per proof."""
    import proofs

    if options.rlimit is not None and not 0 < options.rlimit < 1 << 32:
        raise UsageError(f"--rlimit {options.rlimit}: the budget must be positive and below 2^32")
    return options.rlimit or proofs.BUDGET


def of_entries(
    parser: Callable[[], argparse.ArgumentParser],
    entries: Callable[[argparse.Namespace], Sequence[S]],
    verify: Callable[[Sequence[S], argparse.Namespace], int],
    stops: Mapping[str, Collection[str]],
) -> Callable[[Sequence[str] | None], int]:
    """The body of a command that verifies the entries that its arguments name, or prints their names with --list."""

    def body(argv: Sequence[str] | None) -> int:
        options = parsed(parser(), argv, stops)
        found = entries(options)
        return list_names(found, options) if options.list else verify(found, options)

    return body
