# SPDX-License-Identifier: Apache-2.0
"""The book: the PTX ISA's statements about matrix instructions, as data with section numbers.

>>> import isa_tables
>>> mma = isa_tables.instruction("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
>>> mma.section, mma.operands["C"].locate(4, 3)
('9.7.14.5.8', (9, 1))
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
    "families",
    "instruction",
    "mnemonics",
    "runs_on",
    "where",
]

_HOME = {
    "where": "isa_tables.formula",
    **dict.fromkeys(("Instruction", "Operand", "instruction"), "isa_tables.instructions"),
    **dict.fromkeys(("Fragment", "Signature", "families", "mnemonics", "runs_on"), "isa_tables.signature"),
}


def __getattr__(name: str) -> Any:
    """Load what is asked for when it is asked for: whoever wants signatures alone reads no formula code."""
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
