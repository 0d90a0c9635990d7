# SPDX-License-Identifier: Apache-2.0
"""The Tensor Memory of the CTAs of a batch: its cells, what of it is allocated, and which accesses are ordered.

A cell has 32 bits, by lane and column. Every access is asynchronous: a tcgen05.mma has ended for a thread that knows of
the commit after it, a tcgen05.ld or st where its warp has executed tcgen05.wait. No GPU of the recordings has these
instructions, so an access that nothing orders breaks the letter of the ISA and no more.
"""

from __future__ import annotations

from itertools import product
from typing import Self

import numpy as np
from numpy.typing import NDArray

from verify.kernel.data.distinct import sort_distinct
from verify.kernel.data.values import UNWRITTEN, Ids, Mask
from verify.kernel.state.copies import Octets
from verify.kernel.state.findings import Findings, Severity
from verify.kernel.state.machine import Machine, Unit
from verify.kernel.state.memory import Shared
from verify.kernel.state.order import ALWAYS, Ints
from verify.kernel.state.tensor_fences import TensorFences

LANES, COLUMNS = 128, 512  # of the Tensor Memory of a CTA: PTX ISA 9.7.16.1.1
PART = 32  # lanes that one warp of a warpgroup can access: 9.7.16.2.3.1
GROUP = 128  # threads of a warpgroup, four warps: 9.7.15.1
ALLOCATION, ORDER, FENCE = "9.7.16.7", "9.7.16.6", "9.7.16.11.1"  # sections of the PTX ISA


