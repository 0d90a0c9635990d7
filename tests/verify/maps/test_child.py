# SPDX-License-Identifier: Apache-2.0
"""What the child makes of the values that a project returns, without a process."""

from __future__ import annotations

import pytest

from verify.maps.child import grid, images, plain, tabulate


class Index:
    def __init__(self, number):
        self.number = number

    def __index__(self):
        return self.number


def test_a_function_is_tabulated_at_every_point_and_an_inverse_in_the_same_columns():
    table = tabulate(
        {"inputs": [("lane", 2)], "outputs": [("m", 3)], "of": lambda lane: (2 * lane,), "back": lambda m: (m // 2,)}
    )
    assert table == {
        "inputs": [("lane", 2)],
        "outputs": [("m", 3)],
        "pairs": [[0, 0], [1, 2]],
        "inverse": [[0, 0], [0, 1], [1, 2]],
    }


def test_an_input_may_have_several_images_or_none():
    assert images([(1,), (2,)]) == [(1,), (2,)] and images(None) == [] and images((1, 2)) == [(1, 2)]


def test_numbers_are_what_their_index_says():
    assert plain({"a": (Index(3), [True, None, "b"])}) == {"a": [3, [True, None, "b"]]}


@pytest.mark.parametrize(
    ("value", "error"), [(2**62, ValueError), (-(2**70), ValueError), (1.5, TypeError), (object(), TypeError)]
)
def test_what_is_no_small_whole_number_is_an_error(value, error):
    with pytest.raises(error):
        plain([value])


def test_a_map_of_too_many_points_is_not_begun():
    with pytest.raises(ValueError, match="more than 1048576 points"):
        grid([("lane", 2**11), ("value", 2**10)])
