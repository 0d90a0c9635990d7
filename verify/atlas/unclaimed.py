# SPDX-License-Identifier: Apache-2.0
"""Instructions that no atom claims, as the book has them: its formulas written as layouts, where layouts can say them.

Such an atom is nobody's claim. Judged like one it tells whether the book deals every element out as often as it says
(proof), and whether a GPU that ran the instruction showed the same (silicon).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import isa_tables
from isa_tables.signature import find, mnemonics
from layouts import fit, from_samples
from layouts.atoms import AnyAtom, Atom, CopyAtom
from verify.atom.copies import NO_ORDER, SIDES, left_open, sides
from verify.binding.atom import FRAGMENTS, issuers
from verify.binding.completion import moves, spaces
from verify.binding.coordinates import Formula, Memory, Registers, formulas

SOURCE = "the book"
HELD = {"A": "mk", "B": "nk", "C": "mn", "E": "mk", "SFA": "mk", "SFB": "nk"}


@dataclass(frozen=True, slots=True)
class Silent:
    """Why there is nothing to judge; `unspecified` where the ISA itself leaves it open."""

    reason: str
    unspecified: bool = False


def unclaimed(atoms: Iterable[AnyAtom]) -> Iterator[str]:
    """The mnemonics of the tables that none of the atoms names, sorted."""
    named = set()
    for mnemonic in dict.fromkeys(mnemonic for atom in atoms for mnemonic in atom.mnemonics):
        try:
            named.add(find(mnemonic).mnemonic)
        except isa_tables.IsaError:
            continue
    return (mnemonic for mnemonic in mnemonics("*") if mnemonic not in named)


def as_atom(mnemonic: str) -> AnyAtom | Silent:
    """What an atom of an instruction would be by the book, or why there is none.

    >>> as_atom("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32").operands["A"]
    '((4,8),2):((16,1),8)'
    >>> as_atom("wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64").reason
    'PTX ISA 9.7.14.4.1 leaves D, A, B, C unspecified'
    """
    instruction = isa_tables.instruction(mnemonic)
    open_ = [name for name, operand in instruction.operands.items() if operand.unspecified]
    if open_:
        return Silent(f"PTX ISA {instruction.section} leaves {', '.join(open_)} unspecified", unspecified=True)
    return _copy(instruction) if moves(instruction.signature) else _mma(instruction)


def _mma(instruction: isa_tables.Instruction) -> Atom | Silent:
    signature = instruction.signature
    extents = dict(zip("mnk", signature.shape, strict=True))
    thr = _lanes(instruction)
    texts, space = {}, {}
    if "C" in instruction.operands and _key(instruction, "C") != _key(instruction, "D"):
        return Silent("C and D are dealt out differently, an atom has one layout for both")
    for name, axes in HELD.items():
        fragment = next((f for f in FRAGMENTS.get(name, (name,)) if f in instruction.operands), None)
        if fragment is None or (name not in "ABC" and instruction.operands[fragment].space != "reg"):
            continue
        table, extent = instruction.operands[fragment], (extents[axes[0]], extents[axes[1]])
        found, silence = formulas(name, instruction, table, extent)
        if not found:
            return Silent(silence)
        text = _fragment(found[0], thr, extent[0])
        if text is None:
            return Silent(f"no layout says what the book says of {name}")
        texts[name] = text
        if table.space != "reg":
            space[name] = table.space
    types = dict(signature.types[0])
    return Atom(
        name=signature.mnemonic,
        ptx=(signature.mnemonic,),
        shape=(extents["m"], extents["n"], extents["k"]),
        thr=str(from_samples(len(thr), thr.__getitem__)),
        types={"C": types["D"], **types},
        operands=texts,
        source=SOURCE,
        element={},
        known_defect=None,
        file="",
        space=space,
    )


def _key(instruction: isa_tables.Instruction, operand: str) -> tuple[object, ...]:
    """Equal for operands of the same formula."""
    return Registers("C", instruction.operands[operand], "").key


def _copy(instruction: isa_tables.Instruction) -> CopyAtom | Silent:
    told, signature, why = spaces(instruction), instruction.signature, left_open(instruction) or NO_ORDER
    atom = CopyAtom(
        name=signature.mnemonic,
        ptx=(signature.mnemonic,),
        thr=f"{issuers(instruction)}:1",
        operands={},
        space=dict(zip(SIDES, (told[-1], told[0]), strict=True)),
        bits={},
        copies={},
        adapter=None,
        source=SOURCE,
        known_defect=None,
        file="",
    )
    texts, copies = {}, {}
    for name, side in sides(atom, instruction).items():
        lanes = range(side.lanes)
        text = f"({side.lanes},{side.per_thread}):(0,1)" if side.table is None else None
        text = text or written(side.number, lanes, side.per_thread)
        if text is None:
            return Silent(f"no layout says what the book says of {name}")
        texts[name], copies[name] = text, side.copies
    return replace(atom, operands={**texts, "Ref": texts["Dst"]}, copies=copies) if texts else Silent(why)


def _fragment(formula: Formula, thr: Sequence[int], rows: int) -> str | None:
    """An operand of a product as a layout, numbered x + rows * y."""
    if isinstance(formula, Memory):
        share, columns = formula.extent[0] // formula.ctas, formula.extent[1]
        return f"({len(thr)},({share},{columns})):({share if formula.ctas > 1 else 0},(1,{rows}))"

    def number(lane: Any, value: Any) -> Any:
        x, y = formula.locate(lane, value)
        return x + rows * y

    return written(number, thr, formula.values)


def written(number: Callable[[Any, Any], Any], lanes: Sequence[int], values: int) -> str | None:
    """The layout (thread, value) -> number(lanes[thread], value), or None where none is found that says it.

    >>> written(lambda lane, value: 8 * lane + value, range(4), 6)
    '(4,6):(8,1)'
    """
    table = number(np.array(lanes)[:, None], np.arange(values)[None, :])
    found = fit(np.broadcast_to(table, (len(lanes), values)))
    return None if found is None else str(found)


def _lanes(instruction: isa_tables.Instruction) -> list[int]:
    """The lanes that work for the first of an instruction's products."""
    lanes = range(issuers(instruction))
    return [lane for lane in lanes if not int(instruction.product(lane % instruction.signature.lanes))]
