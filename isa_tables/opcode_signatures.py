# SPDX-License-Identifier: Apache-2.0
"""The signatures of opcodes: how they are spelled and the types of their operands, without what they compute.

A probe is made from a signature, so that what a GPU does with it can contradict the row's formula.

>>> (row,) = [row for row in spellings() if row.text == "mul.wide.{type}"]
>>> row.words["type"], row.types({"type": "s16"})
(('u16', 'u32', 's16', 's32'), {'d': 's32', 'a': 's16', 'b': 's16'})
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from isa_tables.semantics import rows, type_of


@dataclass(frozen=True, slots=True, eq=False)
class Spelling:
    """One row of the opcode tables without its formula."""

    text: str  # with `{name}` for a word of a list, `?` after an optional part
    section: str  # of the ISA
    group: str  # the row's class
    operands: tuple[tuple[str, str, bool], ...]  # (role, type or the name of a list of types, whether optional)
    words: Mapping[str, tuple[str, ...]]  # the lists that the text names
    lanes: int  # threads that must execute it together

    def types(self, words: Mapping[str, str]) -> dict[str, str]:
        """Return the type of each operand that has one, by role, if the opcode has these words of the lists."""
        types = {role: type_of(kind, words) for role, kind, _ in self.operands}
        return {role: kind for role, kind in types.items() if kind}


def spellings() -> tuple[Spelling, ...]:
    """Return every row of the shipped tables, in their order."""
    return tuple(Spelling(row.spelling, row.section, row.meaning, row.operands, row.words, row.lanes) for row in rows())
