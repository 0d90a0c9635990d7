# SPDX-License-Identifier: Apache-2.0
"""What a command reads: the files with their entries, and the solver's budget."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Generic

from layouts.atoms.errors import AtomFileError
from verify.cli.arguments import parsed
from verify.cli.ending import complain
from verify.cli.output import list_names
from verify.core.errors import Exit, MalformedError, UsageError
from verify.core.names import S, select
from verify.report import Failure, failure_of
from verify.report.placing import Source

if TYPE_CHECKING:
    from layouts.atoms.tables import Found


@dataclass(frozen=True)
class LoadedFiles(Generic[S]):
    """The subjects of some files, where each stands, and the errors of what could not be read, which are printed."""

    items: tuple[S, ...] = ()
    sources: Mapping[str, Source] = field(default_factory=dict)
    failures: tuple[Failure, ...] = ()

    def only(self, names: Sequence[str], what: str) -> LoadedFiles[S]:
        """Return those that names and patterns select, all without any. Raises SpecError for a name of none."""
        if not names:
            return self
        chosen = select(names, dict.fromkeys(one.name for one in self.items), what)
        return replace(self, items=tuple(one for one in self.items if one.name in chosen))


def load(
    files: Iterable[str],
    read: Callable[[Path], Found[S]],
    table: Callable[[S], str] = attrgetter("name"),
    unique: bool = False,
) -> LoadedFiles[S]:
    """Read the subjects of files, each in a `table` of its file; print the errors of those that cannot be read.

    If they are `unique`, a name that two files have is an error. Raises MalformedError if nothing can be read.
    """
    items: list[S] = []
    errors: list[AtomFileError] = []
    sources: dict[str, Source] = {}
    for file in dict.fromkeys(files):
        if not file:
            raise UsageError("'' is the name of no file")
        try:
            found = read(Path(file))
        except AtomFileError as error:
            errors += error.errors
            continue
        errors += found.errors
        for one in found.items:
            if unique and one.name in sources:
                errors.append(AtomFileError(file, one.name, f"is in {sources[one.name].file} too"))
            sources[one.name] = Source(file, table(one))
        items += found.items
    return LoadedFiles(tuple(items), sources, report_errors(errors, bool(items)))


def report_errors(errors: Sequence[AtomFileError], others: bool) -> tuple[Failure, ...]:
    """Print the errors of files and return them as failures. Raises MalformedError if no `others` could be read."""
    if errors and not others:
        raise MalformedError(errors)
    failures = {failure_of(error): error for error in errors}
    if failures:
        complain(MalformedError([*failures.values()]).shown, Exit.USAGE)
    return tuple(failures)


def in_files(options: argparse.Namespace, read: Callable[[Path], Found[S]], what: str) -> list[S]:
    """The entries of the files, or those that --only names; an entry that cannot be read is reported as a failure."""
    loaded = load(options.files, read)
    options.sources = loaded.sources
    options.malformed = tuple(dict.fromkeys((*getattr(options, "malformed", ()), *loaded.failures)))
    return list(loaded.only(options.only, what).items)


def note(errors: Sequence[AtomFileError], options: argparse.Namespace, others: bool) -> None:
    """Print the errors of files and keep them as failures; MalformedError where no other entry is left."""
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
