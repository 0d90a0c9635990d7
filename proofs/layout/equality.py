# SPDX-License-Identifier: Apache-2.0
"""The claim that two layouts are the same function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from layouts import Layout
from proofs.layout.modes import modes, size, value
from proofs.smt.engine import Solver
from proofs.smt.outcome import BUDGET, Outcome
from proofs.smt.script import Script
from proofs.smt.solve import Claim, Point, decide
from proofs.smt.term import Condition, Term


def prove_same_function(a: Layout, b: Layout, budget: int = BUDGET, solver: Solver | None = None) -> Outcome:
    """Prove that A and B have equally many indices and A(index) = B(index) at each. A point is an index.

    >>> prove_same_function(Layout.parse("(2,2,1):(1,2,9)"), Layout.parse("4:1")).status
    'unsat'
    """
    flat = modes(a), modes(b)
    title = f"same function: {a} and {b}"
    return decide(_SameFunction(title, {"index": max(map(size, flat))}, flat), budget, solver)


@dataclass(frozen=True, slots=True)
class _SameFunction(Claim):
    def pose(self, script: Script, at: Mapping[str, Term]) -> Condition:
        index = at["index"]
        a, b = (script.define(f"value{i}", script.image(flat, index)) for i, flat in enumerate(self.layouts))
        return (index < min(map(size, self.layouts))) & (a == b)

    def facts(self, point: Point) -> Point | None:
        index = point["index"]
        a, b = ({} if index >= size(f) else {f"value{i}": value(f, index)} for i, f in enumerate(self.layouts))
        return None if a and b and a["value0"] == b["value1"] else {**point, **a, **b}
