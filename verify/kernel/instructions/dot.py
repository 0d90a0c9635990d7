# SPDX-License-Identifier: Apache-2.0
"""Products of bytes within one register: dp4a, by each thread for itself."""

from __future__ import annotations

import numpy as np

from isa_tables.semantics import Meaning
from verify.kernel.data.registers import Word
from verify.kernel.data.values import Mask
from verify.kernel.instructions.matrices import instruction
from verify.kernel.ptx.source import Instruction
from verify.kernel.state.machine import Bind, Machine, Run


def dot(machine: Machine, one: Instruction, meaning: Meaning) -> Run:
    """dp4a: the sum of four products of bytes, and C."""
    o = instruction(one, meaning)[0].operands
    reads = {name: machine.reader(each) for name, each in zip("ABC", one.operands[1:], strict=True)}
    put, values = machine.writer(one.operands[0]), machine.values

    def run(mask: Mask | None) -> None:
        ids = {name: read().elements(values, o[name].type, 4) for name, read in reads.items()}
        count = max(map(len, ids.values()))
        a, b, c = (np.broadcast_to(ids[name], (count, ids[name].shape[1])) for name in "ABC")
        found = values.product(a[:, None, :], b[:, :, None], c[:, None, :], o["D"].type)
        put(Word.of(found.reshape(-1, 1), o["D"].type), mask)

    return run


BINDS: dict[str, Bind] = {"dot": dot}
