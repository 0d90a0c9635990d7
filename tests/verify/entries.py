# SPDX-License-Identifier: Apache-2.0
"""Entries for tests, made of the ISA tables' own maps: right atoms of instructions that the registry has none of."""

from __future__ import annotations

import isa_tables
from layouts.atoms import AnyAtom, Atom, CopyAtom
from verify.atlas.without_atom import bind_own


def as_atom(mnemonic: str) -> AnyAtom:
    """Return the atom that states an instruction's own maps. Raises NoAtom where it has none."""
    maps = bind_own(mnemonic)
    stated = {"name": maps.name, "ptx": (maps.name,), "thr": maps.thr_text, "space": maps.space}
    operands = {part.name: part.text for part in maps.parts}
    if maps.is_copy:
        return CopyAtom(operands=operands, copies=maps.copies, **stated)  # type: ignore[arg-type]
    types = isa_tables.instruction(mnemonic).signature.types[0]
    m, n, k = maps.shape
    return Atom(operands=operands, shape=(m, n, k), types={"C": types["D"], **types}, **stated)  # type: ignore[arg-type]
