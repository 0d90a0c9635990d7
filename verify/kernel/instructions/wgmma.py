# SPDX-License-Identifier: Apache-2.0
"""Products of a warpgroup: operands in shared memory by matrix descriptors, and the order of what is on its way.

`wgmma` multiplies, `wgmma_order` is its fence, commit_group and wait_group; `address_elements` has the addresses of an
operand that a descriptor names.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

import isa_tables
from isa_tables import smem
from isa_tables.instructions import Operand as Fragment
from isa_tables.semantics import Meaning
from verify.kernel.data.distinct import sort_distinct
from verify.kernel.data.registers import join_octets, word
from verify.kernel.data.values import Ids, Mask
from verify.kernel.instructions.matrices import (
    Product,
    check_count,
    deposit_tile,
    instruction,
    multiply,
    registers_of,
    tile_of,
    whole_warps,
)
from verify.kernel.ptx.source import Immediate, PtxInstruction, Register, Vector
from verify.kernel.state.bound import Read, Run
from verify.kernel.state.findings import Severity, Unclear
from verify.kernel.state.machine import Bind, Machine
from verify.kernel.state.order import Ints
from verify.kernel.state.products import FENCE


@lru_cache(maxsize=4096)
def addresses(layouts: str, extent: tuple[int, int], bits: int, word_: int, major: str, left: bool) -> Ints:
    """Return the shared address of each element (rows, columns) that a descriptor names; `left` says of A."""
    table = smem.read_layouts(layouts)
    said = table.decode(word_)
    if said.base_offset:
        raise isa_tables.IsaError("a matrix descriptor with a base offset has no meaning here")
    row, col = np.indices(extent)
    mn, k = (row, col) if left else (col, row)
    start = table.address(mn, k, bits, said.swizzle, major, lbo=said.lbo, sbo=said.sbo, start=said.start)
    return np.asarray(start, np.int64)


def address_elements(machine: Machine, fragment: Fragment, word_: int, major: str) -> Ints:
    """Return the shared address of each element that a descriptor names; raise Unclear for one without a meaning."""
    try:
        return addresses(fragment.layouts or "", fragment.extent, fragment.bits, word_, major, fragment.name == "A")
    except isa_tables.IsaError as error:
        raise Unclear(machine.findings.line, f"the descriptor {word_:#x}: {error}") from None


def from_shared(machine: Machine, fragment: Fragment, word_: int, major: str, reader: int) -> tuple[Ids, Ints]:
    """Return the matrix of ids that a descriptor names in shared memory, and the cells that were read."""
    start = address_elements(machine, fragment, word_, major)
    size = fragment.bits // 8
    threads = np.full(start.size, reader)
    places = machine.shared.places(start.ravel(), threads, size)
    cells = sort_distinct(places // machine.shared.cell)
    assert machine.products is not None
    machine.products.reads.begins(reader // 128, cells, machine.products.serial + 1)  # its number once it is issued
    labels = machine.shared.mark_unwritten(places, threads, machine.shared.labels[places])
    held = word(join_octets(machine.shared.plain[places].astype(np.uint64)), labels)
    return held.elements(machine.values, fragment.type, size).reshape(fragment.extent), cells


def wgmma(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """wgmma.mma_async: D = A * B + D by a warpgroup, B and perhaps A from shared memory."""
    in_registers = isinstance(inst.operands[1], Vector)
    spec, maps = instruction(inst, meaning, A_space="reg" if in_registers else "smem")
    o, registers = spec.operands, registers_of(inst.operands[0])
    if set(o) != {"A", "B", "D"}:
        raise Unclear(inst.line, f"no meaning for {inst.opcode}: sparse products have none here")
    sums = [machine.reader(register) for register in registers]
    check_count(inst, registers, maps["D"])
    if in_registers:
        check_count(inst, registers_of(inst.operands[1]), maps["A"])
    lefts = [machine.reader(register) for register in registers_of(inst.operands[1])]
    right, scale = machine.reader(inst.operands[2]), machine.reader(inst.operands[3])
    flags = [each.bits if isinstance(each, Immediate) else None for each in inst.operands[4:]]
    if None in flags or any(flag != 1 for flag in flags[:2]):
        raise Unclear(inst.line, "no meaning for negated operands")
    majors = ["MN" if flag else "K" for flag in flags[2:]] or ["K", "K"]
    major_a, major_b = majors[0], majors[-1]
    kind = o["D"].type
    mine, inputs = (
        [register.index for register in each if isinstance(register, Register)]
        for each in (registers, registers_of(inst.operands[1]) if in_registers else ())
    )

    def execute(mask: Mask | None) -> None:
        groups = whole_warps(machine, mask, 128)
        if not len(groups):
            return
        products = machine.products
        assert products is not None
        spans: list[list[Ints]] = [[] for _ in groups]
        b = _read_matrices(machine, right, o["B"], major_b, groups, spans, mask)
        if in_registers:
            a = tile_of(machine, lefts, maps["A"], groups)
        else:
            a = _read_matrices(machine, lefts[0], o["A"], major_a, groups, spans, mask)
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
            machine.watch(Product(inst.line, inst.words[0], groups * 128, a, b, held))
        deposit_tile(machine, registers, maps["D"], multiply(machine, spec, a, b, c), groups, mask)
        products.issue(groups, mine, inputs, [sort_distinct(np.concatenate(cells)) for cells in spans])

    return execute


def _read_matrices(
    machine: Machine, read: Read, fragment: Fragment, major: str, groups: Ints, spans: list[list[Ints]],
    mask: Mask | None,
) -> Ids:  # fmt: skip
    """Return the matrices (groups, rows, columns) of ids that the groups' descriptors name."""
    bits = np.broadcast_to(machine.numbers(read, mask, "a matrix descriptor"), machine.count).reshape(-1, 128)[groups]
    if (bits != bits[:, :1]).any():
        raise Unclear(machine.findings.line, "the threads of a warpgroup give different descriptors")
    tiles = []
    for group, descriptor, span in zip(groups, bits[:, 0], spans, strict=True):
        tile, cells = from_shared(machine, fragment, int(descriptor), major, int(group) * 128)
        tiles.append(tile)
        span.append(cells)
    # All of a batch's CTAs use the same addresses in their own memory: `places` adds the CTA's start by the thread.
    return np.stack(tiles)


def _check_fence(machine: Machine, groups: Ints, registers: Sequence[int]) -> None:
    """Report registers that were written since the last wgmma.fence, or that there was none."""
    assert machine.products is not None
    index = machine.products.find_unfenced(groups, registers)
    if index is not None:
        text = "there is no wgmma.fence before this instruction"
        if index >= 0:
            text = f"{machine.kernel.names[index]} was written after the last wgmma.fence, and this instruction uses it"
        machine.findings.add("no wgmma.fence", Severity.LETTER, text, FENCE)


def wgmma_order(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """wgmma.fence, commit_group and wait_group: what is on its way belongs to the instruction until a wait."""
    action = meaning.words["action"]
    if (action == "wait_group") != bool(inst.operands):
        raise Unclear(inst.line, "wait_group has a number, fence and commit_group have none")
    keep = inst.operands[0].bits if inst.operands and isinstance(inst.operands[0], Immediate) else 0

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


BINDS: dict[str, Bind] = {"wgmma": wgmma, "wgmma_order": wgmma_order}
