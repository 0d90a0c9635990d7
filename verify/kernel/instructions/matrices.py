# SPDX-License-Identifier: Apache-2.0
"""Matrix instructions: which lane holds which element is what `isa_tables` says, and nothing here repeats it.

`product` is mma.sync, `load_matrix` and its kin move 8x8 matrices between shared memory and registers. With
`machine.watch` each product's operands are given to the explanation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import isa_tables
from isa_tables.instructions import Operand as Fragment
from isa_tables.semantics import Meaning
from verify.kernel.data.registers import Word, join_octets, octets, word
from verify.kernel.data.values import LIMITS, SIZE, Ids, Mask
from verify.kernel.ptx.source import Operand, PtxInstruction, Vector
from verify.kernel.state.bound import Read, Run
from verify.kernel.state.copies import Octets
from verify.kernel.state.findings import DIRECTED, Severity, Unclear, direction_ignored
from verify.kernel.state.lanes import ranges
from verify.kernel.state.machine import Bind, Machine
from verify.kernel.state.order import Ints


class Product(NamedTuple):
    """One matrix instruction as it was executed, for an explanation: the ids of its operands' elements."""

    line: int  # of the PTX
    name: str  # mma or wgmma
    first: Ints  # the first thread of each warp or warpgroup
    a: Ids  # (warps, m, k)
    b: Ids  # (warps, k, n)
    fragments: dict[str, Fragment]  # of the operands in registers
    elsewhere: str = "shared memory"  # where the other operands are
    slots: Mapping[str, Ints] = {}  # (warps, rows, columns) -> lane * values + value, if not all


class SlotMap(NamedTuple):
    """The map of an operand in registers, both ways."""

    fragment: Fragment
    row: NDArray[np.int64]  # (lanes, values)
    col: NDArray[np.int64]
    slot: NDArray[np.int64]  # (rows, columns) -> lane * values + value


def fragment_map(fragment: Fragment) -> SlotMap:
    """Return the arrays of a fragment's map."""
    lanes, values = np.arange(fragment.lanes), np.arange(fragment.values)
    row, col = fragment.locate(lanes[:, None], values[None, :])
    slot = np.full(fragment.extent, -1, np.int64)
    slot[row, col] = lanes[:, None] * fragment.values + values
    return SlotMap(fragment, np.asarray(row), np.asarray(col), slot)


def instruction(
    inst: PtxInstruction, meaning: Meaning, **select: Any
) -> tuple[isa_tables.Instruction, dict[str, SlotMap]]:
    """Return the instruction of the ISA tables, and the maps of its operands in registers; Unclear where they lack it.

    The tables read every word of the mnemonic. Its flags are among those that the row lists: code reads each.
    """
    words = list(inst.words)
    tuple(meaning.words.values())  # asks for all of them
    if words[0] in ("ldmatrix", "stmatrix") and words[3][:1] == "x":  # an older order of the words
        words[3], words[4] = words[4], words[3]
    try:
        made = _looked_up(".".join(words), tuple(select.items()))
    except isa_tables.IsaError as error:
        raise Unclear(inst.line, f"the ISA tables have no {inst.opcode}: {str(error).splitlines()[0]}") from None
    if meaning.row.rest and (odd := made[0].signature.qualifiers - {*meaning.row.rest}):
        raise Unclear(inst.line, f"no meaning for .{', .'.join(sorted(odd))} of {inst.opcode}")
    return made


@lru_cache(maxsize=256)
def _looked_up(mnemonic: str, select: tuple[tuple[str, Any], ...]) -> tuple[isa_tables.Instruction, dict[str, SlotMap]]:
    spec = isa_tables.instruction(mnemonic, **dict(select))
    maps = {name: fragment_map(fragment) for name, fragment in spec.operands.items() if "row" in fragment.maps}
    if {"C", "D"} <= maps.keys() and np.array_equal(maps["C"].slot, maps["D"].slot):
        maps["C"] = maps["C"]._replace(slot=maps["D"].slot)  # one map: a sum is read as it was written
    return spec, maps


def fragment_ids(machine: Machine, reads: Sequence[Read], fragment: Fragment, warps: Ints) -> Ids:
    """Return the ids (warps, lanes * values) that registers hold as a fragment."""
    kind = fragment.type
    if kind not in SIZE or not kind:
        raise Unclear(machine.findings.line, f"no meaning for matrix elements of type {kind}")
    width = max(4, SIZE[kind])
    per = width // SIZE[kind]
    lanes = fragment.lanes
    out = np.empty((len(warps), lanes, fragment.values), np.uint32)
    every = len(warps) * lanes == machine.count
    for number, read in enumerate(reads):
        ids = read().elements(machine.values, kind, width)
        here = slice(number * per, (number + 1) * per)
        if len(ids) == 1:
            out[:, :, here] = ids
        else:
            each = ids.reshape(-1, lanes, per)
            out[:, :, here] = each if every else each[warps]
    return out.reshape(len(warps), -1)


