# SPDX-License-Identifier: Apache-2.0
"""Shared memory: the label and the plain bits of every byte, and who may access it when.

`placement` says where its variables lie. Main declaration: `Shared`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verify.kernel.data.equal_values import NEARLY, find_equal, find_unknown, join_labels
from verify.kernel.data.histories import BEFORE
from verify.kernel.data.values import UNWRITTEN, Ids, Mask, Values
from verify.kernel.state.adders import KIND, keep_lost
from verify.kernel.state.copies import Copies, Ended, Octets
from verify.kernel.state.findings import Findings, Severity
from verify.kernel.state.order import NOBODY, SEVERAL, Ints, Order, name_cta
from verify.kernel.state.placement import SHARED_BASE, Placement

_NONE = np.zeros(1, bool)


def _runs(table: NDArray[Any], places: Ints) -> NDArray[Any]:
    """Return the entries of a table at runs of consecutive places: rows of it where they are aligned."""
    first, count = places[:, 0], places.shape[1]
    if len(table) % count or (first % count).any() or (places[:, -1] - first != count - 1).any():
        return np.asarray(table[places])
    return np.asarray(table.reshape(-1, count).take(first // count, 0))


class Shared:
    """The shared memory of the CTAs of a batch, one after the other."""

    def __init__(
        self, ctas: int, threads: int, placement: Placement, cell: int, values: Values, findings: Findings
    ) -> None:
        self.values = values
        self.placement, self.cell, self.threads, self.findings = placement, cell, threads, findings
        self.first, self.grid = 0, (1 << 30, 1, 1)  # the number of its first CTA, and the grid that it is of
        self.span = -(-placement.size // 16) * 16  # bytes of a CTA, its cells whole
        self.labels = np.full(ctas * self.span, UNWRITTEN << 3, np.uint32)
        self.plain = np.zeros(ctas * self.span, np.uint8)
        self.order = Order(ctas, threads, ctas * self.span // cell)
        self.copies: list[Copies] = []
        self.pending = np.zeros(ctas * self.span // cell, np.int32)  # the line of a copy on its way to a cell
        self.generic = np.zeros(ctas * self.span // cell, bool)  # written by threads since the last proxy fence
        self.loads = False  # whether the copy engine has written
        self.loaded = np.zeros(ctas * self.span // cell, np.int32)  # its time when it last wrote a cell
        self.loaded_by = np.zeros(ctas * self.span // cell, np.int32)  # the column of `order.engine` that tells of it
        self.load_line = np.zeros(ctas * self.span // cell, np.int32)
        self.counted: set[int] = set()  # of these lines, those of cp.async that an mbarrier counts
        self.held = np.zeros(ctas * self.span // cell, np.int32)  # the line of the mbarrier to which a cell belongs
        self.holds = False  # whether a cell ever belonged to one
        self.nearly: Mask = np.zeros(0, bool)  # accesses of values that are equal, at least before they are rounded
        self.maybe: Mask = np.zeros(0, bool)  # accesses of values that may be equal: one of them has no meaning
        self.written: Callable[[Ints, Ints], None] | None = None  # gets the cells of each write, and their threads

    def places(self, addresses: Ints, threads: Ints, count: int) -> Ints:
        """Return the bytes (threads, count) of accesses; one outside is reported, and moved to some that are there."""
        room = self.placement.surrounding(addresses, count)  # most accesses of a kernel lie in one variable
        outside = self.placement.outside(addresses, count) if room is None else _NONE
        if outside.any():
            who, address = int(threads[outside][0]), int(np.int32(np.uint32(addresses[outside][0] & 0xFFFFFFFF)))
            text = f"{self.who(who)}: bytes {address} to {address + count - 1} of shared memory, "
            self.findings.add("shared memory out of bounds", Severity.MEMORY, text + self.placement.near(address))
            addresses = np.where(outside, SHARED_BASE, addresses)  # the run goes on, to find what else is wrong
        if count & (count - 1) == 0 and (addresses & (count - 1)).any():
            odd = np.flatnonzero(addresses & (count - 1))[0]
            text = f"{self.who(int(threads[odd]))}: shared address {int(addresses[odd])} of an access of {count} bytes"
            self.findings.add("misaligned access", Severity.MEMORY, text)
        elif lucky := self.placement.lucky(addresses, count, room):
            text = f"{self.who(int(threads[0]))}: an access of {count} bytes of {lucky}: that it is aligned rests on "
            self.findings.add("alignment by placement", Severity.LETTER, f"{text}where the variable is placed", "5.4.5")
        within = addresses[:, None] + np.arange(count)
        if outside.any():
            within = np.minimum(within, self.span - 1)
        return (threads // self.threads * self.span)[:, None] + within

    def who(self, thread: int) -> str:
        """Return a thread in words."""
        return f"{self.name_cta(thread // self.threads)}, thread {thread % self.threads}"

    def name_cta(self, number: int) -> str:
        """Return a CTA of the batch by its coordinates in the grid."""
        return name_cta(self.first + number, self.grid)

    def watch_writes(self, watch: Callable[[Ints, Ints], None]) -> None:
        """Have a function called with the cells of each write and their threads, after those that were given before."""
        before = self.written

        def report_write(cells: Ints, who: Ints) -> None:
            if before is not None:
                before(cells, who)
            watch(cells, who)

        self.written = watch if before is None else report_write

    def _cells(self, places: Ints, threads: Ints) -> tuple[Ints, Ints]:
        """Return the cells (flat) of accesses, and the thread of each."""
        cells = places[:, :: self.cell] // self.cell
        return cells.ravel(), np.repeat(threads, cells.shape[1])

    def load(self, places: Ints, threads: Ints) -> tuple[Ids, Octets]:
        """Return the labels and plain bytes (threads, count); races and memory that nobody wrote are reported."""
        cells, who = self._cells(places, threads)
        self.check_read(cells, who)
        labels = _runs(self.labels, places)
        self.order.note_read(cells, who, self.findings.line)
        return self.mark_unwritten(places, threads, labels), _runs(self.plain, places)

    def mark_unwritten(self, places: Ints, threads: Ints, labels: Ids) -> Ids:
        """Labels in which bytes that nobody wrote say so."""
        empty = labels == (UNWRITTEN << 3)
        if empty.any():
            row, column = (int(indices[0]) for indices in np.nonzero(empty))
            byte = self.placement.spell(int(places[row, column]) % self.span)
            text = f"{self.who(int(threads[row]))} reads from shared byte {byte}, which nobody has written"
            labels[empty] = self.values.nowhere(text) << 3
        return labels

    def check_read(self, cells: Ints, who: Ints) -> None:
        """Report reads of cells by threads that nothing orders after the writes of others."""
        late = self.order.unordered_write(cells, who)
        if late is not None and self.findings.new("race: read after write"):
            order = self.order
            self._race("read after write", "reads", "wrote", cells, who, late, order.writer, order.write_line)
        self._check_others(cells, who, "reads", plain=True)
        if self.copies and self.pending[cells].any():
            at = int(np.flatnonzero(self.pending[cells])[0])
            text = (
                f"{self.who(int(who[at]))} reads shared byte {self.byte(int(cells[at]))}, into which the cp.async of "
            )
            text += f"line {self.pending[cells[at]]} copies; nobody has waited for it"
            self.findings.add("cp.async not waited for", Severity.RACE, text, "9.7.9.25.3.3")

    def byte(self, cell: int) -> str:
        """Return the shared address of a cell, and where that is in its variable."""
        return self.placement.spell(cell * self.cell % self.span)

    def _race(  # noqa: PLR0913, PLR0917 - what the sentence has
        self, kind: str, does: str, did: str, cells: Ints, who: Ints, where: Mask, last: NDArray[np.int32],
        lines: NDArray[np.int32], severity: Severity = Severity.RACE,
    ) -> None:  # fmt: skip
        at = int(np.flatnonzero(where)[0])
        cell, thread = int(cells[at]), int(last[cells[at]])
        by = f"thread {thread % self.threads}" if thread >= 0 else "several threads"
        text = (
            f"{self.who(int(who[at]))} {does} shared byte {self.byte(cell)}, which {by} {did} at line {lines[cell]}; "
        )
        text += f"nothing orders the two ({int(where.sum())} such accesses in this instruction)"
        self.findings.add(f"race: {kind}", severity, text, "8.7.1")

    def _check_others(self, cells: Ints, who: Ints, verb: str, *, plain: bool) -> None:
        """Report accesses of what mbarriers, the copy engine or atomic operations have, if the kernel has any."""
        if plain and self.order.adds:  # atomic operations don't race with each other
            self._check_added(cells, who, verb)
        if self.holds:
            self._check_held(cells, who, verb)
        if self.loads:
            self._check_loaded(cells, who, verb)

    def _check_added(self, cells: Ints, who: Ints, verb: str) -> None:
        """Report plain accesses of cells that other threads change by an atomic operation, with nothing between."""
        late = self.order.unordered_atomic(cells, who)
        if late is not None:
            at = int(np.flatnonzero(late)[0])
            text = (
                f"{self.who(int(who[at]))} {verb} shared byte {self.byte(int(cells[at]))}, which other threads change "
            )
            self.findings.add(KIND, Severity.RACE, f"{text}atomically; nothing orders the two")

    def add_atomically(self, cells: Ints, who: Ints) -> None:
        """Note an atomic operation; report plain accesses of other threads that nothing orders before it."""
        order = self.order
        self._check_others(cells, who, "changes", plain=False)
        early, late = order.unordered_read(cells, who), order.unordered_write(cells, who)
        read = early[0] | early[1] if early is not None else None
        for where, did, last in ((late, "wrote", order.writer), (read, "read", order.reader)):
            if where is not None:
                lines = order.write_line if did == "wrote" else order.read_line
                self._race(KIND.removeprefix("race: "), "changes", did, cells, who, where, last, lines)
        if self.copies and self.pending[cells].any():
            text = f"an atomic operation where the cp.async of line {int(self.pending[cells].max())} still copies"
            self.findings.add("cp.async not waited for", Severity.RACE, text, "9.7.9.25.3.3")
        if self.written is not None:
            self.written(cells, who)
        self.generic[cells] = True  # as a plain write: the copy engine sees it behind a proxy fence alone
        order.note_atomic(cells, who)

    def write_anywhere(self, places: Ints, cells: Ints, who: Ints, label: int, maybe: int = 0) -> None:
        """Write any of some bytes by each of some threads, for every thread and cell that may meet."""
        self.claim_write(cells, who)
        self.write_labels(places, label, maybe)
        self.generic[cells] = True
        self.order.note_write(cells, who, self.findings.line)

    def write_labels(self, places: Ints, label: int, maybe: int = 0) -> None:
        """Put data with a label where a write may happen; what nobody wrote stays so, or is `maybe` written."""
        self.labels[places] = keep_lost(self.labels[places], np.full(len(places), label, np.uint32), maybe)
        self.plain[places] = 0

    def claim_write(self, cells: Ints, who: Ints, same: Callable[[], Mask] | None = None) -> Mask | None:
        """Report what a write, or the start of a copy, is not ordered after.

        `same` finds the cells that hold equal values; return those of them that another thread wrote, unordered.
        """
        order = self.order
        self._check_others(cells, who, "writes", plain=True)
        late = order.unordered_write(cells, who, beside=True)
        equal: Mask | None = np.logical_and(late, same()) if late is not None and same is not None else None
        if late is not None:
            self._twice(cells, who, late, equal, "wrote")
        early = order.unordered_read(cells, who)
        if early is not None:
            certain, perhaps = early
            severity = Severity.RACE if certain.any() else Severity.UNKNOWN
            where = certain if certain.any() else perhaps
            self._race("write after read", "writes", "read", cells, who, where, order.reader, order.read_line, severity)
        if self.copies and self.pending[cells].any():
            line = int(self.pending[cells].max())
            text = f"{self.who(int(who[0]))} writes shared memory into which the cp.async of line {line} still copies"
            self.findings.add("cp.async not waited for", Severity.RACE, text, "9.7.9.25.3.3")
        if self.written is not None:
            self.written(cells, who)
        return equal

    def write(self, places: Ints, threads: Ints, labels: Ids, plain: Octets) -> None:
        """Write labels and plain bytes (threads, count)."""
        cells, who = self._cells(places, threads)
        each = len(cells) // max(len(places), 1)
        equal = self.claim_write(cells, who, lambda: self._same(places, labels, plain).repeat(each))
        if equal is not None:
            where = np.asarray(equal.reshape(len(places), each).any(1)) & self._same(places, labels, plain)
            labels = join_labels(self.values, self.labels[places], labels, where[:, None])
        self.labels[places] = labels
        self.plain[places] = plain
        self.generic[cells] = True
        double = self.order.note_write(cells, who, self.findings.line, equal)
        if double is not None:
            self._join_double(places, cells, who, labels, plain, double)

    def _join_double(self, places: Ints, cells: Ints, who: Ints, labels: Ids, plain: Octets, double: Mask) -> None:
        """Report what several threads of one instruction wrote; where it is equal, a byte has the histories of all."""
        same = self._same(places, labels, plain)
        self._twice(cells, who, double, double & same.repeat(len(cells) // len(places)), "writes")
        joined = join_labels(self.values, self.labels[places], labels, same[:, None])
        changed = np.flatnonzero((joined != labels).any(1))
        self.labels[places[changed]] = joined[changed]

    def _same(self, places: Ints, labels: Ids, plain: Octets) -> Mask:
        """Find the accesses whose bytes hold equal values already, or the same bits."""
        bits = self.plain[places] == plain
        same = np.asarray((find_equal(self.values, self.labels[places], labels) & bits).all(1))
        self.nearly = self.maybe = same
        if not same.all():  # as warps do that compute the same
            near = find_equal(self.values, self.labels[places], labels, BEFORE) & bits
            self.nearly = np.asarray(near.all(1))
            self.maybe = np.asarray((near | find_unknown(self.values, self.labels[places], labels)).all(1))
        return same

    def _twice(self, cells: Ints, who: Ints, where: Mask, equal: Mask | None, did: str) -> None:
        """Report writes that nothing orders: all of equal values, or those that are not."""
        alike = equal is not None and bool(equal[where].all())
        severity, kind = (Severity.EQUAL, "write of equal values") if alike else (Severity.RACE, "write after write")
        kinds = ((self.nearly, NEARLY), (self.maybe, "write of values that have no meaning"))
        for like, name in kinds if equal is not None and not alike else ():
            if like.repeat(len(where) // max(len(like), 1))[where].all():
                severity, kind = Severity.UNKNOWN, name
                break
        shown, last = where if alike or equal is None else where & ~equal, self.order.writer
        if did == "wrote":
            last = np.where(self.order.several, np.int32(SEVERAL), last)
        self._race(kind, "writes", did, cells, who, shown, last, self.order.write_line, severity)

    def hold(self, address: int, thread: int, line: int) -> None:
        """Give 8 bytes of a thread's CTA to an mbarrier, by the line that initialises it; 0 takes them back."""
        first = thread // self.threads * self.span + address
        cells = np.arange(first // self.cell, (first + 7) // self.cell + 1)
        self.held[cells] = 0  # the initialisation itself is a write of them, and so is the end
        self.claim_write(cells, np.full(len(cells), thread))
        self.order.note_write(cells, np.full(len(cells), thread), self.findings.line)
        self.held[cells], self.holds = line, True

    def _check_held(self, cells: Ints, who: Ints, verb: str) -> None:
        """Report accesses of what belongs to an mbarrier."""
        held = self.held[cells]
        if held.any():
            at = int(held.argmax())
            text = f"{self.who(int(who[at]))} {verb} shared byte {self.byte(int(cells[at]))}, which belongs to the "
            text += f"mbarrier that line {held[at]} initialises"
            self.findings.add("access of an mbarrier", Severity.MEMORY, text, "9.7.13.15.1")

    def _check_loaded(self, cells: Ints, who: Ints, verb: str) -> None:
        """Report cells that the copy engine writes without the thread having waited for it."""
        late = self.loaded[cells] > self.order.engine[who, self.loaded_by[cells]]
        if late.any():
            at = int(np.flatnonzero(late)[0])
            load, line = self.name_load(int(cells[at]))
            text = f"{self.who(int(who[at]))} {verb} shared byte {self.byte(int(cells[at]))}, which the {load} of line "
            text += f"{line} fills, and has not waited for its mbarrier"
            self.findings.add(f"{load} not waited for", Severity.RACE, text, "9.7.9.25.1.2")

    def name_load(self, cell: int) -> tuple[str, int]:
        """Return what last filled a cell that a phase of an mbarrier counts, in words, and its line."""
        line = int(self.load_line[cell])
        return "cp.async" if line in self.counted else "tensor load", line

    def report_left(self) -> None:
        """Report what the copy engine loads for a CTA that has ended, none of whose threads has waited for it."""
        if not self.loads:
            return
        # One thread that has waited is enough: the CTA had not ended before it did.
        known = self.order.engine.reshape(-1, self.threads, self.order.engine.shape[1]).max(1)
        ctas = np.repeat(np.arange(len(known)), len(self.loaded) // len(known))
        late = np.flatnonzero(self.loaded > known[ctas, self.loaded_by])
        if late.size:
            cell = int(late[0])
            text = f"{self.name_cta(cell * self.cell // self.span)} ends, and no thread has waited for the load into "
            text += f"shared byte {self.byte(cell)} of line {self.load_line[cell]}: it may be of another CTA by then"
            self.findings.add("tensor load on its way", Severity.LETTER, text, "9.7.9.25.5.2")

    def load_by_engine(self, places: Ints, thread: int, labels: Ids, plain: Octets, column: int, time: int) -> None:
        """Write what the copy engine loads for a thread; the others know of it by the time of its column alone."""
        cells, who = self._cells(places, np.full(len(places), thread))
        self.claim_write(cells, who)
        self.labels[places], self.plain[places] = labels, plain
        # No thread has written it: the clocks of threads say nothing of it, and the time of the engine's column does.
        # It went through the async proxy, so the engine needs no fence to see it.
        self.generic[cells], self.order.writer[cells] = False, NOBODY
        self.loaded[cells], self.loaded_by[cells] = time, column
        self.load_line[cells], self.loads = self.findings.line, True

    def start_copy(
        self, places: Ints, threads: Ints, labels: Ids, plain: Octets, group: Ints, ends: list[Ended]
    ) -> None:
        """Start an asynchronous copy by threads; it arrives when they have waited for its group."""
        cells, who = self._cells(places, threads)
        self.claim_write(cells, who)
        line, each = self.findings.line, cells.reshape(len(threads), -1)
        # If a cell is in the list twice, numpy keeps one of its numbers: another number that comes back says that two
        # threads copy there, which is reported now. Other copies count as writes when they arrive (`finish_copies`).
        self.pending[cells] = np.arange(len(cells))
        if (self.pending[cells] != np.arange(len(cells))).any() and (
            double := self.order.note_write(cells, who, line)
        ) is not None:
            self.labels[places], self.plain[places] = labels, plain
            self._join_double(places, cells, who, labels, plain, double)
            labels = self.labels[places]
        self.pending[cells] = line
        # Until it arrives the bytes are the old ones, the new ones or a mixture: nothing may be computed with them.
        self.labels[places] = UNWRITTEN << 3
        self.copies.append(Copies(threads, each, places, labels, plain, group, line, np.ones(len(threads), bool), ends))

    def finish_copies(self, waiting: Mask, below: Ints) -> None:
        """Let the copies of waiting threads arrive whose group is below each thread's limit."""
        for copy in self.copies:
            done = copy.open & waiting[copy.threads] & (copy.group < below[copy.threads])
            if not done.any():
                continue
            copy.open &= ~done
            if copy.counted is not None:
                where = copy.threads[done], copy.counted[0][done]
                self.order.engine[where] = np.maximum(self.order.engine[where], copy.counted[1])
                continue
            cells = self._arrive(copy, done)
            who, flat = np.repeat(copy.threads[done], cells.shape[1]), cells.ravel()
            beside = self.order.unordered_write(flat, who, beside=True) if self.order.beside else None
            self.order.note_write(flat, who, copy.line, beside)
            self._tell_sources(copy, done)
        self.copies = [copy for copy in self.copies if copy.open.any()]
        if self.order.beside:
            for copy in self.copies:  # the other one of two to the same cells
                if copy.counted is None:
                    self.pending[copy.cells[copy.open]] = copy.line

    def _arrive(self, copy: Copies, done: Mask) -> Ints:
        """Put the bytes of some threads of a copy where they go; return their cells."""
        places, cells = copy.places[done], copy.cells[done]
        self.labels[places], self.plain[places] = copy.labels[done], copy.plain[done]
        self.pending[cells], self.generic[cells] = 0, True
        return cells

    def _tell_sources(self, copy: Copies, done: Mask, counted: tuple[int, int] | None = None) -> None:
        """Tell the arrays from which a copy came that some of its threads' bytes are there."""
        if copy.sources:
            ended = np.zeros(len(self.order.known), bool)
            ended[copy.threads[done]] = True
            for tell in copy.sources:
                tell(ended, counted)

    def count_copies(self, members: Ints, column: int, time: int) -> tuple[int, NDArray[np.int32]]:
        """Let an mbarrier count the copies of threads that are on their way, as ones of its column after a time.

        Each thread has a column of its own besides, since it may wait for its copies alone. Returns the last time, and
        the clock of who knows that these copies have ended.
        """
        columns = np.zeros(len(self.order.known), np.int64)
        columns[members] = [self.order.column(("copies", thread)) for thread in self.order.local[members].tolist()]
        for copy in [*self.copies]:
            here = copy.open & np.isin(copy.threads, members)
            if copy.counted is not None or not here.any():
                continue
            time += 1
            cells, mine = self._arrive(copy, here), columns[copy.threads[here]]
            self.order.writer[cells], self.loaded[cells], self.loaded_by[cells] = NOBODY, time, mine[:, None]
            self.load_line[cells], self.loads = copy.line, True
            self.counted.add(copy.line)
            self._tell_sources(copy, here, (column, time))
            copy.open &= ~here
            threads, places, group = copy.threads[here], copy.places[here], copy.group[here]
            bytes_ = copy.labels[here], copy.plain[here]
            there = np.ones(len(mine), bool)
            self.copies.append(Copies(threads, cells, places, *bytes_, group, copy.line, there, [], (mine, time)))
        return time, self.order.end_clock(np.append(columns[members], column), time)
