# SPDX-License-Identifier: Apache-2.0
"""Swizzles bit by bit, and every composition with one point by point: R(c) = A(B(c))."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as hyp

from layouts import (
    ComposedLayout,
    Layout,
    LayoutError,
    Swizzle,
    composition,
    depth,
    logical_divide,
    make_swizzle,
    rank,
    size,
)
from layouts.batched import batch
from tests.cases import each
from tests.layouts import strategies as st

SMALL = [
    Swizzle(bits, base, shift) for bits in range(4) for base in range(3) for shift in range(-4, 5) if abs(shift) >= bits
]


def swizzle_bits(bits, base, shift, x):
    """The definition bit by bit: bit i of the changed field is xored with the bit |shift| above or below it."""
    result = x
    for j in range(bits):
        i = base + j + max(0, -shift)
        result ^= (x >> (i + shift) & 1) << i
    return result


def table(swizzle, stop):
    return [swizzle_bits(swizzle.bits, swizzle.base, swizzle.shift, x) for x in range(stop)]


def swizzle_value(swizzle, x):
    return swizzle_bits(swizzle.bits, swizzle.base, swizzle.shift, x)


@hyp.composite
def swizzles(draw, room=6):
    bits = draw(hyp.integers(0, room // 2))
    base = draw(hyp.integers(0, room - 2 * bits))
    distance = draw(hyp.integers(bits, room - bits - base))
    return Swizzle(bits, base, distance * draw(hyp.sampled_from((1, -1))))


@each("swizzle", SMALL, ids=str)
def test_a_swizzle_is_its_definition_and_a_permutation_of_its_period(swizzle):
    values = table(swizzle, 2 * swizzle.period)
    assert [swizzle(x) for x in range(2 * swizzle.period)] == values
    assert swizzle(np.arange(2 * swizzle.period)).tolist() == values
    assert sorted(values[: swizzle.period]) == list(range(swizzle.period))
    assert [swizzle(v) for v in values] == list(range(2 * swizzle.period))
    assert values[swizzle.period :] == [v + swizzle.period for v in values[: swizzle.period]]


def test_the_highest_bit_of_an_index_can_be_swizzled():
    assert Swizzle(1, 61, 1)(1 << 62) == 3 << 61
    assert Swizzle(1, 61, -1)(np.array([1 << 61])).tolist() == [3 << 61]


@each("swizzle", [s for s in SMALL if s.bits], ids=str)
def test_the_period_is_the_least_after_which_the_swizzle_repeats(swizzle):
    values = table(swizzle, 2 * swizzle.period)
    repeats = [
        p for p in range(1, swizzle.period + 1) if all(v == values[x % p] + x - x % p for x, v in enumerate(values))
    ]
    assert repeats == [swizzle.period]


@given(swizzles(40), hyp.integers(0, 2**62))
def test_large_indices_on_ints_and_arrays(swizzle, x):
    assert swizzle(x) == swizzle_value(swizzle, x) == swizzle(np.array([x]))[0]


def test_narrow_arrays_are_widened_before_shifting():
    x = np.array([1, 255], dtype=np.uint8)
    assert Swizzle(1, 0, -12)(x).tolist() == [swizzle_bits(1, 0, -12, 1), swizzle_bits(1, 0, -12, 255)]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ((2, 0, 1), r"\|shift\| >= bits, got 1 < 2"),
        ((3, 4, -2), r"\|shift\| >= bits, got 2 < 3"),
        ((1, 0, 0), r"\|shift\| >= bits, got 0 < 1"),
        ((-1, 0, 3), "bits >= 0"),
        ((1, -1, 3), "base >= 0"),
        ((1, 61, 2), "63, got 64"),
        ((1.0, 0, 3), "three ints"),
        ((True, 0, 3), "three ints"),
    ],
)
def test_what_is_no_swizzle_is_rejected_with_a_reason(arguments, why):
    with pytest.raises(LayoutError, match=why):
        Swizzle(*arguments)


def test_negative_and_fractional_indices_are_rejected():
    for index in (-1, 1.5, np.array([0, -1]), np.array([0.5])):
        with pytest.raises(LayoutError):
            Swizzle(1, 0, 1)(index)


def test_a_negative_index_has_one_message():
    behind = ComposedLayout(Swizzle(1, 0, 1), 1, Layout(4, -1))
    for evaluate in (lambda: Swizzle(1, 0, 1)(-2), lambda: Swizzle(1, 0, 1)(np.array([0, -2])), lambda: batch(behind)):
        with pytest.raises(LayoutError, match=r"^Sw<1,0,1> needs natural numbers, got -2$"):
            evaluate()


@each("swizzle", [s for s in SMALL if s.bits], ids=str)
def test_make_swizzle_from_its_masks(swizzle):
    changed = {x ^ v for x, v in enumerate(table(swizzle, swizzle.period))}
    assert max(changed) == swizzle.zzz_mask
    assert make_swizzle(swizzle.yyy_mask, swizzle.zzz_mask) == swizzle


def test_empty_masks_make_the_swizzle_that_changes_nothing():
    assert make_swizzle(0, 0) == Swizzle(0, 0, 0)


@pytest.mark.parametrize("masks", [(0b1010, 0b101), (0b110, 0b1), (0b110, 0b11), (-1, 1), (0b11, 0b11)])
def test_make_swizzle_rejects_masks_of_no_swizzle(masks):
    with pytest.raises(LayoutError):
        make_swizzle(*masks)


@given(swizzles(), swizzles())
def test_swizzle_o_swizzle_is_the_function_or_rejected(a, b):
    values = [swizzle_value(a, swizzle_value(b, x)) for x in range(256)]
    try:
        merged = composition(a, b)
    except LayoutError:
        assert all(table(s, 256) != values for s in SMALL)
    else:
        assert table(merged, 256) == values


@given(swizzles(), st.any_layout())
def test_a_swizzle_after_a_layout_swizzles_its_values(swizzle, layout):
    result = composition(swizzle, layout)
    assert [result(c) for c in range(size(layout))] == [swizzle_value(swizzle, v) for v in st.table(layout)]
    assert result.shape == layout.shape
    assert isinstance(result, Layout) == (swizzle.bits == 0)


@given(st.any_layout(), swizzles())
def test_a_layout_after_a_swizzle_keeps_its_shape_and_swizzles_its_index(layout, swizzle):
    result = composition(layout, swizzle)
    expected = [st.value_at(layout, swizzle_value(swizzle, x)) for x in range(size(layout))]
    assert [result(c) for c in range(size(layout))] == expected
    assert result.shape == layout.shape


def test_museum_29_a_swizzle_moved_left_only_where_that_is_the_same_function():
    layout = Layout((2, 2, 4), (2, 1, 4))
    swizzle = Swizzle(2, 0, 2)
    expected = [st.value_at(layout, swizzle_value(swizzle, x)) for x in range(16)]
    cute = ComposedLayout(Swizzle(2, 0, 2), 0, layout)
    assert sum(cute(x) != v for x, v in enumerate(expected)) == 8
    result = composition(layout, swizzle)
    assert result != cute
    assert [result(x) for x in range(16)] == expected


@pytest.mark.parametrize(
    ("layout", "swizzle", "text"),
    [
        ("(8,8):(1,8)", Swizzle(3, 0, 3), "Sw<3,0,3> o 0 o (8,8):(1,8)"),
        ("(4,4):(8,32)", Swizzle(2, 0, 2), "Sw<2,3,2> o 0 o (4,4):(8,32)"),
        ("(4,4):(4,1)", Swizzle(2, 0, 2), "Sw<2,0,-2> o 0 o (4,4):(4,1)"),
        ("48:16", Swizzle(1, 0, 1), "Sw<1,4,1> o 0 o 48:16"),
        ("(4,4):(1,4)", Swizzle(0, 4, 3), "(4,4):(1,4)"),
    ],
)
def test_layout_o_swizzle_has_the_form_of_cute_where_that_is_right(layout, swizzle, text):
    assert str(composition(Layout.parse(layout), swizzle)) == text


def test_a_domain_too_large_to_try_keeps_the_composition_unchanged():
    layout = Layout(2**40)
    result = composition(layout, Swizzle(3, 4, 3))
    assert str(result) == f"{layout} o 0 o Sw<3,4,3> o 0 o {Layout(2**40)}"
    assert result(0b1010000000) == 0b1011010000 == swizzle_bits(3, 4, 3, 0b1010000000)


@given(swizzles(), st.nested_strides(1), hyp.integers(0, 40), st.layouts(high=12))
def test_composed_layout_o_layout(swizzle, inner, offset, layout):
    outer = ComposedLayout(swizzle, offset, inner)
    try:
        result = composition(outer, layout)
    except LayoutError:
        with pytest.raises(LayoutError):
            composition(inner, layout)
    else:
        expected = [swizzle_value(swizzle, offset + st.value_at(inner, x)) for x in st.table(layout).tolist()]
        assert [result(c) for c in range(size(layout))] == expected


@given(st.any_layout(), swizzles(4), hyp.integers(0, 3), st.nested_strides(2, max_size=32))
def test_layout_o_composed_layout(layout, swizzle, offset, inner):
    result = composition(layout, ComposedLayout(swizzle, offset, inner))
    assert isinstance(result, ComposedLayout | Layout)
    expected = [st.value_at(layout, swizzle_value(swizzle, offset + v)) for v in st.table(inner).tolist()]
    assert [result(c) for c in range(size(inner))] == expected


@given(swizzles(), swizzles(), st.nested_strides(2, max_size=32))
def test_swizzle_and_composed_layout_on_either_side(a, b, inner):
    right = composition(a, ComposedLayout(b, 1, inner))
    assert [right(c) for c in range(size(inner))] == [
        swizzle_value(a, swizzle_value(b, 1 + v)) for v in st.table(inner).tolist()
    ]
    left = composition(ComposedLayout(b, 1, inner), a)
    assert [left(c) for c in range(size(inner))] == [
        swizzle_value(b, 1 + st.value_at(inner, swizzle_value(a, c))) for c in range(size(inner))
    ]


@given(swizzles(), hyp.integers(0, 9), st.any_layout(), hyp.data())
def test_slices_of_a_composed_layout_carry_the_fixed_modes_in_the_offset(swizzle, offset, layout, data):
    whole = ComposedLayout(swizzle, offset, layout)
    coord = tuple(data.draw(hyp.one_of(hyp.none(), hyp.integers(0, size(m) - 1))) for m in layout)
    part = whole(*coord)
    if None not in coord:
        value = sum(st.value_at(mode, c) for mode, c in zip(layout, coord, strict=True))
        assert part == swizzle_value(swizzle, offset + value)
        return
    free = [i for i, c in enumerate(coord) if c is None]
    for digits in np.ndindex(*(size(layout[i]) for i in free)):
        full = list(coord)
        for i, digit in zip(free, digits, strict=True):
            full[i] = int(digit)
        value = sum(st.value_at(layout[i], c) for i, c in enumerate(full))
        assert part(*map(int, digits)) == swizzle_value(swizzle, offset + value)


def test_shape_rank_depth_and_modes_are_those_of_the_inner_layout():
    inner = Layout.parse("((2,4),8):((1,16),2)")
    whole = ComposedLayout(Swizzle(1, 0, 3), 4, inner)
    assert (whole.shape, len(whole), rank(whole), depth(whole), size(whole)) == (inner.shape, 2, 2, 2, 64)
    assert [str(m) for m in whole] == ["Sw<1,0,3> o 4 o (2,4):(1,16)", "Sw<1,0,3> o 4 o 8:2"]
    assert whole(np.arange(64)).tolist() == [swizzle_bits(1, 0, 3, 4 + v) for v in st.table(inner).tolist()]


def test_nested_composed_layouts_slice_and_divide():
    whole = ComposedLayout(Layout((16, 4), (4, 1)), 2, ComposedLayout(Swizzle(1, 0, 1), 0, Layout((4, 4))))
    assert [whole(2, None)(j) for j in range(4)] == [whole(2, j) for j in range(4)]
    divided = logical_divide(whole, (2, None))
    assert [divided((i % 2, i // 2), j) for j in range(4) for i in range(4)] == [whole(c) for c in range(16)]


@pytest.mark.parametrize("offset", [-1, True, 1.5, None])
def test_offsets_are_natural_numbers(offset):
    with pytest.raises(LayoutError, match="offset"):
        ComposedLayout(Swizzle(1, 0, 1), offset, Layout(4))


def test_a_swizzle_has_no_modes_to_compose_with_a_tiler():
    for tiler in (None, 4, (2, 2)):
        with pytest.raises(LayoutError, match="no modes"):
            composition(Swizzle(1, 0, 1), tiler)


def test_values_hash_compare_and_print():
    assert {Swizzle(3, 4, 3), Swizzle(3, 4, 3)} == {Swizzle(3, 4, 3)}
    assert eval(repr(Swizzle(3, 4, -3))) == Swizzle(3, 4, -3)
    whole = ComposedLayout(Swizzle(3, 4, 3), 0, Layout((8, 8)))
    assert eval(repr(whole)) == whole
    assert hash(whole) == hash(ComposedLayout(Swizzle(3, 4, 3), 0, Layout((8, 8))))
