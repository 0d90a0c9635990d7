# SPDX-License-Identifier: Apache-2.0
"""The reader of atom files: every key validated, every error with its file and key.

Only the form is validated: that a layout text parses, not that its profiles agree; that a shape is three numbers,
not that the instruction has it. The three checks, isa, proof and gpu, decide the rest.

An entry is one of these, by its keys:

MMA atom    A B C; shape thr types, which an entry with `ptx` may leave to its instruction; and optionally
            ptx            the instructions it issues, in order: a mnemonic or a list, in which a nested list
                           gives several mnemonics of one, for several toolkits; empty: none; absent: not given
            source         where the entry comes from
            E SFA SFB      metadata of a sparse A, scale factors of A and B
            space          {operand = "smem" or "tmem"}: every thread sees the whole tile; absent: registers
            copies         {operand = how many places each element has}; absent: as the ISA states
            relabel        {k = layout}: A and B count k by the layout's values of the ISA's k; so for m and n
            element        "2xf64" or {operand = "2xf64"}: an element is so many of that type
            known_defect   why the atom is expected to be refuted
            expect         "UNCHECKED: why": what the ISA leaves open, so that nothing can be compared
copy atom   Src Dst Ref; thr space, which an entry with `ptx` may leave out; and optionally ptx source copies
            known_defect expect and
            bits           {Src or Dst = width of an element in the bits that its layout counts}
            adapter        {name, bytes}: a permutation of bytes of Dst after the instruction
family      either of them with params: see `layouts.atoms.family`
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from layouts.atoms import copying, mma
from layouts.atoms.atom import Atom, CopyAtom, IncompleteAtom
from layouts.atoms.family import family
from layouts.int_tuple import IntTuple
from layouts.toml.document import Document, read_document
from layouts.toml.entry import Entry
from layouts.toml.errors import combine_errors
from layouts.toml.tables import ReadTables, tables

AnyAtom: TypeAlias = "Atom | CopyAtom"
ReadAtom: TypeAlias = "AnyAtom | IncompleteAtom"
KEYS = frozenset({"params", *mma.OPTIONAL, *mma.REQUIRED, *copying.OPTIONAL, *copying.REQUIRED})


def load(path: Path | str) -> tuple[ReadAtom, ...]:
    """Return the atoms of a TOML file, in its order, families expanded.

    Raises AtomFileError, with all errors of the file: not TOML, over 1 MiB, unreadable, nested deeper than 64, a key
    missing, unknown or of the wrong type, a layout text that does not parse or has over 2^24 points, a parameter,
    multiplicity or width that does not fit. A layout whose shape and stride differ in profile is not an error here: the
    checks refute it. An entry that leaves keys to its instruction is an IncompleteAtom.
    """
    return list_atoms(read_document(Path(path))).whole()


def list_atoms(document: Document) -> ReadTables[ReadAtom]:
    """Return the atoms of a file that can be read, and all errors of the others."""
    parsed: dict[str, IntTuple] = {}
    seen: set[str] = set()

    def atoms(entry: Entry) -> Iterator[ReadAtom]:
        for instance in instances(replace(entry, parsed=parsed)):
            if instance.name in seen:
                instance.fail("", "is there twice")
            seen.add(instance.name)
            yield read_atom(instance)

    return tables(document, "an atom", KEYS, atoms)


def instances(entry: Entry) -> Iterator[Entry]:
    """Yield the entries of a table: itself, or with parameters the instances of its family."""
    if "params" not in entry.table:
        yield entry
        return
    whole = family(entry)
    yield from (whole.instance(instance, params) for instance, params in whole.names())


def read_atom(entry: Entry) -> ReadAtom:
    """Return the atom of an entry without parameters: a copy where it has a Src or a Dst, else an MMA.

    For a misspelled key there is one error, not a second one for the missing key that was meant.
    """
    copy = {"src", "dst"} & {key.lower().removesuffix("layout") for key in entry.table}
    sort = copying if copy else mma
    known = list(dict.fromkeys((*sort.SAID, *sort.REQUIRED, *sort.OPTIONAL)))
    with entry.collect_errors() as read:
        read(lambda: entry.check_keys(entry.table, "", (), known))
        atom: ReadAtom = read(lambda: _whole_or_gaps(entry.correct_keys(known), sort.whole, sort.PLACEHOLDERS))
    return atom


def _whole_or_gaps(entry: Entry, whole: Callable[[Entry], AnyAtom], placeholders: Mapping[str, object]) -> ReadAtom:
    """Return the atom of an entry; an IncompleteAtom where it leaves keys of ``placeholders`` to its instruction.

    The keys that are there are validated in either case: ``whole`` reads the entry with placeholders for the others,
    which do not affect them. An entry without an instruction must have all keys.
    """
    gaps = entry.gaps(placeholders)
    if not gaps or not entry.table.get("ptx"):
        return whole(entry)
    atom = whole(entry.fill(placeholders))
    common = {name: getattr(atom, name) for name in ("name", "ptx", "operands", "file", "known_defect", "spellings")}
    return IncompleteAtom(**common, gaps=gaps, entry=entry)


def complete(atom: IncompleteAtom, said: Mapping[str, object], taken: Mapping[str, str]) -> AnyAtom:
    """Return the atom with the keys `said` by its instruction filled in; `taken` describes each of them in words.

    Raises AtomFileError where a key that is filled in does not fit, or one is still missing.
    """
    whole = read_atom(atom.entry.fill(said, taken))
    if isinstance(whole, IncompleteAtom):
        raise combine_errors(
            [atom.entry.error(key, "missing, and the instruction does not give it") for key in whole.gaps]
        )
    return whole
