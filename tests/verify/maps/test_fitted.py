# SPDX-License-Identifier: Apache-2.0
"""The layout of a table has all its numbers, plain or behind a swizzle; where one number differs there is none."""

from __future__ import annotations

import random

import pytest

from layouts import ComposedLayout, Layout, Swizzle, fit, size
from layouts.arrays import np
from layouts.pasted import read_layout
from verify.maps.fitted import fit_layout, layout_of

MAPS = ["((4,8),(2,2)):((32,1),(16,8))", "(2,2):(2,1)", "(1,4):(0,3)", "((2,3),5):((-5,1),7)", "(4,1):(0,0)"]
SWIZZLED = ["Sw<1,0,4> o 0 o (32,4):(1,32)", "Sw<2,1,3> o 0 o ((4,8),2):((16,1),8)", "Sw<2,3,-2> o 0 o (16,16):(1,16)"]


def table(layout: Layout | ComposedLayout) -> list[list[int]]:
    inner = layout.layout_b if isinstance(layout, ComposedLayout) else layout
    assert isinstance(inner, Layout)
    return [[int(layout(t, v)) for v in range(size(inner[1]))] for t in range(size(inner[0]))]


@pytest.mark.parametrize("text", MAPS + SWIZZLED)
def test_the_layout_of_a_table_has_its_numbers(text: str) -> None:
    rows = table(read_layout(text))
    fitted = layout_of(rows)
    assert table(read_layout(fitted)) == rows
    assert fitted.startswith("Sw") == (text in SWIZZLED)


@pytest.mark.parametrize("text", MAPS[:4] + SWIZZLED)
def test_a_table_with_one_other_number_has_no_layout(text: str) -> None:
    rows = table(read_layout(text))
    for t, v in [(-1, -1), (0, 0), (len(rows) // 2, -1)]:
        changed = [list(row) for row in rows]
        changed[t][v] += 1000
        assert layout_of(changed) == ""


def test_random_tables_have_the_layout_that_numpy_finds() -> None:
    """Few digits and steps, so that a fourth of the tables is that of a layout."""
    rng, same = random.Random(5), 0
    for _ in range(400):
        lanes, values = rng.choice([(2, 2), (4, 2), (3, 4), (8, 4)])
        steps = [rng.choice([1, 2, 4, -3]) for _ in range(6)]
        rows = [[sum(steps[b] * (t >> b & 1) + steps[3 + b] * (v >> b & 1) for b in range(3)) for v in range(values)]
                for t in range(lanes)]  # fmt: skip
        if rng.random() < 0.3:
            rows[rng.randrange(lanes)][rng.randrange(values)] += 1
        wanted = fit(np.array(rows))
        assert fit_layout(rows) == wanted
        same += wanted is not None
    assert 100 < same < 380


def test_every_swizzled_number_is_that_of_the_swizzle() -> None:
    for swizzle in (Swizzle(1, 0, 1), Swizzle(2, 1, 3), Swizzle(2, 0, -3)):
        rows = [[swizzle(8 * t + v) for v in range(8)] for t in range(8)]
        assert fit_layout(rows, swizzle) == Layout((8, 8), (8, 1))


def test_a_line_of_values_is_fitted_by_a_layout_or_a_swizzle() -> None:
    assert layout_of([0, 2, 4, 6, 1, 3, 5, 7]) == "(4,2):(2,1)"
    assert layout_of([0, 1, 3, 2]) == "Sw<1,0,1> o 0 o 4:1"
    assert [layout_of(line) for line in ([1, 0], [0, 3, 1, 2, 5], [-1, 0])] == ["", "", ""]
    assert layout_of([0]) == "1:0"
