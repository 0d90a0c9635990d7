# SPDX-License-Identifier: Apache-2.0
"""Two solvers on the same text: z3 through its SMT-LIB reader, cvc5 through its own. Budgets are deterministic."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from proofs.laws.formula import Node
from proofs.laws.law import Law
from proofs.laws.problem import NEAR, Query, denial, interesting, near
from proofs.smt.engine import Session, Solver
from proofs.smt.recheck import Status, installed, name, read

Z3_BUDGET = 8_000_000
CVC5_BUDGET = 400_000
WISH_BUDGET = 600_000


@dataclass(frozen=True, slots=True)
class Answer:
    """What a solver said of a problem; ``spent`` counts its own resource units, ``core`` names assumptions it used."""

    engine: str
    status: Status
    spent: int
    seconds: float
    reason: str = ""
    core: tuple[str, ...] = ()


def z3(problem: str, seed: int = 0, budget: int = Z3_BUDGET) -> Answer:
    """z3's answer."""
    started = time.perf_counter()
    session = Session(_seeded(problem, seed), budget)
    answer = session.check()
    return Answer("z3", answer.status, session.spent, time.perf_counter() - started, answer.reason)


def has_cvc5() -> bool:
    """Whether the second solver is installed, and can be imported."""
    try:
        return installed() and bool(name())
    except ImportError:
        return False


def cvc5(problem: str, seed: int = 0, budget: int = CVC5_BUDGET, core: bool = False) -> Answer:
    """cvc5's answer; with ``core`` the assumptions that it needed. Raises ImportError where cvc5 is missing."""
    started = time.perf_counter()
    found = read(f"{problem}(check-sat)", budget, seed, core)
    status = found.answers[-1]
    reason = f"cvc5 gave up within {budget} resource units" if status == "unknown" else ""
    return Answer("cvc5", status, found.spent, time.perf_counter() - started, reason, found.core)


def version(engine: str) -> str:
    """An engine's name and version."""
    if engine == "z3":
        from proofs.smt.engine import engine as described

        return described()
    return name()


@dataclass(frozen=True, slots=True)
class Model:
    """A satisfying assignment, confirmed in plain Python, and how it reads; or why there is none."""

    status: Status
    query: Query
    values: dict[str, int]
    reason: str = ""

    @property
    def confirmed(self) -> bool:
        """Whether plain Python finds the query true in the model."""
        return self.status == "sat" and self.query.holds(self.values)

    def shown(self) -> str:
        """The model in one line."""
        return self.query.shown(self.values) if self.values else self.reason


def satisfy(query: Query, wishes: Sequence[Sequence[Node]] = (), solver: Solver | None = None) -> Model:
    """A model of a query: with the first wishes that can be met, or none of them; several seeds before giving up.

    ``solver`` is used again under the first seed; a seed stays with the solver that it was given to.
    """
    solver = solver or Solver()
    tries = [(wish, seed, WISH_BUDGET) for seed in range(4) for wish in (*wishes, ())]
    reason = ""
    for wish, seed, budget in (*tries, ((), 4, Z3_BUDGET)):
        session = Session(_seeded(query.smt(wish), seed), budget, None if seed else solver)
        answer = session.check()
        if answer.status == "sat":
            return Model("sat", query, session.values(query.names()))
        if answer.status == "unsat" and not wish:
            return Model("unsat", query, {}, "no model: the formulas contradict each other")
        reason = answer.reason or reason
    return Model("unknown", query, {}, reason)


def refute(law: Law) -> Model:
    """A counterexample to a law itself, which a proved law does not have."""
    return counterexample(denial(law))


def counterexample(query: Query, solver: Solver | None = None) -> Model:
    """A model of a mutant, with small numbers if there is one."""
    return satisfy(query, [near(query.law, distance) for distance in NEAR], solver)


def example(query: Query, solver: Solver | None = None) -> Model:
    """A model of a law's hypotheses, as far from trivial as there is one."""
    return satisfy(query, [interesting(query.law, level) for level in range(4)], solver)


def _seeded(problem: str, seed: int) -> str:
    """The problem with its seed, 0 too: z3 keeps the last one for all later problems of the process."""
    return f"(set-option :smt.random_seed {seed})\n(set-option :sat.random_seed {seed})\n{problem}"
