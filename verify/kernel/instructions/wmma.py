# SPDX-License-Identifier: Apache-2.0
"""wmma: matrices of a warp whose distribution over its registers the ISA leaves open.

Each run draws an arrangement of its own for every kind of fragment: which lane and value hold which element. A value
knows its place in a fragment (`place`). Arithmetic of values at one place stays there, as `alpha * x[i] + y[i]`
does; what two places meet in, or comes out of a fragment otherwise than by wmma, has no meaning. And what is wrong in
one arrangement and different in another is not called wrong: it rests on what the ISA leaves open.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isa_tables.instructions import Operand as Fragment
from isa_tables.semantics import Meaning
from verify.kernel.data.histories import END, History
from verify.kernel.data.registers import Word, join_octets, word
from verify.kernel.data.values import CODE, SIZE, Bits, Ids, Mask, Values
from verify.kernel.instructions.accesses import deposit, fetch
from verify.kernel.instructions.integers import keep_bits
from verify.kernel.instructions.matrices import (
    Product,
    deposit_values,
    fragment_ids,
    instruction,
    multiply,
    registers_of,
    whole_warps,
)
from verify.kernel.ptx.source import Operand, PtxInstruction
from verify.kernel.state.bound import Read, Run
from verify.kernel.state.findings import Severity, Unclear
from verify.kernel.state.machine import Bind, Machine
from verify.kernel.state.order import Ints

# Bytes to which each row or column in memory is aligned, or a fragment if that is smaller: PTX ISA 9.7.14.4.3.
LINE = 16


@dataclass(frozen=True, slots=True)
class FragmentKind:
    """One kind of fragment in one run: its arrangement, and the first of the numbers of its places."""

    words: str  # C m16n16k16 f32
    fragment: Fragment
    element: NDArray[np.int64]  # of each place (lane * values + value), the element row * columns + column
    place: NDArray[np.int64]  # of each element, one of its places
    first: int  # number of its first place

    @property
    def numbers(self) -> Ids:
        """The number of each place."""
        return np.arange(self.first, self.first + len(self.element), dtype=np.uint32)

    def lines(self, column: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the line of each place's element in memory, a row or a `column`, and where it is in that."""
        row, column_ = np.divmod(self.element, self.fragment.extent[1])
        return (column_, row) if column else (row, column_)


def kind_of(machine: Machine, inst: PtxInstruction, fragment: Fragment, role: str) -> FragmentKind:
    """Return the kind of an operand: its role, shape, type, and for A and B its layout."""
    shape = next(word for word in inst.words if word[:1] == "m" and word[1:2].isdigit())
    layouts = [word for word in inst.words if word in ("row", "col")]
    layout = {"A": layouts[:1], "B": layouts[-1:]}.get(role, [])
    words = " ".join([role, shape, fragment.type, *layout])
    if words not in machine.kinds:
        slots, elements = fragment.lanes * fragment.values, int(np.prod(fragment.extent))
        if fragment.type not in SIZE or not fragment.type or slots % elements:
            raise Unclear(inst.line, f"no meaning for fragments of type {fragment.type}")
        order = list(range(slots))
        random.Random(f"{machine.values.choices.seed} {machine.arrangement} {words}").shuffle(order)
        place = np.array(order)
        element = np.empty(slots, np.int64)
        element[place] = np.arange(slots) % elements
        first = 1 + sum(len(earlier.element) for earlier in machine.kinds.values())
        if first + slots >= END:
            raise Unclear(inst.line, "too many kinds of fragments")
        machine.kinds[words] = FragmentKind(words, fragment, element, place[:elements], first)
    kind: FragmentKind = machine.kinds[words]
    return kind


def place(values: Values, ids: Ids, slots: Ids, kind: str) -> Ids:
    """Return the same values as new ones of a type, at these places of a fragment, counted from 1; 0 is at none."""
    if values.opaque:
        return ids
    values.flush()
    flat, first = ids.ravel(), values.new(ids.size, CODE[kind])
    here = slice(first, values.top)
    values.residues[:, here], values.sample[here] = values.residues[:, flat], values.sample[flat]
    values.signs[here] = values.signs[flat]
    every, where = np.unique(np.broadcast_to(slots, ids.shape), return_inverse=True)
    marks = [values.histories.number(History(slot=slot, last=END - slot if slot else 0)) for slot in every.tolist()]
    both = values.history[flat], np.array(marks, np.uint32)[where.ravel()]
    values.history[here] = values.histories.combine(
        both, lambda parts: parts[0]._replace(slot=parts[1].slot, last=parts[1].last)
    )
    values.copies.append((first, flat))
    return np.arange(first, values.top, dtype=np.uint32).reshape(ids.shape)


