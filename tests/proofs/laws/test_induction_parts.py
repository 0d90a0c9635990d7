# SPDX-License-Identifier: Apache-2.0
"""The induction from one mode to every rank, which no solver checks: complement to tilings."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations, product
from math import prod
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import layouts
from proofs.definitions import Flat, at
from tests.proofs.laws.induction import at_random, by_brute_force, complemented, nested, parts, values

COMPLEMENT = (
    "COMPLEMENT_BIJECTIVE", "COMPLEMENT_COVERS", "COMPLEMENT_DISJOINT_ANY", "COMPLEMENT_ORDERED",
    "COMPLEMENT_COSIZE_UPPER",
)  # fmt: skip


def check_complement(a: Flat, target: int) -> bool:
    """If A is nested, its complement is bijective, ordered, disjoint, covering, of the right cosize: COMPLEMENT_*."""
    star = complemented(a, target)
    if star is None:
        return False
    left, right = values(a), values(star)
    sums = [x + y for x in left for y in right]
    assert len(set(sums)) == len(sums)
    assert right == sorted(set(right))
    assert set(left) & set(right) == {0}
    assert set(range(target)) <= set(sums)
    assert sorted(sums) == list(range(len(sums)))
    assert max(sums) + 1 >= target
    if len(a) == 1 and target % (a[0][0] * a[0][1]) == 0:
        cosize = 1 + (a[0][0] - 1) * a[0][1]
        assert max(right) + 1 <= -(-target // cosize) * cosize
    return True


@by_brute_force(*COMPLEMENT)
def test_complement_at_every_rank(rank: int) -> None:
    checked = 0
    for shape in product(product((1, 2), (1, 2, 3)), repeat=rank):
        a, reach = nested(shape)
        for target in {1, reach - 1 or 1, reach, 2 * reach + 1} if reach <= 80 else ():
            checked += check_complement(a, target)
    assert checked > 10


@at_random(*COMPLEMENT)
@given(parts, st.data())
def test_complement_at_any_rank(shape: list[tuple[int, int]], data: st.DataObject) -> None:
    a, reach = nested(shape)
    assume(reach <= 3000)
    assume(check_complement(data.draw(st.permutations(a)), data.draw(st.integers(1, 2 * reach))))


def check_divide_and_product(shape: Sequence[tuple[int, int]], copies: list[int]) -> None:
    """When (T, T*) is one to one, A o (T, T*) permutes the indices of A, and (A, A* o T) takes no value twice."""
    tiler, reach = nested(shape)
    star = complemented(tiler, reach)
    assert star is not None
    indices = [x + y for y in values(star) for x in values(tiler)]
    assert sorted(indices) == list(range(reach))
    taken = [at(star, c) + x for c in copies for x in values(tiler)]
    assert len(set(taken)) == len(taken)


@by_brute_force("DIVIDE_ANY", "PRODUCT_ANY")
def test_divide_and_product_at_every_rank(rank: int) -> None:
    shapes = [shape for shape in product(product((1, 2), (1, 2, 3)), repeat=rank) if nested(shape)[1] <= 150]
    assert len(shapes) >= 6
    for shape in shapes:
        check_divide_and_product(shape, [0, 1, 2, 5, 4, 3])


@at_random("DIVIDE_ANY", "PRODUCT_ANY")
@given(parts, st.lists(st.integers(0, 300), unique=True, max_size=8))
def test_divide_and_product_at_any_rank(shape: list[tuple[int, int]], copies: list[int]) -> None:
    assume(nested(shape)[1] <= 2000)
    check_divide_and_product(shape, copies)


def check_axes(shapes: Sequence[Sequence[tuple[int, int]]]) -> None:
    """Pairs cover the box of two cotargets once, each axis by its own complement."""
    axes = []
    for shape in shapes:
        a, reach = nested(shape)
        star = complemented(a, reach)
        assert star is not None
        axes.append([x + y for x in values(a) for y in values(star)])
    points = list(product(*axes))
    assert len(points) == len(set(points))
    assert set(points) == set(product(*(range(len(axis)) for axis in axes)))


@by_brute_force("COMPLEMENT_AXES")
def test_complements_axis_by_axis_at_every_rank(rank: int) -> None:
    for shape in product(product((1, 2), (1, 2)), repeat=rank):
        for cut in range(rank + 1):
            check_axes((shape[:cut], shape[cut:]))


@at_random("COMPLEMENT_AXES")
@given(parts, st.integers(0, 6))
def test_complements_axis_by_axis_at_any_rank(shape: list[tuple[int, int]], cut: int) -> None:
    assume(nested(shape[:cut])[1] * nested(shape[cut:])[1] <= 5000)
    check_axes((shape[:cut], shape[cut:]))


Step = tuple[int, int]


def list_steps(modes: Sequence[tuple[int, Step]]) -> list[Step]:
    """The values of a layout whose strides are pairs."""
    steps: list[Step] = [(0, 0)]
    for n, (a, b) in modes:
        steps = [(x + k * a, y + k * b) for x, y in steps for k in range(n)]
    return steps


def is_complement(mode: tuple[int, Step], rest: Sequence[tuple[int, Step]], box: Step) -> bool:
    """Whether (A, R) is one to one and covers the box."""
    points = list_steps([mode, *rest])
    return len(set(points)) == len(points) and set(product(range(box[0]), range(box[1]))) <= set(points)


@pytest.mark.long
@by_brute_force("COMPLEMENT_DIAGONAL")
def test_a_diagonal_mode_has_no_complement_at_every_rank(rank: int) -> None:
    """No R of that rank is a complement; along an axis there is one, so the search is able to find it."""
    straight = 0
    for strides in product(product(range(3), repeat=2), repeat=rank):
        rest = [(2, step) for step in strides]
        assert not is_complement((2, (1, 1)), rest, (2, 2)), rest
        assert not is_complement((2, (1, 2)), rest, (2, 3)), rest
        straight += is_complement((2, (1, 0)), rest, (2, 2))
    assert straight > 0 or rank > 2  # more modes of 2 than the box has room for take a value twice, or run beyond it


@at_random("COMPLEMENT_DIAGONAL")
@given(
    st.tuples(st.integers(2, 3), st.tuples(st.integers(1, 3), st.integers(1, 3))),
    st.lists(st.tuples(st.integers(2, 4), st.tuples(st.integers(0, 6), st.integers(0, 6))), max_size=5),
    st.tuples(st.integers(1, 3), st.integers(1, 3)),
)
def test_a_diagonal_mode_has_no_complement_at_any_rank(
    mode: tuple[int, Step], rest: list[tuple[int, Step]], room: Step
) -> None:
    box = (mode[1][0] + room[0], mode[1][1] + room[1])
    assert not is_complement(mode, rest, box)


def compact(extents: Sequence[int], order: Sequence[int]) -> tuple[Flat, Flat]:
    """Compact strides in any order are inverted by the chain of modes with strides 1, s_0, s_0 s_1, ..."""
    strides, reach = [0] * len(extents), 1
    for i in order:
        strides[i] = reach
        reach *= extents[i]
    return list(zip(extents, strides, strict=True)), [(extents[i], prod(extents[:i])) for i in order]


def check_right_inverse(extents: Sequence[int], order: Sequence[int]) -> None:
    a, chain = compact(extents, order)
    whole = list(range(prod(extents)))
    assert [at(a, at(chain, k)) for k in whole] == whole


@by_brute_force("RIGHT_INVERSE")
def test_right_inverse_at_every_rank(rank: int) -> None:
    for extents in product((1, 2, 3), repeat=rank):
        for order in permutations(range(rank)):
            check_right_inverse(extents, order)


@at_random("RIGHT_INVERSE")
@given(st.lists(st.integers(1, 4), min_size=1, max_size=6), st.data())
def test_right_inverse_at_any_rank(extents: list[int], data: st.DataObject) -> None:
    check_right_inverse(extents, data.draw(st.permutations(range(len(extents)))))


def check_left_inverse(shape: Sequence[tuple[int, int]], order: Sequence[int]) -> None:
    """Strides d_{i+1} = gap * s_i * d_i in any order: a value is split by them, and its digits give the index."""
    a, _ = nested(shape)
    a = [a[i] for i in order]
    before = {d: prod(s for s, _ in a[:i]) for i, (_, d) in enumerate(a)}
    chain = sorted((d, s) for s, d in a if s > 1)
    inverse: Flat = []
    last = (1, 0)
    for d, _ in chain:
        inverse.append((d // last[0], last[1]))
        last = (d, before[d])
    inverse.append((1, last[1]))
    whole = list(range(prod(s for s, _ in a)))
    assert [at(inverse, at(a, k)) for k in whole] == whole, (a, inverse)


@pytest.mark.long
@by_brute_force("LEFT_INVERSE")
def test_left_inverse_at_every_rank(rank: int) -> None:
    for shape in product(product((1, 2), (2, 3)), repeat=rank):
        for order in permutations(range(rank)):
            check_left_inverse(shape, order)


@at_random("LEFT_INVERSE")
@given(st.lists(st.tuples(st.integers(1, 3), st.integers(2, 4)), min_size=1, max_size=6), st.data())
def test_left_inverse_at_any_rank(shape: list[tuple[int, int]], data: st.DataObject) -> None:
    check_left_inverse(shape, data.draw(st.permutations(range(len(shape)))))


def check_maximal(a: Flat) -> bool:
    """The end of the chain isn't a value of a layout that is injective, strides of 0 aside; so `layouts` ends there."""
    proper = [(s, d) for s, d in a if d and s > 1]
    seen = set(values(proper)) if proper else {0}
    if len(seen) < prod(s for s, _ in proper):
        return False
    reach = 1
    while step := next((s for s, d in proper if d == reach), 0):
        reach *= step
    assert reach not in seen, a
    inverse = layouts.right_inverse(layouts.Layout(tuple(s for s, _ in a), tuple(d for _, d in a)))
    assert layouts.size(inverse) == reach, a
    return True


