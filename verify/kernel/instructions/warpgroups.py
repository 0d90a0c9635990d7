# SPDX-License-Identifier: Apache-2.0
"""setmaxnreg: the registers that the four warps of a warpgroup give back or take."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np

from isa_tables.semantics import Meaning
from verify.kernel.data.values import Mask
from verify.kernel.instructions.matrices import whole_warps
from verify.kernel.ptx.source import Immediate, PtxInstruction
from verify.kernel.state.bound import Run
from verify.kernel.state.findings import Severity, Unclear
from verify.kernel.state.machine import Bind, Machine, Unit

REGISTERS = 1 << 16  # of an SM from sm_50 on: CUDA C++ Programming Guide, technical specifications


@dataclass(slots=True)
class RegisterCounts(Unit):
    """What the warps of a batch have executed of setmaxnreg."""

    owned: dict[int, tuple[int, int, int]] = field(default_factory=dict)  # warp -> registers, when, how many times
    counts: dict[int, list[int]] = field(default_factory=dict)  # warpgroup -> what its warps are to have, in order
    line: int = 0  # of the first one that was executed

    @classmethod
    def make(cls, machine: Machine) -> Self:
        """Return those of a batch, which has executed none."""
        return cls(line=machine.findings.line)

    def end(self, machine: Machine) -> None:
        """Report a warpgroup of which a warp has ended without a setmaxnreg that another one executed."""
        for group, counts in self.counts.items():
            late = [
                warp for warp in range(4 * group, 4 * group + 4) if self.owned.get(warp, (0, 0, 0))[2] < len(counts)
            ]
            if late:
                machine.findings.line = self.line
                text = f"warp {late[0] % (machine.threads // 32)} ends without a setmaxnreg that another warp of its "
                text += "warpgroup executed: all four execute the same setmaxnreg"
                machine.findings.add("setmaxnreg by a part of a warpgroup", Severity.STUCK, text, "9.7.19.5")


def register_count(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """setmaxnreg: the warps of a warpgroup take or give registers."""
    amount = inst.operands[0].bits if isinstance(inst.operands[0], Immediate) else 0
    action = meaning.words["action"]
    if not 24 <= amount <= 256 or amount % 8:
        raise Unclear(inst.line, f"setmaxnreg takes a multiple of 8 from 24 to 256, not {amount}")

    def execute(mask: Mask | None) -> None:
        unit, order, warps = machine.unit(RegisterCounts), machine.shared.order, machine.threads // 32
        owned = unit.owned
        for warp in whole_warps(
            machine, mask, 32
        ).tolist():  # a compiler may have the warps of a group at several places
            group = np.arange(128) + warp // 4 * 128
            if machine.thread[group[-1]] >= machine.real:
                text = (
                    f"setmaxnreg by warp {warp % warps} of a CTA of {machine.real} threads, whose warpgroup has no four"
                )
                raise Unclear(inst.line, f"{text} warps: the ISA says nothing of it")
            before, time, number = owned.get(warp, (amount, 0, 0))
            counts = unit.counts.setdefault(warp // 4, [])  # by the first warp that came so far, in order
            if number == len(counts):
                counts.append(amount)
            if counts[number] != amount:
                text = f"{machine.shared.who(32 * warp)} is to have {amount} registers, another warp of its warpgroup "
                text += f"{counts[number]}: all four execute the same setmaxnreg"
                machine.findings.add("setmaxnreg by a part of a warpgroup", Severity.STUCK, text, "9.7.19.5")
            if before < amount if action == "dec" else before > amount:
                text = f"a warpgroup that has {before} registers for each thread is to have {amount}"
                machine.findings.add("setmaxnreg in the wrong direction", Severity.LETTER, text, "9.7.19.5")
            if (order.known[warp * 32 : warp * 32 + 32, order.local[group]] < time).any():
                text = "a warpgroup changes its registers again, and no barrier of its warps is between"
                machine.findings.add("setmaxnreg without a barrier", Severity.LETTER, text, "9.7.19.5")
            owned[warp] = amount, order.now, number + 1
            first = warp // warps * warps
            total = 32 * sum(owned.get(member, (0,))[0] for member in range(first, first + warps))
            if total > REGISTERS:
                text = f"the warps of a CTA are to have {total} registers, an SM has {REGISTERS}: one waits for ever"
                machine.findings.add("setmaxnreg of too many registers", Severity.STUCK, text, "9.7.19.5")

    return execute


BINDS: dict[str, Bind] = {"register_count": register_count}
