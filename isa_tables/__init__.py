# SPDX-License-Identifier: Apache-2.0
"""The PTX ISA's statements about matrix instructions, as data with section numbers.

Definition
----------
A fragment is the part of an operand that one lane holds: value `i` of lane `%laneid` is the element (row, col) of the
tile. The PTX ISA prints this map for every such instruction, as formulas or figures. This package has them as TOML
files, one per section of the ISA, the formulas written as they are printed:

    [C]                                                 isa_tables/ptx/mma_m16n8k16_16b.toml
    extent = [16, 8]
    values = 4
    row    = "groupID if i < 2 else groupID + 8"
    col    = "(threadID_in_group * 2) + (i & 0x1)"
    let    = { groupID = "%laneid >> 2", threadID_in_group = "%laneid % 4" }

(shortened). `isa_tables/schema.toml` documents the keys of a file.

A worked example
----------------
>>> import isa_tables
>>> mma = isa_tables.instruction("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
>>> mma.section, mma.operands["C"].locate(4, 3)        # lane 4, value 3: row 1 + 8, column 0*2 + 1
('9.7.14.5.8', (9, 1))

The same formula is evaluated on integers, on numpy arrays of lanes and values, and on symbolic terms of a solver:
`locate` applies the operators of its arguments. This package never turns a formula into a layout.

>>> import numpy as np
>>> row, col = mma.operands["C"].locate(np.arange(32)[:, None], np.arange(4)[None, :])
>>> row.shape, int(row[4, 3]), int(col[4, 3])
((32, 4), 9, 1)

Where a statement comes from
----------------------------
Each operand has its *provenance*: "ISA text" (printed as a formula), "corrected" (printed wrongly: the erratum and what
is printed are kept), "derived" (read off a figure, or from other software, which is named) or "observed" (measured on
a GPU). What the ISA leaves open is `unspecified`, and has no formula.

Main declarations
-----------------
`instruction(mnemonic)`   one instruction with its operands, each with `locate`; a mnemonic that a family does not have
                          raises NotInIsa with the nearest, an unknown family UnknownInstruction
`signature(mnemonic)`     its operands' names, types, registers and targets, without formulas (`isa_tables.signature`)
`mnemonics(family)`       every mnemonic of a family: "mma.sync", "wgmma*", "*"
`where(condition, x, y)`  a choice between two values, for formulas on integers, arrays and terms
`smem`                    matrices in shared memory: addresses under a swizzle, and matrix descriptors
`instruction_descriptor`  the register that chooses the types and extents of tcgen05.mma

This package imports nothing else of Lanecheck: what is computed from these tables depends on the ISA alone. References:
PTX ISA, chapter 9.7; docs/support.md has the versions, and how section numbers move between them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from isa_tables.errors import IsaError, NotInIsa, TableError, UnknownInstruction

if TYPE_CHECKING:
    from isa_tables.formula import where
    from isa_tables.instructions import Instruction, Operand, instruction
    from isa_tables.signature import Fragment, Signature, families, mnemonics, runs_on

__all__ = [
    "Fragment",
    "Instruction",
    "IsaError",
    "NotInIsa",
    "Operand",
    "Signature",
    "TableError",
    "UnknownInstruction",
    "expand",
    "families",
    "instruction",
    "mnemonics",
    "runs_on",
    "where",
]

_HOME = {
    "where": "isa_tables.formula",
    **dict.fromkeys(("Instruction", "Operand", "instruction"), "isa_tables.instructions"),
    **dict.fromkeys(("Fragment", "Signature", "expand", "families", "mnemonics", "runs_on"), "isa_tables.signature"),
}


def __getattr__(name: str) -> Any:
    """Import a name's module on its first use: a caller that needs signatures alone imports no formula code."""
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
