# SPDX-License-Identifier: Apache-2.0
"""Bounds of values: arithmetic with numbers on either side bounds every result, and no tighter one exists."""

from __future__ import annotations

import operator

import pytest

from verify.kernel.data.histories import Growth, History, join_histories


@pytest.mark.parametrize("operate", [operator.add, operator.sub, operator.mul])
@pytest.mark.parametrize("number", [3.0, -2.0])
def test_a_number_on_either_side_has_the_bounds_of_interval_arithmetic(operate, number) -> None:
    value, ends = Growth(degree=1, low=-1.0, high=5.0), (-1.0, 5.0)
    for found, results in (
        (operate(value, number), [operate(end, number) for end in ends]),
        (operate(number, value), [operate(number, end) for end in ends]),
    ):
        assert (found.low, found.high) == (min(results), max(results))


def test_a_place_that_may_hold_either_of_two_values_has_the_larger_bounds_of_both() -> None:
    one, other = History(degree=1, norm=5.0, rounded=0), History(degree=3, norm=2.0, rounded=1)
    assert join_histories([one, other]) == join_histories([other, one]) == History(degree=3, norm=5.0, rounded=1)
    assert join_histories([one]) == one
