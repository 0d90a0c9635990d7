# SPDX-License-Identifier: Apache-2.0
"""The instruction that --ptx names for a layout: a product that has --operand."""

from __future__ import annotations

import isa_tables
from verify.binding.atom import look_up
from verify.binding.completion import FRAGMENTS, moves
from verify.binding.coordinates import AXES
from verify.core.errors import UsageError
from verify.maps import short_names


def find_product(ptx: str, operand: str) -> tuple[str, isa_tables.Instruction]:
    """Return the mnemonic that `ptx` is, or is short for, and its instruction.

    Raises UsageError for one that multiplies no matrices or lacks the operand, SpecError for a name that is short for
    instructions whose operands differ.
    """
    known = [name for name in AXES if name and AXES[name] != ("bit",)]
    if operand not in known:
        raise UsageError(f"--operand: {operand!r}: expected {', '.join(known)}; an atom's C is C and D")
    mnemonic = ptx
    if short_names.expand(ptx):
        names = FRAGMENTS.get(operand, (operand,))
        mnemonic = short_names.find_instruction("ptx", ptx, names, isa_tables.instruction).signature.mnemonic
    named = look_up(mnemonic)
    if named.instruction is None:
        raise UsageError(f"--ptx: {named.rejected or named.unknown}")
    if moves(named.instruction.signature) or len(named.instruction.signature.shape) != 3:
        raise UsageError(f"--ptx: {ptx} multiplies no matrices: a layout is compared with an operand of a product")
    if not {operand, *("CD" if operand == "C" else "")} & named.instruction.operands.keys():
        listed = ", ".join(name for name in known if name in named.instruction.operands)
        raise UsageError(f"--operand: {ptx} has no operand {operand}: it has {listed}")
    return mnemonic, named.instruction
