# SPDX-License-Identifier: Apache-2.0
"""What one instruction does to a machine whose registers hold plain bits at the edges of the types, or data."""

from __future__ import annotations

import hashlib
import random
import re
from functools import cache
from typing import Any, TypeVar

import numpy as np

from tests.verify.kernel.forms import Form
from verify.kernel.claims.claim import claim_of
from verify.kernel.claims.launch import Launch
from verify.kernel.data.opaque import OpaqueValues
from verify.kernel.data.registers import Word
from verify.kernel.data.values import CODE, FIRST, SIZE, Values
from verify.kernel.instructions import asynchronous, handlers
from verify.kernel.instructions.bulk import Bulk
from verify.kernel.instructions.fields import PACKED
from verify.kernel.instructions.tensor_maps import MadeMaps
from verify.kernel.instructions.warpgroups import RegisterCounts
from verify.kernel.interpretation import Interpretation
from verify.kernel.ptx.parse import parse_kernel
from verify.kernel.ptx.source import WIDTHS, Register
from verify.kernel.state.findings import Unclear
from verify.kernel.state.machine import Machine, Unit
from verify.kernel.state.tensor_memory import TensorMemory
from verify.kernel.state.windows import PARAMETER_ROOM, PARAMETER_WINDOW, WINDOW

U = TypeVar("U", bound=Unit)

LANES = 128
BY_DATA = frozenset({"atomic_any", "bulk_reduce", "tensor_reduce"})  # classes with a meaning on opaque data alone
MATRICES = frozenset(
    "product sparse_product load_matrix store_matrix fragment_load fragment_store fragment_product tensor_product "
    "tensor_store tensor_reduce bulk_copy bulk_reduce".split()
)
TEXT = """.version 9.0
.target sm_100a
.address_size 64
.extern .shared .align 1024 .b8 dynamic[];
.entry k(.param .u64 pa, .param .u64 pc, .param .align 64 .b8 map[128], .param .align 8 .b8 more[64])
{
.reg .pred %p<9>; .reg .b16 %h<80>; .reg .b32 %r<200>; .reg .b64 %d<80>; .reg .b128 %q<9>;
.local .align 8 .b8 own[64]; .param .align 8 .b8 given[64];
LIST: .branchtargets END, END;
INSTRUCTION
END: ret;
}
"""
ROOM = 1 << 14
ARRAYS = {name: {"dims": "x", "type": "f32", "offset": 0, "out": name == "C"} for name in "AC"}
CLAIM = {
    "grid": 1, "block": LANES, "smem": ROOM, "sizes": {"X": ROOM}, "claim": "C[x] = C[x]", "arrays": ARRAYS,
    "params": ["A", "C", {"map": "C", "box": [32], "swizzle": "none"}, {"struct": "<8Q", "values": [*range(250, 258)]}],
}  # fmt: skip
EDGES = (
    *(0, 1, 2, 3, 7, 31, 32, 33, 64, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x0001, 0x8001, 0x3C00, 0x7C00, 0x7E00),
    *(0x3F80, 0x7F80, 0x3F800000, 0x3F000000, 0xBF800000, 0x7F800000, 0x7FC00000, 0x4B800003, 0x40200000),
    *(0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x8000000080000000, 0x3FF0000000000000, 0x7FF8000000000000),
    *(0xC00C000000000000, 0x7FFFFFFFFFFFFFFF, 0x8000000000000000, 0xFFFFFFFFFFFFFFFF),
)


class Refused(Exception):
    """An instruction without a meaning, or a result without one."""


@cache
def launch() -> Launch:
    return claim_of(CLAIM).launches[0]


def bind_instruction(text: str, opaque: bool = False) -> tuple[Machine, Interpretation]:
    """Return a machine with an instruction as its first; Refused if it has no meaning."""
    kernel = parse_kernel(TEXT.replace("INSTRUCTION", text))
    values = OpaqueValues(1) if opaque else Values(1, capacity=1 << 16)
    run = Interpretation(kernel, launch(), values, 1000, {})
    run.machine.start([(0, 0, 0)], 0)
    missing = handlers.bind_instructions(run.machine)
    if missing:
        raise Refused(missing[0].text)
    return run.machine, run


