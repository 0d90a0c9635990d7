# SPDX-License-Identifier: Apache-2.0
"""Proofs of laws: every obligation by every solver and seed, a model of the hypotheses, a model of each mutant.

`decide_law` decides one law, `decide_laws` many of them in several processes. The answers of the solvers are returned
unchanged: what counts as proved is decided by the caller.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

from lanecheck.console.processes import ignore_interruption, processes
from proofs.laws import solve
from proofs.laws.law import Law, catalogue
from proofs.laws.problem import nonvacuity, obligations
from proofs.laws.solve import NOTHING, Model, SolverAnswer, Values

INDEX = Path(__file__).with_name("certificates") / "index.json"


@dataclass(frozen=True, slots=True)
class Tried:
    """One obligation, and the answers of all solvers under all seeds."""

    name: str
    answers: tuple[SolverAnswer, ...]


@dataclass(frozen=True, slots=True)
class LawResult:
    """The results for one law.

    ``tried`` are its obligations, ``example`` is a model of its hypotheses (None for an open law, which is not tried),
    and ``mutants`` have their counterexamples.
    """

    law: Law
    tried: tuple[Tried, ...]
    example: Model | None
    mutants: tuple[Model, ...]

    @property
    def name(self) -> str:
        """The name of the law."""
        return self.law.name

    def status(self, engine: str) -> str:
        """unsat: it proved all obligations under all seeds; sat: one has a model; "": the engine was not run."""
        statuses = {a.status for t in self.tried for a in t.answers if a.engine == engine}
        return next((s for s in ("sat", "unknown", "unsat") if s in statuses), "")

    def seconds(self, engine: str) -> float:
        """Return the time of the engine over all obligations and seeds."""
        return sum(a.seconds for t in self.tried for a in t.answers if a.engine == engine)


def decide_law(
    law: Law, engines: Sequence[str] = ("z3",), seeds: int = 1, kept: Mapping[str, Values] = NOTHING
) -> LawResult:
    """Prove a law, and find a model of its hypotheses and a counterexample to each of its mutants.

    ``kept`` are models found before, by what they satisfy: z3 searches where they do not hold in plain Python.
    """
    if law.why_open:
        return LawResult(law, (), None, ())
    tried = []
    for obligation in obligations(law):
        problem = obligation.smt()
        run = {"z3": solve.z3, "cvc5": solve.cvc5}
        tried.append(Tried(obligation.name, tuple(run[e](problem, seed) for e in engines for seed in range(seeds))))
    hypotheses = nonvacuity(law)
    model = solve.recall_model(hypotheses, kept) or solve.example(hypotheses)
    return LawResult(law, tuple(tried), model, solve.counterexamples(law, kept))


def decide_laws(names: Sequence[str], engines: Sequence[str], seeds: int, jobs: int = 0) -> Iterator[LawResult]:
    """Yield the results for laws by name, in order.

    By ``jobs`` processes, one for each core when 0, this process when 1.
    """
    decide = partial(_decide_named, engines=tuple(engines), seeds=seeds)
    jobs = min(jobs or os.cpu_count() or 1, len(names) or 1)
    if jobs == 1:
        yield from map(decide, names)
        return
    with processes(jobs) as pool:
        with ignore_interruption():
            waiting = [pool.submit(decide, name) for name in names]
        for future in waiting:  # not by `map`: it cancels the waiting futures, and a pool that is closed then fails
            yield future.result()


def _decide_named(name: str, engines: tuple[str, ...], seeds: int) -> LawResult:
    return decide_law(list_shipped()[name], engines, seeds, kept_models().get(name, NOTHING))


@lru_cache(maxsize=1)
def kept_models() -> Mapping[str, Mapping[str, Values]]:
    """Return the models that the certificates keep, by law and by what they satisfy; none where there is no such file.

    They save the search and need not be trusted: each is confirmed before it is used.
    """
    try:
        laws = json.loads(INDEX.read_text(encoding="utf-8"))["laws"]
        return {name: dict(law["models"]) for name, law in laws.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


@lru_cache(maxsize=1)
def list_shipped() -> Mapping[str, Law]:
    """Return the shipped laws by name, read once per process."""
    return catalogue()
