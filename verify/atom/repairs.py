# SPDX-License-Identifier: Apache-2.0
"""Repairs of atoms. A repair is shown only if the whole atom, with it put in, is VERIFIED by the same checks.

Candidates come from what is refuted: layouts from the formulas of the ISA, or of a copy from its other side; the
threads, spaces, multiplicities, extents and types of the instruction. Each is a change of keys of the user's entry.

`add_repairs`  verdicts, with the repairs that verify
`KeyChange`    keys with their new values, and the claims at which a report shows them
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from isa_tables.errors import IsaError
from isa_tables.signature import choices
from layouts import LayoutError
from layouts.atoms import AnyAtom, Atom, CopyAtom
from layouts.atoms.mma import SPACES
from layouts.int_tuple import leaves, unflatten
from layouts.text import format_int_tuple, parse_shape_stride
from verify.atom import relabelling
from verify.atom.copies import COPY_OPERANDS, copy_operands
from verify.binding.atom import BoundAtom, count_contracted
from verify.binding.bound import BoundMaps
from verify.binding.completion import EXTENTS, fragment_of, in_order, spaces
from verify.binding.copy import CopyOperand, adapt_bit
from verify.binding.operand import BoundOperand
from verify.binding.relabelling import order
from verify.core.digits import walks
from verify.core.verdict import Fix, Scope, Status, Verdict
from verify.core.verified_repair import fold
from verify.evidence import layout_repair
from verify.evidence.layout_repair import Candidate
from verify.maps.relabelling import spell_permutation

MOST = 24  # changes that are tried: a wrong atom takes a few times as long as a right one
Keys: TypeAlias = Mapping[str, Any]
# an atom, or maps that are none, with keys changed; None where that can't be, or changes nothing
Edited: TypeAlias = Callable[[Keys], "AnyAtom | BoundMaps | None"]


class KeyChange(NamedTuple):
    """New values for keys of an entry, and how a report words it at the claims on each part."""

    keys: Keys  # A, Src, ...: a layout's text; thr, shape, space, copies, types, relabel: as in a file
    words: Mapping[str, str]  # part of a claim -> what is shown there


def edit_atom(atom: AnyAtom, keys: Keys) -> AnyAtom | None:
    """Return an atom with other values for some keys of its entry; None if it has them already."""
    fields = {key: value for key, value in keys.items() if key not in atom.operands}
    operands = {**atom.operands, **{key: keys[key] for key in atom.operands if key in keys}}
    edited = replace(atom, operands=operands, **fields)
    return None if edited == atom else edited


def add_repairs(
    subject: BoundMaps, verdicts: Sequence[Verdict], edit: Edited, verified: Callable[[Any], bool]
) -> list[Verdict]:
    """Return the verdicts on an atom, those refuted with a repair if one makes the whole atom right.

    A relabelling and the layouts that make it unnecessary are two repairs, and both are shown. If one key mends all,
    the other refutations follow from it.
    """
    if not any(verdict.status.refuted for verdict in verdicts) or any(verdict.contradiction for verdict in verdicts):
        return list(verdicts)

    def works(change: KeyChange) -> bool:
        with suppress(ValueError):  # of a file that can't have this value, such as a layout of another rank
            edited = edit(change.keys)
            return edited is not None and verified(edited)
        return False

    first = next(filter(works, _relabel(subject, verdicts)), None)
    second = next(filter(works, islice(_changes(subject), MOST)), None)
    shown, operands = list(verdicts), {part.name for part in subject.parts}
    for change in filter(None, (first, second)):
        for number, (part, words) in enumerate(change.words.items()):
            at = _show(shown, part, words, part in change.keys and part in operands)
            if number == 0:  # the fix has all keys, so it stands once
                fix = Fix("; ".join(dict.fromkeys(change.words.values())), keys=change.keys)
                shown[at] = shown[at]._replace(fixes=(*shown[at].fixes, fix))
            if change is second and len(change.keys) == 1:
                shown = fold(shown, at)
    return shown


def _show(verdicts: list[Verdict], part: str, words: str, is_layout: bool) -> int:
    """Put a repair at the claim that it mends: on equality of its part, else of its part, else on the instruction.

    A layout that stands at the claim on another part names its own.
    """
    refuted = [
        at for at, verdict in enumerate(verdicts) if verdict.status.refuted and verdict.counterexample is not None
    ]
    own = [at for at in refuted if verdicts[at].claim.part == part]
    equal = [at for at in own if verdicts[at].claim.prop.key == "equals_isa"]
    form = [at for at in refuted if verdicts[at].claim.prop.scope == Scope.INSTRUCTION]
    at = (equal if is_layout and equal else own or form or refuted)[0]
    wrong = verdicts[at].counterexample
    if wrong is not None:
        words = f"in {part}, {words}" if is_layout and not own else words
        text = "; or ".join(filter(None, [wrong.repair, words]))
        verdicts[at] = verdicts[at]._replace(counterexample=wrong._replace(repair=text))
    return at


def _relabel(subject: BoundMaps, verdicts: Sequence[Verdict]) -> Iterator[KeyChange]:
    """Yield the declaration of the relabelling that explains every refutation."""
    parts = [verdict.claim.part for verdict in verdicts if verdict.status is Status.RELABELLED]
    numbers = relabelling.find_permutations(subject) if parts else None
    if numbers is None:
        return
    texts = {axis: spell_permutation(permuted) for axis, permuted in numbers.items()}
    if all(order(text, len(numbers[axis])) for axis, text in texts.items()):
        listed = ", ".join(f'{axis} = "{text}"' for axis, text in texts.items())
        yield KeyChange({"relabel": texts}, dict.fromkeys(parts, f"declare relabel = {{ {listed} }}"))


def _changes(subject: BoundMaps) -> Iterator[KeyChange]:
    """Yield changes of one key, the likeliest first, then of all layouts and of all keys at once."""
    own = [(part.name, candidate) for part in subject.parts if (candidate := _by_formula(subject, part)) is not None]
    single = [_of_layout(name, candidate) for name, candidate in own]
    yield from single
    yield from _profiles(subject)
    if subject.is_copy:
        solved = _by_the_other_side(subject)
        yield from () if solved is None else (_of_layout(*solved),)
        yield from _as_other(subject)
    keys = list(_keys(subject)) if isinstance(subject, BoundAtom) else []
    yield from keys
    if len(single) > 1:
        yield _together(single)
    if single and keys:
        yield _together([*single, *keys])


def _together(changes: Sequence[KeyChange]) -> KeyChange:
    return KeyChange(
        {key: value for change in changes for key, value in change.keys.items()},
        {part: words for change in changes for part, words in change.words.items()},
    )


def _of_layout(name: str, candidate: Candidate) -> KeyChange:
    return KeyChange({name: str(candidate.layout)}, {name: str(candidate)})


def _by_formula(subject: BoundMaps, part: BoundOperand) -> Candidate | None:
    """Return the layout that the formulas of an operand ask for."""
    wanted = layout_repair.wanted_table(subject, part)
    return None if wanted is None else layout_repair.find(part, wanted)


def _by_the_other_side(subject: BoundMaps) -> tuple[str, Candidate] | None:
    """Return the operand that names the bits of a copy, with the layout by the names that the other side gives them.

    The formula of the one follows from the layout of the other, so this is the same equation solved for the other side.
    """
    if subject.by is None or subject.thr is None or subject.rep_size != 1:
        return None
    by_name = copy_operands(subject.space, subject.by)
    parts = {part.name: part for part in subject.parts}
    given = next((name for name in COPY_OPERANDS if subject.space[name] != "reg"), "Src")
    (opposite,) = set(COPY_OPERANDS) - {given}
    if not by_name or parts[opposite].layout is None:
        return None
    names = np.array(walks(parts[opposite].layout_of_text))
    lanes = np.array([subject.thr(thread) for thread in range(subject.threads)])[:, None]
    numbers: layout_repair.Table | None = None
    with suppress(IsaError):  # a wrong adapter names bits that the instruction doesn't have
        numbers = _numbers(by_name[opposite], lanes, subject.adapter if opposite == "Dst" else None)
    if numbers is None or numbers.shape != names.shape:
        return None
    known, first, which = np.unique(numbers, return_index=True, return_inverse=True)
    named = names.ravel()[first]
    if (named[which].ravel() != names.ravel()).any():
        return None
    mine = _numbers(by_name[given], lanes, None)
    if not np.isin(mine, known).all():
        return None
    wanted = named[np.searchsorted(known, mine)]
    candidate = layout_repair.find(parts[given], wanted)
    return None if candidate is None else (given, candidate)


def _numbers(operand: CopyOperand, lanes: Any, adapter: Any) -> layout_repair.Table:
    """Return the number of every (thread, bit) of an operand of a copy."""
    bits = adapt_bit(np.arange(operand.per_thread), adapter)[None, :]
    numbers = operand.number(lanes, bits)
    return np.broadcast_to(numbers, (len(lanes), operand.per_thread))


def _as_other(subject: BoundMaps) -> Iterator[KeyChange]:
    """Yield the layouts of a copy with one in place of another: Ref is one of the two others."""
    texts = {part.name: part.text for part in subject.parts}
    for part in (*COPY_OPERANDS, "Ref"):
        for source in ("Ref", *COPY_OPERANDS):
            if texts[part] != (text := texts[source]):
                yield KeyChange({part: text}, {part: f"as {source}: {text}"})


def _profiles(subject: BoundMaps) -> Iterator[KeyChange]:
    """Yield the stride's numbers in the profile of the shape, where the two differ."""
    for part in subject.parts:
        if part.well_formed:
            continue
        with suppress(LayoutError):
            shape, stride = parse_shape_stride(part.text)
            text = f"{format_int_tuple(shape)}:{format_int_tuple(unflatten(leaves(stride), shape))}"
            if text != part.text:
                yield KeyChange({part.name: text}, {part.name: f"one profile: {text}"})


