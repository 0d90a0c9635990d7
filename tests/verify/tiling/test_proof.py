# SPDX-License-Identifier: Apache-2.0
"""The law of tilings, proved once in a run, and only within its budget."""

from __future__ import annotations

import pytest

import proofs
from layouts.atoms import registry
from proofs import BUDGET, Solver
from verify.atom.checker import AtomChecker
from verify.core.verdict import Check, Status
from verify.evidence import proof

ATOMS = ("SM80_16x8x16_F32F16F16F32_TN", "SM80_8x8x4_F64F64F64F64_TN")


def test_the_law_of_tilings_is_proved_once_for_all_atoms_of_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    budgets: list[int] = []
    prove = proofs.prove_tiling
    monkeypatch.setattr(
        proofs, "prove_tiling", lambda budget, solver: (budgets.append(budget), prove(budget, solver))[1]
    )
    checker = AtomChecker(frozenset({Check.PROOF}))
    for name in ATOMS:
        statuses = {verdict.claim.prop.key: verdict.status for verdict in checker.case(registry()[name]).verdicts}
        assert statuses["tiling"] is Status.PROVED
    assert len(budgets) == 1


def test_a_budget_that_is_too_small_proves_nothing() -> None:
    solver = Solver()
    assert [proof.tiling(budget, solver).status for budget in (BUDGET, 200)] == [Status.PROVED, Status.UNKNOWN]
