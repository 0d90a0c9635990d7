# SPDX-License-Identifier: Apache-2.0
"""The induction from one mode to every rank, which no solver checks: composition in runs, and layouts as blocks."""

from __future__ import annotations

from itertools import product
from math import prod

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from proofs.definitions import Flat, at
from tests.proofs.laws.induction import (
    at_random,
    by_brute_force,
    composed,
    generic,
    parts,
    some_layouts,
    taken_in_runs,
    values,
    wide,
)


@pytest.mark.parametrize(("rank", "right"), [(1, 2), (2, 2), (2, 3), (3, 2), (4, 2)])
def test_runs_that_are_rejected_have_no_layout_for_generic_strides(rank: int, right: int) -> None:
    """For admissible modes, by-mode composition is right for generic strides exactly when no run is rejected."""
    seen = {True: 0, False: 0}
    for extents in product((2, 4) if rank > 2 else (2, 3, 4), repeat=rank):
        small = product((2, 3, 4), (1, 2, 3, 4)) if right < 3 else product((2, 3), (1, 2, 3))
        for b in product(list(small), repeat=right):
            alone = [composed(generic(extents), n, r) for n, r in b]
            if any(mode is None for mode in alone):
                continue
            whole = [mode for mode in alone if mode is not None]
            right_everywhere = all(
                at(generic(extents), sum(c * r for c, (_, r) in zip(crd, b, strict=True)))
                == sum(at(mode, c) for mode, c in zip(whole, crd, strict=True))
                for crd in product(*(range(n) for n, _ in b))
            )
            assert right_everywhere == (taken_in_runs(generic(extents), list(b)) is not None), (extents, b)
            seen[right_everywhere] += 1
    assert seen[True] > 10
    assert seen[False] > 10 or rank == 1


def check_runs(a: Flat, b: Flat, crd: list[int]) -> bool:
    """R(c) = A(B(c)), and a mode has at most as many runs as A has modes."""
    taken = taken_in_runs(a, b)
    if taken is None:
        return False
    assert all(len(mode) <= len(a) for mode in taken)
    assert [prod(n for n, _ in mode) for mode in taken] == [n for n, _ in b]
    index = sum(c * r for c, (_, r) in zip(crd, b, strict=True))
    assert sum(at(mode, c) for mode, c in zip(taken, crd, strict=True)) == at(a, index), (a, b, crd)
    return True


@by_brute_force("RUN_STEP", "RUNS", "RUN_SPLIT", "LIMIT_ONCE")
def test_composition_in_runs_at_every_rank(rank: int) -> None:
    reached = 0
    for extents in product((2, 3, 5) if rank < 4 else (2, 3), repeat=rank):
        for b in product(product((2, 4, 6), (1, 2, 3, 7)), repeat=2):
            last = [n - 1 for n, _ in b]
            reached += all(check_runs(generic(extents), list(b), c) for c in ([0, 1], [1, 0], [1, 1], last))
    assert reached > 20


@at_random("RUN_STEP", "RUNS", "RUN_SPLIT", "LIMIT_ONCE")
@given(wide, st.lists(st.tuples(st.integers(1, 30), st.integers(0, 2**40)), min_size=1, max_size=6), st.data())
def test_composition_in_runs_at_any_rank(a: Flat, b: Flat, data: st.DataObject) -> None:
    below = [prod(s for s, _ in a[:i]) for i in range(len(a))]
    b = [(n, data.draw(st.sampled_from([0, r, *below]))) for n, r in b]
    assume(check_runs(a, b, [data.draw(st.integers(0, n - 1)) for n, _ in b]))


def first_break(images: list[int]) -> int:
    """The first k with V(k) != k V(1), or the number of values."""
    return next((k for k, v in enumerate(images) if v != k * images[1]), len(images))


@by_brute_force("RUN_DIVIDES")
def test_runs_divide_at_every_rank(rank: int) -> None:
    for extents in product((2, 3, 4), repeat=rank):
        assert first_break(values(generic(extents))) == extents[0]


@at_random("RUN_DIVIDES")
@given(st.lists(st.integers(1, 5), min_size=2, max_size=6))
def test_runs_divide_at_any_rank(extents: list[int]) -> None:
    a = [(s, 100**i) for i, s in enumerate(extents) if s > 1]
    whole = values(a)
    assert len(whole) == 1 or first_break(whole) == a[0][0]


