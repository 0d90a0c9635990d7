# SPDX-License-Identifier: Apache-2.0
"""The other side of an `if` around a load: instructions that no thread executes at the sample, read from the text.

nvcc writes `if (in bounds) x = A[…]; else x = 0` as a branch to the load, a branch to the zero, and a join. The sample
executes the load alone; what the zero's side does to registers is found here, for any other side is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from isa_tables.semantics import meaning
from verify.kernel.ptx.source import Immediate, Operand, PtxInstruction, Register


@dataclass(frozen=True)
class OtherSide:
    """What the side of a branch does that is not executed at the sample."""

    join: int  # the instruction at which both sides are together again
    zeros: frozenset[int]  # registers that it leaves at 0
    written: frozenset[int]  # all that it writes


def read_other_side(instructions: Sequence[PtxInstruction], number: int) -> OtherSide | None:
    """Return the side that a forward branch leaves out if it is taken; None unless it is zeros in registers.

    The text is `@p bra T; bra E; T: …; bra J; E: …; J:`.
    """
    first, target = number + 1, instructions[number].target
    if target != first + 1 or not _always(instructions[first]):
        return None
    start = instructions[first].target
    if start <= target or not _always(instructions[start - 1]) or instructions[start - 1].target < start:
        return None
    join = instructions[start - 1].target
    zeros: set[int] = set()
    written: set[int] = set()
    for instruction in instructions[start:join]:
        semantics, place = meaning(instruction.opcode), instruction.operands[0] if instruction.operands else None
        kind = semantics.row.meaning if semantics is not None else ""
        if instruction.guard is not None or kind not in ("move", "convert") or not isinstance(place, Register):
            return None
        zero = all(_is_zero(source, zeros) for source in instruction.operands[1:])
        written.add(place.index)
        (zeros.add if zero else zeros.discard)(place.index)
    if _enters(instructions, start, join):
        return None
    return OtherSide(join, frozenset(zeros), frozenset(written))


def _is_zero(source: Operand, zeros: set[int]) -> bool:
    """Return whether an operand is the number 0, or a register that holds it."""
    if isinstance(source, Register):
        return source.index in zeros and not source.negated
    return isinstance(source, Immediate) and source.bits == 0


def _always(instruction: PtxInstruction) -> bool:
    """Return whether an instruction is a branch to one place that every thread takes."""
    return (
        instruction.guard is None
        and instruction.words[0] == "bra"
        and len(instruction.targets) < 2
        and instruction.target >= 0
    )


def _enters(instructions: Sequence[PtxInstruction], start: int, join: int) -> bool:
    """Return whether a branch leads into the middle of a side."""
    return any(start < to < join for instruction in instructions for to in (instruction.target, *instruction.targets))