@cache
def effect(form: Form, data: bool, masked: bool) -> str:
    """Return a digest of all that an instruction changes; "" if it or its result has no meaning."""
    try:
        return _effect(form, data, masked)
    except (Refused, Unclear):
        return ""


def _effect(form: Form, data: bool, masked: bool) -> str:
    machine, run = bind_instruction(f"{form.before} {form.text}", opaque=form.row.meaning in BY_DATA)
    _fill(machine, run, form, data)
    mask = np.arange(LANES) // 32 % 2 == 0 if masked else None
    if form.row.meaning == "tensor_product":  # a thread issues it
        mask = np.arange(LANES) == 0
    machine.active = np.ones(LANES, bool) if mask is None else mask
    first = len(re.findall(";", form.before))
    for number in range(first):
        machine.bound[number].run(mask)
    machine.values.flush()
    before, top = [id(word) for word in machine.registers], machine.values.top
    machine.number, machine.findings.line = first, machine.kernel.instructions[first].line
    machine.values.line = machine.findings.line
    if machine.bound[first].control:
        machine._control(machine.bound[first], machine.kernel.instructions[first], machine.active, machine.active, 0)
    else:
        machine.bound[first].run(mask)
    machine.values.flush()
    return _digest(machine, run, before, top)


def _digest(machine: Machine, run: Interpretation, before: list[int], top: int) -> str:
    """Return a digest of what changed since the registers were those of these ids, and values had numbers below top."""
    said = hashlib.blake2b()
    for number, (word, old) in enumerate(zip(machine.registers, before, strict=True)):
        if id(word) != old and word is not None:
            try:
                said.update(f"register {number}".encode() + _word(machine, word, top))
            except Refused:
                if (
                    number < machine.carry
                ):  # the borrow of an addition has no meaning, nor has the carry of a difference
                    raise
    shared, order = machine.shared, machine.shared.order
    stored = [region.stored for region in run.regions if region.stored is not None]
    for labels in (shared.labels, machine.local.labels, *(memory.labels for memory in stored)):
        said.update(_labels(machine, labels, top))
    for each in (shared.plain, shared.generic, shared.pending, order.known, order.engine, machine.local.plain,
                 machine.group, machine.pc, machine.state, *(memory.plain for memory in stored)):  # fmt: skip
        said.update(each.tobytes())
    _tell_engines(machine, said)
    for copy in shared.copies:
        said.update(_labels(machine, copy.labels, top) + copy.plain.tobytes())
    said.update(
        repr((sorted(machine.findings.reported), sorted(machine.findings.notes), machine.offsets_read)).encode()
    )
    said.update(repr((_unit(machine, RegisterCounts), _unit(machine, MadeMaps), machine.loading)).encode())
    return said.hexdigest()


def _unit(machine: Machine, kind: type[U]) -> U | None:
    """Return the unit of a kind, if the kernel uses it."""
    return machine.unit(kind) if kind in machine.units else None


def _tell_engines(machine: Machine, said: hashlib.blake2b) -> None:
    """Add what asynchronous work changed: mbarriers, bulk copies and Tensor Memory."""
    if (engine := _unit(machine, asynchronous.Engine)) is not None:
        said.update(repr((engine.blocked, engine.time)).encode())
        for barrier in engine.barriers.values():
            said.update(repr((barrier.number, barrier.pending, barrier.bytes, barrier.count)).encode())
            said.update(repr([getattr(barrier, name).tobytes() for name in ("released", "gathered")
                              if hasattr(getattr(barrier, name, None), "tobytes")]).encode())  # fmt: skip
    if (bulk := _unit(machine, Bulk)) is not None:
        said.update(bulk.reading.tobytes())
        opened, closed = (
            [*bulk.open.items()],
            [(thread, copies) for thread, some in bulk.groups.items() for copies in some],
        )
        for thread, copies in (*opened, *closed):
            said.update(repr((thread, len(opened), copies.cells)).encode())
            for stored, places in (*copies.sent, *copies.added):
                said.update(places.tobytes() + (b"" if stored.adders is None else stored.adders.flying.tobytes()))
    if (tensors := _unit(machine, TensorMemory)) is not None:
        said.update(repr((tensors.pieces, sorted(tensors.open), tensors.products, tensors.fences.before)).encode())
        for each in (tensors.labels, tensors.plain, tensors.product, tensors.fences.known, *tensors.begun.values()):
            said.update(each.tobytes())


