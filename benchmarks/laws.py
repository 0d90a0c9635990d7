# SPDX-License-Identifier: Apache-2.0
"""Time of the laws on two cores: z3 once, both solvers over five seeds, and the slowest obligation."""

from __future__ import annotations

import time

from benchmarks.paired import Figure
from proofs.laws.decide import decide_laws, shipped
from proofs.laws.solve import has_cvc5


def figures() -> list[Figure]:
    measured = measure(("z3",), 1, 2, 6.0)
    return measured + (measure(("z3", "cvc5"), 5, 2, 60.0) if has_cvc5() else [])


def measure(engines: tuple[str, ...], seeds: int, jobs: int, limit: float) -> list[Figure]:
    names = [name for name, law in shipped().items() if not law.why_open]
    started = time.perf_counter()
    found = list(decide_laws(names, engines, seeds, jobs))
    wall = time.perf_counter() - started
    answers = [a for j in found for t in j.tried for a in t.answers]
    unknown = sum(a.status != "unsat" for a in answers)
    broken = sum(m.confirmed for j in found for m in j.mutants)
    mutants = sum(len(j.mutants) for j in found)
    what = f"{len(names)} laws, {'+'.join(engines)}, {seeds} seeds"
    return [
        Figure(f"{what}: {unknown} unproved, {broken}/{mutants}", f"{limit:g} seconds", wall, limit, 1.0),
        Figure(f"{what}: slowest", "2 seconds", max(a.seconds for a in answers), 2.0, 1.0),
    ]