def _keys(subject: BoundAtom) -> Iterator[KeyChange]:
    """Yield what the instruction says of threads, spaces, multiplicities, extents and types where the entry differs."""
    for part in subject.parts:
        yield from _copies(subject, part)
    if subject.by is None:
        return
    atom = subject.atom
    if atom.thr != (threads := in_order(subject.by)):
        yield KeyChange({"thr": threads}, {"thr": f'give thr = "{threads}"'})
    for space in _spaces(subject):
        listed = ", ".join(f'{name} = "{word}"' for name, word in space.items())
        yield KeyChange({"space": space}, {"space": f"give space = {{ {listed} }}"})
    if isinstance(atom, Atom):
        shape = subject.by.signature.shape
        if shape != atom.shape and count_contracted(atom) == 1 and not {*EXTENTS} & {*subject.by.signature.select}:
            yield KeyChange({"shape": shape}, {"shape": f"give shape = {[*shape]}"})
        yield from _types(subject, atom)


def _copies(subject: BoundAtom, part: BoundOperand) -> Iterator[KeyChange]:
    """Yield the number of places of each element in the instruction."""
    count = subject.multiplicity(part)
    if part.formulas and subject.atom.copies.get(part.name, 1) != count:
        copies = {**subject.atom.copies, part.name: count}
        yield KeyChange({"copies": copies}, {part.name: f"give copies = {{ {part.name} = {count} }}"})


