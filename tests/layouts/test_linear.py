# SPDX-License-Identifier: Apache-2.0
"""Matrices over F2 against the definition f(x ^ y) = f(x) ^ f(y), by trying every pair and every point."""

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as hyp

from layouts import ComposedLayout, F2Matrix, Layout, LayoutError, Swizzle, composition, f2_layout, f2_matrix, size
from tests.layouts import strategies as st
from tests.layouts.test_swizzle import swizzle_value, swizzles


def is_linear(values):
    """Whether a whole table of 2^n natural numbers is xor-linear."""
    if len(values) & (len(values) - 1) or min(values) < 0:
        return False
    table = np.array(values)
    x = np.arange(len(values))
    return bool(np.all(table[x[:, None] ^ x[None, :]] == table[:, None] ^ table[None, :]))


@hyp.composite
def binary_layouts(draw, bits=6):
    """Layouts of power-of-two extents; strides mostly a permutation of the powers of two, or multiples of them."""
    extents = [2**e for e in draw(hyp.lists(hyp.integers(0, 2), min_size=1, max_size=bits // 2))]
    step, strides = 1, [0] * len(extents)
    for i in draw(hyp.permutations(range(len(extents)))):
        strides[i] = step * draw(hyp.sampled_from((1, 1, 1, 0, 2, 3, 5)))
        step *= extents[i] * draw(hyp.sampled_from((1, 1, 2)))
    profile = draw(st.profiles(len(extents)))
    return Layout(st.nested_like(extents, profile), st.nested_like(strides, profile))


@hyp.composite
def matrices(draw, rows=5, columns=5):
    height = draw(hyp.integers(0, rows))
    return F2Matrix(tuple(draw(hyp.lists(hyp.integers(0, 2**height - 1), max_size=columns))), height)


def matrix_table(matrix):
    """Every value: the xor of the columns at the bits of the index."""
    values = [0]
    for column in matrix.columns:
        values += [v ^ column for v in values]
    return values


@given(hyp.one_of(binary_layouts(), st.layouts(low=-3, max_size=64)))
def test_a_layout_has_a_matrix_exactly_when_it_is_linear(layout):
    values = st.table(layout).tolist()
    try:
        matrix = f2_matrix(layout)
    except LayoutError:
        assert not is_linear(values)
    else:
        assert is_linear(values)
        assert matrix_table(matrix) == values
        assert matrix.height == max(values).bit_length()


@given(swizzles())
def test_the_matrix_of_a_swizzle_is_square_and_its_own_inverse(swizzle):
    matrix = f2_matrix(swizzle)
    assert matrix_table(matrix) == [swizzle_value(swizzle, x) for x in range(swizzle.period)]
    assert matrix.width == matrix.height == matrix.rank
    assert matrix.inverse() == matrix


@given(swizzles(), binary_layouts())
def test_a_swizzle_of_a_layout_has_a_matrix_exactly_if_it_is_linear(swizzle, layout):
    values = [swizzle_value(swizzle, v) for v in st.table(layout).tolist()]
    try:
        matrix = f2_matrix(ComposedLayout(swizzle, 0, layout))
    except LayoutError:
        assert not is_linear(values)
    else:
        assert matrix_table(matrix) == values


@given(binary_layouts(), swizzles(4))
def test_a_layout_of_a_swizzle_has_a_matrix_exactly_if_the_layout_is_linear(layout, swizzle):
    if size(layout) < swizzle.period:
        layout = Layout((layout.shape, swizzle.period), (layout.stride, 64))
    values = [st.value_at(layout, swizzle_value(swizzle, x)) for x in range(size(layout))]
    try:
        matrix = f2_matrix(composition(layout, swizzle))
    except LayoutError:
        assert not is_linear(st.table(layout).tolist())
    else:
        assert matrix_table(matrix) == values


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (Layout(3), "size 3 isn't a power of two"),
        (Layout((2, 2), (1, 1)), r"mode 2:1 has bits 0b1"),
        (Layout(4, 3), "mode 4:3 has bits 0b10"),
        (Layout(2, -1), "stride -1 is negative"),
        (ComposedLayout(Swizzle(1, 0, 1), 2, Layout(4)), "offset 2: an F2 matrix maps 0 to 0"),
        (ComposedLayout(Layout(2), 0, Layout(4)), "column 2 does not fit the 1 rows"),
    ],
)
def test_what_has_no_matrix_is_rejected_with_a_reason(function, why):
    with pytest.raises(LayoutError, match=why):
        f2_matrix(function)


@given(matrices())
def test_rank_and_values_are_those_of_the_whole_table(matrix):
    values = matrix_table(matrix)
    assert [matrix(x) for x in range(len(values))] == values
    assert matrix(np.arange(len(values), dtype=np.uint8)).tolist() == values
    assert 2**matrix.rank == len(set(values))
    bits = np.arange(len(values))[:, None] >> np.arange(matrix.width) & 1
    places = 1 << np.arange(matrix.height)
    assert ((bits @ matrix.array().T % 2) @ places).tolist() == values


@given(matrices(4, 4), hyp.data())
def test_matmul_is_composition(inner, data):
    height = data.draw(hyp.integers(0, 4))
    columns = data.draw(hyp.lists(hyp.integers(0, 2**height - 1), min_size=inner.height, max_size=inner.height))
    outer = F2Matrix(tuple(columns), height)
    assert matrix_table(outer @ inner) == [matrix_table(outer)[v] for v in matrix_table(inner)]


@given(hyp.integers(0, 5).flatmap(lambda n: hyp.lists(hyp.integers(0, 2**n - 1), min_size=n, max_size=n)))
def test_the_inverse_is_one_or_rejected(columns):
    matrix = F2Matrix(tuple(columns), len(columns))
    values = matrix_table(matrix)
    if len(set(values)) < len(values):
        with pytest.raises(LayoutError, match=f"rank {matrix.rank} has no inverse"):
            matrix.inverse()
    else:
        assert [matrix_table(matrix.inverse())[v] for v in values] == list(range(len(values)))


def test_matrices_that_do_not_fit_are_rejected():
    for wrong in (
        lambda: F2Matrix((4,), 2),
        lambda: F2Matrix((-1,), 2),
        lambda: F2Matrix((), 64),
        lambda: F2Matrix((0,) * 64, 1),
        lambda: F2Matrix((1, 2), 2) @ F2Matrix((1,), 1),
        lambda: F2Matrix((1, 2), 2)(4),
        lambda: F2Matrix((1, 2), 2)(-1),
        lambda: F2Matrix((1, 2, 3), 2).inverse(),
    ):
        with pytest.raises(LayoutError):
            wrong()


@pytest.mark.long
@given(hyp.one_of(matrices(), swizzles().map(f2_matrix)))
def test_a_matrix_becomes_a_layout_of_the_same_function(matrix):
    try:
        layout = f2_layout(matrix)
    except LayoutError:
        reject()
    values = [layout(x) for x in range(2**matrix.width)]
    assert size(layout) == 2**matrix.width
    assert values == matrix_table(matrix)


@given(binary_layouts())
def test_there_and_back_is_the_same_layout(layout):
    try:
        matrix = f2_matrix(layout)
    except LayoutError:
        reject()
    back = f2_layout(matrix)
    assert isinstance(back, Layout)
    assert st.table(back).tolist() == st.table(layout).tolist()


@given(swizzles(), binary_layouts())
def test_a_swizzled_layout_is_found_again(swizzle, layout):
    try:
        matrix = f2_matrix(ComposedLayout(swizzle, 0, layout))
    except LayoutError:
        reject()
    back = f2_layout(matrix)
    assert [back(x) for x in range(size(layout))] == [swizzle_value(swizzle, v) for v in st.table(layout).tolist()]


@pytest.mark.parametrize("swizzle", [Swizzle(1, 0, 1), Swizzle(2, 0, 2), Swizzle(2, 1, 3), Swizzle(3, 0, -3)], ids=str)
def test_the_simplest_swizzle_is_found(swizzle):
    bits = swizzle.period.bit_length() - 1
    simplest = f2_layout(f2_matrix(swizzle))
    assert simplest == ComposedLayout(swizzle, 0, Layout(2**bits))


def test_extents_of_1_and_of_2_to_the_63_have_matrices():
    assert f2_matrix(Layout((1, 2), (-1, 1))).columns == (1,)
    assert f2_matrix(Layout(2**63)).rank == 63
    assert f2_matrix(Layout(1)) == F2Matrix((), 0)
    assert str(f2_layout(F2Matrix((), 0))) == "1:0"


def test_a_layout_after_a_swizzle_is_found_again():
    swizzle, layout = Swizzle(2, 0, 2), Layout((2, 2, 4), (2, 1, 4))
    back = f2_layout(f2_matrix(composition(layout, swizzle)))
    assert [back(x) for x in range(16)] == [st.value_at(layout, swizzle_value(swizzle, x)) for x in range(16)]


def test_a_matrix_of_no_single_swizzle_is_rejected():
    with pytest.raises(LayoutError, match="neither a layout"):
        f2_layout(F2Matrix((1, 1, 1), 1))
