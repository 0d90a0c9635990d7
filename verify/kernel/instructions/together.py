# SPDX-License-Identifier: Apache-2.0
"""Instructions that threads execute together: shuffles, votes, barriers, fences; and those without effect."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from isa_tables.semantics import Meaning
from verify.kernel.data.registers import Word, find_decided, word
from verify.kernel.data.values import FIRST, Mask
from verify.kernel.instructions.integers import keep_bits
from verify.kernel.ptx.source import WIDTHS, PtxInstruction, Vector
from verify.kernel.state.bound import Run
from verify.kernel.state.findings import Severity, Unclear
from verify.kernel.state.machine import Bind, Machine
from verify.kernel.state.order import Ints


def shuffle(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """shfl.sync: a lane gets the register of another one of its warp."""
    destination = inst.operands[0]
    pair = isinstance(destination, Vector)
    put = machine.writer(destination.items[0] if isinstance(destination, Vector) else destination)
    also = machine.writer(destination.items[1]) if isinstance(destination, Vector) else None
    read, by, control = (machine.reader(operand) for operand in inst.operands[1:4])
    mode = meaning.words["mode"]

    def execute(mask: Mask | None) -> None:
        sent = read()
        lane = machine.thread % 32
        amount = keep_bits(machine.numbers(by, mask, "a lane"), 5).astype(np.int64)
        bound = keep_bits(machine.numbers(control, mask, "a lane"), 13).astype(np.int64)
        segment, clamp = (bound >> 8) & 31, bound & 31
        most = (lane & segment) | (clamp & ~segment)
        least = lane & segment
        source = {"up": lane - amount, "down": lane + amount, "bfly": lane ^ amount,
                  "idx": least | (amount & ~segment)}[mode]  # fmt: skip
        inside = source >= most if mode == "up" else source <= most
        source = np.where(inside, source, lane)
        giver = machine.everyone - lane + source
        bits = sent.bits if len(sent.bits) == 1 else sent.bits[giver]
        away = _away(machine, mask, lane, source)
        if sent.plain and away is None:
            put(Word(bits), mask)
        else:
            labels = np.broadcast_to(sent.wide(4), (machine.count, 4))[giver]
            if away is not None:
                first = int(away.argmax())
                text = f"{machine.shared.who(first)} gets from lane {int(source[first])}, which does not execute the "
                labels[away] = machine.values.nowhere(f"{text}shuffle with it") << 3
            put(word(bits, labels), mask)
        if pair and also is not None:
            also(Word(np.broadcast_to(inside, machine.count).astype(np.uint64)), mask)

    return execute


def _away(machine: Machine, mask: Mask | None, lane: Ints, source: Ints) -> Mask | None:
    """Find the threads of a mask whose source lane does not execute the shuffle with them; None for none."""
    if mask is None and machine.together.masks(machine.number, None) is None:
        return None
    away = ~machine.together.partners(machine.number, mask)[machine.everyone, source]
    if mask is not None:
        away &= mask
    return away if away.any() else None


def vote(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """vote.sync: what the predicates of a warp's threads say together; activemask, which has no meaning as a value."""
    put = machine.writer(inst.operands[0])
    mode = meaning.words.get("mode", "")
    if not mode:
        return lambda mask: put(machine.unknown("is the mask of active lanes, which depends on the schedule", 4), mask)
    read = machine.reader(inst.operands[1])
    if (mode == "ballot") != (meaning.types["d"] == "b32"):
        raise Unclear(inst.line, "vote.sync.ballot gives b32, all others a predicate")

    def execute(mask: Mask | None) -> None:
        there = machine.together.partners(machine.number, mask)
        true = np.broadcast_to(machine.numbers(read, mask, "a vote") != 0, machine.count)
        says = there & np.repeat(true.reshape(-1, 32), 32, 0)
        if mode == "ballot":
            answer = (says * (np.uint64(1) << np.arange(32, dtype=np.uint64))).sum(1, dtype=np.uint64)
        elif mode == "any":
            answer = says.any(1).astype(np.uint64)
        elif mode == "all":
            answer = (says == there).all(1).astype(np.uint64)
        else:
            answer = ((says == there).all(1) | ~says.any(1)).astype(np.uint64)
        put(Word(answer), mask)

    return execute