def check_intervals(a: Flat, b: Flat, crd: list[int]) -> bool:
    """Modes sorted by stride, each stride nested in A and larger than all values before it, distribute."""
    reach = 0
    for n, r in b:
        below = [prod(s for s, _ in a[:i]) for i in range(len(a))]
        fits = [p for p, (s, _) in zip(below, a, strict=True) if r % p == 0 and (p is below[-1] or s % (r // p) == 0)]
        if r <= reach or not fits:
            return False
        reach += (n - 1) * r
    steps = [c * r for c, (_, r) in zip(crd, b, strict=True)]
    assert at(a, sum(steps)) == sum(at(a, step) for step in steps), (a, b, crd)
    return True


@pytest.mark.long
@by_brute_force("INTERVALS")
def test_intervals_distribute_at_every_rank(rank: int) -> None:
    """B has as many modes as the rank; two are left-distributive when their intervals are disjoint, as published."""
    a: Flat = [(4, 1), (6, 100), (2, 10_000)]
    reached = 0
    for extents in product((2, 3), repeat=rank):
        for strides in product((1, 2, 4, 8, 12, 24, 48, 96), repeat=rank):
            b = list(zip(extents, strides, strict=True))
            reached += all(check_intervals(a, b, list(c)) for c in product(*map(range, extents)))
    assert reached > 10


@at_random("INTERVALS")
@given(parts, st.data())
def test_intervals_distribute_at_any_rank(shape: list[tuple[int, int]], data: st.DataObject) -> None:
    a = [(gap * s, data.draw(st.integers(-99, 99))) for gap, s in shape]
    reach, b = 0, []
    for below, (gap, _) in zip((prod(s for s, _ in a[:i]) for i in range(len(a))), shape, strict=True):
        r = below * data.draw(st.sampled_from([1, gap]))
        if r > reach:
            b.append((data.draw(st.integers(1, 9)), r))
            reach += (b[-1][0] - 1) * r
    assume(check_intervals(a, b, [data.draw(st.integers(0, n - 1)) for n, _ in b]))


@pytest.mark.long
@given(st.lists(st.integers(2, 6), min_size=1, max_size=6), st.data())
def test_nested_modes_distribute_at_any_rank(extents: list[int], data: st.DataObject) -> None:
    """NESTED_SKIP, NESTED_SPLIT, NESTED_LAST: below a stride r that nests in A, x < r adds without a carry."""
    a = [(s, data.draw(st.integers(-99, 99))) for s in extents]
    place = data.draw(st.integers(0, len(a) - 1))
    divisors = [f for f in range(1, extents[place] + 1) if extents[place] % f == 0 or place == len(a) - 1]
    r = prod(extents[:place]) * data.draw(st.sampled_from(divisors))
    x, j = data.draw(st.integers(0, r - 1)), data.draw(st.integers(0, 50))
    assert at(a, x + r * j) == at(a, x) + at(a, r * j)


def rebuilt(images: list[int]) -> Flat | None:
    """The layout with these values, by BLOCKS and BLOCKS_CONVERSE; None when there is none."""
    if images[0]:
        return None
    if len(images) == 1:
        return [(1, 0)]
    s = first_break(images)
    blocks = images[::s]
    if len(images) % s or any(
        images[j * s + i] != blocks[j] + i * images[1] for j in range(len(blocks)) for i in range(s)
    ):
        return None
    rest = rebuilt(blocks) if s < len(images) else []
    return None if rest is None else [(s, images[1]), *rest]


def check_blocks(images: list[int], is_a_layout: bool) -> None:
    layout = rebuilt(images)
    assert (layout is not None) or not is_a_layout
    assert layout is None or values(layout) == images


@by_brute_force("BLOCKS", "BLOCKS_CONVERSE")
def test_layouts_are_what_repeats_in_blocks_at_every_rank(rank: int) -> None:
    """Every layout is found from its values; a sequence that is not the values of a layout is recognised."""
    known = set()
    for extents in product((2, 3) if rank < 4 else (2,), repeat=rank):
        for strides in product(range(4), repeat=rank):
            images = values(list(zip(extents, strides, strict=True)))
            check_blocks(images, True)
            known.add(tuple(images))
    for images in product(range(4), repeat=2**rank if rank < 3 else 0):
        check_blocks([0, *images[1:]], False)
        if len(images) == 2**rank and rebuilt([0, *images[1:]]) is not None:
            assert (0, *images[1:]) in known or max(images) == 3


@at_random("BLOCKS", "BLOCKS_CONVERSE")
@given(some_layouts, st.data())
def test_layouts_are_what_repeats_in_blocks_at_any_rank(a: Flat, data: st.DataObject) -> None:
    assume(prod(s for s, _ in a) <= 3000)
    images = values(a)
    check_blocks(images, True)
    images[data.draw(st.integers(0, len(images) - 1))] += data.draw(st.integers(-2, 2))
    check_blocks(images, False)
