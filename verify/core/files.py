# SPDX-License-Identifier: Apache-2.0
"""The TOML files that users write: which command a file is for, and its errors as they are printed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from layouts.toml.document import Document, read_document
from layouts.toml.errors import AtomFileError, Spot
from verify.core.errors import SpecError
from verify.core.python_files import find_fault
from verify.core.registry import list_kinds
from verify.core.specs import Key, keys

if TYPE_CHECKING:
    from isa_tables import TableError
    from layouts.toml.entry import Entry

RECORDED = b'{"'  # the first bytes of a file of recordings


def open_document(path: Path, sort: str) -> Document:
    """Read a file of one sort; raise AtomFileError if it cannot be read or is for another command."""
    raw = _beginning(path)
    if raw.lstrip().startswith(RECORDED):
        raise AtomFileError(str(path), "", "this is JSON, as recordings are: give their folder with `--recordings`")
    if kind := next((kind for kind in list_kinds() if path.suffix in kind.suffixes and kind.name != sort), None):
        raise AtomFileError(str(path), "", kind.describe(path))
    document = read_document(path)
    actual = meant_for(document.tables)
    if actual and actual != sort:
        raise AtomFileError(str(path), "", _suggestion(actual, path))
    return document


@contextmanager
def as_keys(entry: Entry) -> Iterator[None]:
    """Turn a SpecError into an error of the file, at the table's key."""
    try:
        yield
    except SpecError as error:
        entry.fail(error.key, error.problem, error)


def values(entry: Entry, spec: type) -> dict[str, Any]:
    """Return the values of a spec's fields that a table gives; raise AtomFileError with all its errors."""
    known = keys(spec)
    return {known[name].field: value for name, value in read_keys(entry, entry.table, known).items()}


def read_keys(entry: Entry, table: Mapping[str, object], known: Mapping[str, Key], under: str = "") -> dict[str, Any]:
    """Return the values of a table's keys by name; raise AtomFileError with all errors.

    The table is the entry's own, or one inside it: `under` is then its key, with a dot.
    """
    values: dict[str, Any] = {}

    def read_key(name: str) -> None:
        try:
            values[name] = known[name].parse_value(table[name])
        except SpecError as error:
            entry.fail(f"{under}{name}", error.problem, error)

    needed = [name for name, key in known.items() if key.required]
    with entry.collect_errors() as each:
        each(lambda: entry.check_keys(table, under, needed, [name for name in known if name not in needed]))
        for name in [name for name in known if name in table]:
            each(partial(read_key, name))
    return values


def _beginning(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(64)
    except (OSError, ValueError):
        return b""  # the read of the whole file reports why it fails


def meant_for(tables: Mapping[str, object]) -> str:
    """Return the sort of a file with these tables, by their keys; empty if they are of several sorts or of none.

    >>> meant_for({"mine": {"atom": "SM80_16x8x8_F32F16F16F32_TN", "tile": "64,64,32"}})
    'tiling'
    """
    fitting = list_fitting(tables)
    return fitting[0] if len(fitting) == 1 else ""


def list_fitting(tables: Mapping[str, object]) -> list[str]:
    """Return the kinds that a file with these tables may be of: that of the whole file, or those of its tables."""
    every = list_kinds()
    inner = [table for table in tables.values() if isinstance(table, dict)]
    whole = [kind.name for kind in every if kind.document(tables)]
    return whole[:1] or [kind.name for kind in every if kind.signs and any(map(kind.signs.fit, inner))]


def purpose(path: Path) -> str:
    """Return which command reads a file, as a clause."""
    if fault := describe_source(path):
        return fault
    try:
        open_document(path, "")
    except AtomFileError as error:
        return error.problem
    return "no command reads this file"


def _suggestion(sort: str, path: Path) -> str:
    return next(kind.describe(path) for kind in list_kinds() if kind.name == sort)


def describe_source(path: Path) -> str:
    """Return which part of a file of Python can be checked, as a clause; empty for another file."""
    return find_fault(str(path)).removeprefix(f"{path}: ")


def in_table(error: TableError) -> Sequence[AtomFileError]:
    """Return the errors of an instruction's table with their lines; all errors of syntax where it is not TOML."""
    plain = [_plain(fault) for fault in error.errors]
    try:
        document = read_document(Path(error.file))
    except AtomFileError:
        return plain
    return [document.locate(fault) for fault in plain] if error.key else document.errors or plain


def _plain(error: TableError) -> AtomFileError:
    table, _, key = re.sub(r"^(\w+)\[", r"\1.[", error.key).partition(".")
    spot = Spot(table, key, error.text, -1 if error.column is None else error.column - 1)
    return AtomFileError(error.file, error.key, error.reason, spot)
