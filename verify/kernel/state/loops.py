# SPDX-License-Identifier: Apache-2.0
"""The loops of a kernel as it runs: how many trips, whether a state comes again, whether the end is too far away.

Plain numbers decide where threads go: their places in the kernel, and the bits of registers that are no data. Where
all of that is as it was at an earlier trip, and nothing else was changed in between, the loop goes on for ever.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from verify.kernel.data.registers import Word
from verify.kernel.data.values import Mask
from verify.kernel.ptx.source import Kernel, Operand, PtxInstruction, Register
from verify.kernel.state.barriers import RUNNING
from verify.kernel.state.findings import Findings, Severity, Unclear
from verify.kernel.state.memory import Shared

ENDLESS = 5  # the state of a thread whose loop goes on for ever
_WATCHED = 256  # trips after which the end of a loop is estimated
_MANY = 4  # times the budget: an estimate beyond ends the run


@dataclass(slots=True)
class State:
    """What decides how a batch goes on, at the end of a trip."""

    effects: int  # instructions so far that do more than write registers
    places: NDArray[np.int32]  # of the threads
    states: NDArray[np.int8]  # of the threads
    registers: list[Word | None]
    differs: int = 0  # the register in which the last comparison ended


@dataclass(slots=True)
class Loop:
    """One loop, by the branch that closes it."""

    trips: NDArray[np.int32]  # of each thread of the batch
    first: int  # the number of its first instruction
    last: int  # and of the branch
    began: int  # the step of the first trip's end
    rounds: int = 0  # executions of the branch
    kept: State | None = None  # an earlier state, with which this trip's is compared
    distance: tuple[int, int] | None = None  # (rounds, difference of what the condition compares)


class Threads(Protocol):
    """What is read here of the machine that runs a batch."""

    kernel: Kernel
    findings: Findings
    shared: Shared
    budget: int  # instructions
    steps: int  # instructions so far
    effects: int  # those that do more than write registers
    count: int  # threads
    pc: NDArray[np.int32]  # their places
    state: NDArray[np.int8]
    registers: list[Word | None]
    trips: dict[int, int]  # the first instruction of a loop -> the most trips of a thread

    def reader(self, operand: Operand) -> Callable[[], Word]:
        """Return the value of an operand, when it is called."""


class Loops:
    """The loops of a batch."""

    def __init__(self, machine: Threads) -> None:
        self.machine = machine
        self.by_branch: dict[int, Loop] = {}  # by the instruction that closes a loop

    def back(self, number: int, target: int, mask: Mask) -> None:
        """Count a trip of the threads that a branch takes back; report a loop that does not end."""
        machine = self.machine
        loop = self.by_branch.get(number)
        if loop is None:
            loop = self.by_branch[number] = Loop(np.ones(machine.count, np.int32), target, number, machine.steps)
        loop.trips += mask
        loop.rounds += 1
        machine.trips[target] = max(machine.trips.get(target, 1), int(loop.trips.max()))
        if _comes_again(loop, State(machine.effects, machine.pc, machine.state, machine.registers)):
            self._endless(loop, mask)
        elif loop.rounds >= _WATCHED and loop.rounds & (loop.rounds - 1) == 0:
            self._estimate(loop, int(mask.argmax()))

    def describe_unfinished(self) -> str:
        """Why the budget ends the run: the loop with the most trips."""
        text = f"the kernel has not ended after {self.machine.budget} instructions (--budget)"
        most = max(self.by_branch.values(), key=lambda loop: loop.rounds, default=None)
        return f"{text}: {self._name_loop(most)} has run {most.rounds} times" if most else text

    def _name_loop(self, loop: Loop) -> str:
        lines = [self.machine.kernel.instructions[number].line for number in (loop.first, loop.last)]
        return f"the loop of lines {lines[0]} to {lines[1]}"

    def _endless(self, loop: Loop, mask: Mask) -> None:
        machine = self.machine
        flag = any(inst.is_strong for inst in machine.kernel.instructions[loop.first : loop.last])
        if flag or ((machine.state == RUNNING) & ~mask).any():
            # A spin lock or a flag: whether it ends depends on the other threads, which may still write, and on CTAs
            # that come later.
            text = (
                f"{self._name_loop(loop)} goes round without a change until another thread writes: no meaning for it; "
                "let a barrier or the end of a launch order the two"
            )
            raise Unclear(machine.findings.line, text)
        text = (
            f"{machine.shared.who(int(mask.argmax()))} and {int(mask.sum()) - 1} others: {self._name_loop(loop)} goes "
        )
        text += "round for ever, nothing changes in it that its condition compares"
        machine.findings.add("endless loop", Severity.STUCK, text)
        machine.state[mask] = ENDLESS

    def _estimate(self, loop: Loop, thread: int) -> None:
        """End the run if the numbers that a loop's condition compares come together far too slowly."""
        machine = self.machine
        compared = _condition(machine.kernel.instructions, loop)
        words = [machine.reader(operand)() for operand in compared.operands[1:]] if compared else []
        if not all(word.labels is None for word in words) or compared is None:
            return
        left, right = (
            int(np.int32(np.broadcast_to(word.bits, machine.count)[thread].astype(np.uint32))) for word in words
        )
        trips = _remaining(loop, left - right)
        each = (machine.steps - loop.began) / loop.rounds
        if trips is not None and trips * each > _MANY * machine.budget:
            text = f"{self._name_loop(loop)} has run {loop.rounds} times and would run about {trips} times more; "
            raise Unclear(
                machine.findings.line, f"{text}the kernel may execute {machine.budget} instructions (--budget)"
            )


