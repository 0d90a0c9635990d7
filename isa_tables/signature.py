# SPDX-License-Identifier: Apache-2.0
"""The signature of an instruction: registers, types, packing and targets of its operands, without formulas.

Main declarations: `signature(mnemonic)` returns a `Signature` with a `Fragment` for each operand; `mnemonics(family)`,
`expand(short)` and `families()` list the tables; `runs_on(signature, architecture)`; `find` returns the table's own
entry; `spellings()` has the signatures of opcodes.

>>> s = signature("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
>>> s.shape, s.operands["A"].regs, s.operands["A"].reg_type, s.targets
((16, 8, 16), 4, 'b32', ('sm_80+',))
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from isa_tables import schema, tables
from isa_tables.assembler import assembler, find_misplaced
from isa_tables.entries import Fragment, OperandEntry, combinations, entries, number
from isa_tables.errors import IsaError, NotInIsa, TableError, UnknownInstruction
from isa_tables.mnemonic import Said, is_short_for, list_parts

if TYPE_CHECKING:
    from isa_tables.opcode_signatures import Spelling as Spelling  # noqa: PLC0414 - for readers of signatures

__all__ = [
    "DENSE",
    "EXTENTS",
    "Fragment",
    "IsaError",
    "NotInIsa",
    "Signature",
    "TableError",
    "UnknownInstruction",
    "expand",
    "families",
    "find",
    "list_words",
    "mnemonics",
    "runs_on",
    "signature",
    "signature_of",
    "spellings",
]

NOTHING: Mapping[str, str | int] = MappingProxyType({})
EXTENTS = ("M", "N", "K")


@dataclass(frozen=True, slots=True)
class Signature:
    """One concrete instruction: a mnemonic with its operands, without the map of its elements."""

    mnemonic: str  # as the tables write it, whichever order of qualifiers was given
    family: str  # mma.sync, mma.sync.kind::f8f6f4, dp4a, wgmma.mma_async.sync, ldmatrix.sync, ...
    shape: tuple[int, ...]  # m, n, k; of an instruction without them, the numbers of its shape qualifier
    operands: Mapping[str, Fragment] = field(hash=False)  # in the order of the assembly text
    qualifiers: frozenset[str]  # flags of the mnemonic: satfinite, xor, rn, lo, ...
    targets: tuple[str, ...]  # where it exists: "sm_80+", or exact architectures ("sm_120a", "sm_120f")
    ptx: str  # first PTX ISA version that has it
    lanes: int  # threads that share one instruction: 32, 128 for wgmma, 1 for dp4a and dp2a
    products: int  # independent matrix products in one instruction: 4 for m8n8k4 .f16
    select: Mapping[str, tuple[str | int, ...]] = field(
        hash=False, default_factory=dict
    )  # what its assembly text may choose
    chosen: Mapping[str, str | int] = field(hash=False, default_factory=dict)  # and what it chooses here
    asm: str = ""  # its operands in the assembly text: {A} for the registers of A, {F} for a selection
    sparsity: tables.Sparsity | None = None  # how metadata chooses the columns of A that are stored
    ctas: int = 1  # CTAs that work together, though one thread issues it
    addresses: Mapping[str, str] = field(hash=False, default_factory=dict)  # what `asm` names besides -> its space
    form: str | None = None  # the shape qualifier, a family's parameters by name: m64nNk16
    types: tuple[Mapping[str, str], ...] = field(hash=False, default=())  # every combination that its operands may have


def signature(mnemonic: str, folder: Path = tables.SHIPPED, **select: str | int) -> Signature:
    """Return the signature of a mnemonic, its qualifiers in any order that means the same.

    `select` chooses what the mnemonic leaves to the assembly text: `F=1` for a sparsity selector,
    `A_space="reg"` for an operand from registers; the default is the first that the table lists. M, N and K may be
    given for any instruction that has them; where the mnemonic has them, they must agree.

    Raises UnknownInstruction when the tables lack its family, NotInIsa when the family has no such variant;
    both name the nearest mnemonics. The lists of a table are complete: a selection that is not listed raises NotInIsa
    too, with the nearest.
    """
    return signature_of(find(mnemonic, folder, select))


@lru_cache(maxsize=1 << 13)  # by the variant's identity: what was read of a user's file again is another one
def signature_of(variant: tables.Variant) -> Signature:
    """Return the signature of a variant of a table."""
    key, table, operands = variant.said, variant.table, entries(variant)
    return Signature(
        mnemonic=variant.mnemonic,
        family=key.family,
        shape=_shape(variant, key, operands),
        operands={name: entry.fragment for name, entry in operands.items()},
        qualifiers=key.qualifiers,
        targets=variant.targets,
        ptx=variant.ptx,
        lanes=table.lanes,
        products=1 if table.product is None else operands[variant.operands[0]].fragment.copies,
        select=variant.select,
        chosen=variant.chosen,
        asm=tables.fill(table.file, "asm", variant.asm, {**variant.words, **{n: o.asm for n, o in operands.items()}}),
        sparsity=table.sparsity,
        ctas=number(variant.ctas, variant, "ctas"),
        addresses=table.addresses,
        form=variant.shape,
        types=combinations(variant, operands),
    )


def _shape(variant: tables.Variant, key: Said, operands: Mapping[str, OperandEntry]) -> tuple[int, ...]:
    """(m, n, k); raises TableError unless all operands and the shape qualifier agree on it."""
    said_of = _extents(key.shape or "")
    seen: dict[str, int] = {}
    for name, entry in operands.items():
        for axis, extent in zip(entry.fragment.axes, entry.fragment.extent, strict=True):
            if extent != seen.setdefault(axis, said_of.get(axis, extent)):
                reason = f"{entry.fragment.extent} does not fit the other operands of {variant.mnemonic}"
                raise TableError(variant.table.file, f"{name}.extent", reason)
    if {"m", "n", "k"} <= seen.keys():
        return (seen["m"], seen["n"], seen["k"])
    return tuple(map(int, re.findall(r"\d+", key.shape or "")))


@lru_cache(maxsize=1024)
def _extents(shape: str) -> Mapping[str, int]:
    """Return the numbers of a shape qualifier by their letters."""
    return {letter: int(number) for letter, number in re.findall(r"([mnk])(\d+)", shape)}


DENSE = ("dp2a", "dp4a", "mma.sync", "mma.sync.kind::f8f6f4")  # D = A * B + C, all four in registers


def mnemonics(family: str | None = None, folder: Path = tables.SHIPPED) -> tuple[str, ...]:
    """Every concrete mnemonic of a family, sorted; by default those of the families in DENSE.

    The family may be a pattern: "wgmma*", or "*" for all that the tables have.

    >>> mnemonics("movmatrix*")
    ('movmatrix.sync.aligned.m8n8.trans.b16',)
    """
    from fnmatch import fnmatchcase

    wanted = DENSE if family is None else (family,)
    stems = {list_parts(name).stem for name in wanted}
    every = any(sign in name for name in wanted for sign in "*?[")
    listed: set[str] = set()
    for path in tables.files(folder):
        if every or path.stem.split("_")[0] in stems:
            for key, variants in tables.variants(tables.read_table(path)).items():
                if any(fnmatchcase(key.family, name) for name in wanted):
                    listed.add(variants[0].mnemonic)
    return tuple(sorted(listed))


def expand(short: str, folder: Path = tables.SHIPPED) -> tuple[str, ...]:
    """Return every mnemonic that has the words of a short name in their order, those with f32 first.

    The first word is the instruction's own, and a sparse instruction is meant only by a name that says so.

    >>> expand("mma.m16n8k8.f32.f16")
    ('mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32',)
    >>> expand("ldmatrix.x3")
    ()
    """
    matches = [name for name in mnemonics("*", folder) if is_short_for(short, name)]
    sparse = {name for name in matches if re.search(r"\.sp[.:]", name)}
    meant = matches if ".sp" in short else [name for name in matches if name not in sparse]
    return tuple(sorted(meant, key=lambda name: "f32" not in name.split(".")))


def families(folder: Path = tables.SHIPPED) -> tuple[str, ...]:
    """Every family of the tables, sorted.

    >>> [name for name in families() if name.startswith("d")]
    ['dp2a', 'dp4a']
    """
    return tuple(
        sorted({key.family for path in tables.files(folder) for key in tables.variants(tables.read_table(path))})
    )


def in_part(folder: Path = tables.SHIPPED) -> frozenset[str]:
    """Return the families of which the ISA has more instructions than the tables."""
    read = (tables.read_table(path) for path in tables.files(folder))
    return frozenset(key.family for table in read if table.part for key in tables.variants(table))


def find(mnemonic: str, folder: Path = tables.SHIPPED, select: Mapping[str, str | int] = NOTHING) -> tables.Variant:
    """Return the variant of a table that a mnemonic and a selection name; raises as `signature` does."""
    if folder == tables.SHIPPED and all(isinstance(word, str | int) for word in select.values()):
        return _find_shipped(mnemonic, tuple(sorted(select.items())))
    return _find_signature(mnemonic, folder, select)


@lru_cache(maxsize=8192)
def _find_shipped(mnemonic: str, select: tuple[tuple[str, str | int], ...]) -> tables.Variant:
    """`_found` in the shipped tables, cached: they do not change while a process runs, a user's folder may."""
    return _find_signature(mnemonic, tables.SHIPPED, dict(select))


