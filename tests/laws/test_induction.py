# SPDX-License-Identifier: Apache-2.0
"""From one mode to every rank, which no solver checks: the same statements by brute force and at random ranks."""

from __future__ import annotations

from itertools import product
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