def _comes_again(loop: Loop, now: State) -> bool:
    """Whether the state at the end of this trip is that of an earlier one: the 1st, 2nd, 4th, 8th are kept in turn."""
    kept = loop.kept
    # Brent's way to find a cycle with one state in memory: the kept state moves to trips 1, 2, 4, 8, so it comes to lie
    # in the cycle, wherever that begins, and is far enough from the next move for one of any length.
    if kept is None or kept.effects != now.effects or loop.rounds & (loop.rounds - 1) == 0:
        loop.kept = State(now.effects, now.places.copy(), now.states.copy(), now.registers.copy())
        return False
    # The register that differed last time mostly differs again, the counter of the loop: it is looked at first.
    if not _alike(kept.registers[kept.differs], now.registers[kept.differs]):
        return False
    if (kept.places != now.places).any() or (kept.states != now.states).any():
        return False
    for index, (old, new) in enumerate(zip(kept.registers, now.registers, strict=True)):
        if not _alike(old, new):
            kept.differs = index
            return False
    return True


def _alike(old: Word | None, new: Word | None) -> bool:
    """Whether two contents of a register have the same bits, and data in the same bytes."""
    if old is new:
        return True
    if old is None or new is None or not _equal(old.bits, new.bits):
        return False
    if old.labels is None or new.labels is None:
        return old.labels is new.labels
    width = max(old.labels.shape[1], new.labels.shape[1])
    return _equal(old.wide(width) > 0, new.wide(width) > 0)


def _equal(old: NDArray[Any], new: NDArray[Any]) -> bool:
    return bool((old == new).all())


def _condition(instructions: list[PtxInstruction], loop: Loop) -> PtxInstruction | None:
    """Return the comparison of integers that decides the branch which closes a loop; None without one."""
    guard = instructions[loop.last].guard
    for inst in reversed(instructions[loop.first : loop.last]) if guard is not None else ():
        made = inst.operands[0] if inst.operands else None
        if guard is not None and isinstance(made, Register) and made.index == guard.index:
            return (
                inst
                if inst.words[0] == "setp" and inst.words[-1] in ("s32", "u32") and len(inst.operands) == 3
                else None
            )
    return None


def _remaining(loop: Loop, difference: int) -> int | None:
    """About how many more trips a loop has, by how fast the difference of what it compares becomes 0, if it does."""
    before, loop.distance = loop.distance, (loop.rounds, difference)
    speed = (before[1] - difference) / (loop.rounds - before[0]) if before else 0.0
    if not speed:
        return None
    trips = difference / speed
    return int(trips) if trips >= 0 else int((1 << 32) / abs(speed))  # away from 0: round all numbers of 32 bits
