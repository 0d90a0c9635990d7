# SPDX-License-Identifier: Apache-2.0
"""Clusters of one CTA: their barrier, which is split into an arrival and a wait, and addresses of the CTA's own memory.

A kernel whose PTX requires more CTAs to a cluster has no meaning here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from isa_tables.semantics import Meaning
from verify.kernel.data.distinct import sort_distinct
from verify.kernel.data.registers import Word
from verify.kernel.data.values import Mask
from verify.kernel.instructions.integers import keep_bits
from verify.kernel.ptx.source import WIDTHS, PtxInstruction
from verify.kernel.state.barriers import DONE, RUNNING
from verify.kernel.state.bound import Run
from verify.kernel.state.findings import Severity, Unclear
from verify.kernel.state.machine import WAITING, Bind, Machine, Unit
from verify.kernel.state.order import Ints, latest

SECTION = "9.7.13.5"  # of the PTX ISA: barrier.cluster


@dataclass(slots=True)
class Rounds(Unit):
    """The barrier of each CTA of a batch: the round that is under way, and who has arrived in it."""

    arrived: Mask  # by thread
    owing: Mask  # by thread: it has arrived, and not waited since
    due: Ints  # of each thread, how many rounds must be over for its wait to end
    over: Ints  # rounds of each CTA that are over
    gathered: list[list[NDArray[np.int32]]]  # of each CTA, the clocks that arrivals release
    released: list[NDArray[np.int32] | None]  # and those of the last round that is over
    blocked: set[int] = field(default_factory=set)  # threads that wait

    @classmethod
    def make(cls, machine: Machine) -> Self:
        """Return the barriers of a batch, at which nobody has arrived."""
        count, ctas = machine.count, machine.ctas
        return cls(
            np.zeros(count, bool),
            np.zeros(count, bool),
            np.zeros(count, np.int64),
            np.zeros(ctas, np.int64),
            [[] for _ in range(ctas)],
            [None] * ctas,
        )

    def turn(self, machine: Machine, cta: int) -> None:
        """End the round of a CTA all of whose threads have arrived or ended."""
        here = slice(cta * machine.threads, (cta + 1) * machine.threads)
        if self.arrived[here].any() and (self.arrived[here] | (machine.state[here] == DONE)).all():
            self.released[cta] = latest(*self.gathered[cta]) if self.gathered[cta] else None
            self.arrived[here], self.gathered[cta] = False, []
            self.over[cta] += 1

    def wake(self, machine: Machine) -> bool:
        """Let threads go on whose round is over."""
        for cta in range(machine.ctas):
            self.turn(machine, cta)
        ready = [thread for thread in self.blocked if self.over[machine.cta[thread]] >= self.due[thread]]
        self.blocked -= set(ready)
        machine.state[np.array(ready, np.int64)] = RUNNING
        return bool(ready)


def arrive(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """barrier.cluster.arrive: a thread has come, and goes on."""
    releases = meaning.words.get("sem") != "relaxed"

    def execute(mask: Mask | None) -> None:
        rounds, threads = machine.unit(Rounds), machine.list_threads(mask)
        if rounds.owing[threads].any():
            who = machine.shared.who(int(threads[rounds.owing[threads]][0]))
            text = f"{who} arrives twice at the barrier of its cluster, with no wait between"
            machine.findings.add("barrier overrun", Severity.STUCK, text, SECTION)
        rounds.arrived[threads] = rounds.owing[threads] = True
        rounds.due[threads] = rounds.over[machine.cta[threads]] + 1
        for cta in sort_distinct(machine.cta[threads]):
            if releases:
                rounds.gathered[cta].append(machine.shared.order.clock(threads[machine.cta[threads] == cta]))
            rounds.turn(machine, int(cta))

    return execute


def wait(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """barrier.cluster.wait: a thread stays until all threads of its cluster have arrived."""

    def execute(mask: Mask | None) -> None:
        rounds, threads = machine.unit(Rounds), machine.list_threads(mask)
        absent = threads[~rounds.owing[threads]]
        if len(absent):
            text = f"{machine.shared.who(int(absent[0]))} waits at the barrier of its cluster, and has not arrived"
            machine.findings.add("wait without an arrival", Severity.STUCK, text, SECTION)
        ready = rounds.over[machine.cta[threads]] >= rounds.due[threads]
        rounds.owing[threads[ready]] = False
        rounds.blocked |= set(threads[~ready].tolist())
        machine.state[threads[~ready]] = WAITING
        for cta in sort_distinct(machine.cta[threads[ready]]):
            clock = rounds.released[cta]
            if clock is not None:
                machine.shared.order.learn(threads[ready & (machine.cta[threads] == cta)], clock)

    return execute


def own(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """mapa: the address that another CTA of the cluster has for one of shared memory; there is none but this CTA."""
    put, address, rank = (
        machine.writer(inst.operands[0]),
        machine.reader(inst.operands[1]),
        machine.reader(inst.operands[2]),
    )
    width = WIDTHS[meaning.types["d"]]

    def execute(mask: Mask | None) -> None:
        ranks = keep_bits(machine.numbers(rank, mask, "the rank of a CTA"), 32)
        if (np.broadcast_to(ranks, machine.count)[machine.list_threads(mask)] != 0).any():
            raise Unclear(inst.line, "the address of another CTA's shared memory: clusters have one CTA here")
        put(Word(keep_bits(machine.numbers(address, mask, "an address"), width)), mask)

    return execute


BINDS: dict[str, Bind] = {"cluster_arrive": arrive, "cluster_wait": wait, "own_address": own}