def reduce(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """redux.sync: the sum, the least, the greatest or the bits together of the numbers of a mask's lanes."""
    put, read = machine.writer(inst.operands[0]), machine.reader(inst.operands[1])
    rule, neutral = _REDUCED[meaning.words["operation"]]
    signed = meaning.words["type"] == "s32"
    if meaning.words["operation"] == "min":
        neutral = (1 << 31 if signed else 1 << 32) - 1
    elif meaning.words["operation"] == "max" and signed:
        neutral = -(1 << 31)

    def execute(mask: Mask | None) -> None:
        numbers = keep_bits(machine.numbers(read, mask, "a number that lanes join"), 32)
        kind = np.int32 if signed else np.uint32
        every = np.broadcast_to(numbers, machine.count).astype(np.uint32).view(kind).astype(np.int64)
        rows = np.repeat(every.reshape(-1, 32), 32, 0)
        reduced = rule(np.where(machine.together.partners(machine.number, mask), rows, neutral), axis=1)
        put(Word(keep_bits(reduced.view(np.uint64), 32)), mask)

    return execute


_REDUCED: dict[str, tuple[Callable[..., Ints], int]] = {
    "add": (np.sum, 0),
    "min": (np.min, 0),
    "max": (np.max, 0),
    "and": (np.bitwise_and.reduce, -1),
    "or": (np.bitwise_or.reduce, 0),
    "xor": (np.bitwise_xor.reduce, 0),
}


def match(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """match.sync: the lanes of the mask that have the same number; all of them or none for `.all`."""
    destination, read = inst.operands[0], machine.reader(inst.operands[1])
    puts = [machine.writer(each) for each in (destination.items if isinstance(destination, Vector) else (destination,))]
    every, width = meaning.words["mode"] == "all", WIDTHS[meaning.types["a"]]

    def execute(mask: Mask | None) -> None:
        numbers = keep_bits(machine.numbers(read, mask, "a number that lanes compare"), width)
        numbers = np.broadcast_to(numbers, machine.count)
        there = machine.together.partners(machine.number, mask)
        same = there & (np.repeat(numbers.reshape(-1, 32), 32, 0) == numbers[:, None])
        whole = (same == there).all(1)
        matches = same & whole[:, None] if every else same
        puts[0](Word((matches * (np.uint64(1) << np.arange(32, dtype=np.uint64))).sum(1, dtype=np.uint64)), mask)
        if len(puts) > 1:
            puts[1](Word(whole.astype(np.uint64)), mask)

    return execute


def warp_barrier(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """bar.warp.sync: orders the accesses of the threads that each mask names."""

    def execute(mask: Mask | None) -> None:
        order = machine.shared.order
        if machine.together.masks(machine.number, mask) is None:
            order.meet_warps(machine.list_threads(mask))
            return
        there = np.ones(machine.count, bool) if mask is None else mask
        for members in machine.together.groups(machine.number, there):
            order.learn(members, order.clock(members))

    return execute


def barrier(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """bar.sync and bar.arrive, of all threads of a CTA or of a count; bar.red gives the vote of all that come."""
    votes = _Votes(machine, inst, meaning) if "operation" in meaning.words else None
    first, *rest = inst.operands[1:-1] if votes is not None else inst.operands[:]
    number, count = machine.reader(first), machine.reader(rest[0]) if rest else None
    waits = votes is not None or meaning.words["action"] == "sync"
    together = meaning.words["head"] == "bar", "aligned" in meaning.words, _has_one_counter(machine.kernel.target)

    def execute(mask: Mask | None) -> None:
        there = np.ones(machine.count, bool) if mask is None else mask
        counted = None if count is None else machine.numbers(count, mask, "the count of a barrier")
        numbers = machine.numbers(number, mask, "the number of a barrier")
        if votes is not None:
            votes.cast(mask, there)
        machine.barriers.arrive(numbers, counted, there, waits, any(together), votes.give if votes else None)

    return execute


_DATA = 2  # what a thread's predicate may be besides 0 and 1


class _Votes:
    """The predicates of threads that come to a bar.red, and what they join to."""

    def __init__(self, machine: Machine, inst: PtxInstruction, meaning: Meaning) -> None:
        self.machine, self.operation = machine, meaning.words["operation"]
        self.pred = meaning.types["d"] == "pred"
        if self.pred == (self.operation == "popc"):
            raise Unclear(inst.line, f"bar.red.{self.operation} gives {'a number' if self.pred else 'a predicate'}")
        self.put, self.read = machine.writer(inst.operands[0]), machine.reader(inst.operands[-1])

    def cast(self, mask: Mask | None, there: Mask) -> None:
        """Note the predicates of threads."""
        predicate = self.read()
        if predicate.data(mask) and not (self.machine.values.opaque and _has_values(predicate)):
            self.machine.unclear(predicate, mask, "a predicate that threads join at a barrier")
        said = np.where(find_decided(predicate), _DATA, (predicate.bits != 0).astype(np.int8))
        self.machine.barriers.said[there] = np.broadcast_to(said, self.machine.count)[there]

    def give(self, members: Ints, part: Ints) -> None:
        """Give the vote of a phase's threads to those that this instruction let wait."""
        said = self.machine.barriers.said[members]
        settles = {"and": 0, "or": 1}.get(self.operation)
        mask = np.zeros(self.machine.count, bool)
        mask[part] = True
        if settles in said:
            answer = Word(np.full(1, settles, np.uint64))
        elif (said == _DATA).any():
            answer = self.machine.unknown("is a vote of data", 1 if self.pred else 4)
        else:
            answer = Word(np.full(1, 1 - settles if settles is not None else int(said.sum()), np.uint64))
        self.put(answer, mask)


def _has_values(predicate: Word) -> bool:
    """Return whether no byte of a register has a label that says why there is no value."""
    labels = np.zeros(1, np.uint32) if predicate.labels is None else predicate.labels >> np.uint32(3)
    return not ((labels > 0) & (labels < FIRST)).any()


def _has_one_counter(target: str) -> bool:
    """Return whether the threads of a warp have one program counter, as before sm_70."""
    version = re.match(r"sm_(\d+)", target)
    return version is not None and int(version[1]) < 70


def branch(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """bra, brx, ret and exit: where threads go is the machine's; .uni says that those of a warp go together."""
    if meaning.row.operands and not inst.operands[:]:
        raise Unclear(inst.line, "the branch has no target")
    if "uni" not in meaning.words:
        return lambda mask: None

    def execute(mask: Mask | None) -> None:
        if mask is not None:
            there, active = mask, machine.active
            stays = active & ~there
            warps = machine.cta * -(-machine.threads // 32) + machine.thread // 32
            if len(np.intersect1d(warps[there], warps[stays])):
                text = "threads of a warp part at a branch that is .uni"
                machine.findings.add("branch that is not uniform", Severity.STUCK, text, meaning.row.section)

    return execute


def policy(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """createpolicy: its bits are the GPU's own, and nothing may be computed of them."""
    put = machine.writer(inst.operands[0])
    return lambda mask: put(machine.unknown("is a policy of the second cache", 8), mask)


def nothing(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """Return an instruction without effect on values."""
    return lambda mask: None


def trap(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """trap: a failed assertion of the kernel."""

    def execute(mask: Mask | None) -> None:
        who = machine.shared.who(int(machine.list_threads(mask)[0]))
        machine.findings.add("trap", Severity.VALUE, f"{who} comes to a trap: an assertion of the kernel fails")

    return execute


BINDS: dict[str, Bind] = {
    "shuffle": shuffle,
    "vote": vote,
    "reduce": reduce,
    "match": match,
    "warp_barrier": warp_barrier,
    "barrier": barrier,
    "fence": nothing,
    "nothing": nothing,
    "policy": policy,
    "branch": branch,
    "exit": branch,
    "trap": trap,
}
