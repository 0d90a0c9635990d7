# SPDX-License-Identifier: Apache-2.0
"""The cache keys of an atom's properties: all that a check, or the verdicts on an operand, depend on, and no more.

They have the texts of layouts, never values of `Layout.__call__`. Each run has its own cache: planted bugs show.
"""

from __future__ import annotations

from collections.abc import Hashable

from verify.binding.atom import BoundAtom
from verify.binding.bound import BoundMaps, mnemonic_of
from verify.binding.operand import BoundOperand
from verify.core.verdict import Check
from verify.evidence import proof_family


def operand_key(check: Check, atom: BoundMaps, operand: BoundOperand) -> Hashable:
    """Return the key of a check of one operand: its layout, its tile, its owners, the threads and the formulas.

    A proof may be one about a family, so it depends on what the family states too.
    """
    where = (operand.axes, operand.extent, atom.thr_text, atom.lanes, atom.multiplicity(operand))
    return (
        operand.text,
        operand.map and operand.map.key,
        *where,
        operand.keys,
        *([_family(atom, operand)] if check is Check.PROOF else ()),
    )


def _family(atom: BoundMaps, operand: BoundOperand) -> Hashable | None:
    """Return the key of what can be proved of an operand for all members of its atom's family; None without one."""
    if not isinstance(atom, BoundAtom) or atom.atom.family is None:
        return None

    return proof_family.scope(atom, operand)


def layout_key(atom: BoundMaps, operand: BoundOperand) -> Hashable | None:
    """All that is claimed and found of a layout: of a sound MMA atom with one instruction the layout and its formulas.

    None for any other: claims and evidence speak of mnemonics there, of other operands, or of what is wrong elsewhere.
    """
    if atom.is_copy or operand.layout is None or atom.further or atom.by is None:
        return None
    if atom.uncompared_reasons or atom.thr_fault or atom.shape_fault:
        return None
    cited = tuple((formula.citation, formula.provenance) for formula in operand.formulas)
    return operand_key(Check.PROOF, atom, operand), operand.name, operand.no_formula, cited


def product_key(check: Check, atom: BoundMaps, _: None) -> Hashable:
    """Return the key of a product; None for a live GPU, which makes the product of every atom."""
    maps = tuple((part.text, part.map and part.map.key, part.extent, part.keys) for part in atom.parts)
    return None if check is Check.GPU else (maps, tuple(atom.space.items()), atom.thr_text)


def observed_key(check: Check, atom: BoundMaps, _: None) -> Hashable:
    """Return the key of what a GPU did: the maps, and the instruction, whose recordings they are compared with."""
    maps = tuple((part.text, part.map and part.map.key, part.extent) for part in atom.parts)
    own = atom.adapter, *atom.relabel.items()
    return (maps, tuple(atom.space.items()), atom.thr_text, own, mnemonic_of(atom.instruction))
