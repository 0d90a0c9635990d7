# SPDX-License-Identifier: Apache-2.0
"""The machine: all threads of some CTAs on one axis, the lowest instruction first.

Warps (or warpgroups) gather at an instruction that they execute together; threads block at barriers. The machine has
the registers and the schedule; what an instruction does is a function that `bind` makes of it, once for each.
One schedule, and freedom from races, speak for all schedules. Main declarations: `Machine`, `Unit` (what works beside
the threads), and the type `Bind`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Self, TypeAlias, TypeVar, cast

import numpy as np

from isa_tables.semantics import Meaning
from verify.kernel.claims.launch import Launch, Parameter
from verify.kernel.data.distinct import sort_distinct
from verify.kernel.data.registers import Word, find_decided, merge_predicate, negate, settle
from verify.kernel.data.values import UNWRITTEN, Bits, Mask, Values
from verify.kernel.ptx.source import Address, Immediate, Kernel, Operand, PtxInstruction, Register, Symbol
from verify.kernel.state.barriers import AT_BARRIER, DONE, RUNNING, Barriers
from verify.kernel.state.bound import BoundInstruction, Read, Run
from verify.kernel.state.findings import Findings, Severity, Unclear
from verify.kernel.state.global_memory import Global
from verify.kernel.state.lanes import FEWEST, WARP, Lanes, parts_warps
from verify.kernel.state.local_memory import LocalMemory
from verify.kernel.state.loops import Loops
from verify.kernel.state.memory import Shared
from verify.kernel.state.order import Ints
from verify.kernel.state.placement import MAX_SHARED, Placement
from verify.kernel.state.products import Products
from verify.kernel.state.specials import SPECIALS, special_registers
from verify.kernel.state.windows import SHARED_WINDOW, check_window

WAITING, GATHERING = 3, 4  # states of a thread besides those of `barriers`
Bind: TypeAlias = Callable[["Machine", PtxInstruction, Meaning], Run]
U = TypeVar("U", bound="Unit")
_ALL64 = (1 << 64) - 1  # an address has 64 bits and wraps around
_GROUPED = ("wgmma", "setmaxnreg")  # what a warpgroup executes


class Unit(ABC):
    """What works next to the threads of a batch, such as the copy engine; if it reports or waits it overrides more."""

    __slots__ = ()

    @classmethod
    @abstractmethod
    def make(cls, machine: Machine) -> Self:
        """Return the unit of a batch, when its kernel first uses it."""

    def wake(self, machine: Machine) -> bool:
        """Let threads go on whose wait for it is over, when nothing else runs; return whether there are any."""
        return False

    def describe_missing(self, machine: Machine) -> str:
        """Return what the threads lack that wait for it for ever, in words."""
        return ""

    def end(self, machine: Machine) -> None:  # noqa: B027  # most units report nothing
        """Report what it has not done when all threads have ended."""


class Machine:
    """The threads of a batch of CTAs, with their registers and memory."""

    skips = True  # whether a branch without plain bits may be left out: `instructions.skips`

    def __init__(
        self, kernel: Kernel, launch: Launch, values: Values, findings: Findings, memory: Global,
        parameters: Mapping[str, Parameter | None], budget: int,
    ) -> None:  # fmt: skip
        # what it executes, and where its results go
        self.kernel, self.launch, self.values, self.findings = kernel, launch, values, findings
        self.memory = memory  # global
        self.parameters = parameters  # contents by name; None where the launch gives none
        self.bound: list[BoundInstruction] = []
        # the threads of a CTA
        self.real = int(np.prod(launch.block))
        grouped = any(inst.words[0] in _GROUPED for inst in kernel.instructions)
        size = 4 * WARP if grouped else WARP
        self.threads = -(-self.real // size) * size  # and with those that fill up its last warp, which never run
        # the memory of a CTA and of a thread
        self.placement = Placement(kernel, launch.smem, launch.smem_align)
        self.symbols = self.placement.symbols
        self.cell = 1  # bytes of shared memory that are compared together
        self.local = LocalMemory(kernel, findings)
        self.asynchronous = any(inst.words[0] == "wgmma" for inst in kernel.instructions)
        self.kinds: dict[str, Any] = {}  # of fragments of wmma, by their words
        self.arrangement = 0  # which of all arrangements those have
        # the schedule
        self.budget = budget  # the most instructions of a batch
        self.steps = 0  # instructions so far
        self.number = 0  # of the instruction that is executed
        # data that decide which threads execute an instruction
        self.unsure: Mask | None = None  # threads in which they do
        self.run_unsure: Callable[[int, Mask | None], None] | None = None  # runs one of which they do
        self.fork: Callable[[int, Mask], bool] | None = None  # takes a branch both ways if data decide it
        # who looks on
        self.ticked: Callable[[int], None] = lambda steps: None
        self.watch: Callable[[Any], None] | None = None  # gets each matrix product that is executed
        # what the report counts
        self.ran = np.zeros(len(kernel.instructions), bool)
        self.guards: dict[int, int] = {}  # instruction with a guard -> which values its predicate had: `_values_of`
        self.trips: dict[int, int] = {}  # the first instruction of a loop -> the most trips of a thread
        self.offsets_read: set[tuple[int, int, int]] = set()  # (parameter, first byte, bytes)
        self.unwritten: dict[int, int] = {}  # register -> the line that reads it before any instruction wrote it

    # ---- a batch

    def start(self, ctas: Sequence[tuple[int, int, int]], first: int) -> None:
        """Set up the threads of a batch; `first` is the number of its first CTA in the grid."""
        if self.placement.size > MAX_SHARED:
            raise Unclear(0, f"{self.placement.size} bytes of shared memory; a CTA has at most {MAX_SHARED}")
        # its threads: who they are, and where they stand
        self.begun = self.steps  # the step at which the batch begins
        self.ctas, self.count = len(ctas), len(ctas) * self.threads
        self.everyone = np.arange(self.count)  # the number of each in the batch
        self.thread = np.tile(np.arange(self.threads), self.ctas)  # its number in its CTA
        self.cta = np.repeat(np.arange(self.ctas), self.threads)  # its CTA's number in the batch
        self.specials = special_registers(self.launch, self.thread, ctas, self.values)
        self.state = np.where(self.thread < self.real, RUNNING, DONE).astype(np.int8)  # of `barriers`, or one above
        self.pc = np.zeros(self.count, np.int32)  # the number of its next instruction
        self.active = np.ones(self.count, bool)  # the threads that execute
        self.loops, self.effects = Loops(self), 0  # of the batch; instructions that were not pure
        # registers, each of all threads; None is one that nothing has written
        self.carry = len(self.kernel.registers)  # the carry and the borrow lie behind the registers with names
        self.registers: list[Word | None] = [Word(np.array([bits], np.uint64)) for bits in self.kernel.contents]
        self.registers += [None] * (self.carry + 2 - len(self.registers))
        self.constants: dict[int, Word] = {}  # by their bits
        self.loading: dict[int, int] = {}  # register -> the line of a tcgen05.ld that nobody has waited for
        # memory, and what orders accesses of it
        self.local.start(self.count)
        self.shared = Shared(self.ctas, self.threads, self.placement, self.cell, self.values, self.findings)
        self.shared.order.leave_out(self.real)
        if parts_warps(self.kernel):
            self.shared.order.part_warps(FEWEST)
        self.shared.first, self.shared.grid, self.memory.grid = first, self.launch.grid, self.launch.grid
        self.memory.base, self.memory.threads = first * self.threads, self.threads
        self.memory.order = self.shared.order
        self.together = Lanes(self)  # the lanes that execute an instruction together
        self.barriers = Barriers(self.state, self.shared, self.findings)
        # what works next to the threads
        self.group = np.zeros(self.count, np.int64)  # of each thread's next cp.async
        self.units: dict[type[Unit], Unit] = {}  # those that the kernel uses
        self.products: Products | None = None  # what wgmma holds, in a kernel that has it
        if self.asynchronous:
            self.products = Products(self.count, self.shared, self.barriers, self.findings)
            self.shared.watch_writes(self.products.reads.report_writes)

    def unit(self, kind: type[U]) -> U:
        """Return the batch's unit of a kind."""
        unit = self.units.get(kind)
        if unit is None:
            unit = self.units[kind] = kind.make(self)
        return cast(U, unit)

    # ---- operands

    def reader(self, operand: Operand) -> Read:
        """Return a function that gives an operand's contents."""
        if isinstance(operand, Register):
            index = operand.index
            return (lambda: negate(self.register(index))) if operand.negated else (lambda: self.register(index))
        if isinstance(operand, Immediate):
            return partial(self.constant, operand.bits & _ALL64)
        if isinstance(operand, Symbol):
            name = operand.name
            if name.startswith("%"):
                if name not in SPECIALS:
                    raise Unclear(self.findings.line, f"no meaning for the special register {name}")
                return lambda: self.specials[name]
            for placed in (self.symbols, self.local.symbols):
                if name in placed:
                    return partial(self.constant, placed[name] + operand.offset)
        raise Unclear(self.findings.line, f"no meaning for the operand {getattr(operand, 'name', operand)!s:.60}")

    def constant(self, bits: int) -> Word:
        """Return a constant; what it knows of itself are numbers of values, which are others in the next batch."""
        word = self.constants.get(bits)
        if word is None:
            word = self.constants[bits] = Word(np.array([bits], np.uint64))
        return word

    def register(self, index: int) -> Word:
        """Return the contents of a register."""
        if self.products is not None and index in self.products.results:
            self.products.check_flight(index, self.kernel.names[index], self.active, writes=False)
        if self.loading and index in self.loading:
            line = self.loading[index]
            text = f"{self.kernel.names[index]} is read, and the tcgen05.ld of line {line} was not waited for"
            self.findings.add("no tcgen05.wait::ld", Severity.LETTER, text, "9.7.16.8.5")
            self.loading = {key: at for key, at in self.loading.items() if at != line}
        word = self.registers[index]
        if word is None:
            self.unwritten.setdefault(index, self.findings.line)
            word = Word(np.zeros(1, np.uint64), np.full((1, 8), UNWRITTEN << 3, np.uint32))
        return word

    def numbers(self, read: Read, mask: Mask | None, what: str) -> Bits:
        """Return an operand as plain bits; Unclear where data are used as an address, a predicate or a count."""
        word = settle(read(), self.values)
        if word.data(mask):
            self.unclear(word, mask, what)
        return word.bits

    def unclear(self, word: Word, mask: Mask | None, what: str) -> None:
        """End the run: data are where plain bits must be."""
        raise Unclear(self.findings.line, f"{self.describe_data(word, mask)} is used as {what}")

    def describe_data(self, word: Word, mask: Mask | None) -> str:
        """Say what data in a register are, in words: the reason if they have no meaning."""
        assert word.labels is not None
        labels = word.labels if mask is None or len(word.labels) == 1 else word.labels[mask]
        first = int(labels[labels > 0][0]) >> 3
        if first < len(self.values.causes):
            line, text = self.values.causes[first]
            return f"a value that {text}" if not line else f"a value without a meaning (line {line}: {text})"
        return "data"

    def unknown(self, reason: str, width: int) -> Word:
        """Return a register of so many bytes that has no meaning: what depends on it is unknown."""
        cause = self.values.reason(reason)
        return Word(np.zeros(1, np.uint64), np.full((1, width), cause << 3, np.uint32))

    def write(self, index: int, word: Word, mask: Mask | None) -> None:
        """Write a register in some threads."""
        if self.products is not None:
            active = self.active if mask is None else mask
            self.products.check_flight(index, self.kernel.names[index], active, writes=True)
            self.products.touch(index, mask, self.steps)
        if self.loading:
            self.loading.pop(index, None)
        if mask is None:
            self.registers[index] = word
            return
        old = self.registers[index]
        if old is None:
            old = Word(np.zeros(1, np.uint64), np.full((1, 8), UNWRITTEN << 3, np.uint32))
        if word.kind and (word.kind, word.width) == (old.kind, old.width):
            self.registers[index] = Word.of(np.where(mask[:, None], word.ids, old.ids), word.kind)  # type: ignore[arg-type]
            return
        bits = np.where(mask, word.bits, old.bits)
        if word.plain and old.plain:
            self.registers[index] = Word(bits)
            return
        width = max(word.width, old.width)
        labels = np.where(mask[:, None], word.wide(width), old.wide(width))
        self.registers[index] = Word(bits, labels, merge_predicate(word, old, mask))

    def writer(self, operand: Operand) -> Callable[[Word, Mask | None], None]:
        """Return a function that writes an operand; `_` takes nothing."""
        if isinstance(operand, Register):
            index = operand.index
            return lambda word, mask: self.write(index, word, mask)
        if isinstance(operand, Symbol) and operand.name == "_":
            return lambda word, mask: None
        raise Unclear(self.findings.line, "the destination isn't a register")

    def address(self, operand: Operand) -> Callable[[Mask | None], Bits]:
        """Return a function that gives the addresses of a memory operand."""
        if not isinstance(operand, Address):
            raise Unclear(self.findings.line, "the operand isn't an address")
        read, offset = self.reader(operand.base), np.uint64(operand.offset & _ALL64)
        return lambda mask: self.numbers(read, mask, "an address") + offset

    def list_threads(self, mask: Mask | None) -> Ints:
        """Return the threads of a mask."""
        return self.everyone if mask is None else np.flatnonzero(mask)

    def at(self, bits: Bits, threads: Ints) -> Ints:
        """Return the 32-bit numbers of some threads."""
        low = bits & np.uint64(0xFFFFFFFF)
        spread = np.broadcast_to(low, self.count) if len(low) == 1 else low
        return spread[threads].astype(np.int64)

    def shared_at(self, bits: Bits, threads: Ints, *, generic: bool = False) -> Ints:
        """Return the shared addresses of some threads; `generic` if the instruction names no state space."""
        check_window(self.findings, np.broadcast_to(bits, self.count)[threads], SHARED_WINDOW, generic=generic)
        return self.at(bits, threads)

    # ---- the schedule

    def go(self) -> None:
        """Run the batch until every thread has ended or waits for ever."""
        while True:
            running = self.state == RUNNING
            if not running.any():
                if (self.state == DONE).all():
                    for unit in self.units.values():
                        unit.end(self)
                    return
                if not self._gather() and not self.barriers.release() and not self.woken():
                    self._stuck()
                    return
                continue
            pc = int(self.pc[running].min())
            active = running & (self.pc == pc)
            later = (running & ~active) | ((self.state == GATHERING) & (self.pc > pc))
            limit = int(self.pc[later].min()) if later.any() else len(self.bound)
            self.straight(pc, active, limit)

    def straight(self, pc: int, active: Mask, limit: int) -> None:
        """Execute from an instruction on, until threads part, block, or meet others at `limit`."""
        instructions, findings = self.kernel.instructions, self.findings
        everyone, self.active = bool(active.all()), active
        while pc < limit:
            inst, bound = instructions[pc], self.bound[pc]
            self.steps += 1
            self.shared.order.now += 1
            if self.steps - self.begun > self.budget:
                raise Unclear(inst.line, self.loops.describe_unfinished())
            if not self.steps & 0x3FF:
                self.ticked(self.steps)
            findings.line = self.values.line = inst.line
            self.number = pc
            self.ran[pc] = True
            self.effects += not bound.pure
            mask = None if everyone else active
            if inst.guard is not None:
                if self.fork is not None and self.fork(pc, active):
                    return
                mask = self.guard_mask(inst.guard, active, mask)
                if (seen := self.guards.get(pc, 0)) != 3:
                    self.guards[pc] = seen | self._values_of(inst.guard, active)
            if bound.lanes > 1 and not (mask is None and bound.members is None) and self._short(pc, active, mask):
                return
            if bound.control:
                if self._control(bound, inst, active, active if mask is None else mask, pc):
                    return
            elif mask is None or mask.any():
                bound.run(mask) if self.unsure is None or self.run_unsure is None else self.run_unsure(pc, mask)
                if bound.lanes > 1 and (executed := self.barriers.executed) is not None:
                    executed.gather(self.together.groups(pc, active if mask is None else mask, executed.news))
            pc += 1
        if pc >= len(instructions):
            self.state[active] = DONE
        self.pc[active] = pc

    def guard_mask(self, guard: Register, active: Mask, mask: Mask | None) -> Mask | None:
        """Return the threads in which the guard of the instruction is true, or may be; None for all of the CTA."""
        word = self.register(guard.index)
        self.unsure = None
        if self.run_unsure is not None and self.bound[self.number].doubts and word.data(active):
            self.unsure = active & find_decided(word)
            bits = word.bits
        else:
            bits = self.numbers(lambda: word, mask, "the guard of an instruction")
        taken = (bits == 0) if guard.negated else (bits != 0)
        if self.unsure is not None:
            taken = taken | self.unsure
        if len(taken) == 1:
            return mask if taken[0] else np.zeros(self.count, bool)
        everyone: Mask = active & taken
        return None if mask is None and everyone.all() else everyone

    def _values_of(self, guard: Register, active: Mask) -> int:
        """Return 1 if a guard's predicate is true in any of these threads, 2 if it is false in any, 3 for both."""
        true = self.register(guard.index).bits != 0
        here = true if len(true) == 1 else true[active]
        return int(here.any()) + 2 * int(not here.all())

    def _short(self, pc: int, active: Mask, mask: Mask | None) -> bool:
        """Let lanes wait for those that must execute an instruction with them; return whether any does."""
        taken = active if mask is None else mask
        if not taken.any():
            return False
        short = self.together.late(pc, taken)
        if short.any():
            self.pc[active] = pc + 1  # those that the guard leaves out
            self.pc[taken] = pc
            self.state[short] = GATHERING
            self._gather()
            return True
        self.together.check_named(pc, mask)
        return False

    def _gather(self) -> bool:
        """Let those lanes go on that have come to one instruction with all that must execute it with them."""
        some = False
        waiting = self.state == GATHERING
        for pc in sort_distinct(self.pc[waiting]):
            here = waiting & (self.pc == pc)
            whole = here & ~self.together.late(int(pc), here)
            if whole.any():
                self.state[whole] = RUNNING
                some = True
        return some

    def _control(self, bound: BoundInstruction, inst: PtxInstruction, active: Mask, mask: Mask, pc: int) -> bool:
        """Execute a branch, an exit or a barrier; whether the threads may have parted."""
        control = bound.control
        if control in ("branch", "exit"):
            bound.run(None if mask is active else mask)
        if control == "branch":
            if len(inst.targets) > 1 or inst.words[0] == "brx":
                self._branch_by_index(inst, active, mask, pc)
                return True
            self.pc[active] = pc + 1
            self.pc[mask] = inst.target
            if inst.target <= pc and mask.any():
                self.loops.back(pc, inst.target, mask)
            return True
        if control == "exit":
            self.pc[active] = pc + 1
            self.state[mask] = DONE
            return True
        if control == "barrier":
            self.pc[active] = pc + 1
            if mask.any():
                bound.run(mask)
            return True
        self.pc[active] = pc  # wait: it stays where it is until its condition holds
        bound.run(mask)
        blocked = (self.state == WAITING) & active
        self.pc[active & ~blocked] = pc + 1
        return True

    def _branch_by_index(self, inst: PtxInstruction, active: Mask, mask: Mask, pc: int) -> None:
        index = np.broadcast_to(self.numbers(self.reader(inst.operands[0]), mask, "a branch's index"), self.count)
        if (index[mask] >= len(inst.targets)).any():
            raise Unclear(inst.line, "the index of a branch is beyond its targets")
        self.pc[active] = pc + 1
        self.pc[mask] = np.array(inst.targets, np.int32)[index[mask].astype(np.int64)]

    # ---- waits

    def woken(self) -> bool:
        """Let threads go on whose wait is over; return whether there are any."""
        return any([unit.wake(self) for unit in self.units.values()])

    def _stuck(self) -> None:
        """Report the threads that wait for ever."""
        for state, what in ((GATHERING, "the rest of their warp"), (AT_BARRIER, "a barrier"), (WAITING, "an mbarrier")):
            members = np.flatnonzero(self.state == state)
            if len(members):
                pc = int(self.pc[members[0]]) - (state == AT_BARRIER)
                self.findings.line = self.kernel.instructions[max(pc, 0)].line
                if state == GATHERING and self.together.apart(members):
                    text = "the lanes of a warp meet at several bar.warp.sync: no meaning yet"
                    raise Unclear(self.findings.line, text)
                lanes = f"{what}group" if state == GATHERING and self.bound[pc].lanes == 128 else what
                text = f"{self.shared.who(int(members[0]))} and {len(members) - 1} others wait for {lanes} for ever"
                text += "".join(unit.describe_missing(self) for unit in self.units.values() if state == WAITING)
                text += self.together.lacking(pc, members) if state == GATHERING else ""
                self.findings.add("stuck threads", Severity.STUCK, text)
