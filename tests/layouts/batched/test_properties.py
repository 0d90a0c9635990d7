# SPDX-License-Identifier: Apache-2.0
"""Properties of whole domains against their definitions, by plain integers from Layout.__call__."""

from __future__ import annotations

import importlib
import tracemalloc
from collections import Counter
from typing import Any

import array_api_strict
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from layouts import ComposedLayout, Layout, LayoutError, Swizzle, left_inverse, right_inverse, size
from layouts.batched import (
    batch,
    counts,
    first_difference,
    first_not_inverse,
    first_outside,
    first_repeat,
    inverse,
    is_bijection,
    stack_layouts,
)
from tests.layouts.strategies import layouts, nested_strides

NAMESPACES = st.sampled_from([np, array_api_strict])
BUDGETS = st.sampled_from([8, 24, 80, 1 << 24])  # bytes: blocks of 1, 3 and 10 points, and of all
FUNCTIONS = st.one_of(
    layouts(low=-9, max_size=60),
    nested_strides(1, max_size=60),
    st.builds(ComposedLayout, st.just(Swizzle(2, 0, 2)), st.integers(0, 3), layouts(max_size=60)),
)
MODES = st.tuples(st.sampled_from([1, 2, 3, 4]), st.integers(-4, 8))
ROWS = st.integers(1, 3).flatmap(
    lambda rank: st.lists(st.lists(MODES, min_size=rank, max_size=rank), min_size=1, max_size=5)
)


def call(function: Any) -> list[int]:
    return [function(i) for i in range(size(function))]


def rows(modes: list[list[tuple[int, int]]]) -> list[Layout]:
    return [Layout(tuple(s for s, _ in row), tuple(d for _, d in row)) for row in modes]


def find_first(bad: list[bool]) -> int | None:
    return next((i for i, is_bad in enumerate(bad) if is_bad), None)


def of_rows(indices: list[int | None]) -> list[int]:
    return [-1 if index is None else index for index in indices]


def find_repeated(values: list[int]) -> int | None:
    return find_first([value in values[:i] for i, value in enumerate(values)])


def different(left: list[int], right: list[int]) -> int | None:
    n = max(len(left), len(right))
    return find_first([i >= len(left) or i >= len(right) or left[i] != right[i] for i in range(n)])


def list_values(array: Any) -> Any:
    return np.asarray(array).tolist()


@pytest.mark.long
@given(f=FUNCTIONS, g=FUNCTIONS, xp=NAMESPACES, budget=BUDGETS, data=st.data())
def test_the_properties_of_a_function_are_those_of_its_list_of_values(
    f: Any, g: Any, xp: Any, budget: int, data: st.DataObject
) -> None:
    values, stop = call(f), data.draw(st.integers(1, 40))
    outside = find_first([not 0 <= value < stop for value in values])
    assert first_outside(f, stop, xp, budget) == outside
    assert first_repeat(f, xp, budget) == find_repeated(values)
    assert first_difference(f, g, xp, budget) == different(values, call(g))
    assert first_difference(f, f, xp, budget) is None
    assert is_bijection(f, xp, budget) == (sorted(values) == list(range(len(values))))
    assert list_values(counts(f, stop, xp, budget)) == [Counter(values)[value] for value in range(stop)]
    places = [values.index(value) if value in values else -1 for value in range(stop)]
    assert list_values(inverse(f, stop, xp, budget)) == places


@pytest.mark.long
@given(modes=ROWS, xp=NAMESPACES, budget=BUDGETS, data=st.data())
def test_the_properties_of_rows_are_those_of_each_row(
    modes: list[list[tuple[int, int]]], xp: Any, budget: int, data: st.DataObject
) -> None:
    each, stop = rows(modes), data.draw(st.integers(1, 12))
    made, values = batch(each, xp), [call(layout) for layout in each]
    shuffled = data.draw(st.permutations(each))
    bounds = data.draw(st.lists(st.integers(1, 12), min_size=len(each), max_size=len(each)))
    outside = [find_first([not 0 <= value < stop for value in row]) for row in values]
    assert list_values(first_outside(made, stop, budget=budget)) == of_rows(outside)
    outside = [find_first([not 0 <= value < bound for value in row]) for row, bound in zip(values, bounds, strict=True)]
    assert list_values(first_outside(made, xp.asarray(bounds), budget=budget)) == of_rows(outside)
    assert list_values(first_repeat(made, budget=budget)) == of_rows([find_repeated(row) for row in values])
    differing = first_difference(made, batch(shuffled, xp), budget=budget)
    assert list_values(differing) == of_rows(
        [different(row, call(layout)) for row, layout in zip(values, shuffled, strict=True)]
    )
    differing = first_difference(made, each[0], xp, budget=budget)
    assert list_values(differing) == of_rows([different(row, values[0]) for row in values])
    assert list_values(first_difference(each[0], made, xp, budget=budget)) == list_values(differing)
    assert list_values(is_bijection(made, budget=budget)) == [sorted(row) == list(range(len(row))) for row in values]
    assert list_values(counts(made, stop, budget=budget)) == [[row.count(v) for v in range(stop)] for row in values]
    places = [[row.index(v) if v in row else -1 for v in range(stop)] for row in values]
    assert list_values(inverse(made, stop, budget=budget)) == places


