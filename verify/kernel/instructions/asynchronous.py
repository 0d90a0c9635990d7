# SPDX-License-Identifier: Apache-2.0
"""The copy engine: loads by tensor maps, the phases of mbarriers that count their bytes, and who waited for them.

A load by a tensor map is made at once, and its bytes get the engine's time. A thread may read them once it knows that
time: it waited for the phase of the mbarrier that counts them, or met at a barrier with a thread that did.

`Engine`         the mbarriers of a batch of CTAs, and the time of the copy engine; `mbarriers` has their instructions
`tensor_load`    a box of a tensor arrives, and the phase counts it
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from isa_tables import smem
from isa_tables.formula import evaluate
from isa_tables.semantics import Meaning
from verify.kernel.data.registers import Word
from verify.kernel.data.values import Ids, Mask
from verify.kernel.instructions.tensor_maps import Box, box_at
from verify.kernel.ptx.source import Address, PtxInstruction, Vector
from verify.kernel.state.barriers import RUNNING
from verify.kernel.state.bound import Read, Run
from verify.kernel.state.copies import Octets
from verify.kernel.state.findings import Severity, Unclear
from verify.kernel.state.machine import Bind, Machine, Unit
from verify.kernel.state.order import Ints
from verify.kernel.state.phases import PHASE, Clock, Executed, Phases, report


@dataclass(frozen=True, slots=True)
class Waiting:
    """What a thread waits for, and what ends its wait."""

    barrier: tuple[int, int]  # CTA, address
    parity: int
    passes: Callable[[Phases, Ints], None]  # lets threads go on


@dataclass(slots=True)
class Engine(Unit):
    """The mbarriers of a batch by (CTA, address), the threads that wait for them, and the time of the copy engine."""

    executed: Executed
    barriers: dict[tuple[int, int], Phases] = field(default_factory=dict)
    blocked: dict[int, Waiting] = field(default_factory=dict)  # by thread
    states: dict[int, tuple[int, int]] = field(default_factory=dict)  # id of a phase's state -> address, phase
    time: int = 0

    @classmethod
    def make(cls, machine: Machine) -> Self:
        """Return the copy engine of a batch; from then on the clocks have what it executes."""
        machine.barriers.executed = Executed(machine.shared.order)
        return cls(machine.barriers.executed)

    def describe_missing(self, machine: Machine) -> str:
        """Return what the phases lack for which threads of the first CTA wait, in words."""
        words, waits = [], sorted({(*waiting.barrier, waiting.parity) for waiting in self.blocked.values()})
        for cta, address, parity in [wait for wait in waits if wait[0] == waits[0][0]][:4]:
            phase = self.barriers[cta, address]
            text = f"; at shared address {address} for parity {parity}, phase {phase.number} lacks {phase.pending} of "
            text += f"{phase.count} arrivals"
            if phase.bytes:
                many = "more came than were expected" if phase.bytes < 0 else "have not come"
                text += f", and {abs(phase.bytes)} bytes {many}"
            words.append(text)
        return "".join(words)

    def end(self, machine: Machine) -> None:
        """Report loads that nobody waited for."""
        machine.shared.report_left()


def shared_at(machine: Machine, operand: Address, mask: Mask | None, space: str | None = "shared") -> tuple[Ints, Ints]:
    """Return the threads of a mask, and the shared address that each gives, a generic one if it has no `space`."""
    threads = machine.list_threads(mask)
    machine.steps += len(threads)  # each is executed by itself
    return threads, machine.shared_at(machine.address(operand)(mask), threads, generic=not space)


def find_barrier(machine: Machine, threads: Ints, address: int) -> Phases:
    """Return the mbarrier at an address of the CTA of these threads."""
    first = int(threads[0])
    barrier = machine.unit(Engine).barriers.get((int(machine.cta[first]), address))
    if barrier is None:
        text = f"{machine.shared.who(first)}: there is no mbarrier at shared address {address}"
        machine.findings.add("mbarrier not initialised", Severity.STUCK, text, "9.7.13.15.3")
        raise Unclear(machine.findings.line, f"the mbarrier at shared address {address} was never initialised")
    order = machine.shared.order
    late = order.known[threads, order.local[barrier.maker]] < barrier.made
    if late.any():
        text = f"{machine.shared.who(int(threads[late][0]))} uses the mbarrier at shared address {address}, which "
        text += f"thread {order.local[barrier.maker]} initialises; nothing orders the two"
        machine.findings.add("race: mbarrier", Severity.RACE, text, "9.7.13.15.3")
    return barrier


def join_phase(machine: Machine, phases: Phases, address: int, threads: Ints, time: int = 0) -> None:
    """Let threads, and the engine at a time, take part in the phase of an mbarrier that is under way."""
    who = machine.shared.who(int(threads[0]))
    problem = phases.comes(threads, time)
    report(machine.findings, who, problem, address)
    if phases.number and not problem and not phases.looked.any():
        text = f"{who} arrives at the mbarrier at shared address {address} in phase {phases.number}, and no thread has "
        machine.findings.add("a phase without a wait", Severity.LETTER, f"{text}waited for the phase before", PHASE)


def end_phase(machine: Machine, phases: Phases, address: int, cta: int) -> None:
    """Begin the next phase of an mbarrier if this one is over; threads that wait for that go on at once.

    So each is on time in this schedule, and what it does then is checked against what nothing orders it before.
    """
    number = phases.number
    phases.turn(machine.findings, address)
    if phases.number == number:
        return
    waiting = machine.unit(Engine).blocked
    ready = [thread for thread, wait in waiting.items() if wait.barrier == (cta, address) and wait.parity == number % 2]
    for passes in {waiting[thread].passes for thread in ready}:
        members = np.array([thread for thread in ready if waiting[thread].passes is passes], np.int64)
        passes(phases, members)
        machine.state[members], machine.pc[members] = RUNNING, machine.pc[members] + 1
    for thread in ready:
        del waiting[thread]


def count_arrivals(machine: Machine, phases: Phases, address: int, thread: int, many: int) -> None:
    """Take arrivals of a thread, or for it, from those that a phase still needs, and end it if none is left."""
    phases.pending -= many
    if phases.pending < 0:
        text = f"{machine.shared.who(thread)}: more than {phases.count} arrivals in one phase"
        machine.findings.add("mbarrier overrun", Severity.STUCK, text, "9.7.13.15.13")
        phases.pending = 0
    end_phase(machine, phases, address, int(machine.cta[thread]))


def address_of(inst: PtxInstruction, number: int) -> Address:
    """Return an operand that is an address."""
    operand = inst.operands[number]
    if not isinstance(operand, Address):
        raise Unclear(inst.line, "the operand isn't an address")
    return operand


def coordinates_of(
    machine: Machine, inst: PtxInstruction, tensor: Address, meaning: Meaning
) -> tuple[Read, list[Read]]:
    """Return the address of a tensor map, and the coordinates that an instruction gives with it."""
    rank = int(meaning.words["rank"][0])
    if len(tensor.coordinates) != rank:
        raise Unclear(inst.line, f"{len(tensor.coordinates)} coordinates of a tensor of rank {rank}")
    return machine.reader(tensor.base), [machine.reader(each) for each in tensor.coordinates]


def tensor_load(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """cp.async.bulk.tensor: a box of an array goes to shared memory, zeros where the array has no element."""
    to, source, barrier = (address_of(inst, number) for number in range(3))
    base, coordinates = coordinates_of(machine, inst, source, meaning)

    def execute(mask: Mask | None) -> None:
        threads, starts = shared_at(machine, to, mask)
        maps = np.broadcast_to(machine.numbers(base, mask, "the address of a tensor map"), machine.count)[threads]
        _, bars = shared_at(machine, barrier, mask)
        at = [machine.at(machine.numbers(each, mask, "a coordinate"), threads) for each in coordinates]
        for number, thread in enumerate(threads):
            box = box_at(machine, int(maps[number]) + source.offset, int(thread))
            first = [int(np.int32(np.uint32(each[number]))) for each in at]
            places = box_places(machine, int(thread), int(starts[number]), box, first)
            addresses, inside = box.elements(first)
            labels, plain = np.zeros(places.shape, np.uint32), np.zeros(places.shape, np.uint8)
            whose = np.full(int(inside.sum()), thread)
            labels[inside], plain[inside] = machine.memory.load(addresses[inside], whose, box.size, "engine")
            arrived_bytes(machine, int(thread), int(bars[number]), places, labels, plain)

    return execute


def _check_shown(machine: Machine, phases: Phases, thread: int, address: int) -> None:
    """Report an mbarrier that an engine uses with no fence since its initialisation; with a claim none is asked for."""
    if not phases.fenced and machine.values.opaque:
        text = f"{machine.shared.who(thread)}: an asynchronous instruction arrives at the mbarrier at shared address "
        text += f"{address}, and no fence.mbarrier_init or fence.proxy.async came after its mbarrier.init"
        machine.findings.add("no fence after mbarrier.init", Severity.LETTER, text, "9.7.13.4")


def arrived_bytes(machine: Machine, thread: int, barrier: int, places: Ints, labels: Ids, plain: Octets) -> None:
    """Let the engine write bytes of shared memory for a thread, and count them at an mbarrier."""
    running, who = machine.unit(Engine), np.array([thread])
    running.time += 1
    phases = find_barrier(machine, who, barrier)
    machine.shared.load_by_engine(places, thread, labels, plain, phases.column, running.time)
    machine.memory.load_by_engine(phases.column, running.time)
    _check_shown(machine, phases, thread, barrier)
    phases.bytes -= int(places.size)
    join_phase(machine, phases, barrier, who, running.time)
    phases.gather(machine.shared.order.end_clock(phases.column, running.time))
    end_phase(machine, phases, barrier, int(machine.cta[thread]))


def arrive_by_engine(machine: Machine, thread: int, address: int, clock: Clock) -> None:
    """Let the tensor core arrive at an mbarrier for a thread, with what it releases."""
    who = np.array([thread])
    phases = find_barrier(machine, who, address)
    _check_shown(machine, phases, thread, address)
    join_phase(machine, phases, address, who)
    phases.gather(clock)
    count_arrivals(machine, phases, address, thread, 1)


def box_places(machine: Machine, thread: int, start: int, box: Box, first: list[int]) -> Ints:
    """Return the bytes (elements, bytes) of shared memory that a box has from an address on."""
    line = machine.findings.line
    if len(box.box) != len(first):
        raise Unclear(line, f"the tensor map and its box {box.box} do not have {len(first)} axes")
    if start % 128:
        text = f"{machine.shared.who(thread)}: a tensor copy at shared address {start}, no multiple of 128"
        machine.findings.add("misaligned access", Severity.MEMORY, text, "9.7.9.25.5.2")
    linear = start + np.arange(int(np.prod(box.box))) * box.size
    swizzles = smem.read_layouts("wgmma").swizzles
    if box.swizzle not in swizzles:
        raise Unclear(line, f"no meaning for the swizzle {box.swizzle!r} of a tensor map")
    addresses = np.asarray(evaluate(swizzles[box.swizzle].formula.tree, {"address": linear}), np.int64)
    return machine.shared.places(addresses, np.full(len(addresses), thread), box.size)


def elect(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """elect.sync: the predicate is true for one lane of each mask, always the same one, which this run draws.

    It is neither the lowest nor the highest of several, which a kernel may take for granted; in another run of the
    same check it is the one as far from the other end, so of a test of any bit of the lane both answers are seen. A
    claim may say that it is the lowest.
    """
    destination = inst.operands[0]
    chosen = "is the lane that elect.sync chooses, which the ISA leaves open"
    if not isinstance(destination, Vector):
        raise Unclear(inst.line, "elect.sync needs d|p")
    puts = [machine.writer(each) for each in destination.items]

    def execute(mask: Mask | None) -> None:
        there, elected = machine.together.partners(machine.number, mask), np.zeros(machine.count, bool)
        groups, first = np.unique(there, axis=0, return_inverse=True)
        for number, group in enumerate(groups):
            lanes = np.flatnonzero(group)
            if len(lanes):
                inner = range(1, len(lanes) - 1) or range(len(lanes))
                drawn = random.Random(f"{machine.values.choices.seed} {lanes}").choice(inner)
                places = {"any": drawn, "opposite": ~drawn, "lowest": 0}
                lane = lanes[places[machine.launch.elected]]
                elected |= (first.reshape(-1) == number) & (machine.thread % 32 == lane)
        puts[0](machine.unknown(chosen, 4), mask)
        puts[-1](Word(elected.astype(np.uint64)), mask)

    return execute


BINDS: dict[str, Bind] = {
    "tensor_load": tensor_load,
    "elect": elect,
}