def origin(values: Values, ids: Ids) -> Ids:
    """Return the ids of which `place` made these."""
    origins = ids.copy()
    for first, source in values.copies:
        here = (ids >= first) & (ids < first + len(source))
        origins[here] = source[ids[here] - first]
    return origins


def _take(machine: Machine, kind: FragmentKind, reads: Sequence[Read], warps: Ints) -> Ids:
    """Return the ids (warps, rows, columns) of a fragment in registers; Unclear where they are of no such fragment."""
    values, fragment = machine.values, kind.fragment
    ids = fragment_ids(machine, reads, fragment, warps)
    values.flush()
    wanted = kind.numbers
    uniform = (ids == ids[:, :1]).all(1)
    if not uniform.all() and not values.copies:
        raise Unclear(machine.findings.line, f"no wmma instruction made the registers of fragment {kind.words}")
    if not uniform.all():
        rest = ids[~uniform]
        place, last = values.marks("slot", rest), values.marks("last", rest)
        plain = (place == 0) & (values.residues[:, rest] == values.residues[:, rest[:, :1]]).all(0).all(1)[:, None]
        if not (plain | (place == wanted) & (last == END - wanted)).all():
            text = f"the registers of fragment {kind.words} hold what no wmma instruction put there, another fragment, "
            raise Unclear(machine.findings.line, text + "or values that come from two of its places")
    tile: Ids = ids[:, kind.place].reshape(len(warps), *fragment.extent)
    return tile


def _write(
    machine: Machine, kind: FragmentKind, registers: Sequence[Operand], tile: Ids, warps: Ints, mask: Mask | None
) -> None:
    """Write matrices (warps, rows, columns) of ids into registers."""
    fragment = kind.fragment
    ids = tile.reshape(len(warps), -1)[:, kind.element]
    held = place(machine.values, ids, kind.numbers, fragment.type)
    deposit_values(machine, registers, fragment.type, held.reshape(len(warps), fragment.lanes, -1), warps, mask)


def _same(machine: Machine, bits: Bits, warps: Ints, what: str) -> Ints:
    """Return the number that all lanes of each warp give; Unclear where they differ."""
    each = np.broadcast_to(bits, machine.count).reshape(-1, 32)[warps]
    if (each != each[:, :1]).any():
        raise Unclear(machine.findings.line, f"the lanes of a warp give different {what}")
    return each[:, 0].astype(np.int64)


