# SPDX-License-Identifier: Apache-2.0
"""The check `proof` of a whole family of atoms: its claims for every value of its parameters, listed or not.

A parameter N whose listed values are multiples of 8 is read as 8n; a proof for every n >= 1 is shared evidence of each
instance. If the argument does not apply, each instance is proved by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from math import gcd
from typing import NamedTuple, TypeAlias

import proofs
from layouts import LayoutError
from layouts.atoms import Atom, Family
from layouts.atoms.reading import read_atom
from layouts.int_tuple import IntTuple, congruent, leaves
from layouts.text import parse_shape_stride
from layouts.toml.template import PLACE, Word, fill, tokens
from proofs.layout.family import Equality, FamilyLayout, Size, digits, in_order, prove_family_equals, total
from verify.binding.atom import BoundAtom, prepare
from verify.binding.axes import AXES, OperandFormula
from verify.binding.bound import BoundMaps
from verify.binding.coordinates import Memory, Registers
from verify.binding.operand import BoundOperand
from verify.core.verdict import Check, Evidence, Status
from verify.evidence.proof import as_evidence

PLACEHOLDER = 10**12  # numbers from here on replace placeholders while a text is read; no layout has numbers so large

Prove: TypeAlias = "Callable[[BoundAtom, BoundOperand, int, proofs.Solver], Evidence | None]"


class Whole(NamedTuple):
    """One operand of a family over the parameters, and of the member with the largest parameters."""

    layout: FamilyLayout
    extent: tuple[Size, Size]
    largest: BoundAtom
    part: BoundOperand
    domain: str  # the values of the parameters, in words


def scope(subject: BoundMaps, part: BoundOperand) -> tuple[object, ...] | None:
    """Return the key by which evidence for a family is shared; None for an operand that is the same in every instance.

    A proof about a family does not cover a member whose instruction has another number of values.
    """
    if not isinstance(subject, BoundAtom) or subject.is_copy:
        return None
    family = subject.atom.family
    text = family.entry.table.get(part.name) if family is not None else None
    if family is None or not isinstance(text, str) or "{" not in text or not _is_member(subject.mma, part, family):
        return None
    if part.layout is None or part.domain != subject.expect_extents(part) or subject.relabel:
        return None
    formulas = tuple(f.map if isinstance(f, Registers) else "memory" for f in part.formulas)
    threads = (subject.thr_text, subject.lanes, subject.multiplicity(part))
    steps = tuple((name, step, max(family.params[name])) for name, step in _steps(family).items())
    words = tuple(item for item in subject.atom.params.items() if isinstance(item[1], str))
    return text, tuple(_extents(family, part)), threads, steps, words, formulas


def _is_member(atom: Atom, part: BoundOperand, family: Family) -> bool:
    """Whether an atom has the operand of its family: one that was changed is no instance."""
    table, params = family.entry.table, atom.params
    if not {"shape", "thr"} <= table.keys():  # taken from each member's instruction
        return False
    extents = table["shape"]
    chosen = tuple(params.items())
    shape = tuple(_fill_placeholders(str(extent), chosen) for extent in extents) if isinstance(extents, list) else ()
    same_layout = _fill_placeholders(str(table[part.name]), chosen) == part.text
    return (
        same_layout
        and shape == tuple(map(str, atom.shape))
        and _fill_placeholders(str(table["thr"]), chosen) == atom.thr
    )


@lru_cache(maxsize=4096)
def _fill_placeholders(text: str, params: tuple[tuple[str, Word], ...]) -> str:
    """Return a text with its placeholders replaced, once for all families that have it."""
    return fill(text, dict(params))


def ownership(subject: BoundAtom, part: BoundOperand, *_: object) -> Evidence | None:
    """Return the proof that in all members each element has the required number of owners, so none leaves its tile."""
    return _by_digits(subject, part, "mixed radix")


def inverse(subject: BoundAtom, part: BoundOperand, *_: object) -> Evidence | None:
    """Return the proof that all members have a right inverse: the mixed-radix digits of an element."""
    return _by_digits(subject, part, "mixed radix, whose digits are the inverse")


def _by_digits(subject: BoundAtom, part: BoundOperand, method: str) -> Evidence | None:
    """Ownership by mixed radix; None where the layout is no such number over the family's parameters."""
    whole = _whole(subject, part)
    radix = None if whole is None else digits(whole.layout, total(whole.extent))
    if whole is None or radix is None or radix.copies != subject.multiplicity(part):
        return None
    return Evidence(Check.PROOF, Status.PROVED, f"{method}, {whole.domain}")


def equals(subject: BoundAtom, part: BoundOperand, budget: int, solver: proofs.Solver) -> Evidence | None:
    """Return the proof that all members equal the formula; None unless one formula covers the whole family."""
    whole, formula = _whole(subject, part), part.formulas[0]
    largest = None if whole is None else next(iter(whole.part.formulas), None)
    if whole is None or largest is None or not _fits(whole, largest):
        return None
    if isinstance(formula, Memory) and isinstance(largest, Memory):
        method = f"strides in order, {whole.domain}"
        alike = formula.ctas == largest.ctas == 1  # two CTAs have a share each, in another order
        return Evidence(Check.PROOF, Status.PROVED, method) if alike and in_order(whole.layout) else None
    if not (isinstance(formula, Registers) and isinstance(largest, Registers)) or largest.table.uses:
        return None
    thr, rep = whole.largest.thr, whole.largest.rep
    if len(part.formulas) != 1 or formula.map != largest.map or thr is None or rep is None:
        return None
    claim = Equality(f"equals {largest.citation}", whole.layout, whole.extent, thr, rep, lift_limit(largest).locate)
    outcome = prove_family_equals(claim, budget, solver)
    method = f"linear integers, {whole.domain}"
    return as_evidence(outcome, None)._replace(method=method) if outcome.status == "unsat" else None


