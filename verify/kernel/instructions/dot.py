# SPDX-License-Identifier: Apache-2.0
"""Products of bytes within one register: dp4a and dp2a, by each thread for itself."""

from __future__ import annotations

import numpy as np

from isa_tables.semantics import Meaning
from verify.kernel.data.registers import Word, settle
from verify.kernel.data.values import Bits, Mask
from verify.kernel.instructions.integers import extend_sign, keep_bits, plain
from verify.kernel.instructions.matrices import instruction
from verify.kernel.ptx.source import PtxInstruction
from verify.kernel.state.bound import Run
from verify.kernel.state.machine import Bind, Machine


def dot(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """dp4a: the sum of four products of bytes, and C."""
    o = instruction(inst, meaning)[0].operands
    reads = {name: machine.reader(each) for name, each in zip("ABC", inst.operands[1:], strict=True)}
    put, values = machine.writer(inst.operands[0]), machine.values

    left, right = meaning.words["left"], meaning.words["right"]

    def execute(mask: Mask | None) -> None:
        sources = [settle(read(), values) for read in reads.values()]
        if not any(each.data(mask) for each in sources):
            octets = [_parts(each.bits, 8, kind) for each, kind in zip(sources, (left, right), strict=False)]
            put(Word(_sum(octets[0], octets[1], sources[2].bits)), mask)
            return
        ids = {name: read().elements(values, o[name].type, 4) for name, read in reads.items()}
        count = max(map(len, ids.values()))
        a, b, c = (np.broadcast_to(ids[name], (count, ids[name].shape[1])) for name in "ABC")
        total = values.product(a[:, None, :], b[:, :, None], c[:, None, :], o["D"].type)
        put(Word.of(total.reshape(-1, 1), o["D"].type), mask)

    return execute


def _parts(bits: Bits, width: int, kind: str) -> list[Bits]:
    """Return the parts of 32 bits, the lowest first, extended as their type has them."""
    return [
        extend_sign(each, width).view(np.uint64) if kind[0] == "s" else each
        for each in (keep_bits(bits >> np.uint64(place), width) for place in range(0, 32, width))
    ]


def _sum(left: list[Bits], right: list[Bits], addend: Bits) -> Bits:
    for a, b in zip(left, right, strict=True):
        addend = addend + a * b
    return keep_bits(addend, 32)


def _half_dot(meaning: Meaning, a: Bits, b: Bits, c: Bits) -> Bits:
    """dp2a: two products of 16 and 8 bits, of the lower or the upper two bytes, and C."""
    left, right = meaning.words["left"], meaning.words["right"]
    octets = _parts(b, 8, right)
    return _sum(_parts(a, 16, left), octets[:2] if meaning.words["half"] == "lo" else octets[2:], c)


BINDS: dict[str, Bind] = {"dot": dot, "half_dot": plain(_half_dot, "dp2a of data")}
