# SPDX-License-Identifier: Apache-2.0
"""The wgmma that are on their way, warpgroup by warpgroup: the registers and the shared memory that they still use.

A wgmma belongs to a warpgroup, and each of its four warps waits for it. So what a warp's wait says, the other warps do
not know: memory that only some of them have waited for breaks the letter of the ISA when it is written again. Main
declarations: `Products`, the groups and registers; `Reads`, the cells of shared memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from verify.kernel.data.values import Mask
from verify.kernel.state.barriers import Barriers
from verify.kernel.state.findings import Findings, Severity
from verify.kernel.state.memory import Shared
from verify.kernel.state.order import Ints
from verify.kernel.state.phases import Clock

GROUP = 128  # threads of a warpgroup, four warps: PTX ISA 9.7.15.1
# Triton unpacks sums in f16, and adds sums of f8, before the wait. ptxas knows which registers a wgmma writes, and
# waits before another instruction of any kind reads or writes them. It does nothing about the registers of A:
# tests/verify/kernel/test_sums_in_flight.py.
INJECTED = "ptxas 12.9 and 13.0 insert that wait (its messages C7514 to C7518)"
FENCE, WAIT, PROXY = "9.7.15.7.1", "9.7.15.7.3", "9.7.15.4"  # of the PTX ISA: wgmma.fence, wait_group, async proxy


class Reads:
    """The shared memory that wgmma read, by warpgroup of a CTA and cell."""

    def __init__(self, shared: Shared) -> None:
        self.shared, self.order, self.findings = shared, shared.order, shared.findings
        shape = max(shared.threads // GROUP, 1), len(shared.order.writer)
        self.reading = np.zeros(shape, np.int32)  # the number of the last wgmma that may still read a cell
        self.reading_line = np.zeros(shape, np.int32)  # and its line
        self.ended = np.zeros(shape, np.int32)  # when the last one that read it was waited for
        self.lines = np.zeros(shape, np.int32)  # and its line

    def begins(self, group: int, cells: Ints, serial: int) -> None:
        """Note that a wgmma of a warpgroup reads cells; report what none or not all of its warps come after."""
        shared, order, line = self.shared, self.order, self.findings.line
        first = group * GROUP
        late = shared.generic[cells]
        if late.any():
            text = f"{self._describe_write(int(cells[late][0]))}, is read by wgmma with no fence.proxy.async between"
            self.findings.add("no proxy fence", Severity.LETTER, text, PROXY)
        if shared.pending[cells].any():
            at = int(cells[shared.pending[cells] > 0][0])
            text = f"shared byte {shared.byte(at)} is read by wgmma, and the cp.async of line {shared.pending[at]} "
            self.findings.add("cp.async not waited for", Severity.RACE, f"{text} still copies to it", "9.7.9.25.3.3")
        written = order.written[cells] > order.floor[first : first + GROUP].min()
        recent = cells[written & (order.writer[cells] >= 0)]
        if len(recent):
            known = order.known[first : first + GROUP].reshape(4, 32, -1).max(1)
            after = known[:, order.local[order.writer[recent]]] >= order.written[recent]
            self._say(recent, after, "read after write", self._describe_write, "9.7.13.1")
        if shared.loads:
            known = order.engine[first : first + GROUP].reshape(4, 32, -1).max(1)
            after = known[:, shared.loaded_by[cells]] >= shared.loaded[cells]
            self._say(cells, after, "tensor load not waited for", self._describe_load, "9.7.9.25.1.2")
        mine = group % len(self.reading)
        self.reading[mine, cells], self.reading_line[mine, cells] = serial, line

    def ends(self, group: int, cells: Ints, line: int, serial: int) -> None:
        """Note that a warpgroup has waited for a wgmma that read cells; a later one may read them still."""
        mine = group % len(self.reading)
        self.reading[mine, cells[self.reading[mine, cells] == serial]] = 0
        self.ended[mine, cells], self.lines[mine, cells] = self.order.now, line

    def report_writes(self, cells: Ints, who: Ints) -> None:
        """Report writes of cells, by a thread each, that do not come after the waits for the wgmma that read them."""
        for group, (reading, ended) in enumerate(zip(self.reading, self.ended, strict=True)):
            busy = reading[cells]
            if busy.any():
                text = f"shared byte {self.shared.byte(int(cells[busy > 0][0]))} is written, and the wgmma of line "
                text += f"{self.reading_line[group, cells[busy > 0][0]]} may still read it: no wait_group since"
                self.findings.add("wgmma on its way", Severity.RACE, text, WAIT)
            times = ended[cells]
            recent = np.flatnonzero(times > self.order.floor[who])
            if len(recent):
                threads, place = np.unique(who[recent], return_inverse=True)
                lanes = slice(group * GROUP, (group + 1) * GROUP)
                known = self.order.known[threads, lanes].reshape(len(threads), 4, 32).max(2)
                after = known[place].T >= times[recent]

                def describe_read(cell: int, group: int = group) -> str:
                    return (
                        f"shared byte {self.shared.byte(cell)}, which the wgmma of line {self.lines[group, cell]} read"
                    )

                self._say(cells[recent], after, "write after read", describe_read, WAIT)

    def _say(self, cells: Ints, after: Mask, kind: str, said: Callable[[int], str], section: str) -> None:
        """Report cells, by what each of the four warps comes after (4, cells)."""
        late = ~after.all(0)
        if not late.any():
            return
        none = ~after.any(0)
        at = int(np.flatnonzero(none)[0] if none.any() else np.flatnonzero(late)[0])
        what = said(int(cells[at]))
        does = "a thread writes" if kind == "write after read" else "wgmma reads"
        if none.any():
            text = f"{does} {what}; nothing orders the two ({int(late.sum())} such cells)"
            race = kind if kind.startswith("tensor") else f"race: {kind}"
            self.findings.add(race, Severity.RACE, text, section)
            return
        warps = ", ".join(map(str, np.flatnonzero(~after[:, at])))
        if does == "wgmma reads":
            text = f"wgmma reads {what}; warps {warps} of its warpgroup are not ordered after that by a barrier"
        else:
            text = f"a thread writes {what}; nothing orders it after the waits of warps {warps}: "
            text += "a wait is for the warp that executes it, and no barrier joins them"
        self.findings.add(f"{kind} by a part of a warpgroup", Severity.LETTER, text, section)

    def _describe_write(self, cell: int) -> str:
        who = self.shared.who(int(self.order.writer[cell]))
        return f"shared byte {self.shared.byte(cell)}, which {who} wrote at line {self.order.write_line[cell]}"

    def _describe_load(self, cell: int) -> str:
        load, line = self.shared.name_load(cell)
        return f"shared byte {self.shared.byte(cell)}, which the {load} of line {line} fills"


class Products:
    """The wgmma of a batch of CTAs. Each has a serial number; those of a warpgroup complete in their order."""

    def __init__(self, count: int, shared: Shared, barriers: Barriers, findings: Findings) -> None:
        groups = max(count // GROUP, 1)
        self.barriers, self.findings = barriers, findings
        self.reads = Reads(shared)
        self.serial, self.lines = 0, [0]  # of the last one; the line of each
        self.complete = np.zeros(groups, np.int64)  # each group has waited for all up to here
        self.committed: list[list[tuple[int, Clock | None]]] = [[] for _ in range(groups)]  # last serial; clock
        self.issued: list[Clock | None] = [None] * groups  # what was executed before the last one: that clock
        self.spans: list[list[tuple[int, Ints]]] = [[] for _ in range(groups)]  # serial, cells that it reads
        self.results: dict[int, Ints] = {}  # register -> by group the serial of the last one that writes it
        self.inputs: dict[int, Ints] = {}  # and that reads it
        self.touched: dict[int, Ints] = {}  # register -> by group when a thread last wrote it
        self.fenced = np.full(groups, -1)  # when each group last executed wgmma.fence

    def touch(self, register: int, mask: Mask | None, step: int) -> None:
        """Note that threads write a register."""
        if mask is None:
            self.touched[register] = np.full(len(self.complete), step)
        else:
            self.touched[register] = np.where(self._there(mask), step, self.touched.get(register, 0))

    def _there(self, mask: Mask) -> Mask:
        """Return the warpgroups that have a thread in a mask."""
        return np.asarray(mask.reshape(len(self.complete), -1).any(1))

    def _find_owner(self, table: dict[int, Ints], register: int, active: Mask) -> int:
        """Return the line of a wgmma on its way to which a register belongs in some active group; 0 for none."""
        serials = table.get(register)
        if serials is None:
            return 0
        late = serials[self._there(active) & (serials > self.complete)]
        return self.lines[int(late.max())] if len(late) else 0

    def check_flight(self, register: int, name: str, active: Mask, writes: bool) -> None:
        """Report a register of a wgmma that nobody has waited for; a warning if it is a sum, which ptxas waits for."""
        if writes and (line := self._find_owner(self.inputs, register, active)):
            text = f"{name} is an operand of the wgmma of line {line}, which nobody has waited for"
            self.findings.add("register in flight", Severity.RACE, text, WAIT)
        elif line := self._find_owner(self.results, register, active):
            text = f"{name} is a sum of the wgmma of line {line}, which nobody has waited for; {INJECTED}"
            self.findings.add("sum in flight", Severity.LETTER, text, WAIT)

    def find_unfenced(self, groups: Ints, registers: Iterable[int]) -> int | None:
        """Return a register written after the last wgmma.fence of one of the groups; -1 where there was no fence."""
        if (self.fenced[groups] < 0).any():
            return -1
        for register in registers:
            touched = self.touched.get(register)
            if touched is not None and (touched[groups] > self.fenced[groups]).any():
                return register
        return None

    def forget(self, groups: Ints, registers: Iterable[int]) -> None:
        """Let the sums of a wgmma on its way be used by the next one: those of one shape keep their order."""
        for register in registers:
            if register in self.results:
                self.results[register][groups] = 0

    def issue(self, groups: Ints, results: Iterable[int], inputs: Iterable[int], cells: list[Ints]) -> None:
        """Note a wgmma of some groups: its registers, and the cells that each group's reads."""
        self.serial += 1
        self.lines.append(self.findings.line)
        for table, registers in ((self.results, results), (self.inputs, inputs)):
            for register in registers:
                table.setdefault(register, np.zeros(len(self.complete), np.int64))[groups] = self.serial
        for register in results:
            if register in self.touched:
                self.touched[register][groups] = 0
        for place, group in enumerate(groups.tolist()):
            self.spans[group].append((self.serial, cells[place]))
            if self.barriers.executed is not None:
                self.issued[group] = self.barriers.executed.release(group * GROUP + np.arange(GROUP))

    def commit(self, groups: Ints) -> None:
        """Close the wgmma-group of some warpgroups."""
        for group in groups.tolist():
            self.committed[group].append((self.serial, self.issued[group]))

    def wait(self, groups: Ints, keep: int) -> None:
        """Let all but the last wgmma-groups of some warpgroups be complete."""
        for group in groups.tolist():
            while len(self.committed[group]) > keep:
                self.complete[group], clock = self.committed[group].pop(0)
                if clock is not None and self.barriers.executed is not None:  # all four warps have issued it
                    self.barriers.executed.learn(group * GROUP + np.arange(GROUP), clock)
            done = [span for span in self.spans[group] if span[0] <= self.complete[group]]
            for serial, cells in done:
                self.reads.ends(group, cells, self.lines[serial], serial)
            self.spans[group] = self.spans[group][len(done) :]
