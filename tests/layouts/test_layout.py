# SPDX-License-Identifier: Apache-2.0
"""Evaluation, slicing and construction of layouts, against digits computed one by one."""

import copy
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as hyp

from layouts import (
    Layout,
    LayoutError,
    ProfileError,
    compact_col_major,
    compact_order,
    compact_row_major,
    cosize,
    crd2crd,
    crd2idx,
    dice,
    domain_offset,
    idx2crd,
    make_layout,
    make_layout_like,
    make_ordered_layout,
    size,
    slice,
    slice_and_offset,
)
from tests.layouts import strategies as st

C16x8 = Layout.parse("((4,8),(2,2)):((32,1),(16,8))")
SIGNED = st.layouts(low=-40)


@given(SIGNED)
def test_every_index_has_the_value_of_its_digits(layout):
    table = st.table(layout)
    assert [layout(i) for i in range(len(table))] == table.tolist()
    assert np.array_equal(layout(np.arange(len(table))), table)
    assert size(layout) == len(table)


@given(st.any_layout())
def test_cosize_is_one_more_than_the_largest_value(layout):
    assert cosize(layout) == max(st.table(layout)) + 1


@given(SIGNED)
def test_cosize_is_the_span_of_the_values(layout):
    table = st.table(layout)
    assert cosize(layout) == max(table) - min(table) + 1


@given(SIGNED)
def test_flat_and_nested_coordinates_mean_the_same(layout):
    for i, digits in enumerate(st.flat_coordinates(layout.shape)):
        coord = st.nested_like(list(digits), layout.shape)
        assert layout(coord) == layout(i)
        if isinstance(coord, tuple) and len(coord) > 1:
            assert layout(*coord) == layout(i)


@given(SIGNED, hyp.integers(0, 10**30))
def test_an_index_beyond_the_domain_extends_the_last_mode(layout, index):
    assert layout(index) == st.value_at(layout, index)
    small = index % 10**6
    assert layout(np.array([small]))[0] == layout(small) == st.value_at(layout, small)


@given(SIGNED, hyp.data())
def test_any_mode_may_be_given_by_its_index(layout, data):
    """A tuple coordinate may hold, at any depth, the colexicographic index of the part at that place."""

    def collapse(coord, shape):
        if not isinstance(coord, tuple):
            return coord
        if data.draw(hyp.booleans()):
            index = 0
            for c, s in zip(reversed(st.flat(coord)), reversed(st.flat(shape)), strict=True):
                index = index * s + c
            return index
        return tuple(map(collapse, coord, shape))

    digits = [data.draw(hyp.integers(0, s - 1)) for s in st.flat(layout.shape)]
    coord = st.nested_like(digits[:], layout.shape)
    wanted = sum(c * d for c, d in zip(digits, st.flat(layout.stride), strict=True))
    assert layout(collapse(coord, layout.shape)) == wanted


def test_arrays_broadcast_over_the_whole_domain():
    threads, values = np.arange(32)[:, None], np.arange(4)[None, :]
    grid = C16x8(threads, values)
    assert grid.shape == (32, 4)
    assert grid.dtype == np.int64
    assert np.array_equal(np.sort(grid.ravel()), np.arange(128))
    nested = C16x8((np.arange(4)[:, None], np.arange(8)), (1, 0))
    assert np.array_equal(nested, np.arange(4)[:, None] * 32 + np.arange(8) + 16)


def test_narrow_integer_types_do_not_wrap():
    layout = Layout(256, 1000)
    assert layout(np.array([255], dtype=np.uint8))[0] == 255_000
    assert layout(np.uint8(255)) == 255_000
    assert layout(np.array(3)) == 3000


def test_the_largest_number_of_64_signed_bits_is_a_coordinate_and_an_offset():
    top = 2**63 - 1
    assert Layout(4)(np.array([top], dtype=np.uint64)).tolist() == [top]
    assert Layout(2, top)(np.array([0, 1])).tolist() == [0, top]


@pytest.mark.parametrize(
    ("coord", "problem"),
    [
        ((-1,), "negative, got -1"),
        ((0, -2), "negative, got -2"),
        (((0, -3), 0), "negative, got -3"),
        ((np.array([0, -5]),), "negative, got -5"),
        ((True,), "integers, got bool"),
        ((np.array([True]),), "integers, got an array of bool"),
        ((1.0,), "integers, got float"),
        ((np.array([1.0]), 0), "integers, got an array of float64"),
        ((np.array([2**63], dtype=np.uint64),), "must fit 64 signed bits"),
        (("3",), "integers, got str"),
        (([1, 2],), "integers, got list"),
        ((0, 0, 0), "coordinate of 3 modes"),
        (((0, 0, 0), 0), "coordinate of 3 modes"),
        (((0, (0, 0)), 0), "coordinate of 2 modes"),
        ((), "coordinate of 0 modes"),
    ],
)
def test_bad_coordinates_are_rejected(coord, problem):
    with pytest.raises(LayoutError, match=problem):
        C16x8(*coord)