def tile_of(machine: Machine, reads: Sequence[Read], map_: SlotMap, warps: Ints) -> Ids:
    """Return the ids (warps, rows, columns) that registers hold; kept, as instructions in a row read the same."""
    first, *rest = (read() for read in reads)
    every = len(warps) * map_.fragment.lanes == machine.count
    if every and first.tile is not None:
        slot, kind, kept, tile = first.tile
        if slot is map_.slot and kind == map_.fragment.type and len(kept) == len(rest):
            if all(new is old for new, old in zip(rest, kept, strict=True)):
                return tile  # type: ignore[no-any-return]
    ids: Ids = fragment_ids(machine, reads, map_.fragment, warps)[:, map_.slot]
    if every:
        first.tile = map_.slot, map_.fragment.type, rest, ids
    return ids


def deposit_tile(
    machine: Machine, registers: Sequence[Operand], map_: SlotMap, tile: Ids, warps: Ints, mask: Mask | None
) -> None:
    """Write matrices of ids into registers."""
    kind = map_.fragment.type
    made = deposit_values(machine, registers, kind, tile[:, map_.row, map_.col], warps, mask)
    if len(warps) * map_.fragment.lanes == machine.count:
        made[0].tile = map_.slot, kind, made[1:], tile


def deposit_values(
    machine: Machine, registers: Sequence[Operand], kind: str, ids: Ids, warps: Ints, mask: Mask | None
) -> list[Word]:
    """Write the ids (warps, lanes, values) of a fragment into registers; what they are written."""
    lanes, per = ids.shape[1], max(4, SIZE[kind]) // SIZE[kind]
    made: list[Word] = []
    for number, register in enumerate(registers):
        part = ids[:, :, number * per : (number + 1) * per].reshape(-1, per)
        if len(warps) * lanes != machine.count:
            spread = np.zeros((machine.count, per), np.uint32)
            spread[threads_of(warps, lanes)] = part
            part = spread
        made.append(Word.of(np.ascontiguousarray(part), kind))
        machine.writer(register)(made[-1], mask)
    return made


def threads_of(warps: Ints, lanes: int) -> Ints:
    """Return the threads of warps (warpgroups)."""
    threads: Ints = (warps[:, None] * lanes + np.arange(lanes)).ravel()
    return threads


