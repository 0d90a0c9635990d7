# SPDX-License-Identifier: Apache-2.0
"""From one mode to every rank, which no solver checks: the same statements by brute force and at random ranks."""

from __future__ import annotations

from itertools import permutations, product
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

import layouts
from proofs.laws.definitions import Flat, at

modes = st.lists(st.tuples(st.integers(1, 7), st.integers(-50, 50)), min_size=1, max_size=6)
wide = st.lists(st.tuples(st.integers(1, 2**40), st.integers(-(2**40), 2**40)), min_size=1, max_size=6)


def digits(a: Flat, x: int) -> list[int]:
    """The bounded digits of an index: one for each mode but the last."""
    out = []
    for s, _ in a[:-1]:
        out.append(x % s)
        x //= s
    return out


def carries(a: Flat, x: int, y: int) -> bool:
    return any(p + q >= s for p, q, (s, _) in zip(digits(a, x), digits(a, y), a, strict=False))


@pytest.mark.parametrize("rank", [1, 2, 3, 4])
def test_no_carry_exactly_when_distributive_for_all_strides(rank: int) -> None:
    """NOCARRY and CARRY_BREAKS: unit strides, one mode at a time, stand for all strides, by linearity."""
    for extents in product((1, 2, 3), repeat=rank):
        top = min(24, 2 * prod(extents))
        units = [[(s, int(i == j)) for j, s in enumerate(extents)] for i in range(rank)]
        for x, y in product(range(top), repeat=2):
            distributes = all(at(a, x + y) == at(a, x) + at(a, y) for a in units)
            assert distributes == (not carries(units[0], x, y)), (extents, x, y)


@given(wide, st.integers(0, 2**45), st.integers(0, 2**45))
def test_no_carry_distributes_at_any_rank(a: Flat, x: int, y: int) -> None:
    if not carries(a, x, y):
        assert at(a, x + y) == at(a, x) + at(a, y)


@given(wide, st.integers(0, 2**40), st.integers(1, 50))
def test_a_multiple_without_carry_at_any_rank(a: Flat, r: int, k: int) -> None:
    if all(k * p < s for p, (s, _) in zip(digits(a, r), a, strict=False)):
        assert at(a, k * r) == k * at(a, r)


@given(modes, st.data())
def test_coalesce_step_anywhere_at_any_rank(a: Flat, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(a) - 1))
    s, d = a[place]
    first = data.draw(st.integers(1, 5))
    split = [*a[:place], (first, d), (s, first * d), *a[place + 1 :]]
    merged = [*a[:place], (first * s, d), *a[place + 1 :]]
    x = data.draw(st.integers(0, 10_000))
    assert at(split, x) == at(merged, x)


@given(st.permutations(range(4)), st.lists(st.integers(1, 4), min_size=4, max_size=4))
def test_right_inverse_chain_at_rank_4(order: list[int], extents: list[int]) -> None:
    """RIGHT_INVERSE's induction: compact strides in any order, R by the chain of modes 1, s_0, s_0 s_1, ..."""
    strides = [0] * 4
    reach = 1
    chain: Flat = []
    for i in order:
        strides[i] = reach
        chain.append((extents[i], prod(extents[:i])))
        reach *= extents[i]
    a = list(zip(extents, strides, strict=True))
    assert [at(a, at(chain, k)) for k in range(reach)] == list(range(reach))


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 3)), min_size=1, max_size=5))
def test_left_inverse_chain_at_any_rank(parts: list[tuple[int, int]]) -> None:
    """LEFT_INVERSE's induction: strides d_{i+1} = s_i * gap_i * d_i."""
    a: Flat = []
    inverse: Flat = [(1, 0)]
    stride, before = 1, 1
    for s, gap in parts:
        a.append((s, stride))
        inverse.append((s * gap, before))
        stride, before = stride * s * gap, before * s
    assert [at(inverse, at(a, k)) for k in range(before)] == list(range(before))