def test_array_results_beyond_64_bits_are_rejected_and_ints_are_exact():
    wide = Layout((2, 4), (1, 2**62))
    assert wide(7) == 3 * 2**62 + 1
    assert wide(np.array([3]))[0] == 2**62 + 1
    with pytest.raises(LayoutError, match="do not fit 64 bits"):
        wide(np.array([0, 7]))
    with pytest.raises(LayoutError, match="do not fit 64 bits"):
        wide(1, np.array([3]))
    assert wide(np.array([], dtype=np.int64)).size == 0
    assert Layout(2, 2**70)(1) == 2**70


@given(
    hyp.lists(hyp.tuples(hyp.integers(1, 3), hyp.integers(55, 63), hyp.booleans()), min_size=1, max_size=4),
    hyp.booleans(),
)
def test_arrays_never_wrap(modes, by_mode):
    """Rejected exactly where the offsets, added up without their signs, would not fit 64 bits."""
    layout = Layout(tuple(s for s, _, _ in modes), tuple((-1) ** minus * 2**bits for _, bits, minus in modes))
    reach = sum((s - 1) * 2**bits for s, bits, _ in modes)
    coord = np.ix_(*(np.arange(s) for s, _, _ in modes)) if by_mode else (np.arange(size(layout)),)
    if reach > 2**63 - 1:
        with pytest.raises(LayoutError, match="do not fit 64 bits"):
            layout(*coord)
        return
    wanted = [
        sum(c * d for c, d in zip(digits, layout.stride, strict=True)) for digits in st.flat_coordinates(layout.shape)
    ]
    assert np.ravel(layout(*coord), order="F").tolist() == wanted


def test_the_empty_layout_has_one_index():
    empty = Layout((), ())
    assert (size(empty), cosize(empty), empty(0), empty(()), len(empty)) == (1, 1, 0, 0, 0)
    assert empty(7) == 0
    assert empty(np.arange(3)).tolist() == [0, 0, 0]
    assert idx2crd(0, ()) == ()


@pytest.mark.parametrize(
    ("shape", "stride", "error", "problem"),
    [
        ((4, 8), 1, ProfileError, "differ in profile"),
        (4, (1,), ProfileError, "differ in profile"),
        (((4, 8), (32, 2)), ((512, 1), ((16, 8),)), ProfileError, "differ in profile"),
        ((4, 0), (1, 4), LayoutError, "at least 1, got the shape"),
        (-4, 1, LayoutError, "at least 1, got the shape -4"),
        ((-4, -2), (1, 4), LayoutError, "at least 1"),
        (True, 1, LayoutError, "got bool True"),
        ((4, False), (1, 0), LayoutError, "got bool False"),
        (4, True, LayoutError, "stride must be"),
        ([4, 8], None, LayoutError, "got list"),
        ((4, 8.0), None, LayoutError, "got float 8.0"),
        ("(4,8)", None, LayoutError, "got str"),
        (None, None, LayoutError, "got NoneType"),
    ],
)
def test_what_is_no_layout_is_rejected(shape, stride, error, problem):
    with pytest.raises(error, match=problem):
        Layout(shape, stride)


@pytest.mark.parametrize("given", [("(4,8):(1,4)",), ("(4,8)", "(1,4)"), ((4, 8), "(1,4)"), ("4:1",)])
def test_a_text_given_to_the_constructor_says_how_texts_are_read(given):
    with pytest.raises(LayoutError, match=r"Layout\.parse\('"):
        Layout(*given)


def test_too_deep_a_tuple_is_rejected_before_python_runs_out_of_stack():
    deep = 1
    for _ in range(100_000):
        deep = (deep,)
    with pytest.raises(LayoutError, match="nests deeper than 64"):
        Layout(deep)


def test_layouts_are_values():
    a, b = Layout((4, 8), (8, 1)), Layout((4, 8), (8, 1))
    assert a == b
    assert hash(a) == hash(b)
    assert a != Layout(((4,), 8), ((8,), 1))
    assert a != "(4,8):(8,1)"
    with pytest.raises(FrozenInstanceError):
        a.shape = 3
    assert pickle.loads(pickle.dumps(a)) == copy.deepcopy(a) == a


