# SPDX-License-Identifier: Apache-2.0
"""mma.sp: a product whose A is sparse. Each lane has stored elements, and some lanes the metadata that place them."""

from __future__ import annotations

import numpy as np

from isa_tables.semantics import Meaning
from verify.kernel.claims import sparsity
from verify.kernel.data.values import Mask
from verify.kernel.instructions.integers import keep_bits
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
from verify.kernel.ptx.source import Immediate, PtxInstruction
from verify.kernel.state.bound import Run
from verify.kernel.state.findings import Unclear
from verify.kernel.state.machine import Bind, Machine


def product(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """mma.sp: D = A * B + C, A from its stored elements and the metadata E of the lanes that F selects."""
    selector = inst.operands[5]
    if not isinstance(selector, Immediate):
        raise Unclear(inst.line, "the sparsity selector isn't a number")
    spec, maps = instruction(inst, meaning, F=selector.bits)
    o, kept = spec.operands, spec.signature.sparsity
    if kept is None or set(o) != {"A", "B", "C", "D", "E"} or "E" not in maps:
        raise Unclear(inst.line, f"no meaning for {inst.opcode}: scaled products have none here")
    parts = dict(zip("DABC", map(registers_of, inst.operands), strict=False))
    for name in "DABC":
        check_count(inst, parts[name], maps[name])
    reads = {name: [machine.reader(register) for register in parts[name]] for name in "ABC"}
    metadata, e = machine.reader(inst.operands[4]), maps["E"]
    lanes = np.flatnonzero(np.broadcast_to(o["E"].holds(np.arange(32)), 32))
    rows, columns = o["A"].extent[0], o["B"].extent[0]
    values = machine.values

    def execute(mask: Mask | None) -> None:
        warps = whole_warps(machine, mask, 32)
        if not len(warps):
            return
        there = np.zeros(machine.count, bool)
        there[(warps[:, None] * 32 + lanes).ravel()] = True  # other lanes' registers are not read
        word = keep_bits(machine.numbers(metadata, there, "metadata"), 32)
        each = np.broadcast_to(word, machine.count).reshape(-1, 32)[warps][:, lanes]
        bits = np.zeros((len(warps), *o["E"].extent), np.uint8)
        bits[:, e.row[lanes], e.col[lanes]] = each[:, :, None] >> np.arange(32, dtype=np.uint64) & np.uint64(1)
        place = sparsity.find_columns(bits, kept.columns, kept.kept)
        if (place < 0).any():
            _, row, at = (int(part[0]) for part in np.nonzero(place < 0))
            text = f"the metadata of row {row} have a field (stored element {at}) that means no columns"
            raise Unclear(inst.line, text)
        a = np.full((len(warps), rows, columns), values.constant(0, o["A"].type), np.uint32)
        np.put_along_axis(a, place, tile_of(machine, reads["A"], maps["A"], warps), 2)
        b, c = (tile_of(machine, reads[name], maps[name], warps) for name in "BC")
        if machine.watch is not None:
            slots = np.full(a.shape, -1)
            np.put_along_axis(slots, place, np.broadcast_to(maps["A"].slot, place.shape), 2)
            fragments = {"A": o["A"], "B": o["B"]}
            machine.watch(Product(inst.line, "mma.sp", warps * 32, a, b, fragments, slots={"A": slots}))
        deposit_tile(machine, parts["D"], maps["D"], multiply(machine, spec, a, b, c), warps, mask)

    return execute


BINDS: dict[str, Bind] = {"sparse_product": product}
