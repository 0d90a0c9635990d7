# SPDX-License-Identifier: Apache-2.0
"""Errors of TOML files, with file, line, column and key."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Spot(NamedTuple):
    """The place of an error in a file's tables: table, key, and letter of the key's text."""

    root: str  # the table's name; of a family with its parameters as placeholders
    key: str  # as messages write it: types.D, ptx[1]; empty: the table itself
    text: str = ""  # the key's text, if `letter` is an index into it
    letter: int = -1


class AtomFileError(ValueError):
    """A file of atoms has an error; the message is one line: file, line, column, key, problem.

    `errors` has all errors that were found in the file, the first of which this one is. Where they are several, the
    message has a line for each.
    """

    LONGEST = 300

    def __init__(
        self,
        file: str,
        key: str,
        problem: str,
        spot: Spot | None = None,
        place: tuple[int, int, str] | None = None,
        errors: tuple[AtomFileError, ...] = (),
    ) -> None:
        self.file = file
        self.key = key
        self.problem = problem
        self.spot = spot
        self.place = place  # line and column from 1, and the line's text
        self.errors = errors or (self,)
        where = file if place is None else f"{file}:{place[0]}:{place[1]}"
        parts = (p if len(p) <= self.LONGEST else f"{p[: self.LONGEST]}..." for p in (where, key, problem) if p)
        line = ": ".join(parts)  # a key of a file may contain anything: unprintable characters are escaped
        alone = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in line)
        super().__init__("\n".join(map(str, errors)) or alone)

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        """Pickle by the arguments, so that the error crosses process borders."""
        errors = self.errors if len(self.errors) > 1 else ()
        return type(self), (self.file, self.key, self.problem, self.spot, self.place, errors)

    @property
    def caret_lines(self) -> str:
        """The line of the file with a caret below the column, in two lines; empty where no place is known."""
        if self.place is None:
            return ""
        _, column, text = self.place
        start = max(0, column - 61)
        shown = "".join(c if c.isprintable() else " " for c in text[start : start + 100])
        return f"    {shown}\n    {' ' * (column - 1 - start)}^"


def combine_errors(errors: Iterable[AtomFileError]) -> AtomFileError:
    """Return the exception for one or more errors: a single one itself."""
    first, *rest = {str(fault): fault for error in errors for fault in error.errors}.values()
    if not rest:
        return first
    return AtomFileError(first.file, first.key, first.problem, first.spot, first.place, (first, *rest))