@given(layout=nested_strides(), xp=NAMESPACES, budget=BUDGETS)
def test_inverses_give_the_index_and_the_value_back(layout: Layout, xp: Any, budget: int) -> None:
    assert first_not_inverse(layout, right_inverse(layout), xp, budget) is None
    try:
        back = left_inverse(layout)
    except LayoutError:
        return
    assert first_not_inverse(back, layout, xp, budget) is None


@given(f=layouts(max_size=40), g=layouts(max_size=40), budget=BUDGETS)
def test_the_first_index_that_is_not_given_back(f: Layout, g: Layout, budget: int) -> None:
    first = find_first([f(g(i)) != i for i in range(size(g))])
    assert first_not_inverse(f, g, budget=budget) == first
    assert list_values(first_not_inverse(f, [g, g], budget=budget)) == of_rows([first] * 2)


def test_a_fault_beyond_the_first_block_is_found() -> None:
    wrong = Layout((1000, 999), (1, 1000))  # of 999000 points the last differs
    composed = ComposedLayout(Layout((998_999, 2), (1, 999_999)), 0, wrong)
    assert first_difference(wrong, composed, budget=1 << 16) == 998_999
    assert first_outside(composed, 999_000, budget=1 << 16) == 998_999
    assert first_repeat(ComposedLayout(Layout((998_999, 2), (1, 500_000)), 0, wrong), budget=1 << 20) == 998_999


def test_a_repeat_of_an_earlier_block_comes_before_one_within_the_block() -> None:
    """In the blocks 0 1 2, 3 2 3, 4 5 the index 4 repeats the first block, and 5 its own."""
    assert first_repeat(Layout((2, 2, 2), (1, 2, 2)), budget=24) == 4


@pytest.mark.long
@pytest.mark.parametrize("budget", [1 << 16, 1 << 18])
def test_a_check_holds_a_few_blocks_of_its_budget(budget: int) -> None:
    """A domain of 4 MiB of values, in blocks of 64 or 256 KiB: no check holds more than ten blocks."""
    layout = Layout((512, 1024), (1024, 1))
    doubled = ComposedLayout(Swizzle(3, 3, 3), 0, layout)
    single, many = batch(doubled), stack_layouts(np.full((512, 2), 32), np.arange(1024).reshape(512, 2))
    tracemalloc.start()
    try:
        assert first_difference(single, doubled, budget=budget) is None
        assert first_outside(single, size(layout), budget=budget) is None
        assert first_not_inverse(right_inverse(layout), layout, budget=budget) is None
        assert first_repeat(many, budget=budget)[0] == 1  # of stride 0
        assert first_difference(many, many, budget=budget)[0] == -1
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 10 * budget


def test_values_far_apart_are_compared_without_a_table_of_them() -> None:
    far = Layout((3, 4, 5), (2**60, 2**50, 1))
    assert first_repeat(far) is None and first_repeat([far, far]).tolist() == [-1, -1]
    crowded = Layout((3, 4, 5), (2**60, 0, 1))
    assert first_repeat(crowded) == 3 and first_repeat([far, crowded]).tolist() == [-1, 3]
    wrapped = Layout((4, 2), (2**60, 1))  # times eight indices, two of its values are equal in 64 bits
    assert first_repeat(wrapped) is None and first_repeat([wrapped]).tolist() == [-1]


@pytest.mark.parametrize("count", [1, 5000])
def test_many_layouts_are_split_into_rows(count: int) -> None:
    strides = np.arange(2 * count).reshape(count, 2)
    made = stack_layouts(np.full((count, 2), 4), strides)
    assert first_difference(made, made, budget=1 << 12).tolist() == [-1] * count
    assert first_repeat(made, budget=1 << 12).tolist() == first_repeat(made).tolist()


def test_more_values_than_can_be_numbered_are_rejected() -> None:
    with pytest.raises(LayoutError, match="too many values"):
        inverse(batch(Layout(3)), 2**62)


@pytest.mark.gpu
@given(f=FUNCTIONS, g=FUNCTIONS, modes=ROWS, budget=BUDGETS)
def test_cupy_finds_the_same(f: Any, g: Any, modes: list[list[tuple[int, int]]], budget: int) -> None:
    cupy = importlib.import_module("cupy")
    each = rows(modes)
    for xp in (cupy, np):
        faults = [first_outside(f, 20, xp, budget), first_repeat(f, xp, budget), first_difference(f, g, xp, budget)]
        many = batch(each, xp)
        arrays = [first_outside(many, 5, budget=budget), first_repeat(many, budget=budget)]
        arrays += [first_difference(many, each[0], xp, budget), counts(f, 20, xp, budget), inverse(f, 20, xp, budget)]
        arrays += [counts(many, 5, budget=budget), inverse(many, 5, budget=budget), is_bijection(many, budget=budget)]
        if xp is cupy:
            on_gpu = faults, [array.get().tolist() for array in arrays]
    assert on_gpu == (faults, [array.tolist() for array in arrays])