def _spaces(subject: BoundAtom) -> Iterator[Mapping[str, str]]:
    """Yield the spaces of an entry with one operand in a space that the instruction can have it in."""
    atom, instruction = subject.atom, subject.instruction
    if isinstance(atom, CopyAtom):
        allowed = spaces(instruction)
        right = {"Src": allowed[-1], "Dst": allowed[0]} if allowed else {}
        yield from [{**atom.space, **right}] if {**atom.space, **right} != atom.space else []
        return
    for name in atom.operands:
        fragment = fragment_of(instruction.signature, name)
        if fragment is None:
            continue
        offered = choices(instruction.signature.mnemonic, f"{name}_space")
        for space in (word for word in SPACES if word in offered or word == fragment.space):
            if space != atom.space.get(name, "reg"):
                yield {**atom.space, name: space}


def _types(subject: BoundAtom, atom: Atom) -> Iterator[KeyChange]:
    """Yield the types of an entry with one or two replaced by types that go together in the instruction."""
    signature = subject.instruction.signature
    rows: list[dict[str, str]] = [{name: row[name] for name in atom.types if name in row} for row in signature.types]
    if "C" not in signature.operands:  # it accumulates in D
        rows = [{**row, "C": row["D"]} for row in rows if "D" in row]
    rows = [row for row in rows if any(atom.types[name] != word for name, word in row.items())]
    for row in sorted(rows, key=lambda row: sum(atom.types[name] != word for name, word in row.items())):
        changed = {name: word for name, word in row.items() if atom.types[name] != word}
        listed = ", ".join(f'{name} = "{word}"' for name, word in changed.items())
        yield KeyChange({"types": {**atom.types, **changed}}, {"types": f"give types = {{ {listed} }}"})
