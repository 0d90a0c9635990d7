# SPDX-License-Identifier: Apache-2.0
"""From a claim to an outcome: encode it, solve it, minimise its counterexample and confirm that.

`BoxClaim` is the base class of all claims: `pose` gives the condition for the solver, `facts` the same in plain Python.
`decide` proves or refutes one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from time import perf_counter
from typing import NamedTuple, TypeAlias

from proofs.errors import EngineError, TermOverflow, UnsupportedTerm
from proofs.smt.engine import Answer, Session, Solver, engine
from proofs.smt.outcome import BUDGET, Outcome
from proofs.smt.script import WIDTHS, Modes, Script, encodings
from proofs.smt.sexpr import render
from proofs.smt.term import BoolTerm, Term

Point: TypeAlias = Mapping[str, int]


class Survey(NamedTuple):
    """The points where a claim fails: how many (None: not counted), and the facts at the first one."""

    bad: int | None
    first: Point


class _Posed(NamedTuple):
    """A claim in the encoding chosen for it."""

    text: str
    width: int | None
    method: str


@dataclass(frozen=True, slots=True, init=False, repr=False, eq=False)
class BoxClaim(ABC):
    """A statement about every point of a box of integers, written twice: for the solver and in plain Python."""

    title: str  # what is claimed, in words: the first line of the SMT-LIB text
    variables: Mapping[str, int]  # name -> size, with the range [0, size); counterexamples are minimised in this order
    layouts: tuple[Modes, ...]  # the layouts involved, as flat modes: their extents decide the encoding

    @abstractmethod
    def pose(self, script: Script, at: Mapping[str, Term]) -> BoolTerm:
        """Return the statement at the symbolic point ``at``, as a condition."""

    @abstractmethod
    def facts(self, point: Point) -> Point | None:
        """None when the statement holds at the point, else ``point`` and the values that disagree."""

    def points(self) -> int:
        """How many points an enumeration visits."""
        return prod(self.variables.values())

    def disagreements(self) -> list[Point]:
        """Return the facts at every point where the statement fails, in the order of minimisation."""
        box = product(*map(range, self.variables.values()))
        everywhere = (self.facts(dict(zip(self.variables, values, strict=True))) for values in box)
        return [facts for facts in everywhere if facts is not None]

    def survey(self) -> Survey | None:
        """How many points disagree and the first one, by enumeration; None when none does."""
        points = self.disagreements()
        return Survey(len(points), points[0]) if points else None

    def miscount(self) -> Point | None:
        """Return counts that refute the statement without a particular point; None when they do not."""
        return None


def decide(claim: BoxClaim, budget: int = BUDGET, solver: Solver | None = None) -> Outcome:
    """Return the outcome of proving or refuting ``claim`` within ``budget`` resource units, in a new solver or the one
    given.

    Raises EngineError when plain Python finds nothing wrong at the solver's counterexample, or a smaller one.
    """
    start = perf_counter()
    posed = _pose(claim)
    if posed is None:
        reason = f"no exact encoding up to {WIDTHS[-1]} bits"
        seconds = perf_counter() - start
        return Outcome(status="unknown", method="none", engine=engine(), seconds=seconds, reason=reason)
    solver = solver or Solver()
    answer, survey, how = Answer("unsat"), None, posed.method
    spent = solver.proved.get((posed.text, budget))
    if spent is None:
        session = Session(posed.text, budget, solver)
        answer = session.check()
        if answer.status == "sat":
            survey, how = _refutation(claim, posed, session, claim.points() <= solver.counted)
        spent = session.spent
        if answer.status == "unsat":
            solver.proved[posed.text, budget] = spent
    bad = survey.bad if survey else None
    return Outcome(
        status=answer.status,
        method=how,
        model=survey.first if survey else None,
        bad=bad,
        unique=None if bad is None else bad == 1,
        smt=f"; {claim.title}\n{posed.text}(check-sat)\n",
        rlimit=spent,
        engine=engine(),
        seconds=perf_counter() - start,
        reason=answer.reason,
    )


def _pose(claim: BoxClaim) -> _Posed | None:
    """Return the problem in the first encoding that is exact; None when there is none."""
    for width in encodings(claim.layouts):
        script = Script(width)
        try:
            at = {name: script.variable(name, size) for name, size in claim.variables.items()}
            text = script.refuting(claim.pose(script, at))
        except (TermOverflow, UnsupportedTerm):
            continue
        method = "integer digits" if width is None else f"bit-vectors, {width} bits"
        return _Posed(text, width, method)
    return None


def _refutation(claim: BoxClaim, posed: _Posed, session: Session, counted: bool) -> tuple[Survey, str]:
    """Return the smallest counterexample, confirmed in plain Python, and what found it: solver or counting."""
    survey = claim.survey() if counted else None
    miscount = claim.miscount()
    if miscount is not None:
        return survey or Survey(None, miscount), "counting"
    model, smallest = _minimise(claim, posed.width, session)
    facts = claim.facts(model)
    if facts is None:
        raise EngineError(f"{claim.title}: plain Python finds nothing wrong at the solver's counterexample {model}")
    if not counted:
        return Survey(None, facts), posed.method + ("" if smallest else ", not minimised: budget exhausted")
    if survey is None or (smallest and survey.first != facts):
        raise EngineError(f"{claim.title}: smallest counterexample {facts} by the solver, {survey} by enumeration")
    return survey, posed.method


def _minimise(claim: BoxClaim, width: int | None, session: Session) -> tuple[Point, bool]:
    """Return the lexicographically smallest model, by bisection of each variable.

    False when the budget ran out first.
    """
    names = tuple(claim.variables)
    model = session.values(names)
    for name, size in claim.variables.items():
        variable = Term(name, 0, size - 1, width)
        low = 0
        while low < model[name]:
            middle = (low + model[name]) // 2
            status, _ = session.check_assuming(render((variable <= middle).expr))
            if status == "unknown":
                return model, False
            if status == "sat":
                model = session.values(names)
            else:
                low = middle + 1
            session.forget()
        session.assume(render((variable <= low).expr))
    return model, True
