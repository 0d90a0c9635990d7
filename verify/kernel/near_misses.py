# SPDX-License-Identifier: Apache-2.0
"""Is what a kernel computes a simple change of its claim? A term that is missing, a scalar twice, a tile elsewhere.

Each change is evaluated at the points of the run, and named only if it gives every wrong element that was written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from verify.core.errors import SpecError
from verify.kernel.claims.expression import LARGEST, Apply, Below, ClaimNumber, Element, Node, Scalar, Sum, scalars
from verify.kernel.comparison import Comparison
from verify.kernel.data.distinct import sort_distinct
from verify.kernel.interpretation import Interpretation
from verify.kernel.online import masked_claims
from verify.kernel.state.findings import Finding, Severity

Ints = NDArray[np.int64]
TERMS = 16  # at most so many are tried


def near_misses(run: Interpretation, found: Comparison) -> list[Finding]:
    """Return the first change of the claim that gives what the kernel computes, if there is one."""
    wrong = np.flatnonzero(found.wrong & found.written)
    if not len(wrong):
        return []
    got = run.values.residues[:, found.ids[wrong]].astype(np.uint64)
    for text, value, numbers in _changes(run):
        try:
            made = found.evaluate_claim(run, value, numbers).residues[:, wrong]
        except SpecError:  # a change of the text that has no value
            continue
        if run.values.equal(np.asarray(made, np.uint64), got).all():
            return [Finding("another formula", Severity.VALUE, 0, f"{text}: that gives all wrong elements")]
    text = _elsewhere(run, found, wrong, got)
    return [Finding("tile elsewhere", Severity.VALUE, 0, text)] if text else []


def _changes(run: Interpretation) -> Iterator[tuple[str, Node, dict[str, Fraction]]]:
    """Yield changes of the claim: in words, its value, and its scalars."""
    value, numbers = run.launch.value, dict(run.launch.scalars)
    terms = list(_terms(value, 1))[:TERMS]
    for sign, term in terms if len(terms) > 1 else []:
        less, more = ("-", "+") if sign > 0 else ("+", "-")
        yield f"the term {spell_node(term)} is missing", Apply(less, (value, term)), numbers
        yield f"the term {spell_node(term)} is added twice", Apply(more, (value, term)), numbers
        turned = Apply(less, (Apply(less, (value, term)), term))
        yield f"the term {spell_node(term)} has the other sign", turned, numbers
    if run.values.pairs:
        yield from (
            (text, changed, numbers) for text, changed in masked_claims(value, run.launch.extents) if changed != value
        )
    for name in sorted(scalars(value) & numbers.keys()):
        yield f"{name} is applied twice", value, {**numbers, name: numbers[name] ** 2}
        yield f"{name} is not applied", value, {**numbers, name: Fraction(1)}


def _terms(node: Node, sign: int) -> Iterator[tuple[int, Node]]:
    """Yield the terms of a sum with their signs."""
    if isinstance(node, Apply) and node.name in ("+", "-"):
        yield from _terms(node.parts[0], sign)
        yield from _terms(node.parts[1], sign if node.name == "+" else -sign)
    elif not (isinstance(node, ClaimNumber) and not node.value):
        yield sign, node


def spell_node(node: Node) -> str:
    """Return a tree as a claim has it."""
    if isinstance(node, ClaimNumber | Scalar | Below | Element):
        return _written_leaf(node)
    if isinstance(node, Sum):
        return f"sum_{node.index} {_parenthesize(node.body)}"
    if node.name == LARGEST and isinstance(node.parts[0], Sum):
        return f"max_{node.parts[0].index}({spell_node(node.parts[0].body)})"
    parts = [spell_node(part) for part in node.parts]
    if node.name == "*":
        return "*".join(map(_parenthesize, node.parts))
    if node.name in ("+", "-"):
        return f"{parts[0]} {node.name} {parts[1] if node.name == '+' else _parenthesize(node.parts[1])}"
    if node.name == "where":
        parts[:2] = [f"{parts[0]} > {parts[1]}"]
    return f"{node.name}({', '.join(parts)})"


def _written_leaf(node: ClaimNumber | Scalar | Below | Element) -> str:
    if isinstance(node, Element):
        return f"{node.name}[{','.join(node.indices)}]"
    if isinstance(node, Below):
        return "-inf"
    return node.name if isinstance(node, Scalar) else _shortest(float(node.value))


def _shortest(number: float) -> str:
    """Return the fewest digits that say which number of its type it is: f32 if it is one, else f64."""
    with np.errstate(over="ignore"):
        short = np.float32(number)
    return str(short if float(short) == number else number).removesuffix(".0")


def _parenthesize(node: Node) -> str:
    """Return a tree in parentheses if an operation before or behind it would take a part of it."""
    return f"({spell_node(node)})" if _loose(node) else spell_node(node)


def _loose(node: Node) -> bool:
    return isinstance(node, Sum) or (isinstance(node, Apply) and node.name in ("+", "-"))


@dataclass(frozen=True, slots=True)
class _Tile:
    """A block of consecutive indices of the output."""

    first: tuple[int, ...]
    extent: tuple[int, ...]

    @property
    def place(self) -> str:
        """Its number of each index, in tiles of its extent."""
        return f"({','.join(str(low // size) for low, size in zip(self.first, self.extent, strict=True))})"


def _tile(elements: Ints, shape: tuple[int, ...]) -> _Tile | None:
    """Return the block that some elements are; None if they are none."""
    where = np.unravel_index(elements, shape)
    first = tuple(int(axis.min()) for axis in where)
    extent = tuple(int(axis.max()) - low + 1 for axis, low in zip(where, first, strict=True))
    return _Tile(first, extent) if int(np.prod(extent)) == len(sort_distinct(elements)) else None


def _elsewhere(run: Interpretation, found: Comparison, wrong: Ints, got: NDArray[np.uint64]) -> str:
    """Return which CTA's tile holds the values of another place, in words."""
    stored, shape = found.region.stored, found.array.shape
    assert stored is not None
    home = np.asarray(found.residues[0], np.uint64) << np.uint64(32) | np.asarray(found.residues[1], np.uint64)
    order = np.argsort(home)
    keys = got[0] << np.uint64(32) | got[1]
    at = order[np.minimum(np.searchsorted(home, keys, sorter=order), len(order) - 1)]
    ctas = stored.writer[found.region.places[wrong] * found.region.size] // run.machine.threads
    for cta in sort_distinct(ctas):
        mine = ctas == cta
        if mine.sum() == 1 or not (home[at[mine]] == keys[mine]).all():  # one value, as 0, stands elsewhere by chance
            continue
        here, there = _tile(wrong[mine], shape), _tile(at[mine], shape)
        shift = np.subtract(np.unravel_index(at[mine], shape), np.unravel_index(wrong[mine], shape))
        if here and there and here.place != there.place and (shift == shift[:, :1]).all():
            x, y, _ = run.launch.grid
            number = f"({int(cta) % x},{int(cta) // x % y})" if run.launch.grid[2] == 1 else str(int(cta))
            size = "x".join(map(str, here.extent))
            text = f"CTA {number} stores the tile of {found.name} that belongs at {there.place} at {here.place}"
            return f"{text}, in tiles of {size}"
    return ""