@by_brute_force("RIGHT_INVERSE_MAXIMAL")
def test_no_right_inverse_is_longer_than_the_chain_at_every_rank(rank: int) -> None:
    checked = 0
    for extents in product((2, 3) if rank < 4 else (2,), repeat=rank):
        for strides in product(range(7), repeat=rank):
            checked += check_maximal(list(zip(extents, strides, strict=True)))
    assert checked > 10


@at_random("RIGHT_INVERSE_MAXIMAL")
@given(parts, st.data())
def test_no_right_inverse_is_longer_than_the_chain_at_any_rank(
    shape: list[tuple[int, int]], data: st.DataObject
) -> None:
    a, _ = nested(shape)
    a = [(s, data.draw(st.sampled_from([d, d, d, 0, d + 1]))) for s, d in data.draw(st.permutations(a))]
    assume(check_maximal(a))


def size(shape: Any) -> int:
    return prod(map(size, shape)) if isinstance(shape, tuple) else int(shape)


def compatible(a: Any, b: Any) -> bool:
    """The definition: an int matches any shape of its size, a tuple matches a tuple of its rank, mode by mode."""
    if not isinstance(a, tuple):
        return size(a) == size(b)
    return isinstance(b, tuple) and len(a) == len(b) and all(map(compatible, a, b))


