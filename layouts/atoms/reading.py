# SPDX-License-Identifier: Apache-2.0
"""Atoms out of TOML files: every key checked, every error with its file and key.

What is checked is the form: that a layout text parses, not that its profiles agree; that a shape is three numbers,
not that the instruction has it. The rest is for the witnesses.

An entry is one of these, told apart by its keys:

MMA atom    A B C; shape thr types, which an entry with `ptx` may leave to its instruction; and optionally
            ptx            the instructions it issues, in order: a mnemonic or a list, in which a nested list
                           gives several spellings of one, for several toolkits; empty: none; absent: not stated
            source         where the entry comes from
            E SFA SFB      metadata of a sparse A, scale factors of A and B
            space          {operand = "smem" or "tmem"}: every thread sees the whole tile; absent: registers
            copies         {operand = how often each element is held}; absent: as the ISA states
            element        "2xf64" or {operand = "2xf64"}: an element is so many of that type
            known_defect   why the atom is expected to be refuted
            expect         "UNCHECKED: why": what the ISA leaves open, so that nothing can be compared
copy atom   Src Dst Ref; thr space, which an entry with `ptx` may leave out; and optionally ptx source copies
            known_defect expect and
            bits           {side = width of an element in the bits that its layout counts}
            adapter        {name, bytes}: a permutation of bytes of Dst after the instruction
family      either of them with params: see `layouts.atoms.family`
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from layouts.atoms import copying, mma
from layouts.atoms.atom import Atom, CopyAtom, IncompleteAtom
from layouts.atoms.document import Document, read
from layouts.atoms.entry import Entry
from layouts.atoms.errors import raised
from layouts.atoms.family import family
from layouts.atoms.tables import Found, tables
from layouts.int_tuple import IntTuple

AnyAtom: TypeAlias = "Atom | CopyAtom"
Stated: TypeAlias = "AnyAtom | IncompleteAtom"
KEYS = frozenset({"params", *mma.OPTIONAL, *mma.REQUIRED, *copying.OPTIONAL, *copying.REQUIRED})


def load(path: Path | str) -> tuple[Stated, ...]:
    """The atoms of a TOML file, in its order, families expanded.

    Raises AtomFileError, with all errors of the file: not TOML, over 1 MiB, unreadable, nested deeper than 64, a key
    missing, unknown or of the wrong type, a layout text that does not parse or has over 2^24 points, a parameter,
    multiplicity or width that does not fit. A layout whose shape and stride differ in profile is not an error here: it
    will be refuted. An entry that leaves out what its instruction says is an IncompleteAtom.
    """
    return listed(read(Path(path))).whole()


def listed(document: Document) -> Found[Stated]:
    """The atoms of a file that can be read, and all that is wrong with the others."""
    parsed: dict[str, IntTuple] = {}
    seen: set[str] = set()

    def atoms(entry: Entry) -> Iterator[Stated]:
        for one in instances(replace(entry, parsed=parsed)):
            if one.name in seen:
                one.fail("", "stands twice")
            seen.add(one.name)
            yield stated(one)

    return tables(document, "an atom", KEYS, atoms)


def instances(entry: Entry) -> Iterator[Entry]:
    """The entries that a table stands for: itself, or the instances of a family."""
    if "params" not in entry.table:
        yield entry
        return
    whole = family(entry)
    yield from (whole.instance(instance, params) for instance, params in whole.names())


def stated(entry: Entry) -> Stated:
    """The atom of an entry without parameters: a copy where it has a Src or a Dst, else an MMA.

    A key that is misspelled is told, not also that the one for which it was meant is missing.
    """
    copy = {"src", "dst"} & {key.lower().removesuffix("layout") for key in entry.table}
    sort = copying if copy else mma
    known = list(dict.fromkeys((*sort.SAID, *sort.REQUIRED, *sort.OPTIONAL)))
    with entry.collected() as read:
        read(lambda: entry.check_keys(entry.table, "", (), known))
        found: Stated = read(lambda: sort.atom(entry.corrected(known)))
    return found


def complete(atom: IncompleteAtom, said: Mapping[str, object], taken: Mapping[str, str]) -> AnyAtom:
    """The atom with what its instruction says filled in; `taken` tells of each key what that is, in words.

    Raises AtomFileError where what is filled in does not fit, or a gap remains.
    """
    whole = stated(atom.entry.filled(said, taken))
    if isinstance(whole, IncompleteAtom):
        raise raised([atom.entry.error(key, "missing, and the instruction does not say it") for key in whole.gaps])
    return whole
