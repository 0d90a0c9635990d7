# SPDX-License-Identifier: Apache-2.0
"""Matrix instructions: which lane holds which element is what `isa_tables` says, and nothing here repeats it.

`product` is mma.sync, `load_matrix` and its kin move 8x8 matrices between shared memory and registers, `wgmma`
multiplies from shared memory by descriptors. With `machine.watch` each product's operands are given to the explanation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import isa_tables
from isa_tables import smem
from isa_tables.instructions import Operand as Fragment
from isa_tables.semantics import Meaning
from verify.kernel.data.registers import Word, joined, octets, word
from verify.kernel.data.values import SIZE, Ids, Mask
from verify.kernel.ptx.source import Immediate, Instruction, Operand, Register, Vector
from verify.kernel.state.findings import Severity, Unclear
from verify.kernel.state.lanes import ranges
from verify.kernel.state.machine import Bind, Machine, Read, Run
from verify.kernel.state.memory import Octets
from verify.kernel.state.order import Ints
from verify.kernel.state.products import FENCE


@dataclass(frozen=True, slots=True)
class Product:
    """One matrix instruction as it was executed, for an explanation: the ids of its operands' elements."""

    line: int  # of the PTX
    name: str  # mma or wgmma
    first: Ints  # the first thread of each warp or warpgroup
    a: Ids  # (warps, m, k)
    b: Ids  # (warps, k, n)
    fragments: dict[str, Fragment]  # of the operands in registers
    elsewhere: str = "shared memory"  # where the other operands are
    slots: Mapping[str, Ints] = field(
        default_factory=dict
    )  # (warps, rows, columns) -> lane * values + value, if not all


@dataclass(frozen=True, slots=True)
class Map:
    """The map of an operand in registers, both ways."""

    fragment: Fragment
    row: NDArray[np.int64]  # (lanes, values)
    col: NDArray[np.int64]
    slot: NDArray[np.int64]  # (rows, columns) -> lane * values + value


def fragment_map(fragment: Fragment) -> Map:
    """The arrays of a fragment's map."""
    lanes, values = np.arange(fragment.lanes), np.arange(fragment.values)
    row, col = fragment.locate(lanes[:, None], values[None, :])
    slot = np.full(fragment.extent, -1, np.int64)
    slot[row, col] = lanes[:, None] * fragment.values + values
    return Map(fragment, np.asarray(row), np.asarray(col), slot)


_WITHOUT_MEANING = frozenset({"satfinite", "rz", "rm", "rp"})  # qualifiers that no map depends on


def instruction(one: Instruction, meaning: Meaning, **select: Any) -> tuple[isa_tables.Instruction, dict[str, Map]]:
    """The instruction of the ISA tables, and the maps of its operands in registers; Unclear where they lack it.

    The tables read every word of the mnemonic. A qualifier that changes numbers and no map has no meaning here.
    """
    words = list(one.words)
    tuple(meaning.words.values())  # asks for all of them
    if words[0] in ("ldmatrix", "stmatrix") and words[3][:1] == "x":  # an older order of the words
        words[3], words[4] = words[4], words[3]
    try:
        made = _looked_up(".".join(words), tuple(select.items()))
    except isa_tables.IsaError as error:
        raise Unclear(one.line, f"the ISA tables have no {one.opcode}: {str(error).splitlines()[0]}") from None
    if odd := made[0].signature.qualifiers & _WITHOUT_MEANING:
        raise Unclear(one.line, f"no meaning for .{', .'.join(sorted(odd))} of {one.opcode}")
    return made


@lru_cache(maxsize=256)
def _looked_up(mnemonic: str, select: tuple[tuple[str, Any], ...]) -> tuple[isa_tables.Instruction, dict[str, Map]]:
    found = isa_tables.instruction(mnemonic, **dict(select))
    maps = {name: fragment_map(one) for name, one in found.operands.items() if "row" in one.maps}
    if {"C", "D"} <= maps.keys() and np.array_equal(maps["C"].slot, maps["D"].slot):
        maps["C"] = replace(maps["C"], slot=maps["D"].slot)  # one map: a sum is read as it was written
    return found, maps


def fragment_ids(machine: Machine, reads: Sequence[Read], fragment: Fragment, warps: Ints) -> Ids:
    """The ids (warps, lanes * values) that registers hold as a fragment."""
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


def tile_of(machine: Machine, reads: Sequence[Read], map_: Map, warps: Ints) -> Ids:
    """The matrices (warps, rows, columns) of ids that registers hold; kept, as instructions in a row read the same."""
    first, *rest = (read() for read in reads)
    every = len(warps) * map_.fragment.lanes == machine.count
    if every and first.tile is not None:
        slot, kind, others, tile = first.tile
        if slot is map_.slot and kind == map_.fragment.type and len(others) == len(rest):
            if all(one is other for one, other in zip(rest, others, strict=True)):
                return tile  # type: ignore[no-any-return]
    found: Ids = fragment_ids(machine, reads, map_.fragment, warps)[:, map_.slot]
    if every:
        first.tile = map_.slot, map_.fragment.type, rest, found
    return found


