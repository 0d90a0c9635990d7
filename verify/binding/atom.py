# SPDX-License-Identifier: Apache-2.0
"""An atom bound to its instructions: its layouts parsed, its mnemonics looked up in the ISA tables.

Nothing is refuted here. What does not parse, and what the ISA tables lack, is kept as a reason for the claims.

`BoundAtom`      an atom bound to one instruction
`NamedInstruction`          one mnemonic of it, looked up
`prepare`        an entry as a bound atom
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from math import prod
from types import MappingProxyType
from typing import Any, NamedTuple

import isa_tables
from isa_tables.signature import find
from layouts import Layout, LayoutError, complement, cosize, size
from layouts.atoms import Atom, CopyAtom, IncompleteAtom
from verify.binding.axes import AXES, OperandFormula
from verify.binding.completion import EXTRA, FRAGMENTS, complete_atom, in_tables, moves
from verify.binding.coordinates import formulas
from verify.binding.operand import BoundOperand, map_layout
from verify.binding.relabelling import relabel_formula
from verify.core.digits import lane_of
from verify.maps.map import Map
from verify.maps.strided import of_text

NO_MAPS: Mapping[str, Map] = MappingProxyType({})
LARGEST = 1 << 62  # values of 64-bit integers, with room for one sum
EXTENTS = ("M", "N", "K")  # extents that a descriptor may choose


class NamedInstruction(NamedTuple):
    """One mnemonic that the atom names, looked up: the instruction, or why there is none.

    `unknown`: the ISA tables do not have its family. `rejected`: the ISA has no such instruction.
    """

    mnemonic: str
    instruction: isa_tables.Instruction | None
    unknown: str = ""
    rejected: str = ""


@dataclass(frozen=True)  # without slots, so that what follows from the fields is kept
class BoundAtom:
    """An atom bound to one instruction, the first of those it names that the ISA tables have; `others` are the rest.

    `thr` and `rep` are None, and `thr_fault` has the reason, unless thr(t) + rep(q) is every lane once.
    """

    atom: Atom | CopyAtom  # the atom as its file has it
    thr: Layout | None  # logical thread -> lane
    rep: Layout | None  # replica -> lane offset
    thr_fault: str  # why the threads do not number the lanes; empty where they do
    # threads that issue the instruction, or CTAs of tcgen05; the atom's threads where there is no instruction
    lanes: int
    parts: tuple[BoundOperand, ...]  # its operands, in the order of the atom
    named: tuple[NamedInstruction, ...]  # each mnemonic of the atom, looked up
    by: isa_tables.Instruction | None = None  # the instruction of the formulas and of the number of lanes
    others: tuple[BoundAtom, ...] = ()  # the same atom bound to each further instruction
    # of its layouts: their values at every point, for the checks of this atom; later ones see errors planted since
    tables: dict[Hashable, Any] = field(default_factory=dict, repr=False, compare=False)
    permuted: bool = False  # the threads number every lane once, but in another order than the operands need

    @property
    def name(self) -> str:
        """The atom's name."""
        return self.atom.name

    @property
    def numbering(self) -> tuple[Layout, Layout]:
        """`thr` and `rep`. Raises TypeError if they do not number every lane once."""
        if self.thr is None or self.rep is None:
            raise TypeError(f"{self.atom.thr} is not well formed: {self.thr_fault}")
        return self.thr, self.rep

    @property
    def mma(self) -> Atom:
        """The MMA atom. Raises TypeError if it is a copy."""
        if not isinstance(self.atom, Atom):
            raise TypeError(f"{self.atom.name} is a copy atom")
        return self.atom

    @property
    def views(self) -> tuple[BoundAtom, ...]:
        """The atom bound to each of its instructions in the ISA tables; unbound if they have none."""
        return (self, *self.others)

    @cached_property
    def shape_fault(self) -> str:
        """How the shape differs from that of the only instruction of the atom; empty if it does not."""
        if not isinstance(self.atom, Atom) or self.by is None or len(list_instructions(self.named)) > 1:
            return ""
        m, n, k = self.atom.shape
        claimed, real = (
            "x".join(map(str, s)) for s in ((m, n, k * count_contracted(self.atom)), self.by.signature.shape)
        )
        return "" if claimed == real else f"shape is {claimed}, the instruction's is {real}"

    @property
    def instruction(self) -> isa_tables.Instruction:
        """The instruction that the atom is bound to. Raises TypeError if there is none."""
        if self.by is None:
            raise TypeError(f"{self.atom.name}: {self.no_instruction}")
        return self.by

    def seen_by(self, instruction: isa_tables.Instruction) -> BoundAtom:
        """Return the atom bound to one of its instructions."""
        return next(view for view in self.views if view.by and mnemonic_of(view.by) == mnemonic_of(instruction))

    @cached_property
    def uncompared_reasons(self) -> tuple[str, ...]:
        """Why some instructions of the atom cannot be compared with it."""
        return tuple(n.rejected or n.unknown for n in self.named if n.instruction is None)

    @cached_property
    def omitted_operands(self) -> dict[str, str]:
        """The operands in registers of an instruction that the atom does not give, each with its mnemonic."""
        return {
            name: mnemonic_of(view.by)
            for view in self.views
            for name in EXTRA
            if view.by and name in view.by.operands and view.by.operands[name].space == "reg"
            if name not in self.atom.operands
        }

    @cached_property
    def no_instruction(self) -> str:
        """Why the ISA tables have no instruction for the atom; empty if they have one."""
        if self.by is not None:
            return ""
        if self.atom.ptx is None:
            return "the atom names no instruction (`ptx` is absent)"
        if not self.atom.ptx:
            return "the atom issues no matrix instruction (`ptx` is empty)"
        return "; ".join(self.uncompared_reasons)

    @property
    def threads(self) -> int:
        """Logical threads: the size of `thr`."""
        return 0 if self.thr is None else size(self.thr)

    @cached_property
    def rep_size(self) -> int:
        """Replicas: how often the logical threads fit into the lanes."""
        return 0 if self.rep is None else size(self.rep)

    def multiplicity(self, part: BoundOperand) -> int:
        """Return the number of owners of each element among the logical threads: by the formula, or as the entry
        states.

        The formula counts over all lanes, which the replicas share. Without a formula and a statement it is one; for
        a tile in memory that every thread addresses as a whole, the number of threads.
        """
        if not part.formulas or self.rep is None:
            in_memory = isinstance(self.atom, Atom) and self.atom.space.get(part.name, "reg") != "reg"
            whole = in_memory and part.values == prod(part.extent)
            return self.atom.copies.get(part.name, max(1, self.threads) if whole else 1)
        return max(1, part.formulas[0].copies // self.rep_size)

    def expect_extents(self, part: BoundOperand) -> tuple[int, int]:
        """(logical threads, values per thread) that the operand must have.

        With a formula: its values per lane. Without one: so many that each element has its given number of owners.
        """
        if part.formulas:
            return self.threads, part.formulas[0].values
        points = part.extent[0] * part.extent[1] * self.multiplicity(part)
        return self.threads, max(1, points // max(1, self.threads))


def prepare(entry: Atom | IncompleteAtom, maps: Mapping[str, Map] = NO_MAPS) -> BoundAtom:
    """Return the MMA atom bound to its instructions; what its entry leaves out is taken from them.

    `maps` has the operands that are given point by point, (thread, value) -> (x, y), in place of their layouts.

    Raises AtomFileError for an operand that none of the instructions has, and for a key that they do not determine.

    >>> from layouts.atoms import registry
    >>> atom = prepare(registry()["SM80_16x8x16_F32F16F16F32_TN"])
    >>> [(part.name, part.text, part.tile) for part in atom.parts][2]
    ('C', '((4,8),(2,2)):((32,1),(16,8))', '16x8 (m,n)')
    >>> atom.parts[2].formulas[0].locate(5, 3)  # the ISA's (m, n) of value 3 of lane 5
    (9, 3)
    """
    atom = complete_atom(entry)
    if not isinstance(atom, Atom):
        raise TypeError(f"{atom.name} is a copy atom")
    return bind_atom(atom, maps)


def bind_atom(atom: Atom, maps: Mapping[str, Map] = NO_MAPS) -> BoundAtom:
    """Return a completed MMA atom, bound to its instructions."""
    m, n, k = atom.shape
    space = {"A_space": atom.space.get("A", "reg")} if atom.space else {}
    scale = {"stype": atom.types["SFA"]} if "SFA" in atom.types else {}
    chosen = tuple({**space, **scale, "M": m, "N": n, "K": k * count_contracted(atom)}.items())
    named = tuple(_copying(mnemonic) or look_up(mnemonic, chosen) for mnemonic in atom.mnemonics)
    every = list_instructions(named)
    return join_views([_view(atom, named, instruction, maps) for instruction in every or (None,)])


def _copying(mnemonic: str) -> NamedInstruction | None:
    """Return a mnemonic that multiplies no matrices, rejected; None for any other."""
    signature = in_tables(mnemonic)
    if signature is None or not moves(signature):
        return None
    why = "copies, it multiplies no matrices: an entry that gives Src, Dst and Ref is a copy"
    return NamedInstruction(mnemonic, None, rejected=f"{mnemonic} {why}")


def list_instructions(named: Sequence[NamedInstruction]) -> list[isa_tables.Instruction]:
    """Return the instructions that were found, each once, however often and by whatever mnemonic it is named."""
    found = [n.instruction for n in named if n.instruction is not None]
    return list({mnemonic_of(instruction): instruction for instruction in reversed(found)}.values())[::-1]


def join_views(views: Sequence[BoundAtom]) -> BoundAtom:
    """Return the first view of an atom, with the others in it."""
    first, *others = views
    return replace(first, others=tuple(others)) if others else first


def mnemonic_of(instruction: isa_tables.Instruction) -> str:
    """Return the mnemonic of an instruction, as the ISA tables write it."""
    return instruction.signature.mnemonic


def _view(
    atom: Atom, named: tuple[NamedInstruction, ...], instruction: isa_tables.Instruction | None, maps: Mapping[str, Map]
) -> BoundAtom:
    """Return the atom bound to one instruction: numbered over its lanes, each operand with its formulas."""
    m, n, k = atom.shape
    lanes, thr, rep, thr_fault = threads(atom.thr, issuers(instruction) if instruction is not None else 0)
    extents = {"A": (m, k), "B": (n, k), "C": (m, n), "E": (m, k), "SFA": (m, k), "SFB": (n, k)}
    parts = []
    for name, text in atom.operands.items():
        layout, fault = thread_value(text)
        points = maps.get(name) or (None if layout is None else map_layout(name, layout, extents[name]))
        if points is None:
            points, fault = of_text(text, fault, dict(zip(AXES[name], extents[name], strict=True)))
        found, no_formula = ({}, "") if instruction is None else _formulas(name, instruction, extents[name])
        distinct = tuple(relabel_formula(formula, atom.relabel, name, extents[name]) for formula in found.values())
        keys = tuple(formula.key for formula in distinct)
        parts.append(BoundOperand(name, text, points, fault, extents[name], distinct, no_formula, keys))
    return BoundAtom(atom, thr, rep, thr_fault, lanes, tuple(parts), named, instruction)


def count_contracted(atom: Atom) -> int:
    """Return the number of components of an element of A and of B that one instruction sums over, as it sums over k.

    The accumulator lacks these components: a complex A and B with a real D have two.
    """
    counts = {name: atom.element.get(name, "1x").partition("x")[0] for name in "ABDC"}
    alike = counts["A"] == counts["B"] and counts["C"] == counts["D"] == "1"
    return int(counts["A"]) if alike and len(atom.ptx or ()) == 1 else 1


def thread_value(text: str) -> tuple[Layout | None, str]:
    """Return a (thread, value) layout, or None and why the text is none.

    >>> thread_value("(32,4):(1,32)")
    (Layout.parse('(32,4):(1,32)'), '')
    >>> thread_value("8:1")
    (None, '8:1 has rank 1, a (thread, value) layout has 2')
    """
    layout, fault = _parse_layout(text, Layout.parse)
    if layout is not None and len(layout) != 2:
        return None, f"{text} has rank {len(layout)}, a (thread, value) layout has 2"
    return layout, fault


@lru_cache(maxsize=4096)  # the parser is part of the key: a bug planted in Layout.parse shows in texts read before
def _parse_layout(text: str, parse: Callable[[str], Layout]) -> tuple[Layout | None, str]:
    """Return the layout, or None and why the text is none; other texts were rejected when the file was read."""
    try:
        layout = parse(text)
    except LayoutError as error:
        return None, str(error)
    if cosize(layout) > LARGEST:
        return None, f"{text} goes up to {cosize(layout)}, more than 2^62"
    return layout, ""


def threads(text: str, lanes: int) -> tuple[int, Layout | None, Layout | None, str]:
    """Return the lanes with `thr` and `rep`, or why there are none; cached by the text.

    >>> threads("4:8", 32)  # four quarters of a warp, of eight replicas
    (32, Layout.parse('4:8'), Layout.parse('8:1'), '')
    >>> threads("64:1", 32)[3]
    '64:1 numbers 64 threads up to lane 63, there are lanes 0..31'
    """
    return _threads(text, lanes, Layout.parse)


@lru_cache(maxsize=64)  # the parser is part of the key, as above
def _threads(text: str, lanes: int, parse: Callable[[str], Layout]) -> tuple[int, Layout | None, Layout | None, str]:
    """(lanes, thr, rep, ""), or no layouts and why thr and its complement do not number the lanes once.

    Without an instruction there are as many lanes as logical threads.
    """
    thr, fault = _parse_layout(text, parse)
    if thr is None:
        return lanes, None, None, fault
    lanes = lanes or size(thr)
    if size(thr) > lanes or cosize(thr) > lanes:
        problem = f"numbers {size(thr)} threads up to lane {cosize(thr) - 1}"
        return lanes, None, None, f"{text} {problem}, there are lanes 0..{lanes - 1}"
    try:
        rep = complement(thr, lanes)
    except LayoutError as error:
        return lanes, None, None, f"{text} leaves lanes that no replica fills: {error}"
    reached = sorted(lane_of(thr, t) + lane_of(rep, q) for t in range(size(thr)) for q in range(size(rep)))
    if reached != list(range(lanes)):
        return lanes, None, None, f"{text} with replicas {rep} does not number the {lanes} lanes once"
    return lanes, thr, rep, ""


def issuers(instruction: isa_tables.Instruction) -> int:
    """Return the threads of an instruction; one for each CTA where two CTAs work together."""
    return instruction.signature.lanes * instruction.signature.ctas


@lru_cache(maxsize=256)  # the instruction only: its formulas are evaluated wherever they are compared
def look_up(mnemonic: str, chosen: tuple[tuple[str, str | int], ...] = ()) -> NamedInstruction:
    """Return the instruction of a mnemonic, with the selections of an atom where the text leaves them open, or why it
    is none.

    A space that the instruction cannot have is left to the comparison of spaces. The ISA's lists of extents are
    complete: with others there is no instruction.

    >>> look_up("ldmatrix.sync.aligned.m8n8.x4.shared.b16").instruction.section
    '9.7.14.5.15'
    """
    try:
        select = find(mnemonic).select
        offered: dict[str, Any] = {key: value for key, value in chosen if key in select}
        extents = {key: value for key, value in offered.items() if key in EXTENTS}
        with suppress(isa_tables.NotInIsa):
            return NamedInstruction(mnemonic, isa_tables.instruction(mnemonic, **offered))
        return NamedInstruction(mnemonic, isa_tables.instruction(mnemonic, **extents))
    except isa_tables.UnknownInstruction as error:
        return NamedInstruction(mnemonic, None, unknown=str(error))
    except isa_tables.NotInIsa as error:
        return NamedInstruction(mnemonic, None, rejected=str(error))


def _formulas(
    name: str, instruction: isa_tables.Instruction, extent: tuple[int, int]
) -> tuple[dict[tuple[object, ...], OperandFormula], str]:
    """Return the distinct formulas of an operand in an instruction, by key, or why there are none."""
    names = [fragment for fragment in FRAGMENTS.get(name, (name,)) if fragment in instruction.operands]
    if not names:
        return {}, f"the ISA tables do not describe {name} of {mnemonic_of(instruction)}"
    distinct: dict[tuple[object, ...], OperandFormula] = {}
    no_formula = ""
    for fragment in names:
        found, no_formula = formulas(name, instruction, instruction.operands[fragment], extent)
        for formula in found:
            distinct.setdefault(formula.key, formula)
    return distinct, no_formula
