# SPDX-License-Identifier: Apache-2.0
"""Whole domains and many layouts at once, against Layout.__call__ one index at a time."""

from __future__ import annotations

import importlib
from itertools import count
from typing import Any

import array_api_strict
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from layouts import ComposedLayout, Layout, LayoutError, Swizzle, cosize, right_inverse, size
from layouts.batched import Batch, batch, compose, evaluate, stack_layouts, table
from tests.layouts.strategies import flat, layouts, nested_like, profiles

NAMESPACES = pytest.mark.parametrize("xp", [np, array_api_strict], ids=["numpy", "array_api_strict"])
SIGNED = layouts(low=-40)
SWIZZLES = st.sampled_from([Swizzle(0, 0, 0), Swizzle(1, 0, 1), Swizzle(2, 0, 3), Swizzle(2, 1, -2), Swizzle(3, 3, 3)])
HUGE = 2**62


def call(function: Any) -> list[int]:
    """The values one at a time, by plain integers."""
    return [function(i) for i in range(size(function))]


def list_values(array: Any) -> Any:
    return np.asarray(array).tolist()


@st.composite
def composed(draw: st.DrawFn) -> ComposedLayout:
    """Swizzles and layouts around a layout, nested on either side, with offsets."""
    function: Any = draw(layouts())
    for _ in range(draw(st.integers(1, 3))):
        outer: Any = draw(st.one_of(SWIZZLES, layouts()))
        if draw(st.booleans()):
            outer = ComposedLayout(outer, draw(st.integers(0, 9)), draw(layouts()))
        function = ComposedLayout(outer, draw(st.integers(0, 9)), function)
    return function


@st.composite
def same_rank(draw: st.DrawFn, count: int = 4) -> list[Layout]:
    """Layouts of one rank, their extents and strides different."""
    modes = draw(st.integers(1, 4))
    profile = draw(profiles(modes))
    row = st.tuples(
        st.lists(st.integers(1, 5), min_size=modes, max_size=modes),
        st.lists(st.integers(-9, 40), min_size=modes, max_size=modes),
    )
    rows = draw(st.lists(row, min_size=1, max_size=count))
    return [Layout(nested_like(s[:], profile), nested_like(d[:], profile)) for s, d in rows]


@pytest.mark.long
@NAMESPACES
@given(function=st.one_of(SIGNED, composed()))
def test_every_value_is_that_of_the_call(xp: Any, function: Any) -> None:
    made = batch(function, xp)
    assert list_values(made.values()) == list_values(made.values(narrow=True)) == call(function)
    assert made.low <= min(call(function)) and max(call(function)) <= made.high


@pytest.mark.long
@NAMESPACES
@given(function=st.one_of(SIGNED, composed()), data=st.data())
def test_any_range_of_a_domain_is_that_part_of_it(xp: Any, function: Any, data: st.DataObject) -> None:
    stop = data.draw(st.integers(0, size(function)))
    start = data.draw(st.integers(0, stop))
    assert list_values(batch(function, xp).values(start, stop)) == call(function)[start:stop]


