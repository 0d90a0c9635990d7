# SPDX-License-Identifier: Apache-2.0
"""Divides against their definition: tiles by translating a list of indices until every index is covered."""

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as hyp

from layouts import (
    ComposedLayout,
    Layout,
    LayoutError,
    Swizzle,
    flat_divide,
    logical_divide,
    rank,
    size,
    tiled_divide,
    zipped_divide,
)
from tests.layouts import strategies as st
from tests.layouts.test_swizzle import swizzle_value, swizzles

DIVIDES = [logical_divide, zipped_divide, tiled_divide, flat_divide]


def translations(tile, stop):
    """The least distances, in order, by which disjoint copies of the tile cover [0, stop); None if they cannot."""
    places = set(tile)
    covered, distances = set(), []
    for x in range(stop):
        if x not in covered:
            copy = {x + t for t in places}
            if copy & covered:
                return None
            covered |= copy
            distances.append(x)
    return distances


def tile_table(layout, tiler):
    """[place in the tile, tile]: the values A(T(t) + distance), by definition; the tiler is a layout, int or None."""
    if tiler is None:
        return st.table(layout)[:, None]
    tile = st.table(Layout(tiler) if isinstance(tiler, int) else tiler).tolist()
    distances = translations(tile, st.count(layout.shape))
    return np.array([[st.value_at(layout, t + d) for d in distances] for t in tile])


def gather(tables, beyond=()):
    """All places of all modes, leftmost fastest, then all tiles and undivided modes, leftmost fastest."""
    values = np.zeros((1, 1), dtype=np.int64)
    for part in [*tables, *(b[None, :] for b in beyond)]:
        summed = part[:, None, :, None] + values[None, :, None, :]
        values = summed.reshape(part.shape[0] * values.shape[0], -1)
    return values.T.ravel()


def in_place(layout, tiler):
    """Mode by mode, leftmost fastest: in each mode the places in the tile, then its tiles."""
    if not isinstance(tiler, tuple):
        return tile_table(layout, tiler).T.ravel()
    modes = [in_place(m, t) for m, t in zip(layout, tiler, strict=False)]
    modes += [st.table(m) for m in list(layout)[len(tiler) :]]
    return gather([m[:, None] for m in modes])


def tilers():
    """Tiles whose translates cover every range."""
    return st.nested_strides(2, max_leaves=2, max_size=12)


@given(hyp.one_of(st.nested_strides(2, True, max_size=48), st.layouts(max_size=48)), tilers())
def test_logical_divide_lists_the_tiles_in_order(layout, tiler):
    try:
        result = logical_divide(layout, tiler)
    except LayoutError:
        reject()
    expected = tile_table(layout, tiler)
    values = st.table(result).reshape(-1, expected.shape[0]).T
    assert rank(result) == 2
    assert st.table(result[0]).tolist() == expected[:, 0].tolist()
    assert values[:, : expected.shape[1]].tolist() == expected.tolist()


@given(st.nested_strides(1, max_leaves=1), tilers())
def test_a_layout_of_one_mode_is_always_divided_and_each_index_falls_into_one_tile(layout, tiler):
    result = logical_divide(layout, tiler)
    values = st.table(result).tolist()
    assert len(set(values)) == len(values)
    assert set(range(size(layout))) <= set(values)


@pytest.mark.parametrize("divide", DIVIDES)
def test_tiles_that_leave_holes_are_rejected(divide):
    with pytest.raises(LayoutError, match="does not divide"):
        divide(Layout(6), Layout((2, 2), (1, 3)))


@pytest.mark.parametrize("divide", DIVIDES)
def test_a_tile_that_is_no_layout_in_the_given_one_is_rejected(divide):
    # Index 4 of the tile 8:1 is row 0 of column 1, so (6,4):(1,100) would have to jump inside the tile.
    with pytest.raises(LayoutError, match="carries"):
        divide(Layout((6, 4), (1, 100)), 8)


@pytest.mark.parametrize("divide", DIVIDES)
def test_a_tiler_of_more_modes_is_rejected(divide):
    with pytest.raises(LayoutError, match=r"2 modes .* which has 1"):
        divide(Layout(8), (2, 2))


