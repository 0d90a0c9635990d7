# SPDX-License-Identifier: Apache-2.0
"""The named barriers of CTAs: who has arrived, who waits, and when all go on; each order what was done before."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from verify.kernel.data.distinct import sort_distinct
from verify.kernel.data.values import Bits, Mask
from verify.kernel.state.findings import Findings, Severity, Unclear
from verify.kernel.state.memory import Shared
from verify.kernel.state.order import Ints
from verify.kernel.state.phases import Executed

RUNNING, AT_BARRIER, DONE = range(3)  # states of a thread
SECTION = "9.7.13.1"  # of the PTX ISA: bar and barrier


Vote: TypeAlias = Callable[[Ints, Ints], None]  # gets the threads of a phase, and those to which to give its vote


class Barrier:
    """One barrier of one CTA in its current phase."""

    __slots__ = ("aligned", "arrived", "came", "expected", "line", "times", "votes", "waited", "waiting")

    def __init__(self) -> None:
        self.aligned = True  # whether whole warps come to it
        self.came: NDArray[np.int32] | None = None  # when each thread came to the last phase, 0 for never
        self.waited: Ints = np.zeros(0, np.int64)  # who waited for its end
        self.times: list[int] = []  # of `arrived`
        self.arrived: list[Ints] = []
        self.waiting: list[Ints] = []
        self.votes: list[tuple[Ints, Vote]] = []  # who gets the vote of all that have arrived
        self.expected = 0
        self.line = 0

    @property
    def count(self) -> int:
        """The threads that have arrived."""
        return sum(map(len, self.arrived))


class Barriers:
    """All barriers of a batch of CTAs; `state` is that of each thread."""

    def __init__(self, state: NDArray[np.int8], shared: Shared, findings: Findings) -> None:
        self.state, self.shared, self.findings, self.threads = state, shared, findings, shared.threads
        self.barriers: dict[tuple[int, int], Barrier] = {}
        self.executed: Executed | None = None  # what comes after what, once a kernel uses an mbarrier
        self.said = np.zeros(len(state), np.int8)  # what each thread votes for

    def arrive(
        self, barrier: Bits, count: Bits | None, mask: Mask, waits: bool, aligned: bool, vote: Vote | None = None
    ) -> None:  # fmt: skip
        """Let threads arrive at their CTA's barrier, and wait there if `waits`; whole warps do if it is `aligned`.

        `vote` is called when the phase ends.
        """
        numbers = np.broadcast_to(barrier, len(self.state))
        members = np.flatnonzero(mask)
        for cta in sort_distinct(members // self.threads):
            mine = members[members // self.threads == cta]
            for number in sort_distinct(numbers[mine]):
                if number >= 16:
                    raise Unclear(self.findings.line, f"barrier {int(number)}: a CTA has 16")
                there = mine[numbers[mine] == number]
                self._arrive(int(cta), int(number), there, count, waits, aligned)
                self.barriers[int(cta), int(number)].votes += [(there, vote)] if vote is not None else []
        self.release()

    def _arrive(
        self, cta: int, number: int, mine: Ints, count: Bits | None, waits: bool, aligned: bool
    ) -> None:  # fmt: skip
        if aligned and int(self._list_alive(sort_distinct(mine // 32)).sum()) != len(mine):
            text = f"{self.shared.who(int(mine[0]))}: only a part of its warp comes to this barrier"
            self.findings.add("barrier by part of a warp", Severity.STUCK, text, SECTION)
        here = self.barriers.setdefault((cta, number), Barrier())
        expected = int(np.broadcast_to(count, len(self.state))[mine[0]]) if count is not None else 0
        if here.arrived and here.expected != expected:
            before = f"{here.expected or 'all'} at line {here.line}"
            text = f"barrier {number} counts {expected or 'all'} threads here, {before}"
            self.findings.add("barrier with two counts", Severity.STUCK, text, SECTION)
        if expected % 32:
            text = f"barrier {number} counts {expected} threads, no multiple of 32: whole warps arrive"
            self.findings.add("barrier with a wrong count", Severity.STUCK, text, SECTION)
        self._same_phase(here, number, mine)
        here.expected, here.line, here.aligned = expected, self.findings.line, aligned
        here.arrived.append(mine)
        here.times.append(self.shared.order.now)
        if waits:
            here.waiting.append(mine)
            self.state[mine] = AT_BARRIER

    def _same_phase(self, here: Barrier, number: int, mine: Ints) -> None:
        """Report threads that do not come after the end of the last phase: they may count for that one."""
        if here.came is None or np.isin(mine, here.waited).all():
            return  # who waited for that end comes after it
        order = self.shared.order
        late = order.known[mine] < here.came
        if late.any():
            row, column = (int(indices[0]) for indices in np.nonzero(late))
            text = f"{self.shared.who(int(mine[row]))} comes to barrier {number} and may count for its last phase: "
            text += f"nothing orders it after the end of that phase, to which thread {column} comes at line {here.line}"
            self.findings.add("an arrival of another phase", Severity.RACE, text, SECTION)

    def release(self) -> bool:
        """Complete the barriers at which enough threads have arrived; whether there are any."""
        some = False
        for (cta, _), here in list(self.barriers.items()):
            if not here.arrived:
                continue
            block = slice(cta * self.threads, (cta + 1) * self.threads)
            expected = here.expected or int((self.state[block] != DONE).sum())
            count = self._count_warps(here) if here.expected else here.count
            if count < expected:
                continue
            if count > expected:
                text = f"{count} threads arrive in one phase of a barrier for {expected}"
                self.findings.add("barrier overrun", Severity.STUCK, text, SECTION)
            members = np.concatenate(here.arrived)
            waiting = np.concatenate(here.waiting) if here.waiting else members[:0]
            order = self.shared.order
            if len(waiting) == len(members):
                everyone = np.arange(block.start, block.stop)
                order.meet(everyone if here.expected in (0, self.threads) else np.sort(members))
            elif len(waiting):
                order.learn(waiting, order.clock(members))
            if self.executed is not None:
                self.executed.learn(waiting, self.executed.release(members))
            self.state[waiting] = RUNNING
            here.came, here.waited = np.zeros(self.threads, np.int32), waiting
            for part, time in zip(here.arrived, here.times, strict=True):
                here.came[order.local[part]] = time
            if here.votes and sum(len(part) for part, _ in here.votes) < len(members):
                raise Unclear(here.line, "bar.red meets a barrier instruction without a predicate")
            for part, vote in here.votes:
                vote(members, part)
            here.arrived, here.waiting, here.times, here.votes = [], [], [], []
            some = True
        return some

    def _list_alive(self, warps: Ints) -> Mask:
        """Return which lanes of warps have not ended (warps, 32)."""
        return np.asarray(self.state[warps[:, None] * 32 + np.arange(32)] != DONE)

    def _count_warps(self, here: Barrier) -> int:
        """Return how many threads a phase counts: 32 each time that a warp has come, if the CTA doesn't fill it too.

        A warp has come when all of its lanes that have not ended have; they come together if the barrier is aligned.
        One that doesn't wait may come again, as in CUTLASS's epilogues: arrive, and wait for all by another arrival.
        """
        if here.aligned:
            return 32 * sum(len(sort_distinct(part // 32)) for part in here.arrived)
        warps, came = np.unique(np.concatenate(here.arrived) // 32, return_counts=True)
        return 32 * int(np.sum(came // np.maximum(self._list_alive(warps).sum(1), 1)))
