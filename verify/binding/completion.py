# SPDX-License-Identifier: Apache-2.0
"""The completion of atoms: keys that an entry leaves out are taken from the ISA tables, and so never checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import isa_tables
from isa_tables.signature import choices, signature
from layouts import from_samples
from layouts.atoms import AnyAtom, Atom, AtomFileError, IncompleteAtom
from layouts.atoms.mma import SPACES
from layouts.atoms.reading import ReadAtom, complete, list_atoms
from layouts.toml.errors import Spot, combine_errors
from layouts.toml.tables import ReadTables, by_line
from verify.core.files import open_document

FRAGMENTS = {"C": ("D", "C")}  # the operands of an instruction that an atom's operand is, where the names differ
TYPED = ("D", "A", "B", "C")
EXTENTS = ("M", "N", "K")
EXTRA = ("E", "SFA", "SFB")  # operands that not every instruction has


class Undetermined(Exception):
    """An instruction does not determine a key that an atom leaves out: the message says why."""


def atoms(path: Path) -> ReadTables[AnyAtom]:
    """Return the completed atoms of a file, and all errors in the others.

    Raises AtomFileError for a file that cannot be read at all.
    """
    document = open_document(path, "atom")
    listed = list_atoms(document)
    whole: list[AnyAtom] = []
    errors = list(listed.errors)
    for atom in listed.items:
        try:
            whole.append(complete_atom(atom))
        except AtomFileError as error:
            errors += map(document.locate, error.errors)
    return ReadTables(tuple(whole), by_line(errors))


def complete_atom(atom: ReadAtom) -> AnyAtom:
    """Return the atom with the keys that it leaves out taken from its instructions.

    Raises AtomFileError with every key that no instruction determines, or that two determine differently.
    """
    whole = _fill(atom) if isinstance(atom, IncompleteAtom) else _place(atom) if isinstance(atom, Atom) else atom
    if errors := [*_without_operand(whole)]:
        raise combine_errors(errors)
    return whole


def _without_operand(atom: AnyAtom) -> Iterator[AtomFileError]:
    """Yield an error for each operand that none of the atom's known instructions has."""
    extra = atom.operands.keys() & EXTRA
    known = [signature for mnemonic in atom.mnemonics if extra and (signature := in_tables(mnemonic)) is not None]
    for name in EXTRA if known else ():
        if name in extra and not any(name in signature.operands for signature in known):
            problem = f"{known[0].mnemonic} has no operand {name}"
            spot = Spot(atom.family.name if atom.family else atom.name, name)
            yield AtomFileError(atom.file, f"{atom.name}.{name}", problem, spot)


def _fill(atom: IncompleteAtom) -> AnyAtom:
    values: dict[str, object] = {}
    errors: list[AtomFileError] = []
    for mnemonic in atom.mnemonics:
        try:
            isa_tables.instruction(mnemonic)
        except isa_tables.IsaError as error:
            problem = f"{error}; it does not determine what is left out: {', '.join(atom.gaps)}"
            errors.append(atom.entry.error("ptx", problem))
    for gap in () if errors else atom.gaps:
        try:
            values[gap] = _agree_on(atom, gap)
        except AtomFileError as error:
            errors.append(error)
    if errors:
        raise combine_errors(errors)
    taken = {key: _words(value) for key, value in values.items()}
    whole = complete(atom, _nest_keys(values), taken)
    return _place(whole) if isinstance(whole, Atom) else whole


def _nest_keys(values: Mapping[str, object]) -> dict[str, object]:
    """Keys such as types.D as nested tables."""
    tables: dict[str, Any] = {}
    for key, value in values.items():
        name, _, inner = key.partition(".")
        if inner:
            tables.setdefault(name, {})[inner] = value
        else:
            tables[name] = value
    return tables


def _words(value: object) -> str:
    """Return a value as reports print it.

    >>> _words([16, 8, 16]), _words({"D": "f32", "A": "f16"}), _words("32:1")
    ('16x8x16', 'D f32, A f16', '32:1')
    """
    if isinstance(value, dict):
        return ", ".join(f"{key} {word}" for key, word in value.items())
    return "x".join(map(str, value)) if isinstance(value, list) else str(value)


def _agree_on(atom: IncompleteAtom, gap: str) -> object:
    """Return the value that all instructions determine for a key that the atom leaves out; raises AtomFileError."""
    determined: dict[str, object] = {}
    for mnemonic in atom.mnemonics:
        instruction = isa_tables.instruction(mnemonic)
        try:
            determined[instruction.signature.mnemonic] = _determine(atom, instruction, gap)
        except Undetermined as error:
            problem = f"missing, and {instruction.signature.mnemonic} does not determine it: {error}"
            raise atom.entry.error(gap, problem) from error
    first, value = next(iter(determined.items()))
    for second, differs in determined.items():
        if differs != value:
            values = f"{first} has {_words(value)}, {second} {_words(differs)}"
            raise atom.entry.error(gap, f"missing, and its instructions differ: {values}")
    return value


