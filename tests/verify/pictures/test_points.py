# SPDX-License-Identifier: Apache-2.0
"""The points of a picture, one at a time and by arrays: the same values, in the order asked for."""

from __future__ import annotations

import pytest

from layouts import Layout, arrays
from layouts.pasted import read_layout
from verify.pictures import points

LAYOUTS = ["9:-2", "(4,6):(6,1)", "((2,2),3,(2,2)):((1,12),4,(2,-7))", "Sw<2,1,3> o (4,(2,6)):(12,(6,1))"]


@pytest.fixture(params=[True, False], ids=["arrays", "one at a time"])
def how(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "loaded", lambda: request.param)


@pytest.mark.usefixtures("how")
@pytest.mark.parametrize("text", LAYOUTS)
def test_values_are_those_of_the_indices_in_their_order(text: str) -> None:
    layout = read_layout(text)
    indices = [7, 0, 3, 3, 8]
    assert points.values(layout, indices) == [layout(index) for index in indices]


@pytest.mark.usefixtures("how")
def test_each_thread_has_its_values_in_a_row() -> None:
    layout = Layout.parse("((4,8),(2,2)):((32,1),(16,8))")
    found = points.rows(layout)
    assert found == [[layout(thread, value) for value in range(4)] for thread in range(32)]
    assert all(type(one) is int for row in found for one in row)