class TensorMemory(Unit):
    """The Tensor Memory of some CTAs; lanes are divided in four parts of 32, one for each warp of a warpgroup."""

    @classmethod
    def make(cls, machine: Machine) -> Self:
        """Return the Tensor Memory of a batch."""
        return cls(machine.ctas, machine.shared, machine.findings)

    def __init__(self, ctas: int, shared: Shared, findings: Findings) -> None:
        self.shared, self.order, self.findings = shared, shared.order, findings
        self.first = COLUMNS  # the first column for which there is memory
        self.labels = np.zeros((ctas, LANES, 0, 4), np.uint32)
        self.plain = np.zeros((ctas, LANES, 0, 4), np.uint8)
        self.allocated = np.zeros((ctas, COLUMNS), bool)
        self.pieces: list[dict[int, int]] = [{} for _ in range(ctas)]  # first column -> columns
        self.relinquished: dict[int, int] = {}  # CTA -> the line at which one of its warps gave up allocating
        self.allocations: list[list[tuple[int, int]]] = [[] for _ in range(ctas)]  # (thread, time)
        shape = (ctas, LANES // PART, COLUMNS)
        self.product = np.zeros(shape, np.int32)  # the number of the last tcgen05.mma that uses a part of a column
        self.issuer = np.zeros(shape, np.int32)  # the column of `order.engine` for the thread that issued it
        self.line = np.zeros(shape, np.int32)  # and its line
        self.groups = -(-shared.threads // GROUP)  # of each, one warp accesses a part
        each = (*shape, self.groups)
        self.by = {what: np.full(each, -1, np.int32) for what in ("ld", "st")}  # a warp's first thread
        self.begun = {what: np.zeros(each, np.int32) for what in ("ld", "st")}  # when it issued its last one
        self.when = {what: np.zeros(each, np.int32) for what in ("ld", "st")}  # and waited for it: ALWAYS, not yet
        self.open: dict[tuple[str, int], list[tuple[Ints, Ints, Ints, int]]] = {}  # what a warp has not waited for
        self.products = 0  # tcgen05.mma so far
        self.issuers: dict[int, int] = {}  # a column of `order.engine` -> the thread of a CTA that issues its products
        self.issued = np.zeros(len(self.order.known), np.int32)  # of each thread, the number of its last
        self.reading: dict[int, Ints] = {}  # by the issuer's column, the last one that reads a cell of shared memory
        self.reading_line = np.zeros(len(self.order.writer), np.int32)
        self.fences = TensorFences(self.order)
        shared.watch_writes(self.report_writes)

    # ---- allocation

    def allocate(self, cta: int, count: int) -> int | None:
        """Return the first column of so many new ones; None where there are not as many left."""
        free = ~self.allocated[cta]
        for first in range(COLUMNS - count, -1, -PART):  # from the end, so that no address is 0
            if free[first : first + count].all():
                self.allocated[cta, first : first + count] = True
                self.pieces[cta][first] = count
                self._make(first)
                here = slice(first - self.first, first - self.first + count)
                self.labels[cta, :, here], self.plain[cta, :, here] = UNWRITTEN << 3, 0
                return first
        return None

    def check_permit(self, cta: int, thread: int) -> None:
        """Note an allocation by a warp, named by its first thread; report one of a CTA that has given up allocating."""
        self.allocations[cta].append((thread, self.order.now))
        if (line := self.relinquished.get(cta)) is not None:
            self._report_permit(f"{self.shared.who(thread)} allocates Tensor Memory after line {line}")

    def relinquish(self, cta: int, thread: int) -> None:
        """Let a CTA give up allocating; report allocations of other warps that nothing orders before that."""
        self.relinquished.setdefault(cta, self.findings.line)
        known = self.order.known[thread]
        if any(when > known[self.order.local[warp]] for warp, when in self.allocations[cta]):
            self._report_permit(f"{self.shared.who(thread)} may do so before another warp allocates Tensor Memory")

    def _report_permit(self, text: str) -> None:
        text += ": once a thread of a CTA has executed tcgen05.relinquish_alloc_permit, the CTA may allocate no more"
        self.findings.add("allocation after relinquish_alloc_permit", Severity.MEMORY, text, ALLOCATION)

    def _make(self, first: int) -> None:
        """Have memory from a column on."""
        if first < self.first:
            grown = (len(self.labels), LANES, self.first - first, 4)
            self.labels = np.concatenate([np.zeros(grown, np.uint32), self.labels], 2)
            self.plain = np.concatenate([np.zeros(grown, np.uint8), self.plain], 2)
            self.first = first

    def free(self, cta: int, first: int, count: int, thread: int) -> bool:
        """Give columns back, by a warp whose first thread is given; whether they are what one allocation gave."""
        if self.pieces[cta].get(first) != count:
            return False
        parts, columns = np.divmod(np.arange(LANES // PART * count), count)
        ctas, columns, does = np.full(len(parts), cta), columns + first, "tcgen05.dealloc"
        self._after_products(ctas, parts, columns, thread, does)
        self._after(("st", "ld"), ctas, parts, columns, thread, does)
        del self.pieces[cta][first]
        self.allocated[cta, first : first + count] = False
        return True

    def end(self, machine: Machine) -> None:
        """Report what a CTA that has ended did not give back."""
        for cta, pieces in enumerate(self.pieces):
            if pieces:
                text = (
                    f"{self.shared.name_cta(cta)} ends with {sum(pieces.values())} columns of Tensor Memory allocated"
                )
                self.findings.add("Tensor Memory is not deallocated", Severity.LETTER, text, ALLOCATION)

    # ---- cells

    def inside(self, ctas: Ints, lanes: Ints, columns: Ints, threads: Ints) -> Mask:
        """Where cells are allocated; others are reported."""
        there = (columns < COLUMNS) & (lanes < LANES)
        there &= self.allocated[ctas, np.where(columns < COLUMNS, columns, 0)]
        if not there.all():
            at = tuple(part[0] for part in np.nonzero(~there))
            each = [int(np.broadcast_to(index, there.shape)[at]) for index in (threads, lanes, columns)]
            text = (
                f"{self.shared.who(each[0])} accesses lane {each[1]}, column {each[2]} of Tensor Memory, which is not "
            )
            self.findings.add("Tensor Memory out of bounds", Severity.MEMORY, f"{text}allocated", ALLOCATION)
        return there

    def load(self, ctas: Ints, lanes: Ints, columns: Ints, threads: Ints) -> tuple[Ids, Octets]:
        """Return the labels and plain bytes (.., 4) of cells."""
        there = self.inside(ctas, lanes, columns, threads)
        if not self.labels.shape[2]:  # no column was ever allocated, which `inside` reports
            return np.full((*there.shape, 4), UNWRITTEN << 3, np.uint32), np.zeros((*there.shape, 4), np.uint8)
        column = columns - self.first
        if not (every := bool(there.all())):
            column, lanes = np.where(there, column, COLUMNS - self.first - 1), np.where(there, lanes, 0)
        labels, plain = self.labels[ctas, lanes, column], self.plain[ctas, lanes, column]
        if not every:
            labels[~there], plain[~there] = UNWRITTEN << 3, 0
        empty = labels == UNWRITTEN << 3
        if empty.any():
            at = tuple(part[0] for part in np.nonzero(empty.any(-1)))
            each = [int(np.broadcast_to(index, there.shape)[at]) for index in (threads, lanes, columns)]
            text = f"{self.shared.who(each[0])} reads lane {each[1]}, column {each[2]} of Tensor Memory, which nothing "
            labels = np.where(empty, np.uint32(self.shared.values.nowhere(f"{text}has written") << 3), labels)
        return labels, plain

    def write(self, ctas: Ints, lanes: Ints, columns: Ints, threads: Ints, labels: Ids, plain: Octets) -> None:
        """Write labels and plain bytes (.., bytes) into the lowest bytes of cells; nobody has written the others."""
        there = self.inside(ctas, lanes, columns, threads)
        count = labels.shape[-1]
        cta, lane, column = (
            np.broadcast_to(index, there.shape)[there] for index in (ctas, lanes, columns - self.first)
        )
        self.labels[cta, lane, column] = UNWRITTEN << 3
        self.labels[cta, lane, column, :count] = labels[there]
        self.plain[cta, lane, column, :count] = plain[there]

    # ---- order

    def starts(self, what: str, ctas: Ints, parts: Ints, columns: Ints, thread: int) -> None:
        """Start a warp's tcgen05.ld or st of columns of a part of the lanes; its first thread is given."""
        self._after_products(ctas, parts, columns, thread, f"tcgen05.{what}")
        self._after(("st",) if what == "ld" else ("st", "ld"), ctas, parts, columns, thread, f"tcgen05.{what}")
        place = ctas, parts, columns, int(self.order.local[thread]) // GROUP
        self.by[what][place], self.when[what][place], self.begun[what][place] = thread, ALWAYS, self.order.now
        self.open.setdefault((what, thread), []).append(place)

    def waits(self, what: str, thread: int) -> None:
        """Note that a warp has waited for its tcgen05.ld or st."""
        for place in self.open.pop((what, thread), []):
            self.when[what][place] = np.where(self.by[what][place] == thread, self.order.now, self.when[what][place])

    def multiplies(self, ctas: Ints, parts: Ints, columns: Ints, thread: int) -> None:
        """Note the columns, of some parts of the lanes, that a tcgen05.mma under way uses."""
        self._after(("st", "ld"), ctas, parts, columns, thread, "tcgen05.mma")
        self._after_products(ctas, parts, columns, thread, "tcgen05.mma")
        self.product[ctas, parts, columns], self.line[ctas, parts, columns] = self.products, self.findings.line
        self.issuer[ctas, parts, columns] = self.column(thread)

    def column(self, thread: int) -> int:
        """Return the column of `order.engine` that says which products of a thread have ended."""
        local = int(self.order.local[thread])
        column = self.order.column(("tcgen05.mma", local))
        self.issuers[column] = local
        return column

    def _after_products(self, ctas: Ints, parts: Ints, columns: Ints, thread: int, does: str) -> None:
        number, issuer = self.product[ctas, parts, columns], self.issuer[ctas, parts, columns]
        if does == "tcgen05.mma":  # products of one thread are made in their order
            number = np.where(issuer == self.column(thread), 0, number)
        if not number.any():
            return
        late = number > self.order.engine[thread, issuer]
        if late.any():
            line = int(self.line[ctas, parts, columns][late][0])
            text = f"{self.shared.who(thread)}: {does} of what the tcgen05.mma of line {line} writes, with no wait for "
            self.findings.add("tcgen05.mma not waited for", _severity(does), f"{text}its commit", ORDER)
            self.findings.loose.update(self.issuers[column] for column in sort_distinct(issuer[late]).tolist())
        elif (unfenced := number > self.fences.products_of(thread)[issuer]).any():
            line = int(self.line[ctas, parts, columns][unfenced][0])
            self._report_unfenced(thread, f"{does} after the tcgen05.mma of line {line}", "after_thread_sync")

    def _after(self, kinds: tuple[str, ...], ctas: Ints, parts: Ints, columns: Ints, thread: int, does: str) -> None:
        for what, group in product(kinds, range(self.groups)):
            place = ctas, parts, columns, group
            by, when = self.by[what][place], self.when[what][place]
            pending = (by >= 0) & (when == ALWAYS)
            if pending.any():
                ends = does == "tcgen05.dealloc"  # nothing of the CTA comes after it
                text = f"{self.shared.who(thread)}: {does} where a tcgen05.{what} was not waited for"
                self.findings.add(f"no tcgen05.wait::{what}", Severity.LETTER, text, ALLOCATION if ends else ORDER)
                if not ends:
                    self._loosen(by[pending])
                    continue
                when = np.where(pending, self.begun[what][place], when)
            known = self.order.known[thread, self.order.local[np.maximum(by, 0)]]
            if (apart := (by >= 0) & (by != thread) & (when > known)).any():
                text = (
                    f"{self.shared.who(thread)}: {does} where another warp's tcgen05.{what} was; nothing orders the two"
                )
                self.findings.add(f"after a tcgen05.{what}", _severity(does), text, ORDER)
                self._loosen(by[apart])
                continue
            for earlier, time in {*zip(by[by >= 0].tolist(), when[by >= 0].tolist(), strict=True)}:
                if missing := self.fences.missing(thread, earlier, time):
                    self._report_unfenced(thread, f"{does} after another warp's tcgen05.{what}", missing)

    def _loosen(self, warps: Ints) -> None:
        """Note that nothing orders an access after those of warps, by the first thread of each."""
        for first in sort_distinct(self.order.local[warps]).tolist():
            self.findings.loose.update(range(first, first + 32))

    def _report_unfenced(self, thread: int, what: str, fence: str) -> None:
        """Report a fence that is missing; a run with a claim takes them for granted."""
        if self.shared.values.opaque:
            text = f"{self.shared.who(thread)}: {what}, with a barrier between them and no tcgen05.fence::{fence}"
            self.findings.add("no tcgen05.fence", Severity.LETTER, text, FENCE)

    def consumes(self, cells: Ints, thread: int) -> None:
        """Note the cells of shared memory that a tcgen05.mma under way, which a thread has issued, reads."""
        late = self.shared.generic[cells]
        if late.any():
            cell = int(cells[late][0])
            text = (
                f"shared byte {self.shared.byte(cell)}, which {self.shared.who(int(self.order.writer[cell]))} wrote at "
            )
            text += f"line {self.order.write_line[cell]}, is read by tcgen05.mma with no fence.proxy.async between"
            self.findings.add("no proxy fence", Severity.LETTER, text, ORDER)
        mine = self.reading.setdefault(self.column(thread), np.zeros(len(self.order.writer), np.int64))
        mine[cells], self.reading_line[cells] = self.products, self.findings.line

    def report_writes(self, cells: Ints, who: Ints) -> None:
        """Report writes of cells that a tcgen05.mma may still read."""
        late: NDArray[np.bool_] = np.zeros(len(cells), bool)
        for column, reading in self.reading.items():
            apart = reading[cells] > self.order.engine[who, column]
            self.findings.loose |= {self.issuers[column]} if apart.any() else set()
            late |= apart
        if late.any():
            at = int(np.flatnonzero(late)[0])
            text = f"{self.shared.who(int(who[at]))} writes shared byte {self.shared.byte(int(cells[at]))}, which the "
            text += f"tcgen05.mma of line {self.reading_line[cells[at]]} may still read: no wait for its commit"
            self.findings.add("tcgen05.mma on its way", Severity.LETTER, text, ORDER)


def _severity(does: str) -> Severity:
    """How bad it is that nothing orders an instruction after others: another CTA may have what is deallocated."""
    return Severity.RACE if does == "tcgen05.dealloc" else Severity.LETTER
