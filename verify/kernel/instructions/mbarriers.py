# SPDX-License-Identifier: Apache-2.0
"""mbarriers: their life, arrivals and waits of threads, and the copies of cp.async that they count.

An arrival gives the state of the phase: a value that only a wait may use. What cp.async copies is counted as the copy
engine's work is: a thread may use it once it has waited for the phase, or for the copies themselves.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from isa_tables.semantics import Meaning
from verify.kernel.data.distinct import sort_distinct
from verify.kernel.data.registers import Word
from verify.kernel.data.values import Ids, Mask, Values
from verify.kernel.instructions.asynchronous import (
    Engine,
    Waiting,
    address_of,
    count_arrivals,
    find_barrier,
    join_phase,
    shared_at,
)
from verify.kernel.ptx.polling import polls
from verify.kernel.ptx.source import PtxInstruction, Register
from verify.kernel.state.bound import Run
from verify.kernel.state.findings import Severity, Unclear
from verify.kernel.state.machine import WAITING, Bind, Machine
from verify.kernel.state.order import Ints
from verify.kernel.state.phases import Phases, report

MOST_ARRIVALS = (1 << 20) - 1  # of a phase of an mbarrier: PTX ISA 9.7.13.15.2


def _barriers(machine: Machine, threads: Ints, addresses: Ints) -> Iterator[tuple[Phases, int, Ints]]:
    """(mbarrier, its address, which of the threads use it) of an instruction, CTA by CTA."""
    keys = machine.cta[threads] << 32 | addresses
    for key in sort_distinct(keys):
        rows = np.flatnonzero(keys == key)
        yield find_barrier(machine, threads[rows], int(addresses[rows[0]])), int(addresses[rows[0]]), rows


def barrier_init(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """mbarrier.init: a barrier of so many arrivals at an address."""
    place, count, space = address_of(inst, 0), machine.reader(inst.operands[1]), meaning.words.get("space")

    def execute(mask: Mask | None) -> None:
        threads, addresses = shared_at(machine, place, mask, space)
        counts = machine.at(machine.numbers(count, mask, "the count of an mbarrier"), threads)
        machine.shared.places(addresses, threads, 8)  # reports those that are outside
        for thread, address, many in zip(threads, addresses, counts, strict=True):
            key = int(machine.cta[thread]), int(address)
            now, engine = machine.shared.order.now, machine.unit(Engine)
            if not 0 < many <= MOST_ARRIVALS:
                text = f"an mbarrier of {many} arrivals: it has 1 to {MOST_ARRIVALS}"
                machine.findings.add("count of an mbarrier", Severity.MEMORY, text, "9.7.13.15.9")
            if key in engine.barriers:
                text = f"{machine.shared.who(int(thread))} initialises the mbarrier at shared address {address}, which "
                text += "is one already: mbarrier.inval comes first"
                machine.findings.add("mbarrier initialised again", Severity.MEMORY, text, "9.7.13.15.9")
            machine.shared.hold(int(address), int(thread), inst.line)
            column = machine.shared.order.column(int(address))
            engine.barriers[key] = Phases(int(many), int(many), int(thread), now, engine.executed, column)

    return execute


def barrier_invalidate(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """mbarrier.inval: there is no barrier any more, after all that used it."""
    place, space = address_of(inst, 0), meaning.words.get("space")

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


def barrier_arrive(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """mbarrier.arrive: threads arrive, with `expect_tx` after the bytes that they expect are added.

    With `arrive_drop` later phases need as many arrivals less; with `noComplete` the phase must not end by this one.
    """
    drops, partial = "arrive_drop" in inst.words, "noComplete" in inst.words
    place, expects = address_of(inst, 1), "expect" in meaning.words
    space, releases = meaning.words.get("space"), meaning.words.get("sem") != "relaxed"
    amount = machine.reader(inst.operands[2]) if len(inst.operands) > 2 else None
    put = machine.writer(inst.operands[0]) if isinstance(inst.operands[0], Register) else None

    def execute(mask: Mask | None) -> None:
        threads, addresses = shared_at(machine, place, mask, space)
        amounts = np.ones(len(threads), np.int64)
        if amount is not None:
            amounts = machine.at(machine.numbers(amount, mask, "an amount"), threads)
        states = np.zeros((machine.count, 8), np.uint32) if put is not None else None
        for barrier, address, rows in _barriers(machine, threads, addresses):
            for part in _parts(machine, barrier, threads, rows, amounts, expects):
                who = threads[part]
                if states is not None:
                    states[who] = _label_state(machine, address, barrier.number)
                join_phase(machine, barrier, address, who)
                barrier.bytes += int(amounts[part].sum()) if expects else 0
                if releases:
                    barrier.gather(machine.shared.order.clock(who))
                many = len(part) if expects else int(amounts[part].sum())
                barrier.count -= many * drops
                barrier.note_arrival(who, inst.line if partial else 0)
                count_arrivals(machine, barrier, address, int(who[0]), many)
        if put is not None and states is not None:
            put(Word(np.zeros(1, np.uint64), states), mask)

    return execute


def _parts(
    machine: Machine, barrier: Phases, threads: Ints, rows: Ints, amounts: Ints, expects: bool
) -> Iterator[Ints]:
    """Yield the threads that arrive together: one at a time, if the phase may end; those of two phases are reported."""
    begun, alone = barrier.number, expects or int(amounts[rows].sum()) > barrier.pending
    for part in rows.reshape(-1, 1) if alone else (rows,):
        if begun != barrier.number:
            text = f"{machine.shared.who(int(threads[part[0]]))}: arrivals of one instruction are of two phases of a "
            text += f"barrier for {barrier.count}"
            machine.findings.add("mbarrier overrun", Severity.STUCK, text, "9.7.13.15.13")
        yield part


def _label_state(machine: Machine, address: int, phase: int) -> Ids:
    """Return the labels of the state of an mbarrier in a phase: what an arrival gives, for waits alone."""
    states, text = machine.unit(Engine).states, f"is the state of phase {phase} of the mbarrier at {address}"
    reason = Values.reason(machine.values, text, 0)  # not data, on opaque data either
    if machine.values.causes[reason] == (0, text):  # else there is no room for more
        states[reason] = address, phase
    return np.uint32(reason << 3) + np.arange(8, dtype=np.uint32)


def copy_arrive(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """cp.async.mbarrier.arrive: when all copies that a thread has begun are there, it arrives, but releases no more.

    With `noinc` the count of the mbarrier has this arrival; without, it is added to those that the phase needs.
    """
    place, space, counted = address_of(inst, 0), meaning.words.get("space"), "noinc" in meaning.words

    def execute(mask: Mask | None) -> None:
        threads, addresses = shared_at(machine, place, mask, space)
        running, amounts = machine.unit(Engine), np.full(len(threads), int(counted))
        for barrier, address, rows in _barriers(machine, threads, addresses):
            for part in _parts(machine, barrier, threads, rows, amounts, expects=False):
                time, clock = machine.shared.count_copies(threads[part], barrier.column, running.time + 1)
                running.time = time
                join_phase(machine, barrier, address, threads[part], time)
                barrier.note_arrival(threads[part])
                barrier.gather(clock)
                count_arrivals(machine, barrier, address, int(threads[part[0]]), int(amounts[part].sum()))

    return execute


def barrier_expect(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """mbarrier.expect_tx: more bytes are expected in this phase."""
    place, amount, space = address_of(inst, 0), machine.reader(inst.operands[1]), meaning.words.get("space")

    def execute(mask: Mask | None) -> None:
        threads, addresses = shared_at(machine, place, mask, space)
        amounts = machine.at(machine.numbers(amount, mask, "a number of bytes"), threads)
        for barrier, address, rows in _barriers(machine, threads, addresses):
            join_phase(machine, barrier, address, threads[rows])
            barrier.bytes += int(amounts[rows].sum())

    return execute


def wait(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """mbarrier.try_wait and test_wait: threads stay until a phase is over, and know what it released.

    The phase is that of a parity, or of the state that an arrival gave.
    """
    place, which, put = address_of(inst, 1), machine.reader(inst.operands[2]), machine.writer(inst.operands[0])
    space, acquires = meaning.words.get("space"), meaning.words.get("sem") != "relaxed"
    by_state = any(role == "state" for role, _, _ in meaning.row.operands)
    number = next(number for number, each in enumerate(machine.kernel.instructions) if each is inst)
    if not polls(machine.kernel.instructions, number):
        raise Unclear(inst.line, "no meaning for a wait whose failure does anything else than to lead back to it")

    def passes(barrier: Phases, members: Ints) -> None:
        barrier.sees(members, inst.line)
        if acquires and barrier.released is not None:
            machine.shared.order.learn(members, barrier.released)
        done = np.zeros(machine.count, bool)
        done[members] = True
        put(Word(np.ones(1, np.uint64)), None if done.all() else done)

    def execute(mask: Mask | None) -> None:
        threads, addresses = shared_at(machine, place, mask, space)
        if by_state:
            phases = _read_states(machine, which(), threads, addresses)
        else:
            phases = _read_parities(machine, machine.at(machine.numbers(which, mask, "a parity"), threads))
        for barrier, address, rows in _barriers(machine, threads, addresses):
            passed = phases[rows] % 2 != barrier.number % 2
            for row in rows[~passed]:
                key = int(machine.cta[threads[row]]), address
                machine.unit(Engine).blocked[int(threads[row])] = Waiting(key, int(phases[row]) % 2, passes)
            machine.state[threads[rows[~passed]]] = WAITING
            for part, over in ((rows[passed], 1), (rows[~passed], 0)):
                if len(part) and by_state:
                    _check_states(machine, barrier, address, threads[part], phases[part], barrier.number - over)
                elif len(part):
                    problem = barrier.waits(threads[part], barrier.number - over)
                    report(machine.findings, machine.shared.who(int(threads[part[0]])), problem, address)
            if passed.any():
                passes(barrier, threads[rows[passed]])

    return execute


def _read_parities(machine: Machine, parities: Ints) -> Ints:
    """Return the parities of a wait; one that is none is reported."""
    if (parities > 1).any():
        text = f"the parity {int(parities.max())} of a phase: 0 and 1 have a meaning"
        machine.findings.add("parity of a phase", Severity.LETTER, text, "9.7.13.15.16")
    return parities & 1


def _read_states(machine: Machine, states: Word, threads: Ints, addresses: Ints) -> Ints:
    """Return the phase whose state each thread has; Unclear if it isn't a state of the mbarrier for which it waits."""
    labels = np.broadcast_to(states.wide(8), (machine.count, 8))[threads]
    phases = np.zeros(len(threads), np.int64)
    for first in sort_distinct(labels[:, 0]):
        here, state = labels[:, 0] == first, machine.unit(Engine).states.get(int(first) >> 3)
        whole = (labels[here] == first + np.arange(8, dtype=np.uint32)).all()
        if state is None or not whole or (addresses[here] != state[0]).any():
            problem = "a wait for a phase whose state is none that an arrival at this mbarrier gave"
            raise Unclear(machine.findings.line, problem)
        phases[here] = state[1]
    return phases


def _check_states(machine: Machine, barrier: Phases, address: int, members: Ints, phases: Ints, number: int) -> None:
    """Report threads whose state is of another phase than the one of this number, which its parity says here."""
    if (phases != number).any():
        text = f"{machine.shared.who(int(members[0]))} waits at the mbarrier at shared address {address} for phase "
        text += f"{int(phases[phases != number][0])}, and phase {barrier.number} is under way: "
        kind, rule = "the state of an earlier phase", "a state is of that phase or of the one before"
        machine.findings.add(kind, Severity.STUCK, f"{text}{rule}", "9.7.13.15.16")


BINDS: dict[str, Bind] = {
    "barrier_init": barrier_init,
    "barrier_invalidate": barrier_invalidate,
    "barrier_arrive": barrier_arrive,
    "barrier_expect": barrier_expect,
    "copy_arrive": copy_arrive,
    "wait": wait,
}