def composed(a: Flat, n: int, r: int) -> Flat | None:
    """A o (n:r) by the fold of COMPOSE_SKIP, COMPOSE_FIT and COMPOSE_SPLIT; None where no step applies."""
    if len(a) == 1 or n == 1:
        return [(n, r * a[0][1])] if len(a) == 1 else [(1, 0)]
    (s, d), rest = a[0], a[1:]
    if r % s == 0:
        return composed(rest, n, r // s)
    if (n - 1) * r < s:
        return [(n, r * d)]
    if s % r or n % (s // r):
        return None
    after = composed(rest, n // (s // r), 1)
    return None if after is None else [(s // r, r * d), *after]


@pytest.mark.parametrize("rank", [1, 2, 3, 4])
def test_composition_with_one_mode_at_every_rank(rank: int) -> None:
    """COMPOSE_RANK1, SKIP, FIT, SPLIT: A o (n:r) by their fold is A(r k), for all small extents."""
    reached = 0
    top = (2, 3, 4) if rank < 4 else (2, 4)
    for extents in product(top, repeat=rank):
        a = [(s, 100**i) for i, s in enumerate(extents)]
        for n, r in product(range(1, 9), repeat=2):
            result = composed(a, n, r)
            if result is not None:
                reached += 1
                assert [at(result, k) for k in range(n)] == [at(a, r * k) for k in range(n)], (a, n, r)
    assert reached > 20


@given(wide, st.data())
def test_composition_with_one_mode_at_any_rank(a: Flat, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(a) - 1))
    below = prod(s for s, _ in a[:place])
    divisor = data.draw(st.sampled_from([f for f in (1, 2, 3, 5, a[place][0]) if a[place][0] % f == 0]))
    n = a[place][0] // divisor * data.draw(st.integers(1, 9))
    result = composed(a, n, below * divisor)
    k = data.draw(st.integers(0, n - 1))
    if result is not None:
        assert at(result, k) == at(a, below * divisor * k)


def complemented(a: Flat, target: int) -> Flat | None:
    """COMPLEMENT's chain: by stride, a gap before each mode, the last reaches the target; None unless nested."""
    reach, out = 1, []
    for d, s in sorted((d, s) for s, d in a):
        if d < reach or d % reach:
            return None
        out.append((d // reach, reach))
        reach = s * d
    return [*out, (-(-target // reach), reach)]


def check_complement(a: Flat, target: int) -> None:
    """Bijective, ordered, disjoint, covering, and the cosize: COMPLEMENT_* at the rank of A."""
    star = complemented(a, target)
    if star is None:
        return
    sizes = [prod(s for s, _ in m) for m in (a, star)]
    left, right = ([at(m, i) for i in range(size)] for m, size in zip((a, star), sizes, strict=True))
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


@pytest.mark.parametrize("rank", [1, 2, 3, 4])
def test_complement_at_every_rank(rank: int) -> None:
    checked = 0
    for parts in product(product((1, 2), (1, 2, 3)), repeat=rank):
        a, stride = [], 1
        for gap, s in parts:
            a.append((s, stride * gap))
            stride *= gap * s
        for target in {1, stride - 1 or 1, stride, 2 * stride + 1} if stride <= 80 else ():
            check_complement(a, target)
            checked += 1
    assert checked > 10


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), min_size=1, max_size=6), st.data())
def test_complement_at_any_rank(parts: list[tuple[int, int]], data: st.DataObject) -> None:
    a, stride = [], 1
    for gap, s in parts:
        a.append((s, stride * gap))
        stride *= gap * s
    if stride <= 3000:
        check_complement(data.draw(st.permutations(a)), data.draw(st.integers(1, 2 * stride)))


@given(wide, st.data())
def test_coordinates_and_concatenation_at_any_rank(a: Flat, data: st.DataObject) -> None:
    """APPEND_RANGE, APPEND_INVERSE, SPLIT, CONCAT, BYMODE: an index and its digits are each other's inverse."""
    digits_in = [data.draw(st.integers(0, s - 1)) for s, _ in a]
    index = sum(c * prod(s for s, _ in a[:i]) for i, c in enumerate(digits_in))
    assert 0 <= index < prod(s for s, _ in a)
    assert at(a, index) == sum(c * d for c, (_, d) in zip(digits_in, a, strict=True))
    found, rest = [], index
    for s, _ in a:
        found.append(rest % s)
        rest //= s
    assert (found, rest) == (digits_in, 0)
    cut = data.draw(st.integers(1, len(a)))
    below = prod(s for s, _ in a[:cut])
    if cut < len(a):
        assert at(a, index) == at(a[:cut], index % below) + at(a[cut:], index // below)


@pytest.mark.parametrize("rank", [1, 2, 3, 4])
def test_coordinates_at_every_rank(rank: int) -> None:
    for extents in product((1, 2, 3), repeat=rank):
        a = [(s, 10**i) for i, s in enumerate(extents)]
        values = [
            sum(c * 10**i for i, c in enumerate(reversed(crd))) for crd in product(*map(range, reversed(extents)))
        ]
        assert [at(a, i) for i in range(prod(extents))] == values


def by_mode(a: Flat, b: Flat) -> list[Flat] | None:
    found = [composed(a, n, r) for n, r in b]
    return None if any(f is None for f in found) else [f for f in found if f is not None]


def joint_carry(a: Flat, b: Flat) -> bool:
    """Whether the largest digits that the modes of B produce in some bounded mode of A reach its extent together."""
    tops = [[max(col) for col in zip(*(digits(a, k * r) for k in range(n)), strict=True)] for n, r in b]
    return any(sum(col) >= s for col, (s, _) in zip(zip(*tops, strict=True), a, strict=False))


@pytest.mark.parametrize(("rank", "right"), [(1, 2), (2, 2), (2, 3), (3, 2), (4, 2)])
def test_left_distributivity_exactly_without_carry(rank: int, right: int) -> None:
    """All modes admissible: by-mode composition is right for generic strides just when nothing carries."""
    seen = {True: 0, False: 0}
    for extents in product((2, 4) if rank > 2 else (2, 3, 4), repeat=rank):
        a = [(s, 1009**i) for i, s in enumerate(extents)]
        small = product((2, 3, 4), (1, 2, 3, 4)) if right < 3 else product((2, 3), (1, 2, 3))
        for b in product(list(small), repeat=right):
            parts = by_mode(a, list(b))
            if parts is None:
                continue
            right_everywhere = all(
                at(a, sum(c * r for c, (_, r) in zip(crd, b, strict=True)))
                == sum(at(p, c) for p, c in zip(parts, crd, strict=True))
                for crd in product(*(range(n) for n, _ in b))
            )
            assert right_everywhere == (not joint_carry(a, list(b))), (a, b)
            seen[right_everywhere] += 1
    assert seen[True] > 10
    assert seen[False] > 10 or rank == 1


@given(st.lists(st.integers(2, 6), min_size=1, max_size=6), st.data())
def test_nested_modes_distribute_at_any_rank(extents: list[int], data: st.DataObject) -> None:
    """NESTED_SKIP, NESTED_SPLIT, NESTED_LAST: below a stride r that nests in A, x < r adds without a carry."""
    a = [(s, data.draw(st.integers(-99, 99))) for s in extents]
    place = data.draw(st.integers(0, len(a) - 1))
    divisors = [f for f in range(1, extents[place] + 1) if extents[place] % f == 0 or place == len(a) - 1]
    r = prod(extents[:place]) * data.draw(st.sampled_from(divisors))
    x, j = data.draw(st.integers(0, r - 1)), data.draw(st.integers(0, 50))
    assert at(a, x + r * j) == at(a, x) + at(a, r * j)


@pytest.mark.parametrize("rank", [1, 2, 3, 4])
def test_associativity_inside_the_domains(rank: int) -> None:
    """(A o B) o C = A o (B o C) as long as C stays in B's domain; beyond it fails somewhere."""
    beyond = 0
    for extents in product((1, 2, 3), repeat=rank):
        a: Flat = [(24, 7), (5, 1000)]
        b = [(s, 2 * prod(extents[:i])) for i, s in enumerate(extents)]
        by_b = [(s, at(a, r)) for s, r in b]  # A o B, mode by mode
        if sum((s - 1) * r for s, r in b) >= 24:
            continue
        inside = prod(extents)
        for x in range(inside):  # x = C(k)
            assert at(by_b, x) == at(a, at(b, x)), (b, x)
        beyond += any(at(by_b, x) != at(a, at(b, x)) for x in range(inside, 3 * inside + 40))
    assert beyond > 0


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), min_size=1, max_size=6), st.data())
def test_divide_and_product_at_any_rank(parts: list[tuple[int, int]], data: st.DataObject) -> None:
    """DIVIDE_*, PRODUCT_*: with (T, T*) a bijection A o (T, T*) permutes A; (A, A* o T) takes no value twice."""
    tiler, stride = [], 1
    for gap, s in parts:
        tiler.append((s, stride * gap))
        stride *= gap * s
    star = complemented(tiler, stride)
    assert star is not None
    if stride > 2000:
        return
    sizes = [prod(s for s, _ in m) for m in (tiler, star)]
    indices = [at(tiler, i) + at(star, j) for j in range(sizes[1]) for i in range(sizes[0])]
    assert sorted(indices) == list(range(stride))
    copies = data.draw(st.lists(st.integers(0, 300), unique=True, max_size=8))
    values = [at(tiler, i) + at(star, c) for c in copies for i in range(sizes[0])]
    assert len(set(values)) == len(values)


@pytest.mark.parametrize("rank", [1, 2, 3, 4])
def test_right_and_left_inverse_at_every_rank(rank: int) -> None:
    """RIGHT_INVERSE and LEFT_INVERSE for every order of compact modes with small extents."""
    for extents in product((1, 2, 3), repeat=rank):
        for order in permutations(range(rank)):
            strides, reach = [0] * rank, 1
            for i in order:
                strides[i] = reach
                reach *= extents[i]
            a = list(zip(extents, strides, strict=True))
            chain = [(extents[i], prod(extents[:i])) for i in order]
            assert [at(a, at(chain, k)) for k in range(reach)] == list(range(reach))
            assert [at(chain, at(a, k)) for k in range(reach)] == list(range(reach))


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 8)), min_size=1, max_size=6), st.integers(1, 9))
def test_tilings_repeat_at_any_rank(axes: list[tuple[int, int]], tile: int) -> None:
    """TMMA_*, PERMUTATION_*, CEIL_TILING axis by axis: row + a (warp + A rest) covers each place of each axis once."""
    for warps, rest in axes:
        placed = [r + tile * (w + warps * q) for q in range(rest) for w in range(warps) for r in range(tile)]
        assert placed == list(range(tile * warps * rest))
        m = tile * rest + warps % tile
        visited = [q * tile + r for q in range(-(-m // tile)) for r in range(tile) if q * tile + r < m]
        assert visited == list(range(m))


@given(st.lists(st.integers(1, 5), min_size=2, max_size=6))
def test_runs_divide_at_any_rank(extents: list[int]) -> None:
    """RUN_DIVIDES: of a coalesced layout, the first k with L(k) != k L(1) is its first extent."""
    a = [(s, 100**i) for i, s in enumerate(extents) if s > 1]
    whole = prod(s for s, _ in a)
    first = next((k for k in range(whole) if at(a, k) != k * at(a, 1)), whole)
    assert whole % first == 0


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_no_right_inverse_is_longer_than_the_chain(rank: int) -> None:
    """RIGHT_INVERSE_MAXIMAL, on the shipped code: of an injective layout the size of R is no value."""
    checked = 0
    for extents in product((2, 3), repeat=rank):
        for strides in product(range(8 if rank < 3 else 7), repeat=rank):
            proper = [(s, d) for s, d in zip(extents, strides, strict=True) if d]
            values = {at(proper, i) for i in range(prod(s for s, _ in proper))} if proper else {0}
            if len(values) == prod(s for s, _ in proper):
                found = layouts.right_inverse(layouts.Layout(extents, strides))
                assert layouts.size(found) not in values, (extents, strides)
                checked += 1
    assert checked > 10


@given(wide, st.integers(0, 2**40), st.integers(0, 2**40), st.integers(1, 50), st.data())
def test_a_reversed_mode_at_any_rank(a: Flat, c: int, r: int, n: int, data: st.DataObject) -> None:
    """COMPOSE_REVERSED: B(k) = c + r (n-1) - r k where neither r, n times, nor c carries."""
    k = data.draw(st.integers(0, n - 1))
    used = [p + (n - 1) * q for p, q in zip(digits(a, c), digits(a, r), strict=True)]
    if all(u < s for u, (s, _) in zip(used, a, strict=False)):
        assert at(a, c + r * (n - 1) - r * k) == at(a, c) + (n - 1) * at(a, r) - k * at(a, r)


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), min_size=2, max_size=6), st.integers(1, 3))
def test_complements_axis_by_axis_at_any_rank(parts: list[tuple[int, int]], cut: int) -> None:
    """COMPLEMENT_AXES: the box of two cotargets is covered once by pairs."""
    axes = []
    for mine in (parts[:cut], parts[cut:]):
        a, stride = [], 1
        for gap, s in mine:
            a.append((s, stride * gap))
            stride *= gap * s
        star = complemented(a, stride)
        assert star is not None
        sizes = [prod(s for s, _ in m) for m in (a, star)]
        axes.append([at(a, i) + at(star, j) for i in range(sizes[0]) for j in range(sizes[1])])
    if len(axes[0]) * len(axes[1]) <= 5000:
        box = set(product(range(len(axes[0])), range(len(axes[1]))))
        points = list(product(*axes))
        assert len(points) == len(set(points))
        assert set(points) == box