def deposit_tile(
    machine: Machine, registers: Sequence[Operand], map_: Map, tile: Ids, warps: Ints, mask: Mask | None
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
    """The threads of warps (warpgroups)."""
    found: Ints = (warps[:, None] * lanes + np.arange(lanes)).ravel()
    return found


def whole_warps(machine: Machine, mask: Mask | None, lanes: int) -> Ints:
    """The numbers of the warps (warpgroups) that execute an instruction, all their threads together."""
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


def product(machine: Machine, one: Instruction, meaning: Meaning) -> Run:
    """mma.sync: D = A * B + C, each lane's registers as the ISA tables say."""
    found, maps = instruction(one, meaning)
    o = found.operands
    if set(o) != {"A", "B", "C", "D"} or found.signature.products != 1:
        raise Unclear(one.line, f"no meaning for {one.opcode}: sparse, scaled and divided products have none here")
    parts = dict(zip("DABC", map(registers_of, one.operands), strict=False))
    for name in "DABC":
        check_count(one, parts[name], maps[name])
    reads = {name: [machine.reader(register) for register in parts[name]] for name in "ABC"}
    kind = o["D"].type
    narrows = kind if kind in ("f16", "bf16") else ""
    values, lanes = machine.values, o["D"].lanes

    def execute(mask: Mask | None) -> None:
        warps = whole_warps(machine, mask, lanes)
        if not len(warps):
            return
        a, b, c = (tile_of(machine, reads[name], maps[name], warps) for name in "ABC")
        if machine.watch is not None:
            machine.watch(Product(one.line, one.words[0], warps * lanes, a, b, {"A": o["A"], "B": o["B"]}))
        deposit_tile(machine, parts["D"], maps["D"], values.product(a, b, c, kind, narrows), warps, mask)

    return execute


def check_count(one: Instruction, registers: Sequence[Operand], map_: Map) -> None:
    """Unclear unless an operand has as many registers as the ISA tables say."""
    per = max(4, SIZE.get(map_.fragment.type, 4)) * 8 // map_.fragment.bits
    if len(registers) * per != map_.fragment.values:
        raise Unclear(
            one.line, f"{map_.fragment.name} has {len(registers)} registers, not {map_.fragment.values // per}"
        )


def registers_of(operand: Operand) -> tuple[Operand, ...]:
    """The registers in braces, or the one operand."""
    return operand.items if isinstance(operand, Vector) else (operand,)


def load_matrix(machine: Machine, one: Instruction, meaning: Meaning) -> Run:
    """ldmatrix: each lane gives the address of a row, and gets elements of several rows."""
    map_ = instruction(one, meaning)[1]["R"]
    fragment = map_.fragment
    if fragment.bits not in (8, 16):
        raise Unclear(one.line, f"no meaning for {one.opcode}")
    registers, address = registers_of(one.operands[0]), machine.address(one.operands[1])
    check_count(one, registers, map_)
    size, rows = fragment.bits // 8, fragment.extent[0]
    per, width = 4 // size, fragment.extent[1] * size
    at = (map_.row * fragment.extent[1] + map_.col).ravel()  # the element of each register's part

    def execute(mask: Mask | None) -> None:
        warps = whole_warps(machine, mask, 32)
        if not len(warps):
            return
        givers = (warps[:, None] * 32 + np.arange(rows)).ravel()
        places = machine.shared.places(machine.at(address(mask), givers), givers, width)
        labels, plain = machine.shared.read(places, givers)
        label, octet = (
            np.ascontiguousarray(part).reshape(len(warps), -1).view(f"u{size * part.itemsize}").take(at, 1)
            .view(part.dtype).reshape(len(warps) * 32, -1)
            for part in (labels, plain)
        )  # fmt: skip
        for number, register in enumerate(registers):
            here = slice(number * per * size, (number + 1) * per * size)
            bits, mine = joined(octet[:, here].astype(np.uint64)), label[:, here]
            if len(warps) * 32 != machine.count:
                threads = threads_of(warps, 32)
                wide_bits, wide = np.zeros(machine.count, np.uint64), np.zeros((machine.count, 4), np.uint32)
                wide_bits[threads], wide[threads] = bits, mine
                bits, mine = wide_bits, wide
            machine.writer(register)(word(bits, mine), mask)

    return execute


def store_matrix(machine: Machine, one: Instruction, meaning: Meaning) -> Run:
    """stmatrix: each lane gives the address of a row, and elements of several rows."""
    map_ = instruction(one, meaning)[1]["R"]
    fragment = map_.fragment
    if fragment.bits not in (8, 16):
        raise Unclear(one.line, f"no meaning for {one.opcode}")
    address = machine.address(one.operands[0])
    reads = [machine.reader(register) for register in registers_of(one.operands[1])]
    check_count(one, registers_of(one.operands[1]), map_)
    size, rows = fragment.bits // 8, fragment.extent[0]

    def execute(mask: Mask | None) -> None:
        warps = whole_warps(machine, mask, 32)
        threads = threads_of(warps, 32)
        parts: list[tuple[Ids, Octets]] = []
        for read in reads:
            found = read()
            label, octet = found.wide(4), octets(found.bits, 4).astype(np.uint8)
            parts.append(tuple(np.broadcast_to(part, (machine.count, 4))[threads] for part in (label, octet)))  # type: ignore[arg-type]
        rows_of = []
        for which in range(2):
            held = np.concatenate([part[which] for part in parts], 1).reshape(len(warps), 32, -1, size)
            made = np.zeros((len(warps), rows, fragment.extent[1], size), held.dtype)
            made[:, map_.row, map_.col] = held
            rows_of.append(made.reshape(len(warps) * rows, -1))
        givers = (warps[:, None] * 32 + np.arange(rows)).ravel()
        places = machine.shared.places(machine.at(address(mask), givers), givers, rows_of[0].shape[1])
        machine.shared.write(places, givers, rows_of[0], rows_of[1])

    return execute


def move_matrix(machine: Machine, one: Instruction, meaning: Meaning) -> Run:
    """movmatrix: an 8x8 matrix of a warp, transposed between registers."""
    maps = instruction(one, meaning)[1]
    names = list(maps)
    target, source = maps[names[0]], maps[names[-1]]
    read = machine.reader(one.operands[1])
    put = machine.writer(one.operands[0])

    def execute(mask: Mask | None) -> None:
        word_ = read()
        labels = np.broadcast_to(word_.wide(4), (machine.count, 4)).reshape(-1, 64, 2)
        plain = np.broadcast_to(octets(word_.bits, 4), (machine.count, 4)).reshape(-1, 64, 2)
        slot = source.slot[target.row, target.col]
        put(word(joined(plain[:, slot].reshape(-1, 4)), labels[:, slot].reshape(-1, 4)), mask)

    return execute


@lru_cache(maxsize=4096)
def addresses(layouts: str, extent: tuple[int, int], bits: int, word_: int, major: str, left: bool) -> Ints:
    """The shared address of each element (rows, columns) of the matrix that a descriptor names; `left` says of A."""
    found = smem.read(layouts)
    said = found.decode(word_)
    if said.base_offset:
        raise isa_tables.IsaError("a matrix descriptor with a base offset has no meaning here")
    row, col = np.indices(extent)
    mn, k = (row, col) if left else (col, row)
    start = found.address(mn, k, bits, said.swizzle, major, lbo=said.lbo, sbo=said.sbo, start=said.start)
    return np.asarray(start, np.int64)


def described(machine: Machine, fragment: Fragment, word_: int, major: str) -> Ints:
    """The shared address of each element of an operand that a descriptor names; Unclear for one that means nothing."""
    try:
        return addresses(fragment.layouts or "", fragment.extent, fragment.bits, word_, major, fragment.name == "A")
    except isa_tables.IsaError as error:
        raise Unclear(machine.findings.line, f"the descriptor {word_:#x}: {error}") from None


def from_shared(machine: Machine, fragment: Fragment, word_: int, major: str, reader: int) -> tuple[Ids, Ints]:
    """The matrix of ids that a descriptor names in shared memory, and the cells that were read."""
    start = described(machine, fragment, word_, major)
    size = fragment.bits // 8
    threads = np.full(start.size, reader)
    places = machine.shared.places(start.ravel(), threads, size)
    cells = np.unique(places // machine.shared.cell)
    assert machine.products is not None
    machine.products.reads.begins(reader // 128, cells)
    labels = machine.shared.named(places, threads, machine.shared.labels[places])
    held = word(joined(machine.shared.plain[places].astype(np.uint64)), labels)
    return held.elements(machine.values, fragment.type, size).reshape(fragment.extent), cells


def wgmma(machine: Machine, one: Instruction, meaning: Meaning) -> Run:
    """wgmma.mma_async: D = A * B + D by a warpgroup, B and perhaps A from shared memory."""
    in_registers = isinstance(one.operands[1], Vector)
    found, maps = instruction(one, meaning, A_space="reg" if in_registers else "smem")
    o, registers = found.operands, registers_of(one.operands[0])
    if set(o) != {"A", "B", "D"}:
        raise Unclear(one.line, f"no meaning for {one.opcode}: sparse products have none here")
    sums = [machine.reader(register) for register in registers]
    check_count(one, registers, maps["D"])
    if in_registers:
        check_count(one, registers_of(one.operands[1]), maps["A"])
    lefts = [machine.reader(register) for register in registers_of(one.operands[1])]
    right, scale = machine.reader(one.operands[2]), machine.reader(one.operands[3])
    flags = [each.bits if isinstance(each, Immediate) else None for each in one.operands[4:]]
    if None in flags or any(flag != 1 for flag in flags[:2]):
        raise Unclear(one.line, "no meaning for negated operands")
    majors = ["MN" if flag else "K" for flag in flags[2:]] or ["K", "K"]
    major_a, major_b = majors[0], majors[-1]
    kind = o["D"].type
    mine, inputs = (
        [register.index for register in each if isinstance(register, Register)]
        for each in (registers, registers_of(one.operands[1]) if in_registers else ())
    )

    def execute(mask: Mask | None) -> None:
        groups = whole_warps(machine, mask, 128)
        if not len(groups):
            return
        products = machine.products
        assert products is not None
        spans: list[list[Ints]] = [[] for _ in groups]
        b = _described(machine, right, o["B"], major_b, groups, spans, mask)
        if in_registers:
            a = tile_of(machine, lefts, maps["A"], groups)
        else:
            a = _described(machine, lefts[0], o["A"], major_a, groups, spans, mask)
        _check_fence(machine, groups, [*inputs, *mine])
        products.forget(groups, mine)  # a wgmma of one shape comes after the ones before it
        keeps = machine.numbers(scale, mask, "the scale of D") & np.uint64(1)
        chosen = np.broadcast_to(keeps, machine.count).reshape(-1, 128)[groups, 0].astype(bool)
        zero = machine.values.constant(0, kind)
        c = np.full((len(groups), *o["D"].extent), zero, np.uint32)
        if chosen.any():
            c[chosen] = tile_of(machine, sums, maps["D"], groups)[chosen]
        if machine.watch is not None:
            held = {"A": o["A"]} if in_registers else {}
            machine.watch(Product(one.line, one.words[0], groups * 128, a, b, held))
        narrows = kind if kind == "f16" else ""
        deposit_tile(machine, registers, maps["D"], machine.values.product(a, b, c, kind, narrows), groups, mask)
        products.issue(groups, mine, inputs, [np.unique(np.concatenate(cells)) for cells in spans])

    return execute


def _described(
    machine: Machine, read: Read, fragment: Fragment, major: str, groups: Ints, spans: list[list[Ints]],
    mask: Mask | None,
) -> Ids:  # fmt: skip
    """The matrices (groups, rows, columns) of ids that the groups' descriptors name."""
    bits = np.broadcast_to(machine.numbers(read, mask, "a matrix descriptor"), machine.count).reshape(-1, 128)[groups]
    if (bits != bits[:, :1]).any():
        raise Unclear(machine.findings.line, "the threads of a warpgroup give different descriptors")
    tiles = []
    for group, found, span in zip(groups, bits[:, 0], spans, strict=True):
        tile, cells = from_shared(machine, fragment, int(found), major, int(group) * 128)
        tiles.append(tile)
        span.append(cells)
    # All of a batch's CTAs use the same addresses in their own memory: `places` adds the CTA's start by the thread.
    return np.stack(tiles)


def _check_fence(machine: Machine, groups: Ints, registers: Sequence[int]) -> None:
    """Report registers that were written since the last wgmma.fence, or that there was none."""
    assert machine.products is not None
    found = machine.products.unfenced(groups, registers)
    if found is not None:
        text = "there is no wgmma.fence before this instruction"
        if found >= 0:
            text = f"{machine.kernel.names[found]} was written after the last wgmma.fence, and this instruction uses it"
        machine.findings.add("no wgmma.fence", Severity.LETTER, text, FENCE)


def wgmma_order(machine: Machine, one: Instruction, meaning: Meaning) -> Run:
    """wgmma.fence, commit_group and wait_group: what is on its way belongs to the instruction until a wait."""
    action = meaning.words["action"]
    if (action == "wait_group") != bool(one.operands):
        raise Unclear(one.line, "wait_group has a number, fence and commit_group have none")
    keep = one.operands[0].bits if one.operands and isinstance(one.operands[0], Immediate) else 0

    def execute(mask: Mask | None) -> None:
        groups, products = whole_warps(machine, mask, 128), machine.products
        assert products is not None
        if action == "fence":
            products.fenced[groups] = machine.steps
        elif action == "commit_group":
            products.commit(groups)
        else:
            products.wait(groups, keep)

    return execute


BINDS: dict[str, Bind] = {
    "product": product,
    "load_matrix": load_matrix,
    "store_matrix": store_matrix,
    "move_matrix": move_matrix,
    "wgmma": wgmma,
    "wgmma_order": wgmma_order,
}
