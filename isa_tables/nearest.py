# SPDX-License-Identifier: Apache-2.0
"""What to say of a mnemonic that the tables do not hold: whose fault it is, and what is nearest."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from isa_tables.errors import IsaError, NotInIsa, UnknownInstruction
from isa_tables.mnemonic import Said, said
from isa_tables.signature import families, in_part, mnemonics


def not_found(mnemonic: str, key: Said, folder: Path) -> IsaError:
    """NotInIsa for a family that the tables hold whole, else UnknownInstruction; both name what is nearest."""
    asked, held = f"{mnemonic[:200]!r}", families(folder)
    known = key.family in held
    family = key.family if known else next(iter(get_close_matches(key.family, held, 1, 0.0)), "*")
    near = ", ".join(_nearest(asked, key, mnemonics(family, folder))) or "none is near"
    if known and family not in in_part(folder):
        return NotInIsa(f"{asked}: the ISA has no such {key.family} instruction; nearest: {near}")
    stands = "is in the tables in part" if known else "is not in the tables"
    return UnknownInstruction(f"{asked}: {key.family} {stands}; nearest: {near}")


def _nearest(asked: str, key: Said, known: Sequence[str]) -> list[str]:
    """Three: at most two that differ in the shape's numbers alone, by how much, then by spelling."""
    numbers = _numbers(key.shape)
    but_shape = [other for other in known if _but_shape(said(other)) == _but_shape(key) and numbers]
    apart = {
        other: sum(abs(a - b) for a, b in zip(numbers, _numbers(said(other).shape), strict=False))
        for other in but_shape
    }
    close = sorted(apart, key=lambda other: (apart[other], other))[:2]
    return list(dict.fromkeys([*close, *get_close_matches(asked, known, 3, 0.3)]))[:3]


def _numbers(shape: str | None) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", shape or "")]


def _but_shape(key: Said) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(token for token in key.ordered if token != key.shape), key.flags
