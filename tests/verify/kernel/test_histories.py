# SPDX-License-Identifier: Apache-2.0
"""Bounds of values: arithmetic with numbers on either side bounds every result, and no tighter one exists."""

from __future__ import annotations

import operator

import numpy as np
import pytest

from verify.kernel.data.histories import Growth, Histories, History, join_histories


@pytest.mark.parametrize("operate", [operator.add, operator.sub, operator.mul])
@pytest.mark.parametrize("number", [3.0, -2.0])
def test_a_number_on_either_side_has_the_bounds_of_interval_arithmetic(operate, number) -> None:
    value, ends = Growth(degree=1, low=-1.0, high=5.0), (-1.0, 5.0)
    for computed, results in (
        (operate(value, number), [operate(end, number) for end in ends]),
        (operate(number, value), [operate(number, end) for end in ends]),
    ):
        assert (computed.low, computed.high) == (min(results), max(results))


def test_a_place_that_may_hold_either_of_two_values_has_the_larger_bounds_of_both() -> None:
    left, right = History(degree=1, norm=5.0, rounded=0), History(degree=3, norm=2.0, rounded=1)
    assert join_histories([left, right]) == join_histories([right, left]) == History(degree=3, norm=5.0, rounded=1)
    assert join_histories([left]) == left


def test_a_rule_with_a_key_is_asked_once_for_histories_that_meet_again() -> None:
    histories, asked = Histories(2), []

    def rule(parts):
        asked.append(tuple(parts))
        return History(degree=parts[0].degree + parts[1].degree)

    linear, square = (np.array([histories.number(History(degree=degree))], np.uint32) for degree in (1.0, 2.0))
    first = [int(histories.combine([linear, square], rule, key)[0]) for key in ("sum", "sum", "another", None, None)]
    assert len(asked) == 4 and {histories[number].degree for number in first} == {3.0}
    assert histories[int(histories.combine([square, square], rule, "sum")[0])].degree == 4.0
