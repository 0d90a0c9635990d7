# SPDX-License-Identifier: Apache-2.0
"""The copy engine and mbarriers: loads by tensor maps, the phases that count their bytes, and who waited for them.

A load by a tensor map is made at once, and its bytes get the engine's time. A thread may read them once it knows that
time: it waited for the phase of the mbarrier that counts them, or met at a barrier with a thread that did.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from isa_tables import smem
from isa_tables.formula import evaluate
from isa_tables.semantics import Meaning
from verify.kernel.barriers import RUNNING
from verify.kernel.claim import TensorMap
from verify.kernel.findings import Severity, Unclear
from verify.kernel.machine import WAITING, Bind, Machine, Run
from verify.kernel.memory import PARAMETER_ROOM, PARAMETER_WINDOW, WINDOW, Region
from verify.kernel.order import Ints
from verify.kernel.ptx import Address, Instruction, Register, Vector
from verify.kernel.registers import Word
from verify.kernel.values import Ids, Mask


@dataclass(slots=True)
class Phases:
    """One mbarrier: the phase that is under way, and what all before it have released."""

    count: int  # arrivals of a phase
    pending: int  # of them, still to come
    maker: int  # the thread that initialised it
    made: int  # and when
    bytes: int = 0  # that are expected and not there
    number: int = 0  # of phases that are over
    gathered: NDArray[np.int32] | None = None  # the clocks of this phase's arrivals
    released: NDArray[np.int32] | None = None  # and of all phases that are over

    def gather(self, clock: NDArray[np.int32]) -> None:
        """Add what an arrival releases."""
        self.gathered = clock if self.gathered is None else np.maximum(self.gathered, clock)

    def turn(self) -> None:
        """Begin the next phase if this one is over."""
        if self.pending == 0 and self.bytes == 0:
            self.number, self.pending = self.number + 1, self.count
            if self.gathered is not None:
                before = self.gathered if self.released is None else self.released
                self.released = np.maximum(before, self.gathered)


@dataclass(slots=True)
class Engine:
    """The mbarriers of a batch by (CTA, address), the threads that wait for them, and the time of the copy engine."""

    barriers: dict[tuple[int, int], Phases] = field(default_factory=dict)
    blocked: dict[int, tuple[int, int, int]] = field(default_factory=dict)  # thread -> CTA, address, parity
    time: int = 0


def engine(machine: Machine) -> Engine:
    """The copy engine of the machine's batch."""
    if machine.engine is None:
        machine.engine = Engine()
        machine.wakers.append(lambda: _woken(machine))
    assert isinstance(machine.engine, Engine)
    return machine.engine


def _woken(machine: Machine) -> bool:
    """Let the threads go on whose phase is over."""
    found = engine(machine)
    ready = [thread for thread, (cta, address, parity) in found.blocked.items() if _over(found, cta, address, parity)]
    for thread in ready:
        del found.blocked[thread]
    machine.state[np.array(ready, np.int64)] = RUNNING
    return bool(ready)


def _over(found: Engine, cta: int, address: int, parity: int) -> bool:
    return found.barriers[cta, address].number % 2 != parity


def _at(machine: Machine, operand: Address, mask: Mask | None) -> tuple[Ints, Ints]:
    """The threads of a mask, and the shared address that each gives."""
    threads = machine.chosen(mask)
    machine.steps += len(threads)  # each is executed by itself
    return threads, machine.at(machine.address(operand)(mask), threads)


def _barrier(machine: Machine, thread: int, address: int) -> Phases:
    key = int(machine.cta[thread]), int(address)
    found = engine(machine).barriers.get(key)
    if found is None:
        text = f"{machine.shared.who(thread)}: there is no mbarrier at shared address {address}"
        machine.findings.add("mbarrier not initialised", Severity.STUCK, text, "9.7.13.15.9")
        raise Unclear(machine.findings.line, f"the mbarrier at shared address {address} was never initialised")
    order = machine.shared.order
    if order.known[thread, order.local[found.maker]] < found.made:
        text = f"{machine.shared.who(thread)} uses the mbarrier at shared address {address}, which thread "
        text += f"{order.local[found.maker]} initialises; nothing orders the two"
        machine.findings.add("race: mbarrier", Severity.RACE, text, "9.7.13.15.9")
    return found


def _address(one: Instruction, number: int) -> Address:
    found = one.operands[number]
    if not isinstance(found, Address):
        raise Unclear(one.line, "the operand is no address")
    return found


