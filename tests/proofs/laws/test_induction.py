# SPDX-License-Identifier: Apache-2.0
"""The induction from one mode to every rank, which no solver checks: evaluation and composition."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from proofs.definitions import Flat, at
from tests.proofs.laws.induction import (
    at_random,
    by_brute_force,
    carries,
    composed,
    digits,
    generic,
    some_layouts,
    values,
    wide,
)

SMALL = (1, 2, 3)


def check_coordinates(a: Flat, crd: list[int]) -> None:
    """Index to digits and digits to index are inverse; A is the sum of its modes, however they are grouped."""
    index = sum(c * prod(s for s, _ in a[:i]) for i, c in enumerate(crd))
    assert 0 <= index < prod(s for s, _ in a)
    assert at(a, index) == sum(c * d for c, (_, d) in zip(crd, a, strict=True))
    crds, rest = [], index
    for s, _ in a:
        crds.append(rest % s)
        rest //= s
    assert (crds, rest) == (crd, 0)
    for cut in range(1, len(a)):
        below = prod(s for s, _ in a[:cut])
        assert at(a, index) == at(a[:cut], index % below) + at(a[cut:], index // below)


@pytest.mark.long
@by_brute_force("APPEND_INVERSE", "CONCAT", "BYMODE")
def test_coordinates_at_every_rank(rank: int) -> None:
    for extents in product(SMALL, repeat=rank):
        for crd in product(*map(range, extents)):
            check_coordinates([(s, 10**i) for i, s in enumerate(extents)], list(crd))


@at_random("APPEND_INVERSE", "CONCAT", "BYMODE")
@given(wide, st.data())
def test_coordinates_at_any_rank(a: Flat, data: st.DataObject) -> None:
    check_coordinates(a, [data.draw(st.integers(0, s - 1)) for s, _ in a])


def evaluate_nested(tree: Any, index: int) -> int:
    """A nested layout at an index, by definition: the index is split by the sizes of the modes, recursively."""
    if isinstance(tree[0], int):
        return index * int(tree[1])
    total = 0
    for mode in tree:
        size = prod(s for s, _ in leaves(mode))
        total, index = total + evaluate_nested(mode, index % size), index // size
    return total


def leaves(tree: Any) -> Flat:
    return [tree] if isinstance(tree[0], int) else [leaf for mode in tree for leaf in leaves(mode)]


def groupings(a: Flat) -> list[Any]:
    """Every nesting of the modes into pairs."""
    if len(a) == 1:
        return [a[0]]
    return [[x, y] for cut in range(1, len(a)) for x in groupings(a[:cut]) for y in groupings(a[cut:])]


@by_brute_force("NESTING")
def test_a_nested_profile_is_its_flattening_at_every_rank(rank: int) -> None:
    for extents in product(SMALL, repeat=rank):
        a = [(s, 10**i) for i, s in enumerate(extents)]
        for tree in groupings(a):
            assert [evaluate_nested(tree, i) for i in range(prod(extents))] == values(a), tree


@at_random("NESTING")
@given(wide, st.data())
def test_a_nested_profile_is_its_flattening_at_any_rank(a: Flat, data: st.DataObject) -> None:
    tree: list[Any] = list(a)
    while len(tree) > 1:
        start = data.draw(st.integers(0, len(tree) - 2))
        end = data.draw(st.integers(start + 2, len(tree)))
        tree[start:end] = [tree[start:end]]
    index = data.draw(st.integers(0, prod(s for s, _ in a) - 1))
    assert evaluate_nested(tree, index) == at(a, index)


def check_coalesce(a: Flat, place: int, first: int, x: int) -> None:
    s, d = a[place]
    split = [*a[:place], (first, d), (s, first * d), *a[place + 1 :]]
    assert at(split, x) == at([*a[:place], (first * s, d), *a[place + 1 :]], x)


@by_brute_force("COALESCE")
def test_coalesce_anywhere_at_every_rank(rank: int) -> None:
    for extents in product(SMALL, repeat=rank):
        for place, first, x in product(range(rank), SMALL, range(3 * prod(extents))):
            check_coalesce([(s, 7 - 5 * i) for i, s in enumerate(extents)], place, first, x)


@at_random("COALESCE")
@given(some_layouts, st.data())
def test_coalesce_anywhere_at_any_rank(a: Flat, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(a) - 1))
    check_coalesce(a, place, data.draw(st.integers(1, 5)), data.draw(st.integers(0, 10_000)))


@by_brute_force("COMPOSE_SKIP", "COMPOSE_FIT", "COMPOSE_SPLIT")
def test_composition_with_one_mode_at_every_rank(rank: int) -> None:
    reached = 0
    for extents in product((2, 3, 4) if rank < 4 else (2, 4), repeat=rank):
        a = [(s, 100**i) for i, s in enumerate(extents)]
        for n, r in product(range(1, 9), repeat=2):
            result = composed(a, n, r)
            if result is not None:
                reached += 1
                assert [at(result, k) for k in range(n)] == [at(a, r * k) for k in range(n)], (a, n, r)
    assert reached > 20


@at_random("COMPOSE_SKIP", "COMPOSE_FIT", "COMPOSE_SPLIT")
@given(wide, st.data())
def test_composition_with_one_mode_at_any_rank(a: Flat, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(a) - 1))
    below = prod(s for s, _ in a[:place])
    divisor = data.draw(st.sampled_from([f for f in (1, 2, 3, 5, a[place][0]) if a[place][0] % f == 0]))
    n = a[place][0] // divisor * data.draw(st.integers(1, 9))
    result = composed(a, n, below * divisor)
    k = data.draw(st.integers(0, n - 1))
    assume(result is not None)
    assert at(result, k) == at(a, below * divisor * k)


def check_associative(a: Flat, b: Flat, x: int) -> None:
    """(A o B) o C and A o (B o C) at x = C(k): B takes a part of each mode of A, so A o B is computed mode by mode."""
    by_b = [(n, at(a, r)) for n, r in b]
    assert at(by_b, x) == at(a, at(b, x)), (a, b, x)


def inside(a: Flat, taken: list[int]) -> Flat:
    """B with one mode for each mode of A: a part of its extent, at its stride in the index."""
    return [(n, prod(s for s, _ in a[:i])) for i, n in enumerate(taken)]


@by_brute_force("ASSOCIATIVE")
def test_associativity_inside_the_domain_at_every_rank(rank: int) -> None:
    """B has that rank and A one mode more, so that associativity fails somewhere beyond the domain of B."""
    beyond = 0
    for extents in product(SMALL, repeat=rank):
        a = generic((*extents, 2))
        for taken in product(*(range(1, s + 1) for s in extents)):
            b = inside(a, list(taken))
            for x in range(prod(taken)):
                check_associative(a, b, x)
            by_b = [(n, at(a, r)) for n, r in b]
            beyond += any(at(by_b, x) != at(a, at(b, x)) for x in range(prod(taken), 3 * prod(taken) + 9))
    assert beyond > 0


@at_random("ASSOCIATIVE")
@given(wide, st.data())
def test_associativity_inside_the_domain_at_any_rank(a: Flat, data: st.DataObject) -> None:
    taken = [data.draw(st.integers(1, s)) for s, _ in a]
    check_associative(a, inside(a, taken), data.draw(st.integers(0, prod(taken) - 1)))


def check_reversed(a: Flat, c: int, r: int, n: int, k: int) -> bool:
    """B(k) = c + r (n-1) - r k, when neither c nor n steps of r carry."""
    used = [p + (n - 1) * q for p, q in zip(digits(a, c), digits(a, r), strict=True)]
    if any(u >= s for u, (s, _) in zip(used, a, strict=False)):
        return False
    assert at(a, c + r * (n - 1) - r * k) == at(a, c) + (n - 1) * at(a, r) - k * at(a, r)
    return True


@by_brute_force("COMPOSE_REVERSED")
def test_a_reversed_mode_at_every_rank(rank: int) -> None:
    reached = 0
    for extents in product((2, 3), repeat=rank):
        for c, r, n in product(range(5), range(5), range(1, 4)):
            reached += sum(check_reversed(generic(extents), c, r, n, k) for k in range(n))
    assert reached > 20


@at_random("COMPOSE_REVERSED")
@given(wide, st.integers(0, 2**40), st.integers(0, 2**40), st.integers(1, 50), st.data())
def test_a_reversed_mode_at_any_rank(a: Flat, c: int, r: int, n: int, data: st.DataObject) -> None:
    assume(check_reversed(a, c, r, n, data.draw(st.integers(0, n - 1))))


def units(extents: tuple[int, ...]) -> list[Flat]:
    """Whether A distributes for all strides; by linearity it is enough to try stride 1 in one mode at a time."""
    return [[(s, int(i == j)) for j, s in enumerate(extents)] for i in range(len(extents))]


@pytest.mark.long
@by_brute_force("NOCARRY", "CARRY_BREAKS")
def test_no_carry_exactly_when_distributive_for_all_strides(rank: int) -> None:
    for extents in product(SMALL, repeat=rank):
        seen = units(extents)
        for x, y in product(range(min(24, 2 * prod(extents))), repeat=2):
            distributes = all(at(a, x + y) == at(a, x) + at(a, y) for a in seen)
            assert distributes == (not carries(seen[0], x, y)), (extents, x, y)


@at_random("NOCARRY", "CARRY_BREAKS")
@given(wide, st.lists(st.integers(0, 2**45), min_size=1, max_size=4))
def test_no_carry_exactly_when_distributive_at_any_rank(a: Flat, summands: list[int]) -> None:
    if not carries(a, *summands):
        assert at(a, sum(summands)) == sum(at(a, x) for x in summands)
    broken = [u for u in units(tuple(s for s, _ in a)) if at(u, sum(summands)) != sum(at(u, x) for x in summands)]
    assert bool(broken) == carries(a, *summands)


def check_multiple(a: Flat, r: int, k: int) -> bool:
    """A(k r) = k A(r), when no digit of k r carries."""
    if any(k * p >= s for p, (s, _) in zip(digits(a, r), a, strict=False)):
        return False
    assert at(a, k * r) == k * at(a, r)
    return True


@by_brute_force("NOCARRY_MULTIPLE")
def test_a_multiple_without_carry_at_every_rank(rank: int) -> None:
    reached = 0
    for extents in product((1, 2, 3, 5), repeat=rank):
        for r, k in product(range(min(40, 2 * prod(extents))), range(1, 6)):
            reached += check_multiple(generic(extents), r, k)
    assert reached > 20


@at_random("NOCARRY_MULTIPLE")
@given(wide, st.integers(0, 2**40), st.integers(1, 50))
def test_a_multiple_without_carry_at_any_rank(a: Flat, r: int, k: int) -> None:
    assume(check_multiple(a, r, k))