def whole_warps(machine: Machine, mask: Mask | None, lanes: int) -> Ints:
    """Return the numbers of the warps (warpgroups) that execute an instruction, all their threads together."""
    if mask is None:
        return np.arange(machine.count // lanes)
    groups = mask.reshape(-1, lanes)
    short = groups.any(1) & ~groups.all(1)
    if short.any():
        what, group = "warpgroup" if lanes == 128 else "warp", int(np.flatnonzero(short)[0])
        text = f"{machine.shared.who(group * lanes)}: only lanes {ranges(np.flatnonzero(groups[group]).tolist())} of "
        text += f"this {what} execute this instruction, which is .aligned: all {lanes} must"
        machine.findings.add(f"instruction by a part of a {what}", Severity.STUCK, text)
    return np.flatnonzero(groups.all(1))


def multiply(machine: Machine, spec: isa_tables.Instruction, a: Ids, b: Ids, c: Ids) -> Ids:
    """Return the ids of A * B + C as an instruction rounds and clamps them, for matrices of ids."""
    kind, qualifiers = spec.operands["D"].type, spec.signature.qualifiers
    if "satfinite" in qualifiers and kind not in LIMITS:
        raise Unclear(machine.findings.line, f"no meaning for .satfinite of sums of type {kind}")
    machine.findings.note(*(direction_ignored(each) for each in sorted(qualifiers & DIRECTED)))
    narrows = kind if kind in ("f16", "bf16") else ""
    return machine.values.product(a, b, c, kind, narrows, clamps="satfinite" in qualifiers)


def product(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """mma.sync: D = A * B + C, each lane's registers as the ISA tables say."""
    spec, maps = instruction(inst, meaning)
    o = spec.operands
    if set(o) != {"A", "B", "C", "D"} or spec.signature.products != 1:
        raise Unclear(inst.line, f"no meaning for {inst.opcode}: sparse, scaled and divided products have none here")
    parts = dict(zip("DABC", map(registers_of, inst.operands), strict=False))
    for name in "DABC":
        check_count(inst, parts[name], maps[name])
    reads = {name: [machine.reader(register) for register in parts[name]] for name in "ABC"}
    lanes = o["D"].lanes

    def execute(mask: Mask | None) -> None:
        warps = whole_warps(machine, mask, lanes)
        if not len(warps):
            return
        a, b, c = (tile_of(machine, reads[name], maps[name], warps) for name in "ABC")
        if machine.watch is not None:
            machine.watch(Product(inst.line, inst.words[0], warps * lanes, a, b, {"A": o["A"], "B": o["B"]}))
        deposit_tile(machine, parts["D"], maps["D"], multiply(machine, spec, a, b, c), warps, mask)

    return execute


def check_count(inst: PtxInstruction, registers: Sequence[Operand], map_: SlotMap) -> None:
    """Unclear unless an operand has as many registers as the ISA tables say."""
    per = max(4, SIZE.get(map_.fragment.type, 4)) * 8 // map_.fragment.bits
    if len(registers) * per != map_.fragment.values:
        raise Unclear(
            inst.line, f"{map_.fragment.name} has {len(registers)} registers, not {map_.fragment.values // per}"
        )


def registers_of(operand: Operand) -> tuple[Operand, ...]:
    """Return the registers in braces, or the one operand."""
    return operand.items if isinstance(operand, Vector) else (operand,)


def load_matrix(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """ldmatrix: each lane gives the address of a row, and gets elements of several rows."""
    generic = not any(word.startswith("shared") for word in inst.words)
    map_ = instruction(inst, meaning)[1]["R"]
    fragment = map_.fragment
    if fragment.bits not in (8, 16):
        raise Unclear(inst.line, f"no meaning for {inst.opcode}")
    registers, address = registers_of(inst.operands[0]), machine.address(inst.operands[1])
    check_count(inst, registers, map_)
    size, rows = fragment.bits // 8, fragment.extent[0]
    per, width = 4 // size, fragment.extent[1] * size
    at = (map_.row * fragment.extent[1] + map_.col).ravel()  # the element of each register's part

    def execute(mask: Mask | None) -> None:
        warps = whole_warps(machine, mask, 32)
        if not len(warps):
            return
        givers = (warps[:, None] * 32 + np.arange(rows)).ravel()
        places = machine.shared.places(machine.shared_at(address(mask), givers, generic=generic), givers, width)
        labels, plain = machine.shared.load(places, givers)
        label, octet = (
            np.ascontiguousarray(part).reshape(len(warps), -1).view(f"u{size * part.itemsize}").take(at, 1)
            .view(part.dtype).reshape(len(warps) * 32, -1)
            for part in (labels, plain)
        )  # fmt: skip
        for number, register in enumerate(registers):
            here = slice(number * per * size, (number + 1) * per * size)
            bits, mine = join_octets(octet[:, here].astype(np.uint64)), label[:, here]
            if len(warps) * 32 != machine.count:
                threads = threads_of(warps, 32)
                wide_bits, wide = np.zeros(machine.count, np.uint64), np.zeros((machine.count, 4), np.uint32)
                wide_bits[threads], wide[threads] = bits, mine
                bits, mine = wide_bits, wide
            machine.writer(register)(word(bits, mine), mask)

    return execute


def store_matrix(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """stmatrix: each lane gives the address of a row, and elements of several rows."""
    generic = not any(word.startswith("shared") for word in inst.words)
    map_ = instruction(inst, meaning)[1]["R"]
    fragment = map_.fragment
    if fragment.bits not in (8, 16):
        raise Unclear(inst.line, f"no meaning for {inst.opcode}")
    address = machine.address(inst.operands[0])
    reads = [machine.reader(register) for register in registers_of(inst.operands[1])]
    check_count(inst, registers_of(inst.operands[1]), map_)
    size, rows = fragment.bits // 8, fragment.extent[0]

    def execute(mask: Mask | None) -> None:
        warps = whole_warps(machine, mask, 32)
        threads = threads_of(warps, 32)
        parts: list[tuple[Ids, Octets]] = []
        for read in reads:
            source = read()
            label, octet = source.wide(4), octets(source.bits, 4).astype(np.uint8)
            parts.append(tuple(np.broadcast_to(part, (machine.count, 4))[threads] for part in (label, octet)))  # type: ignore[arg-type]
        rows_of = []
        for which in range(2):
            held = np.concatenate([part[which] for part in parts], 1).reshape(len(warps), 32, -1, size)
            made = np.zeros((len(warps), rows, fragment.extent[1], size), held.dtype)
            made[:, map_.row, map_.col] = held
            rows_of.append(made.reshape(len(warps) * rows, -1))
        givers = (warps[:, None] * 32 + np.arange(rows)).ravel()
        low = machine.shared_at(address(mask), givers, generic=generic)
        places = machine.shared.places(low, givers, rows_of[0].shape[1])
        machine.shared.write(places, givers, rows_of[0], rows_of[1])

    return execute


def move_matrix(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """movmatrix: an 8x8 matrix of a warp, transposed between registers."""
    maps = instruction(inst, meaning)[1]
    names = list(maps)
    target, source = maps[names[0]], maps[names[-1]]
    read = machine.reader(inst.operands[1])
    put = machine.writer(inst.operands[0])

    def execute(mask: Mask | None) -> None:
        word_ = read()
        labels = np.broadcast_to(word_.wide(4), (machine.count, 4)).reshape(-1, 64, 2)
        plain = np.broadcast_to(octets(word_.bits, 4), (machine.count, 4)).reshape(-1, 64, 2)
        slot = source.slot[target.row, target.col]
        put(word(join_octets(plain[:, slot].reshape(-1, 4)), labels[:, slot].reshape(-1, 4)), mask)

    return execute


BINDS: dict[str, Bind] = {
    "product": product,
    "load_matrix": load_matrix,
    "store_matrix": store_matrix,
    "move_matrix": move_matrix,
}
