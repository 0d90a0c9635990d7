# SPDX-License-Identifier: Apache-2.0
"""Profiles, the order on shapes, and division of shapes, against brute force over all small shapes."""

from functools import cache
from itertools import product as pairs
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as hyp

from layouts import (
    Layout,
    LayoutError,
    ProfileError,
    ceil_div,
    compatible,
    congruent,
    depth,
    evenly_divides,
    leaves,
    product,
    rank,
    round_up,
    shape,
    shape_div,
    size,
    weakly_congruent,
)
from layouts.int_tuple import unflatten
from tests.layouts import strategies as st


def small_shapes(total: int, levels: int = 2) -> list:
    """All shapes of exactly this size with at most ``levels`` of parentheses and at most 2 modes a level."""
    shapes = [total]
    if levels:
        for parts in range(1, 3):
            for sizes in pairs(range(1, total + 1), repeat=parts):
                if st.count(sizes) == total:
                    shapes += list(pairs(*(small_shapes(n, levels - 1) for n in sizes)))
    return shapes


@cache
def coordinates(s) -> frozenset:
    """Every coordinate of a shape: the indices 0 .. size-1, and tuples of one coordinate per mode."""
    whole = frozenset(range(st.count(s)))
    return whole | frozenset(pairs(*map(coordinates, s))) if isinstance(s, tuple) else whole


def profile(t):
    return tuple(map(profile, t)) if isinstance(t, tuple) else 0


def test_size_rank_depth_and_leaves_follow_the_nesting():
    s = ((4, 8), (2, (1, 3)))
    assert (size(s), product(s), rank(s), depth(s), leaves(s)) == (192, 192, 2, 3, (4, 8, 2, 1, 3))
    assert (size(5), rank(5), depth(5), leaves(5)) == (5, 1, 0, (5,))
    assert (size(()), rank(()), depth(()), leaves(())) == (1, 0, 1, ())
    assert shape(Layout(s)) == shape(s) == s
    assert size(Layout(s)) == 192
    assert depth(Layout((8,))) == 1


@given(st.shapes(), st.shapes())
def test_congruent_means_equal_parentheses(a, b):
    assert congruent(a, b) == (profile(a) == profile(b))
    assert congruent(Layout(a), b) == congruent(a, b)
    assert congruent(a, profile(a))


def test_compatible_means_that_every_coordinate_of_a_is_one_of_b():
    shapes = [s for n in (1, 4, 6, 8) for s in small_shapes(n)]
    assert len(shapes) > 150
    for a, b in pairs(shapes, repeat=2):
        wanted = st.count(a) == st.count(b) and coordinates(a) <= coordinates(b)
        assert compatible(a, b) == wanted, (a, b)


def test_compatible_is_antisymmetric_where_another_library_is_not():
    a, b = ((6, 2), 1, 1), ((12,), 1, 1)
    assert not compatible(a, b)
    assert not compatible(b, a)
    assert compatible((12, 1, 1), a)
    assert compatible((12, 1, 1), b)


def test_orders_are_partial_orders():
    shapes = [s for n in (1, 4, 6, 8) for s in small_shapes(n)]
    for order in (compatible, weakly_congruent):
        above = {a: {b for b in shapes if order(a, b)} for a in shapes}
        for a in shapes:
            assert a in above[a]
            for b in above[a]:
                assert above[b] <= above[a], (a, b)
                if order is compatible and a in above[b]:
                    assert a == b
                if order is weakly_congruent and a in above[b]:
                    assert profile(a) == profile(b)


@pytest.mark.long
@given(st.shapes(), hyp.data())
def test_weakly_congruent_means_cut_off_somewhere(b, data):
    def cut(t):
        if not isinstance(t, tuple) or data.draw(hyp.booleans()):
            return 7
        return tuple(map(cut, t))

    assert weakly_congruent(cut(b), b)
    if isinstance(b, tuple):
        assert not weakly_congruent(b, 5)
        assert not weakly_congruent((*b, 1), b)


@given(st.shapes())
def test_unflatten_undoes_leaves(s):
    assert unflatten(leaves(s), s) == s
    with pytest.raises(ProfileError, match="cannot nest"):
        unflatten((*leaves(s), 1), s)


@given(hyp.integers(0, 100), hyp.integers(1, 12))
def test_ceil_div_and_round_up_on_ints(a, b):
    q = ceil_div(a, b)
    assert q * b >= a > (q - 1) * b or (a == 0 and q == 0)
    assert round_up(a, b) == min(m for m in range(0, 200, b) if m >= a)


def test_ceil_div_and_round_up_on_tuples():
    assert ceil_div((7, (6, 5)), (2, (4,))) == (4, (2, 5))
    assert ceil_div((15, 14), 6) == (3, 14)
    assert ceil_div(24, (2, 3)) == 4
    assert round_up((7, (6, 5)), (2, (4, 3))) == (8, (8, 6))
    for call in (lambda: ceil_div(4, 0), lambda: ceil_div((4,), (1, 2)), lambda: round_up((4, 4), 2)):
        with pytest.raises(LayoutError):
            call()


@given(hyp.lists(hyp.integers(1, 6), min_size=1, max_size=3), hyp.integers(1, 40))
def test_evenly_divides_by_an_int_lies_between_a_box_of_leading_modes_and_a_divisor(s, n):
    box = any(n == st.count(tuple(s[:k])) * q for k in range(len(s)) for q in range(1, s[k] + 1) if s[k] % q == 0)
    result = evenly_divides(tuple(s), n)
    assert result or not box
    assert st.count(tuple(s)) % n == 0 or not result


def test_evenly_divides_counts_tiles_mode_by_mode():
    assert [n for n in range(1, 25) if evenly_divides((4, 6), n)] == [1, 2, 4, 8, 12, 24]
    assert not evenly_divides((15, 14), 6)


def test_evenly_divides_by_a_tuple():
    assert evenly_divides(((2, 4), 6), (4, 3))
    assert not evenly_divides(((2, 4), 6), (3, 3))
    assert evenly_divides((8, 6), (4,))
    assert not evenly_divides(8, (4, 2))
    assert evenly_divides(Layout((8, 6), (1, 100)), (4, 3))


def rests(s, n):
    """What is left of the divisor before each mode."""
    return [max(1, n // prod(s[:i])) for i in range(len(s))]


@given(hyp.lists(hyp.integers(1, 12), min_size=1, max_size=3), hyp.integers(1, 60))
def test_shape_div_takes_whole_modes_and_a_divisor_from_the_left(s, n):
    try:
        result = shape_div(tuple(s), n)
    except LayoutError:
        assert any(x % rest and rest % x for x, rest in zip(s, rests(s, n), strict=True))
        return
    taken = 1
    for x, q in zip(s, result, strict=True):
        assert x % q == 0
        taken *= x // q
    assert taken * max(1, n // st.count(tuple(s))) == n


def test_shape_div_on_other_forms():
    assert shape_div((12, (6, 4)), (4, (3, 8))) == (3, (2, 1))
    assert shape_div(24, (2, 3)) == 4
    with pytest.raises(LayoutError, match="neither divides"):
        shape_div(6, 4)
    with pytest.raises(LayoutError, match="modes"):
        shape_div((6, 4), (2,))
    with pytest.raises(LayoutError, match="neither divides"):
        shape_div(6, 0)
