# SPDX-License-Identifier: Apache-2.0
"""What a command reads: the files with their entries, and the solver's budget."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

import proofs
from layouts.toml.errors import AtomFileError
from verify.cli.arguments import parse
from verify.cli.ending import complain
from verify.cli.output import list_names
from verify.core.errors import Exit, MalformedError, UsageError
from verify.core.names import S
from verify.report import Failure, failure_of
from verify.report.loaded import LoadedFiles, SubjectSource

if TYPE_CHECKING:
    from layouts.toml.errors import AtomFileError
    from layouts.toml.tables import ReadTables


def load(
    files: Iterable[str],
    read: Callable[[Path], ReadTables[S]],
    table: Callable[[S], str] = attrgetter("name"),
    unique: bool = False,
) -> LoadedFiles[S]:
    """Read the subjects of files, each in a `table` of its file; print the errors of those that cannot be read.

    If they are `unique`, a name that two files have is an error. Raises MalformedError if nothing can be read.
    """
    items: list[S] = []
    errors: list[AtomFileError] = []
    sources: dict[str, SubjectSource] = {}
    for file in files if unique else dict.fromkeys(files):
        if not file:
            raise UsageError("'' is the name of no file")
        try:
            loaded = read(Path(file))
        except AtomFileError as error:
            errors += error.errors
            continue
        errors += loaded.errors
        for subject in loaded.items:
            if unique and subject.name in sources:
                errors.append(AtomFileError(file, subject.name, f"is in {sources[subject.name].file} too"))
            sources[subject.name] = SubjectSource(file, table(subject))
        items += loaded.items
    return LoadedFiles(tuple(items), sources, report_errors(errors, bool(items)))


def report_errors(errors: Sequence[AtomFileError], readable: bool) -> tuple[Failure, ...]:
    """Print the errors of files and return them as failures. Raises MalformedError if nothing was `readable`."""
    if errors and not readable:
        raise MalformedError(errors)
    failures = {failure_of(error): error for error in errors}
    if failures:
        complain(MalformedError([*failures.values()]).shown, Exit.USAGE)
    return tuple(failures)


def budget(options: argparse.Namespace) -> int:
    """Return the solver's budget per proof."""
    if options.rlimit is not None and not 0 < options.rlimit < 1 << 32:
        raise UsageError(f"--rlimit {options.rlimit}: the budget must be positive and below 2^32")
    return options.rlimit or proofs.BUDGET


def of_entries(
    parser: Callable[[], argparse.ArgumentParser],
    entries: Callable[[argparse.Namespace], LoadedFiles[S]],
    verify: Callable[[LoadedFiles[S], argparse.Namespace], int],
    stops: Mapping[str, Collection[str]],
) -> Callable[[Sequence[str] | None], int]:
    """Return the body of a command that verifies the entries of its arguments, or lists them with --list."""

    def body(argv: Sequence[str] | None) -> int:
        options = parse(parser(), argv, stops)
        loaded = entries(options)
        return list_names(loaded, options) if options.list else verify(loaded, options)

    return body
