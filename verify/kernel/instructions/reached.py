# SPDX-License-Identifier: Apache-2.0
"""Accesses of a run on opaque data: loads and stores at addresses that data decide, and atomic operations.

Such an access may touch every byte of the span that the address's interval allows. A span that leaves its array, is
not aligned, or has no bound is UNKNOWN; inside, a plain store races with any other thread's access, and an atomic
operation does not race with another one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from isa_tables.semantics import Meaning
from verify.kernel.data.intervals import fill_ones, of_mask, zeros_of
from verify.kernel.data.opaque import DATA, OpaqueValues
from verify.kernel.data.registers import find_decided
from verify.kernel.data.values import FIRST, Ids, Mask
from verify.kernel.instructions.accesses import registers_of_vector
from verify.kernel.instructions.integers import register_width
from verify.kernel.instructions.opaque import split_threads
from verify.kernel.ptx.source import WIDTHS, Address, Operand, PtxInstruction
from verify.kernel.state.adders import DECIDED, keep_lost
from verify.kernel.state.bound import Run
from verify.kernel.state.findings import Severity, Unclear
from verify.kernel.state.machine import Bind, Machine
from verify.kernel.state.order import Ints
from verify.kernel.state.region import Region
from verify.kernel.state.windows import LOCAL_WINDOW, SHARED_WINDOW, WINDOW, check_window

MOST = 1 << 22  # bytes of a span times the threads that may touch it
_HALF = 1 << (WINDOW - 1)


@dataclass(frozen=True, slots=True)
class ByteSpan:
    """The bytes that some threads may access, as their addresses allow."""

    first: int  # address
    count: int  # bytes
    zeros: int  # lowest bits of every address that are zero
    threads: Ints


def guard_access(machine: Machine, inst: PtxInstruction, meaning: Meaning, run: Run) -> Run:
    """Return a load or a store that takes addresses which data decide too."""
    loads = meaning.row.meaning == "load"
    place = inst.operands[1 if loads else 0]
    if not isinstance(place, Address) or not isinstance(machine.values, OpaqueValues):
        return run
    access = _ReachedMemory(machine, inst, meaning, place, machine.values)
    read = machine.reader(place.base)
    registers = registers_of_vector(inst, meaning, inst.operands[0 if loads else 1])
    kind = meaning.types["d" if loads else "b"]
    size = WIDTHS[kind] // 8
    puts = [machine.writer(each) for each in registers] if loads else []
    sources = [] if loads else [machine.reader(each) for each in registers]
    rooms = [max(register_width(machine, each), 8) if kind[0] == "s" else 8 * size for each in registers if loads]
    constant, strong = "nc" in meaning.words, meaning.words.get("scope", "weak") != "weak"

    own = meaning.words.get("space") == "local"  # a thread's own memory is joined as its registers are

    def execute(mask: Mask | None) -> None:
        by_data = find_decided(read())
        if machine.unsure is not None and not own:
            by_data = by_data | machine.unsure
        with_data = split_threads(machine, mask, by_data, run)
        if with_data is None:
            return
        if strong:
            raise Unclear(inst.line, f"{inst.opcode} at an address that data decide")
        for span in access.spans(with_data, size * len(registers)):
            if loads:
                access.load_any(span, size * len(registers), constant)
            else:
                # of the threads that store alone: others may hold nothing there
                lost = max(int(np.where(with_data, access.values.lost_in(each()), 0).max()) for each in sources)
                access.store_any(span, size * len(registers), lost or DATA)
        target = None if with_data.all() else with_data
        for put, room in zip(puts, rooms, strict=True):
            whole = of_mask(fill_ones(min(room, 64)))
            put(access.values.register([whole], np.zeros(1, np.intp), np.zeros(1, np.uint32), 8, machine.count), target)

    return execute


def atomic(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """Atom and red on opaque data: whatever they compute, the old and the new value are data."""
    returns = meaning.row.operands[0][0] == "d"
    place, *sources = inst.operands[1:] if returns else inst.operands
    if not isinstance(place, Address) or not isinstance(machine.values, OpaqueValues):
        raise Unclear(inst.line, f"{inst.opcode} has a meaning in a run without a claim alone")
    narrow = not {"cta", "cluster"}.isdisjoint(".".join(meaning.words.values()).split("."))  # a cluster has one CTA
    access = _ReachedMemory(machine, inst, meaning, place, machine.values)
    vectors = [registers_of_vector(inst, meaning, source) for source in sources]
    reads = [machine.reader(each) for vector in vectors for each in vector]
    puts = [machine.writer(each) for each in registers_of_vector(inst, meaning, inst.operands[0])] if returns else []
    size = WIDTHS[meaning.types["b"]] // 8 * len(vectors[0])

    def execute(mask: Mask | None) -> None:
        there = np.ones(machine.count, bool) if mask is None else mask
        lost = max(int(np.where(there, access.values.lost_in(each()), 0).max()) for each in reads)
        rest = access.add_known(there, size, lost or DATA, narrow=narrow)
        for span in access.spans(rest, size):
            access.add_any(span, size, lost or DATA, narrow=narrow)
        for put in puts:
            put(machine.unknown("is the old value of an atomic operation", min(size, 8)), mask)

    return execute


class _ReachedMemory:
    """One instruction's accesses of memory, by the spans of their addresses."""

    def __init__(
        self, machine: Machine, inst: PtxInstruction, meaning: Meaning, place: Address, values: OpaqueValues
    ) -> None:  # fmt: skip
        self.machine, self.inst, self.values = machine, inst, values
        self.space, self.offset = meaning.words.get("space", ""), place.offset
        if self.space not in ("", "global", "shared", "shared::cta", "local"):
            self.space = "other"
        self.base: Operand = place.base
        self.read_base = machine.reader(place.base)
        self.width = register_width(machine, place.base) or 64

    def spans(self, there: Mask, size: int) -> Iterator[ByteSpan]:
        """Yield the spans of some threads' accesses of so many bytes, those that lie in one array and are aligned."""
        machine = self.machine
        base = self.read_base()
        rows = self.values.rows(base, self.width // 8)
        columns = [np.broadcast_to(each, machine.count) for each in rows]
        threads = np.flatnonzero(there)
        if columns[3][threads].any():
            machine.unclear(base, there, "an address")
        stack = np.stack([each[threads] for each in columns[:3]])
        distinct, place = np.unique(stack, axis=1, return_inverse=True)
        for number, (start, extent, mask) in enumerate(distinct.T.tolist()):
            first, zeros = start + self.offset, min(zeros_of(mask), zeros_of(self.offset))
            if (
                start + extent > fill_ones(self.width)
                or not 0 <= first <= fill_ones(63) - extent
                or self.space == "other"
            ):
                self._doubt("data decide this address, and nothing bounds them")
                continue
            if zeros < zeros_of(size) and extent:
                self._doubt(f"data decide this address, and not that it is a multiple of {size} bytes")
                continue
            mine = threads[place.reshape(-1) == number]
            if (extent + size) * len(mine) > MOST:
                self._doubt(f"data decide this address, which may be any of {extent + 1}: too many to follow")
                continue
            self.values.reached = self.values.reached or (extent > 0 and self.space != "local")
            yield ByteSpan(first, extent + size, zeros, mine)

    def _doubt(self, text: str) -> None:
        self.machine.findings.add("address from data", Severity.UNKNOWN, text)

    def _find_local(self, span: ByteSpan) -> tuple[Ints, Ints] | None:
        """Return the indices of a span's bytes in the threads' own memory; None if it is none of it."""
        if self.space != "local" and (self.space or span.first >> WINDOW != LOCAL_WINDOW):
            return None
        low = span.first & fill_ones(WINDOW)
        if low + span.count > self.machine.local.size:
            self._doubt(f"data decide this address: bytes {low} to {low + span.count - 1} of local memory, which has "
                        f"{self.machine.local.size}")  # fmt: skip
            return span.threads[:0, None], np.arange(0)
        return span.threads[:, None], low + np.arange(span.count)

    def _in_shared(self, span: ByteSpan) -> bool:
        window = span.first >> WINDOW
        if self.space.startswith("shared"):
            check_window(self.machine.findings, np.array([span.first], np.uint64), SHARED_WINDOW)
            return True
        return not self.space and window == SHARED_WINDOW

    def _find_shared(self, span: ByteSpan, size: int) -> Iterator[tuple[Ints, Ints, Ints]]:
        """Yield (bytes, cells, threads) of a span in shared memory, for the threads of each CTA."""
        shared, low = self.machine.shared, span.first & fill_ones(32)
        if shared.placement.outside(np.array([low]), span.count).any():
            if span.count == size:
                shared.places(np.array([low]), span.threads[:1], size)  # reports it
            else:
                self._doubt(f"data decide this address: bytes {low} to {low + span.count - 1} of shared memory, which "
                            "are not in one variable")  # fmt: skip
            return
        if span.count == size:
            shared.places(np.full(len(span.threads), low), span.threads, size)
        for cta in np.unique(span.threads // shared.threads):
            threads = span.threads[span.threads // shared.threads == cta]
            place = int(cta) * shared.span + low + np.arange(span.count)
            cells = np.unique(place // shared.cell)
            yield place, cells, threads

    def _global(self, span: ByteSpan, size: int) -> tuple[Region, Ints] | None:
        """Return the array of a span and its bytes there; None, and a finding, if it is not within one."""
        memory = self.machine.memory
        which = {((end + _HALF) >> WINDOW) - 1 for end in (span.first, span.first + span.count - 1)}
        number = which.pop()
        if which or not 0 <= number < len(memory.arrays):
            self._doubt(f"data decide this address: {span.first:#x} and {span.count - 1} bytes on, not in one array")
            return None
        region, offset = memory.arrays[number], span.first - (number + 1 << WINDOW)
        place = region.find_kept(offset + np.arange(span.count))
        element = place // region.size
        if (element < 0).any() or (element >= len(region.elements)).any() or (region.elements[element] < 0).any():
            last = offset + span.count - size
            words = [region.array.where(end // region.size) for end in (offset, last)]
            self._doubt(f"data decide this address: it may be any from {words[0]} to {words[1]}")
            return None
        return region, place

    def load_any(self, span: ByteSpan, size: int, constant: bool) -> None:
        """Read any bytes of a span."""
        shared = self.machine.shared
        if (local := self._find_local(span)) is not None:
            self._check_initialised(self.machine.local.labels[local], "local")
            return
        if not self._in_shared(span):
            target = self._global(span, size)
            if target is not None and not self.machine.memory.read_anywhere(*target, span.threads, constant):
                self._doubt("data decide this address: it may be of bytes that nobody has written")
            return
        for place, cells, threads in self._find_shared(span, size):
            many, who = np.tile(cells, len(threads)), np.repeat(threads, len(cells))
            shared.check_read(many, who)
            shared.order.note_read(many, who, self.inst.line)
            self._check_initialised(shared.labels[place], "shared")

    def _check_initialised(self, labels: Ids, space: str) -> None:
        """Report bytes of a span that nobody has written."""
        if ((labels > 0) & (labels < FIRST << 3)).any():
            self._doubt(f"data decide this address: it may be of {space} bytes that nobody has written")

    def store_any(self, span: ByteSpan, size: int, label: int) -> None:
        """Write any bytes of a span."""
        machine, shared = self.machine, self.machine.shared
        maybe = self.values.maybe if span.count > size else 0  # else the guard alone is data
        if (local := self._find_local(span)) is not None:
            old = machine.local.labels[local]
            machine.local.labels[local] = keep_lost(old, np.full(old.shape, label << 3, np.uint32), maybe)
            machine.local.plain[local] = 0
            return
        if not self._in_shared(span):
            target = self._global(span, size)
            if target is not None:
                machine.memory.write_anywhere(*target, span.threads, label << 3)
            return
        for place, cells, threads in self._find_shared(span, size):
            if len(threads) > 1:
                text = f"{shared.who(int(threads[0]))} and {len(threads) - 1} others may write any of shared bytes "
                text += (
                    f"{span.first & fill_ones(32)} to {(span.first & fill_ones(32)) + span.count - 1}, as data decide"
                )
                machine.findings.add(DECIDED, Severity.RACE, text, "8.7.1")
            many, who = np.tile(cells, len(threads)), np.repeat(threads, len(cells))
            shared.write_anywhere(place, many, who, label << 3, maybe)

    def add_known(self, there: Mask, size: int, label: int, *, narrow: bool) -> Mask:
        """Change global memory atomically in the threads whose address is no data; return the others."""
        base = self.read_base()
        addresses = np.broadcast_to(base.bits, self.machine.count) + np.uint64(self.offset & fill_ones(64))
        known = there & ~find_decided(base) & (addresses >> np.uint64(WINDOW) != SHARED_WINDOW)
        if not known.any() or self.space not in ("", "global"):
            return there
        self.machine.memory.add_each(addresses[known], np.flatnonzero(known), size, label << 3, narrow)
        return np.asarray(there & ~known)

    def add_any(self, span: ByteSpan, size: int, label: int, *, narrow: bool) -> None:
        """Change any bytes of a span atomically."""
        machine = self.machine
        if not self._in_shared(span):
            target = self._global(span, size)
            if target is not None:
                machine.memory.add_anywhere(*target, span.threads, label << 3, narrow)
            return
        for place, cells, threads in self._find_shared(span, size):
            many, who = np.tile(cells, len(threads)), np.repeat(threads, len(cells))
            self._check_initialised(machine.shared.labels[place], "shared")
            machine.shared.add_atomically(many, who)
            machine.shared.write_labels(place, label << 3)


BINDS: dict[str, Bind] = {"atomic_any": atomic}
