# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of extended precision: add.cc to madc, whose carry or borrow is kept in a register of each thread."""

from __future__ import annotations

import numpy as np

from isa_tables.semantics import Meaning
from verify.kernel.data.registers import Word, settle
from verify.kernel.data.values import Bits, Mask
from verify.kernel.instructions.integers import as_type, high_half, keep_bits, without_meaning
from verify.kernel.ptx.source import WIDTHS, PtxInstruction
from verify.kernel.state.bound import Run
from verify.kernel.state.machine import Bind, Machine

# The ISA's text has one flag for both, a borrow after sub.cc. An H100 keeps the carry of a + ~b + 1, its opposite.
# A chain of subtractions does not show that; a subtraction that goes on after an addition does. ptxas tells the
# two apart by the text, so the other one is lost in threads whose guard is false too.
MIXED = "is the carry of an addition taken for a borrow, or the other way round: the ISA and an H100 differ"


def carry(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """add, sub and mad with a carry: `c` at the end of the head takes one in, `.cc` writes one."""
    kind, head = meaning.types["d"], meaning.head
    put, reads = machine.writer(inst.operands[0]), [machine.reader(operand) for operand in inst.operands[1:]]
    width, writes, half = WIDTHS[kind], "cc" in inst.words, meaning.words.get("half", "")
    borrows, takes = head.startswith("sub"), head.endswith("c")
    flag, opposite = machine.carry + borrows, machine.carry + (not borrows)

    def execute(mask: Mask | None) -> None:
        before = [machine.register(flag)] if takes else [Word(np.zeros(1, np.uint64))]
        sources = [settle(each, machine.values) for each in [*(read() for read in reads), *before]]
        *operands, taken = (keep_bits(each.bits, width) for each in sources)
        if half:
            operands = [_half(operands[0], operands[1], kind, half), operands[2]]
        total, over = (_less if borrows else _more)(operands[0], operands[1], taken, width)
        of_data = any(each.data(mask) for each in sources)
        size, why = width // 8, f"{inst.opcode} of data"
        put(without_meaning(machine, sources, size, why, total) if of_data else Word(total), mask)
        if writes:
            why = f"the carry of {why}"
            machine.write(flag, without_meaning(machine, sources, 8, why, over) if of_data else Word(over), mask)
            machine.write(opposite, machine.unknown(MIXED, 8), None)

    return execute


def _half(left: Bits, right: Bits, kind: str, half: str) -> Bits:
    width = WIDTHS[kind]
    if half == "lo":
        return keep_bits(left * right, width)
    if width == 64:
        return high_half(left, right, kind)
    product = (as_type(left, kind) * as_type(right, kind)).view(np.uint64)
    return keep_bits(product >> np.uint64(32), width)


def _more(a: Bits, b: Bits, taken: Bits, width: int) -> tuple[Bits, Bits]:
    """Return a + b + carry, and the carry of it."""
    first = keep_bits(a + b, width)
    total = keep_bits(first + taken, width)
    return total, ((first < a) | (total < first)).astype(np.uint64)


def _less(a: Bits, b: Bits, taken: Bits, width: int) -> tuple[Bits, Bits]:
    """Return a - b - borrow, and the borrow of it."""
    first = keep_bits(a - b, width)
    return keep_bits(first - taken, width), ((a < b) | (first < taken)).astype(np.uint64)


BINDS: dict[str, Bind] = {"carry": carry}
