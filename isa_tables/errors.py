# SPDX-License-Identifier: Apache-2.0
"""What can go wrong with the book: a mnemonic it does not hold, or a table that is badly written."""

from __future__ import annotations

from collections.abc import Sequence


class IsaError(ValueError):
    """A question that the tables cannot answer, or a table that cannot be read."""


class UnknownInstruction(IsaError):
    """The instruction family is not in the tables at all: they say nothing about it."""


class NotInIsa(IsaError):
    """The family is in the tables, whose lists are complete: the ISA has no such shape, types, qualifiers or choice."""


class TableError(IsaError):
    """A table breaks the schema or the formula language; names the file, the key and the column.

    `errors` are all that were found together; this one is the first.
    """

    def __init__(self, file: str, key: str, reason: str, text: str = "", column: int | None = None) -> None:
        self.file, self.key, self.reason, self.text, self.column = file, key, reason, text, column
        self.errors: tuple[TableError, ...] = (self,)
        place = f"{file}: {key}: " if key else f"{file}: "
        message = place + reason
        if column is not None:
            message += f" at column {column}\n  {text}\n  {' ' * (column - 1)}^"
        super().__init__(message)


def together(errors: Sequence[TableError]) -> TableError:
    """The first of several errors, which knows them all."""
    first = errors[0]
    first.errors = tuple(one for error in errors for one in error.errors)
    return first
