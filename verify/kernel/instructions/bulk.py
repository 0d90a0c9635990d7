# SPDX-License-Identifier: Apache-2.0
"""Bulk copies: pieces of memory that the copy engine moves, and boxes of arrays that it stores by tensor maps.

What it reads from shared memory must not be written before the thread that started it has waited for its bulk group.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from isa_tables.semantics import Meaning
from verify.kernel.data.distinct import sort_distinct
from verify.kernel.data.opaque import DATA
from verify.kernel.data.values import FIRST, Bits, Ids, Mask
from verify.kernel.instructions.asynchronous import address_of, arrived_bytes, box_places, coordinates_of, shared_at
from verify.kernel.instructions.tensor_maps import box_at
from verify.kernel.ptx.source import Immediate, PtxInstruction
from verify.kernel.state.bound import Run
from verify.kernel.state.copies import Octets
from verify.kernel.state.findings import Severity, Unclear
from verify.kernel.state.machine import Bind, Machine, Unit
from verify.kernel.state.order import Ints
from verify.kernel.state.region import Stored

PIECE = 16  # bytes: what sizes and addresses are multiples of, PTX ISA 9.7.9.25.4.1
GROUP, PROXY = "9.7.9.25.6.2", "9.7.15.4"  # of the PTX ISA: cp.async.bulk.wait_group, the async proxy


@dataclass(slots=True)
class CopyGroup:
    """The copies of a thread that it closes together."""

    cells: list[tuple[Ints, int]] = field(default_factory=list)  # that they may still read, and the line of each copy
    sent: list[tuple[Stored, Ints]] = field(default_factory=list)  # arrays and their bytes that they may still write
    added: list[tuple[Stored, Ints]] = field(default_factory=list)  # or change atomically


@dataclass(slots=True)
class Bulk(Unit):
    """The bulk copies of a batch that read shared memory."""

    reading: Ints  # how many copies may still read each cell of shared memory
    open: dict[int, CopyGroup] = field(default_factory=dict)  # thread -> its copies that are in no group yet
    groups: dict[int, list[CopyGroup]] = field(default_factory=dict)  # thread -> its groups, oldest first

    def find_reader(self, cell: int) -> tuple[int, int]:
        """Return the thread and the line of a copy that may still read a cell."""
        listed = [(thread, copies) for thread, groups in self.groups.items() for copies in groups] + [
            *self.open.items()
        ]
        return next((thread, line) for thread, copies in listed for cells, line in copies.cells if cell in cells)

    @classmethod
    def make(cls, machine: Machine) -> Self:
        """Return the copies of a batch, to which every later write of shared memory is compared."""
        made = cls(np.zeros(len(machine.shared.order.writer), np.int64))

        def report_write(places: Ints, who: Ints) -> None:
            busy = made.reading[places]
            if busy.any():
                at = int(np.flatnonzero(busy)[0])
                text = f"{machine.shared.who(int(who[at]))} writes shared byte {machine.shared.byte(int(places[at]))}, "
                line = made.find_reader(int(places[at]))[1]
                text += f"which the bulk copy of line {line} may still read: no wait_group since"
                machine.findings.add("bulk copy on its way", Severity.RACE, text, GROUP)

        machine.shared.watch_writes(report_write)
        return made

    def end(self, machine: Machine) -> None:
        """Report copies from shared memory that a thread which has ended did not wait for."""
        busy = np.flatnonzero(self.reading)
        if len(busy):
            thread, line = self.find_reader(int(busy[0]))
            text = (
                f"{machine.shared.who(thread)} ends, and has not waited for the bulk copy of line {line}, which reads "
            )
            text += "its CTA's shared memory"
            machine.findings.add("bulk copy on its way", Severity.LETTER, text, GROUP)


def _from_shared(machine: Machine, places: Ints, thread: int) -> tuple[Ids, Octets]:
    """Return the labels and plain bytes that the engine reads for a thread, whose group they join."""
    shared, bulk = machine.shared, machine.unit(Bulk)
    whose = np.full(len(places), thread)
    cells = sort_distinct(places // shared.cell)
    late = shared.generic[cells]
    if late.any():
        cell = int(cells[late][0])
        text = f"shared byte {shared.byte(cell)}, which {shared.who(int(shared.order.writer[cell]))} wrote at line "
        text += f"{shared.order.write_line[cell]}, is read by a bulk copy with no fence.proxy.async between"
        machine.findings.add("no proxy fence", Severity.LETTER, text, PROXY)
    shared.check_read(cells, np.full(len(cells), thread))
    bulk.reading[cells] += 1
    bulk.open.setdefault(thread, CopyGroup()).cells.append((cells, machine.findings.line))
    return shared.mark_unwritten(places, whose, shared.labels[places]), shared.plain[places]


def _send(machine: Machine, addresses: Bits, whose: Ints, labels: Ids, plain: Octets) -> None:
    """Let the engine write to global memory for a thread, which must wait for it before it uses that."""
    if len(whose):
        where = machine.memory.write(addresses, whose, labels, plain, flying=True)
        machine.unit(Bulk).open.setdefault(int(whose[0]), CopyGroup()).sent.extend(where)


def _add(machine: Machine, addresses: Bits, whose: Ints, labels: Ids, plain: Octets) -> None:
    """Let the engine change global memory for a thread, element by element, each atomically with the scope .gpu."""
    if not len(whose):
        return
    lost = int(np.where(labels < FIRST << 3, labels, 0).max())  # a byte that nobody wrote
    done = machine.memory.add_each(addresses, whose, labels.shape[1], lost or DATA << 3, narrow=False)
    for stored, places in done:
        if stored.adders is not None:
            stored.adders.begin(places)
    machine.unit(Bulk).open.setdefault(int(whose[0]), CopyGroup()).added.extend(done)


def _sends(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Callable[..., None]:
    """Return what the engine does with what it has read: it writes it, or adds it; Unclear with a claim."""
    if not meaning.row.meaning.endswith("_reduce"):
        return _send
    if not machine.values.opaque:
        raise Unclear(inst.line, f"{inst.opcode} has a meaning in a run without a claim alone")
    return _add


def tensor_store(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """cp.async.bulk.tensor to global memory: a box of shared memory goes to an array, as far as it has elements."""
    send = _sends(machine, inst, meaning)
    target, source = address_of(inst, 0), address_of(inst, 1)
    base, coordinates = coordinates_of(machine, inst, target, meaning)

    def execute(mask: Mask | None) -> None:
        threads, starts = shared_at(machine, source, mask)
        maps = np.broadcast_to(machine.numbers(base, mask, "the address of a tensor map"), machine.count)[threads]
        at = [machine.at(machine.numbers(each, mask, "a coordinate"), threads) for each in coordinates]
        for number, thread in enumerate(threads):
            box = box_at(machine, int(maps[number]) + target.offset, int(thread))
            first = [int(np.int32(np.uint32(each[number]))) for each in at]
            places = box_places(machine, int(thread), int(starts[number]), box, first)
            labels, plain = _from_shared(machine, places, int(thread))
            addresses, inside = box.elements(first)
            whose = np.full(int(inside.sum()), thread)
            send(machine, addresses[inside], whose, labels[inside], plain[inside])

    return execute


def tensor_prefetch(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """cp.async.bulk.prefetch.tensor: a hint that changes no value, wherever its box lies; but its map must be one."""
    source = address_of(inst, 0)
    base, coordinates = coordinates_of(machine, inst, source, meaning)

    def execute(mask: Mask | None) -> None:
        threads = machine.list_threads(mask)
        maps = np.broadcast_to(machine.numbers(base, mask, "the address of a tensor map"), machine.count)[threads]
        for each in coordinates:
            machine.numbers(each, mask, "a coordinate")
        for thread, address in zip(threads.tolist(), maps.tolist(), strict=True):
            box = box_at(machine, int(address) + source.offset, thread)
            if len(box.box) != len(coordinates):
                text = f"the tensor map and its box {box.box} do not have {len(coordinates)} axes"
                raise Unclear(machine.findings.line, text)

    return execute


def piece(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """cp.async.bulk: consecutive bytes from global to shared memory, or back."""
    send, loads = _sends(machine, inst, meaning), meaning.words.get("to", "global") != "global"
    inner = address_of(inst, 0 if loads else 1)
    outer, size = machine.address(address_of(inst, 1 if loads else 0)), machine.reader(inst.operands[2])
    barrier = address_of(inst, 3) if loads else None

    def execute(mask: Mask | None) -> None:
        threads, starts = shared_at(machine, inner, mask)
        counts = machine.at(machine.numbers(size, mask, "a number of bytes"), threads)
        wide = np.broadcast_to(outer(mask), machine.count)[threads]
        bars = shared_at(machine, barrier, mask)[1] if barrier is not None else starts
        for number, thread in enumerate(threads):
            start, count = int(starts[number]), int(counts[number])
            if (start | count | int(wide[number])) % PIECE or not count:
                text = f"{machine.shared.who(int(thread))}: {count} bytes, shared address {start}: a bulk copy has "
                machine.findings.add(
                    "misaligned access", Severity.MEMORY, f"{text}multiples of {PIECE}", "9.7.9.25.4.1"
                )
                continue
            whose = np.full(count // PIECE, thread)
            places = machine.shared.places(start + PIECE * np.arange(len(whose)), whose, PIECE)
            addresses = wide[number] + np.uint64(PIECE) * np.arange(len(whose), dtype=np.uint64)
            if loads:
                labels, plain = machine.memory.load(addresses, whose, PIECE, "engine")
                arrived_bytes(machine, int(thread), int(bars[number]), places, labels, plain)
            else:
                labels, plain = _from_shared(machine, places, int(thread))
                send(machine, addresses, whose, labels, plain)

    return execute


def group(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """cp.async.bulk.commit_group and wait_group: a thread closes a group, or waits for all but the last n."""
    waits, reads = meaning.words["action"] == "wait_group", "read" in meaning.words
    keep = inst.operands[0].bits if inst.operands and isinstance(inst.operands[0], Immediate) else 0
    if waits != bool(inst.operands) or (reads and not waits):
        raise Unclear(inst.line, "wait_group has a number and perhaps .read, commit_group neither")

    def execute(mask: Mask | None) -> None:
        bulk = machine.unit(Bulk)
        for thread in machine.list_threads(mask).tolist():
            groups = bulk.groups.setdefault(thread, [])
            if not waits:
                groups.append(bulk.open.pop(thread, CopyGroup()))
                continue
            done = groups[: max(len(groups) - keep, 0)]
            for cells, _ in [pair for each in done for pair in each.cells]:
                bulk.reading[cells] -= 1
                machine.shared.order.note_read(cells, np.full(len(cells), thread), machine.findings.line)
            for each in done:
                each.cells = []
            if not reads:
                del groups[: len(done)]
                for stored, places in [sent for each in done for sent in each.sent]:
                    stored.flying[places], stored.written[places] = 0, machine.shared.order.now
                for stored, places in [added for each in done for added in each.added]:
                    if stored.adders is not None:
                        stored.adders.end(places, machine.shared.order.now)

    return execute


BINDS: dict[str, Bind] = {
    "tensor_store": tensor_store,
    "tensor_reduce": tensor_store,
    "tensor_prefetch": tensor_prefetch,
    "bulk_copy": piece,
    "bulk_reduce": piece,
    "bulk_group": group,
}
