# SPDX-License-Identifier: Apache-2.0
"""Integer instructions on two halves of a register: each half as the instruction on its type (PTX ISA 5.2.3)."""

from __future__ import annotations

from isa_tables.semantics import Meaning
from verify.kernel.data.values import Mask
from verify.kernel.instructions.accesses import join_words, split_word
from verify.kernel.instructions.fields import element
from verify.kernel.instructions.integers import bind_formula
from verify.kernel.ptx.source import PtxInstruction
from verify.kernel.state.bound import Run
from verify.kernel.state.machine import Bind, Machine


def integer_pair(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """Bind arithmetic by the row's formula, on each half."""
    put, reads = machine.writer(inst.operands[0]), [machine.reader(operand) for operand in inst.operands[1:]]
    kinds, sizes = zip(*(element(meaning.types[role]) for role, _, _ in meaning.row.operands), strict=True)
    compute, size = bind_formula(machine, inst, meaning, kinds), sizes[0]

    def execute(mask: Mask | None) -> None:
        halves = zip(*(split_word(read(), 2, size) for read in reads), strict=True)
        put(join_words(machine.values, [compute(each, mask) for each in halves], size), mask)

    return execute


BINDS: dict[str, Bind] = {"integer_pair": integer_pair}
