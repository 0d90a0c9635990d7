# SPDX-License-Identifier: Apache-2.0
"""Sets of elements in words: no element left out, none invented."""

import re
from itertools import product

from hypothesis import assume, given
from hypothesis import strategies as st

from verify.core.wording import describe

EXTENT = (6, 9)


@given(st.sets(st.integers(0, 5), min_size=1), st.integers(0, 8), st.integers(1, 9))
def test_rectangles_are_described_as_ranges(rows: set[int], first: int, length: int) -> None:
    columns = range(first, min(9, first + length))
    reported = describe(list(product(rows, columns)), EXTENT, ("m", "k"))
    assert ("every m" in reported) == (len(rows) == 6)
    assert ("every k" in reported) == (len(columns) == 9)
    span = re.search(r"k = (\d+)\.\.(\d+)", reported)
    if span:
        assert range(int(span[1]), int(span[2]) + 1) == columns


@given(st.sets(st.tuples(st.integers(0, 5), st.integers(0, 8)), min_size=2))
def test_other_sets_name_their_first_members(points: set[tuple[int, int]]) -> None:
    assume(len({x for x, _ in points}) * len({y for _, y in points}) != len(points))
    reported = describe(list(points), EXTENT, ("m", "k"))
    x, y = min(points)
    assert reported.startswith(f"(m={x}, k={y})")
    more = re.search(r"and (\d+) more", reported)
    assert reported.count("m=") + (int(more[1]) if more else 0) == len(points)
