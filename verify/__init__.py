# SPDX-License-Identifier: Apache-2.0
"""Lanecheck's commands, which decide whether a map is what its instruction does.

A GPU matrix instruction distributes the elements of its operands over the lanes of a warp: value `i` of lane `l` is
the element (row, column) of the tile. A kernel author writes that map down as a layout. One wrong stride in it
crashes nothing and computes a wrong matrix. This package decides such maps.

A worked example
----------------
`mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32` multiplies a 16 x 16 tile A by a 16 x 8 tile B. CuTe's atom
`SM80_16x8x16_F32F16F16F32_TN` says where the elements of the result C lie:

    C = ((4,8),(2,2)):((32,1),(16,8))        (thread, value) -> m + 16 n

Take thread 5, value 3. The thread's digits are (5 % 4, 5 // 4) = (1, 1), the value's (3 % 2, 3 // 2) = (1, 1). So the
element is 1*32 + 1*1 + 1*16 + 1*8 = 57 = 9 + 16*3: row 9, column 3. The PTX ISA says of the same operand

    row = groupID + 8 * (i >= 2)     col = threadID_in_group * 2 + (i & 1)
    groupID = %laneid >> 2           threadID_in_group = %laneid % 4

For lane 5 and i = 3 that is row 1 + 8 = 9, column 1*2 + 1 = 3: they agree. For all 32 lanes and 4 values they have to.

>>> from layouts import Layout
>>> C = Layout.parse("((4,8),(2,2)):((32,1),(16,8))")
>>> C(5, 3) % 16, C(5, 3) // 16
(9, 3)
>>> from isa_tables import instruction
>>> instruction("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32").operands["C"].locate(5, 3)
(9, 3)

The words
---------
atom         what an instruction is claimed to do: its mnemonics, and for each operand a layout (`layouts.atoms`)
claim        one property of one operand, or of the whole atom: "each element of C has one owner"
property     what is claimed, with how each check decides it: in bounds, ownership, equal to the ISA, relation, ...
check        a source of evidence: `isa` (the ISA's formula, at every point), `proof` (z3, from shape and stride
             alone), `gpu` (what a GPU did, recorded or live); none uses what another computes
evidence     what one check found on one claim: PROVED, AGREES, REFUTED, UNKNOWN or UNCHECKED, and by which method
verdict      what the evidence on a claim amounts to; two checks that differ are a CONTRADICTION
case         all verdicts on one subject: an atom, a layout, a tiling, a movement
report       all cases of a run, and the exit code that they amount to

A time-out, a missing GPU or an instruction that nobody compared is never a pass. docs/claims.md has the rules.

Called from Python
------------------
`verify_atom`, `verify_layout`, `verify_index`, `verify_map`, `verify_tiling`, `verify_movement`, `verify_kernel` return
the :class:`Report` that a command prints:

>>> from verify import verify_atom
>>> report = verify_atom("SM80_16x8x16_F32F16F16F32_TN")
>>> report.check()
<Report OK: 1 VERIFIED>
>>> bool(report), report.exit().name, [case.headline for case in report.cases]
(True, 'OK', ['VERIFIED'])

The rooms
---------
`core` (verdicts, errors) < `maps` (any map, point by point) < `binding` (an atom and its instruction) < `evidence` (the
three checks) < `atom`, `tiling`, `movement`, `index`, `laws`, `atlas`, `mutate` (a command each), with `cli` and
`report` beside them; `kinds` lists what can be verified. docs/architecture.md shows them, and how a question is
answered.
"""

from __future__ import annotations

from lanecheck.console import interrupts

interrupts.end_at_once()  # before the imports below: Ctrl-C meanwhile isn't a traceback

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from verify.core.registry import list_by as _list_by

if TYPE_CHECKING:
    from verify.api import (
        verify_atom,
        verify_identify,
        verify_index,
        verify_kind,
        verify_layout,
        verify_map,
        verify_movement,
        verify_tiling,
    )
    from verify.kernel.report import verify_kernel, verify_safety
    from verify.kind import Kind
    from verify.report import Report

__all__ = [
    "Report",
    "verify_atom",
    "verify_identify",
    "verify_index",
    "verify_kernel",
    "verify_kind",
    "verify_layout",
    "verify_map",
    "verify_movement",
    "verify_safety",
    "verify_tiling",
]

HOMES = {  # of what verify.api doesn't have
    "Report": "verify.report",
    **dict.fromkeys(("verify_kernel", "verify_safety"), "verify.kernel.report"),
}
DISTRIBUTION = "lanecheck"  # by which it differs from another package `verify` that was installed over this file


def __getattr__(name: str) -> Any:
    """Load the functions and the report when they are asked for: importing a command loads nothing else."""
    if name in __all__:
        return getattr(import_module(HOMES.get(name, "verify.api")), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _list_kinds() -> Iterable[Kind[Any]]:
    from verify import kinds

    return kinds.all()


_list_by(_list_kinds)
