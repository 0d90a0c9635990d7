# SPDX-License-Identifier: Apache-2.0
"""What is found in blocks of numbers, against the numbers one after another."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from layouts import Layout
from tests.messages import WRONG_EVALUATION
from verify.core.digits import walks
from verify.core.verdict import Counterexample
from verify.core.wording import describe
from verify.maps import blocks, search
from verify.maps.counterexamples import describe_chosen
from verify.maps.map import Axis
from verify.maps.strided import StridedMap

MODES = st.lists(st.tuples(st.integers(1, 4), st.sampled_from([0, 1, 2, 3, 4, 8, 16, -1])), min_size=1, max_size=3).map(
    lambda modes: (tuple(n for n, _ in modes), tuple(d for _, d in modes))
)
LAYOUTS = st.tuples(MODES, MODES).map(lambda both: Layout(*zip(*both, strict=True)))


def line(stop: int) -> tuple[Axis, ...]:
    return (Axis("m", stop),)


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK", 5)


@given(MODES, st.integers(1, 4), st.integers(1, 20))
def test_threads_that_are_alike_are_read_once(values: tuple[tuple[int, ...], ...], threads: int, stop: int) -> None:
    layout = Layout((threads, values[0]), (0, values[1]))
    alike, each = StridedMap(layout, line(stop)), StridedMap(layout, line(stop))
    each.repeats = 1
    assert alike.repeats == threads and len(list(blocks.walk_blocks(alike))) == -(-alike.extents[1] // 5)
    assert len(list(blocks.walk_blocks(alike, every=True))) == -(-len(alike) // 5)
    assert search.find_out_of_bounds(alike) == search.find_out_of_bounds(each)
    assert search.find_owner_fault(alike, threads) == search.find_owner_fault(each, threads)
    assert search.count_owners(alike, stop).tolist() == search.count_owners(each, stop).tolist()
    image = alike(0, alike.extents[1] - 1)
    assert search.find_inputs(alike, image, 2) == search.find_inputs(each, image, 2)


@given(LAYOUTS, st.integers(1, 40))
def test_owners_and_inputs_are_those_of_a_list(layout: Layout, stop: int) -> None:
    m, listed = StridedMap(layout, line(stop)), [number for row in walks(layout) for number in row]
    counts = Counter(listed)
    assert search.count_owners(m, stop).tolist() == [counts[number] for number in range(stop)]
    for number in (listed[-1], stop):
        at = [m.point(place) for place, element in enumerate(listed) if element == number]
        assert [search.find_inputs(m, (number,), most) for most in (1, 2)] == [at[:1], at[:2]]


@given(st.lists(st.lists(st.booleans(), min_size=9, max_size=9), min_size=1, max_size=9))
def test_elements_are_described_alike(rows: list[list[bool]]) -> None:
    chosen = np.array(rows)
    chosen[0, 0] |= not chosen.any()
    points = [(int(x), int(y)) for x, y in np.argwhere(chosen)]
    assert describe_chosen(chosen, ("m", "n")) == describe(points, chosen.shape, ("m", "n"))
    bits = [(x, 0) for x in sorted({x for x, _ in points})]
    assert describe_chosen(chosen.any(axis=1)[:, None], ("bit",)) == describe(bits, (len(rows), 1), ("bit",))


class WrongAtItsEnd(StridedMap):
    """A layout with a last point that plain integers have wrong."""

    def image(self, thread: int, value: int) -> tuple[int, ...]:
        (coordinate,) = super().image(thread, value)
        return (coordinate + (thread == value == 3),)

    def mismatch(self) -> None:
        return None


def test_a_wrong_point_is_an_error_of_ours() -> None:
    fault = search.find_out_of_bounds(WrongAtItsEnd(Layout((4, 4), (1, 4)), line(16)))
    assert isinstance(fault, Counterexample) and not fault.reproduced
    assert fault.statement == f"T3 V3: m 16 by itself, m 15 among all points: {WRONG_EVALUATION}"