@lru_cache(maxsize=8192)
def _shipped_variants(mnemonic: str) -> tuple[tables.Variant, ...]:
    return _variants(mnemonic, tables.SHIPPED)


def _variants(mnemonic: str, folder: Path) -> tuple[tables.Variant, ...]:
    """Return the variants of a table that have a mnemonic; they differ in what the assembly text may choose."""
    key = list_parts(mnemonic)
    read = map(tables.read_table, tables.files(folder, key))
    matches = [variants[key] for variants in map(tables.variants, read) if key in variants]
    if not matches:
        from isa_tables.nearest import not_found

        shipped = folder == tables.SHIPPED
        raise not_found(mnemonic, key, families(folder), in_part(folder), lambda name: mnemonics(name, folder), shipped)
    if len(matches) > 1:
        raise TableError(matches[1][0].table.file, "mnemonic", f"{mnemonic} is also in {matches[0][0].table.file}")
    if mnemonic != (written := matches[0][0].mnemonic) and (problem := find_misplaced(mnemonic, written)):
        raise NotInIsa(f"{mnemonic[:200]!r}: ptxas {assembler().release} rejects the order of its words: {problem}")
    return tuple(matches[0])


def choices(mnemonic: str, name: str) -> frozenset[str | int]:
    """Return the words that the assembly text of an instruction may choose for a name; raises as `signature` does.

    >>> choices("wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16", "A_space") == {"reg", "smem"}
    True
    """
    return frozenset(word for variant in _shipped_variants(mnemonic) for word in list_words(variant, name))