@given(
    function=st.one_of(SIGNED, composed()),
    line=st.sampled_from([1, 2, 3, 7, 64]),
    kept=st.sampled_from([0, 2**20]),
    points=st.integers(1, 30),
)
def test_blocks_are_the_domain_wherever_the_tables_are_cut(function: Any, line: int, kept: int, points: int) -> None:
    """Modes are cut, and longer tables are computed digit by digit, on tiny layouts as on large ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluate, "LINE", line)
        patch.setattr(evaluate, "TABLE", kept)
        blocks = [(start, list_values(values)) for start, values in batch(function).blocks(8 * points)]
    assert [start for start, _ in blocks] == list(range(0, size(function), points))
    assert all(len(values) <= points for _, values in blocks)
    assert [value for _, values in blocks for value in values] == call(function)


@pytest.mark.long
@NAMESPACES
@given(rows=same_rank())
def test_layouts_of_one_rank_are_rows(xp: Any, rows: list[Layout]) -> None:
    made = batch(rows, xp)
    assert made.count == len(rows) and made.size == max(map(size, rows))
    for values in (made.values(), made.values(narrow=True)):
        assert [row[: size(layout)] for row, layout in zip(list_values(values), rows, strict=True)] == [
            call(layout) for layout in rows
        ]
    assert [list_values(made.row(k).values()) for k in range(len(rows))] == [call(layout) for layout in rows]
    assert list_values(xp.asarray(made.sizes) + xp.zeros((len(rows),), dtype=xp.int64)) == [
        size(layout) for layout in rows
    ]
    assert list_values(xp.asarray(made.cosizes)) == [cosize(layout) for layout in rows]


@given(rows=same_rank(), data=st.data())
def test_some_rows_are_a_batch_of_them(rows: list[Layout], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(rows) - 1))
    part = batch(rows).rows(slice(start, start + 2))
    assert part.count == len(rows[start : start + 2])
    assert [row[: size(layout)] for row, layout in zip(list_values(part.values()), rows[start:], strict=False)] == [
        call(layout) for layout in rows[start : start + 2]
    ]


@pytest.mark.long
@NAMESPACES
@given(outer=layouts(), inner=layouts())
def test_a_composition_is_the_outer_function_of_the_inner(xp: Any, outer: Layout, inner: Layout) -> None:
    assert list_values(compose(outer, inner, xp).values()) == [outer(inner(i)) for i in range(size(inner))]


@pytest.mark.long
@given(outer=SWIZZLES, inner=composed())
def test_swizzles_and_composed_layouts_compose(outer: Swizzle, inner: ComposedLayout) -> None:
    both = compose(outer, inner)
    assert list_values(both.values()) == [outer(inner(i)) for i in range(size(inner))]
    again = compose(inner, Layout(size(inner)))
    assert list_values(again.values()) == call(inner)


@given(rows=same_rank(), inner=layouts())
def test_rows_compose_with_one_function_and_with_rows(rows: list[Layout], inner: Layout) -> None:
    natural = [
        Layout(layout.shape, nested_like([abs(d) for d in flat(layout.stride)], layout.stride)) for layout in rows
    ]
    after = compose(batch(rows), inner)
    assert after.count == compose(inner, batch(natural)).count == len(rows) and compose(inner, inner).count is None
    assert list_values(after.values()) == [[layout(inner(i)) for i in range(size(inner))] for layout in rows]
    before = list_values(compose(inner, batch(natural)).values())
    both = list_values(compose(batch(rows), batch(natural)).values())
    for k, layout in enumerate(natural):
        assert before[k][: size(layout)] == [inner(layout(i)) for i in range(size(layout))]
        assert both[k][: size(layout)] == [rows[k](layout(i)) for i in range(size(layout))]


@pytest.mark.long
@NAMESPACES
@given(function=st.one_of(SIGNED, composed()))
def test_a_table_has_one_axis_for_each_mode(xp: Any, function: Any) -> None:
    values = np.asarray(table(function, xp))
    assert values.shape == tuple(size(mode) for mode in function)
    assert values.ravel(order="F").tolist() == call(function)


@given(function=st.one_of(SIGNED, composed()), data=st.data())
def test_arrays_of_indices_have_the_values_of_their_form(function: Any, data: st.DataObject) -> None:
    index = np.array(data.draw(st.lists(st.integers(0, size(function) - 1), min_size=6, max_size=6))).reshape(2, 3)
    assert list_values(batch(function).at(index)) == [[function(int(i)) for i in row] for row in index]
    for outside in (-1, size(function)):
        with pytest.raises(LayoutError, match="within 0"):
            batch(function).at(np.array([outside]))


@pytest.mark.parametrize(
    ("function", "values"),
    [
        (Layout(()), [0]),
        (Layout(1, 2**70), [0]),
        (Layout((1, 3), (2**70, 5)), [0, 5, 10]),
        (Layout((2, 2), (0, 0)), [0, 0, 0, 0]),
        (Layout((3, 2), (-4, 1)), [0, -4, -8, 1, -3, -7]),
        (Layout((2, 1, 2), (HUGE - 1, 9, 1)), [0, HUGE - 1, 1, HUGE]),
        (ComposedLayout(Layout((4, 2), (1, 2**70)), 1, Layout(3)), [1, 2, 3]),
        (ComposedLayout(Layout((2**70, 2), (3, 1)), 0, Layout(3)), [0, 3, 6]),
        (ComposedLayout(Swizzle(1, 40, 1), 2**41, Layout(2)), [2**41 + 2**40, 2**41 + 2**40 + 1]),
    ],
    ids=str,
)
@NAMESPACES
def test_ones_zeros_and_large_numbers(xp: Any, function: Any, values: list[int]) -> None:
    assert list_values(batch(function, xp).values()) == list_values(batch(function, xp).values(narrow=True)) == values
    assert np.asarray(table(function, xp)).ravel(order="F").tolist() == values


@pytest.mark.parametrize(("limit", "dtype"), [(2**31 - 2, "int32"), (2**31 - 1, "int64"), (2**40, "int64")])
def test_narrow_values_are_narrow_only_where_all_fit(limit: int, dtype: str) -> None:
    for made in (batch(Layout((2, 2), (limit - 1, 1))), batch([Layout((2, 2), (limit - 1, 1))])):
        assert str(made.values(narrow=True).dtype) == dtype and made.values().dtype == np.int64
        assert made.values(narrow=True).max() == limit
    assert batch(Layout(2**31, 0)).values(5, 7, narrow=True).tolist() == [0, 0]
    assert batch(Layout(2, -limit - 2)).values(narrow=True).tolist() == [0, -limit - 2]
    assert batch([Layout((1, 2), (limit + 3, 1))]).values(narrow=True).tolist() == [[0, 1]]
    far = ComposedLayout(Swizzle(2, 0, 40), 0, Layout(8, 1))  # it reads bits that no narrow value has
    assert batch(far).values(narrow=True).tolist() == [*range(8)]
    small = compose(Layout((4, 2), (1, 0)), Layout(2, limit + 3))  # the index in between is larger than every value
    assert small.values(narrow=True).tolist() == [0, (limit + 3) % 4]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: batch(Layout((2, 2), (HUGE, HUGE))),
        lambda: batch(Layout((3, 2), (HUGE, -HUGE))),
        lambda: batch(Layout(2, 2**63)),
        lambda: batch(Layout(2, -(2**63))),
        lambda: batch(Layout(2**64, 0)),
        lambda: batch([Layout(4, HUGE), Layout(2, 1)]),
        lambda: batch([Layout((2**32, 2**32), (0, 0)), Layout((2, 2**32), (0, 0))]),
        lambda: batch([Layout(2, 2**64)]),
        lambda: stack_layouts([[2], [2**20]], [[2**44], [2**44]]),
        lambda: stack_layouts([[2, 8, 1], [8, 2, 1]], [[1, 2**61, 0], [1, 1, 0]]),  # the second mode of the first row
        lambda: batch(ComposedLayout(Layout((4, 2), (1, HUGE)), 0, Layout(3, 4))),
        lambda: batch(ComposedLayout(Swizzle(0, 0, 0), 2**63, Layout(3, 4))),
        lambda: table(Layout((2, 2), (HUGE, HUGE))),
        lambda: compose(Layout(4, HUGE), Layout(3)),
    ],
    ids=count(),
)
def test_more_than_64_bits_are_an_error(wrong: Any) -> None:
    with pytest.raises(LayoutError, match="64 bits"):
        wrong()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: batch(ComposedLayout(Swizzle(1, 0, 1), 0, Layout(4, -1))), "natural"),
        (lambda: compose(Layout(4), Layout(4, -1)), "negative"),
        (lambda: stack_layouts([[2, 0]], [[1, 1]]), "at least 1"),
        (lambda: stack_layouts([[2, 1]], [[1]]), "form"),
        (lambda: stack_layouts([2, 1], [1, 2]), "form"),
        (lambda: batch([Layout(4), Layout((2, 2))]), "one rank"),
        (lambda: batch([]), "one rank"),
        (lambda: compose([Layout(4)] * 2, [Layout(4)] * 3), "correspond"),
        (lambda: batch(Layout(4)).values(2, 5), "range 2 .. 5 is not within 0 .. 4"),
        (lambda: batch(Layout(4)).values(-1, 2), "not within"),
        (lambda: batch(ComposedLayout(Swizzle(1, 0, 1), 0, Layout(4))).cosizes, "no cosize"),
    ],
    ids=count(),
)
def test_what_cannot_be_evaluated_is_an_error(wrong: Any, words: str) -> None:
    with pytest.raises(LayoutError, match=words):
        wrong()


def test_rows_of_fewer_indices_cannot_overflow_unnoticed() -> None:
    """The last mode of the shorter row continues to the size of the longer, where its values would need 70 bits."""
    with pytest.raises(LayoutError, match="64 bits"):
        batch([Layout((1, 2), (1, 2**50)), Layout((2**10, 2**10), (1, 1))])


def test_what_a_caller_writes_changes_no_later_value() -> None:
    made = batch(Layout((4, 8), (8, 1)))
    first = made.values()
    first[...] = -1
    assert made.values().tolist() == call(Layout((4, 8), (8, 1)))


def test_memory_is_bounded_by_the_budget() -> None:
    """A domain of 2^40 points: its first and last blocks hold no more than they should."""
    made = batch(Layout((2**20, 2**20), (2**20, 1)))
    blocks = made.blocks(1 << 12)
    start, values = next(blocks)
    assert start == 0 and values.nbytes <= 1 << 12
    assert made.values(2**40 - 2, 2**40).tolist() == [(2**20 - 2) * 2**20 + 2**20 - 1, 2**40 - 1]
    prime = batch(Layout((1_000_003, 1_000_003), (1_000_003, 1)))
    assert prime.values(10**12, 10**12 + 2).tolist() == [prime_value(10**12), prime_value(10**12 + 1)]


def prime_value(index: int) -> int:
    return index % 1_000_003 * 1_000_003 + index // 1_000_003


def test_an_inverse_is_evaluated_as_every_layout() -> None:
    layout = Layout(((4, 8), (2, 2)), ((32, 1), (16, 8)))
    assert compose(layout, right_inverse(layout)).values().tolist() == list(range(128))


def test_a_batch_is_used_as_it_is() -> None:
    made = batch(Layout(4))
    assert batch(made) is made and isinstance(made, Batch)


@pytest.mark.gpu
@given(function=st.one_of(SIGNED, composed()), rows=same_rank(), inner=layouts())
def test_cupy_computes_the_same(function: Any, rows: list[Layout], inner: Layout) -> None:
    cupy = importlib.import_module("cupy")
    for on_gpu, here in ((batch(function, cupy), batch(function)), (batch(rows, cupy), batch(rows))):
        assert on_gpu.values().get().tolist() == here.values().tolist()
        blocks = [(start, values.get().tolist()) for start, values in on_gpu.blocks(80)]
        assert blocks == [(start, values.tolist()) for start, values in here.blocks(80)]
    assert table(function, cupy).get().tolist() == table(function).tolist()
    assert compose(inner, inner, cupy).values().get().tolist() == compose(inner, inner).values().tolist()
