# SPDX-License-Identifier: Apache-2.0
"""The values at the points of a picture, in their order."""

from __future__ import annotations

import pytest

from layouts import Layout, LayoutError
from layouts.pasted import read_layout
from verify.pictures import points

LAYOUTS = [
    "9:-2",
    "(4,6):(6,1)",
    "((2,2),3,(2,2)):((1,12),4,(2,-7))",
    "Sw<2,1,3> o (4,(2,6)):(12,(6,1))",
    "Sw<1,0,2> o 8 o Sw<2,1,3> o 3 o (4,6):(6,1)",
]


@pytest.fixture(autouse=True, params=[0, points.FEW], ids=["at once", "one by one"])
def few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(points, "FEW", request.param)


@pytest.mark.parametrize("text", LAYOUTS)
def test_an_index_without_a_value_is_an_error(text: str) -> None:
    with pytest.raises(LayoutError):
        points.values(read_layout(text), [0, -1])


def test_beyond_the_domain_the_last_mode_goes_on() -> None:
    assert points.values(Layout.parse("(2,3):(3,1)"), [5, 6]) == [5, 3]


def test_an_index_that_is_not_drawn_needs_no_value() -> None:
    layout = read_layout("Sw<1,0,1> o 2 o 8:-1")
    assert points.values(layout, [0, 2]) == [3, 0]
    with pytest.raises(LayoutError, match="-1"):
        points.values(layout, [0, 3])


@pytest.mark.parametrize("text", LAYOUTS)
def test_values_are_those_of_the_indices_in_their_order(text: str) -> None:
    layout = read_layout(text)
    indices = [7, 0, 3, 3, 8]
    assert points.values(layout, indices) == [layout(index) for index in indices]


def test_each_thread_has_its_values_in_a_row() -> None:
    layout = Layout.parse("((4,8),(2,2)):((32,1),(16,8))")
    rows = points.rows(layout)
    assert rows == [[layout(thread, value) for value in range(4)] for thread in range(32)]
    assert all(type(element) is int for row in rows for element in row)