def check_order(a: Any, b: Any, c: Any) -> None:
    """For A compatible with B: the same size, not the other way round, and what B is compatible with A is too."""
    assert size(a) == size(b)
    assert a == b or not compatible(b, a)
    assert not compatible(b, c) or compatible(a, c)


ORDER = ("COMPATIBLE_SIZE", "COMPATIBLE_TRANSITIVE", "COMPATIBLE_ANTISYMMETRIC")


@pytest.mark.long
@by_brute_force(*ORDER)
def test_compatible_is_a_partial_order_at_every_rank(rank: int) -> None:
    inner: list[Any] = [1, 2, 4, (2,), (1, 2), (2, 2), ((2, 1), 2)] if rank < 4 else [1, 2, (2,), (2, 1)]
    shapes = [1, 2, 4, 8, *product(inner, repeat=rank)]
    for a in shapes:
        above = [b for b in shapes if compatible(a, b)]
        for b in above:
            for c in above:
                check_order(a, b, c)


@st.composite
def refined(draw: st.DrawFn, shape: Any) -> Any:
    """A shape that matches the given one: some of its integers are factored into tuples."""
    if isinstance(shape, tuple):
        return tuple(draw(refined(mode)) for mode in shape)
    first = draw(st.sampled_from([f for f in range(1, 13) if shape % f == 0]))
    return draw(st.sampled_from([shape, (shape,), (first, shape // first), (first, (shape // first, 1))]))


@at_random(*ORDER)
@given(st.lists(st.integers(1, 12), min_size=1, max_size=6), st.data())
def test_compatible_is_a_partial_order_at_any_rank(extents: list[int], data: st.DataObject) -> None:
    a = tuple(extents)
    b = data.draw(refined(a))
    c = data.draw(refined(b))
    assert compatible(a, b) and compatible(b, c) and compatible(a, c)
    for triple in permutations((a, b, c)):
        if compatible(*triple[:2]):
            check_order(*triple)


def check_tiling(axes: Sequence[tuple[int, int, int]], turn: int) -> None:
    """For a bijective atom, repeated by warps and rests along each axis, every place of the tile is taken once."""
    box = list(product(*(range(a) for a, _, _ in axes)))
    atom = box[turn % len(box) :] + box[: turn % len(box)]  # lane l holds the place atom[l]
    seen = [
        tuple(p + a * (w + warps * q) for p, (a, warps, _), (w, q) in zip(place, axes, where, strict=True))
        for place in atom
        for where in product(*(list(product(range(warps), range(rest))) for _, warps, rest in axes))
    ]
    assert sorted(seen) == list(product(*(range(a * warps * rest) for a, warps, rest in axes)))


@by_brute_force("TMMA_ONTO")
def test_tiles_are_covered_once_at_every_rank(rank: int) -> None:
    """The tile has as many axes as the rank."""
    small = [(1, 1, 2), (2, 2, 1), (2, 1, 2), (3, 2, 2)] if rank < 3 else [(2, 1, 2), (1, 2, 1)]
    for axes in product(small, repeat=rank):
        check_tiling(axes, 1)


@at_random("TMMA_ONTO")
@given(
    st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(0, 2)), min_size=1, max_size=6),
    st.integers(0, 9),
)
def test_tiles_are_covered_once_at_any_rank(axes: list[tuple[int, int, int]], turn: int) -> None:
    assume(prod(a * warps * rest for a, warps, rest in axes) <= 2000)
    check_tiling(axes, turn)


@given(st.integers(1, 9), st.integers(0, 8), st.integers(0, 8))
def test_ceil_tiling_visits_once(tile: int, whole: int, more: int) -> None:
    """CEIL_TILING: the number of tiles is rounded up, and the predicate removes the rest."""
    m = tile * whole + more % tile
    visited = [q * tile + r for q in range(-(-m // tile)) for r in range(tile) if q * tile + r < m]
    assert visited == list(range(m))
