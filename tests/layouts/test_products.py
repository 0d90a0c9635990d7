# SPDX-License-Identifier: Apache-2.0
"""Products against their definition: copies of a block at distances found by counting, not by a layout."""

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as hyp

from layouts import (
    ComposedLayout,
    Layout,
    LayoutError,
    Swizzle,
    blocked_product,
    compatible,
    flat_product,
    logical_product,
    raked_product,
    size,
    tile_to_shape,
    tiled_product,
    zipped_product,
)
from tests.layouts import strategies as st
from tests.layouts.test_divide import gather, translations
from tests.layouts.test_swizzle import swizzle_value, swizzles

PRODUCTS = [logical_product, zipped_product, tiled_product, flat_product, blocked_product, raked_product]


def distances(block, count):
    """The first ``count`` distances of copies: digits below d // end in each gap of the block, the last unbounded."""
    gaps, end = [], 1
    for d, s in sorted(zip(st.flat(block.stride), st.flat(block.shape), strict=True)):
        if d and s > 1:
            gaps.append((d // end, end))
            end = s * d
    distances_of = []
    for i in range(count):
        total, rest = 0, i
        for n, weight in gaps:
            rest, digit = divmod(rest, n)
            total += digit * weight
        distances_of.append(total + rest * end)
    return distances_of


def injective(layout):
    return len(set(st.table(layout).tolist())) == size(layout)


def product_table(block, tiler):
    """[place in the block, copy]: A(i) + A*(T(j)); the tiler is a layout, int or None."""
    if tiler is None:
        return st.table(block)[:, None]
    copies = st.table(Layout(tiler) if isinstance(tiler, int) else tiler).tolist()
    spots = distances(block, max(copies) + 1)
    return st.table(block)[:, None] + np.array([spots[c] for c in copies])[None, :]


def blocks(**limits):
    """Blocks with and without gaps, padding and repetition."""
    return hyp.one_of(st.nested_strides(2, True, **limits), st.nested_strides(1, **limits), padded(**limits))


@hyp.composite
def padded(draw, max_leaves=3, max_size=24):
    """Blocks whose gaps are not filled evenly: each stride is a little beyond what lies before it."""
    extents = draw(st.extents(max_leaves, max_size))
    strides, end = [], 1
    for s in extents:
        strides.append(end + draw(hyp.integers(0, 2)))
        end = strides[-1] * s
    return Layout(tuple(extents), tuple(strides))


@given(padded(), hyp.integers(1, 20))
def test_the_distances_used_here_keep_copies_disjoint_and_fill_even_gaps(block, count):
    apart = distances(block, count)
    image = set(st.table(block).tolist())
    copies = [{x + d for x in image} for d in apart]
    assert sum(map(len, copies)) == len(set().union(*copies))
    assert apart == sorted(set(apart))
    least = translations(sorted(image), apart[-1] + 1)
    assert least is None or least == apart


@pytest.mark.long
@given(blocks(max_size=24), hyp.one_of(st.nested_strides(2, max_size=12), st.layouts(high=12, max_size=12)))
def test_logical_product_is_the_block_and_its_copies(block, tiler):
    try:
        result = logical_product(block, tiler)
    except LayoutError:
        reject()
    assert len(result) == 2
    assert result[0] == block
    assert compatible(tiler.shape, result[1].shape)
    assert st.table(result).tolist() == product_table(block, tiler).T.ravel().tolist()
    if injective(block) and injective(tiler):
        assert injective(result)


@given(st.nested_strides(1, max_size=24), st.layouts(high=12, max_size=12))
def test_copies_of_a_compact_block_are_never_rejected(block, tiler):
    assert st.table(logical_product(block, tiler)).tolist() == product_table(block, tiler).T.ravel().tolist()


@pytest.mark.parametrize("product", PRODUCTS)
def test_overlapping_blocks_are_rejected(product):
    with pytest.raises(LayoutError, match="overlap"):
        product(Layout((2, 2), (1, 1)), Layout(2))


@pytest.mark.parametrize("product", PRODUCTS)
def test_copies_that_carry_across_a_gap_are_rejected(product):
    # 6:3 leaves the distances 0, 1, 2, 18, ...: copy 3 is 18 away, which (2,2):(1,2) cannot say by strides alone.
    with pytest.raises(LayoutError, match="carries"):
        product(Layout(6, 3), Layout((2, 2), (1, 2)))


@pytest.mark.parametrize("product", [logical_product, zipped_product, tiled_product, flat_product])
def test_an_int_is_a_number_of_copies_and_a_tuple_may_not_have_more_modes(product):
    assert st.table(product(Layout(4, 2), 4)).tolist() == product_table(Layout(4, 2), 4).T.ravel().tolist()
    with pytest.raises(LayoutError, match=r"2 modes .* which has 1"):
        product(Layout(8), (2, 2))


@hyp.composite
def by_mode(draw):
    """A block, and a tiler for its first modes: counts, layouts and None."""
    modes = draw(hyp.lists(st.nested_strides(1, max_leaves=2, max_size=6), min_size=1, max_size=3))
    block = Layout(tuple(m.shape for m in modes), tuple(m.stride for m in modes))
    tiler = hyp.one_of(hyp.integers(1, 4), st.nested_strides(2, max_leaves=2, max_size=4), hyp.none())
    return block, tuple(draw(hyp.lists(tiler, min_size=1, max_size=len(modes))))


@given(by_mode())
def test_tuples_repeat_mode_by_mode_and_gather_blocks_and_copies(pair):
    block, tiler = pair
    tables = [product_table(m, t) for m, t in zip(block, tiler, strict=False)]
    beyond = [st.table(m) for m in list(block)[len(tiler) :]]
    expected = gather(tables, beyond).tolist()
    zipped = zipped_product(block, tiler)
    tiled = tiled_product(block, tiler)
    flat = flat_product(block, tiler)
    for result in (zipped, tiled, flat):
        assert st.table(result).tolist() == expected
    assert (len(zipped), len(zipped[0]), len(zipped[1])) == (2, len(tiler), len(block))
    assert (tiled.shape[0], tiled.shape[1:]) == zipped.shape
    assert flat.shape == zipped.shape[0] + zipped.shape[1]
    in_place = [t.T.reshape(-1, 1) for t in tables] + [b[:, None] for b in beyond]
    assert st.table(logical_product(block, tiler)).tolist() == gather(in_place).tolist()


def coordinates(extents):
    return [c[::-1] for c in np.ndindex(*reversed(extents))]


def padded_to(layout, rank):
    modes = list(layout)
    return [size(m) for m in modes] + [1] * (rank - len(modes))


@given(blocks(max_leaves=3, max_size=12), st.nested_strides(1, max_leaves=3, max_size=12))
def test_blocked_and_raked_products_place_copies_side_by_side_or_interleaved(block, tiler):
    rank = max(len(block), len(tiler))
    b, t = padded_to(block, rank), padded_to(tiler, rank)
    try:
        blocked, raked = blocked_product(block, tiler), raked_product(block, tiler)
    except LayoutError:
        with pytest.raises(LayoutError):
            logical_product(block, tiler)
        return
    assert [size(m) for m in blocked] == [size(m) for m in raked] == [x * y for x, y in zip(b, t, strict=True)]
    copies = st.table(tiler).tolist()
    spots = distances(block, max(copies) + 1)
    values = st.table(block).tolist()
    for i, inside in enumerate(coordinates(b)):
        for j, outside in enumerate(coordinates(t)):
            value = values[i] + spots[copies[j]]
            side_by_side = [x + n * y for x, n, y in zip(inside, b, outside, strict=True)]
            interleaved = [y + n * x for x, n, y in zip(inside, t, outside, strict=True)]
            assert blocked(*side_by_side) == value
            assert raked(*interleaved) == value


@given(st.nested_strides(1, max_leaves=3, max_size=12), hyp.data())
def test_tile_to_shape_fills_the_shape_in_the_order_given(block, data):
    rank = len(block) + data.draw(hyp.integers(0, 1))
    inside = padded_to(block, rank)
    counts = [data.draw(hyp.integers(1, 3)) for _ in inside]
    order = data.draw(hyp.one_of(hyp.none(), hyp.permutations(range(rank)).map(tuple)))
    shape = tuple(n * c for n, c in zip(inside, counts, strict=True))
    result = tile_to_shape(block, shape, order)
    assert compatible(shape, result.shape)
    steps, step = [0] * rank, 1
    for mode in sorted(range(rank), key=(order or range(rank)).__getitem__):
        steps[mode] = step
        step *= counts[mode]
    spots = distances(block, step)
    values = dict(zip(coordinates(inside), st.table(block).tolist(), strict=True))
    for c in coordinates(shape):
        copy = sum(x // n * d for x, n, d in zip(c, inside, steps, strict=True))
        assert result(*c) == values[tuple(x % n for x, n in zip(c, inside, strict=True))] + spots[copy]


@pytest.mark.parametrize(
    ("block", "shape", "why"),
    [
        (Layout((2, 2)), 8, "rank 2"),
        (Layout((2, 3)), (4, 8), "in mode 1, 3 does not divide 8"),
        (Layout((4, 2)), ((2, 4), 8), "nested shape"),
        (Layout((2, 2), (1, 1)), (4, 4), "overlap"),
    ],
)
def test_tile_to_shape_names_what_does_not_fit(block, shape, why):
    with pytest.raises(LayoutError, match=why):
        tile_to_shape(block, shape)


def test_tile_to_shape_of_a_nested_shape_that_its_copies_refine():
    assert str(tile_to_shape(Layout(2), ((2, 4),))) == "((2,4)):((1,2))"


@pytest.mark.long
@given(swizzles(), hyp.integers(0, 9), by_mode())
def test_a_composed_layout_is_repeated_inside(swizzle, offset, pair):
    block, tiler = pair
    tables = [product_table(m, t) for m, t in zip(block, tiler, strict=False)]
    expected = gather(tables, [st.table(m) for m in list(block)[len(tiler) :]]).tolist()
    result = zipped_product(ComposedLayout(swizzle, offset, block), tiler)
    assert [result(c) for c in range(size(result))] == [swizzle_value(swizzle, offset + v) for v in expected]


def test_a_swizzled_atom_tiles_a_stage_of_shared_memory():
    atom = ComposedLayout(Swizzle(3, 3, 3), 0, Layout((8, 64), (64, 1)))
    stage = tile_to_shape(atom, (128, 128, 3))
    assert str(stage) == "Sw<3,3,3> o 0 o ((8,16),(64,2),(1,3)):((64,512),(1,8192),(0,16384))"
    values = stage(np.arange(size(stage)))
    assert sorted(values.tolist()) == list(range(128 * 128 * 3))
    assert stage(13, 70, 2) == 512 + 8192 + 2 * 16384 + atom(5, 6)


@pytest.mark.parametrize(
    ("product", "text"),
    [
        (logical_product, "((2,5),(3,4)):((5,1),(10,30))"),
        (zipped_product, "((2,5),(3,4)):((5,1),(10,30))"),
        (tiled_product, "((2,5),3,4):((5,1),10,30)"),
        (flat_product, "(2,5,3,4):(5,1,10,30)"),
        (blocked_product, "((2,3),(5,4)):((5,10),(1,30))"),
        (raked_product, "((3,2),(4,5)):((10,5),(30,1))"),
    ],
)
def test_shapes_of_the_six_products(product, text):
    assert str(product(Layout((2, 5), (5, 1)), Layout((3, 4)))) == text


def test_a_padded_block_repeats_after_its_padding():
    # CuTe counts the copies from the sizes alone and returns ((2,2),2):((2,6),2) here, which collides.
    assert str(logical_product(Layout((2, 2), (2, 6)), Layout(2, 2))) == "((2,2),2):((2,6),12)"
    assert str(logical_product(Layout((8, 8), (1, 9)), 2)) == "((8,8),2):((1,9),72)"
