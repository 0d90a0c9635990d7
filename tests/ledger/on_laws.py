# SPDX-License-Identifier: Apache-2.0
"""Statements about all layouts or shapes: a proof where there is one, else a search for a counterexample."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import product as points
from math import prod
from typing import Any

from layouts import (
    Layout,
    LayoutError,
    complement,
    composition,
    cosize,
    logical_divide,
    logical_product,
    make_layout,
    size,
    weakly_congruent,
)
from layouts import admissible as no_carry
from layouts import compatible as tool_compatible
from layouts.text import format_int_tuple
from proofs.laws.decide import decide_laws
from tests.ledger.on_layouts import differ


def law(name: str) -> str:
    """A law of the catalogue: z3 proves it, its hypotheses can be met, and every mutant of it fails."""
    (decided,) = decide_laws([name], ["z3"], 1, 1)
    if decided.example is None:
        return "its hypotheses cannot be met"
    return "" if decided.status("z3") == "unsat" and decided.mutants else decided.status("z3")


def distributes(condition: str) -> str:
    """A o (B_0, B_1) = (A o B_0, A o B_1) whenever B is as the condition says and the right side exists."""
    for a, b in _pairs():
        image = [b(i) for i in range(size(b))]
        if not _meets(condition, a, b, image):
            continue
        try:
            modes = make_layout(*(composition(a, mode) for mode in b))
        except LayoutError:
            continue
        wrong = [c for c in range(size(b)) if modes(c) != a(b(c))]
        if wrong:
            c = wrong[0]
            return f"A = {a}, B = {b}: by modes {modes(c)} at {c}, A(B({c})) = {a(b(c))}"
    return ""


def _meets(condition: str, a: Layout, b: Layout, image: list[int]) -> bool:
    if condition == "surjective":  # onto [0, cosize(B))
        return set(image) == set(range(cosize(b)))
    if condition == "injective":
        return len(set(image)) == len(image)
    return no_carry(a, b)


def _pairs() -> Iterator[tuple[Layout, Layout]]:
    """Small layouts in order of size: A = (m,n):(1,m+1), B = (s,t):(d,e)."""
    grid = [
        (m, n, s, t, d, e)
        for m, n, s, t in points(range(2, 7), (2, 3), (2, 3), (2, 3))
        for d, e in points(range(1, 5), repeat=2)
    ]
    for m, n, s, t, d, e in sorted(grid, key=lambda x: (sum(x), x)):
        yield Layout((m, n), (1, m + 1)), Layout((s, t), (d, e))


def associative(inside: bool) -> str:
    """(A o B) o C = A o (B o C), with or without images that stay inside the next domain."""
    for a, b, c in _triples():
        if inside and (cosize(c) > size(b) or cosize(b) > size(a)):
            continue
        try:
            left, right = composition(composition(a, b), c), composition(a, composition(b, c))
        except LayoutError:
            continue
        if difference := differ(right, left):
            return f"A = {a}, B = {b}, C = {c}: {difference}"
    return ""


def _triples() -> Iterator[tuple[Layout, Layout, Layout]]:
    for m, n, s, t, d, e in points((2, 3, 4), (2, 3), (2, 3, 4), (2, 3), (1, 2), (1, 2, 3, 4)):
        yield Layout((m, n), (1, m + 1)), Layout(s, d), Layout(t, e)


def identity(side: str, stride: int = 1) -> str:
    """The identity layout, n:1, composed on this side, changes no layout."""
    for a, b in _pairs():
        whole = a if side == "right" else b
        unit = Layout(size(a) if side == "right" else cosize(b), stride)
        result = composition(a, unit) if side == "right" else composition(unit, b)
        if difference := differ(whole, result):
            return difference
    return ""


def refines(order: str) -> str:
    """The composition R has every coordinate c of B, and R(c) is A(B(c)), or B(A(c))."""
    for a, b in _pairs():
        try:
            r = composition(a, b)
        except LayoutError:
            continue
        if not tool_compatible(b.shape, r.shape):
            return f"{r} lacks coordinates of {b}"
        f, g = (a, b) if order == "A after B" else (b, a)
        if any(r(i, j) != f(g(i, j)) for i in range(size(b[0])) for j in range(size(b[1]))):
            return f"A = {a}, B = {b}: {r}"
    return ""


def product_is(order: str) -> str:
    """The logical product is (A, A* o B) in this order of modes, for small A and B."""
    for a, b in _small():
        beside = composition(complement(a, size(a) * cosize(b)), b)
        claimed = make_layout(a, beside) if order == "block first" else make_layout(beside, a)
        if difference := differ(logical_product(a, b), claimed):
            return f"A = {a}, B = {b}: {difference}"
    return ""


def divide_is(order: str) -> str:
    """The logical divide is A o (B, B*) in this order of modes, for small A and B."""
    for a, b in _small():
        if size(a) % cosize(b):
            continue
        rest = complement(b, size(a))
        claimed = composition(a, make_layout(b, rest) if order == "tile first" else make_layout(rest, b))
        if difference := differ(logical_divide(a, b), claimed):
            return f"A = {a}, B = {b}: {difference}"
    return ""


def _small() -> Iterator[tuple[Layout, Layout]]:
    for m, n, s, d in points((2, 4), (2, 3, 4), (2, 4), (1, 2)):
        yield Layout((m, n), (n, 1)), Layout(s, d)


def scaled_strides(rest: str) -> str:
    """Dividing extent:stride by a permutation scales its strides by the base's; the rest steps by the whole tiler."""
    for f, r, base in points((1, 2, 4, 16), (1, 2, 4, 8), (1, 3, 128)):
        for permutation in (Layout((f, r), (r, 1)), Layout((f, r), (1, f))):
            extent = 2 * f * r
            claimed = Layout((f, r, 2), tuple(d * base for d in (*permutation.stride, f * r if rest == "whole" else r)))
            if difference := differ(logical_divide(Layout(extent, base), permutation), claimed):
                return f"{extent}:{base} by {permutation}: {difference}"
    return ""


