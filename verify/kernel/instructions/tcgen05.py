# SPDX-License-Identifier: Apache-2.0
"""tcgen05 of one CTA: Tensor Memory is allocated, loaded and stored by warps, multiplied into by a single thread.

Which register is which cell, and where an operand's elements are, is what `isa_tables` says; extents and types of a
product come from its instruction descriptor. Pairs of CTAs, sparse and scaled products have no meaning here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import isa_tables
from isa_tables import instruction_descriptor
from isa_tables.instructions import Operand as Fragment
from isa_tables.semantics import Meaning
from verify.kernel.data.distinct import sort_distinct
from verify.kernel.data.registers import Word, join_octets, octets, word
from verify.kernel.data.values import SIZE, Ids, Mask
from verify.kernel.instructions.asynchronous import arrive_by_engine
from verify.kernel.instructions.integers import keep_bits
from verify.kernel.instructions.matrices import (
    Product,
    instruction,
    registers_of,
    threads_of,
    whole_warps,
)
from verify.kernel.instructions.wgmma import address_elements
from verify.kernel.ptx.source import Address, Immediate, PtxInstruction, Register, Vector
from verify.kernel.state.bound import Run
from verify.kernel.state.findings import Severity, Unclear
from verify.kernel.state.machine import Bind, Machine
from verify.kernel.state.order import Ints, latest
from verify.kernel.state.tensor_memory import ALLOCATION, COLUMNS, LANES, PART, TensorMemory


def _of_warps(machine: Machine, bits: Any, warps: Ints, what: str) -> Ints:
    """Return the number that all lanes of each warp give."""
    each = np.broadcast_to(keep_bits(bits, 32), machine.count).reshape(-1, 32)[warps]
    if (each != each[:, :1]).any():
        raise Unclear(machine.findings.line, f"the lanes of a warp give different {what}")
    return each[:, 0].astype(np.int64)


def allocate(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """tcgen05.alloc: the address of new columns goes to shared memory."""
    address, count = machine.address(inst.operands[0]), machine.reader(inst.operands[1])
    generic = "space" not in meaning.words

    def execute(mask: Mask | None) -> None:
        warps = whole_warps(machine, mask, 32)
        to = _of_warps(machine, address(mask), warps, "addresses")
        machine.shared_at(address(mask), warps * 32, generic=generic)
        counts = _of_warps(machine, machine.numbers(count, mask, "a number of columns"), warps, "numbers of columns")
        for warp, place, many in zip(warps, to, counts, strict=True):
            if many not in (32, 64, 128, 256, 512):
                raise Unclear(inst.line, f"{many} columns of Tensor Memory: a power of two from 32 to 512 is allocated")
            thread = np.array([warp * 32])
            machine.unit(TensorMemory).check_permit(int(machine.cta[thread[0]]), int(thread[0]))
            first = machine.unit(TensorMemory).allocate(int(machine.cta[thread[0]]), int(many))
            if first is None:
                text = f"{machine.shared.who(int(thread[0]))} waits for {many} columns of Tensor Memory for ever: "
                machine.findings.add("stuck threads", Severity.STUCK, f"{text}its CTA has them", ALLOCATION)
                raise Unclear(inst.line, "no Tensor Memory is left")
            places = machine.shared.places(np.array([place]), thread, 4)
            plain = octets(np.array([first], np.uint64), 4).astype(np.uint8)
            machine.shared.write(places, thread, np.zeros((1, 4), np.uint32), plain)

    return execute


def deallocate(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """tcgen05.dealloc: columns that one allocation gave."""
    address, count = machine.reader(inst.operands[0]), machine.reader(inst.operands[1])

    def execute(mask: Mask | None) -> None:
        warps = whole_warps(machine, mask, 32)
        first = _of_warps(machine, machine.numbers(address, mask, "an address of Tensor Memory"), warps, "addresses")
        counts = _of_warps(machine, machine.numbers(count, mask, "a number of columns"), warps, "numbers of columns")
        for warp, at, many in zip(warps, first, counts, strict=True):
            if not machine.unit(TensorMemory).free(int(machine.cta[warp * 32]), int(at), int(many), int(warp) * 32):
                text = f"{machine.shared.who(int(warp) * 32)}: no allocation gave {many} columns from {at:#x} on"
                machine.findings.add("wrong deallocation", Severity.MEMORY, text, ALLOCATION)

    return execute


def relinquish(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """tcgen05.relinquish_alloc_permit: the CTA allocates nothing any more."""

    def execute(mask: Mask | None) -> None:
        for warp in whole_warps(machine, mask, 32):
            machine.unit(TensorMemory).relinquish(int(machine.cta[warp * 32]), int(warp) * 32)

    return execute


class _Cells:
    """The cells of Tensor Memory that the registers of a tcgen05.ld or st are, as (warps, lanes, values)."""

    def __init__(self, machine: Machine, inst: PtxInstruction, meaning: Meaning, address: Any, registers: int) -> None:
        self.machine, self.address = machine, machine.address(address)
        split = next((each.bits for each in inst.operands if isinstance(each, Immediate)), None)
        spec, maps = instruction(inst, meaning, **({} if split is None else {"immHalfSplitoff": split}))
        map_ = maps["R"]
        self.size = map_.fragment.bits // 8  # bytes of a cell that a value has
        if registers * 4 != map_.fragment.values * self.size:
            raise Unclear(
                inst.line, f"{inst.opcode} has {map_.fragment.values * self.size // 4} registers, not {registers}"
            )
        half = np.asarray(spec.product(np.arange(32)), np.int64)[:, None] * (split or 0)
        self.lane, self.column = map_.row, map_.col + half

    def __call__(self, mask: Mask | None, warps: Ints) -> tuple[Ints, Ints, Ints, Ints]:
        """CTA, lane, column and thread of each cell."""
        machine = self.machine
        at = _of_warps(machine, self.address(mask), warps, "addresses")[:, None, None]
        lane, column = (at >> 16) + self.lane, (at & 0xFFFF) + self.column
        mine = warps % 4 if machine.threads % 128 == 0 else (warps * 32 % machine.threads) // 32 % 4
        wrong = lane // PART != mine[:, None, None]
        threads = np.broadcast_to((warps[:, None] * 32 + np.arange(32))[..., None], lane.shape)
        if wrong.any():
            place = tuple(part[0] for part in np.nonzero(wrong))
            text = f"{machine.shared.who(int(threads[place]))} accesses lane {int(lane[place])} of Tensor Memory: warp "
            text += f"{int(mine[place[0]])} of a warpgroup has lanes {PART * int(mine[place[0]])} and the 31 after it"
            machine.findings.add("Tensor Memory of another warp", Severity.MEMORY, text, "9.7.16.2.3.1")
            lane = np.where(wrong, PART * mine[:, None, None] + lane % PART, lane)
        ctas = np.broadcast_to(machine.cta[warps * 32][:, None, None], lane.shape)
        return ctas, lane, np.broadcast_to(column, lane.shape), threads

    def start(self, what: str, ctas: Ints, lane: Ints, column: Ints, threads: Ints) -> None:
        """Note that each warp starts its access."""
        memory = self.machine.unit(TensorMemory)
        column = np.minimum(column, 511)
        for place in range(len(ctas)):
            part, columns = int(lane[place, 0, 0]) // PART, sort_distinct(column[place])
            per_column = np.full(len(columns), 1)
            memory.starts(what, ctas[place, 0, 0] * per_column, part * per_column, columns, int(threads[place, 0, 0]))


def load(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """tcgen05.ld: cells of Tensor Memory go to registers."""
    registers = registers_of(inst.operands[0])
    cells = _Cells(machine, inst, meaning, inst.operands[1], len(registers))
    puts = [machine.writer(each) for each in registers]

    def execute(mask: Mask | None) -> None:
        warps = whole_warps(machine, mask, 32)
        if not len(warps):
            return
        where = cells(mask, warps)
        labels, plain = machine.unit(TensorMemory).load(*where)
        cells.start("ld", *where)
        shape = (len(warps) * 32, len(registers), 4)
        label, octet = labels[..., : cells.size].reshape(shape), plain[..., : cells.size].reshape(shape)
        threads = threads_of(warps, 32)
        for number, put in enumerate(puts):
            bits, mine = join_octets(octet[:, number].astype(np.uint64)), label[:, number]
            if len(threads) != machine.count:
                wide_bits, wide = np.zeros(machine.count, np.uint64), np.zeros((machine.count, 4), np.uint32)
                wide_bits[threads], wide[threads] = bits, mine
                bits, mine = wide_bits, wide
            put(word(bits, mine), mask)
        machine.loading.update(
            dict.fromkeys((each.index for each in registers if isinstance(each, Register)), inst.line)
        )

    return execute


def store(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """tcgen05.st: registers go to cells of Tensor Memory."""
    if len(inst.operands) == 3 and not isinstance(inst.operands[1], Immediate):
        raise Unclear(inst.line, "the offset of the second half isn't a number")
    registers = registers_of(inst.operands[-1])
    cells = _Cells(machine, inst, meaning, inst.operands[0], len(registers))
    reads = [machine.reader(each) for each in registers]

    def execute(mask: Mask | None) -> None:
        warps = whole_warps(machine, mask, 32)
        if not len(warps):
            return
        where, sources, threads = cells(mask, warps), [read() for read in reads], threads_of(warps, 32)
        shape = (*where[1].shape, cells.size)
        label = np.stack([np.broadcast_to(source.wide(4), (machine.count, 4))[threads] for source in sources], 1)
        octet = np.stack(
            [np.broadcast_to(octets(source.bits, 4), (machine.count, 4))[threads] for source in sources], 1
        )
        cells.start("st", *where)
        machine.unit(TensorMemory).write(*where, label.reshape(shape), octet.astype(np.uint8).reshape(shape))

    return execute


def wait(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """tcgen05.wait: the loads or stores of a warp are done."""
    what = meaning.words["what"].partition("::")[2]

    def execute(mask: Mask | None) -> None:
        for warp in whole_warps(machine, mask, 32):
            machine.unit(TensorMemory).waits(what, int(warp) * 32)
        if what == "ld":
            machine.loading.clear()

    return execute


def fence(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """tcgen05.fence: what a thread did before a barrier, and does after one, is in the order of the barrier."""
    closes = meaning.words["what"] == "fence::before_thread_sync"

    def execute(mask: Mask | None) -> None:
        fences = machine.unit(TensorMemory).fences
        (fences.close if closes else fences.open)(machine.list_threads(mask))

    return execute


def commit(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """tcgen05.commit: an mbarrier is arrived at when all products that the thread has issued are done."""
    address, generic = machine.address(inst.operands[0]), "space" not in meaning.words

    def execute(mask: Mask | None) -> None:
        threads = machine.list_threads(mask)
        for thread, place in zip(threads, machine.shared_at(address(mask), threads, generic=generic), strict=True):
            clock = machine.shared.order.clock(np.array([thread]))  # what came before the products, and their end
            memory = machine.unit(TensorMemory)
            clock = latest(clock, machine.shared.order.end_clock(memory.column(thread), int(memory.issued[thread])))
            arrive_by_engine(machine, int(thread), int(place), clock)

    return execute


def product(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """tcgen05.mma: D = A * B + D in Tensor Memory, B and perhaps A from shared memory, by single threads."""
    kind, operands = meaning.words["kind"].partition("::")[2], list(inst.operands)
    fifth = operands[4] if len(operands) > 4 else None
    masks = fifth.items if isinstance(fifth, Vector) else ()  # of lanes to leave out
    if masks:
        del operands[4]
    if len(operands) != 5 or isinstance(operands[4], Immediate):
        raise Unclear(inst.line, f"no meaning for {inst.opcode} that scales D")
    left = operands[1]
    space = "tmem" if isinstance(left, Address) else "smem"
    to, right, idesc, adds = (machine.address(operands[0]), *map(machine.reader, operands[2:]))
    left_out = [machine.reader(each) for each in masks]
    first = machine.address(left) if isinstance(left, Address) else None
    a_of = machine.reader(left) if first is None else None
    mnemonic = ".".join(word for word in inst.words if not word.startswith("collector"))

    def execute(mask: Mask | None) -> None:
        threads = machine.list_threads(mask)
        for each in left_out:
            if machine.at(machine.numbers(each, mask, "a mask of lanes"), threads).any():
                raise Unclear(inst.line, f"no meaning for {inst.opcode} that leaves out lanes")
        words = machine.numbers(a_of, mask, "a matrix descriptor") if a_of is not None else first(mask)  # type: ignore[misc]
        given = [words, machine.numbers(right, mask, "a matrix descriptor"), to(mask),
                 machine.numbers(idesc, mask, "an instruction descriptor"),
                 machine.numbers(adds, mask, "the predicate that adds D")]  # fmt: skip
        table = np.stack([np.broadcast_to(each, machine.count)[threads] for each in given], 1)
        for row in np.unique(table, axis=0):  # CTAs that issue the same go together
            mine = threads[(table == row).all(1)]
            if len(sort_distinct(machine.cta[mine])) < len(mine):
                text = f"{machine.shared.who(int(mine[0]))} and others of its CTA issue one product each"
                machine.findings.add("tcgen05.mma by several threads", Severity.LETTER, text, "9.7.16.5")
            for some in [mine] if len(sort_distinct(machine.cta[mine])) == len(mine) else mine.reshape(-1, 1):
                _Multiplication(machine, inst, mnemonic, kind, space, [int(each) for each in row])(some)

    return execute


class _Multiplication:
    """One tcgen05.mma with its descriptors."""

    def __init__(
        self, machine: Machine, inst: PtxInstruction, mnemonic: str, kind: str, space: str, row: list[int]
    ) -> None:
        self.machine, self.inst, self.space = machine, inst, space
        self.left, self.right, self.to, idesc, self.adds = row
        self.to &= 0xFFFFFFFF
        try:
            said = instruction_descriptor.decode(kind, idesc & 0xFFFFFFFF)
            lane = self.to >> 16
            layout: dict[str, Any] = {"layout": "F", "base": lane % PART} if said["M"] == 64 else {"layout": "D"}
            spec = isa_tables.instruction(mnemonic, A_space=space, M=said["M"], N=said["N"], **layout)
        except isa_tables.IsaError as error:
            raise Unclear(inst.line, f"{inst.opcode}: {str(error).splitlines()[0]}") from None
        odd = [name for name in ("sparse", "selector", "reuse") if said[name]]
        odd += [name for name in ("negate_A", "negate_B") if said[name] != "no"]
        self.clamps = said["saturate"] != "no"
        self.types = {name: str(said[name]) for name in "DAB"}
        odd += [f"{name} of type {kind}" for name, kind in self.types.items() if kind not in SIZE]
        if odd:
            raise Unclear(inst.line, f"no meaning for the instruction descriptor {idesc:#x}: {', '.join(odd)}")
        self.majors = {"A": str(said["major_A"]), "B": str(said["major_B"])}
        self.operands = spec.operands

    def __call__(self, threads: Ints) -> None:
        """Multiply, for one thread of each of some CTAs."""
        machine, values, memory = self.machine, self.machine.values, self.machine.unit(TensorMemory)
        memory.products += 1
        b = self._from_shared(self.operands["B"], self.right, threads)
        if self.space == "smem":
            a = self._from_shared(self.operands["A"], self.left, threads)
        else:
            a = self._from_tensor("A", self.left & 0xFFFFFFFF, threads)
        kind = self.types["D"]
        c = np.full((len(threads), *self.operands["D"].extent), values.constant(0, kind), np.uint32)
        if self.adds & 1:
            c = self._from_tensor("D", self.to, threads)
        if machine.watch is not None:
            elsewhere = "shared memory" if self.space == "smem" else "memory"
            machine.watch(Product(self.inst.line, "tcgen05.mma", threads, a, b, {}, elsewhere))
        ids = values.product(a, b, c, kind, kind if kind == "f16" else "", self.clamps)
        ctas, lanes, columns, _ = self._cells(self.operands["D"], self.to, threads)
        labels = Word.of(ids.reshape(-1, 1), kind).wide(SIZE[kind]).reshape(*ids.shape, -1)
        whose = np.broadcast_to(threads[:, None, None], ids.shape)
        memory.write(ctas, lanes, columns, whose, labels, np.zeros(labels.shape, np.uint8))
        self._use(ctas, lanes, columns, threads)
        memory.issued[threads] = memory.products

    def _from_shared(self, fragment: Fragment, descriptor: int, threads: Ints) -> Ids:
        """Return the ids (threads, rows, columns) that a descriptor names in the memory of each thread's CTA."""
        machine, shared, size = self.machine, self.machine.shared, fragment.bits // 8
        start = address_elements(machine, fragment, descriptor, self.majors[fragment.name]).ravel()
        whose = np.repeat(threads, len(start))
        places = shared.places(np.tile(start, len(threads)), whose, size)
        cells, which = np.unique(places[:, 0] // shared.cell, return_index=True)
        shared.check_read(cells, whose[which])
        for thread in threads.tolist():
            mine = machine.cta[thread] * shared.span // shared.cell
            machine.unit(TensorMemory).consumes(
                cells[(cells >= mine) & (cells < mine + shared.span // shared.cell)], thread
            )
        labels = shared.mark_unwritten(places, whose, shared.labels[places])
        held = word(join_octets(shared.plain[places].astype(np.uint64)), labels)
        ids = held.elements(machine.values, self.types[fragment.name], size).reshape(-1)
        return np.broadcast_to(ids, (len(places),)).reshape(len(threads), *fragment.extent)

    def _cells(self, fragment: Fragment, address: int, threads: Ints) -> tuple[Ints, Ints, Ints, Ints]:
        """CTA, lane and column of each element of an operand in Tensor Memory, and its first bit."""
        place = fragment.place(*np.indices(fragment.extent))
        lane, column = place["lane"], place["column"] + (address & 0xFFFF)
        if (address >> 16) - int(place["lane"].min()) not in (0,):
            raise Unclear(self.inst.line, f"Tensor Memory from lane {address >> 16} on has no meaning for this product")
        shape = (len(threads), *fragment.extent)
        ctas = np.broadcast_to(self.machine.cta[threads][:, None, None], shape)
        bit = np.broadcast_to(place.get("bit", np.zeros_like(lane)), shape)
        return ctas, np.broadcast_to(lane, shape), np.broadcast_to(column, shape), bit

    def _from_tensor(self, name: str, address: int, threads: Ints) -> Ids:
        """Return the matrices of ids of an operand in Tensor Memory."""
        fragment, kind = self.operands[name], self.types[name]
        ctas, lanes, columns, bit = self._cells(fragment, address, threads)
        whose = np.broadcast_to(threads[:, None, None], ctas.shape)
        size = SIZE[kind]
        self._use(ctas, lanes, columns, threads)
        labels, plain = self.machine.unit(TensorMemory).load(ctas, lanes, columns, whose)
        if size < labels.shape[-1]:  # a part of a cell
            take = bit[..., None] // 8 + np.arange(size)
            labels, plain = np.take_along_axis(labels, take, -1), np.take_along_axis(plain, take, -1)
        held = word(join_octets(plain.reshape(-1, size).astype(np.uint64)), labels.reshape(-1, size))
        ids = held.elements(self.machine.values, kind, size)
        return np.broadcast_to(ids.reshape(-1), (bit.size,)).reshape(bit.shape)

    def _use(self, ctas: Ints, lanes: Ints, columns: Ints, threads: Ints) -> None:
        """Note that the product uses cells."""
        there = np.zeros((LANES // PART, COLUMNS), bool)
        there[lanes[0] // PART, np.minimum(columns[0], COLUMNS - 1)] = True  # the same cells in each CTA
        parts, column = np.nonzero(there)
        for place, thread in enumerate(threads):
            self.machine.unit(TensorMemory).multiplies(
                np.full(len(parts), ctas[place, 0, 0]), parts, column, int(thread)
            )


BINDS: dict[str, Bind] = {
    "tensor_allocate": allocate,
    "tensor_deallocate": deallocate,
    "tensor_relinquish": relinquish,
    "tensor_from": load,
    "tensor_to": store,
    "tensor_wait": wait,
    "tensor_commit": commit,
    "tensor_fence": fence,
    "tensor_product": product,
}
