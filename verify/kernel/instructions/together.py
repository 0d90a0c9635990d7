# SPDX-License-Identifier: Apache-2.0
"""Instructions that threads execute together: shuffles, votes, barriers, fences; and those without effect."""

from __future__ import annotations

import numpy as np

from isa_tables.semantics import Meaning
from verify.kernel.data.registers import Word, word
from verify.kernel.data.values import UNWRITTEN, Mask
from verify.kernel.instructions.integers import cut
from verify.kernel.ptx.source import Instruction, Register, Vector
from verify.kernel.state.findings import Severity
from verify.kernel.state.machine import Bind, Machine, Run


def shuffle(machine: Machine, one: Instruction, meaning: Meaning) -> Run:
    """shfl.sync: a lane gets the register of another one of its warp."""
    destination = one.operands[0]
    pair = isinstance(destination, Vector)
    put = machine.writer(destination.items[0] if isinstance(destination, Vector) else destination)
    also = machine.writer(destination.items[1]) if isinstance(destination, Vector) else None
    read, by, control = (machine.reader(operand) for operand in one.operands[1:4])
    mode = meaning.words["mode"]

    def run(mask: Mask | None) -> None:
        found = read()
        lane = machine.thread % 32
        amount = cut(machine.numbers(by, mask, "a lane"), 5).astype(np.int64)
        bound = cut(machine.numbers(control, mask, "a lane"), 13).astype(np.int64)
        segment, clamp = (bound >> 8) & 31, bound & 31
        most = (lane & segment) | (clamp & ~segment)
        least = lane & segment
        source = {"up": lane - amount, "down": lane + amount, "bfly": lane ^ amount,
                  "idx": least | (amount & ~segment)}[mode]  # fmt: skip
        inside = source >= most if mode == "up" else source <= most
        source = np.where(inside, source, lane)
        other = machine.everyone - lane + source
        idle = mask is not None and not mask[other[mask]].all()
        bits = found.bits if len(found.bits) == 1 else found.bits[other]
        if found.plain and not idle:
            put(Word(bits), mask)
        else:
            labels = np.broadcast_to(found.wide(4), (machine.count, 4))[other]
            if mask is not None and idle:
                labels[~mask[other]] = UNWRITTEN << 3  # a lane that does not take part gives nothing
            put(word(bits, labels), mask)
        if pair and also is not None:
            also(Word(np.broadcast_to(inside, machine.count).astype(np.uint64)), mask)

    return run


def vote(machine: Machine, one: Instruction, meaning: Meaning) -> Run:
    """vote.sync: what the predicates of a warp's threads say together; activemask, which has no meaning as a value."""
    put = machine.writer(one.operands[0])
    mode = meaning.words.get("mode", "")
    if not mode:
        return lambda mask: put(machine.unknown("is the mask of active lanes, which depends on the schedule", 4), mask)
    read = machine.reader(one.operands[1]) if len(one.operands) > 1 else None

    def run(mask: Mask | None) -> None:
        there = np.ones(machine.count, bool) if mask is None else mask
        size = 32 if machine.count % 32 == 0 else machine.count
        says = there.copy()
        if read is not None:
            says &= np.broadcast_to(machine.numbers(read, mask, "a vote") != 0, machine.count)
        warps, present = says.reshape(-1, size), there.reshape(-1, size)
        if mode == "ballot":
            weights = np.uint64(1) << np.arange(size, dtype=np.uint64)
            found = (warps * weights).sum(1, dtype=np.uint64)
        elif mode == "any":
            found = warps.any(1).astype(np.uint64)
        elif mode == "all":
            found = (warps == present).all(1).astype(np.uint64)
        else:
            found = ((warps == present).all(1) | ~warps.any(1)).astype(np.uint64)
        put(Word(np.repeat(found, size)), mask)

    return run


def warp_barrier(machine: Machine, one: Instruction, meaning: Meaning) -> Run:
    """bar.warp.sync: orders the accesses of a warp's threads."""

    def run(mask: Mask | None) -> None:
        machine.shared.order.meet_warps(machine.chosen(mask))

    return run


def barrier(machine: Machine, one: Instruction, meaning: Meaning) -> Run:
    """bar.sync and bar.arrive, of all threads of a CTA or of a count."""
    number = machine.reader(one.operands[0])
    count = machine.reader(one.operands[1]) if len(one.operands) > 1 else None
    waits = meaning.words["action"] == "sync"

    def run(mask: Mask | None) -> None:
        there = np.ones(machine.count, bool) if mask is None else mask
        counted = None if count is None else machine.numbers(count, mask, "the count of a barrier")
        machine.barriers.arrive(machine.numbers(number, mask, "the number of a barrier"), counted, there, waits)

    return run


def nothing(machine: Machine, one: Instruction, meaning: Meaning) -> Run:
    """An instruction without effect on values: its destination, if any, holds nothing that may be used."""
    if not one.operands or not isinstance(one.operands[0], Register) or meaning.row.meaning != "policy":
        return lambda mask: None
    put = machine.writer(one.operands[0])
    return lambda mask: put(Word(np.zeros(1, np.uint64)), mask)


def trap(machine: Machine, one: Instruction, meaning: Meaning) -> Run:
    """trap: a failed assertion of the kernel."""

    def run(mask: Mask | None) -> None:
        who = machine.shared.who(int(machine.chosen(mask)[0]))
        machine.findings.add("trap", Severity.VALUE, f"{who} comes to a trap: an assertion of the kernel fails")

    return run


def proxy_fence(machine: Machine, one: Instruction, meaning: Meaning) -> Run:
    """fence.proxy.async: what threads wrote to shared memory becomes visible to asynchronous instructions."""

    def run(mask: Mask | None) -> None:
        shared = machine.shared
        if mask is None:
            shared.generic[:] = False
            return
        places = np.flatnonzero(shared.generic)
        writer = shared.order.writer[places]
        own = mask[writer]
        who = np.flatnonzero(mask)[0]
        seen = shared.order.written[places] <= shared.order.floor[who]
        shared.generic[places[own | seen]] = False

    return run


BINDS: dict[str, Bind] = {
    "shuffle": shuffle,
    "vote": vote,
    "warp_barrier": warp_barrier,
    "barrier": barrier,
    "fence": nothing,
    "nothing": nothing,
    "policy": nothing,
    "branch": nothing,
    "exit": nothing,
    "trap": trap,
    "proxy_fence": proxy_fence,
}
