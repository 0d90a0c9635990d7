# SPDX-License-Identifier: Apache-2.0
"""Every one-edit mutant of the operands of atoms, each distinct layout once.

A mutant is confirmed when the ISA's formula and z3 both refute it, unmet when it is the same function as its origin,
rejected when a check has no evidence on it or gives up, and refuted, a survivor, when a check finds it right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import proofs
from layouts import Layout
from layouts.atoms import registry
from verify.atom.checker import AtomChecker
from verify.campaign.spec import MutantsSpec
from verify.campaign.tally import Tally, Wrong
from verify.core.names import select
from verify.core.verdict import Check
from verify.mutate.mutants import changes, distinct, mutants
from verify.mutate.score import Checkers, Score, score_one

CLAIM = "the ISA's formula and z3 refute it, or it is the same function"
WORDS = {
    "confirmed": "refuted by both",
    "refuted": "survive",
    "rejected": "without evidence",
    "unmet": "the same function",
}


@dataclass(frozen=True, slots=True)
class MutantTask:
    """The mutants of one operand of an atom."""

    atom: str
    operand: str
    cases: int
    rlimit: int | None

    def count(self) -> Tally:
        """Return the mutants counted."""
        budget = self.rlimit or proofs.BUDGET
        bench = Checkers(
            AtomChecker(frozenset({Check.ISA})),
            AtomChecker(frozenset({Check.PROOF}), budget, loaded=proofs.Solver(counted=0)),
        )
        atom, tally = registry()[self.atom], Tally()
        for number, mutant in enumerate(mutants(atom, self.operand)):
            score = Score()
            score_one(score, bench, atom, self.operand, mutant)
            survived = next((line for line in score.survivors if "  SURVIVES " in line), "")
            if survived:
                case, _, what = survived.partition("  ")
                tally += Tally(cases=1, refuted=1, smallest=Wrong(number, case, what))
            elif score.equivalent:
                tally += Tally(cases=1, unmet=1)
            elif score.survivors:
                tally += Tally(cases=1, rejected=1)
            else:
                tally += Tally(cases=1, confirmed=1)
        return tally


def tasks(spec: MutantsSpec) -> Sequence[MutantTask]:
    """Return a task for each distinct operand layout of the atoms. Raises UsageError for a name that no atom has."""
    pool = registry()
    names = list(pool) if spec.atoms == ("*",) else select(spec.atoms, pool, "atom")
    return [
        MutantTask(atom.name, operand, sum(1 for _ in changes(Layout.parse(atom.operands[operand]))), spec.rlimit)
        for atom, operand in distinct(pool[name] for name in names)
    ]
