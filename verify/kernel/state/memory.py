# SPDX-License-Identifier: Apache-2.0
"""Shared memory and the arrays in global memory: the label and the plain bits of every byte.

Addresses: array i of the claim starts at (i + 1) << 40; generic addresses have windows of their own for
shared and local memory. Shared memory starts at 1024, so that an address is not taken for the number 0. Main
declarations: `Shared`, `Global`, and an array's `Region` with what is `Stored` in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from verify.kernel.data.values import OUTSIDE, UNWRITTEN, Bits, Ids, Mask, Values
from verify.kernel.state.findings import Findings, Severity, Unclear
from verify.kernel.state.order import NOBODY, Ints, Order

if TYPE_CHECKING:
    from verify.kernel.claims.launch import Array

SHARED_BASE = 1024
MAX_SHARED = 1 << 19  # bytes of a CTA, more than any GPU has
PARAMETER_ROOM = 20  # bits of an address within one parameter
WINDOW = 40  # bits of an address within its window
SHARED_WINDOW, LOCAL_WINDOW, PARAMETER_WINDOW, MODULE_WINDOW = 200, 201, 202, 203
Octets = NDArray[np.uint8]
Numbers = NDArray[np.int32]


def different(numbers: Ints) -> list[int]:
    """The different ones of some numbers; mostly there is one."""
    if len(numbers) and (numbers == numbers[0]).all():
        return [int(numbers[0])]
    found: list[int] = np.unique(numbers).tolist()
    return found


def _runs(table: NDArray[Any], places: Ints) -> NDArray[Any]:
    """The entries of a table at runs of consecutive places: rows of it where they are aligned."""
    first, count = places[:, 0], places.shape[1]
    if len(table) % count or (first % count).any() or (places[:, -1] - first != count - 1).any():
        return np.asarray(table[places])
    return np.asarray(table.reshape(-1, count).take(first // count, 0))


@dataclass(slots=True)
class Copies:
    """One cp.async of some threads: on its way until each has waited for its group."""

    threads: Ints  # that started it
    cells: Ints  # (threads, cells of each)
    places: Ints  # (threads, bytes of each)
    labels: Ids  # of those bytes when they arrive
    plain: Octets  # and their plain bits
    group: Ints  # of each thread
    line: int  # of the instruction
    open: Mask  # which threads' bytes are still on their way


class Shared:
    """The shared memory of the CTAs of a batch, one after the other."""

    def __init__(self, ctas: int, threads: int, size: int, cell: int, findings: Findings) -> None:
        self.size, self.cell, self.threads, self.findings = size, cell, threads, findings
        self.span = -(-size // 16) * 16  # bytes of a CTA, its cells whole
        self.labels = np.full(ctas * self.span, UNWRITTEN << 3, np.uint32)
        self.plain = np.zeros(ctas * self.span, np.uint8)
        self.order = Order(ctas, threads, ctas * self.span // cell)
        self.copies: list[Copies] = []
        self.pending = np.zeros(ctas * self.span // cell, np.int32)  # the line of a copy on its way to a cell
        self.generic = np.zeros(ctas * self.span // cell, bool)  # written by threads since the last proxy fence
        self.nowhere: Callable[[str], int] = lambda text: UNWRITTEN  # the id of bytes that nobody wrote
        self.loads = False  # whether the copy engine has written
        self.loaded = np.zeros(ctas * self.span // cell, np.int32)  # its time when it last wrote a cell
        self.load_line = np.zeros(ctas * self.span // cell, np.int32)
        self.written: Callable[[Ints, Ints], None] | None = None  # gets the cells of each write, and their threads

    def places(self, addresses: Ints, threads: Ints, count: int) -> Ints:
        """The bytes (threads, count) of accesses; an access outside is reported, and moved to some that are there."""
        outside = (addresses < SHARED_BASE) | (addresses + count > self.size)
        if outside.any():
            who = int(threads[outside][0])
            address, room = int(addresses[outside][0]), f"{SHARED_BASE} to {self.size - 1}"
            text = f"{self.who(who)}: bytes {address} to {address + count - 1} of shared memory, which has {room}"
            self.findings.add("shared memory out of bounds", Severity.MEMORY, text)
            addresses = np.where(outside, SHARED_BASE, addresses)
        if count & (count - 1) == 0 and (addresses & (count - 1)).any():
            odd = np.flatnonzero(addresses & (count - 1))[0]
            text = f"{self.who(int(threads[odd]))}: shared address {int(addresses[odd])} of an access of {count} bytes"
            self.findings.add("misaligned access", Severity.MEMORY, text)
        within = addresses[:, None] + np.arange(count)
        if outside.any():
            within = np.minimum(within, self.span - 1)
        return (threads // self.threads * self.span)[:, None] + within

    def who(self, thread: int) -> str:
        """A thread in words."""
        return f"CTA {thread // self.threads} of this batch, thread {thread % self.threads}"

    def _cells(self, places: Ints, threads: Ints) -> tuple[Ints, Ints]:
        """The cells (flat) of accesses, and the thread of each."""
        cells = places[:, :: self.cell] // self.cell
        return cells.ravel(), np.repeat(threads, cells.shape[1])

    def read(self, places: Ints, threads: Ints) -> tuple[Ids, Octets]:
        """The labels and plain bytes (threads, count); races and memory that nobody wrote are reported."""
        cells, who = self._cells(places, threads)
        self.check_read(cells, who)
        labels = _runs(self.labels, places)
        self.order.note_read(cells, who, self.findings.line)
        return self.named(places, threads, labels), _runs(self.plain, places)

    def named(self, places: Ints, threads: Ints, labels: Ids) -> Ids:
        """Labels in which bytes that nobody wrote say so."""
        empty = labels == (UNWRITTEN << 3)
        if empty.any():
            row, column = (int(one[0]) for one in np.nonzero(empty))
            byte = int(places[row, column]) % self.span
            text = f"{self.who(int(threads[row]))} reads from shared byte {byte}, which nobody has written"
            labels[empty] = self.nowhere(text) << 3
        return labels

    def check_read(self, cells: Ints, who: Ints) -> None:
        """Report reads of cells by threads that nothing orders after the writes of others."""
        late = self.order.unordered_write(cells, who)
        if late is not None and self.findings.new("race: read after write"):
            order = self.order
            self._race("read after write", "reads", "wrote", cells, who, late, order.writer, order.write_line)
        self._check_loaded(cells, who, "reads")
        if self.copies and self.pending[cells].any():
            at = int(np.flatnonzero(self.pending[cells])[0])
            text = (
                f"{self.who(int(who[at]))} reads shared byte {self.byte(int(cells[at]))}, into which the cp.async of "
            )
            text += f"line {self.pending[cells[at]]} copies; nobody has waited for it"
            self.findings.add("cp.async not waited for", Severity.RACE, text, "9.7.9.25.3.3")

    def byte(self, cell: int) -> int:
        """The shared address of a cell."""
        return cell * self.cell % self.span

    def _race(  # noqa: PLR0913, PLR0917 - what the sentence has
        self, kind: str, does: str, did: str, cells: Ints, who: Ints, where: Mask, other: NDArray[np.int32],
        lines: NDArray[np.int32], severity: Severity = Severity.RACE,
    ) -> None:  # fmt: skip
        at = int(np.flatnonzero(where)[0])
        cell, thread = int(cells[at]), int(other[cells[at]])
        by = f"thread {thread % self.threads}" if thread >= 0 else "several threads"
        text = (
            f"{self.who(int(who[at]))} {does} shared byte {self.byte(cell)}, which {by} {did} at line {lines[cell]}; "
        )
        text += f"nothing orders the two ({int(where.sum())} such accesses in this instruction)"
        self.findings.add(f"race: {kind}", severity, text, "8.7.1")

    def claim_write(self, cells: Ints, who: Ints) -> None:
        """Report what a write, or the start of a copy, is not ordered after."""
        order = self.order
        self._check_loaded(cells, who, "writes")
        late = order.unordered_write(cells, who)
        if late is not None:
            self._race("write after write", "writes", "wrote", cells, who, late, order.writer, order.write_line)
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

    def write(self, places: Ints, threads: Ints, labels: Ids, plain: Octets) -> None:
        """Write labels and plain bytes (threads, count)."""
        cells, who = self._cells(places, threads)
        self.claim_write(cells, who)
        self.labels[places] = labels
        self.plain[places] = plain
        self.generic[cells] = True
        double = self.order.note_write(cells, who, self.findings.line)
        if double is not None:
            same = (self.labels[places] == labels).all() and (self.plain[places] == plain).all()
            severity = Severity.EQUAL if same else Severity.RACE
            kind = "write of equal values" if same else "write after write"
            order = self.order
            self._race(kind, "writes", "writes", cells, who, double, order.writer, order.write_line, severity)

    def _check_loaded(self, cells: Ints, who: Ints, verb: str) -> None:
        """Report cells that the copy engine writes without the thread having waited for it."""
        late = self.loaded[cells] > self.order.engine[who] if self.loads else None
        if late is not None and late.any():
            at = int(np.flatnonzero(late)[0])
            text = f"{self.who(int(who[at]))} {verb} shared byte {self.byte(int(cells[at]))}, which the tensor load of "
            text += f"line {self.load_line[cells[at]]} fills, and has not waited for its mbarrier"
            self.findings.add("tensor load not waited for", Severity.RACE, text, "9.7.9.25.1.2")

    def left(self) -> None:
        """Report what the copy engine loads for a CTA that has ended, none of whose threads has waited for it."""
        known = self.order.engine.reshape(-1, self.threads).max(1)
        late = np.flatnonzero(self.loaded > np.repeat(known, len(self.loaded) // len(known)))
        if late.size:
            cell = int(late[0])
            text = (
                f"CTA {cell * self.cell // self.span} of this batch ends, and no thread has waited for the load into "
            )
            text += f"shared byte {self.byte(cell)} of line {self.load_line[cell]}: it may be of another CTA by then"
            self.findings.add("tensor load on its way", Severity.LETTER, text, "9.7.9.25.5.2")

    def load_by_engine(self, places: Ints, thread: int, labels: Ids, plain: Octets, time: int) -> None:
        """Write what the copy engine loads for a thread; the others know of it by the engine's time alone."""
        cells, who = self._cells(places, np.full(len(places), thread))
        self.claim_write(cells, who)
        self.labels[places], self.plain[places] = labels, plain
        self.generic[cells], self.order.writer[cells] = False, NOBODY
        self.loaded[cells], self.load_line[cells], self.loads = time, self.findings.line, True

    def start_copy(self, places: Ints, threads: Ints, labels: Ids, plain: Octets, group: Ints) -> None:
        """Start an asynchronous copy by threads; it arrives when they have waited for its group."""
        cells, who = self._cells(places, threads)
        self.claim_write(cells, who)
        line, each = self.findings.line, cells.reshape(len(threads), -1)
        self.pending[cells] = line
        self.labels[places] = UNWRITTEN << 3
        self.copies.append(Copies(threads, each, places, labels, plain, group, line, np.ones(len(threads), bool)))

    def finish_copies(self, waiting: Mask, below: Ints) -> None:
        """Let the copies of waiting threads arrive whose group is below each thread's limit."""
        for copy in self.copies:
            done = copy.open & waiting[copy.threads] & (copy.group < below[copy.threads])
            if not done.any():
                continue
            copy.open &= ~done
            places, cells = copy.places[done], copy.cells[done]
            self.labels[places], self.plain[places] = copy.labels[done], copy.plain[done]
            self.pending[cells], self.generic[cells] = 0, True
            who = np.repeat(copy.threads[done], cells.shape[1])
            self.order.note_write(cells.ravel(), who, copy.line)
        self.copies = [copy for copy in self.copies if copy.open.any()]


