# SPDX-License-Identifier: Apache-2.0
"""Instructions without an atom: the ISA tables' own formulas, written as layouts where that is possible.

Verified like an atom's, they show whether the ISA's formula gives every element as many owners as it says (proof), and
whether a GPU that ran the instruction agrees (gpu).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

import isa_tables
from isa_tables.signature import find, mnemonics
from layouts import Layout, fit
from layouts.atoms import AnyAtom
from verify.atom.copies import COPY_OPERANDS, NO_ORDER, bind_copy, copy_operands, left_open
from verify.binding.axes import AXES, OperandFormula
from verify.binding.bound import BoundMaps, bind_maps, extent_of
from verify.binding.completion import FRAGMENTS, in_order, lanes_in_order, moves, spaces
from verify.binding.coordinates import Memory, Registers, formulas
from verify.binding.operand import map_layout
from verify.maps.map import Map


class NoAtom(Exception):
    """Why an instruction has no maps of its own; `unspecified` where the ISA itself leaves a layout open."""

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


def bind_own(mnemonic: str) -> BoundMaps:
    """Return the ISA's own maps of an instruction, as layouts. Raises NoAtom where there are none.

    >>> bind_own("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32").parts[0].text
    '((4,8),2):((16,1),8)'
    >>> bind_own("wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64")
    Traceback (most recent call last):
    verify.atlas.without_atom.NoAtom: PTX ISA 9.7.14.4.1 leaves D, A, B, C unspecified
    """
    instruction = isa_tables.instruction(mnemonic)
    open_ = [name for name, operand in instruction.operands.items() if operand.unspecified]
    if open_:
        raise NoAtom(f"PTX ISA {instruction.section} leaves {', '.join(open_)} unspecified", unspecified=True)
    return _copy(instruction) if moves(instruction.signature) else _product(instruction)


def _product(instruction: isa_tables.Instruction) -> BoundMaps:
    thr = lanes_in_order(instruction)
    given: dict[str, tuple[str, Map | None, str]] = {}
    if "C" in instruction.operands and _key(instruction, "C") != _key(instruction, "D"):
        raise NoAtom("C and D have different layouts, an atom has one layout for both")
    for name in AXES:
        fragment = next((f for f in FRAGMENTS.get(name, (name,)) if f in instruction.operands), None)
        if fragment is None or (name not in "ABC" and instruction.operands[fragment].space != "reg"):
            continue
        extent = extent_of(name, instruction.signature.shape)
        by_key, reason = formulas(name, instruction, instruction.operands[fragment], extent)
        if not by_key:
            raise NoAtom(reason)
        layout = _fragment(by_key[0], thr, extent[0])
        if layout is None:
            raise NoAtom(f"no layout equals the ISA's formula for {name}")
        given[name] = str(layout), map_layout(name, layout, extent), ""
    return bind_maps(instruction.signature.mnemonic, instruction, in_order(instruction), given)


def _key(instruction: isa_tables.Instruction, operand: str) -> tuple[object, ...]:
    """Equal for operands of the same formula."""
    return Registers("C", instruction.operands[operand], "").key


def _copy(instruction: isa_tables.Instruction) -> BoundMaps:
    of_operand = spaces(instruction)
    space = dict(zip(COPY_OPERANDS, (of_operand[-1], of_operand[0]), strict=True))
    layouts: dict[str, Layout] = {}
    copies: dict[str, int] = {}
    for name, operand in copy_operands(space, instruction).items():
        lanes, bits = operand.lanes, operand.per_thread
        whole = operand.table is None
        layout = Layout((lanes, bits), (0, 1)) if whole else find_layout(operand.number, range(lanes), bits)
        if layout is None:
            raise NoAtom(f"no layout equals the ISA's formula for {name}")
        layouts[name], copies[name] = layout, operand.copies
    if not layouts:
        raise NoAtom(left_open(instruction) or NO_ORDER)
    return bind_copy(instruction.signature.mnemonic, instruction, {**layouts, "Ref": layouts["Dst"]}, space, copies)


def _fragment(formula: OperandFormula, thr: Sequence[int], rows: int) -> Layout | None:
    """Return an operand of a product as a layout, numbered x + rows * y."""
    if isinstance(formula, Memory):
        share, columns = formula.extent[0] // formula.ctas, formula.extent[1]
        return Layout((len(thr), (share, columns)), (share if formula.ctas > 1 else 0, (1, rows)))

    def number(lane: Any, value: Any) -> Any:
        x, y = formula.locate(lane, value)
        return x + rows * y

    return find_layout(number, thr, formula.values)


def find_layout(number: Callable[[Any, Any], Any], lanes: Sequence[int], values: int) -> Layout | None:
    """Return the layout (thread, value) -> number(lanes[thread], value), or None where no layout equals it.

    >>> find_layout(lambda lane, value: 8 * lane + value, range(4), 6)
    Layout.parse('(4,6):(8,1)')
    """
    table = number(np.array(lanes)[:, None], np.arange(values)[None, :])
    return fit(np.broadcast_to(table, (len(lanes), values)))
