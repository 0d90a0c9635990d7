# SPDX-License-Identifier: Apache-2.0
"""Errors of the ISA tables: a mnemonic that they do not have, or a table that breaks its schema."""

from __future__ import annotations

from collections.abc import Sequence


class IsaError(ValueError):
    """The tables have no answer to a question, or a table cannot be read."""


class UnknownInstruction(IsaError):
    """The tables do not have the instruction family; whether the ISA has the instruction is open."""


class NotInIsa(IsaError):
    """The tables have the whole family, and the ISA has no such shape, types, qualifiers or selection in it."""


class TableError(IsaError):
    """A table breaks the schema or the formula language; names the file, the key and the column.

    `errors` has all errors that were found together; this one is the first.
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
    """Return the first of several errors, with all of them in its `errors`."""
    first = errors[0]
    first.errors = tuple(part for error in errors for part in error.errors)
    return first