def test_indexing_a_layout_returns_its_modes():
    assert len(C16x8) == 2
    assert [str(m) for m in C16x8] == ["(4,8):(32,1)", "(2,2):(16,8)"]
    assert C16x8[1] == C16x8[-1] == Layout((2, 2), (16, 8))
    assert Layout(8, 3)[0] == Layout(8, 3)
    with pytest.raises(IndexError):
        C16x8[2]


@pytest.mark.long
@given(hyp.lists(SIGNED, min_size=1, max_size=3))
def test_make_layout_adds_the_values_of_its_modes(parts):
    whole = make_layout(*parts)
    assert list(whole) == parts
    wanted = [0]
    for part in parts:
        wanted = [w + v for v in st.table(part).tolist() for w in wanted]
    assert st.table(whole).tolist() == wanted


@given(SIGNED, hyp.data())
def test_slice_and_offset_fix_some_modes(layout, data):
    """S(x) + o is the layout at the coordinate with x in place of its Nones, left to right."""

    def draw(shape):
        if isinstance(shape, tuple) and data.draw(hyp.booleans()):
            return tuple(map(draw, shape))
        return None if data.draw(hyp.booleans()) else data.draw(hyp.integers(0, st.count(shape) - 1))

    coord = tuple(map(draw, layout.shape)) if isinstance(layout.shape, tuple) else draw(layout.shape)
    rest, offset = slice_and_offset(coord, layout)
    open_shapes = [s for c, s in pair_items(coord, layout.shape) if c is None]
    wanted = []
    for digits in st.flat_coordinates(tuple(open_shapes)):
        items = list(digits)
        wanted.append(layout(fill_items(coord, layout.shape, items)))
    assert (st.table(rest) + offset).tolist() == wanted
    kept = dice(coord, layout)
    assert st.count(rest.shape) * st.count(kept.shape) == size(layout)
    if None in st.flat(coord):
        assert layout(coord) == rest == slice(coord, layout)


def pair_items(coord, shape):
    """Each item of the coordinate with its part of the shape."""
    if isinstance(coord, tuple):
        return [pair for c, s in zip(coord, shape, strict=True) for pair in pair_items(c, s)]
    return [(coord, shape)]


def fill_items(coord, shape, items):
    if isinstance(coord, tuple):
        return tuple(fill_items(c, s, items) for c, s in zip(coord, shape, strict=True))
    return st.nested_like(items, shape) if coord is None else coord


def test_slices_as_cute_prints_them():
    layout = Layout.parse("((3,2),(4,5)):((4,1),(30,7))")
    assert str(layout(None, 3)) == "((3,2)):((4,1))"
    assert str(layout((None, 1), (0, None))) == "(3,5):(4,7)"
    assert str(dice((None, 3), layout)) == "((4,5)):((30,7))"
    assert slice(None, layout) == layout
    assert str(slice((0, 0), layout)) == "():()"
    assert dice(5, layout) == layout
    for call in (lambda: layout(None, 0, 0), lambda: slice(((None, 1, 1), 0), layout)):
        with pytest.raises(LayoutError, match="3 modes"):
            call()


def test_a_domain_offset_keeps_the_layout_and_returns_the_value_there():
    assert domain_offset((2, 3), Layout((4, 8), (8, 1))) == (Layout((4, 8), (8, 1)), 19)


@given(st.shapes())
def test_default_strides_count_colexicographically(shape):
    layout = Layout(shape)
    assert st.table(layout).tolist() == list(range(st.count(shape)))
    assert all(d == 0 for s, d in zip(st.flat(shape), st.flat(layout.stride), strict=True) if s == 1)
    assert compact_col_major(shape) == layout.stride


@pytest.mark.long
@given(st.shapes())
def test_row_major_strides_count_lexicographically(shape):
    layout = Layout(shape, compact_row_major(shape))
    values = {digits: v for digits, v in zip(st.flat_coordinates(shape), st.table(layout).tolist(), strict=True)}
    assert [values[digits] for digits in sorted(values)] == list(range(st.count(shape)))


def test_compact_strides_from_a_start():
    assert compact_col_major((2, 3), 5) == (5, 10)
    assert compact_row_major((2, 3), 5) == (15, 5)
    assert compact_col_major(((2, 3), 4), (1, 100)) == ((1, 2), 100)
    assert compact_row_major(((2, 3), 4), (1, 100)) == ((3, 1), 100)
    with pytest.raises(LayoutError, match="modes"):
        compact_col_major((2, 3), (1, 2, 3))


