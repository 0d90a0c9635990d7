# SPDX-License-Identifier: Apache-2.0
"""Are the phases of mbarriers the same in every schedule? Each arrival counts for one phase, each wait sees one.

A wait by parity distinguishes a phase from the one before it and the one after it alone: a thread that looks two
phases late, or too early, takes one for another. So what ends phase n must come after the end of phase n - 1, and after
all looks at phase n - 1; and a look at phase n must come after the end of phase n - 1. `Executed` says what is after
what. It is wider than the order of memory accesses: `.sync` instructions make lanes wait, and order no access.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from verify.kernel.state.findings import Findings, Severity
from verify.kernel.state.order import ALWAYS, Ints, Order, latest

Clock = NDArray[np.int32]
LATE = "a waiter a phase late"
PHASE, WAIT = "9.7.13.15.4", "9.7.13.15.16"  # of the PTX ISA: phases of an mbarrier, waits by parity
ARRIVE = "9.7.13.15.13"  # mbarrier.arrive


class Executed:
    """Vector clocks of execution: `known[t, u]` is the time up to which thread t comes after its CTA's thread u.

    Behind the threads come the columns of the copy engine, as in `Order.engine`.
    """

    def __init__(self, order: Order) -> None:
        self.order, self.threads = order, order.threads
        count = len(order.known)
        self.known = np.zeros((count, self.threads), np.int32)
        self.local = order.local
        self.known[np.arange(count), self.local] = ALWAYS
        self.news = np.zeros(-(-count // 32), bool)  # warps of which a lane knows what another may not

    def release(self, members: Ints) -> Clock:
        """Return what these threads have executed and know."""
        top = self.known[members]
        top[np.arange(len(members)), self.local[members]] = self.order.now
        self.news[members // 32] = True
        clock: Clock = top.max(0)
        return clock

    def learn(self, members: Ints, clock: Clock) -> None:
        """Put what was released before what these threads do next."""
        self._widen(len(clock))
        self.known[members, : len(clock)] = np.maximum(self.known[members, : len(clock)], clock)
        self.known[members, self.local[members]] = ALWAYS
        self.news[members // 32] = True

    def gather(self, groups: Iterable[Ints]) -> None:
        """Put what the lanes of each group did before what they do next."""
        for members in groups:
            self.learn(members, self.release(members))
            self.news[members[0] // 32] = len(members) < 32

    def _widen(self, size: int) -> None:
        """Have columns for a clock of so many entries."""
        if size > self.known.shape[1]:
            self.known = np.pad(self.known, ((0, 0), (0, size - self.known.shape[1])))

    def missing(self, members: Ints, needed: Clock, what: str) -> str:
        """Say that one of these threads does not come after all that is needed; empty if they all do."""
        self._widen(len(needed))
        late: NDArray[np.bool_] = np.asarray(self.known[members, : len(needed)] < needed)
        if not late.any():
            return ""
        column = int(np.flatnonzero(late.any(0))[0])
        who = "the copy engine" if column >= self.threads else f"thread {column}"
        return f"nothing orders it after {what}, to which {who} contributes"


@dataclass(slots=True)
class Phases:
    """One mbarrier: the phase that is under way, what all before it have released, and who looked at the last one."""

    count: int  # arrivals of a phase
    pending: int  # of them, still to come
    maker: int  # the thread that initialised it
    made: int  # and when
    executed: Executed  # what comes after what
    column: int  # of the clocks, for the copies that this barrier counts
    bytes: int = 0  # that are expected and not there
    fenced: bool = False  # whether a fence has shown it to the copy engine
    number: int = 0  # of phases that are over
    gathered: Clock | None = None  # the memory clocks of this phase's arrivals
    released: Clock | None = None  # and of all phases that are over
    came: Clock = field(init=False)  # when each thread, and the engine, came to the phase under way; 0 for never
    after: Clock = field(init=False)  # what is executed before the phase under way ends
    over: Clock = field(init=False)  # and before the last one ended
    ended: list[Clock] = field(default_factory=list)  # `came` of the last two phases
    unfinished: dict[int, int] = field(
        default_factory=dict
    )  # thread -> the line of its `noComplete` with no arrival since
    looked: Clock = field(init=False)  # when each thread saw the end of the last phase; 0 for never
    lines: Clock = field(init=False)  # and at which line

    def __post_init__(self) -> None:
        size = self.executed.threads
        self.came, self.after, self.over = (np.zeros(size + self.column + 1, np.int32) for _ in range(3))
        self.looked, self.lines = np.zeros(size, np.int32), np.zeros(size, np.int32)

    def gather(self, clock: Clock) -> None:
        """Add what an arrival releases."""
        self.gathered = clock if self.gathered is None else latest(self.gathered, clock)

    def note_arrival(self, members: Ints, partial: int = 0) -> None:
        """Note arrivals: those of `.noComplete`, at the line `partial`, need another one of their thread after them."""
        for thread in members.tolist() if partial or self.unfinished else ():
            if partial:
                self.unfinished[thread] = partial
            else:
                self.unfinished.pop(thread, None)

    def comes(self, members: Ints, time: int = 0) -> str:
        """Note that threads take part in this phase, and that the engine does at a time; what is wrong with it.

        They must come after the end of the phase before, else they may count for that one.
        """
        # The phase can't end before this arrival, so all that these threads have executed comes before its end too.
        executed = self.executed
        self.came[executed.local[members]] = executed.order.now
        self.after = latest(self.after, executed.release(members))
        mine = executed.threads + self.column
        self.came[mine], self.after[mine] = max(self.came[mine], time), max(self.after[mine], time)
        if not self.number:
            return ""
        problem = executed.missing(members, self.ended[-1], f"the end of phase {self.number - 1}")
        return problem and f"arrives in phase {self.number}, and may count for the phase before: {problem}"

    def used_after(self, members: Ints) -> str:
        """Say what of its use does not come before what threads do next, in words; empty if all of it does."""
        used = latest(self.came, self.over, self.looked)
        return self.executed.missing(members, used, "the last use of it")

    def waits(self, members: Ints, number: int) -> str:
        """Say what is wrong with threads that wait for the phase of this number.

        They must come after the end of the phase before that one: until then the parity says that the wait is over.
        """
        if number < 1:
            return ""
        before = self.ended[-1] if number == self.number else self.ended[-2]
        problem = self.executed.missing(members, before, f"the end of phase {number - 1}")
        return problem and (
            f"waits for phase {number}, and may look while phase {number - 1} is under way, when the parity says that "
            f"the wait is over: {problem}"
        )

    def sees(self, members: Ints, line: int) -> None:
        """Note that threads see the end of the last phase."""
        mine = self.executed.local[members]
        self.looked[mine], self.lines[mine] = self.executed.order.now, line
        self.executed.learn(members, self.over)

    def turn(self, findings: Findings, address: int) -> None:
        """Begin the next phase if this one is over; report who may look at the last one only then."""
        if self.pending or self.bytes:
            return
        if self.unfinished:
            line = next(iter(self.unfinished.values()))
            text = (
                f"phase {self.number} of the mbarrier at shared address {address} ends, and the thread of the arrival "
            )
            text += f"of line {line}, which is .noComplete, does not arrive after it: it may be what ends the phase"
            findings.add("an arrival that may complete a phase", Severity.STUCK, text, ARRIVE)
            self.unfinished.clear()
        # PTX ISA 9.7.13.15.16: try_wait.parity tests one bit. A look at the last phase that isn't ordered before the
        # end of this one may, in another schedule, come when the bit has its old value again.
        late = np.flatnonzero(self.after[: self.executed.threads] < self.looked)
        waiters = list(zip(late.tolist(), self.lines[late].tolist(), strict=True))
        if self.gathered is not None:
            before = self.gathered if self.released is None else self.released
            self.released = latest(before, self.gathered)
        # Two are enough: threads wait for the phase under way or the last one, and need the end of the one before.
        self.ended, self.over = [*self.ended[-1:], self.came], latest(self.over, self.after)
        self.number, self.pending = self.number + 1, self.count
        self.came, self.after = np.zeros_like(self.came), np.zeros_like(self.after)
        self.looked[:] = 0
        if not waiters:
            return
        findings.late.update(late.tolist())
        thread, line = waiters[0]
        waited = f"phase {self.number - 2}" if self.number > 1 else "the phase before the first"
        problem = (
            f"thread {thread} waits at line {line} for {waited}, and phase {self.number - 1}, which ends here, may be "
            f"over before it looks ({len(waiters)} such threads): it would hang, or go on two phases later; let only "
            "threads wait that use what the phase guards, or let each arrive before this phase ends"
        )
        report(findings, "", problem, address)


def report(findings: Findings, who: str, problem: str, address: int) -> None:
    """Add the finding of a wait or an arrival that belongs to another phase in another schedule."""
    if problem:
        late = problem.startswith("thread")
        waits = late or problem.startswith("waits")
        kind = LATE if late else f"{'a wait for' if waits else 'an arrival of'} another phase"
        text = f"the mbarrier at shared address {address}: {problem if late else f'{who} {problem}'}"
        findings.add(kind, Severity.LETTER if late else Severity.RACE, text, WAIT if waits else PHASE)


def judge_late(findings: Findings) -> None:
    """Let a waiter a phase late be a race where nothing orders what it uses before the next writes.

    This schedule had each waiter on time, so that what it used was checked against those writes: in shared and global
    memory they race. In Tensor Memory the same breaks the letter of the ISA, and `loose` has the threads. What a wgmma
    reads is no such use: its warpgroup has issued it, and so looked, before any wait for it returns.
    """
    race = any(finding.severity is Severity.RACE for finding in findings.reported.values())
    if race or findings.late & findings.loose:
        findings.worsen(LATE, Severity.RACE)
