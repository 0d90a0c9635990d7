# SPDX-License-Identifier: Apache-2.0
"""What two chunks found together is the same, whichever of them ends first."""

from __future__ import annotations

import pytest

from verify.campaign.tally import Tally, Wrong

SMALL, LARGE = Wrong(4, "coalesce(4:2)", "-> 4:1"), Wrong(9, "coalesce(2:1)", "-> 1:0")


def test_the_order_of_chunks_changes_nothing_and_the_smallest_counterexample_stays() -> None:
    first, second = Tally(3, 1, 1, 1, 0, SMALL), Tally(4, 1, 2, 0, 1, LARGE)
    assert first + second == second + first == Tally(7, 2, 3, 1, 1, SMALL)
    assert first + Tally(2, 2) == Tally(2, 2) + first == Tally(5, 3, 1, 1, 0, SMALL)


@pytest.mark.parametrize(
    "wrong",
    [Tally(2, 1), Tally(1, 2, 0, -1), Tally(1, 0, 1), Tally(1, 1, smallest=SMALL)],
    ids=["a case without outcome", "fewer than none", "no counterexample", "a counterexample of nothing"],
)
def test_counts_that_do_not_agree_are_not_whole_and_are_not_read(wrong: Tally) -> None:
    assert not wrong.whole
    with pytest.raises(ValueError, match="its counts do not agree"):
        Tally.of(wrong.as_dict())