def barrier_init(machine: Machine, one: Instruction, meaning: Meaning) -> Run:
    """mbarrier.init: a barrier of so many arrivals at an address."""
    place, count = _address(one, 0), machine.reader(one.operands[1])

    def run(mask: Mask | None) -> None:
        threads, addresses = _at(machine, place, mask)
        counts = machine.at(machine.numbers(count, mask, "the count of an mbarrier"), threads)
        machine.shared.places(addresses, threads, 8)
        for thread, address, many in zip(threads, addresses, counts, strict=True):
            key = int(machine.cta[thread]), int(address)
            engine(machine).barriers[key] = Phases(int(many), int(many), int(thread), machine.shared.order.now)

    return run


def barrier_arrive(machine: Machine, one: Instruction, meaning: Meaning) -> Run:
    """mbarrier.arrive: threads arrive, with `expect_tx` after the bytes that they expect are added."""
    place, expects = _address(one, 1), "expect" in meaning.words
    amount = machine.reader(one.operands[2]) if len(one.operands) > 2 else None
    if isinstance(one.operands[0], Register):
        raise Unclear(one.line, "no meaning for the state that mbarrier.arrive returns: `_` takes nothing")

    def run(mask: Mask | None) -> None:
        threads, addresses = _at(machine, place, mask)
        amounts = np.ones(len(threads), np.int64)
        if amount is not None:
            amounts = machine.at(machine.numbers(amount, mask, "an amount"), threads)
        begun: dict[int, int] = {}
        for thread, address, many in zip(threads, addresses, amounts, strict=True):
            barrier = _barrier(machine, int(thread), int(address))
            if begun.setdefault(id(barrier), barrier.number) != barrier.number:
                text = f"{machine.shared.who(int(thread))}: arrivals of one instruction are of two phases of a barrier"
                machine.findings.add("mbarrier overrun", Severity.STUCK, f"{text} for {barrier.count}", "9.7.13.15.13")
            barrier.bytes += int(many) if expects else 0
            barrier.pending -= 1 if expects else int(many)
            barrier.gather(machine.shared.order.clock(np.array([thread])))
            if barrier.pending < 0:
                text = f"{machine.shared.who(int(thread))}: more than {barrier.count} arrivals in one phase"
                machine.findings.add("mbarrier overrun", Severity.STUCK, text, "9.7.13.15.13")
                barrier.pending = 0
            barrier.turn()

    return run


def barrier_expect(machine: Machine, one: Instruction, meaning: Meaning) -> Run:
    """mbarrier.expect_tx: more bytes are expected in this phase."""
    place, amount = _address(one, 0), machine.reader(one.operands[1])

    def run(mask: Mask | None) -> None:
        threads, addresses = _at(machine, place, mask)
        amounts = machine.at(machine.numbers(amount, mask, "a number of bytes"), threads)
        for thread, address, many in zip(threads, addresses, amounts, strict=True):
            _barrier(machine, int(thread), int(address)).bytes += int(many)

    return run


def wait(machine: Machine, one: Instruction, meaning: Meaning) -> Run:
    """mbarrier.try_wait and test_wait: threads stay until the phase of a parity is over, and know what it released."""
    place, parity, put = _address(one, 1), machine.reader(one.operands[2]), machine.writer(one.operands[0])

    def run(mask: Mask | None) -> None:
        threads, addresses = _at(machine, place, mask)
        parities = machine.at(machine.numbers(parity, mask, "a parity"), threads) & 1
        found, ready = engine(machine), np.ones(len(threads), bool)
        for number, (thread, address, which) in enumerate(zip(threads, addresses, parities, strict=True)):
            barrier = _barrier(machine, int(thread), int(address))
            ready[number] = barrier.number % 2 != which
            if not ready[number]:
                found.blocked[int(thread)] = int(machine.cta[thread]), int(address), int(which)
            elif barrier.released is not None:
                machine.shared.order.learn(np.array([thread]), barrier.released)
        machine.state[threads[~ready]] = WAITING
        if ready.any():
            done = np.zeros(machine.count, bool)
            done[threads[ready]] = True
            put(Word(np.ones(1, np.uint64)), None if done.all() else done)

    return run


def tensor_load(machine: Machine, one: Instruction, meaning: Meaning) -> Run:
    """cp.async.bulk.tensor: a box of an array goes to shared memory, zeros where the array has no element."""
    to, source, barrier = (_address(one, number) for number in range(3))
    base, rank = machine.reader(source.base), int(meaning.words["rank"][0])
    if len(source.coordinates) != rank:
        raise Unclear(one.line, f"{len(source.coordinates)} coordinates of a tensor of rank {rank}")
    coordinates = [machine.reader(each) for each in source.coordinates]

    def run(mask: Mask | None) -> None:
        threads, starts = _at(machine, to, mask)
        maps = np.broadcast_to(machine.numbers(base, mask, "the address of a tensor map"), machine.count)[threads]
        _, bars = _at(machine, barrier, mask)
        at = [machine.at(machine.numbers(each, mask, "a coordinate"), threads) for each in coordinates]
        for number, thread in enumerate(threads):
            found = _map(machine, int(maps[number]), source.offset)
            first = [int(np.int32(np.uint32(each[number]))) for each in at]
            moved = _load(machine, int(thread), int(starts[number]), found, first)
            phases = _barrier(machine, int(thread), int(bars[number]))
            phases.bytes -= moved
            clock = np.zeros(machine.threads + 1, np.int32)
            clock[-1] = engine(machine).time
            phases.gather(clock)
            phases.turn()

    return run


