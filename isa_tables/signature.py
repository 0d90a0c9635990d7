# SPDX-License-Identifier: Apache-2.0
"""What an instruction takes and returns: registers, types, packing, targets. No formula is read here.

>>> s = signature("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
>>> s.shape, s.operands["A"].regs, s.operands["A"].reg_type, s.targets
((16, 8, 16), 4, 'b32', ('sm_80+',))
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from isa_tables import schema, tables
from isa_tables.errors import IsaError, NotInIsa, TableError, UnknownInstruction
from isa_tables.mnemonic import Said, said

__all__ = [
    "Fragment",
    "IsaError",
    "NotInIsa",
    "Signature",
    "TableError",
    "UnknownInstruction",
    "find",
    "mnemonics",
    "runs_on",
    "signature",
    "signature_of",
]


@dataclass(frozen=True, slots=True)
class Fragment:
    """One operand as one lane holds it.

    Element i of a lane is in register i // per_register, in the bits
    (i % per_register) * bits + shift and up; element 0 is the lowest. `bits` is the room an element has
    in its register, which `.kind::f8f6f4` makes wider than the element.
    """

    type: str  # the element's PTX type
    bits: int  # bits of register per element
    values: int  # elements per lane
    regs: int  # registers per lane
    reg_type: str  # b32, f32, f64 or s32
    extent: tuple[int, int]  # rows and columns of the tile: A (m, k), B (k, n), C and D (m, n)
    copies: int = 1  # how many (lane, i) hold each element
    shift: int = 0  # unused bits below the first element (e2m1 in a byte: 2; the high half of dp2a's b: 16)

    @property
    def per_register(self) -> int:
        """Elements in one register."""
        return self.values // self.regs


@dataclass(frozen=True, slots=True)
class Signature:
    """One concrete instruction: a mnemonic with its operands, without the map of its elements."""

    mnemonic: str  # as the tables spell it, whatever spelling was asked for
    family: str  # mma.sync, mma.sync.kind::f8f6f4, dp4a, dp2a
    shape: tuple[int, int, int]  # m, n, k
    operands: Mapping[str, Fragment] = field(hash=False)  # D, A, B, C: the order of the assembly text
    qualifiers: frozenset[str]  # flags of the mnemonic: satfinite, xor, rn, lo, ...
    targets: tuple[str, ...]  # where it exists: "sm_80+", or exact architectures ("sm_120a", "sm_120f")
    ptx: str  # first PTX ISA version that has it
    lanes: int  # threads that share one instruction: 32, or 1 for dp4a and dp2a
    products: int  # independent matrix products in one instruction: 4 for m8n8k4 .f16


def signature(mnemonic: str, folder: Path = tables.SHIPPED) -> Signature:
    """The signature of an instruction, in any spelling that says the same.

    Raises UnknownInstruction when the tables lack its family, NotInIsa when the family has no such variant;
    both name the nearest mnemonics.
    """
    return signature_of(find(mnemonic, folder))


def signature_of(variant: tables.Variant) -> Signature:
    """The signature of a variant found in a table."""
    operands = {name: _fragment(tables.entry(variant, name)) for name in schema.OPERANDS}
    (m, k), (_, n) = operands["A"].extent, operands["B"].extent
    key = said(variant.mnemonic)
    for name, extent in zip(schema.OPERANDS, ((m, n), (m, k), (k, n), (m, n)), strict=True):
        if operands[name].extent != extent or key.shape not in (None, f"m{m}n{n}k{k}"):
            reason = f"{operands[name].extent} does not fit the other operands of {variant.mnemonic}"
            raise TableError(variant.table.file, f"{name}.extent", reason)
    return Signature(
        mnemonic=variant.mnemonic,
        family=key.family,
        shape=(m, n, k),
        operands=operands,
        qualifiers=key.qualifiers,
        targets=variant.targets,
        ptx=variant.ptx,
        lanes=variant.table.lanes,
        products=operands["D"].copies,
    )


def _fragment(entry: tables.Entry) -> Fragment:
    reg_type = entry.type if entry.type in ("f32", "f64", "s32") else "b32"
    return Fragment(entry.type, entry.bits, entry.values, entry.regs, reg_type, entry.extent, entry.copies, entry.shift)


def mnemonics(family: str | None = None, folder: Path = tables.SHIPPED) -> tuple[str, ...]:
    """Every concrete mnemonic of the tables, sorted; of one family if it is named."""
    found = (item for path in tables.files(folder) for item in tables.variants(tables.read(path)).items())
    return tuple(sorted(variant.mnemonic for key, variant in found if family in (None, key.family)))


def find(mnemonic: str, folder: Path = tables.SHIPPED) -> tables.Variant:
    """The table entry of an instruction; raises as `signature` does."""
    key = said(mnemonic)
    read = (tables.read(path) for path in tables.files(folder) if tables.may_hold(path, key))
    found = [variants[key] for variants in map(tables.variants, read) if key in variants]
    if not found:
        raise _not_found(mnemonic, key, folder)
    if len(found) > 1:
        raise TableError(found[1].table.file, "mnemonic", f"{mnemonic} is also in {found[0].table.file}")
    return found[0]


def _not_found(mnemonic: str, key: Said, folder: Path) -> IsaError:
    from difflib import get_close_matches

    asked = f"{mnemonic[:200]!r}"
    every = mnemonics(folder=folder)
    families = {said(known).family for known in every}
    same = [known for known in every if said(known).family == key.family]
    near = ", ".join(get_close_matches(asked, same or every, n=3, cutoff=0.3)) or "none is near"
    if key.family in families:
        return NotInIsa(f"{asked}: the ISA has no such {key.family} instruction; nearest: {near}")
    held = ", ".join(sorted(families))
    return UnknownInstruction(f"{asked}: {key.family} is not in the tables ({held}); nearest: {near}")


def runs_on(signature: Signature, architecture: str) -> bool:
    """Whether the instruction exists for an architecture such as "sm_90a".

    "sm_80+" holds for every architecture from 80 up, "sm_120a" for that one alone, "sm_120f" for the a and
    f variants of its family (120 and later, of the same ten).
    """
    match = re.fullmatch(r"sm_(\d+)([af]?)", architecture)
    if match is None:
        raise IsaError(f"{architecture!r} is not an architecture: sm_90, sm_90a, sm_120f, ...")
    number, suffix = int(match[1]), match[2]
    return any(_covers(target, number, suffix) for target in signature.targets)


def _covers(target: str, number: int, suffix: str) -> bool:
    match = schema.TARGET.fullmatch(target)
    if match is None:
        raise IsaError(f"{target!r} is not a target")
    floor, kind = int(match[1]), match[2]
    if kind == "+":
        return number >= floor
    if kind == "f":
        return number >= floor and number // 10 == floor // 10 and suffix != ""
    return (number, suffix) == (floor, kind)
