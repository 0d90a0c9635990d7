# SPDX-License-Identifier: Apache-2.0
"""The code of each class of the opcode tables, and the binding of a kernel's instructions to it.

What has no row, no code or no meaning for its operands is listed, every instruction of it, before anything runs.
"""

from __future__ import annotations

from collections.abc import Mapping

from isa_tables.semantics import Meaning, meaning
from verify.kernel.instructions import (
    accesses,
    asynchronous,
    bulk,
    clusters,
    comparisons,
    dot,
    fields,
    integers,
    matrices,
    sparse,
    tcgen05,
    tensor_maps,
    together,
    wmma,
)
from verify.kernel.ptx.source import WIDTHS, Instruction, Kernel
from verify.kernel.state.findings import Finding, Severity, Unclear
from verify.kernel.state.machine import Bind, Machine

BINDS: Mapping[str, Bind] = {
    **integers.BINDS,
    **fields.BINDS,
    **comparisons.BINDS,
    **accesses.BINDS,
    **matrices.BINDS,
    **dot.BINDS,
    **sparse.BINDS,
    **wmma.BINDS,
    **tcgen05.BINDS,
    **tensor_maps.BINDS,
    **together.BINDS,
    **asynchronous.BINDS,
    **bulk.BINDS,
    **clusters.BINDS,
}
CONTROL = {"branch": "branch", "exit": "exit", "trap": "", "barrier": "barrier"}
_MOVES = (
    "move",
    "address",
    "parameter",
    "load",
    "shuffle",
    "vote",
    "reduce",
    "match",
    "branch",
    "nothing",
    "policy",
    "fence",
)
PURE = frozenset({*integers.BINDS, *fields.BINDS, *comparisons.BINDS, *_MOVES})  # classes that write registers alone
WAITS = frozenset({"wait", "cluster_wait"})  # classes that stay where they are while their threads wait
_CELLS = (
    "load",
    "store",
    "copy",
    "load_matrix",
    "store_matrix",
    "wgmma",
    "fragment_load",
    "fragment_store",
    "tensor_product",
)


def bound(machine: Machine) -> list[Finding]:
    """Bind every instruction of the machine's kernel; the findings say which have no meaning."""
    machine.run, machine.lanes, machine.control, machine.members, missing = [], [], [], [], []
    machine.pure = []
    if machine.kernel.clusters:
        line, text = machine.kernel.clusters
        missing.append(Finding("no meaning", Severity.UNKNOWN, line, f"clusters of several CTAs have none: {text}"))
    for one in machine.kernel.instructions:
        machine.findings.line = one.line
        found = meaning(one.opcode)
        try:
            if found is None or found.row.meaning not in BINDS:
                raise Unclear(one.line, f"no meaning for the opcode {one.opcode}")
            _check_operands(one, found)
            run = BINDS[found.row.meaning](machine, one, found)
        except Unclear as error:
            missing.append(Finding("no meaning", Severity.UNKNOWN, one.line, f"{error.problem}: {one.text[:100]}"))
            continue
        machine.run.append(run)
        machine.lanes.append(found.row.lanes)
        machine.pure.append(found.row.meaning in PURE)
        place = next((at for at, (role, _, _) in enumerate(found.row.operands) if role == "mask"), None)
        machine.members.append(None if place is None else machine.reader(one.operands[place]))
        wait = found.row.meaning in WAITS
        machine.control.append("wait" if wait else CONTROL.get(found.row.meaning, ""))
    return missing


def _check_operands(one: Instruction, found: Meaning) -> None:
    operands = found.row.operands
    least = sum(not optional for _, _, optional in operands)
    if not least <= len(one.operands) <= len(operands):
        raise Unclear(one.line, f"{one.opcode} has {least} to {len(operands)} operands, here are {len(one.operands)}")


def cell(kernel: Kernel) -> int:
    """The bytes of a cell of shared memory: as many as the kernel's narrowest access of it has."""
    narrowest = 16
    for one in kernel.instructions:
        found = meaning(one.opcode)
        if found is None or found.row.meaning not in _CELLS:
            continue
        kind = found.types.get("d") or found.types.get("b") or found.types.get("R")
        if (
            kind
            and found.row.meaning in ("load", "store", "fragment_load", "fragment_store")
            and not found.words.get("space", "").startswith("global")
        ):
            narrowest = min(narrowest, WIDTHS[kind] // 8)
        elif found.row.meaning in ("copy", "wgmma", "tensor_product"):
            narrowest = min(narrowest, 4)
    return max(narrowest, 1)