@dataclass(slots=True)
class Stored:
    """An array of global memory that the kernel may write."""

    labels: Ids  # of every byte
    plain: Octets  # and its plain bits
    writer: Numbers  # the thread of the grid that last wrote a byte, -1 for none
    written: Numbers  # when, in the time of its batch
    atomic: Mask  # whether that was an atomic operation
    reader: Numbers  # the thread of the grid that last read a byte, -1 for none, -2 for several of one CTA, -3 for more
    read: Numbers  # when
    reader_cta: Numbers  # its CTA


@dataclass(slots=True)
class Region:
    """An array of the claim in global memory."""

    array: Array  # of the claim
    first: int  # the id of its first element
    elements: NDArray[np.int64]  # of each place its element, -1 for padding
    places: NDArray[np.int64]  # and back
    size: int  # bytes of an element
    number: int  # of the array in the claim
    stored: Stored | None = None  # its bytes, if the kernel may write it


class Global:
    """Global memory: the arrays of the claim."""

    def __init__(self, arrays: Sequence[Region], values: Values, findings: Findings) -> None:
        self.arrays, self.values, self.findings = arrays, values, findings
        self.order: Order | None = None
        self.base, self.threads = 0, 1  # the grid's number of a batch's first thread; threads of a CTA

    def _found(self, addresses: Bits, threads: Ints, count: int, verb: str) -> Iterator[tuple[Region, Mask, Ints]]:
        """By array: which accesses go there, and the offsets in bytes of those."""
        which = (addresses >> np.uint64(WINDOW)).astype(np.int64) - 1
        offsets = (addresses & np.uint64((1 << WINDOW) - 1)).astype(np.int64)
        for number in different(which):
            here = which == number
            if number == MODULE_WINDOW - 1:
                raise Unclear(self.findings.line, "no meaning for what a variable of the module holds")
            if not 0 <= number < len(self.arrays):
                address = int(addresses[here][0])
                text = f"{self.who(int(threads[here][0]))} {verb} address {address:#x}, which is in no array"
                self.findings.add("global memory out of bounds", Severity.MEMORY, text)
                continue
            region, offset = self.arrays[number], offsets[here]
            offset = np.where(offset >= 1 << (WINDOW - 1), offset - (1 << WINDOW), offset)
            if count & (count - 1) == 0 and (offset & (count - 1)).any():
                odd = int(np.flatnonzero(offset & (count - 1))[0])
                text = (
                    f"{self.who(int(threads[here][odd]))}: byte {int(offset[odd])} of {region.array.name}, for {count}"
                )
                self.findings.add("misaligned access", Severity.MEMORY, f"{text} bytes at once")
            yield region, here, offset

    def who(self, thread: int) -> str:
        """A thread of the grid in words."""
        whole = thread + self.base
        return f"CTA {whole // self.threads}, thread {whole % self.threads}"

    def _elements(self, region: Region, offset: Ints, count: int, threads: Ints, verb: str) -> Ints:
        """The element of each byte (threads, count), -1 outside; an access outside is reported."""
        place = (offset[:, None] + np.arange(count)) // region.size
        inside = (place >= 0) & (place < len(region.elements))
        found = region.elements.take(place, mode="clip")
        if not inside.all():
            found = np.where(inside, found, -1)
        if (found < 0).any():
            row, column = (int(one[0]) for one in np.nonzero(found < 0))
            many = int((found < 0).any(1).sum())
            where = region.array.where(int(place[row, column]))
            text = f"{self.who(int(threads[row]))} {verb} {where}; {many} threads of this instruction do so"
            self.findings.add("global memory out of bounds", Severity.MEMORY, text)
        return found

    def read(self, addresses: Bits, threads: Ints, count: int) -> tuple[Ids, Octets]:
        """The labels and plain bytes (threads, count)."""
        labels = np.full((len(threads), count), OUTSIDE << 3, np.uint32)
        plain = np.zeros((len(threads), count), np.uint8)
        for region, here, offset in self._found(addresses, threads, count, "reads"):
            element = self._elements(region, offset, count, threads[here], "reads")
            inside = element >= 0
            if region.stored is None:
                byte = (offset[:, None] + np.arange(count)) % region.size
                label = ((element + region.first) << 3) + byte
                labels[here] = np.where(inside, label, OUTSIDE << 3)
                continue
            place = np.where(inside, offset[:, None] + np.arange(count), 0)
            self._check_read(region, region.stored, place, threads[here])
            self._note_read(region.stored, place, threads[here])
            labels[here] = np.where(inside, region.stored.labels[place], OUTSIDE << 3)
            plain[here] = region.stored.plain[place]
        return labels, plain

    def _others(self, stored: Stored, place: Ints, threads: Ints) -> Mask:
        """Where another thread wrote a byte, and nothing orders that before what a thread does now."""
        writer, mine = stored.writer[place], (threads + self.base)[:, None]
        other: Mask = (writer >= 0) & (writer != mine)
        if other.any() and self.order is not None:
            same = other & (writer // self.threads == mine // self.threads)
            known = self.order.known[threads[:, None], np.where(same, writer % self.threads, 0)]
            known = np.where(stored.atomic[place], self.order.floor[threads][:, None], known)  # several may have added
            other = other & ~(same & (stored.written[place] <= known))
        return other

    def _check_read(self, region: Region, stored: Stored, place: Ints, threads: Ints) -> None:
        other = self._others(stored, place, threads)
        if other.any():
            row, column = (int(one[0]) for one in np.nonzero(other))
            where = region.array.where(int(place[row, column]) // region.size)
            by = int(stored.writer[place[row, column]])
            text = f"{self.who(int(threads[row]))} reads {where}, which thread {by % self.threads} of CTA "
            text += f"{by // self.threads} wrote; nothing orders the two"
            self.findings.add("race: read after write in global memory", Severity.RACE, text)

    def _note_read(self, stored: Stored, place: Ints, threads: Ints) -> None:
        """Remember reads of an array that is written too."""
        mine = np.broadcast_to((threads + self.base)[:, None], place.shape)
        cta, before, old = mine // self.threads, stored.reader_cta[place], stored.reader[place]
        stored.reader[place] = np.where(
            (before >= 0) & (before != cta), -3, np.where((old == -1) | (old == mine), mine, np.minimum(old, -2))
        )
        double = (stored.reader[place] >= 0) & (stored.reader[place] != mine)
        stored.reader[place[double]] = -2
        stored.reader_cta[place] = cta
        stored.read[place] = self.order.now if self.order is not None else 0

    def check_overwritten(self, region: Region, stored: Stored, place: Ints, threads: Ints) -> None:
        """Report a write of what another thread has read, with nothing to order the two."""
        reader = stored.reader[place]
        mine = np.broadcast_to((threads + self.base)[:, None], place.shape)
        other = (reader != -1) & (reader != mine)
        if not other.any() or self.order is None:
            return
        same = (stored.reader_cta[place] == mine // self.threads) & (reader > -3)
        floor = self.order.floor[threads][:, None]
        known = self.order.known[threads[:, None], np.where(same & (reader >= 0), reader % self.threads, 0)]
        late = stored.read[place] > np.where(reader >= 0, np.maximum(known, floor), floor)
        wrong = other & (~same | late)
        if wrong.any():
            row, column = (int(one[0]) for one in np.nonzero(wrong))
            where = region.array.where(int(place[row, column]) // region.size)
            text = (
                f"{self.who(int(threads[row]))} writes {where}, which another thread has read; nothing orders the two"
            )
            self.findings.add("race: write after read in global memory", Severity.RACE, text)

    def write(self, addresses: Bits, threads: Ints, labels: Ids, plain: Octets) -> None:
        """Write labels and plain bytes (threads, count)."""
        count = labels.shape[1]
        for region, here, offset in self._found(addresses, threads, count, "writes"):
            who = threads[here]
            inside = (self._elements(region, offset, count, who, "writes") >= 0).all(1)
            if region.stored is None or region.array.content is not None:
                text = f"{self.who(int(who[0]))} writes {region.array.name}, which is no output"
                self.findings.add("write to an input", Severity.MEMORY, text)
                continue
            stored, who = region.stored, who[inside]
            place = (offset[:, None] + np.arange(count))[inside]
            mine = np.broadcast_to((who + self.base)[:, None], place.shape)
            label, octet = labels[here][inside], plain[here][inside]
            self.check_overwritten(region, stored, place, who)
            other = self._others(stored, place, who)
            stored.writer[place], stored.atomic[place] = mine, False
            double = stored.writer[place] != mine
            if other.any() or double.any():
                same = (stored.labels[place] == label) & (stored.plain[place] == octet)
                stored.labels[place], stored.plain[place] = label, octet
                same = np.where(other, same, (stored.labels[place] == label) & (stored.plain[place] == octet))
                self._check_write(region, stored, place, who, other | double, same)
            stored.labels[place], stored.plain[place] = label, octet
            stored.written[place] = self.order.now if self.order is not None else 0

    def _check_write(self, region: Region, stored: Stored, place: Ints, threads: Ints, other: Mask, same: Mask) -> None:
        row, column = (int(one[0]) for one in np.nonzero(other & ~same if (other & ~same).any() else other))
        where = region.array.where(int(place[row, column]) // region.size)
        text = f"{self.who(int(threads[row]))} writes {where}, which another thread writes too; nothing orders the two"
        if (other & ~same).any():
            self.findings.add("race: two writes in global memory", Severity.RACE, text)
        else:
            self.findings.add("equal values written twice", Severity.EQUAL, f"{text}; both write the same value")

    def cells(self, addresses: Bits, threads: Ints) -> Iterator[tuple[Region, Stored, Mask, Ints]]:
        """By output array, for atomic operations on whole elements: which accesses go there, and their places."""
        for region, here, offset in self._found(addresses, threads, 1, "adds to"):
            who = threads[here]
            inside = (self._elements(region, offset, region.size, who, "adds to") >= 0).all(1)
            if region.stored is None:
                text = f"{self.who(int(who[0]))} adds to {region.array.name}, which is no output"
                self.findings.add("write to an input", Severity.MEMORY, text)
                continue
            chosen = here.copy()
            chosen[here] = inside
            yield region, region.stored, chosen, offset[inside]