def _map(machine: Machine, address: int, offset: int) -> TensorMap:
    """The tensor map that an address names: that of a parameter."""
    window, rest = divmod(address, 1 << WINDOW)
    number, inside = divmod(rest + offset, 1 << PARAMETER_ROOM)
    names: Mapping[int, str] = {one.number: name for name, one in machine.kernel.parameters.items()}
    found = machine.parameters.get(names.get(number, "")) if window == PARAMETER_WINDOW and not inside else None
    if not isinstance(found, TensorMap):
        what = f"params[{number}]" if window == PARAMETER_WINDOW else f"address {address:#x}"
        raise Unclear(machine.findings.line, f"the claim has no tensor map for {what}")
    return found


def _load(machine: Machine, thread: int, start: int, found: TensorMap, first: list[int]) -> int:
    """Write the box of one load; returns its bytes."""
    region = next((one for one in machine.memory.arrays if one.array.name == found.array), None)
    line = machine.findings.line
    if region is None or len(region.array.shape) != len(first) or len(found.box) != len(first):
        raise Unclear(line, f"the tensor map of {found.array} and its box {found.box} do not have {len(first)} axes")
    if start % 128:
        text = f"{machine.shared.who(thread)}: a tensor load to shared address {start}, no multiple of 128"
        machine.findings.add("misaligned access", Severity.MEMORY, text, "9.7.9.25.5.2")
    label = _box(region, first, found.box)
    linear = start + np.arange(label.shape[0]) * region.size
    swizzles = smem.read("wgmma").swizzles
    if found.swizzle not in swizzles:
        raise Unclear(line, f"no meaning for the swizzle {found.swizzle!r} of a tensor map")
    addresses = np.asarray(evaluate(swizzles[found.swizzle].formula.tree, {"address": linear}), np.int64)
    who = np.full(len(addresses), thread)
    places = machine.shared.places(addresses, who, region.size)
    running = engine(machine)
    running.time += 1
    machine.shared.load_by_engine(places, thread, label, running.time)
    return int(label.size)


def _box(region: Region, first: list[int], box: tuple[int, ...]) -> Ids:
    """The labels (elements, bytes) of a box, its contiguous axis first; those of zeros outside of the array."""
    array = region.array
    axes = sorted(range(len(array.shape)), key=lambda axis: array.strides[axis])
    places = np.indices(tuple(reversed(box))).reshape(len(box), -1)[::-1]
    index, inside = [np.zeros(0, np.int64)] * len(box), np.ones(places.shape[1], bool)
    for number, axis in enumerate(axes):
        index[axis] = places[number] + first[number]
        inside &= (index[axis] >= 0) & (index[axis] < array.shape[axis])
    element = np.ravel_multi_index([np.where(inside, one, 0) for one in index], array.shape)
    ids = np.where(inside, region.first + element, 0).astype(np.uint32)
    label = np.where(inside[:, None], (ids[:, None] << np.uint32(3)) + np.arange(region.size, dtype=np.uint32), 0)
    return label.astype(np.uint32)


def elect(machine: Machine, one: Instruction, meaning: Meaning) -> Run:
    """elect.sync: the predicate is true for one lane of a warp, the lowest of the mask."""
    destination, mask_of = one.operands[0], machine.reader(one.operands[1])
    if not isinstance(destination, Vector):
        raise Unclear(one.line, "elect.sync needs d|p")
    puts = [machine.writer(each) for each in destination.items]

    def run(mask: Mask | None) -> None:
        members = np.broadcast_to(machine.numbers(mask_of, mask, "a mask"), machine.count).astype(np.int64)
        lowest = np.log2(np.maximum(members & -members, 1)).astype(np.int64)
        puts[0](Word(lowest.astype(np.uint64)), mask)
        puts[-1](Word((machine.thread % 32 == lowest).astype(np.uint64)), mask)

    return run


BINDS: dict[str, Bind] = {
    "barrier_init": barrier_init,
    "barrier_arrive": barrier_arrive,
    "barrier_expect": barrier_expect,
    "wait": wait,
    "tensor_load": tensor_load,
    "elect": elect,
}