def _determine(atom: IncompleteAtom, instruction: isa_tables.Instruction, gap: str) -> object:
    """Return the value that an instruction determines for a key; raises Undetermined."""
    key, _, operand = gap.partition(".")
    if key == "shape":
        return _shape(atom, instruction.signature)
    if key == "thr":
        return in_order(instruction)
    if key == "types":
        determined = _types(atom, instruction.signature, [operand] if operand else TYPED)
    elif moves(instruction.signature):
        listed = spaces(instruction)
        determined = {side: listed[0 if side == "Dst" else -1] for side in ([operand] if operand else ["Src", "Dst"])}
    else:
        raise Undetermined("it copies nothing")
    return determined if len(determined) > 1 else next(iter(determined.values()))


def _shape(atom: IncompleteAtom, signature: isa_tables.Signature) -> list[int]:
    if moves(signature):
        raise Undetermined("it multiplies no matrices")
    if open_ := [axis for axis in EXTENTS if axis in signature.select]:
        raise Undetermined(f"a descriptor chooses {', '.join(open_)}")
    if "element" in atom.entry.table:
        raise Undetermined("elements of several numbers (`element`) make it the atom's own")
    return list(signature.shape)


def lanes_in_order(instruction: isa_tables.Instruction) -> list[int]:
    """Return the lanes of an instruction's threads; of its first product if it makes several."""
    signature = instruction.signature
    lanes = [*range(signature.lanes * signature.ctas)]
    return lanes if signature.products == 1 else [lane for lane in lanes if instruction.product(lane) == 0]


def in_order(instruction: isa_tables.Instruction) -> str:
    """Return the threads of an instruction in the order of their lanes, as a layout."""
    lanes = lanes_in_order(instruction)
    return str(from_samples(len(lanes), lanes.__getitem__))


def _types(atom: IncompleteAtom, signature: isa_tables.Signature, operands: Iterable[str]) -> dict[str, str]:
    """Return the types on which all combinations agree that have the types that the entry states."""
    own = atom.entry.table.get("types", {})
    given = own.items() if isinstance(own, dict) else ()
    rows = [row for row in signature.types if all(row.get(name, word) == word for name, word in given)]
    types: dict[str, str] = {}
    for operand in operands:
        names = [operand, "D"] if operand == "C" else [operand]  # C, if it has its own type
        name = next((name for name in names if name in signature.operands), None)
        if name is None:
            raise Undetermined(f"it has no operand {operand}")
        listed = list(dict.fromkeys(row[name] for row in rows or signature.types))
        if len(listed) > 1:
            raise Undetermined(f"a descriptor chooses the type of {operand}: {', '.join(listed)}")
        types[operand] = listed[0]
    return types


def _place(atom: Atom) -> Atom:
    """Return the atom with the spaces that it leaves out and its instructions determine."""
    placed: dict[str, str] = {}
    for operand in atom.operands.keys() - atom.space.keys():
        spaces = {_space(mnemonic, operand) for mnemonic in atom.mnemonics}
        if len(spaces) == 1 and (space := spaces.pop()) not in ("", "reg"):
            placed[operand] = space
    if not placed:
        return atom
    taken = {**atom.taken, "space": _words(dict(sorted(placed.items())))}
    return replace(atom, space={**atom.space, **placed}, taken=taken)


@lru_cache(maxsize=8192)
def _space(mnemonic: str, operand: str) -> str:
    """Return the space of an operand of an instruction; empty if the text chooses it, or without that operand."""
    signature = in_tables(mnemonic)
    if signature is None:
        return ""
    fragment = fragment_of(signature, operand)
    if fragment is None:
        return ""
    chosen = choices(mnemonic, f"{operand}_space") - {fragment.space}
    return "" if chosen & set(SPACES) else fragment.space


def fragment_of(signature: isa_tables.Signature, operand: str) -> isa_tables.Fragment | None:
    """Return what one lane holds of an atom's operand; None where the instruction has no such operand."""
    names = FRAGMENTS.get(operand, (operand,))
    return next((signature.operands[name] for name in names if name in signature.operands), None)


def moves(signature: isa_tables.Signature) -> bool:
    """Whether an instruction copies and multiplies no matrices.

    >>> moves(signature("ldmatrix.sync.aligned.m8n8.x4.shared.b16"))
    True
    >>> moves(signature("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"))
    False
    """
    return not {"A", "B"} <= signature.operands.keys()


@lru_cache(maxsize=8192)  # the shipped tables do not change while a process runs
def in_tables(mnemonic: str) -> isa_tables.Signature | None:
    """Return the signature of an instruction; None if the ISA tables have no such instruction."""
    try:
        return signature(mnemonic)
    except isa_tables.IsaError:
        return None


def spaces(instruction: isa_tables.Instruction) -> list[str]:
    """Return the spaces of the operands of a copy as its text has them: the written one first."""
    signature = instruction.signature
    known = {**{name: table.space for name, table in instruction.operands.items()}, **signature.addresses}
    terms = [term.strip("[]{}") for term in signature.asm.split(", ")]
    return [known[term] for term in terms if term in known]
