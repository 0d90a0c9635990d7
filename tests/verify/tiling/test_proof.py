# SPDX-License-Identifier: Apache-2.0
"""The law of tilings, proved once for each budget."""

from __future__ import annotations

from proofs import BUDGET, Solver
from verify.core.verdict import Status
from verify.evidence import proof


def test_the_law_of_tilings_is_proved_once_for_each_budget() -> None:
    solver = Solver()
    found = [proof.tiling(budget, solver) for budget in (BUDGET, BUDGET, 200)]
    assert found[0] is found[1]
    assert (found[0].status, found[2].status) == (Status.PROVED, Status.UNKNOWN)
