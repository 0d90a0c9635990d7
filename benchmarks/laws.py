# SPDX-License-Identifier: Apache-2.0
"""Time of all laws, with their mutants: by z3 once, and by both solvers over five seeds."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.absolute import Unmeasured
from benchmarks.paired import Figure, cold, wall
from proofs.laws.solve import has_cvc5

LAWS = ("-m", "verify.laws", "-q", "--solver")


def figures() -> Iterator[Figure]:
    yield cold("all laws, z3 once", (*LAWS, "z3"), 15.0, clock=wall)
    if not has_cvc5():
        raise Unmeasured("both solvers: cvc5 is not importable (pip install cvc5)")
    yield cold("all laws, both solvers, five seeds", (*LAWS, "both", "--seeds", "5"), 230.0, clock=wall)