def _find_signature(mnemonic: str, folder: Path, select: Mapping[str, str | int]) -> tables.Variant:
    variants = _shipped_variants(mnemonic) if folder == tables.SHIPPED else _variants(mnemonic, folder)
    for variant in variants:
        if all(word in list_words(variant, name) for name, word in select.items()):
            listed = {
                name: words[words.index(select[name])] for name, words in variant.select.items() if name in select
            }
            chosen = {**variant.chosen, **listed}
            return variant if chosen == variant.chosen else replace(variant, chosen=chosen)
    from isa_tables.nearest import not_selected

    raise not_selected(variants, select, list_words)


def list_words(variant: tables.Variant, name: str) -> tuple[str | int, ...]:
    """Return the words that an instruction's text may choose for a name.

    For M, N and K without a choice, its own extent.
    """
    if name in variant.select or name not in EXTENTS:
        return variant.select.get(name, ())
    shape = _shape(variant, variant.said, entries(variant))
    return (shape[EXTENTS.index(name)],) if len(shape) == len(EXTENTS) else ()


def runs_on(signature: Signature, architecture: str) -> bool:
    """Whether the instruction exists for an architecture such as "sm_90a".

    The target "sm_80+" covers every architecture from 80 up, "sm_120a" that one alone, "sm_120f" the a and f
    variants of its family (120 and later, of the same ten).

    >>> runs_on(signature("dp4a.s32.s32"), "sm_75"), runs_on(signature("dp4a.s32.s32"), "sm_60")
    (True, False)

    Raises IsaError for a text that is no architecture.
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


def spellings() -> tuple[Spelling, ...]:
    """Return every row of the opcode tables without its formula: see `isa_tables.opcode_signatures`."""
    from isa_tables import opcode_signatures  # it loads the opcodes' tables, which no matrix instruction needs

    return opcode_signatures.spellings()
