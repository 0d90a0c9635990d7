# SPDX-License-Identifier: Apache-2.0
"""An atom made ready for judgement: its layouts parsed, its instructions looked up in the book.

Nothing is refuted here. What does not parse, and what the book does not hold, is kept as a reason for the claims.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import isa_tables
from layouts import Layout, LayoutError, complement, cosize, size
from layouts.atoms import Atom
from verify.arithmetic import lane_of

Value = TypeVar("Value")
LARGEST = 1 << 62  # values that arrays of 64-bit integers hold with room for one sum
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
class Named:
    """One mnemonic that the atom names, looked up: the instruction, or why there is none.

    `unknown`: the book does not hold its family, and cannot speak. `refused`: the ISA has no such instruction.
    """

    mnemonic: str
    instruction: isa_tables.Instruction | None
    unknown: str = ""
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Subject:
    """An atom with everything that its claims are about.

    `thr` and `rep` are None, and `thr_fault` says why, unless lane thr(t) + rep(q) names every lane once.
    """

    atom: Atom
    thr: Layout | None
    rep: Layout | None
    thr_fault: str
    lanes: int
    parts: tuple[Part, ...]
    named: tuple[Named, ...]

    @property
    def instructions(self) -> tuple[isa_tables.Instruction, ...]:
        """The instructions that the book holds."""
        return tuple(n.instruction for n in self.named if n.instruction is not None)

    @property
    def no_book(self) -> str:
        """Why the book has no formula for the atom; empty when it has one."""
        if self.instructions:
            return ""
        if self.atom.ptx is None:
            return "the atom names no instruction (`ptx` is absent)"
        if not self.atom.ptx:
            return "the atom issues no matrix instruction (`ptx` is empty)"
        return "; ".join(n.refused or n.unknown for n in self.named)

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

    def expected(self, part: Part) -> tuple[int, int]:
        """(logical threads, values per thread) that the operand must have.

        With the book: its values per lane. Without it: as many as deal every element of the tile out once.
        """
        if part.formulas:
            return self.threads, part.formulas[0].table.values
        return self.threads, max(1, part.extent[0] * part.extent[1] // max(1, self.threads))


def prepare(atom: Atom) -> Subject:
    """Parse the atom's layouts and look up its instructions."""
    named = tuple(_look_up(mnemonic) for mnemonic in dict.fromkeys(atom.ptx or ()))
    instructions = [n.instruction for n in named if n.instruction is not None]
    lanes, thr, rep, thr_fault = _threads(atom.thr, instructions[0].signature.lanes if instructions else 0)
    m, n, k = atom.shape
    extents = {"A": (m, k), "B": (n, k), "C": (m, n)}
    parts = []
    for name, text in atom.operands.items():
        layout, fault = _parse(text)
        if layout is not None and len(layout) != 2:
            fault = f"{text} has rank {len(layout)}, a (thread, value) layout has 2"
            layout = None
        parts.append(Part(name, text, layout, fault, extents[name], _formulas(name, instructions)))
    return Subject(atom, thr, rep, thr_fault, lanes, tuple(parts), named)


def _parse(text: str) -> tuple[Layout | None, str]:
    """The layout, or why it is none; text that is no layout at all was refused when the file was read."""
    try:
        layout = Layout.parse(text)
    except LayoutError as error:
        return None, str(error)
    if cosize(layout) > LARGEST:
        return None, f"{text} reaches {cosize(layout)}, more than 2^62"
    return layout, ""


def _threads(text: str, lanes: int) -> tuple[int, Layout | None, Layout | None, str]:
    """(lanes, thr, rep, ""), or no layouts and why thr and its complement do not number the lanes once.

    Without an instruction there are as many lanes as logical threads.
    """
    thr, fault = _parse(text)
    if thr is None:
        return lanes, None, None, fault
    lanes = lanes or size(thr)
    if size(thr) > lanes or cosize(thr) > lanes:
        reach = f"numbers {size(thr)} threads up to lane {cosize(thr) - 1}"
        return lanes, None, None, f"{text} {reach}, there are lanes 0..{lanes - 1}"
    try:
        rep = complement(thr, lanes)
    except LayoutError as error:
        return lanes, None, None, f"{text} leaves lanes that no replica fills: {error}"
    reached = sorted(lane_of(thr, t) + lane_of(rep, q) for t in range(size(thr)) for q in range(size(rep)))
    if reached != list(range(lanes)):
        return lanes, None, None, f"{text} with replicas {rep} does not number the {lanes} lanes once"
    return lanes, thr, rep, ""


def _look_up(mnemonic: str) -> Named:
    try:
        return Named(mnemonic, isa_tables.instruction(mnemonic))
    except isa_tables.UnknownInstruction as error:
        return Named(mnemonic, None, unknown=str(error))
    except isa_tables.NotInIsa as error:
        return Named(mnemonic, None, refused=str(error))


def _formulas(name: str, instructions: Sequence[isa_tables.Instruction]) -> tuple[Formula, ...]:
    distinct: dict[tuple[str, str], Formula] = {}
    for instruction in instructions:
        for fragment in FRAGMENTS[name]:
            if fragment in instruction.operands:
                formula = Formula(name, instruction.operands[fragment], instruction)
                distinct.setdefault(formula.key, formula)
    return tuple(distinct.values())