def find_places(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> tuple[FragmentKind, NDArray[np.int64]]:
    """Return the kind of fragment that a wmma.load or store has, and the places whose elements it accesses."""
    if meaning.row.meaning == "fragment_store":
        kind = kind_of(machine, inst, instruction(inst, meaning)[0].operands["D"], "C")
        return kind, kind.place
    role = meaning.words["role"].upper()
    kind = kind_of(machine, inst, instruction(inst, meaning)[0].operands[role], role)
    return kind, np.arange(len(kind.element))


class _Memory:
    """The elements of a fragment in memory: where each place's element is, and the thread that has it."""

    def __init__(self, machine: Machine, inst: PtxInstruction, address: Operand, step: Operand | None) -> None:
        self.machine, self.address = machine, machine.address(address)
        self.step = machine.reader(step) if step is not None else None
        self.column = "col" in inst.words
        self.space = next((word for word in inst.words if word in ("global", "shared", "shared::cta")), "")

    def places(self, kind: FragmentKind, chosen: Ints, warps: Ints, mask: Mask | None) -> tuple[Bits, Ints]:
        """Return the address of the element at each of some places, for all warps, and the thread of each place."""
        machine, fragment = self.machine, kind.fragment
        size, (_, columns) = SIZE[fragment.type], fragment.extent
        base = _same(machine, self.address(mask), warps, "addresses")
        lead = np.full(len(warps), fragment.extent[0] if self.column else columns)
        if self.step is not None:
            lead = _same(machine, keep_bits(machine.numbers(self.step, mask, "a stride"), 32), warps, "strides")
        line = min(LINE, fragment.regs * 4)
        if ((base % line) | (lead * size % line)).any():
            text = f"a matrix at address {int(base[0]):#x} in lines of {int(lead[0]) * size} bytes: each begins at a "
            machine.findings.add("misaligned access", Severity.MEMORY, f"{text}multiple of {line} bytes", "9.7.14.4.3")
        major, minor = kind.lines(self.column)
        addresses = base[:, None] + (major[chosen] * lead[:, None] + minor[chosen]) * size
        threads = warps[:, None] * 32 + chosen // fragment.values
        return addresses.ravel().astype(np.uint64), threads.ravel()


def load(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """wmma.load: a matrix from memory into a fragment."""
    kind, places = find_places(machine, inst, meaning)
    registers = registers_of(inst.operands[0])
    memory = _Memory(machine, inst, inst.operands[1], inst.operands[2] if len(inst.operands) > 2 else None)
    fragment = kind.fragment
    size = SIZE[fragment.type]
    _check(inst, registers, fragment)

    def execute(mask: Mask | None) -> None:
        warps = whole_warps(machine, mask, 32)
        if not len(warps):
            return
        addresses, threads = memory.places(kind, places, warps, mask)
        labels, plain = fetch(machine, memory.space, addresses, threads, size)
        ids = word(join_octets(plain.astype(np.uint64)), labels).elements(machine.values, fragment.type, size)
        held = np.broadcast_to(ids.reshape(-1), (len(warps) * len(kind.element),)).reshape(len(warps), -1)
        made = place(machine.values, held, kind.numbers, fragment.type)
        deposit_values(machine, registers, fragment.type, made.reshape(len(warps), 32, -1), warps, mask)

    return execute


def store(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """wmma.store: a fragment of sums into memory."""
    kind, places = find_places(machine, inst, meaning)
    registers = registers_of(inst.operands[1])
    memory = _Memory(machine, inst, inst.operands[0], inst.operands[2] if len(inst.operands) > 2 else None)
    reads = [machine.reader(register) for register in registers]
    _check(inst, registers, kind.fragment)

    def execute(mask: Mask | None) -> None:
        warps = whole_warps(machine, mask, 32)
        if not len(warps):
            return
        tile = _take(machine, kind, reads, warps).ravel()
        ids = place(machine.values, tile, np.zeros(1, np.uint32), kind.fragment.type)
        held = Word.of(ids[:, None], kind.fragment.type).wide(SIZE[kind.fragment.type])
        addresses, threads = memory.places(kind, places, warps, mask)
        deposit(machine, memory.space, addresses, threads, held, np.zeros(held.shape, np.uint8))

    return execute


def product(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """wmma.mma: D = A * B + C, all four in fragments."""
    spec = instruction(inst, meaning)[0]
    kinds = {role: kind_of(machine, inst, spec.operands[role], role.replace("D", "C")) for role in "DABC"}
    parts = dict(zip("DABC", map(registers_of, inst.operands), strict=True))
    for role in "DABC":
        _check(inst, parts[role], kinds[role].fragment)
    reads = {role: [machine.reader(register) for register in parts[role]] for role in "ABC"}

    def execute(mask: Mask | None) -> None:
        warps = whole_warps(machine, mask, 32)
        if not len(warps):
            return
        a, b, c = (_take(machine, kinds[role], reads[role], warps) for role in "ABC")
        if machine.watch is not None:
            left, right = origin(machine.values, a), origin(machine.values, b)
            machine.watch(Product(inst.line, "wmma", warps * 32, left, right, {}, "the fragment"))
        _write(machine, kinds["D"], parts["D"], multiply(machine, spec, a, b, c), warps, mask)

    return execute


def _check(inst: PtxInstruction, registers: Sequence[Operand], fragment: Fragment) -> None:
    if len(registers) != fragment.regs:
        raise Unclear(inst.line, f"{fragment.name} has {len(registers)} registers, not {fragment.regs}")


BINDS: dict[str, Bind] = {"fragment_load": load, "fragment_store": store, "fragment_product": product}
