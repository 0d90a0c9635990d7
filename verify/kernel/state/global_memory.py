# SPDX-License-Identifier: Apache-2.0
"""The arrays in global memory: the label and the plain bits of every byte, who wrote and read it, and on which way.

Array i of the claim starts at address (i + 1) << 40. `region` has what is known of each array, `Global` all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from verify.kernel.data.distinct import list_distinct
from verify.kernel.data.equal_values import NEARLY, find_equal, find_unknown, join_labels
from verify.kernel.data.histories import BEFORE, LATELY
from verify.kernel.data.values import FIRST, OUTSIDE, Bits, Ids, Mask, Values
from verify.kernel.state.adders import DECIDED, KIND, Adders, keep_lost, report_late
from verify.kernel.state.copies import Ended, Octets
from verify.kernel.state.fetches import Fetches
from verify.kernel.state.findings import NOWHERE, Findings, Severity, Unclear
from verify.kernel.state.meetings import READ_LATE, UNUSED, WRITTEN_LATE, Meetings
from verify.kernel.state.order import ALWAYS, Ints, Order, name_cta
from verify.kernel.state.region import ATOMIC, ENGINE, PLAIN, SEVERAL, WITHIN, Places, Region, Stored
from verify.kernel.state.windows import MODULE_WINDOW, WINDOW

NC, BULK, PROXY = "9.7.9.8", "9.7.9.25.6.2", "9.7.13.4"  # of the PTX ISA: ld.global.nc, wait_group, proxy fences


class Global:
    """Global memory: the arrays of the claim."""

    def __init__(self, arrays: Sequence[Region], values: Values, findings: Findings) -> None:
        self.arrays, self.values, self.findings = arrays, values, findings
        self.order: Order | None = None
        self.base, self.threads = 0, 1  # the grid's number of a batch's first thread; threads of a CTA
        self.grid = (1 << 30, 1, 1)  # of the launch
        self.fenced = np.zeros(0, np.int32)  # when each thread last executed a proxy fence of global memory
        self.flies = False  # whether any bulk copy wrote
        self.fetching: list[tuple[Fetches, Ints]] = []  # what the copy engine reads for the load under way
        self.constants = False  # whether any ld.global.nc read an array that may be written
        self.meetings, self.known_before = Meetings(), ([(-1, 0)], np.zeros(0, np.uint32))  # ids, their residues

    def _find(
        self, addresses: Bits, threads: Ints, count: int, verb: str, align: int = 0
    ) -> Iterator[tuple[Region, Mask, Ints]]:
        """By array: which accesses go there, and the offsets in bytes of those; `align` is `count` where it is 0."""
        align = align or count
        signed = addresses.view(np.int64) + (1 << (WINDOW - 1))  # what lies just below an array belongs to it too
        which = (signed >> WINDOW) - 1
        offsets = (signed & ((1 << WINDOW) - 1)) - (1 << (WINDOW - 1))
        for number in list_distinct(which):
            here = which == number
            if number == MODULE_WINDOW - 1:
                raise Unclear(self.findings.line, "no meaning for what a variable of the module holds")
            if not 0 <= number < len(self.arrays):
                address = int(addresses[here][0])
                text = f"{self.who(int(threads[here][0]))} {verb} address {address:#x}, which is in no array"
                self.findings.add("global memory out of bounds", Severity.MEMORY, text)
                continue
            region, offset = self.arrays[number], offsets[here]
            if align & (align - 1) == 0 and (offset & (align - 1)).any():
                odd = int(np.flatnonzero(offset & (align - 1))[0])
                text = f"{self.who(int(threads[here][odd]))}: byte {int(offset[odd])} of {region.array.name}, for "
                self.findings.add("misaligned access", Severity.MEMORY, f"{text}{align} bytes at once")
            yield region, here, offset

    @property
    def before(self) -> Ids:
        """The residues, modulo the first prime, of what outputs hold before the grid writes them, ascending."""
        spans = [(array.first, array.count) for array in self.arrays if array.array.out and not array.array.zero]
        if self.known_before[0] != spans:  # a page that was touched since then
            each = [self.values.residues[0, first : first + count] for first, count in spans]
            self.known_before = spans, np.sort(np.concatenate(each or [np.zeros(0, np.uint32)]))
        return self.known_before[1]

    def who(self, thread: int) -> str:
        """Return a thread of the grid in words."""
        whole = thread + self.base
        return f"{name_cta(whole // self.threads, self.grid)}, thread {whole % self.threads}"

    def _elements(self, region: Region, offset: Ints, count: int, threads: Ints, verb: str) -> tuple[Ints, Ints]:
        """Return the element of each byte (threads, count), -1 outside, and its place in the tables.

        An access outside is reported.
        """
        octets = offset[:, None] + np.arange(count)
        place = region.find_kept(octets)
        number = place // region.size
        inside = (number >= 0) & (number < len(region.elements))
        elements = region.elements.take(number, mode="clip")
        if not inside.all():
            elements = np.where(inside, elements, -1)
        if (elements < 0).any():
            row, column = (int(indices[0]) for indices in np.nonzero(elements < 0))
            many = int((elements < 0).any(1).sum())
            where = region.array.where(int(octets[row, column]) // region.size)
            text = f"{self.who(int(threads[row]))} {verb} {where}; {many} threads of this instruction do so"
            self.findings.add("global memory out of bounds", Severity.MEMORY, text)
        return elements, place

    def load(
        self, addresses: Bits, threads: Ints, count: int, way: str = "", align: int = 0, ends: list[Ended] | None = None
    ) -> tuple[Ids, Octets]:
        """Read labels and plain bytes (threads, count); `way` is "nc" for ld.global.nc, "engine" for the copy engine.

        A cp.async gives `ends`, which gets what is to be called when threads have waited for it.
        """
        labels = np.full((len(threads), count), OUTSIDE << 3, np.uint32)
        plain = np.zeros((len(threads), count), np.uint8)
        for region, here, offset in self._find(addresses, threads, count, "reads", align):
            element, place = self._elements(region, offset, count, threads[here], "reads")
            inside = element >= 0
            if region.stored is None:
                label = ((element + region.first) << 3) + place % region.size
                labels[here] = np.where(inside, label, OUTSIDE << 3)
                continue
            place = np.where(inside, place, 0)
            if way == "engine":
                self._check_fenced(region, region.stored, place, threads[here])
            elif way == "nc":
                self._check_constant(region, region.stored, place, threads[here])
            self._check_read(region, region.stored, place, threads[here])
            if way == "engine" or ends is not None:
                self._begin_fetch(region.stored, place, threads[here], ends)
            else:
                self._note_read(region.stored, place, threads[here])
            labels[here] = np.where(inside, region.stored.labels[place], OUTSIDE << 3)
            plain[here] = region.stored.plain[place]
            lost = self.meetings.find_lost(region, place, (threads[here] + self.base)[:, None])
            if lost is not None and lost.any():
                labels[here] = np.where(lost, np.uint32(self.values.nowhere(UNUSED) << 3), labels[here])
        return labels, plain

    def _begin_fetch(self, stored: Stored, place: Ints, threads: Ints, ends: list[Ended] | None) -> None:
        """Note asynchronous reads: other CTAs know nothing of them, this one's threads once they have waited."""
        mine = np.broadcast_to((threads + self.base)[:, None], place.shape)
        fetches = stored.begin_fetch(place, mine, mine // self.threads)
        if ends is None:
            self.fetching.append((fetches, place))
            return
        fetches.begin(place, self.findings.line)

        def end(done: Mask, counted: tuple[int, int] | None) -> None:
            rows = done[threads]
            fetches.end(place[rows], counted)
            if counted is None:
                self._note_read(stored, place[rows], threads[rows])

        ends.append(end)

    def load_by_engine(self, column: int, time: int) -> None:
        """Note when the copy engine read what it fetches for the load under way."""
        for fetches, place in self.fetching:
            fetches.load(place, column, time, self.findings.line)
        self.fetching.clear()

    def _others(self, stored: Stored, place: Ints, threads: Ints, *, writes: bool = False) -> Mask:
        """Where another thread wrote a byte, and nothing orders that before what a thread does now.

        Of several that wrote equal values, a read comes after any, and a write (`writes`) after all.
        """
        writer, mine = stored.writer[place], (threads + self.base)[:, None]
        foreign: Mask = (writer >= 0) & (writer != mine)
        if stored.adders is not None and not self.values.opaque:  # the last of several that add knows no other's sum
            added = np.isin(stored.atomic[place], (ATOMIC, WITHIN))
            foreign |= (writer >= 0) & added & stored.adders.are_several(place)
        several = writes & (stored.atomic[place] == SEVERAL)
        foreign |= several
        if foreign.any() and self.order is not None:
            same = foreign & (writer // self.threads == mine // self.threads)
            known = self.order.known[threads[:, None], np.where(same, writer % self.threads, 0)]
            several |= np.isin(stored.atomic[place], (ATOMIC, WITHIN))  # several may have added
            known = np.where(several, self.order.floor[threads][:, None], known)
            foreign = foreign & ~(same & (stored.written[place] <= known))
        return foreign

    def _check_constant(self, region: Region, stored: Stored, place: Ints, threads: Ints) -> None:
        """Report a read of ld.global.nc of what the grid wrote before: that way may have what was there before."""
        written = stored.writer[place] >= 0
        if written.any():
            row, column = (int(indices[0]) for indices in np.nonzero(written))
            text = f"{self.who(int(threads[row]))} reads {region.where(int(place[row, column]))} "
            text += "by ld.global.nc, and the grid wrote it before: what comes may be older"
            self.findings.add("a stale read", Severity.MEMORY, text, NC)
        stored.constant[place], self.constants = self.findings.line, True

    def fence(self, mask: Mask | None) -> None:
        """Note that threads execute a proxy fence of global memory."""
        if self.order is not None:
            if len(self.fenced) != len(self.order.known):
                self.fenced = np.zeros(len(self.order.known), np.int32)
            self.fenced[slice(None) if mask is None else mask] = self.order.now

    def _check_fenced(self, region: Region, stored: Stored, place: Ints, threads: Ints) -> None:
        """Report a read by the copy engine of what a thread of the CTA wrote, with no proxy fence since."""
        writer = stored.writer[place] - self.base
        late = (writer // self.threads == (threads // self.threads)[:, None]) & (stored.atomic[place] != ENGINE)
        if late.any() and len(self.fenced):
            fences = np.maximum(self.fenced[np.where(late, writer, 0)], self.fenced[threads][:, None])
            late &= fences < stored.written[place]
        if late.any():
            row, column = (int(indices[0]) for indices in np.nonzero(late))
            text = f"{region.where(int(place[row, column]))}, which thread "
            text += (
                f"{int(writer[row, column]) % self.threads} wrote, is read by a bulk copy with no fence.proxy.async of "
            )
            self.findings.add("no proxy fence", Severity.LETTER, f"{text}global memory between", PROXY)

    def _check_flying(self, region: Region, stored: Stored, place: Ints, threads: Ints, verb: str) -> None:
        """Report an access of what a bulk copy writes, for which its thread has not waited."""
        if self.flies and (flying := stored.flying[place]).any():
            row, column = (int(indices[0]) for indices in np.nonzero(flying))
            text = f"{self.who(int(threads[row]))} {verb} {region.where(int(place[row, column]))}, "
            text += f"to which the bulk copy of line {flying[row, column]} may still write: no wait_group since, and "
            self.findings.add("bulk copy on its way", Severity.RACE, f"{text}`.read` waits for its source alone", BULK)

    def _check_read(self, region: Region, stored: Stored, place: Ints, threads: Ints) -> None:
        self._check_flying(region, stored, place, threads, "reads")
        self._check_adders(region, stored, place, threads, "reads")
        foreign = self._others(stored, place, threads)
        if foreign.any():
            self.meetings.note(region, place, foreign)
            row, column = (int(indices[0]) for indices in np.nonzero(foreign))
            where = region.where(int(place[row, column]))
            by = int(stored.writer[place[row, column]])
            text = f"{self.who(int(threads[row]))} reads {where}, which {self.who(by - self.base)} wrote; nothing "
            text += "orders the two"
            self.findings.add(READ_LATE, Severity.RACE, text)

    def _note_read(self, stored: Stored, place: Ints, threads: Ints) -> None:
        """Remember reads of an array that is written too, besides those that are ordered before them."""
        mine = (threads + self.base)[:, None]
        cta, before = mine // self.threads, stored.reader_cta[place]
        several = np.where((before >= 0) & (before != cta), -3, np.minimum(stored.reader[place], -2))
        stored.reader[place] = np.where(self._unordered_reads(stored, place, threads), several, mine)
        double = (stored.reader[place] >= 0) & (stored.reader[place] != mine)
        stored.reader[place[double]] = -2
        stored.reader_cta[place] = cta
        stored.reader[place[stored.reader_cta[place] != cta]] = -3  # threads of several CTAs in one instruction
        stored.read[place] = self.order.now if self.order is not None else 0

    def _unordered_reads(self, stored: Stored, place: Ints, threads: Ints) -> Mask:
        """Find bytes that other threads read, where nothing orders that before what a thread does now."""
        reader, mine = stored.reader[place], (threads + self.base)[:, None]
        foreign: Mask = (reader != -1) & (reader != mine)
        if not foreign.any() or self.order is None:
            return foreign
        same = (stored.reader_cta[place] == mine // self.threads) & (reader > -3)
        floor = self.order.floor[threads][:, None]
        known = self.order.known[threads[:, None], np.where(same & (reader >= 0), reader % self.threads, 0)]
        late = stored.read[place] > np.where(reader >= 0, np.maximum(known, floor), floor)
        return np.asarray(foreign & (~same | late))

    def check_overwritten(self, region: Region, stored: Stored, place: Ints, threads: Ints) -> None:
        """Report a write of what another thread has read, with nothing to order the two."""
        self._check_flying(region, stored, place, threads, "writes")
        self._check_adders(region, stored, place, threads, "writes")
        if self.constants and (lines := stored.constant[place]).any():
            row, column = (int(indices[0]) for indices in np.nonzero(lines))
            text = f"{self.who(int(threads[row]))} writes {region.where(int(place[row, column]))}, "
            text += f"which the ld.global.nc of line {lines[row, column]} read: that is for what no thread writes"
            self.findings.add("a write after ld.global.nc", Severity.LETTER, text, NC)
        if stored.fetches is not None and self.order is not None and place.size:
            where = f"{self.who(int(threads[0]))} writes {region.where(int(place[0, 0]))} and others"
            stored.fetches.check(place, threads, self.order, self.findings, where)
        wrong = self._unordered_reads(stored, place, threads)
        if wrong.any():
            self.meetings.note(region, place, wrong)
            row, column = (int(indices[0]) for indices in np.nonzero(wrong))
            where = region.where(int(place[row, column]))
            text = (
                f"{self.who(int(threads[row]))} writes {where}, which another thread has read; nothing orders the two"
            )
            self.findings.add(WRITTEN_LATE, Severity.RACE, text)

    def write(self, addresses: Bits, threads: Ints, labels: Ids, plain: Octets, flying: bool = False) -> Places:
        """Write labels and plain bytes (threads, count), and return where; `flying` is the way of a bulk copy."""
        count, done = labels.shape[1], []
        for region, here, offset in self._find(addresses, threads, count, "writes"):
            who = threads[here]
            element, place = self._elements(region, offset, count, who, "writes")
            inside = (element >= 0).all(1)
            if region.stored is None or region.array.content is not None:
                text = f"{self.who(int(who[0]))} writes {region.array.name}, which isn't an output"
                self.findings.add("write to an input", Severity.MEMORY, text)
                continue
            stored, who, place = region.stored, who[inside], place[inside]
            mine = (who + self.base)[:, None]
            label, octet = labels[here][inside], plain[here][inside]
            if self.values.opaque:
                self.check_known(region, place, who, label)
            self.meetings.check_owner(region, place, mine)
            self.check_overwritten(region, stored, place, who)
            foreign = self._others(stored, place, who, writes=True)
            apart = foreign & (stored.writer[place] // self.threads != mine // self.threads)
            stored.writer[place], stored.atomic[place] = mine, ENGINE if flying else PLAIN
            stored.written[place] = self.order.now if self.order is not None else 0
            double = stored.writer[place] != mine
            if foreign.any() or double.any():
                old = stored.labels[place]
                same, unknown = self._same(stored, place, label, octet), find_unknown(self.values, old, label)
                nearly = self._same(stored, place, label, octet, BEFORE)
                label = join_labels(self.values, stored.labels[place], label, same & foreign)
                stored.labels[place], stored.plain[place] = label, octet
                old = stored.labels[place]
                again, later = self._same(stored, place, label, octet), find_unknown(self.values, old, label)
                label = join_labels(self.values, stored.labels[place], label, again & double)
                alike, maybe = np.where(foreign, same, again), np.where(foreign, unknown, later)
                near = np.where(foreign, nearly, self._same(stored, place, label, octet, BEFORE))
                self._check_write(region, place, who, foreign | double, alike, (near, maybe))
                apart |= double & (stored.writer[place] // self.threads != mine // self.threads)
                stored.atomic[place[foreign | double]], stored.written[place[apart]] = SEVERAL, ALWAYS
            stored.labels[place], stored.plain[place] = label, octet
            stored.labels[place[double]] = label[double]
            if flying or self.flies:
                stored.flying[place], self.flies = self.findings.line if flying else 0, True
            done.append((stored, place))
        return done

    def check_known(self, region: Region, place: Ints, threads: Ints, labels: Ids) -> None:
        """Report what is written and comes from memory that nobody wrote, in a run that compares no output."""
        lost = (labels > 0) & (labels < FIRST << 3)
        if lost.any():
            certain = lost & (labels >> np.uint32(3) != self.values.maybe)
            row, column = (int(indices[0]) for indices in np.nonzero(certain if certain.any() else lost))
            line, text = self.values.causes[int(labels[row, column]) >> 3]
            source = f"a value that {text}" if not line else f"line {line}: {text}"
            where = region.where(int(place[row, column]))
            text = f"{self.who(int(threads[row]))} writes {where} with what comes from {source}"
            self.findings.add(NOWHERE, Severity.MEMORY if certain.any() else Severity.UNKNOWN, text)

    def _check_adders(self, region: Region, stored: Stored, place: Ints, threads: Ints, verb: str) -> None:
        if stored.adders is None or self.order is None or not self.values.opaque:
            return
        mine = (threads + self.base)[:, None]
        late = stored.adders.late(place, mine, mine // self.threads, self.order.floor[threads][:, None])
        if late.any():
            row, column = (int(indices[0]) for indices in np.nonzero(late))
            report_late(self.findings, self.who(int(threads[row])), verb, region.where(int(place[row, column])))

    def read_anywhere(self, region: Region, place: Ints, threads: Ints, constant: bool) -> bool:
        """Read any of some bytes by each of some threads; whether somebody wrote all of them."""
        if region.stored is None:
            return True
        places = np.broadcast_to(place, (len(threads), len(place)))
        if constant:
            self._check_constant(region, region.stored, places, threads)
        self._check_read(region, region.stored, places, threads)
        self._note_read(region.stored, places, threads)
        return not ((region.stored.labels[place] > 0) & (region.stored.labels[place] < FIRST << 3)).any()

    def write_anywhere(self, region: Region, place: Ints, threads: Ints, label: int) -> None:
        """Write any of some bytes by each of some threads: data with this label."""
        stored = self._find_output(region, threads, "writes")
        if stored is None or self.order is None:
            return
        places = np.broadcast_to(place, (len(threads), len(place)))
        self.check_known(region, places[:1, :1], threads[:1], np.full((1, 1), label, np.uint32))
        self.check_overwritten(region, stored, places, threads)
        foreign = self._others(stored, places, threads, writes=True)
        if len(threads) > 1 or foreign.any():
            text = f"{self.who(int(threads[0]))} may write any byte from {region.where(int(place[0]))} to "
            text += f"{region.where(int(place[-1]))}, as data decide, and another thread writes there too; nothing "
            self.findings.add(DECIDED, Severity.RACE, f"{text}orders the two")
        stored.writer[place], stored.atomic[place] = int(threads[-1]) + self.base, PLAIN
        stored.written[place], stored.flying[place], stored.plain[place] = self.order.now, 0, 0
        stored.labels[place] = keep_lost(stored.labels[place], np.full(len(place), label, np.uint32))

    def add_each(self, addresses: Bits, threads: Ints, count: int, label: int, narrow: bool) -> Places:
        """Change bytes by an atomic operation of each of some threads, and return where; one outside is reported."""
        done: Places = []
        for region, here, offset in self._find(addresses, threads, count, "changes"):
            element, place = self._elements(region, offset, count, threads[here], "changes")
            inside = (element >= 0).all(1)
            if inside.any():
                self.add_anywhere(region, place[inside], threads[here][inside], label, narrow)
                done += [(stored, place[inside]) for stored in (region.stored,) if stored is not None]
        return done

    def add_anywhere(self, region: Region, place: Ints, threads: Ints, label: int, narrow: bool) -> None:
        """Change any of some bytes, of each thread or of all, by an atomic operation of each of some threads."""
        stored = self._find_output(region, threads, "changes")
        if stored is None or self.order is None:
            return
        places, mine = np.broadcast_to(place, (len(threads), place.shape[-1])), (threads + self.base)[:, None]
        self.check_known(region, places[:1, :1], threads[:1], np.full((1, 1), label, np.uint32))
        if stored.adders is None:
            stored.adders = Adders(len(stored.labels))
        adders, stored.adders = stored.adders, None  # those of one another do not race
        self.check_overwritten(region, stored, places, threads)
        stored.adders = adders
        foreign = self._others(stored, places, threads, writes=True)
        if foreign.any():
            row, column = (int(indices[0]) for indices in np.nonzero(foreign))
            text = f"{self.who(int(threads[row]))} changes {region.where(int(places[row, column]))} atomically, which "
            self.findings.add(KIND, Severity.RACE, f"{text}another thread writes plainly; nothing orders the two")
        floor = self.order.floor[threads][:, None]
        near = adders.add(places, mine, mine // self.threads, floor, self.order.now, narrow)
        if near.any():
            row, column = (int(indices[0]) for indices in np.nonzero(near))
            text = f"{self.who(int(threads[row]))} changes {region.where(int(places[row, column]))} atomically, as "
            text += "another CTA does, "
            self.findings.add("race: atomics of a CTA", Severity.RACE, f"{text}and one of the two has the scope .cta")
        stored.labels[place] = keep_lost(stored.labels[place], np.full(place.shape, label, np.uint32))
        stored.plain[place] = 0

    def _find_output(self, region: Region, threads: Ints, verb: str) -> Stored | None:
        if region.stored is None or region.array.content is not None:
            text = f"{self.who(int(threads[0]))} {verb} {region.array.name}, which isn't an output"
            self.findings.add("write to an input", Severity.MEMORY, text)
            return None
        return region.stored

    def _same(self, stored: Stored, place: Ints, labels: Ids, plain: Octets, most: int = LATELY) -> Mask:
        """Find the bytes that hold equal values already, or the same bits; rounded before the last step at `most`."""
        return np.asarray(find_equal(self.values, stored.labels[place], labels, most) & (stored.plain[place] == plain))

    def _check_write(
        self, region: Region, place: Ints, threads: Ints, several: Mask, same: Mask, open_: tuple[Mask, Mask]
    ) -> None:
        """Report bytes that several threads write: other values, equal ones, or values that may be equal.

        `open_` finds values that are equal but for how they were rounded, and values that have no meaning.
        """
        differ = several & ~same
        ways = (
            ("race: two writes in global memory", Severity.RACE, differ & ~open_[0] & ~open_[1]),
            (f"race: {NEARLY}", Severity.UNKNOWN, differ & open_[0]),
            ("race: write of values that have no meaning", Severity.UNKNOWN, differ),
            ("equal values written twice", Severity.EQUAL, several),
        )
        kind, severity, shown = next(way for way in ways if way[2].any())
        row, column = (int(indices[0]) for indices in np.nonzero(shown))
        where = region.where(int(place[row, column]))
        text = f"{self.who(int(threads[row]))} writes {where}, which another thread writes too; nothing orders the two"
        self.findings.add(kind, severity, text + "; both write the same value" * (severity is Severity.EQUAL))

    def cells(self, addresses: Bits, threads: Ints) -> Iterator[tuple[Region, Stored, Mask, Ints]]:
        """By output array, for atomic operations on whole elements: which accesses go there, and their places."""
        for region, here, offset in self._find(addresses, threads, 1, "adds to"):
            who = threads[here]
            element, place = self._elements(region, offset, region.size, who, "adds to")
            inside = (element >= 0).all(1)
            if region.stored is None:
                text = f"{self.who(int(who[0]))} adds to {region.array.name}, which isn't an output"
                self.findings.add("write to an input", Severity.MEMORY, text)
                continue
            chosen = here.copy()
            chosen[here] = inside
            yield region, region.stored, chosen, place[inside, 0]
