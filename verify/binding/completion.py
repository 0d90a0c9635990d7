# SPDX-License-Identifier: Apache-2.0
"""What an entry leaves to its instruction, filled in from the ISA's tables: taken, and so never checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import isa_tables
from isa_tables.signature import find, signature
from layouts import from_samples
from layouts.atoms import AnyAtom, Atom, AtomFileError, IncompleteAtom
from layouts.atoms.errors import Spot, raised
from layouts.atoms.mma import SPACES
from layouts.atoms.reading import Stated, complete, listed
from layouts.atoms.tables import Found, by_line
from verify.core.files import opened

FRAGMENT = {"C": ("C", "D")}  # which operands of an instruction say what an atom's is, the first that it has
TYPED = ("D", "A", "B", "C")
EXTENTS = ("M", "N", "K")
EXTRA = ("E", "SFA", "SFB")  # operands that not every instruction has


@dataclass(frozen=True, slots=True)
class Said:
    """What one instruction says of a key, or why it does not say it."""

    mnemonic: str
    value: object = None
    unsaid: str = ""


def atoms(path: Path) -> Found[AnyAtom]:
    """The atoms of a file, what they leave out taken from their instructions, and everything wrong with the others.

    Raises AtomFileError for a file that cannot be read at all.
    """
    document = opened(path, "atom")
    found = listed(document)
    whole: list[AnyAtom] = []
    errors = list(found.errors)
    for atom in found.items:
        try:
            whole.append(completed(atom))
        except AtomFileError as error:
            errors += map(document.located, error.errors)
    return Found(tuple(whole), by_line(errors))


def completed(atom: Stated) -> AnyAtom:
    """The atom with what it leaves out taken from its instructions; one that leaves nothing out as it is.

    Raises AtomFileError, with every key that no instruction says, or of which two say different things.
    """
    whole = _filled(atom) if isinstance(atom, IncompleteAtom) else _placed(atom) if isinstance(atom, Atom) else atom
    if foreign := [*_foreign(whole)]:
        raise raised(foreign)
    return whole


def _foreign(atom: AnyAtom) -> Iterator[AtomFileError]:
    """An error for each operand that none of the atom's known instructions has."""
    extra = atom.operands.keys() & EXTRA
    known = [told for mnemonic in atom.mnemonics if extra and (told := in_tables(mnemonic)) is not None]
    for name in EXTRA if known else ():
        if name in extra and not any(name in told.operands for told in known):
            problem = f"{known[0].mnemonic} has no operand {name}"
            spot = Spot(atom.family.name if atom.family else atom.name, name)
            yield AtomFileError(atom.file, f"{atom.name}.{name}", problem, spot)


def _filled(atom: IncompleteAtom) -> AnyAtom:
    found: dict[str, object] = {}
    if errors := [*_not_in_tables(atom)]:
        raise raised(errors)
    for gap in atom.gaps:
        try:
            found[gap] = _agreed(atom, gap)
        except AtomFileError as error:
            errors.append(error)
    if errors:
        raise raised(errors)
    taken = {key: _words(value) for key, value in found.items()}
    whole = complete(atom, _nested(found), taken)
    return _placed(whole) if isinstance(whole, Atom) else whole


def _not_in_tables(atom: IncompleteAtom) -> Iterator[AtomFileError]:
    """An error for each mnemonic that the tables lack, so that nothing can be taken from it."""
    for mnemonic in atom.mnemonics:
        try:
            isa_tables.instruction(mnemonic)
        except isa_tables.IsaError as error:
            yield atom.entry.error("ptx", f"{error}; it cannot say what is left out: {', '.join(atom.gaps)}")


def _nested(found: Mapping[str, object]) -> dict[str, object]:
    """Keys such as types.D as the table that they stand for."""
    tables: dict[str, object] = {}
    for key, value in found.items():
        name, _, inner = key.partition(".")
        if inner:
            before = tables.get(name, {})
            tables[name] = {**(before if isinstance(before, dict) else {}), inner: value}
        else:
            tables[name] = value
    return tables


def _words(value: object) -> str:
    """A value as reports print it.

    >>> _words([16, 8, 16]), _words({"D": "f32", "A": "f16"}), _words("32:1")
    ('16x8x16', 'D f32, A f16', '32:1')
    """
    if isinstance(value, dict):
        return ", ".join(f"{key} {word}" for key, word in value.items())
    return "x".join(map(str, value)) if isinstance(value, list) else str(value)


def _agreed(atom: IncompleteAtom, gap: str) -> object:
    """What all instructions of an atom say of a key that it leaves out; raises AtomFileError."""
    heard = [_said(atom, mnemonic, gap) for mnemonic in atom.mnemonics]
    silent = next((said for said in heard if said.unsaid), None)
    if silent is not None:
        raise atom.entry.error(gap, f"missing, and {silent.mnemonic} cannot say it: {silent.unsaid}")
    first = heard[0]
    other = next((said for said in heard if said.value != first.value), None)
    if other is not None:
        says = f"{first.mnemonic} says {_words(first.value)}, {other.mnemonic} {_words(other.value)}"
        raise atom.entry.error(gap, f"missing, and its instructions disagree: {says}")
    return first.value


