# SPDX-License-Identifier: Apache-2.0
"""Found maps: their texts are inferred from the points, and there are none where a point differs."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_checks.discover.found_map import FoundMap
from layouts import Layout

TILE = np.array([[[v // 2 * 8 + t // 4, t % 4 * 2 + v % 2] for v in range(4)] for t in range(32)])


def make_map(table: np.ndarray, along: int = 0) -> FoundMap:
    inputs = ("lane", "value") if table.ndim == 3 else ("element",)
    return FoundMap("D", inputs, ("m", "n"), table, along=along)


@pytest.mark.parametrize("along", [0, 1])
def test_a_layout_has_the_element_of_every_point(along: int) -> None:
    text, why = make_map(TILE, along).layout()
    layout, extent = Layout.parse(text), (16, 8)[along]
    assert not why
    assert all(layout(t, v) == TILE[t, v, along] + extent * TILE[t, v, 1 - along] for t in range(32) for v in range(4))


def test_three_values_have_a_layout_and_no_bases() -> None:
    table = np.array([[[t, v] for v in range(3)] for t in range(8)])
    assert make_map(table).layout() == ("(8,3):(1,8)", "")
    assert make_map(table).bases() == ("", "3 values aren't a power of two")


def test_an_xor_has_bases_and_no_layout() -> None:
    table = np.array([[[t, v ^ t & 3] for v in range(4)] for t in range(8)])
    text, why = make_map(table).layout()
    assert not text and why.startswith("lane 1, value 1 has element ")
    assert make_map(table).bases()[0] == "{register = [[0, 1], [0, 2]], lane = [[1, 1], [2, 2], [4, 0]], warp = []}"


@pytest.mark.parametrize("point", [(0, 0), (0, 1), (5, 3), (31, 3)])
def test_a_point_that_differs_leaves_no_text(point: tuple[int, int]) -> None:
    table = TILE.copy()
    table[point] = (3, 7) if tuple(table[point]) != (3, 7) else (1, 1)
    assert make_map(table).layout()[0] == "" and make_map(table).bases()[0] == ""
    table[point] = (-1, 0)
    assert make_map(table).layout()[1] == make_map(table).bases()[1] == "1 of 128 points have no row or no column"


def test_threads_beyond_a_warp_are_bases_of_the_warp() -> None:
    table = np.array([[[t, v] for v in range(2)] for t in range(64)])
    assert make_map(table).bases()[0].endswith("lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0]]}")


def test_elements_in_order_of_address_have_an_offset() -> None:
    table = np.array([[e % 8, e // 8] for e in range(32)])
    assert make_map(table).layout()[0] == "32:1"
    assert make_map(table).bases()[0] == "{offset = [[1, 0], [2, 0], [4, 0], [0, 1], [0, 2]]}"
