# SPDX-License-Identifier: Apache-2.0
"""Atoms as files state them: MMA atoms, copy atoms, and entries that leave keys to their instruction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from layouts.atoms.entry import Entry, Family


class Issued:
    """The instructions that an atom issues: `ptx` in order, each by the first of its mnemonics."""

    __slots__ = ()
    ptx: tuple[str, ...] | None
    spellings: Mapping[str, tuple[str, ...]]

    @property
    def mnemonics(self) -> tuple[str, ...]:
        """Every mnemonic that the atom names, once each: those it issues, each followed by its other mnemonics."""
        every = ((first, *self.spellings.get(first, ())) for first in self.ptx or ())
        return tuple(dict.fromkeys(mnemonic for one in every for mnemonic in one))


@dataclass(frozen=True, slots=True)
class Atom(Issued):
    """The claim that an instruction distributes its operands over lanes as these layouts say.

    A layout maps (logical thread, value) to an element: A, E and SFA to m + M*k, B and SFB to n + N*k, C and D to
    m + M*n. Layouts are texts here: that they are layouts is the first property to be checked.
    """

    name: str  # of the entry, parameters filled in
    ptx: tuple[str, ...] | None  # the instructions in the order they are issued; None: not stated, (): none
    shape: tuple[int, int, int]  # M, N, K
    thr: str  # layout text, logical thread -> lane
    types: Mapping[str, str]  # D, A, B, C and, where stated, E, SFA, SFB -> PTX type
    operands: Mapping[str, str]  # A, B, C and, where the instruction has them, E, SFA, SFB -> layout text
    source: str  # where the entry comes from
    element: Mapping[str, str]  # operand -> "2xf64": an element is two f64, and each obeys the layout; {}: plain
    known_defect: str | None  # why the atom is expected to be refuted
    file: str  # where it was read
    space: Mapping[str, str] = field(default_factory=dict)  # operand -> smem or tmem; registers are not named
    copies: Mapping[str, int] = field(default_factory=dict)  # operand -> how many places each element has
    family: Family | None = field(default=None, repr=False, compare=False)  # its entry with parameters
    params: Mapping[str, int | str] = field(default_factory=dict)  # the values of that entry's parameters
    spellings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # mnemonic -> those of other toolkits
    expect: str | None = None  # "UNCHECKED: why", where the ISA leaves open what would be compared
    taken: Mapping[str, str] = field(default_factory=dict)  # key that the entry leaves out -> what was filled in


@dataclass(frozen=True, slots=True)
class Adapter:
    """A named permutation of bytes that a copy applies to its registers after the instruction.

    Byte i of each group of `len(bytes)` is byte `bytes[i]` of the instruction's result.
    """

    name: str
    bytes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CopyAtom(Issued):
    """The claim that an instruction moves bits as these layouts say.

    Src and Dst map (logical thread, bit) to the number of a bit, which is the same in source and destination. Ref is
    the one of them by which tiles are divided.
    """

    name: str  # of the entry, parameters filled in
    ptx: tuple[str, ...] | None  # the instructions in the order they are issued; None: not stated, (): none
    thr: str  # layout text, logical thread -> lane
    operands: Mapping[str, str]  # Src, Dst, Ref -> layout text
    space: Mapping[str, str]  # Src and Dst -> reg, smem, gmem or tmem
    bits: Mapping[str, int]  # Src and Dst -> the width of one element, in the bits that the layouts count
    copies: Mapping[str, int]  # Src and Dst -> how many places each bit has, where not one
    adapter: Adapter | None  # the permutation of bytes after the instruction
    source: str  # where the entry comes from
    known_defect: str | None  # why the atom is expected to be refuted
    file: str  # where it was read
    family: Family | None = field(default=None, repr=False, compare=False)  # its entry with parameters
    params: Mapping[str, int | str] = field(default_factory=dict)  # the values of that entry's parameters
    spellings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # mnemonic -> those of other toolkits
    expect: str | None = None  # "UNCHECKED: why", where the ISA leaves open what would be compared
    taken: Mapping[str, str] = field(default_factory=dict)  # key that the entry leaves out -> what was filled in


@dataclass(frozen=True, slots=True)
class IncompleteAtom(Issued):
    """An atom whose entry leaves out keys that its instruction gives: `reading.complete` fills them in."""

    name: str  # of the entry, parameters filled in
    ptx: tuple[str, ...]  # the instructions in the order they are issued, at least one
    operands: Mapping[str, str]  # operand -> layout text
    gaps: tuple[str, ...]  # the keys that it leaves out; of `types` and `space` one for each operand: types.D
    known_defect: str | None  # why the atom is expected to be refuted
    file: str  # where it was read
    entry: Entry = field(repr=False, compare=False)  # the table, to be completed
    spellings: Mapping[str, tuple[str, ...]]  # mnemonic -> those of other toolkits


A = TypeVar("A", Atom, CopyAtom)


def whole_or_incomplete(
    entry: Entry, placeholders: Mapping[str, object], whole: Callable[[Entry], A]
) -> A | IncompleteAtom:
    """The atom of an entry; an IncompleteAtom where it leaves keys of ``placeholders`` to its instruction.

    The keys that are there are validated in either case: ``whole`` reads the entry with placeholders for the others,
    which do not affect them. An entry without an instruction must have all keys.
    """
    gaps = entry.gaps(placeholders)
    if not gaps or not entry.table.get("ptx"):
        return whole(entry)
    checked = whole(entry.filled(placeholders))
    return IncompleteAtom(
        name=entry.name,
        ptx=checked.ptx or (),
        operands=checked.operands,
        gaps=gaps,
        known_defect=checked.known_defect,
        file=entry.file,
        entry=entry,
        spellings=checked.spellings,
    )
