# SPDX-License-Identifier: Apache-2.0
"""One walk over mixed-radix digits, of integers, arrays and terms, against counting the coordinates out."""

from __future__ import annotations

from itertools import product
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as hyp

from layouts import Layout
from proofs.smt.term import Term
from verify.core import digits as module
from verify.core.digits import count_indices, digits, every, halves, image, lane_of, modes, terms, walk, walks

EXTENTS = hyp.lists(hyp.integers(1, 5), min_size=1, max_size=4)


LAYOUTS = EXTENTS.flatmap(
    lambda s: hyp.lists(hyp.integers(-9, 9), min_size=len(s), max_size=len(s)).map(lambda d: Layout(tuple(s), tuple(d)))
)


def list_coordinates(extents: list[int]) -> list[tuple[int, ...]]:
    """All coordinates, the first running fastest."""
    return [c[::-1] for c in product(*(range(s) for s in reversed(extents)))]


@given(EXTENTS)
def test_digits_count_the_coordinates_out(extents):
    listed = list_coordinates(extents)
    assert [tuple(digits(extents, index)) for index in range(len(listed))] == listed
    assert np.stack(list(digits(extents, np.arange(len(listed)))), axis=-1).tolist() == [list(c) for c in listed]


@given(LAYOUTS)
def test_the_value_of_an_index_is_the_sum_of_its_terms(layout):
    wanted = [sum(c * d for c, d in zip(at, layout.stride, strict=True)) for at in list_coordinates(list(layout.shape))]
    assert [image(layout, index) for index in range(len(wanted))] == wanted
    assert [lane_of(layout, index) for index in range(len(wanted))] == wanted == every(layout.shape, layout.stride)
    assert image(layout, np.arange(len(wanted))).tolist() == wanted


@pytest.mark.long
@given(LAYOUTS, LAYOUTS)
def test_a_thread_and_a_value_are_walked_separately(thread, value):
    layout = Layout((thread.shape, value.shape), (thread.stride, value.stride))
    rows = walks(layout)
    assert rows == [[walk(layout, t, v) for v in range(len(row))] for t, row in enumerate(rows)]
    assert [row[0] for row in rows] == every(thread.shape, thread.stride)
    assert rows[0] == every(value.shape, value.stride)


def test_a_term_is_walked_as_an_integer_is():
    """What a solver is given: index div prefix mod extent times stride, nothing folded away."""
    x = Term("x", 0, 31, None)
    assert image(Layout((4, 8), (32, 1)), x).expr == (
        "+",
        ("+", "0", ("*", ("mod", ("div", "x", "1"), "4"), "32")),
        ("*", ("mod", ("div", "x", "4"), "8"), "1"),
    )
    assert [d for _, d in terms((4, 8), (32, 1), x)] == [32, 1]


def test_a_layout_of_three_modes_has_no_halves() -> None:
    with pytest.raises(TypeError, match=r"is not a \(thread, value\) layout"):
        halves(Layout((2, 2, 2), (1, 2, 4)))


@given(LAYOUTS, hyp.integers(-20, 40), hyp.sampled_from([1, 3, 1 << 12]))
def test_indices_of_a_value_are_counted_without_a_list_of_all(layout, value, listed):
    with patch.object(module, "LISTED", listed):
        counted = count_indices(list(modes(layout.shape, layout.stride)), value)
    assert counted == every(layout.shape, layout.stride).count(value)
