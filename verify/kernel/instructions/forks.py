# SPDX-License-Identifier: Apache-2.0
"""Branches that data decide, in a run on opaque data: both ways are taken, and their results joined where they meet.

Each thread may go either way, whatever the others do. So the threads in which data decide go one way up to the place
where the ways meet, then, with the registers and the memory that there were, the other; where they meet, a register or
a byte holds either of two values. That is sound as long as nothing on the ways makes threads wait for
each other: a barrier, a vote or a fence there, or the branch itself again, in a loop, ends the run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence

from isa_tables.semantics import meaning
from verify.kernel.data.values import FIRST, Ids, Mask
from verify.kernel.instructions.flags import HINT
from verify.kernel.instructions.opaque import join_bytes, join_registers
from verify.kernel.instructions.undecided import find_undecided, take_decided
from verify.kernel.ptx.joins import ControlFlow
from verify.kernel.ptx.source import PtxInstruction
from verify.kernel.state.barriers import RUNNING
from verify.kernel.state.copies import Octets
from verify.kernel.state.findings import WARNINGS, Severity, Unclear
from verify.kernel.state.machine import Machine

MOST = 64  # times that each branch is taken both ways in a batch
_MILD = frozenset({"branch", "exit", "nothing", "parameter", "trap"})
_STRONG = frozenset({"acquire", "release", "acq_rel", "relaxed", "mmio"})  # what orders threads, or is ordered
_WRITES = frozenset({"st", "atom", "red"})


def _describe_loop(code: Sequence[PtxInstruction], places: Sequence[int]) -> str:
    """Return what is not known of a loop that data decide, by the name of what it waits for if that is a flag."""
    flag = next((inst for inst in map(code.__getitem__, places) if inst.is_strong or inst.words[0] == "atom"), None)
    text = "data decide how often a loop goes round"
    if flag is None:
        return f"{text}: go round a number of times that bounds it, and guard what it does"
    text += f", which looks at what other threads write ({flag.opcode} in line {flag.line}): flags and locks in memory "
    return f"{text}have no meaning here; {HINT}"


class Forks:
    """The branches of a kernel that data decide."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.flow = ControlFlow(machine.kernel.instructions)
        self.taken: Counter[tuple[int, int]] = Counter()  # by batch and branch
        self.joins: dict[int, tuple[int, bool]] = {}  # where the ways of a branch meet, whether they write memory

    def fork(self, number: int, active: Mask) -> bool:
        """Take a branch both ways in the threads in which data decide it; return whether there are any."""
        machine = self.machine
        undecided = find_undecided(machine, number, active)
        if undecided is None:
            return False
        guard, who = undecided
        if (lost := who & (guard.wide(1)[:, 0] < FIRST << 3)).any():
            machine.unclear(guard, lost, "the guard of a branch")
        self.taken[machine.begun, number] += 1
        if self.taken[machine.begun, number] > MOST:
            line = machine.kernel.instructions[number].line
            raise Unclear(line, f"data decide this branch, which was taken both ways {MOST} times")
        join, stores = self._join(number)
        take_decided(machine, number, guard, active & ~who)
        self._take_both(who, number, join, stores)
        return True

    def _join(self, number: int) -> tuple[int, bool]:
        """Return where the ways of a branch meet; Unclear if something on them isn't a thread's own affair."""
        if number in self.joins:
            return self.joins[number]
        machine, join = self.machine, self.flow.join(number)
        code = machine.kernel.instructions
        here = code[number].line
        places = self.flow.between(number, join)
        if join < 0 or number in places:
            raise Unclear(here, _describe_loop(code, sorted({*places, number})))
        for place in sorted(places):
            decoded = meaning(code[place].opcode)
            mild = machine.bound[place].doubts or (decoded is not None and decoded.row.meaning in _MILD)
            if not mild or _STRONG.intersection(code[place].words):
                text = f"data decide this branch, and so whether a thread comes to {code[place].opcode} in line "
                text += f"{code[place].line}, which concerns other threads too: let all threads come there"
                raise Unclear(here, text)
        self.joins[number] = join, any(code[place].words[0] in _WRITES for place in places)
        return self.joins[number]

    def _take_both(self, who: Mask, number: int, join: int, stores: bool) -> None:
        machine = self.machine
        branch, before = machine.kernel.instructions[number], dict(machine.findings.reported)
        registers, loading = list(machine.registers), dict(machine.loading)
        memories = self._memories() if stores else []
        kept = [(labels.copy(), plain.copy()) for labels, plain in memories]
        self._walk(who, branch.target, join)
        first, first_loading = machine.registers, machine.loading
        written = [(labels.copy(), plain.copy()) for labels, plain in memories]
        for (labels, plain), old in zip(memories, kept, strict=True):
            labels[:], plain[:] = old
        machine.registers, machine.loading = registers, loading
        machine.state[who] = RUNNING
        self._walk(who, number + 1, join)
        machine.loading = first_loading | machine.loading
        for index, (old_word, new_word) in enumerate(zip(first, machine.registers, strict=True)):
            if old_word is not new_word:
                machine.registers[index] = join_registers(machine, index, old_word, new_word, who)
        for memory, earlier in zip(memories, written, strict=True):
            join_bytes(memory, earlier)
        self._doubt(before, branch.line)

    def _memories(self) -> list[tuple[Ids, Octets]]:
        """Return the labels and the plain bytes of all that threads may write."""
        machine = self.machine
        arrays = [region.stored for region in machine.memory.arrays if region.stored is not None]
        own, shared = (machine.local.labels, machine.local.plain), (machine.shared.labels, machine.shared.plain)
        return [own, shared, *((stored.labels, stored.plain) for stored in arrays)]

    def _walk(self, who: Mask, start: int, join: int) -> None:
        """Run some threads from one place to another, or to their end."""
        machine = self.machine
        machine.effects += 1  # no state of a loop before is that of one on this way
        machine.pc[who] = start
        while (running := who & (machine.state == RUNNING) & (machine.pc != join)).any():
            pc = int(machine.pc[running].min())
            active = running & (machine.pc == pc)
            later = machine.pc[running & ~active]
            limits = [len(machine.bound), *later.tolist(), *([join] if join > pc else [])]
            machine.straight(pc, active, min(limits))
        machine.effects += 1

    def _doubt(self, before: Container[tuple[str, int]], line: int) -> None:
        """Make what was found on one of the ways unknown: no data may go there."""
        known = self.machine.findings.reported
        for key, finding in known.items():
            if key not in before and finding.severity not in (*WARNINGS, Severity.UNKNOWN):
                text = f"{finding.text}; that is if data let the branch in line {line} go there"
                known[key] = finding._replace(severity=Severity.UNKNOWN, text=text)
