# SPDX-License-Identifier: Apache-2.0
"""Obligations: each goal and the assumptions are decided; a solver decides the same question once."""

from __future__ import annotations

import pytest

from proofs.errors import EngineError
from proofs.layout.obligations import Obligations, decide_obligations
from proofs.smt.engine import Solver
from proofs.smt.outcome import BUDGET

ABOVE = "(declare-const x Int)\n(assert (> x 2))\n"
PROVED = Obligations(ABOVE, {"it is above one": "(> x 1)"}, "(= x 3)")


def questions(solver: Solver, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    texts: list[str] = []
    run = solver.run_text
    monkeypatch.setattr(solver, "run_text", lambda text: texts.append(text) or run(text))
    return texts


def test_what_was_proved_is_proved_once(monkeypatch: pytest.MonkeyPatch) -> None:
    solver = Solver()
    first = decide_obligations([PROVED], BUDGET, solver)
    texts = questions(solver, monkeypatch)
    second = decide_obligations([PROVED], BUDGET, solver)
    assert first.status == second.status == "unsat" and first.rlimit == second.rlimit and texts == []
    assert first.smt == second.smt


@pytest.mark.parametrize(
    "question",
    [
        PROVED._replace(assumptions=ABOVE.replace("2", "0")),
        PROVED._replace(goals={"it is above three": "(> x 3)"}),
        PROVED._replace(goals={**PROVED.goals, "it is above three": "(> x 3)"}),
    ],
)
def test_another_question_is_refuted(question: Obligations) -> None:
    solver = Solver()
    assert decide_obligations([PROVED], BUDGET, solver).status == "unsat"
    with pytest.raises(EngineError, match="refutes a theorem"):
        decide_obligations([question], BUDGET, solver)
    outcome = decide_obligations([PROVED, question], BUDGET, solver, lambda session: session.values(("x",)))
    assert outcome.status == "sat" and outcome.model


def test_assumptions_that_cannot_hold_are_vacuous_beside_what_was_proved() -> None:
    solver = Solver()
    nothing = Obligations(ABOVE, {}, "true")
    impossible = nothing._replace(assumptions=ABOVE + "(assert (< x 1))\n")
    assert decide_obligations([PROVED, nothing], BUDGET, solver).status == "unsat"
    assert decide_obligations([PROVED, impossible], BUDGET, solver).status == "vacuous"
    assert decide_obligations([impossible], BUDGET, solver).status == "vacuous"


def test_what_the_budget_ended_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    solver = Solver()
    assert decide_obligations([PROVED], 1, solver).status == "unknown"
    texts = questions(solver, monkeypatch)
    assert decide_obligations([PROVED], BUDGET, solver).status == "unsat" and texts
