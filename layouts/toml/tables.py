# SPDX-License-Identifier: Apache-2.0
"""The tables of a file read one by one: an error in one does not affect the others, and each has its line."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Generic, NamedTuple, TypeVar

from layouts.toml.document import Document
from layouts.toml.entry import LONGEST_NAME, Entry, kind
from layouts.toml.errors import AtomFileError, Spot, combine_errors

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class ReadTables(NamedTuple, Generic[T_co]):
    """The results of reading a file's tables, in its order, and all its errors, by line."""

    items: tuple[T_co, ...]
    errors: tuple[AtomFileError, ...]

    def whole(self) -> tuple[T_co, ...]:
        """Return the results of all tables. Raises AtomFileError, with all errors, where there are any."""
        if self.errors:
            raise combine_errors(self.errors)
        return self.items


def tables(
    document: Document, what: str, keys: Collection[str], reader: Callable[[Entry], Iterable[T]]
) -> ReadTables[T]:
    r"""Return the results of `reader` on each table; `keys` are those by which a table of this sort is recognized.

    >>> from layouts.toml.document import document
    >>> listed = tables(document(b"[a]\nx = 1\n[b]", "f"), "a thing", {"x"}, lambda e: [e.value("x")])
    >>> listed.items, [str(error) for error in listed.errors]
    ((1,), ['f:3:2: b.x: missing'])
    """
    items: list[T] = []
    errors = list(document.errors)
    if not document.tables and not errors:
        errors.append(AtomFileError(document.file, "", "there is no table in it"))
    loose = [name for name, table in document.tables.items() if not isinstance(table, dict)]
    loose = loose if set(keys) & set(loose) else []
    if loose:
        problem = f'{", ".join(loose)} {"is" if len(loose) == 1 else "are"} in no table: a line ["NAME"] belongs above'
        errors.append(AtomFileError(document.file, loose[0], problem, Spot(loose[0], "")))
    for name, table in document.tables.items():
        if name in loose:
            continue
        try:
            items += reader(find_named(document.file, name, table, what, keys))
        except AtomFileError as error:
            errors += error.errors
    located = [document.locate(error) for error in errors]
    return ReadTables(tuple(items), by_line(located))


def by_line(errors: Iterable[AtomFileError]) -> tuple[AtomFileError, ...]:
    """Errors in the order of their lines; those without a line come first."""
    return tuple(sorted(errors, key=lambda error: error.place[:2] if error.place else (0, 0)))


def find_named(file: str, name: str, table: object, what: str = "an atom", keys: Collection[str] = ()) -> Entry:
    """Return the entry of a table with a name. Raises AtomFileError for a wrong name or a value that isn't a table."""
    spot = Spot(name, "")
    if not isinstance(table, dict):
        raise AtomFileError(file, name or '""', f"expected a table, found {kind(table)}", spot)
    if not name.strip():
        raise AtomFileError(file, '""', f"{what} needs a name", spot)
    if len(name) > LONGEST_NAME or not name.isprintable():
        raise AtomFileError(file, name, f"a name is at most {LONGEST_NAME} printable characters", spot)
    inner = _inside(name, table, keys)
    if inner:
        raise AtomFileError(file, name, f'a name with a dot needs quotes: ["{inner}"]', spot)
    return Entry(file, name, table)


def _inside(name: str, table: Mapping[str, object], keys: Collection[str]) -> str:
    """Return the whole name of the first table inside one that has no key of its own; empty where there is none."""
    while not table.keys() & set(keys):
        name_and_table = next(((n, t) for n, t in table.items() if isinstance(t, dict) and t), None)
        if name_and_table is None:
            return ""
        name, table = f"{name}.{name_and_table[0]}", name_and_table[1]
        if table.keys() & set(keys):
            return name
    return ""
