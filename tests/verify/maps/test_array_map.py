# SPDX-License-Identifier: Apache-2.0
"""Maps of arrays beside a function: counts, collisions and differences, and an array that the function doesn't give."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from verify.maps import search
from verify.maps.array_map import ArrayMap
from verify.maps.blocks import EvaluationMismatch
from verify.maps.map import Axis

INPUTS = Axis("thread", 2), Axis("value", 3)


def elements(numbers: Sequence[int], alone: Sequence[int] | None = None) -> ArrayMap:
    known = numbers if alone is None else alone
    columns = (np.array(numbers, dtype=np.int64).reshape(2, 3),)
    return ArrayMap(tuple(numbers), INPUTS, columns, (Axis("element", 6),), lambda t, v: (known[3 * t + v],))


def test_the_first_element_with_other_owners_is_located() -> None:
    assert search.locate_miscount(elements(range(6)), 1) is None
    miscount = search.locate_miscount(elements([0, 1, 1, 3, 4, 5]), 1)
    assert miscount == search.Miscount((1,), 2, 2, True)
    assert search.locate_miscount(elements([0, 0, 0, 3, 4, 5]), 1) == search.Miscount((0,), 3, 3, True)


def test_two_inputs_with_the_smallest_shared_image_are_located() -> None:
    assert search.locate_collision(elements(range(6))) is None
    collision = search.locate_collision(elements([5, 4, 5, 4, 0, 1]))
    assert collision == search.Collision(4, (0, 1), (1, 0), 2, True)


def test_a_difference_is_located_by_arrays() -> None:
    difference = search.locate_difference(elements(range(6)), elements([0, 1, 2, 4, 3, 5]))
    assert difference is not None and (difference.point, difference.wrong, difference.reproduced) == ((1, 0), 2, True)


@pytest.mark.parametrize("alone", [[0, 1, 2, 3, 4, 9], [9, 1, 2, 3, 4, 5]])
def test_what_the_function_has_otherwise_is_never_reproduced(alone: list[int]) -> None:
    """At the last point, which is always compared; or at the points of what was found."""
    m = elements([5, 1, 2, 3, 4, 5], alone)
    try:
        collision = search.locate_collision(m)
    except EvaluationMismatch as fault:
        assert not fault.counterexample.reproduced
    else:
        assert collision is not None and not collision.reproduced
