# SPDX-License-Identifier: Apache-2.0
"""An atom as a file states it, and what can be wrong with such a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from layouts.atoms.entry import Entry, Family


class Issued:
    """What an atom issues: `ptx` in order, each instruction in the first of its spellings."""

    __slots__ = ()
    ptx: tuple[str, ...] | None
    spellings: Mapping[str, tuple[str, ...]]

    @property
    def mnemonics(self) -> tuple[str, ...]:
        """Every mnemonic that the atom names, once each: those it issues, each followed by its other spellings."""
        every = ((first, *self.spellings.get(first, ())) for first in self.ptx or ())
        return tuple(dict.fromkeys(mnemonic for spelled in every for mnemonic in spelled))


@dataclass(frozen=True, slots=True)
class Atom(Issued):
    """The claim that an instruction deals its operands out to lanes as these layouts say.

    A layout maps (logical thread, value) to an element: A, E and SFA to m + M*k, B and SFB to n + N*k, C and D to
    m + M*n. Layouts are still text, because that they are layouts is the first claim.
    """

    name: str
    ptx: tuple[str, ...] | None  # the instructions in the order they are issued; None: not stated, (): none
    shape: tuple[int, int, int]  # M, N, K
    thr: str  # layout text, logical thread -> lane
    types: Mapping[str, str]  # D, A, B, C and, where stated, E, SFA, SFB -> PTX type
    operands: Mapping[str, str]  # A, B, C and, where the instruction has them, E, SFA, SFB -> layout text
    source: str
    element: Mapping[str, str]  # operand -> "2xf64": an element is two f64, and each obeys the layout; {}: plain
    known_defect: str | None  # why the atom is expected to be refuted
    file: str  # where it was read
    space: Mapping[str, str] = field(default_factory=dict)  # operand -> smem or tmem; registers are not named
    copies: Mapping[str, int] = field(default_factory=dict)  # operand -> how often each element is held
    family: Family | None = field(default=None, repr=False, compare=False)  # its entry with parameters
    params: Mapping[str, int | str] = field(default_factory=dict)  # the values of that entry's parameters
    spellings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of one in `ptx`: for other toolkits
    expect: str | None = None  # "UNCHECKED: why", where the ISA leaves open what would be compared
    taken: Mapping[str, str] = field(default_factory=dict)  # key that the entry leaves out -> what was filled in


@dataclass(frozen=True, slots=True)
class Adapter:
    """A named permutation of bytes that a copy applies to its registers after the instruction.

    Byte i of each group of `len(bytes)` is byte `bytes[i]` of what the instruction left there.
    """

    name: str
    bytes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CopyAtom(Issued):
    """The claim that an instruction moves bits as these layouts say.

    Src and Dst map (logical thread, bit) to the number of a bit; what Src calls a bit, Dst calls it too, on its side
    of the copy. Ref is the side by which tiles are cut.
    """

    name: str
    ptx: tuple[str, ...] | None
    thr: str  # layout text, logical thread -> lane
    operands: Mapping[str, str]  # Src, Dst, Ref -> layout text
    space: Mapping[str, str]  # Src and Dst -> reg, smem, gmem or tmem
    bits: Mapping[str, int]  # Src and Dst -> the width of one element, in the bits that the layouts count
    copies: Mapping[str, int]  # Src and Dst -> how often each bit is held, where not once
    adapter: Adapter | None
    source: str
    known_defect: str | None
    file: str
    family: Family | None = field(default=None, repr=False, compare=False)
    params: Mapping[str, int | str] = field(default_factory=dict)
    spellings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    expect: str | None = None
    taken: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class IncompleteAtom(Issued):
    """An atom whose entry leaves to its instruction what that says; it claims something once it is completed.

    `gaps` are the keys that it leaves out, of `types` and `space` one for each operand: types.D.
    """

    name: str
    ptx: tuple[str, ...]
    operands: Mapping[str, str]
    gaps: tuple[str, ...]
    known_defect: str | None
    file: str
    entry: Entry = field(repr=False, compare=False)
    spellings: Mapping[str, tuple[str, ...]]


A = TypeVar("A", Atom, CopyAtom)


def whole_or_incomplete(
    entry: Entry, stand_ins: Mapping[str, object], whole: Callable[[Entry], A]
) -> A | IncompleteAtom:
    """The atom of an entry; incomplete where it leaves out what its instruction says, a key of ``stand_ins``.

    The keys that are there are checked in either case: ``whole`` reads the entry with stand-ins for the others, which
    makes no difference to them. An entry that names no instruction has to say everything itself.
    """
    gaps = entry.gaps(stand_ins)
    if not gaps or not entry.table.get("ptx"):
        return whole(entry)
    checked = whole(entry.filled(stand_ins))
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
