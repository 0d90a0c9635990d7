# SPDX-License-Identifier: Apache-2.0
"""An atom made ready for judgement: its layouts parsed, its instructions looked up in the book.

Nothing is refuted here. What does not parse, and what the book does not hold, is kept as a reason for the claims.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import isa_tables
from layouts import Layout, LayoutError, ProfileError, complement, size
from layouts.atoms import Atom

Value = TypeVar("Value")
AXES = {"A": ("m", "k"), "B": ("n", "k"), "C": ("m", "n")}
FRAGMENTS = {"A": ("A",), "B": ("B",), "C": ("D", "C")}  # which of the book's operands an atom's operand stands for


def codomain(operand: str, row: Value, col: Value) -> tuple[Value, Value]:
    """The book's (row, col) in the atom's order: B is (k, n) in the ISA and n + N*k in CuTe.

    >>> codomain("A", "m", "k"), codomain("B", "k", "n"), codomain("C", "m", "n")
    (('m', 'k'), ('n', 'k'), ('m', 'n'))
    """
    return (col, row) if operand == "B" else (row, col)


@dataclass(frozen=True, slots=True)
class Formula:
    """One formula of the book for an operand, in the atom's order of coordinates."""

    operand: str
    table: isa_tables.Operand
    instruction: isa_tables.Instruction

    def locate(self, lane: Value, value: Value) -> tuple[Value, Value]:
        """(x, y) of element `value` of `lane`, where the atom's layout gives x + X*y."""
        return codomain(self.operand, *self.table.locate(lane, value))

    @property
    def citation(self) -> str:
        """The section the formula stands in, with its provenance."""
        return f"PTX ISA {self.instruction.section} ({self.table.provenance})"

    @property
    def key(self) -> tuple[str, str]:
        """Equal for formulas that say the same."""
        return (self.operand, self.table.text())


@dataclass(frozen=True, slots=True)
class Part:
    """One operand of an atom: its layout (None when ill formed), where it must land and what the book says."""

    name: str
    text: str
    layout: Layout | None
    fault: str
    extent: tuple[int, int]
    formulas: tuple[Formula, ...]

    @property
    def axes(self) -> tuple[str, str]:
        """The names of the two coordinates."""
        return AXES[self.name]

    @property
    def values(self) -> int:
        """Values per thread: the size of the layout's second mode; 0 when it is ill formed."""
        return 0 if self.layout is None else size(self.layout[1])

    @property
    def tile(self) -> str:
        """The tile this operand lands in, as printed.

        >>> Part("B", "", None, "", (8, 32), ()).tile
        '8x32 (n,k)'
        """
        return f"{self.extent[0]}x{self.extent[1]} ({','.join(self.axes)})"

    def show(self, element: int) -> str:
        """An element as its two coordinates; the second runs past the tile when the element does."""
        x, y = element % self.extent[0], element // self.extent[0]
        return f"({self.axes[0]}={x}, {self.axes[1]}={y})"


@dataclass(frozen=True, slots=True)
class Subject:
    """An atom with everything that its claims are about."""

    atom: Atom
    thr: Layout | None
    thr_fault: str
    rep: Layout | None
    lanes: int
    parts: tuple[Part, ...]
    instructions: tuple[isa_tables.Instruction, ...]
    no_book: str  # why the book cannot speak
    not_in_isa: str  # why the book says that there is no such instruction

    @property
    def threads(self) -> int:
        """Logical threads: the size of `thr`."""
        return 0 if self.thr is None else size(self.thr)

    @property
    def rep_size(self) -> int:
        """Replicas: how often the logical threads fit into the lanes."""
        return 0 if self.rep is None else size(self.rep)

    def multiplicity(self, part: Part) -> int:
        """How often the book has each element held over the logical threads; 1 where the book is silent.

        The book counts over all lanes, so the replicas share its count.
        """
        if not part.formulas or self.rep is None:
            return 1
        return max(1, part.formulas[0].table.copies // size(self.rep))


def prepare(atom: Atom) -> Subject:
    """Parse the atom's layouts and look up its instructions."""
    instructions, no_book, not_in_isa = _look_up(atom)
    lanes = instructions[0].signature.lanes if instructions else 0
    thr, thr_fault = _parse(atom.thr)
    rep = None
    if thr is not None:
        lanes = lanes or size(thr)
        rep, thr_fault = _guard(lambda: complement(thr, lanes))
    m, n, k = atom.shape
    extents = {"A": (m, k), "B": (n, k), "C": (m, n)}
    parts = []
    for name, text in atom.operands.items():
        layout, fault = _parse(text)
        if layout is not None and len(layout) != 2:
            fault = f"{text} has rank {len(layout)}, a (thread, value) layout has 2"
            layout = None
        parts.append(Part(name, text, layout, fault, extents[name], _formulas(name, instructions)))
    return Subject(atom, thr, thr_fault, rep, lanes, tuple(parts), instructions, no_book, not_in_isa)


def _parse(text: str) -> tuple[Layout | None, str]:
    """The layout, or why it is none; text that is no layout at all was refused when the file was read."""
    try:
        return Layout.parse(text), ""
    except ProfileError as error:
        return None, str(error)


def _guard(make: Callable[[], Layout]) -> tuple[Layout | None, str]:
    try:
        return make(), ""
    except LayoutError as error:
        return None, str(error)


def _look_up(atom: Atom) -> tuple[tuple[isa_tables.Instruction, ...], str, str]:
    if atom.ptx is None:
        return (), "the atom names no instruction (`ptx` is absent)", ""
    if not atom.ptx:
        return (), "the atom issues no matrix instruction (`ptx` is empty)", ""
    found = []
    for mnemonic in dict.fromkeys(atom.ptx):
        try:
            found.append(isa_tables.instruction(mnemonic))
        except isa_tables.UnknownInstruction as error:
            return (), str(error), ""
        except isa_tables.NotInIsa as error:
            return (), "", str(error)
    return tuple(found), "", ""


def _formulas(name: str, instructions: tuple[isa_tables.Instruction, ...]) -> tuple[Formula, ...]:
    distinct: dict[tuple[str, str], Formula] = {}
    for instruction in instructions:
        for fragment in FRAGMENTS[name]:
            if fragment in instruction.operands:
                formula = Formula(name, instruction.operands[fragment], instruction)
                distinct.setdefault(formula.key, formula)
    return tuple(distinct.values())
