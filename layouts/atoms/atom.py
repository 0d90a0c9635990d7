# SPDX-License-Identifier: Apache-2.0
"""An atom as a file states it, and what can be wrong with such a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from layouts.atoms.entry import Entry
    from layouts.atoms.family import Family


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


@dataclass(frozen=True, slots=True)
class Spot:
    """Where in a file's tables something is wrong: under which key of which table, and at which letter of its text."""

    root: str  # the table's name, of a family the one with its parameters
    key: str  # as in messages: types.D, ptx[1]; empty: the table itself
    text: str = ""  # what the key says, where `letter` counts in it
    letter: int = -1


class AtomFileError(ValueError):
    """A file of atoms cannot be read as one; the message is one line: file, line, column, key, problem.

    `errors` are all that were found in the file, where that is known; this one is the first.
    """

    LONGEST = 300

    def __init__(
        self, file: str, key: str, problem: str, spot: Spot | None = None, place: tuple[int, int, str] | None = None
    ) -> None:
        self.file = file
        self.key = key
        self.problem = problem
        self.spot = spot
        self.place = place  # line and column from 1, and the line's text
        self.errors: tuple[AtomFileError, ...] = (self,)
        where = file if place is None else f"{file}:{place[0]}:{place[1]}"
        super().__init__(": ".join(_one_line(part) for part in (where, key, problem) if part))

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        """Pickle by the arguments, so that the error crosses process borders."""
        return type(self), (self.file, self.key, self.problem, self.spot, self.place)

    @property
    def pointed(self) -> str:
        """The line of the file with a caret below the column, in two lines; empty where no place is known."""
        if self.place is None:
            return ""
        _, column, text = self.place
        start = max(0, column - 61)
        shown = "".join(c if c.isprintable() else " " for c in text[start : start + 100])
        return f"    {shown}\n    {' ' * (column - 1 - start)}^"


class AtomFileErrors(AtomFileError):
    """Everything that is wrong with a file: a line for each; `file`, `key` and `problem` are those of the first."""

    def __init__(self, errors: Iterable[AtomFileError]) -> None:
        found = tuple({str(one): one for error in errors for one in error.errors}.values())
        first = found[0]
        super().__init__(first.file, first.key, first.problem, first.spot, first.place)
        self.errors = found

    def __str__(self) -> str:
        return "\n".join(map(str, self.errors))

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        """Pickle by the errors."""
        return type(self), (self.errors,)


def raised(errors: Sequence[AtomFileError]) -> AtomFileError:
    """One or more errors as the exception to raise: a single one as it is."""
    all_of_them = AtomFileErrors(errors)
    return all_of_them if len(all_of_them.errors) > 1 else all_of_them.errors[0]


def _one_line(text: str) -> str:
    """The text cut and with what does not print escaped: keys come from the file and may hold anything."""
    if len(text) > AtomFileError.LONGEST:
        text = text[: AtomFileError.LONGEST] + "..."
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