def _said(atom: IncompleteAtom, mnemonic: str, gap: str) -> Said:
    instruction = isa_tables.instruction(mnemonic)
    key, _, operand = gap.partition(".")
    if key == "shape":
        return _shape(atom, instruction.signature)
    if key == "thr":
        return Said(mnemonic, in_order(instruction))
    if key == "types":
        return _types(atom, instruction.signature, [operand] if operand else TYPED)
    return _spaces(instruction, [operand] if operand else ["Src", "Dst"])


def _shape(atom: IncompleteAtom, signature: isa_tables.Signature) -> Said:
    if moves(signature):
        return Said(signature.mnemonic, unsaid="it multiplies no matrices")
    open_ = [axis for axis in EXTENTS if axis in signature.select]
    if open_:
        return Said(signature.mnemonic, unsaid=f"a descriptor chooses {', '.join(open_)}")
    if "element" in atom.entry.table:
        return Said(signature.mnemonic, unsaid="elements of several numbers (`element`) make it the atom's own")
    return Said(signature.mnemonic, list(signature.shape))


def in_order(instruction: isa_tables.Instruction) -> str:
    """The threads in the order of their lanes: those of the first product, where an instruction makes several."""
    signature = instruction.signature
    lanes = [*range(signature.lanes * signature.ctas)]
    if signature.products > 1:
        lanes = [lane for lane in lanes if instruction.product(lane) == 0]
    return str(from_samples(len(lanes), lanes.__getitem__))


def _types(atom: IncompleteAtom, signature: isa_tables.Signature, operands: Iterable[str]) -> Said:
    """The types that all combinations have which agree with those that the entry states."""
    own = atom.entry.table.get("types", {})
    stated = own.items() if isinstance(own, dict) else ()
    rows = [row for row in signature.types if all(row.get(name, word) == word for name, word in stated)]
    found: dict[str, str] = {}
    for operand in operands:
        name = next((name for name in FRAGMENT.get(operand, (operand,)) if name in signature.operands), None)
        if name is None:
            return Said(signature.mnemonic, unsaid=f"it has no operand {operand}")
        listed = list(dict.fromkeys(row[name] for row in rows or signature.types))
        if len(listed) > 1:
            return Said(signature.mnemonic, unsaid=f"a descriptor chooses the type of {operand}: {', '.join(listed)}")
        found[operand] = listed[0]
    return Said(signature.mnemonic, found if len(found) > 1 else next(iter(found.values())))


def _spaces(instruction: isa_tables.Instruction, sides: Iterable[str]) -> Said:
    if not moves(instruction.signature):
        return Said(instruction.signature.mnemonic, unsaid="it copies nothing")
    told = spaces(instruction)
    found = {side: told[0] if side == "Dst" else told[-1] for side in sides}
    return Said(instruction.signature.mnemonic, found if len(found) > 1 else next(iter(found.values())))


def _placed(atom: Atom) -> Atom:
    """The atom with the spaces that it does not state and its instructions leave no choice of."""
    said: dict[str, str] = {}
    for operand in atom.operands.keys() - atom.space.keys():
        spaces = {_space(mnemonic, operand) for mnemonic in atom.mnemonics}
        if len(spaces) == 1 and (space := spaces.pop()) not in ("", "reg"):
            said[operand] = space
    if not said:
        return atom
    taken = {**atom.taken, "space": _words(dict(sorted(said.items())))}
    return replace(atom, space={**atom.space, **said}, taken=taken)


@lru_cache(maxsize=8192)
def _space(mnemonic: str, operand: str) -> str:
    """Where an instruction has an operand; empty where its text chooses, or it has none."""
    told = in_tables(mnemonic)
    if told is None:
        return ""
    name = next((name for name in FRAGMENT.get(operand, (operand,)) if name in told.operands), None)
    if name is None:
        return ""
    space = told.operands[name].space
    return "" if any(_may_be(mnemonic, operand, other) for other in SPACES if other != space) else space


def moves(signature: isa_tables.Signature) -> bool:
    """Whether an instruction copies what it is given, and multiplies no matrices.

    >>> moves(signature("ldmatrix.sync.aligned.m8n8.x4.shared.b16"))
    True
    >>> moves(signature("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"))
    False
    """
    return not {"A", "B"} <= signature.operands.keys()


def in_tables(mnemonic: str) -> isa_tables.Signature | None:
    """An instruction's signature; None where the tables hold no such instruction."""
    try:
        return signature(mnemonic)
    except isa_tables.IsaError:
        return None


def _may_be(mnemonic: str, operand: str, space: str) -> bool:
    """Whether the text of an instruction may choose a space for an operand."""
    try:
        find(mnemonic, select={f"{operand}_space": space})
    except isa_tables.IsaError:
        return False
    return True


def spaces(instruction: isa_tables.Instruction) -> list[str]:
    """Where the operands of a copy are, in the order of its text: first what is written, last what is read."""
    signature = instruction.signature
    known = {**{name: table.space for name, table in instruction.operands.items()}, **signature.addresses}
    terms = [term.strip("[]{}") for term in signature.asm.split(", ")]
    return [known[term] for term in terms if term in known]