@given(st.shapes(), hyp.data())
def test_ordered_layouts_count_the_modes_in_their_order(shape, data):
    leaves = st.flat(shape)
    order = data.draw(hyp.permutations(range(len(leaves))))
    layout = make_ordered_layout(shape, st.nested_like(list(order), shape))
    step, strides = 1, [0] * len(leaves)
    for i in sorted(range(len(leaves)), key=lambda i: order[i]):
        strides[i] = 0 if leaves[i] == 1 else step
        step *= leaves[i]
    assert st.flat(layout.stride) == strides
    assert sorted(st.table(layout)) == list(range(st.count(shape)))


def test_orders_of_whole_modes_and_bad_orders():
    assert compact_order(((2, 3), 4), (1, 0)) == ((4, 8), 1)
    assert compact_order((2, 1, 3), (1, 1, 0)) == (3, 0, 1)
    with pytest.raises(LayoutError, match="have the order 1"):
        compact_order((2, 3), (1, 1))
    with pytest.raises(LayoutError, match="modes"):
        compact_order((2, 3), (1, 0, 2))
    with pytest.raises(LayoutError, match="modes"):
        compact_order(6, (1, 0))


@given(st.nested_strides(zeros=True))
def test_layout_like_keeps_the_order_and_closes_the_gaps(layout):
    like = make_layout_like(layout)
    assert like.shape == layout.shape
    pairs = list(zip(st.flat(layout.shape), st.flat(layout.stride), st.flat(like.stride), strict=True))
    assert all(new == 0 for s, old, new in pairs if old == 0 or s == 1)
    kept = sorted((old, new) for s, old, new in pairs if s > 1 and old)
    assert [new for _, new in kept] == sorted(new for _, new in kept)
    copies = st.count(tuple(s for s, old, _ in pairs if old == 0))
    assert sorted(st.table(like).tolist()) == sorted(list(range(size(layout) // copies)) * copies)


@given(st.shapes(), hyp.integers(0, 200))
def test_idx2crd_and_crd2idx_are_inverse(shape, index):
    digits = list(st.flat_coordinates(shape))
    coord = idx2crd(index, shape)
    assert crd2idx(coord, shape) == index
    if index < len(digits):
        assert coord == st.nested_like(list(digits[index]), shape)
        assert crd2crd(index, st.count(shape), shape) == coord
        assert crd2crd(coord, shape, st.count(shape)) == index


@given(st.nested_strides(gap=1))
def test_idx2crd_inverts_compact_strides(layout):
    for index in range(size(layout)):
        coord = idx2crd(index, layout.shape, layout.stride)
        assert sum(c * d for c, d in zip(st.flat(coord), st.flat(layout.stride), strict=True)) == index
        assert crd2idx(coord, layout) == crd2idx(coord, layout.shape, layout.stride) == index


def test_idx2crd_on_arrays_and_tuples():
    rows, columns = idx2crd(np.arange(6), (2, 3))
    assert rows.tolist() == [0, 1, 0, 1, 0, 1]
    assert columns.tolist() == [0, 0, 1, 1, 2, 2]
    assert idx2crd((3, 1), ((2, 2), 4)) == ((1, 1), 1)
    assert idx2crd((3, 8), ((2, 2), 4), ((2, 1), 8)) == ((1, 1), 1)
    assert crd2crd((3, 1), (4, 4), ((2, 2), 4)) == ((1, 1), 1)


@pytest.mark.parametrize(
    ("function", "arguments", "problem"),
    [
        (idx2crd, (5, (4, 8), (1, 8)), "give the index 5 back"),
        (idx2crd, (5, (4, 8), (0, 1)), "positive strides, got 0"),
        (idx2crd, (5, (4, 8), (1, (4,))), "differ in profile"),
        (idx2crd, (5, (4, 0)), "at least 1"),
        (crd2idx, (9, (4, 8), (1,)), "differ in profile"),
        (crd2idx, ((1, 2), (4, 8), 5), "differ in profile"),
        (crd2idx, ((1, 2), 32), "2 modes for the shape 32"),
        (crd2idx, (3, (0, 4)), "at least 1"),
        (crd2idx, (3, (4, "8")), "got str"),
        (idx2crd, ((5, 1, 1), (4, 8)), "3 modes"),
        (idx2crd, (-1, (4, 8)), "negative"),
        (idx2crd, (1, ()), "the index 0 alone"),
        (crd2crd, (3, 4, 8), "differ in size"),
        (crd2crd, ((3, 1), (4, 2), (8,)), "ranks differ"),
    ],
)
def test_what_has_no_coordinate_is_rejected(function, arguments, problem):
    with pytest.raises(LayoutError, match=problem):
        function(*arguments)