def lift_limit(formula: Registers) -> Registers:
    """Return the formula without a limit on values: members beyond the listed ones have more of them."""
    return formula._replace(table=replace(formula.table, values=PLACEHOLDER))


def _fits(whole: Whole, formula: OperandFormula) -> bool:
    """Whether all members have as many threads and values as the formula.

    By the formula each element of the tile has `copies` owners; a layout with as many points over as many threads has
    as many values.
    """
    values, threads = total(s for s, _ in whole.layout.value), total(s for s, _ in whole.layout.thread)
    points = values * Size(whole.largest.threads * whole.largest.rep_size)
    return threads == Size(whole.largest.threads) and points == total(whole.extent) * Size(formula.copies)


def _whole(subject: BoundAtom, part: BoundOperand) -> Whole | None:
    """Return an operand over the parameters; None if its text or its tile is not made of products of them."""
    family = subject.atom.family
    text = family.entry.table.get(part.name) if family is not None else None
    if family is None or not isinstance(text, str):
        return None
    steps, extent = _steps(family), extent_of(family, part)
    layout = _layout(text, steps)
    if extent is None or layout is None:
        return None
    params = {name: max(v) if name in steps else subject.atom.params[name] for name, v in family.params.items()}
    largest = read_atom(family.instance(family.name, params))
    if not isinstance(largest, Atom):
        return None
    prepared = prepare(largest)
    values = " and ".join(f"{name} > 0" + f" divisible by {step}" * (step > 1) for name, step in steps.items())
    member = next(p for p in prepared.parts if p.name == part.name)
    return Whole(layout, extent, prepared, member, f"for every {values}")


def _steps(family: Family) -> dict[str, int]:
    """Each parameter of numbers with the greatest common divisor of its values."""
    numbers = {name: [v for v in values if isinstance(v, int)] for name, values in family.params.items()}
    return {name: gcd(*values) for name, values in numbers.items() if values}


def extent_of(family: Family, part: BoundOperand) -> tuple[Size, Size] | None:
    """Return the tile of an operand over the parameters."""
    x, y = (_size(text, _steps(family)) for text in _extents(family, part))
    return None if x is None or y is None else (x, y)


def _extents(family: Family, part: BoundOperand) -> list[str]:
    """Return the extents of an operand's tile as the family's entry has them; "" where it leaves them out."""
    given_shape = family.entry.table.get("shape")
    sizes = dict(zip("mnk", given_shape if isinstance(given_shape, list) else [], strict=False))
    return [str(sizes.get(axis, "")) for axis in AXES[part.name]]


def _layout(text: str, steps: Mapping[str, int]) -> FamilyLayout | None:
    """Return a layout's text over the parameters, read with a number in place of each placeholder."""
    places = list(dict.fromkeys(PLACE.findall(text)))
    for i, place in enumerate(places):
        text = text.replace(f"{{{place}}}", str(PLACEHOLDER + i))
    sizes = {PLACEHOLDER + i: _size(f"{{{place}}}", steps) for i, place in enumerate(places)}
    try:
        shape, stride = parse_shape_stride(text)
    except LayoutError:
        return None
    if None in sizes.values() or not congruent(shape, stride):
        return None
    if not (isinstance(shape, tuple) and isinstance(stride, tuple) and len(shape) == 2):
        return None
    thread, value = (_modes(s, d, sizes) for s, d in zip(shape, stride, strict=True))
    return FamilyLayout(thread, value)


def _modes(shape: IntTuple, stride: IntTuple, sizes: Mapping[int, Size | None]) -> tuple[tuple[Size, Size], ...]:
    return tuple(
        (sizes.get(s) or Size(s), sizes.get(d) or Size(d))
        for s, d in zip(leaves(shape), leaves(stride), strict=True)
        if s != 1
    )


def _size(text: str, steps: Mapping[str, int]) -> Size | None:
    """Return a number, or a placeholder's expression with N read as step * n; None if that isn't a product."""
    place = PLACE.fullmatch(text)
    if place is None:
        return Size(int(text)) if text.isdigit() else None
    first, *rest = tokens(place[1])
    size = _token(first, steps)
    for operator, token in zip(rest[::2], rest[1::2], strict=True):
        term = _token(token, steps)
        if size is None or term is None:
            return None
        if operator == "*":
            size = size * term
        elif term.names or size.factor % term.factor:
            return None
        else:
            size = Size(size.factor // term.factor, size.names)
    return size


def _token(token: str, steps: Mapping[str, int]) -> Size | None:
    if token.isdigit():
        return Size(int(token))
    return Size(steps[token], (token,)) if token in steps else None


PROVE: Mapping[str, Prove] = {"ownership": ownership, "inverse": inverse, "equals": equals}
