# SPDX-License-Identifier: Apache-2.0
"""The errors that end a command with one line and an exit code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lanecheck.console.exits import Exit

if TYPE_CHECKING:
    from layouts.toml.errors import AtomFileError

__all__ = ["AbsentError", "Exit", "MalformedError", "SpecError", "UsageError"]


class SpecError(ValueError):
    """An error in one key of a spec; an empty key means the spec as a whole.

    A command prints the key as an option, or as a key of a table where the spec is from a file. `entry` names that file
    and table, as `tilings.toml: my_tiling`.

    >>> str(SpecError("tile", "M = 100 is not a multiple of 16", "tilings.toml: mine"))
    'tilings.toml: mine.tile: M = 100 is not a multiple of 16'
    """

    def __init__(self, key: str, problem: str, entry: str = "") -> None:
        where = ".".join(filter(None, (entry, key)))
        super().__init__(f"{where}: {problem}" if where else problem)
        self.key = key
        self.problem = problem
        self.entry = entry


class UsageError(Exception):
    """A request that cannot be carried out; its text is the one line that is printed."""

    code = Exit.USAGE
    shown = ""  # printed on stderr in place of its text
    errors: tuple[AtomFileError, ...] = ()  # of a file, with their lines


class AbsentError(UsageError):
    """A requested check that this machine cannot make."""

    code = Exit.UNDECIDED


class MalformedError(UsageError):
    """A file with errors: its text has a line for each; `shown` adds the lines of the file that they are in."""

    def __init__(self, errors: Sequence[AtomFileError]) -> None:
        super().__init__("\n".join(map(str, errors)))
        self.errors = tuple(errors)
        lines = [line for error in errors for line in (f"lanecheck: {error}", error.caret_lines) if line]
        self.shown = "\n".join(lines)
