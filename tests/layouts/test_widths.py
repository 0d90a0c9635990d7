# SPDX-License-Identifier: Apache-2.0
"""Upcast, downcast and recast against what they say about elements and words, point by point."""

import pytest
from hypothesis import given, reject
from hypothesis import strategies as hyp

from layouts import ComposedLayout, Layout, LayoutError, Swizzle, congruent, downcast, recast, size, upcast
from tests.cases import each
from tests.layouts import strategies as st
from tests.layouts.test_swizzle import SMALL, swizzle_value, swizzles

FACTORS = hyp.sampled_from((1, 2, 2, 3, 4, 4, 6, 8))


def value(layout, digits):
    return sum(c * d for c, d in zip(digits, st.flat(layout.stride), strict=True))


def steps(layout, n):
    """Return how many elements of each mode lie in one word, if that is an integer."""
    return [
        n // d if s > 1 and 0 < d < n else 1 for s, d in zip(st.flat(layout.shape), st.flat(layout.stride), strict=True)
    ]


def word_coordinate(digits, ratios):
    return [c // r for c, r in zip(digits, ratios, strict=True)]


def divisible(layout, n):
    pairs = zip(st.flat(layout.shape), st.flat(layout.stride), strict=True)
    return all(s == 1 or d % n == 0 or (d > 0 and n % d == 0) for s, d in pairs)


@given(hyp.one_of(st.nested_strides(2, True), st.nested_strides(1), st.layouts(low=-8, high=24)), FACTORS)
def test_upcast_names_the_word_of_each_element_or_is_rejected_where_no_word_layout_does(layout, n):
    try:
        result = upcast(layout, n)
    except LayoutError:
        assert not divisible(layout, n) or not words_are_linear(layout, n)
        return
    ratios = steps(layout, n)
    assert congruent(layout, result)
    assert st.flat(result.shape) == [-(-s // r) for s, r in zip(st.flat(layout.shape), ratios, strict=True)]
    for digits in st.flat_coordinates(layout.shape):
        assert value(result, word_coordinate(digits, ratios)) == value(layout, digits) // n


def words_are_linear(layout, n):
    """Whether the word of an element is a sum over the modes: whether the parts inside words never add up to n."""
    zero = [0] * len(st.flat(layout.shape))
    for digits in st.flat_coordinates(layout.shape):
        words = 0
        for i, c in enumerate(digits):
            words += value(layout, [*zero[:i], c, *zero[i + 1 :]]) // n
        if value(layout, digits) // n != words:
            return False
    return True


@pytest.mark.parametrize(
    ("layout", "n", "why"),
    [
        ("4:3", 2, "neither of 2 and the stride 3 divides the other"),
        ("(4,4):(1,2)", 4, "go to element 5"),
        ("(2,2):(2,2)", 4, "go to element 4"),
        ("4:-1", 2, "neither of 2 and the stride -1"),
        ("4:1", 0, "4:1 cannot be recast by 0: the factor must be"),
    ],
)
def test_upcast_says_what_it_needs(layout, n, why):
    with pytest.raises(LayoutError, match=why):
        upcast(Layout.parse(layout), n)


@given(hyp.one_of(st.nested_strides(1), st.layouts(low=-4, high=12, max_size=60)), FACTORS)
def test_downcast_splits_each_element_along_the_mode_of_stride_1(layout, n):
    extents, strides = st.flat(layout.shape), st.flat(layout.stride)
    counted = [d for s, d in zip(extents, strides, strict=True) if s > 1]
    try:
        result = downcast(layout, n)
    except LayoutError:
        assert counted.count(1) > 1 or -1 in counted or 1 not in strides
        return
    if n == 1:
        assert result == layout
        return
    units = [i for i, (s, d) in enumerate(zip(extents, strides, strict=True)) if d == 1 and (s > 1 or 1 not in counted)]
    mode = units[0]
    assert congruent(layout, result)
    assert size(result) == n * size(layout)
    for digits in st.flat_coordinates(layout.shape):
        for part in range(n):
            fine = [n * c + part if i == mode else c for i, c in enumerate(digits)]
            assert fine[mode] < st.flat(result.shape)[mode]
            assert value(result, fine) == n * value(layout, digits) + part


def test_the_stride_of_an_extent_of_1_does_not_hinder_an_upcast():
    assert str(upcast(Layout.parse("(1,4):(3,2)"), 2)) == "(1,4):(2,1)"


@pytest.mark.parametrize("layout", ["4:2", "(2,2):(1,1)", "4:-1", "(4,2):(1,-1)", "1:0"])
def test_downcast_needs_exactly_one_mode_of_stride_1(layout):
    with pytest.raises(LayoutError, match="exactly one mode of stride 1"):
        downcast(Layout.parse(layout), 2)


@each("swizzle", SMALL, ids=str)
@each("n", [1, 2, 4, 8, 32, 512])
def test_upcast_of_a_swizzle_exists_exactly_when_its_words_move_as_words(swizzle, n):
    whole = max(swizzle.period, n)
    moves = [swizzle_value(swizzle, x) // n for x in range(2 * whole)]
    if all(moves[x] == moves[x - x % n] for x in range(2 * whole)):
        result = upcast(swizzle, n)
        assert [swizzle_value(result, x // n) for x in range(2 * whole)] == moves
    else:
        with pytest.raises(LayoutError, match="inside a word, to move words"):
            upcast(swizzle, n)


@given(swizzles(), hyp.sampled_from((1, 2, 4, 8)))
def test_downcast_of_a_swizzle_moves_the_parts_together(swizzle, n):
    result = downcast(swizzle, n)
    for x in range(2 * swizzle.period):
        for part in range(n):
            assert swizzle_value(result, n * x + part) == n * swizzle_value(swizzle, x) + part


def test_swizzles_recast_by_powers_of_two_only():
    for change in (upcast, downcast):
        with pytest.raises(LayoutError, match="power of two"):
            change(Swizzle(1, 4, 3), 3)


@given(swizzles(), hyp.integers(0, 8), st.nested_strides(2, max_size=48), hyp.sampled_from((2, 4)))
def test_composed_layouts_are_upcast_in_all_parts(swizzle, words, inner, n):
    try:
        result = upcast(ComposedLayout(swizzle, words * n, inner), n)
    except LayoutError:
        for part in (swizzle, inner):
            try:
                upcast(part, n)
            except LayoutError:
                reject()
        raise
    ratios = steps(inner, n)
    for digits in st.flat_coordinates(inner.shape):
        element = swizzle_value(swizzle, words * n + value(inner, digits))
        word = result.offset + value(result.layout_b, word_coordinate(digits, ratios))
        assert swizzle_value(result.layout_a, word) == element // n


def test_composed_layouts_are_downcast_in_all_parts():
    whole = ComposedLayout(Swizzle(2, 1, 2), 3, Layout((4, 8), (8, 1)))
    parts = downcast(whole, 4)
    assert str(parts) == "Sw<2,3,2> o 12 o (4,32):(32,1)"
    assert all(parts(i, 4 * j + p) == 4 * whole(i, j) + p for i in range(4) for j in range(8) for p in range(4))


@pytest.mark.parametrize(
    ("layout", "why"),
    [
        (ComposedLayout(Swizzle(1, 1, 1), 1, Layout(8)), "offset 1 by 2"),
        (ComposedLayout(Layout(8), 0, Layout(8)), "outer function isn't a swizzle"),
    ],
)
def test_composed_layouts_that_do_not_recast(layout, why):
    with pytest.raises(LayoutError, match=why):
        upcast(layout, 2)


@pytest.mark.parametrize(
    ("layout", "bits", "text"),
    [
        ("(8,4):(1,8)", (8, 8), "(8,4):(1,8)"),
        ("(8,4):(1,8)", (8, 32), "(2,4):(1,2)"),
        ("(8,4):(1,8)", (32, 8), "(32,4):(1,32)"),
        ("(12,4):(1,12)", (8, 6), "(16,4):(1,16)"),
        ("(8,4):(4,1)", (4, 16), "(8,1):(1,1)"),
        ("(8,4):(1,8)", (1, 8), "(1,4):(1,1)"),
        ("4:1", (8, 1), "32:1"),
    ],
)
def test_recast_by_the_ratio_of_the_widths(layout, bits, text):
    assert str(recast(Layout.parse(layout), *bits)) == text


@given(st.nested_strides(1), hyp.sampled_from((4, 6, 8, 16, 32)), hyp.sampled_from((4, 6, 8, 16, 32)))
def test_recast_keeps_the_bits_of_compact_layouts(layout, old, new):
    bits = {old * v + b for v in st.table(layout).tolist() for b in range(old)}
    try:
        result = recast(layout, old, new)
    except LayoutError:
        reject()
    recast_bits = {new * v + b for v in st.table(result).tolist() for b in range(new)}
    assert bits <= recast_bits
    if len(bits) % new == 0:
        assert bits == recast_bits


def test_recast_of_a_shared_memory_atom():
    atom = ComposedLayout(Swizzle(3, 4, 3), 0, Layout((8, 1024), (1024, 1)))
    assert str(recast(atom, 1, 16)) == "Sw<3,0,3> o 0 o (8,64):(64,1)"
    assert str(recast(Swizzle(3, 4, 3), 8, 16)) == "Sw<3,3,3>"


def test_recast_rejects_widths_below_1():
    for bits in ((0, 8), (8, -1)):
        with pytest.raises(LayoutError, match="at least 1"):
            recast(Layout(4), *bits)