@hyp.composite
def by_mode(draw):
    """A layout, and a tiler for its first modes whose tiles divide them: ints, layouts, None, and tuples of such."""
    left = 200

    def factor():
        nonlocal left
        n = draw(hyp.integers(1, min(3, left)))
        left //= n
        return n

    def mode(nested):
        kind = draw(hyp.integers(0, 3 if nested else 2))
        if kind == 3:
            parts = [mode(False) for _ in range(draw(hyp.integers(1, 2)))]
            extra = (factor(),) * draw(hyp.integers(0, 1))
            return tuple(p[0] for p in parts) + extra, tuple(p[1] for p in parts)
        tile, step, tiles = factor(), factor(), factor()
        tiler = [tile, Layout(tile, step), None][kind]
        return tile * step * tiles, tiler

    modes = [mode(True) for _ in range(draw(hyp.integers(1, 3)))]
    shape = tuple(m[0] for m in modes) + (factor(),) * draw(hyp.integers(0, 1))
    strides = [draw(hyp.integers(0, 30)) for _ in st.flat(shape)]
    return Layout(shape, st.nested_like(strides, shape)), tuple(m[1] for m in modes)


def mode_table(layout, tiler):
    if not isinstance(tiler, tuple):
        return tile_table(layout, tiler)
    pairs = [mode_table(m, t) for m, t in zip(layout, tiler, strict=False)]
    beyond = [st.table(m) for m in list(layout)[len(tiler) :]]
    places = int(np.prod([p.shape[0] for p in pairs]))
    return gather(pairs, beyond).reshape(-1, places).T


@given(by_mode())
def test_tuples_divide_mode_by_mode_and_gather_tiles_and_rests(pair):
    layout, tiler = pair
    expected = mode_table(layout, tiler).T.ravel().tolist()
    zipped = zipped_divide(layout, tiler)
    tiled = tiled_divide(layout, tiler)
    flat = flat_divide(layout, tiler)
    for result in (zipped, tiled, flat):
        assert st.table(result).tolist() == expected
    assert len(zipped) == 2
    assert len(zipped[0]) == len(tiler)
    assert len(zipped[1]) == len(layout)
    assert (tiled.shape[0], tiled.shape[1:]) == zipped.shape
    assert flat.shape == zipped.shape[0] + zipped.shape[1]


@given(by_mode())
def test_logical_divide_by_a_tuple_divides_each_mode_in_place(pair):
    layout, tiler = pair
    result = logical_divide(layout, tiler)
    assert len(result) == len(layout)
    assert st.table(result).tolist() == in_place(layout, tiler).tolist()
    assert list(result)[len(tiler) :] == list(layout)[len(tiler) :]


def test_none_takes_the_whole_mode_into_the_tile():
    layout = Layout.parse("((4,2),6):((1,24),4)")
    assert str(zipped_divide(layout, (None, 2))) == "(((4,2),2),(1,3)):(((1,24),4),(0,8))"
    assert zipped_divide(layout, None)[0] == layout
    assert str(zipped_divide(layout, None)[1]) == "1:0"
    assert logical_divide(layout, None) == layout
    assert str(logical_divide(layout, (None, 2))) == "((4,2),(2,3)):((1,24),(4,8))"


def test_tiles_that_do_not_divide_go_beyond_the_last_mode():
    assert str(logical_divide(Layout(10), 4)) == "(4,3):(1,4)"
    assert str(zipped_divide(Layout((10, 6)), (4, 4))) == "((4,4),(3,2)):((1,10),(4,40))"


@given(swizzles(), hyp.integers(0, 9), by_mode())
def test_a_composed_layout_is_divided_inside(swizzle, offset, pair):
    layout, tiler = pair
    expected = mode_table(layout, tiler).T.ravel().tolist()
    for divide in (zipped_divide, tiled_divide, flat_divide):
        result = divide(ComposedLayout(swizzle, offset, layout), tiler)
        assert [result(c) for c in range(size(result))] == [swizzle_value(swizzle, offset + v) for v in expected]


@pytest.mark.parametrize(
    ("divide", "text"),
    [
        (logical_divide, "((4,2),(2,3),5):((1,4),(24,8),48)"),
        (zipped_divide, "((4,2),(2,3,5)):((1,24),(4,8,48))"),
        (tiled_divide, "((4,2),2,3,5):((1,24),4,8,48)"),
        (flat_divide, "(4,2,2,3,5):(1,24,4,8,48)"),
    ],
)
def test_shapes_of_the_four_divides(divide, text):
    assert str(divide(Layout((8, 6, 5)), (4, Layout(2, 3)))) == text


def test_a_swizzled_shared_memory_tile_keeps_its_swizzle():
    atom = ComposedLayout(Swizzle(3, 4, 3), 0, Layout((8, 64), (64, 1)))
    tiles = zipped_divide(atom, (8, 16))
    assert str(tiles) == "Sw<3,4,3> o 0 o ((8,16),(1,4)):((64,1),(0,16))"
    assert tiles((3, 5), (0, 2)) == atom(3, 37)
