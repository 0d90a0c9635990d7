# SPDX-License-Identifier: Apache-2.0
"""Atoms as files state them: MMA atoms, copy atoms, and entries that leave keys to their instruction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from layouts.toml.entry import Entry, Family


# Nothing is made of this class alone, nor of the next: they need no methods of their own.
@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False, eq=False)
class Issued:
    """What every atom states: the instructions that it issues, in order, and its layouts.

    Layouts are texts here: that they are layouts is the first property to be checked.
    """

    name: str  # of the entry, parameters filled in
    ptx: tuple[str, ...] | None  # each by the first of its mnemonics; None: not given, (): none
    operands: Mapping[str, str]  # operand -> layout text
    file: str = ""  # where it was read
    known_defect: str | None = None  # why the atom is expected to be refuted
    spellings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # mnemonic -> those of other toolkits

    @property
    def mnemonics(self) -> tuple[str, ...]:
        """Every mnemonic that the atom names, once each: those it issues, each followed by its other mnemonics."""
        every = ((first, *self.spellings.get(first, ())) for first in self.ptx or ())
        return tuple(dict.fromkeys(mnemonic for names in every for mnemonic in names))


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False, eq=False)
class Complete(Issued):
    """What MMA and copy atoms have besides, where nothing is left out."""

    thr: str  # layout text, logical thread -> lane
    source: str = ""  # where the entry comes from
    space: Mapping[str, str] = field(default_factory=dict)  # operand -> reg, smem, gmem or tmem; absent: reg
    copies: Mapping[str, int] = field(default_factory=dict)  # operand -> how many places each element or bit has
    family: Family | None = field(default=None, repr=False, compare=False)  # its entry with parameters
    params: Mapping[str, int | str] = field(default_factory=dict)  # the values of that entry's parameters
    expect: str | None = None  # "UNCHECKED: why", where the ISA leaves open what would be compared
    taken: Mapping[str, str] = field(default_factory=dict)  # key that the entry leaves out -> what was filled in


@dataclass(frozen=True, slots=True, kw_only=True)
class Atom(Complete):
    """The claim that an instruction distributes its operands over lanes as these layouts say.

    The operands are A, B, C and, where the instruction has them, E, SFA, SFB. A layout maps (logical thread, value) to
    an element: A, E and SFA to m + M*k, B and SFB to n + N*k, C and D to m + M*n.
    """

    shape: tuple[int, int, int]  # M, N, K
    types: Mapping[str, str]  # D, A, B, C and, where given, E, SFA, SFB -> PTX type
    element: Mapping[str, str] = field(default_factory=dict)  # operand -> "2xf64": an element is two f64, and each
    # obeys the layout; {}: plain
    relabel: Mapping[str, str] = field(default_factory=dict)  # m, n or k -> layout: the atom's number of the ISA's


class Adapter(NamedTuple):
    """A named permutation of bytes that a copy applies to its registers after the instruction.

    Byte i of each group of `len(bytes)` is byte `bytes[i]` of the instruction's result.
    """

    name: str
    bytes: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyAtom(Complete):
    """The claim that an instruction moves bits as these layouts say.

    The operands Src and Dst map (logical thread, bit) to the number of a bit, which is the same in source and
    destination. Ref is the one of them by which tiles are divided.
    """

    bits: Mapping[str, int] = field(default_factory=dict)  # Src and Dst -> bits of an element, as the layouts count
    adapter: Adapter | None = None  # the permutation of bytes after the instruction


@dataclass(frozen=True, slots=True, kw_only=True)
class IncompleteAtom(Issued):
    """An atom whose entry leaves out keys that its instruction gives: `reading.complete` fills them in."""

    gaps: tuple[str, ...]  # the keys that it leaves out; of `types` and `space` one for each operand: types.D
    entry: Entry = field(repr=False, compare=False)  # the table, to be completed
