# SPDX-License-Identifier: Apache-2.0
"""Instructions without an atom: an atom made from the ISA tables' formulas, written as layouts where that is possible.

Verified like any atom, it shows whether the ISA's formula gives every element as many owners as it says (proof), and
whether a GPU that ran the instruction agrees (gpu).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

import isa_tables
from isa_tables.signature import find, mnemonics
from layouts import fit, from_samples
from layouts.atoms import AnyAtom, Atom, CopyAtom
from verify.atom.copies import COPY_OPERANDS, NO_ORDER, copy_operands, left_open
from verify.binding.atom import issuers
from verify.binding.axes import AXES, OperandFormula
from verify.binding.completion import FRAGMENTS, moves, spaces
from verify.binding.coordinates import Memory, Registers, formulas

SOURCE = "the ISA tables"


class NoAtom(Exception):
    """Why no atom can be made of an instruction; `unspecified` where the ISA itself leaves a layout open."""

    def __init__(self, reason: str, unspecified: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.unspecified = reason, unspecified


def without_atom(atoms: Iterable[AnyAtom]) -> Iterator[str]:
    """Return the mnemonics of the tables that none of the atoms names, sorted."""
    named = set()
    for mnemonic in dict.fromkeys(mnemonic for atom in atoms for mnemonic in atom.mnemonics):
        try:
            named.add(find(mnemonic).mnemonic)
        except isa_tables.IsaError:
            continue
    return (mnemonic for mnemonic in mnemonics("*") if mnemonic not in named)


def as_atom(mnemonic: str) -> AnyAtom:
    """Return the atom of an instruction by the ISA's formulas. Raises NoAtom where there is none.

    >>> as_atom("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32").operands["A"]
    '((4,8),2):((16,1),8)'
    >>> as_atom("wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64")
    Traceback (most recent call last):
    verify.atlas.without_atom.NoAtom: PTX ISA 9.7.14.4.1 leaves D, A, B, C unspecified
    """
    instruction = isa_tables.instruction(mnemonic)
    open_ = [name for name, operand in instruction.operands.items() if operand.unspecified]
    if open_:
        raise NoAtom(f"PTX ISA {instruction.section} leaves {', '.join(open_)} unspecified", unspecified=True)
    return _copy(instruction) if moves(instruction.signature) else _mma(instruction)


def _mma(instruction: isa_tables.Instruction) -> Atom:
    signature = instruction.signature
    extents = dict(zip("mnk", signature.shape, strict=True))
    thr = _lanes(instruction)
    texts, space = {}, {}
    if "C" in instruction.operands and _key(instruction, "C") != _key(instruction, "D"):
        raise NoAtom("C and D have different layouts, an atom has one layout for both")
    for name, axes in AXES.items():
        fragment = next((f for f in FRAGMENTS.get(name, (name,)) if f in instruction.operands), None)
        if fragment is None or (name not in "ABC" and instruction.operands[fragment].space != "reg"):
            continue
        table, extent = instruction.operands[fragment], (extents[axes[0]], extents[axes[1]])
        found, reason = formulas(name, instruction, table, extent)
        if not found:
            raise NoAtom(reason)
        text = _fragment(found[0], thr, extent[0])
        if text is None:
            raise NoAtom(f"no layout equals the ISA's formula for {name}")
        texts[name] = text
        if table.space != "reg":
            space[name] = table.space
    types = dict(signature.types[0])
    return Atom(  # its line of the atlas is that of an atom, verified and recorded as any other
        name=signature.mnemonic,
        ptx=(signature.mnemonic,),
        shape=(extents["m"], extents["n"], extents["k"]),
        thr=str(from_samples(len(thr), thr.__getitem__)),
        types={"C": types["D"], **types},
        operands=texts,
        source=SOURCE,
        space=space,
    )


def _key(instruction: isa_tables.Instruction, operand: str) -> tuple[object, ...]:
    """Equal for operands of the same formula."""
    return Registers("C", instruction.operands[operand], "").key


def _copy(instruction: isa_tables.Instruction) -> CopyAtom:
    of_operand, signature, why = spaces(instruction), instruction.signature, left_open(instruction) or NO_ORDER
    atom = CopyAtom(
        name=signature.mnemonic,
        ptx=(signature.mnemonic,),
        thr=f"{issuers(instruction)}:1",
        operands={},
        space=dict(zip(COPY_OPERANDS, (of_operand[-1], of_operand[0]), strict=True)),
        source=SOURCE,
    )
    texts, copies = {}, {}
    for name, operand in copy_operands(atom, instruction).items():
        lanes = range(operand.lanes)
        text = f"({operand.lanes},{operand.per_thread}):(0,1)" if operand.table is None else None
        text = text or find_layout_text(operand.number, lanes, operand.per_thread)
        if text is None:
            raise NoAtom(f"no layout equals the ISA's formula for {name}")
        texts[name], copies[name] = text, operand.copies
    if not texts:
        raise NoAtom(why)
    return replace(atom, operands={**texts, "Ref": texts["Dst"]}, copies=copies)


def _fragment(formula: OperandFormula, thr: Sequence[int], rows: int) -> str | None:
    """Return an operand of a product as a layout, numbered x + rows * y."""
    if isinstance(formula, Memory):
        share, columns = formula.extent[0] // formula.ctas, formula.extent[1]
        return f"({len(thr)},({share},{columns})):({share if formula.ctas > 1 else 0},(1,{rows}))"

    def number(lane: Any, value: Any) -> Any:
        x, y = formula.locate(lane, value)
        return x + rows * y

    return find_layout_text(number, thr, formula.values)


def find_layout_text(number: Callable[[Any, Any], Any], lanes: Sequence[int], values: int) -> str | None:
    """Return the layout (thread, value) -> number(lanes[thread], value), or None where no layout equals it.

    >>> find_layout_text(lambda lane, value: 8 * lane + value, range(4), 6)
    '(4,6):(8,1)'
    """
    table = number(np.array(lanes)[:, None], np.arange(values)[None, :])
    found = fit(np.broadcast_to(table, (len(lanes), values)))
    return None if found is None else str(found)


def _lanes(instruction: isa_tables.Instruction) -> list[int]:
    """Return the lanes that take part in the first of an instruction's products."""
    lanes = range(issuers(instruction))
    return [lane for lane in lanes if not int(instruction.product(lane % instruction.signature.lanes))]
