# SPDX-License-Identifier: Apache-2.0
"""Strong accesses that meet: flags in memory. No order is taken from them, so where two of them meet the run ends.

PTX ISA 8.7.1: two strong accesses don't race, whatever orders them; what comes of the two depends on a schedule that
isn't looked at. A plain access that meets a strong one is a race as ever.
"""

from __future__ import annotations

import numpy as np

from isa_tables.semantics import Meaning
from verify.kernel.data.registers import find_decided
from verify.kernel.data.values import Mask
from verify.kernel.ptx.source import Address, PtxInstruction
from verify.kernel.state.adders import KIND
from verify.kernel.state.bound import Run
from verify.kernel.state.findings import Unclear
from verify.kernel.state.machine import Machine

_READ = ("race: read after write", KIND)  # the kinds of findings of a load, by their beginnings
_WRITTEN = ("race: ",)  # and of a store or an atomic operation
_ATOMIC = ("atomic", "atomic_any")
HINT = "let a barrier or the end of a launch order the two"


def guard_flag(machine: Machine, inst: PtxInstruction, meaning: Meaning, run: Run) -> Run:
    """Return a strong access that ends the run if it meets another strong one."""
    name, flags = meaning.row.meaning, machine.findings.flags
    place = next((each for each in inst.operands if isinstance(each, Address)), None)
    if (name not in _ATOMIC and not inst.is_strong) or place is None:
        return run
    read, offset = machine.reader(place.base), place.offset

    def execute(mask: Mask | None) -> None:
        base = read()
        known = ~np.broadcast_to(find_decided(base), machine.count) & (True if mask is None else mask)
        addresses = set((np.broadcast_to(base.bits, machine.count)[known].astype(np.int64) + offset).tolist())
        run(mask)
        kinds = _READ if name == "load" else _WRITTEN if not flags.isdisjoint(addresses) else ()
        if any([machine.findings.withdrawn(kind) for kind in kinds]):
            what = "writes" if name == "load" else "reads or writes as a flag"
            text = f"{inst.opcode} of what another thread {what}: flags in memory have no meaning here; {HINT}"
            raise Unclear(inst.line, text)
        flags.update(addresses)

    return execute
