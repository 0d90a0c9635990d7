# SPDX-License-Identifier: Apache-2.0
"""Branches on what has no plain bits, in a run on values: as of rows of a tile that a kernel computes and never stores.

Where both ways compute alone, load nothing but parameters and concern no other thread, and meet further down, the
threads in which data decide read the parameters and go to that place at once, and the registers that either way writes
have no meaning in them. An output that depends on one is UNKNOWN.
"""

from __future__ import annotations

from isa_tables.semantics import meaning
from verify.kernel.data.values import Mask
from verify.kernel.instructions.undecided import find_undecided, take_decided
from verify.kernel.ptx.joins import ControlFlow
from verify.kernel.ptx.source import Address, Register, Vector
from verify.kernel.state.machine import Machine

_WIDEST = 8  # bytes of the widest register that a branch can depend on


class Skips:
    """The branches of a kernel on what has no plain bits."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.flow = ControlFlow(machine.kernel.instructions)
        # where ways meet, the registers written before, and the instructions that read parameters
        self.joins: dict[int, tuple[int, set[int], list[int]] | None] = {}

    def skip(self, number: int, active: Mask) -> bool:
        """Let threads in which data decide a branch go to where its ways meet; return whether there are any."""
        machine = self.machine
        undecided = find_undecided(machine, number, active)
        if undecided is None:
            return False
        if number not in self.joins:
            self.joins[number] = self._join(number)
        if (known := self.joins[number]) is None:
            return False
        join, registers, parameters = known
        guard, who = undecided
        for place in parameters:
            machine.findings.line = machine.kernel.instructions[place].line
            machine.bound[place].run(who)
        lost = machine.unknown(f"depends on a branch: {machine.describe_data(guard, who)} decides it", _WIDEST)
        for index in registers:
            machine.write(index, lost, who)
        take_decided(machine, number, guard, active & ~who)
        machine.pc[who] = join
        return True

    def _join(self, number: int) -> tuple[int, set[int], list[int]] | None:
        """Return where the ways of a branch meet, what they write and read; None if they do more than that."""
        machine, join = self.machine, self.flow.join(number)
        if join <= number:
            return None
        registers, parameters, bases = set[int](), list[int](), set[int]()
        for place in self.flow.between(number, join):
            inst = machine.kernel.instructions[place]
            if not number < place < join:
                return None
            if machine.bound[place].control == "branch" and inst.words[0] != "brx" and place < inst.target <= join:
                continue
            decoded = meaning(inst.opcode)
            if decoded is None or decoded.row.meaning == "load" or not machine.bound[place].pure:
                return None
            if decoded.row.meaning == "parameter":
                parameters.append(place)
                base = inst.operands[1].base if isinstance(inst.operands[1], Address) else None
                bases |= {base.index} if isinstance(base, Register) else set()
            elif not machine.bound[place].doubts:
                return None
            written = inst.operands[0].items if isinstance(inst.operands[0], Vector) else inst.operands[:1]
            registers.update(each.index for each in written if isinstance(each, Register))  # not `_`, a sink
        return None if bases & registers else (join, registers, parameters)
