# SPDX-License-Identifier: Apache-2.0
"""What one instruction does to a machine whose registers hold plain bits at the edges of the types, or data."""

from __future__ import annotations

import hashlib
import random
from functools import cache
from typing import Any

import numpy as np

from tests.verify.kernel.forms import Form
from verify.kernel.claims.claim import claim_of
from verify.kernel.claims.launch import Launch
from verify.kernel.data.registers import Word
from verify.kernel.data.values import CODE, FIRST, SIZE, Values
from verify.kernel.instructions import asynchronous, handlers
from verify.kernel.instructions.fields import PACKED
from verify.kernel.interpretation import Interpretation
from verify.kernel.ptx.parse import read
from verify.kernel.ptx.source import WIDTHS
from verify.kernel.state.findings import Unclear
from verify.kernel.state.machine import Machine
from verify.kernel.state.memory import PARAMETER_ROOM, PARAMETER_WINDOW, WINDOW

LANES = 128
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
ROOM = 1 << 13
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


def bound(text: str) -> tuple[Machine, Interpretation]:
    """Return a machine with an instruction as its first; Refused if it has no meaning."""
    kernel = read(TEXT.replace("INSTRUCTION", text))
    run = Interpretation(kernel, launch(), Values(1, capacity=1 << 15), 1000, {})
    run.machine.start([(0, 0, 0)], 0)
    missing = handlers.bound(run.machine)
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
    machine, run = bound(form.text)
    _fill(machine, run, form, data)
    before, top = [id(word) for word in machine.registers], machine.values.top
    mask = np.arange(LANES) // 32 % 2 == 0 if masked else None
    machine.active = np.ones(LANES, bool) if mask is None else mask
    machine.number, machine.findings.line = 0, machine.kernel.instructions[0].line
    machine.values.line = machine.findings.line
    if machine.control[0]:
        machine._control(machine.control[0], machine.kernel.instructions[0], machine.active, machine.active, 0)
    else:
        machine.run[0](mask)
    machine.values.flush()
    said = hashlib.blake2b()
    for number, (word, old) in enumerate(zip(machine.registers, before, strict=True)):
        if id(word) != old and word is not None:
            said.update(f"register {number}".encode() + _word(machine, word, top))
    shared, order = machine.shared, machine.shared.order
    stored = [region.stored for region in run.regions if region.stored is not None]
    for labels in (shared.labels, machine.local_labels, *(one.labels for one in stored)):
        said.update(_labels(machine, labels, top))
    for each in (shared.plain, shared.generic, shared.pending, order.known, order.engine, machine.local_plain,
                 machine.group, machine.pc, machine.state, *(one.plain for one in stored)):  # fmt: skip
        said.update(each.tobytes())
    if isinstance(machine.engine, asynchronous.Engine):
        said.update(repr((machine.engine.blocked, machine.engine.time)).encode())
        for barrier in machine.engine.barriers.values():
            said.update(repr((barrier.number, barrier.pending, barrier.bytes, barrier.count)).encode())
            said.update(repr([getattr(barrier, name).tobytes() for name in ("released", "gathered")
                              if hasattr(getattr(barrier, name, None), "tobytes")]).encode())  # fmt: skip
    for copy in shared.copies:
        said.update(_labels(machine, copy.labels, top) + copy.plain.tobytes())
    said.update(repr((sorted(machine.findings.found), sorted(machine.findings.notes), machine.offsets_read)).encode())
    said.update(repr((machine.owned, machine.maps, machine.loading, machine.bulk)).encode())
    return said.hexdigest()


def _word(machine: Machine, word: Word, top: int) -> bytes:
    made = word.bits.tobytes()
    if word.labels is not None:
        made += _labels(machine, word.labels, top)
    if word.condition is not None:
        made += machine.values.residues[:, word.condition.ids].tobytes() + word.condition.opposite.tobytes()
    return made


def _labels(machine: Machine, labels: Any, top: int) -> bytes:
    """What labels say: old values by their ids, new ones by what they are; Refused where one has no meaning."""
    values = machine.values
    ids = labels >> np.uint32(3)
    if ((ids > 2) & (ids < FIRST)).any():
        raise Refused("a reason")
    new = ids[ids >= top]
    if not new.size:
        return bytes(labels.tobytes())
    if values.marks("cause", new).any():
        raise Refused("a reason")
    history = values.histories.table()[values.history[new]]
    about = values.residues[:, new].tobytes() + values.kind[new].tobytes() + history.tobytes()
    return bytes(np.where(ids >= top, labels & np.uint32(7), labels).tobytes() + about)


@cache
def picks() -> np.ndarray:
    """The bits that registers hold: three in four at the edges of the types."""
    source = random.Random(5)
    found = [source.choice((source.getrandbits(64), *[source.choice(EDGES)] * 3)) for _ in range(4096)]
    return np.array(found, np.uint64)


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
        "%p7": np.array([0]),
    }  # fmt: skip
    assert not first
    for name, bits in special.items():
        machine.registers[names.index(name)] = Word(bits.astype(np.uint64))
    if form.row.meaning.startswith("barrier_") or form.row.meaning in ("wait", "tensor_load", "bulk_copy"):
        if form.row.meaning != "barrier_init":
            engine = asynchronous.engine(machine)
            engine.barriers[0, base] = asynchronous.Phases(200, 200, 0, 1, engine.executed)
    for region in run.regions:
        if region.stored is not None and not data:
            region.stored.labels[:] = 0
            region.stored.plain[:] = np.random.default_rng(3).integers(0, 256, len(region.stored.plain))
    machine.owned = {warp: (96, 0, 0) for warp in range(LANES // 32)}
    if data:
        _with_data(machine, run, form)


def _with_data(machine: Machine, run: Interpretation, form: Form) -> None:
    """Put values of the operands' types into the registers of a form, data by its type."""
    from isa_tables.semantics import meaning

    found = meaning(form.opcode)
    assert found is not None
    roles = [role for role, _, _ in form.row.operands]
    top = run.regions[0].first
    for place, operand in enumerate(machine.kernel.instructions[0].operands):
        kind = found.types.get(roles[place], "") if place < len(roles) else ""
        kind = PACKED.get(kind, {"b8": "u8", "b16": "f16", "b32": "f32", "b64": "f64"}.get(kind, kind))
        if kind not in SIZE or not kind:
            continue
        for each in getattr(operand, "items", (operand,)):
            if not hasattr(each, "index") or each.name in ("%d5", "%r5"):
                continue
            count = max(WIDTHS[machine.kernel.registers[each.index]] // 8 // SIZE[kind], 1)
            if kind[0] in "us":
                count = 1
            ids = top + (np.arange(LANES * count).reshape(LANES, count) * 3 + 7 * place) % 4096
            made = run.values.copy(ids.astype(np.uint32), kind, narrows=False)
            assert CODE[kind]
            machine.registers[each.index] = Word.of(made, kind)
