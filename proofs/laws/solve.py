# SPDX-License-Identifier: Apache-2.0
"""The problems of laws solved by z3 and by cvc5, from the same SMT-LIB text, with deterministic budgets."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from proofs.laws.formula import Node
from proofs.laws.law import Law
from proofs.laws.problem import NEAR, SatQuery, denial, interesting, mutants, near
from proofs.smt.engine import Session, Solver
from proofs.smt.engine import engine as described
from proofs.smt.recheck import Status, is_installed, name, read_answers

Z3_BUDGET = 8_000_000
CVC5_BUDGET = 400_000
WISH_BUDGET = 600_000

Values: TypeAlias = Mapping[str, int]
"""The values of a model, by name."""
NOTHING: Mapping[str, Values] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class SolverAnswer:
    """The answer of a solver to a problem."""

    engine: str  # z3 or cvc5
    status: Status  # sat, unsat or unknown
    spent: int  # the resource units of that solver
    seconds: float  # the time it took
    reason: str = ""  # why the status is unknown
    core: tuple[str, ...] = ()  # the names of the assumptions that the solver used, when they were requested


def z3(problem: str, seed: int = 0, budget: int = Z3_BUDGET) -> SolverAnswer:
    """Return the answer of z3 to a problem, under a seed and within a budget."""
    started = time.perf_counter()
    session = Session(_seed_problem(problem, seed), budget)
    answer = session.check()
    return SolverAnswer("z3", answer.status, session.spent, time.perf_counter() - started, answer.reason)


def has_cvc5() -> bool:
    """Whether cvc5 is installed and can be imported."""
    try:
        return is_installed() and bool(name())
    except ImportError:
        return False


def cvc5(problem: str, seed: int = 0, budget: int = CVC5_BUDGET, core: bool = False) -> SolverAnswer:
    """Return the answer of cvc5; with ``core``, also the assumptions that it used.

    Raises ImportError when it is missing.
    """
    started = time.perf_counter()
    reply = read_answers(f"{problem}(check-sat)", budget, seed, core)
    status = reply.answers[-1]
    reason = f"cvc5 gave up within {budget} resource units" if status == "unknown" else ""
    return SolverAnswer("cvc5", status, reply.spent, time.perf_counter() - started, reason, reply.core)


def version(engine: str) -> str:
    """Return the name and version of an engine, "z3" or "cvc5"."""
    if engine == "z3":
        return described()
    return name()


@dataclass(frozen=True, slots=True)
class Model:
    """The values that satisfy a query, or the reason why there are none."""

    status: Status
    query: SatQuery
    values: dict[str, int]
    reason: str = ""

    @property
    def is_confirmed(self) -> bool:
        """Whether the query is true for the values, in plain Python."""
        return self.status == "sat" and self.query.holds(self.values)

    def spell(self) -> str:
        """Return the values, or the reason, in one line."""
        return self.query.spell_model(self.values) if self.values else self.reason


def satisfy(query: SatQuery, wishes: Sequence[Sequence[Node]] = (), solver: Solver | None = None) -> Model:
    """Return a model of a query that satisfies the first possible of ``wishes``, or none of them.

    Several seeds are tried.

    ``solver`` is used under the first seed only: a solver keeps the seed that it was given.
    """
    solver = solver or Solver()
    tries = [(wish, seed, WISH_BUDGET) for seed in range(4) for wish in (*wishes, ())]
    reason = ""
    for wish, seed, budget in (*tries, ((), 4, Z3_BUDGET)):
        session = Session(_seed_problem(query.smt(wish), seed), budget, None if seed else solver)
        answer = session.check()
        if answer.status == "sat":
            return Model("sat", query, session.values(query.names()))
        if answer.status == "unsat" and not wish:
            return Model("unsat", query, {}, "no model: the formulas contradict each other")
        reason = answer.reason or reason
    return Model("unknown", query, {}, reason)


def refute(law: Law) -> Model:
    """Return a counterexample to a law; a proved law has none."""
    return counterexample(denial(law))


def counterexample(query: SatQuery, solver: Solver | None = None) -> Model:
    """Return a counterexample to a mutant, in small numbers when there is one.

    >>> from proofs.laws.decide import list_shipped
    >>> from proofs.laws.problem import mutants
    >>> counterexample(next(mutants(list_shipped()["MONO"]))).is_confirmed
    True
    """
    return satisfy(query, [near(query.law, distance) for distance in NEAR], solver)


def recall_model(query: SatQuery, kept: Mapping[str, Values]) -> Model | None:
    """Return the model of a query among those kept, by the query's words.

    None where it does not hold in plain Python.
    """
    values = kept.get(query.why, {})
    if not isinstance(values, dict) or values.keys() != set(query.names()):
        return None
    model = Model("sat", query, values)
    return model if all(type(value) is int for value in values.values()) and model.is_confirmed else None


def counterexamples(law: Law, kept: Mapping[str, Values] = NOTHING) -> tuple[Model, ...]:
    """Return a counterexample to each mutant: one that is kept, or from one incremental problem near 0, or
    `counterexample`.

    All mutants of a law share its declarations and the bounds near 0, which are read once.
    """
    models = [(query, recall_model(query, kept)) for query in mutants(law)]
    searched = [query for query, model in models if model is None]
    if not searched:
        return tuple(model for _, model in models if model)
    solver = Solver()
    bounds = SatQuery(law, "near 0", tuple(near(law, NEAR[0])))
    session = Session(_seed_problem(bounds.smt(), 0), WISH_BUDGET * len(searched), solver)
    small = {}
    for query in searched:
        if session.check_with(query.body()).status == "sat":
            small[query.why] = Model("sat", query, session.values(query.names()))
        session.forget()
    return tuple(model or small.get(query.why) or counterexample(query, solver) for query, model in models)


def example(query: SatQuery) -> Model:
    """Return a model of the hypotheses of a law, as readable as possible (see `interesting`)."""
    return satisfy(query, [interesting(query.law, level) for level in range(4)])


def _seed_problem(problem: str, seed: int) -> str:
    """Return the problem with its seed, also when it is 0: z3 keeps the last seed for all later problems."""
    return f"(set-option :smt.random_seed {seed})\n(set-option :sat.random_seed {seed})\n{problem}"
