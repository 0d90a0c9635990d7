# SPDX-License-Identifier: Apache-2.0
"""Obligations: goals that follow from assumptions, which must be satisfiable; all of them together prove a claim."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import NamedTuple

from proofs.errors import EngineError
from proofs.smt.engine import Answer, Session, Solver, engine
from proofs.smt.outcome import Outcome


class Obligations(NamedTuple):
    """Assumptions, and goals to be proved from them; ``point`` is an assertion that selects one of their models."""

    assumptions: str
    goals: Mapping[str, str]
    point: str

    def problems(self) -> list[str]:
        """One SMT-LIB text per goal, unsatisfiable exactly when the assumptions imply the goal."""
        return [f"; {title}\n{self.assumptions}(assert (not {goal}))\n" for title, goal in self.goals.items()]


def decide_obligations(
    obligations: list[Obligations],
    budget: int,
    solver: Solver | None = None,
    refute: Callable[[Session], Mapping[str, int]] | None = None,
    method: str = "integers, uninterpreted atom",
) -> Outcome:
    """Prove that every goal follows from its assumptions, and that these can be satisfied.

    What the solver proved before, such as a lemma of several claims, is not proved again.

    ``refute`` confirms the model of a goal that fails, and returns the counterexample. Raises EngineError when a goal
    fails and there is no ``refute``.
    """
    start = perf_counter()
    solver = solver or Solver()
    spent, answers = 0, list[Answer]()
    vacuous, model = False, None
    for group in obligations:
        known = "".join([group.assumptions, *group.problems(), group.point]), budget
        if known in solver.proved:
            spent += solver.proved[known]
            continue
        session = Session(group.assumptions, budget, solver)
        met = _find_model(group, session)
        vacuous = vacuous or met.status == "unsat"
        replies = []
        for title, goal in group.goals.items():
            replies.append(session.check_assuming(f"(not {goal})"))
            if replies[-1].status == "sat" and refute is None:
                raise EngineError(f"the solver refutes a theorem, {title}:\n{group.assumptions}(assert (not {goal}))")
            if replies[-1].status == "sat" and refute is not None and model is None:
                model = refute(session)
            session.forget()
        answers += [*replies, met] if met.status == "unknown" else replies
        spent += session.spent
        if met.status == "sat" and all(answer.status == "unsat" for answer in replies):
            solver.proved[known] = session.spent
    doubt = next((answer for answer in answers if answer.status == "unknown"), Answer("unsat"))
    return Outcome(
        status="vacuous" if vacuous else "sat" if model is not None else doubt.status,
        method=method,
        model=model,
        smt="(reset)\n".join(f"{text}(check-sat)\n" for group in obligations for text in group.problems()),
        rlimit=spent,
        engine=engine(),
        seconds=perf_counter() - start,
        reason="the hypotheses cannot be satisfied" if vacuous else doubt.reason,
    )


def _find_model(group: Obligations, session: Session) -> Answer:
    """Return the answer to "have the assumptions a model?": the given point, or else any."""
    at_point = session.check_assuming(group.point)
    session.forget()
    return at_point if at_point.status == "sat" else session.check()