def _word(machine: Machine, word: Word, top: int) -> bytes:
    made = word.bits.tobytes()
    if word.labels is not None:
        made += _labels(machine, word.labels, top)
    if word.condition is not None:
        made += machine.values.residues[:, word.condition.ids].tobytes() + word.condition.opposite.tobytes()
    return made


def _labels(machine: Machine, labels: Any, top: int) -> bytes:
    """What labels say: old values by their ids, new ones by what they are; Refused where none has a meaning."""
    values = machine.values
    ids = labels >> np.uint32(3)
    lost = (ids > 2) & (ids < FIRST)
    new = ids[ids >= top]
    causes = values.marks("cause", new) > 0 if not values.opaque else np.zeros(new.shape, bool)
    if lost.any() or causes.any():
        rows = (lost | np.isin(ids, new[causes])).reshape(-1, labels.shape[-1] if labels.ndim > 1 else 1)
        if rows.any(-1).all():
            raise Refused("a reason")
        new, labels = new[~causes], np.where(lost, np.uint32(3 << 3), labels)
    if not new.size:
        return bytes(labels.tobytes())
    history = values.histories.table()[values.history[new]] if not values.opaque else values.history[new]
    about = values.residues[:, new].tobytes() + values.kind[new].tobytes() + history.tobytes()
    return bytes(np.where(ids >= top, labels & np.uint32(7), labels).tobytes() + about)


@cache
def picks() -> np.ndarray:
    """The bits that registers hold: three in four at the edges of the types."""
    source = random.Random(5)
    drawn = [source.choice((source.getrandbits(64), *[source.choice(EDGES)] * 3)) for _ in range(4096)]
    return np.array(drawn, np.uint64)


