# SPDX-License-Identifier: Apache-2.0
"""Atoms out of TOML files: every key checked, every error with its file and key.

What is checked is the form: that a layout text parses, not that its profiles agree; that a shape is three numbers,
not that the instruction has it. The rest is for the witnesses.

An entry is one of these, told apart by its keys:

MMA atom    shape thr types A B C source, and optionally
            ptx            the instructions it issues, in order: a mnemonic or a list, in which a nested list
                           gives several spellings of one, for several toolkits; empty: none; absent: not stated
            E SFA SFB      metadata of a sparse A, scale factors of A and B
            space          {operand = "smem" or "tmem"}: every thread sees the whole tile; absent: registers
            copies         {operand = how often each element is held}; absent: as the ISA states
            element        "2xf64" or {operand = "2xf64"}: an element is so many of that type
            known_defect   why the atom is expected to be refuted
            expect         "UNCHECKED: why": what the ISA leaves open, so that nothing can be compared
copy atom   thr Src Dst Ref source space, and optionally ptx copies known_defect expect and
            bits           {side = width of an element in the bits that its layout counts}
            adapter        {name, bytes}: a permutation of bytes of Dst after the instruction
family      either of them with params: see `layouts.atoms.family`
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from layouts.atoms import copying, mma
from layouts.atoms.atom import Atom, AtomFileError, CopyAtom
from layouts.atoms.document import read
from layouts.atoms.entry import LONGEST_NAME, Entry, kind
from layouts.atoms.family import family
from layouts.int_tuple import IntTuple

AnyAtom: TypeAlias = "Atom | CopyAtom"


def load(path: Path | str) -> tuple[AnyAtom, ...]:
    """The atoms of a TOML file, in its order, families expanded.

    Raises AtomFileError: not TOML, over 1 MiB, unreadable, nested deeper than 64, a key missing, unknown or of the
    wrong type, a layout text that does not parse or has over 2^24 points, a parameter, multiplicity or width that
    does not fit. A layout whose shape and stride differ in profile is not an error here: it will be refuted.
    """
    return tuple(atoms(read(Path(path)), str(path)))


def atoms(tables: Mapping[str, object], file: str) -> Iterator[AnyAtom]:
    """The atoms that a document's tables state; raises AtomFileError."""
    parsed: dict[str, IntTuple] = {}
    seen: set[str] = set()
    for name, table in tables.items():
        for entry in entries(name, table, file, parsed):
            if entry.name in seen:
                raise AtomFileError(file, entry.name, "stands twice")
            seen.add(entry.name)
            yield stated(entry)


def entries(name: str, table: object, file: str, parsed: dict[str, IntTuple]) -> Iterator[Entry]:
    """The entries that a table stands for: itself, or the instances of a family."""
    entry = checked(name, table, file, parsed)
    if "params" not in entry.table:
        yield entry
        return
    whole = family(entry)
    yield from (whole.instance(instance, params) for instance, params in whole.names())


def checked(name: str, table: object, file: str, parsed: dict[str, IntTuple]) -> Entry:
    """A table with a name; raises AtomFileError."""
    if not isinstance(table, dict):
        raise AtomFileError(file, name or '""', f"expected a table, found {kind(table)}")
    if not name.strip():
        raise AtomFileError(file, '""', "an atom needs a name")
    if len(name) > LONGEST_NAME or not name.isprintable():
        raise AtomFileError(file, name, f"a name is at most {LONGEST_NAME} printable characters")
    return Entry(file, name, table, parsed)


def stated(entry: Entry) -> AnyAtom:
    """The atom of an entry without parameters: a copy where it has a Src or a Dst, else an MMA."""
    return copying.atom(entry) if {"Src", "Dst"} & entry.table.keys() else mma.atom(entry)
