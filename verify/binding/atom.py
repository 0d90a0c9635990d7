# SPDX-License-Identifier: Apache-2.0
"""An atom bound to its instructions: its layouts parsed, its mnemonics looked up in the ISA tables.

Nothing is refuted here. What does not parse, and what the ISA tables lack, is kept as a reason for the claims.

`BoundAtom`      an atom as one instruction sees it
`BoundOperand`   one operand of it: its layout and the ISA's formulas
`Named`          one mnemonic of it, looked up
`prepare`        an entry as a bound atom
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod
from typing import Any

import isa_tables
from isa_tables.signature import find
from layouts import Layout, LayoutError, complement, cosize, size
from layouts.atoms import Atom, CopyAtom, IncompleteAtom
from verify.binding.completion import EXTRA, completed, in_tables, moves
from verify.binding.coordinates import AXES, Formula, formulas
from verify.core.digits import lane_of

LARGEST = 1 << 62  # values that arrays of 64-bit integers hold with room for one sum
FRAGMENTS = {"C": ("D", "C")}  # which of the book's operands an atom's operand stands for, where not its own name
EXTENTS = ("M", "N", "K")  # what a descriptor may choose


@dataclass(frozen=True, slots=True)
class BoundOperand:
    """One operand of an atom: its layout (None when ill formed), where it must land and what the book says."""

    name: str  # A, B, C, E, SFA or SFB; Src, Dst or Ref of a copy
    text: str  # the layout as the atom's file has it
    layout: Layout | None  # (thread, value) -> x + extent[0] * y; None where it is ill formed
    fault: str  # why it is ill formed; empty where it is not
    extent: tuple[int, int]  # of its tile, in elements: the ranges of x and y
    # the ISA's different formulas for it: one, but where an element fills several positions
    formulas: tuple[Formula, ...]
    no_formula: str = ""  # why the book has no formula, where it knows the instruction
    said: tuple[tuple[object, ...], ...] = ()  # the formulas' keys

    @property
    def parsed(self) -> Layout:
        """The layout. Raises TypeError where it is ill formed."""
        if self.layout is None:
            raise TypeError(f"{self.text} is not well formed: {self.fault}")
        return self.layout

    @property
    def axes(self) -> tuple[str, ...]:
        """The names of the coordinates: two, or one where bits are numbered."""
        return AXES[self.name]

    @property
    def values(self) -> int:
        """Values per thread: the size of the layout's second mode; 0 when it is ill formed."""
        return self.domain[1]

    @property
    def domain(self) -> tuple[int, int]:
        """Threads and values of the layout; (0, 0) when it is ill formed."""
        return (0, 0) if self.layout is None else (size(self.layout[0]), size(self.layout[1]))

    @property
    def tile(self) -> str:
        """The tile this operand lands in, as printed.

        >>> Part("B", "", None, "", (8, 32), ()).tile
        '8x32 (n,k)'
        """
        return f"{self.extent[0]}x{self.extent[1]} ({','.join(self.axes)})"

    def show(self, element: int) -> str:
        """An element as its two coordinates; the second runs past the tile when the element does."""
        if len(self.axes) == 1:
            return f"{self.axes[0]} {element}"
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
class BoundAtom:
    """An atom with everything that its claims are about, as one instruction sees it: the first known of those it names.

    `thr` and `rep` are None, and `thr_fault` says why, unless lane thr(t) + rep(q) names every lane once.
    """

    atom: Atom | CopyAtom  # the atom as its file has it
    thr: Layout | None  # logical thread -> lane
    rep: Layout | None  # replica -> lane offset
    thr_fault: str  # why the threads do not number the lanes; empty where they do
    # threads that issue the instruction, or CTAs of tcgen05; the atom's threads where there is no instruction
    lanes: int
    parts: tuple[BoundOperand, ...]  # its operands, in the order of the atom
    named: tuple[Named, ...]  # each mnemonic of the atom, looked up
    by: isa_tables.Instruction | None = None  # whose formulas the parts have and whose lanes are counted
    others: tuple[BoundAtom, ...] = ()  # the same atom as each further instruction sees it
    permuted: bool = False  # the threads number every lane once, in another order than the operands need

    @property
    def name(self) -> str:
        """The atom's name."""
        return self.atom.name

    @property
    def numbering(self) -> tuple[Layout, Layout]:
        """`thr` and `rep`. Raises TypeError where they do not name every lane once."""
        if self.thr is None or self.rep is None:
            raise TypeError(f"{self.atom.thr} is not well formed: {self.thr_fault}")
        return self.thr, self.rep

    @property
    def mma(self) -> Atom:
        """The atom, where it is no copy. Raises TypeError when it is one."""
        if not isinstance(self.atom, Atom):
            raise TypeError(f"{self.atom.name} is a copy atom")
        return self.atom

    @property
    def views(self) -> tuple[BoundAtom, ...]:
        """The atom as each instruction sees it that the ISA tables hold; as it stands where they hold none."""
        return (self, *self.others)

    @property
    def shape_fault(self) -> str:
        """How the shape differs from that of the one instruction which the atom names; empty where it does not."""
        if not isinstance(self.atom, Atom) or self.by is None or len(known(self.named)) > 1:
            return ""
        m, n, k = self.atom.shape
        claimed, real = ("x".join(map(str, s)) for s in ((m, n, k * contracted(self.atom)), self.by.signature.shape))
        return "" if claimed == real else f"shape is {claimed}, the instruction's is {real}"

    @property
    def instruction(self) -> isa_tables.Instruction:
        """The instruction that sees the atom so. Raises TypeError where there is none."""
        if self.by is None:
            raise TypeError(f"{self.atom.name}: {self.no_instruction}")
        return self.by

    def seen_by(self, instruction: isa_tables.Instruction) -> BoundAtom:
        """The atom as one of its instructions sees it."""
        return next(view for view in self.views if view.by and mnemonic_of(view.by) == mnemonic_of(instruction))

    @property
    def uncompared(self) -> tuple[str, ...]:
        """Why some of the instructions that the atom names cannot be compared with it."""
        return tuple(n.refused or n.unknown for n in self.named if n.instruction is None)

    @property
    def omitted(self) -> dict[str, str]:
        """The operands that an instruction deals out to threads and the atom does not give, each with its mnemonic."""
        held = {name: mnemonic_of(view.by) for view in self.views if view.by for name in EXTRA if _dealt(view.by, name)}
        return {name: mnemonic for name, mnemonic in held.items() if name not in self.atom.operands}

    @property
    def no_instruction(self) -> str:
        """Why the book has no formula for the atom; empty when it has one."""
        if self.by is not None:
            return ""
        if self.atom.ptx is None:
            return "the atom names no instruction (`ptx` is absent)"
        if not self.atom.ptx:
            return "the atom issues no matrix instruction (`ptx` is empty)"
        return "; ".join(self.uncompared)

    @property
    def threads(self) -> int:
        """Logical threads: the size of `thr`."""
        return 0 if self.thr is None else size(self.thr)

    @property
    def rep_size(self) -> int:
        """Replicas: how often the logical threads fit into the lanes."""
        return 0 if self.rep is None else size(self.rep)

    def multiplicity(self, part: BoundOperand) -> int:
        """How often the book has each element held over the logical threads; as declared where it is silent.

        The book counts over all lanes, so the replicas share its count. Where neither says it, once; of a tile in
        memory that each thread counts through, as often as there are threads.
        """
        if not part.formulas or self.rep is None:
            in_memory = isinstance(self.atom, Atom) and self.atom.space.get(part.name, "reg") != "reg"
            whole = in_memory and part.values == prod(part.extent)
            return self.atom.copies.get(part.name, max(1, self.threads) if whole else 1)
        return max(1, part.formulas[0].copies // size(self.rep))

    def expected(self, part: BoundOperand) -> tuple[int, int]:
        """(logical threads, values per thread) that the operand must have.

        With the book: its values per lane. Without it: as many as deal every element of the tile out as declared.
        """
        if part.formulas:
            return self.threads, part.formulas[0].values
        points = part.extent[0] * part.extent[1] * self.multiplicity(part)
        return self.threads, max(1, points // max(1, self.threads))


def prepare(entry: Atom | IncompleteAtom) -> BoundAtom:
    """Parse the atom's layouts and look up its instructions; what its entry leaves out is taken from them.

    Raises AtomFileError for an operand that none of the instructions has, and for what they do not say.
    """
    atom = completed(entry)
    if not isinstance(atom, Atom):
        raise TypeError(f"{atom.name} is a copy atom")
    m, n, k = atom.shape
    space = {"A_space": atom.space.get("A", "reg")} if atom.space else {}
    scale = {"stype": atom.types["SFA"]} if "SFA" in atom.types else {}
    chosen = tuple({**space, **scale, "M": m, "N": n, "K": k * contracted(atom)}.items())
    named = tuple(_copying(mnemonic) or look_up(mnemonic, chosen) for mnemonic in atom.mnemonics)
    every = known(named)
    return joined([_seen(atom, named, instruction) for instruction in every or (None,)])


def _copying(mnemonic: str) -> Named | None:
    """A mnemonic that multiplies no matrices, as one that is refused; None for any other."""
    told = in_tables(mnemonic)
    if told is None or not moves(told):
        return None
    why = "copies, it multiplies no matrices: an entry that gives Src, Dst and Ref is a copy"
    return Named(mnemonic, None, refused=f"{mnemonic} {why}")


def known(named: Sequence[Named]) -> list[isa_tables.Instruction]:
    """The instructions that were found, each once, however often and in whatever spelling it is named."""
    found = [n.instruction for n in named if n.instruction is not None]
    return list({mnemonic_of(instruction): instruction for instruction in reversed(found)}.values())[::-1]


def joined(views: Sequence[BoundAtom]) -> BoundAtom:
    """The first view of an atom, with the others."""
    first, *others = views
    return replace(first, others=tuple(others))


def mnemonic_of(instruction: isa_tables.Instruction) -> str:
    """An instruction's mnemonic, as the tables spell it."""
    return instruction.signature.mnemonic


def _seen(atom: Atom, named: tuple[Named, ...], instruction: isa_tables.Instruction | None) -> BoundAtom:
    """The atom as one instruction sees it: numbered over its lanes, each operand with its formulas."""
    m, n, k = atom.shape
    lanes, thr, rep, thr_fault = threads(atom.thr, issuers(instruction) if instruction is not None else 0)
    extents = {"A": (m, k), "B": (n, k), "C": (m, n), "E": (m, k), "SFA": (m, k), "SFB": (n, k)}
    parts = []
    for name, text in atom.operands.items():
        layout, fault = thread_value(text)
        found, no_formula = ({}, "") if instruction is None else _formulas(name, instruction, extents[name])
        parts.append(
            BoundOperand(name, text, layout, fault, extents[name], tuple(found.values()), no_formula, tuple(found))
        )
    return BoundAtom(atom, thr, rep, thr_fault, lanes, tuple(parts), named, instruction)


def contracted(atom: Atom) -> int:
    """How many numbers an element of A and of B has that one instruction sums over, as it sums over k.

    They are the components that the accumulator has not: of a complex A and B with a real D, the two that it adds.
    """
    counts = {name: atom.element.get(name, "1x").partition("x")[0] for name in "ABDC"}
    alike = counts["A"] == counts["B"] and counts["C"] == counts["D"] == "1"
    return int(counts["A"]) if alike and len(atom.ptx or ()) == 1 else 1


def thread_value(text: str) -> tuple[Layout | None, str]:
    """A layout of (thread, value), or why it is none."""
    layout, fault = _parse(text)
    if layout is not None and len(layout) != 2:
        return None, f"{text} has rank {len(layout)}, a (thread, value) layout has 2"
    return layout, fault


def _parse(text: str) -> tuple[Layout | None, str]:
    """The layout, or why it is none; a text that was read is not read again."""
    return _parsed(text, Layout.parse)


@lru_cache(maxsize=4096)  # by the parser too: a bug planted in Layout.parse is met where a text was read before
def _parsed(text: str, parse: Callable[[str], Layout]) -> tuple[Layout | None, str]:
    """The layout, or why it is none; text that is no layout at all was refused when the file was read."""
    try:
        layout = parse(text)
    except LayoutError as error:
        return None, str(error)
    if cosize(layout) > LARGEST:
        return None, f"{text} reaches {cosize(layout)}, more than 2^62"
    return layout, ""


def threads(text: str, lanes: int) -> tuple[int, Layout | None, Layout | None, str]:
    """The lanes with `thr` and `rep`, or why there are none; what was numbered is not numbered again."""
    return _threads(text, lanes, Layout.parse)


@lru_cache(maxsize=64)  # by the parser too, as above
def _threads(text: str, lanes: int, parse: Callable[[str], Layout]) -> tuple[int, Layout | None, Layout | None, str]:
    """(lanes, thr, rep, ""), or no layouts and why thr and its complement do not number the lanes once.

    Without an instruction there are as many lanes as logical threads.
    """
    thr, fault = _parsed(text, parse)
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


def issuers(instruction: isa_tables.Instruction) -> int:
    """Threads of an instruction; an atom counts one for each CTA where two work together."""
    return instruction.signature.lanes * instruction.signature.ctas


@lru_cache(maxsize=4096)  # by the text: an instruction's formulas are evaluated anew wherever they are compared
def look_up(mnemonic: str, chosen: tuple[tuple[str, str | int], ...] = ()) -> Named:
    """The instruction as an atom chooses it, where its text leaves that open; or the book's answer that it is none.

    A space that the instruction cannot have is for the comparison of spaces to refute. The ISA's lists of extents are
    complete: one that they lack is no instruction.
    """
    try:
        select = find(mnemonic).select
        offered: dict[str, Any] = {key: value for key, value in chosen if key in select}
        extents = {key: value for key, value in offered.items() if key in EXTENTS}
        with suppress(isa_tables.NotInIsa):
            return Named(mnemonic, isa_tables.instruction(mnemonic, **offered))
        return Named(mnemonic, isa_tables.instruction(mnemonic, **extents))
    except isa_tables.UnknownInstruction as error:
        return Named(mnemonic, None, unknown=str(error))
    except isa_tables.NotInIsa as error:
        return Named(mnemonic, None, refused=str(error))


def _dealt(instruction: isa_tables.Instruction, name: str) -> bool:
    """Whether an instruction has an operand and deals it out to threads."""
    return name in instruction.operands and instruction.operands[name].space == "reg"


def _formulas(
    name: str, instruction: isa_tables.Instruction, extent: tuple[int, int]
) -> tuple[dict[tuple[object, ...], Formula], str]:
    """Every distinct formula that an instruction has for an operand, by its key, or why it has none."""
    held = [fragment for fragment in FRAGMENTS.get(name, (name,)) if fragment in instruction.operands]
    if not held:
        return {}, f"the book does not describe {name} of {mnemonic_of(instruction)}"
    distinct: dict[tuple[object, ...], Formula] = {}
    no_formula = ""
    for fragment in held:
        found, no_formula = formulas(name, instruction, instruction.operands[fragment], extent)
        for formula in found:
            distinct.setdefault(formula.key, formula)
    return distinct, no_formula