def _fill(machine: Machine, run: Interpretation, form: Form, data: bool) -> None:
    """Put something into every register; addresses into those that a form has as addresses."""
    drawn, lane = picks(), np.arange(LANES)
    for number, kind in enumerate(machine.kernel.registers):
        mixed = drawn[(lane * 31 + number * 97) % len(drawn)]
        width = WIDTHS[kind]
        if kind == "pred":  # none of a warp, all of another, some of two
            mixed = np.where(lane // 32 == 1, 0, np.where(lane // 32 == 2, 1, mixed & np.uint64(1))).astype(np.uint64)
        machine.registers[number] = Word(mixed if width >= 64 else mixed & np.uint64((1 << width) - 1))
    names = machine.kernel.names
    first = machine.kernel.shared and 0
    base = machine.symbols["dynamic"]
    special = {
        "%d5": (2 << WINDOW) + 64 * lane, "%d6": (2 << WINDOW) + 64 * lane, "%r5": base + 1024 + 64 * lane,
        "%d7": np.array([(PARAMETER_WINDOW << WINDOW) + (2 << PARAMETER_ROOM)]), "%r8": np.array([8]),
        "%r6": np.array([base]), "%d9": np.array([2 << WINDOW]),
        "%d8": np.array([0x4000004000010000 | (base + 2048) >> 4]), "%r9": np.array([0]),
        "%d4": np.array([0x4000404000010000 | (base + 2048) >> 4]),
        "%p7": np.array([0]), "%p8": np.array([0]), "%r4": np.array([1 << 4 | 1 << 17 | 4 << 24]),
        "%r7": np.array([0x44444444]),  # metadata: the first two of four
    }  # fmt: skip
    assert not first
    for name, bits in special.items():
        machine.registers[names.index(name)] = Word(bits.astype(np.uint64))
    if form.row.meaning.startswith("barrier_") or form.row.meaning in (
        "wait", "copy_arrive", "tensor_load", "bulk_copy", "tensor_commit",
    ):  # fmt: skip
        if form.row.meaning != "barrier_init":
            engine = machine.unit(asynchronous.Engine)
            column = machine.shared.order.column(int(base))
            engine.barriers[0, base] = asynchronous.Phases(200, 200, 0, 1, engine.executed, column)
            engine.barriers[0, base].released = np.ones(LANES + column + 1, np.int32)
            state = Values.reason(machine.values, "is a state", 0)
            engine.states[state] = int(base), -1  # of a phase that is over
            labels = np.uint32(state << 3) + np.arange(8, dtype=np.uint32)
            machine.registers[names.index("%d12")] = Word(np.zeros(1, np.uint64), labels[None])
    for region in run.regions:
        if region.stored is not None and not data:
            region.stored.labels[:] = 0
            region.stored.plain[:] = np.random.default_rng(3).integers(0, 256, len(region.stored.plain))
    if form.row.meaning in MATRICES:
        _fill_matrices(machine, run)
    if form.row.meaning in ("tensor_product", "tensor_from", "tensor_to", "tensor_wait", "tensor_deallocate"):
        tensors = machine.unit(TensorMemory)
        column = tensors.allocate(0, 32)
        tensors.labels[:] = 0
        tensors.plain.view(np.uint16)[:] = 0x3C00
        machine.registers[names.index("%r8")] = Word(np.array([column], np.uint64))
    machine.unit(RegisterCounts).owned = {warp: (96, 0, 0) for warp in range(LANES // 32)}
    if data:
        _with_data(machine, run, form)


def _fill_matrices(machine: Machine, run: Interpretation) -> None:
    """Put pairs of small f16, which are no odd f32 either, into registers that matrices may be in, and into memory."""
    lane, names = np.arange(LANES, dtype=np.uint64), machine.kernel.names
    for number in range(20, 100):
        low, high = (
            0x3C00 + 64 * ((lane * np.uint64(3 + step) + np.uint64(number)) % np.uint64(16)) for step in (0, 2)
        )
        machine.registers[names.index(f"%r{number}")] = Word(high << np.uint64(16) | low)
    machine.shared.labels[:] = 0
    for plain in (machine.shared.plain, *(region.stored.plain for region in run.regions if region.stored is not None)):
        plain.view(np.uint16)[:] = 0x3C00 + 64 * (np.arange(len(plain) // 2) * 7 % 37)


def _with_data(machine: Machine, run: Interpretation, form: Form) -> None:
    """Put values of the operands' types into the registers of a form, data by its type."""
    from isa_tables.semantics import meaning

    decoded = meaning(form.opcode)
    assert decoded is not None
    roles = [role for role, _, _ in form.row.operands]
    top = run.regions[0].first
    for place, operand in enumerate(machine.kernel.instructions[0].operands):
        kind = decoded.types.get(roles[place], "") if place < len(roles) else ""
        kind = PACKED.get(kind, {"b8": "u8", "b16": "f16", "b32": "f32", "b64": "f64"}.get(kind, kind))
        if kind not in SIZE or not kind:
            continue
        for each in getattr(operand, "items", (operand,)):
            if not isinstance(each, Register) or each.name in ("%d5", "%r5"):
                continue
            count = max(WIDTHS[machine.kernel.registers[each.index]] // 8 // SIZE[kind], 1)
            if kind[0] in "us":
                count = 1
            ids = top + (np.arange(LANES * count).reshape(LANES, count) * 3 + 7 * place) % 4096
            made = run.values.copy(ids.astype(np.uint32), kind, narrows=False)
            assert CODE[kind]
            machine.registers[each.index] = Word.of(made, kind)
