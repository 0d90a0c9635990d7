# SPDX-License-Identifier: Apache-2.0
"""What two chunks found together is the same, whichever of them ends first."""

from __future__ import annotations

import pytest

from verify.campaign.found import Found, Wrong

SMALL, LARGE = Wrong(4, "coalesce(4:2)", "-> 4:1"), Wrong(9, "coalesce(2:1)", "-> 1:0")


def test_the_order_of_chunks_changes_nothing_and_the_smallest_counterexample_stays() -> None:
    one, other = Found(3, 1, 1, 1, 0, SMALL), Found(4, 1, 2, 0, 1, LARGE)
    assert one + other == other + one == Found(7, 2, 3, 1, 1, SMALL)
    assert one + Found(2, 2) == Found(2, 2) + one == Found(5, 3, 1, 1, 0, SMALL)


@pytest.mark.parametrize(
    "wrong",
    [Found(2, 1), Found(1, 2, 0, -1), Found(1, 0, 1), Found(1, 1, smallest=SMALL)],
    ids=["a case without outcome", "fewer than none", "no counterexample", "a counterexample of nothing"],
)
def test_counts_that_do_not_agree_are_not_whole_and_are_not_read(wrong: Found) -> None:
    assert not wrong.whole
    with pytest.raises(ValueError, match="its counts do not agree"):
        Found.of(wrong.as_dict())
