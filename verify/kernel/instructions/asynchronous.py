# SPDX-License-Identifier: Apache-2.0
"""The copy engine and mbarriers: loads by tensor maps, the phases that count their bytes, and who waited for them.

A load by a tensor map is made at once, and its bytes get the engine's time. A thread may read them once it knows that
time: it waited for the phase of the mbarrier that counts them, or met at a barrier with a thread that did.

`Engine`                     the mbarriers of a batch of CTAs, and the time of the copy engine
`barrier_arrive`, `wait`     a thread comes to a phase, or waits for its end; `barrier_expect` says how many bytes come
`tensor_load`                a box of a tensor arrives, and the phase counts it
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from isa_tables import smem
from isa_tables.formula import evaluate
from isa_tables.semantics import Meaning
from verify.kernel.data.distinct import sort_distinct
from verify.kernel.data.registers import Word
from verify.kernel.data.values import Ids, Mask
from verify.kernel.instructions.tensor_maps import Box, box_at
from verify.kernel.ptx.polling import polls
from verify.kernel.ptx.source import Address, PtxInstruction, Register, Vector
from verify.kernel.state.barriers import RUNNING
from verify.kernel.state.bound import Read, Run
from verify.kernel.state.findings import Severity, Unclear
from verify.kernel.state.machine import WAITING, Bind, Machine, Unit
from verify.kernel.state.memory import Octets
from verify.kernel.state.order import Ints
from verify.kernel.state.phases import PHASE, Clock, Executed, Phases, report

MOST_ARRIVALS = (1 << 20) - 1  # of a phase of an mbarrier: PTX ISA 9.7.13.15.2


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
    time: int = 0

    @classmethod
    def make(cls, machine: Machine) -> Self:
        """Return the copy engine of a batch; from then on the clocks have what it executes."""
        machine.barriers.executed = Executed(machine.shared.order)
        return cls(machine.barriers.executed)

    def describe_missing(self, machine: Machine) -> str:
        """Return what the phases lack for which threads of the first CTA wait, in words."""
        words, waits = [], sorted({(*one.barrier, one.parity) for one in self.blocked.values()})
        for cta, address, parity in [one for one in waits if one[0] == waits[0][0]][:4]:
            found = self.barriers[cta, address]
            text = f"; at shared address {address} for parity {parity}, phase {found.number} lacks {found.pending} of "
            text += f"{found.count} arrivals"
            if found.bytes:
                many = "more came than were expected" if found.bytes < 0 else "have not come"
                text += f", and {abs(found.bytes)} bytes {many}"
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


def _barriers(machine: Machine, threads: Ints, addresses: Ints) -> Iterator[tuple[Phases, int, Ints]]:
    """(mbarrier, its address, which of the threads use it) of an instruction, CTA by CTA."""
    keys = machine.cta[threads] << 32 | addresses
    for key in sort_distinct(keys):
        rows = np.flatnonzero(keys == key)
        yield _barrier(machine, threads[rows], int(addresses[rows[0]])), int(addresses[rows[0]]), rows


def _barrier(machine: Machine, threads: Ints, address: int) -> Phases:
    """Return the mbarrier at an address of the CTA of these threads."""
    first = int(threads[0])
    found = machine.unit(Engine).barriers.get((int(machine.cta[first]), address))
    if found is None:
        text = f"{machine.shared.who(first)}: there is no mbarrier at shared address {address}"
        machine.findings.add("mbarrier not initialised", Severity.STUCK, text, "9.7.13.15.3")
        raise Unclear(machine.findings.line, f"the mbarrier at shared address {address} was never initialised")
    order = machine.shared.order
    late = order.known[threads, order.local[found.maker]] < found.made
    if late.any():
        text = f"{machine.shared.who(int(threads[late][0]))} uses the mbarrier at shared address {address}, which "
        text += f"thread {order.local[found.maker]} initialises; nothing orders the two"
        machine.findings.add("race: mbarrier", Severity.RACE, text, "9.7.13.15.3")
    return found


def _comes(machine: Machine, phases: Phases, address: int, threads: Ints, time: int = 0) -> None:
    """Let threads, and the engine at a time, take part in the phase of an mbarrier that is under way."""
    who = machine.shared.who(int(threads[0]))
    problem = phases.comes(threads, time)
    report(machine.findings, who, problem, address)
    if phases.number and not problem and not phases.looked.any():
        text = f"{who} arrives at the mbarrier at shared address {address} in phase {phases.number}, and no thread has "
        machine.findings.add("a phase without a wait", Severity.LETTER, f"{text}waited for the phase before", PHASE)


def _turn(machine: Machine, phases: Phases, address: int, cta: int) -> None:
    """Begin the next phase of an mbarrier if this one is over; threads that wait for that go on at once.

    So each is on time in this schedule, and what it does then is checked against what nothing orders it before.
    """
    number = phases.number
    phases.turn(machine.findings, address)
    if phases.number == number:
        return
    waiting = machine.unit(Engine).blocked
    ready = [thread for thread, one in waiting.items() if one.barrier == (cta, address) and one.parity == number % 2]
    for passes in {waiting[thread].passes for thread in ready}:
        members = np.array([thread for thread in ready if waiting[thread].passes is passes], np.int64)
        passes(phases, members)
        machine.state[members], machine.pc[members] = RUNNING, machine.pc[members] + 1
    for thread in ready:
        del waiting[thread]


def address_of(one: PtxInstruction, number: int) -> Address:
    """Return an operand that is an address."""
    found = one.operands[number]
    if not isinstance(found, Address):
        raise Unclear(one.line, "the operand is no address")
    return found


def barrier_init(machine: Machine, one: PtxInstruction, meaning: Meaning) -> Run:
    """mbarrier.init: a barrier of so many arrivals at an address."""
    place, count, space = address_of(one, 0), machine.reader(one.operands[1]), meaning.words.get("space")

    def execute(mask: Mask | None) -> None:
        threads, addresses = shared_at(machine, place, mask, space)
        counts = machine.at(machine.numbers(count, mask, "the count of an mbarrier"), threads)
        machine.shared.places(addresses, threads, 8)  # reports those that are outside
        for thread, address, many in zip(threads, addresses, counts, strict=True):
            key = int(machine.cta[thread]), int(address)
            now, found = machine.shared.order.now, machine.unit(Engine)
            if not 0 < many <= MOST_ARRIVALS:
                text = f"an mbarrier of {many} arrivals: it has 1 to {MOST_ARRIVALS}"
                machine.findings.add("count of an mbarrier", Severity.MEMORY, text, "9.7.13.15.9")
            if key in found.barriers:
                text = f"{machine.shared.who(int(thread))} initialises the mbarrier at shared address {address}, which "
                text += "is one already: mbarrier.inval comes first"
                machine.findings.add("mbarrier initialised again", Severity.MEMORY, text, "9.7.13.15.9")
            machine.shared.hold(int(address), int(thread), one.line)
            column = machine.shared.order.column(int(address))
            found.barriers[key] = Phases(int(many), int(many), int(thread), now, found.executed, column)

    return execute


def barrier_invalidate(machine: Machine, one: PtxInstruction, meaning: Meaning) -> Run:
    """mbarrier.inval: there is no barrier any more, after all that used it."""
    place, space = address_of(one, 0), meaning.words.get("space")

    def execute(mask: Mask | None) -> None:
        threads, addresses = shared_at(machine, place, mask, space)
        for barrier, address, rows in _barriers(machine, threads, addresses):
            thread = threads[rows[:1]]
            if problem := barrier.used_after(thread):
                text = f"{machine.shared.who(int(thread[0]))} invalidates the mbarrier at shared address {address}: "
                machine.findings.add("race: mbarrier", Severity.RACE, f"{text}{problem}", "9.7.13.15.10")
            machine.shared.hold(address, int(thread[0]), 0)
            del machine.unit(Engine).barriers[int(machine.cta[thread[0]]), address]

    return execute


def barrier_arrive(machine: Machine, one: PtxInstruction, meaning: Meaning) -> Run:
    """mbarrier.arrive: threads arrive, with `expect_tx` after the bytes that they expect are added."""
    place, expects = address_of(one, 1), "expect" in meaning.words
    space, releases = meaning.words.get("space"), meaning.words.get("sem") != "relaxed"
    amount = machine.reader(one.operands[2]) if len(one.operands) > 2 else None
    put = machine.writer(one.operands[0]) if isinstance(one.operands[0], Register) else None

    def execute(mask: Mask | None) -> None:
        threads, addresses = shared_at(machine, place, mask, space)
        amounts = np.ones(len(threads), np.int64)
        if amount is not None:
            amounts = machine.at(machine.numbers(amount, mask, "an amount"), threads)
        for barrier, address, rows in _barriers(machine, threads, addresses):
            begun, cta = barrier.number, int(machine.cta[threads[rows[0]]])
            together = expects or int(amounts[rows].sum()) > barrier.pending  # one at a time, if the phase may end
            for part in rows.reshape(-1, 1) if together else (rows,):
                who = threads[part]
                if begun != barrier.number:
                    text = (
                        f"{machine.shared.who(int(who[0]))}: arrivals of one instruction are of two phases of a barrier"
                    )
                    machine.findings.add(
                        "mbarrier overrun", Severity.STUCK, f"{text} for {barrier.count}", "9.7.13.15.13"
                    )
                _comes(machine, barrier, address, who)
                barrier.bytes += int(amounts[part].sum()) if expects else 0
                barrier.pending -= len(part) if expects else int(amounts[part].sum())
                if releases:
                    barrier.gather(machine.shared.order.clock(who))
                if barrier.pending < 0:
                    text = f"{machine.shared.who(int(who[0]))}: more than {barrier.count} arrivals in one phase"
                    machine.findings.add("mbarrier overrun", Severity.STUCK, text, "9.7.13.15.13")
                    barrier.pending = 0
                _turn(machine, barrier, address, cta)
        if put is not None:
            put(machine.unknown("is the state of an mbarrier", 8), mask)

    return execute


def barrier_expect(machine: Machine, one: PtxInstruction, meaning: Meaning) -> Run:
    """mbarrier.expect_tx: more bytes are expected in this phase."""
    place, amount, space = address_of(one, 0), machine.reader(one.operands[1]), meaning.words.get("space")

    def execute(mask: Mask | None) -> None:
        threads, addresses = shared_at(machine, place, mask, space)
        amounts = machine.at(machine.numbers(amount, mask, "a number of bytes"), threads)
        for barrier, address, rows in _barriers(machine, threads, addresses):
            _comes(machine, barrier, address, threads[rows])
            barrier.bytes += int(amounts[rows].sum())

    return execute


def wait(machine: Machine, one: PtxInstruction, meaning: Meaning) -> Run:
    """mbarrier.try_wait and test_wait: threads stay until the phase of a parity is over, and know what it released."""
    place, parity, put = address_of(one, 1), machine.reader(one.operands[2]), machine.writer(one.operands[0])
    space, acquires = meaning.words.get("space"), meaning.words.get("sem") != "relaxed"
    number = next(number for number, each in enumerate(machine.kernel.instructions) if each is one)
    if not polls(machine.kernel.instructions, number):
        raise Unclear(one.line, "no meaning for a wait whose failure does anything else than to lead back to it")

    def passes(barrier: Phases, members: Ints) -> None:
        barrier.sees(members, one.line)
        if acquires and barrier.released is not None:
            machine.shared.order.learn(members, barrier.released)
        done = np.zeros(machine.count, bool)
        done[members] = True
        put(Word(np.ones(1, np.uint64)), None if done.all() else done)

    def execute(mask: Mask | None) -> None:
        threads, addresses = shared_at(machine, place, mask, space)
        parities = machine.at(machine.numbers(parity, mask, "a parity"), threads)
        if (parities > 1).any():
            text = f"the parity {int(parities.max())} of a phase: 0 and 1 have a meaning"
            machine.findings.add("parity of a phase", Severity.LETTER, text, "9.7.13.15.16")
            parities &= 1
        for barrier, address, rows in _barriers(machine, threads, addresses):
            passed = parities[rows] != barrier.number % 2
            for row in rows[~passed]:
                key = int(machine.cta[threads[row]]), address
                machine.unit(Engine).blocked[int(threads[row])] = Waiting(key, int(parities[row]), passes)
            machine.state[threads[rows[~passed]]] = WAITING
            for part, over in ((rows[passed], 1), (rows[~passed], 0)):
                if len(part):
                    problem = barrier.waits(threads[part], barrier.number - over)
                    report(machine.findings, machine.shared.who(int(threads[part[0]])), problem, address)
            if passed.any():
                passes(barrier, threads[rows[passed]])

    return execute


def coordinates_of(machine: Machine, one: PtxInstruction, tensor: Address, meaning: Meaning) -> tuple[Read, list[Read]]:
    """Return the address of a tensor map, and the coordinates that an instruction gives with it."""
    rank = int(meaning.words["rank"][0])
    if len(tensor.coordinates) != rank:
        raise Unclear(one.line, f"{len(tensor.coordinates)} coordinates of a tensor of rank {rank}")
    return machine.reader(tensor.base), [machine.reader(each) for each in tensor.coordinates]


def tensor_load(machine: Machine, one: PtxInstruction, meaning: Meaning) -> Run:
    """cp.async.bulk.tensor: a box of an array goes to shared memory, zeros where the array has no element."""
    to, source, barrier = (address_of(one, number) for number in range(3))
    base, coordinates = coordinates_of(machine, one, source, meaning)

    def execute(mask: Mask | None) -> None:
        threads, starts = shared_at(machine, to, mask)
        maps = np.broadcast_to(machine.numbers(base, mask, "the address of a tensor map"), machine.count)[threads]
        _, bars = shared_at(machine, barrier, mask)
        at = [machine.at(machine.numbers(each, mask, "a coordinate"), threads) for each in coordinates]
        for number, thread in enumerate(threads):
            found = box_at(machine, int(maps[number]) + source.offset, int(thread))
            first = [int(np.int32(np.uint32(each[number]))) for each in at]
            places = box_places(machine, int(thread), int(starts[number]), found, first)
            addresses, inside = found.elements(first)
            labels, plain = np.zeros(places.shape, np.uint32), np.zeros(places.shape, np.uint8)
            whose = np.full(int(inside.sum()), thread)
            labels[inside], plain[inside] = machine.memory.load(addresses[inside], whose, found.size, "engine")
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
    phases = _barrier(machine, who, barrier)
    machine.shared.load_by_engine(places, thread, labels, plain, phases.column, running.time)
    machine.memory.load_by_engine(phases.column, running.time)
    _check_shown(machine, phases, thread, barrier)
    phases.bytes -= int(places.size)
    _comes(machine, phases, barrier, who, running.time)
    phases.gather(machine.shared.order.end_clock(phases.column, running.time))
    _turn(machine, phases, barrier, int(machine.cta[thread]))


def arrive_by_engine(machine: Machine, thread: int, address: int, clock: Clock) -> None:
    """Let the tensor core arrive at an mbarrier for a thread, with what it releases."""
    who = np.array([thread])
    phases = _barrier(machine, who, address)
    _check_shown(machine, phases, thread, address)
    _comes(machine, phases, address, who)
    phases.pending -= 1
    phases.gather(clock)
    if phases.pending < 0:
        text = f"{machine.shared.who(thread)}: more than {phases.count} arrivals in one phase"
        machine.findings.add("mbarrier overrun", Severity.STUCK, text, "9.7.13.15.13")
        phases.pending = 0
    _turn(machine, phases, address, int(machine.cta[thread]))


def box_places(machine: Machine, thread: int, start: int, found: Box, first: list[int]) -> Ints:
    """Return the bytes (elements, bytes) of shared memory that a box has from an address on."""
    line = machine.findings.line
    if len(found.box) != len(first):
        raise Unclear(line, f"the tensor map and its box {found.box} do not have {len(first)} axes")
    if start % 128:
        text = f"{machine.shared.who(thread)}: a tensor copy at shared address {start}, no multiple of 128"
        machine.findings.add("misaligned access", Severity.MEMORY, text, "9.7.9.25.5.2")
    linear = start + np.arange(int(np.prod(found.box))) * found.size
    swizzles = smem.read_layouts("wgmma").swizzles
    if found.swizzle not in swizzles:
        raise Unclear(line, f"no meaning for the swizzle {found.swizzle!r} of a tensor map")
    addresses = np.asarray(evaluate(swizzles[found.swizzle].formula.tree, {"address": linear}), np.int64)
    return machine.shared.places(addresses, np.full(len(addresses), thread), found.size)


def elect(machine: Machine, one: PtxInstruction, meaning: Meaning) -> Run:
    """elect.sync: the predicate is true for one lane of each mask, always the same one, which this run draws.

    It is neither the lowest nor the highest of several, which a kernel may take for granted; in another run of the
    same check it is the one as far from the other end, so of a test of any bit of the lane both answers are seen. A
    claim may say that it is the lowest.
    """
    destination = one.operands[0]
    chosen = "is the lane that elect.sync chooses, which the ISA leaves open"
    if not isinstance(destination, Vector):
        raise Unclear(one.line, "elect.sync needs d|p")
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
    "barrier_init": barrier_init,
    "barrier_invalidate": barrier_invalidate,
    "barrier_arrive": barrier_arrive,
    "barrier_expect": barrier_expect,
    "wait": wait,
    "tensor_load": tensor_load,
    "elect": elect,
}