def covers(permutation: str, step: str) -> str:
    """The permutation of F and R, repeated, covers every place of F*R*reps once; strides are formulas of F and R."""
    from tests.ledger.expression import compute

    for f, r, reps in points(range(1, 6), repeat=3):
        tiler = Layout((f, r), (compute(permutation, F=f, R=r), compute(step, F=f, R=r)))
        reached = sorted(logical_divide(Layout(f * r * reps), tiler)(i) for i in range(f * r * reps))
        if reached != list(range(f * r * reps)):
            return f"F = {f}, R = {r}: {tiler}"
    return ""


Shape = Any


@lru_cache
def shapes(plain: bool) -> tuple[Shape, ...]:
    """Every shape of size up to 8 and depth up to 2; plain ones have no extent 1 and no tuple of one mode."""
    flat = [x for n in (1, 2, 3) for x in points(range(1, 9), repeat=n) if prod(x) <= 8]
    nested = [x for n in (1, 2) for x in points((*range(1, 5), *(y for y in flat if len(y) < 3)), repeat=n)]
    every = dict.fromkeys((*range(1, 9), *flat, *(x for x in nested if _size(x) <= 8)))
    return tuple(x for x in every if not plain or _plain(x))


def _size(shape: Shape) -> int:
    return prod(map(_size, shape)) if isinstance(shape, tuple) else shape


def _plain(shape: Shape) -> bool:
    return all(map(_plain, shape)) and len(shape) > 1 if isinstance(shape, tuple) else shape > 1


@cache
def coordinate_lists(shape: Shape) -> frozenset[tuple[Any, ...]]:
    """All coordinate lists of a shape: its indices, and lists of its modes combined, the first running fastest."""
    lists_of = {tuple(range(_size(shape)))}
    if isinstance(shape, tuple):
        for lists in points(*map(coordinate_lists, shape)):
            lists_of.add(tuple(tuple(reversed(at)) for at in points(*reversed(lists))))
    return frozenset(lists_of)


def below(a: Shape, b: Shape) -> bool:
    """Compatibility from its definition: every coordinate list of A is one of B."""
    return coordinate_lists(a) <= coordinate_lists(b)


RELATIONS = {
    "coordinate lists": below,
    "same size": lambda a, b: True,
    "proper": lambda a, b: a != b and below(a, b),
    "few more lists": lambda a, b: below(a, b) and len(coordinate_lists(b)) - len(coordinate_lists(a)) < 2,
}


def poset(property_: str, plain: bool = False, relation: str = "coordinate lists") -> str:
    """A property of a relation between shapes of one size, over all small shapes."""
    every, related = shapes(plain), RELATIONS[relation]
    of_size: dict[int, list[Shape]] = {}
    for shape in every:
        of_size.setdefault(_size(shape), []).append(shape)
    pairs = {(a, b) for some in of_size.values() for a, b in points(some, repeat=2) if related(a, b)}
    properties = {
        "reflexive": _reflexive,
        "antisymmetric": _antisymmetric,
        "transitive": _transitive,
        "minimal": _minimal,
        "maximal": _maximal,
    }
    return properties[property_](every, pairs)


def agrees(relation: str) -> str:
    """The tool's relation of this name is that of the definition, for all small shapes."""
    named = {"compatible": tool_compatible, "weakly congruent": weakly_congruent}[relation]
    for a, b in points(shapes(False), repeat=2):
        if named(a, b) != below(a, b):
            return f"{format_int_tuple(a)} and {format_int_tuple(b)}"
    return ""


def _reflexive(every: tuple[Shape, ...], relation: set[tuple[Shape, Shape]]) -> str:
    return next((f"{x}" for x in every if (x, x) not in relation), "")


def _antisymmetric(every: tuple[Shape, ...], relation: set[tuple[Shape, Shape]]) -> str:
    return next((f"{a} and {b}" for a, b in sorted(relation, key=str) if a != b and (b, a) in relation), "")


def _transitive(every: tuple[Shape, ...], relation: set[tuple[Shape, Shape]]) -> str:
    above: dict[Shape, list[Shape]] = {}
    for a, b in relation:
        above.setdefault(a, []).append(b)
    return next(
        (f"{a}, {b}, {c}" for a, b in sorted(relation, key=str) for c in above[b] if (a, c) not in relation), ""
    )


def _minimal(every: tuple[Shape, ...], relation: set[tuple[Shape, Shape]]) -> str:
    return next((f"{_size(x)} and {x}" for x in every if _size(x) > 1 and (_size(x), x) not in relation), "")


def _maximal(every: tuple[Shape, ...], relation: set[tuple[Shape, Shape]]) -> str:
    """A shape of primes alone with something else above it."""
    for a, b in sorted(relation, key=lambda pair: (_size(pair[0]), len(str(pair)), str(pair))):
        if a != b and all(x in (2, 3, 5, 7) for x in _leaves(a)):
            return f"{format_int_tuple(a)} and {format_int_tuple(b)}"
    return ""


def _leaves(shape: Shape) -> tuple[int, ...]:
    return sum(map(_leaves, shape), ()) if isinstance(shape, tuple) else (shape,)


KINDS = {
    check.__name__: check
    for check in (
        law, distributes, associative, identity, refines, product_is, divide_is, scaled_strides, covers, poset, agrees,
    )
}  # fmt: skip
