# SPDX-License-Identifier: Apache-2.0
"""Instructions that change global memory otherwise than by a plain write: atomic sums, and `discard`."""

from __future__ import annotations

import numpy as np

from isa_tables.formula_parser import parse
from isa_tables.semantics import Meaning
from verify.kernel.data.registers import join_octets, word
from verify.kernel.data.values import SIZE, Bits, Ids, Mask
from verify.kernel.instructions.accesses import deposit, registers_of_vector, rows_of, spread_of
from verify.kernel.ptx.source import WIDTHS, Immediate, PtxInstruction
from verify.kernel.state.adders import Adders
from verify.kernel.state.bound import Run
from verify.kernel.state.findings import Severity, Unclear
from verify.kernel.state.machine import Bind, Machine
from verify.kernel.state.order import ALWAYS, Ints
from verify.kernel.state.region import ATOMIC, ENGINE, PLAIN, SEVERAL, WITHIN

_SUM = parse("a + b", {"a": False, "b": False}).tree
LINE = 128  # bytes of a line of the L2 cache, the only size that discard takes: PTX ISA 9.7.9.17


def atomic(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """red.add and atom.add: a sum into an array, in any order; the old value has no meaning."""
    returns = meaning.row.operands[0][0] == "d"
    place, source = inst.operands[1 if returns else 0], inst.operands[2 if returns else 1]
    kind = {"f16x2": "f16", "bf16x2": "bf16"}.get(meaning.types["b"], meaning.types["b"])
    width = WIDTHS[meaning.types["b"]] // 8
    address = machine.address(place)
    reads = [machine.reader(each) for each in registers_of_vector(inst, meaning, source)]
    puts = [machine.writer(each) for each in registers_of_vector(inst, meaning, inst.operands[0])] if returns else []
    kind_of = WITHIN if "cta" in ".".join(meaning.words.values()).split(".") else ATOMIC

    def execute(mask: Mask | None) -> None:
        threads = machine.list_threads(mask)
        bits = address(mask)
        base = np.broadcast_to(bits, machine.count)[threads]
        for number, read in enumerate(reads):
            ids = read().elements(machine.values, kind, width)
            for part in range(ids.shape[1]):
                where = base + np.uint64(number * width + part * SIZE[kind])
                _add(machine, where, threads, rows_of(ids, threads)[:, part], kind, kind_of)
        for put in puts:
            reason = "is the old value of an atomic operation, which depends on the order"
            put(machine.unknown(reason, width), mask)

    return execute


def _add(machine: Machine, addresses: Bits, threads: Ints, ids: Ids, kind: str, kind_of: int) -> None:
    """Add values to elements of output arrays, those of one instruction one after the other where they meet."""
    values, memory, size = machine.values, machine.memory, SIZE[kind]
    for region, stored, chosen, offset in memory.cells(addresses, threads):
        if region.array.kind != kind or (offset % size).any():
            raise Unclear(machine.findings.line, f"an atomic {kind} on {region.array.name} of type {region.array.kind}")
        who, new = threads[chosen] + memory.base, ids[chosen]
        rest = np.arange(len(offset))
        while len(rest):
            _, first = np.unique(offset[rest], return_index=True)
            now, rest = rest[first], np.delete(rest, first)
            element, place = offset[now] // size, offset[now][:, None] + np.arange(size)
            labels = stored.labels.reshape(-1, size).take(element, 0)  # rows are copied faster than their bytes
            octets, before = (each.reshape(-1, size).take(element, 0) for each in (stored.plain, stored.atomic))
            writer, written = (each.reshape(-1, size).take(element, 0) for each in (stored.writer, stored.written))
            mine = who[now][:, None]
            same = writer // memory.threads == mine // memory.threads
            single = np.isin(before, (PLAIN, ENGINE, SEVERAL))
            plain = (writer >= 0) & single & ((writer != mine) | (before == SEVERAL))
            near = (writer >= 0) & ~same & ((before == WITHIN) | (kind_of == WITHIN))
            for wrong, which in ((plain, "writes plainly"), (near, "adds to with the scope .cta, or this one does")):
                if wrong.any():
                    where = region.where(int(place[wrong][0]))
                    text = f"an atomic addition to {where}, which another thread {which}; nothing orders the two"
                    kind_ = "race: atomic and plain write" if which == "writes plainly" else "race: atomics of a CTA"
                    machine.findings.add(kind_, Severity.RACE, text)
            memory.check_overwritten(region, stored, place, who[now] - memory.base)
            sums = word(join_octets(octets.astype(np.uint64)), labels).elements(values, kind, size)[:, 0]
            total = values.field(_SUM, ("a", "b"), [np.broadcast_to(sums, len(now)), new[now]], kind)
            stored.labels[place] = (total << np.uint32(3))[:, None] + np.arange(size, dtype=np.uint32)
            stored.plain[place] = 0
            alone = (writer < 0) | single | same
            alone &= single | (written < ALWAYS)
            stored.written[place] = np.where(alone, machine.shared.order.now, ALWAYS)  # several CTAs: never ordered
            stored.writer[place], stored.atomic[place] = mine, kind_of
            if stored.adders is None:
                stored.adders = Adders(len(stored.labels), size)
            floor = machine.shared.order.floor[who[now] - memory.base][:, None]
            stored.adders.add(place, mine, mine // memory.threads, floor, machine.shared.order.now, narrow=False)


def discard(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """discard: a write of nobody knows what to 128 bytes."""
    address = machine.address(inst.operands[0])
    size = inst.operands[1].bits if isinstance(inst.operands[1], Immediate) else 0
    if size != LINE:
        raise Unclear(inst.line, f"discard takes {LINE} bytes")

    def execute(mask: Mask | None) -> None:
        threads = machine.list_threads(mask)
        lost = machine.values.nowhere("discard has destroyed what was there") << 3
        labels = np.full((len(threads), LINE), lost, np.uint32)
        octets = np.zeros(labels.shape, np.uint8)
        deposit(machine, "global", spread_of(machine, address(mask), threads), threads, labels, octets)

    return execute


BINDS: dict[str, Bind] = {"atomic": atomic, "discard": discard}
