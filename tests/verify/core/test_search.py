# SPDX-License-Identifier: Apache-2.0
"""What is found in blocks of numbers, against the numbers one after another."""

from __future__ import annotations

from collections import Counter
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from layouts import Layout
from verify.core import search
from verify.core.digits import walk, walks
from verify.core.verdict import Counterexample
from verify.core.wording import describe

MODES = st.lists(st.tuples(st.integers(1, 4), st.sampled_from([0, 1, 2, 3, 4, 8, 16, -1])), min_size=1, max_size=3).map(
    lambda modes: (tuple(n for n, _ in modes), tuple(d for _, d in modes))
)
LAYOUTS = st.tuples(MODES, MODES).map(lambda both: Layout(*zip(*both, strict=True)))


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "BLOCK", 5)


def by_blocks(layout: Layout) -> search.Numbers:
    """The numbers of a layout, by the engine."""
    return search.of_layout(layout, partial(walk, layout))


@given(LAYOUTS, st.integers(1, 40), st.integers(1, 3))
def test_blocks_are_searched_as_a_list_is(layout: Layout, stop: int, copies: int) -> None:
    numbers, listed = by_blocks(layout), [number for row in walks(layout) for number in row]
    outside = [point for point, number in enumerate(listed) if not 0 <= number < stop]
    first = (outside[0], listed[outside[0]]) if outside else (-1, -1)
    assert search.outside(numbers, stop) == (len(outside), *first)
    counts = Counter(listed)
    found = search.owners(numbers, stop)
    assert found.tolist() == [counts[number] for number in range(stop)]
    assert search.once(numbers, stop) == (sorted(listed) == list(range(stop)))
    many = [point for point, number in enumerate(listed) if 0 <= number < stop and counts[number] > copies]
    assert search.crowded(numbers, found, copies) == ((many[0], listed[many[0]]) if many else (-1, -1))
    for number in (listed[-1], stop):
        at = [point for point, one in enumerate(listed) if one == number]
        assert [search.places([numbers], [number], most) for most in (1, 2)] == [at[:1], at[:2]]


@given(LAYOUTS, LAYOUTS)
def test_two_layouts_differ_where_their_points_do(one: Layout, other: Layout) -> None:
    rows, others = (
        {(t, v): number for t, row in enumerate(walks(layout)) for v, number in enumerate(row)}
        for layout in (one, other)
    )
    points = rows.keys() | others.keys()
    wrong = sorted(point for point in points if rows.get(point) != others.get(point))
    first = wrong[0] if wrong else (-1, -1)
    assert search.unequal([by_blocks(one)], [by_blocks(other)]) == (len(wrong), len(points), *first)


@given(MODES, st.integers(1, 4), st.integers(1, 20))
def test_threads_that_are_alike_are_read_once(values: tuple[tuple[int, ...], ...], threads: int, stop: int) -> None:
    layout = Layout((threads, values[0]), (0, values[1]))
    every = by_blocks(layout)
    once = search.Numbers(threads, every.values, every.block, every.alone, alike=threads)
    assert len(list(once.blocks())) == -(-every.values // 5)
    assert search.outside(once, stop) == search.outside(every, stop)
    assert search.owners(once, stop).tolist() == search.owners(every, stop).tolist()
    number = walk(layout, 0, every.values - 1)
    assert search.places([once], [number], 2) == search.places([every], [number], 2)


@given(st.lists(st.lists(st.booleans(), min_size=9, max_size=9), min_size=1, max_size=9))
def test_elements_are_described_alike(rows: list[list[bool]]) -> None:
    chosen = np.array(rows)
    chosen[0, 0] |= not chosen.any()
    points = [(int(x), int(y)) for x, y in np.argwhere(chosen)]
    assert search.described(chosen, ("m", "n")) == describe(points, chosen.shape, ("m", "n"))
    bits = [(x, 0) for x in sorted({x for x, _ in points})]
    assert search.described(chosen.any(axis=1)[:, None], ("bit",)) == describe(bits, (len(rows), 1), ("bit",))


def test_a_wrong_point_is_an_error_of_ours() -> None:
    layout = Layout((4, 4), (1, 4))
    numbers = search.of_layout(layout, lambda thread, value: thread + 4 * value + (thread == value == 3))
    found = search.or_misread(lambda: search.once(numbers, 16) and None)()
    assert isinstance(found, Counterexample) and not found.reproduced
    assert found.statement == "T3 V3: 16 by itself, 15 among all points: an evaluation of ours is wrong"
