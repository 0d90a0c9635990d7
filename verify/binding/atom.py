# SPDX-License-Identifier: Apache-2.0
"""An atom bound to its instructions: its layouts parsed, its mnemonics looked up in the ISA tables.

Nothing is refuted here. What does not parse, and what the ISA tables lack, is kept as a reason for the claims.

`BoundAtom`          an atom bound to one instruction
`NamedInstruction`   one mnemonic of it, looked up
`prepare`            an entry as a bound atom
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import isa_tables
from isa_tables.signature import find
from layouts.atoms import AnyAtom, Atom, IncompleteAtom
from verify.binding.bound import BoundMaps, bind_operand, extent_of, issuers, mnemonic_of, read_map, threads
from verify.binding.completion import complete_atom, in_tables, moves
from verify.binding.operand import BoundOperand

EXTENTS = ("M", "N", "K")  # extents that a descriptor may choose


class NamedInstruction(NamedTuple):
    """One mnemonic that the atom names, looked up: the instruction, or why there is none.

    `unknown`: the ISA tables do not have its family. `rejected`: the ISA has no such instruction.
    """

    mnemonic: str
    instruction: isa_tables.Instruction | None
    unknown: str = ""
    rejected: str = ""


@dataclass(frozen=True, kw_only=True)
class BoundAtom(BoundMaps):
    """An atom bound to one instruction, the first it names that the ISA tables have; `further` are the rest."""

    atom: AnyAtom  # the atom as its file has it
    named: tuple[NamedInstruction, ...]  # each mnemonic of the atom, looked up
    permuted: bool = False  # the threads number every lane once, but in another order than the operands need

    @property
    def mma(self) -> Atom:
        """The MMA atom. Raises TypeError if it is a copy."""
        if not isinstance(self.atom, Atom):
            raise TypeError(f"{self.atom.name} is a copy atom")
        return self.atom


def prepare(entry: Atom | IncompleteAtom) -> BoundAtom:
    """Return the MMA atom bound to its instructions; what its entry leaves out is taken from them.

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
    return bind_atom(atom)


def bind_atom(atom: Atom) -> BoundAtom:
    """Return a completed MMA atom, bound to its instructions."""
    m, n, k = atom.shape
    space = {"A_space": atom.space.get("A", "reg")} if atom.space else {}
    scale = {"stype": atom.types["SFA"]} if "SFA" in atom.types else {}
    chosen = tuple({**space, **scale, "M": m, "N": n, "K": k * count_contracted(atom)}.items())
    named = tuple(_copying(mnemonic) or look_up(mnemonic, chosen) for mnemonic in atom.mnemonics)
    every = list_instructions(named)
    return join_views([_view(atom, named, instruction) for instruction in every or (None,)])


def _copying(mnemonic: str) -> NamedInstruction | None:
    """Return a mnemonic that multiplies no matrices, rejected; None for any other."""
    signature = in_tables(mnemonic)
    if signature is None or not moves(signature):
        return None
    why = "copies, it multiplies no matrices: an entry that gives Src, Dst and Ref is a copy"
    return NamedInstruction(mnemonic, None, rejected=f"{mnemonic} {why}")


def list_instructions(named: Sequence[NamedInstruction]) -> list[isa_tables.Instruction]:
    """Return the instructions that were found, each once, however often and by whatever mnemonic it is named."""
    instructions = [n.instruction for n in named if n.instruction is not None]
    return list({mnemonic_of(instruction): instruction for instruction in reversed(instructions)}.values())[::-1]


def join_views(views: Sequence[BoundAtom]) -> BoundAtom:
    """Return the first view of an atom, with the further ones in it."""
    first, *further = views
    return replace(first, further=tuple(further)) if further else first


def _view(atom: Atom, named: tuple[NamedInstruction, ...], instruction: isa_tables.Instruction | None) -> BoundAtom:
    """Return the atom bound to one instruction: numbered over its lanes, each operand with its formulas."""
    parts = []
    for name, text in atom.operands.items():
        extent = extent_of(name, atom.shape)
        points, fault = read_map(name, text, extent)
        parts.append(bind_operand(name, text, points, fault, extent, instruction, atom.relabel))
    return bind_entry(atom, parts, named, instruction)


def bind_entry(
    atom: AnyAtom,
    parts: Sequence[BoundOperand],
    named: tuple[NamedInstruction, ...],
    instruction: isa_tables.Instruction | None,
) -> BoundAtom:
    """Return an atom of either sort with its operands, which are bound to one instruction."""
    lanes, thr, rep, thr_fault = threads(atom.thr, issuers(instruction) if instruction is not None else 0)
    return BoundAtom(
        name=atom.name,
        thr_text=atom.thr,
        thr=thr,
        rep=rep,
        thr_fault=thr_fault,
        lanes=lanes,
        parts=tuple(parts),
        shape=atom.shape if isinstance(atom, Atom) else (),
        space=atom.space,
        copies=atom.copies,
        relabel=atom.relabel if isinstance(atom, Atom) else {},
        adapter=None if isinstance(atom, Atom) else atom.adapter,
        by=instruction,
        no_instruction="" if instruction is not None else _explain_none(atom, named),
        uncompared_reasons=tuple(
            candidate.rejected or candidate.unknown for candidate in named if candidate.instruction is None
        ),
        shape_fault=_compare_shapes(atom, named, instruction),
        atom=atom,
        named=named,
    )


def _explain_none(atom: AnyAtom, named: Sequence[NamedInstruction]) -> str:
    """Return why the ISA tables have no instruction for an atom."""
    if atom.ptx is None:
        return "the atom names no instruction (`ptx` is absent)"
    if not atom.ptx:
        return "the atom issues no matrix instruction (`ptx` is empty)"
    return "; ".join(candidate.rejected or candidate.unknown for candidate in named)


def _compare_shapes(
    atom: AnyAtom, named: Sequence[NamedInstruction], instruction: isa_tables.Instruction | None
) -> str:
    """Return how the shape differs from that of the only instruction of the atom; empty if it does not."""
    if not isinstance(atom, Atom) or instruction is None or len(list_instructions(named)) > 1:
        return ""
    m, n, k = atom.shape
    claimed, real = (
        "x".join(map(str, shape)) for shape in ((m, n, k * count_contracted(atom)), instruction.signature.shape)
    )
    return "" if claimed == real else f"shape is {claimed}, the instruction's is {real}"


def count_contracted(atom: Atom) -> int:
    """Return the number of components of an element of A and of B that one instruction sums over, as it sums over k.

    The accumulator lacks these components: a complex A and B with a real D have two.
    """
    counts = {name: atom.element.get(name, "1x").partition("x")[0] for name in "ABDC"}
    alike = counts["A"] == counts["B"] and counts["C"] == counts["D"] == "1"
    return int(counts["A"]) if alike and len(atom.ptx or ()) == 1 else 1


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
