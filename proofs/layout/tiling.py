# SPDX-License-Identifier: Apache-2.0
"""The TiledMMA law: in a tile made of copies of a bijective atom each element has one owner, for all counts of copies.

A TiledMMA distributes AX x AY atoms over the warps and repeats them RX x RY times. The element of thread t, value v of
warp (wx, wy) in repeat (rx, ry) is

    x = row(t, v) + X * (wx + AX * rx)        y = col(t, v) + Y * (wy + AY * ry)

for an atom of extents X x Y. All counts and extents are symbolic, so the law is proved for all positive ones (that they
are positive follows from the bounds of w, r and of the atom), and the atom is a pair of uninterpreted functions with an
inverse. Products of unknowns occur only in three lemmas about w + A * r, a number of two digits; an element
x = i + X * p is such a number too, with A = X and R = AX * RX. The law itself needs instances of the lemmas and linear
arithmetic only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import perf_counter

from proofs.errors import EngineError
from proofs.smt.engine import Answer, Session, Solver, engine
from proofs.smt.outcome import BUDGET, Outcome

HEAD = """\
(set-logic QF_UFNIA)
(define-fun within ((A Int) (R Int) (w Int) (r Int)) Bool (and (<= 0 w) (< w A) (<= 0 r) (< r R)))
(define-fun tile ((A Int) (w Int) (r Int)) Int (+ w (* A r)))
(define-fun counted ((A Int) (R Int) (w Int) (r Int)) Bool
  (=> (within A R w r) (and (<= 0 (tile A w r)) (< (tile A w r) (* A R)))))
(define-fun unique ((A Int) (R Int) (w Int) (r Int) (w2 Int) (r2 Int)) Bool
  (=> (and (within A R w r) (within A R w2 r2) (= (tile A w r) (tile A w2 r2))) (and (= w w2) (= r r2))))
(define-fun covered ((A Int) (R Int) (p Int) (w Int) (r Int)) Bool
  (=> (and (<= 1 A) (<= 0 p) (< p (* A R))) (and (within A R w r) (= p (tile A w r)))))
"""
LEMMAS = {
    "a tile's number is below their count": "(counted A R w r)",
    "no two tiles have one number": "(unique A R w r w2 r2)",
    "every number is some tile's": "(covered A R p (mod p A) (div p A))",
}
LEMMA_NAMES = ("A", "R", "w", "r", "w2", "r2", "p")
NAMES = tuple("X Y AX AY RX RY t v t2 v2 wx wy rx ry wx2 wy2 rx2 ry2 wx3 wy3 rx3 ry3 x y".split())
DEFINITIONS = """\
(define-fun place ((i Int) (extent Int) (A Int) (w Int) (r Int)) Int (+ i (* extent (tile A w r))))
(define-fun x1 () Int (place (row t v) X AX wx rx))
(define-fun y1 () Int (place (col t v) Y AY wy ry))
(define-fun x2 () Int (place (row t2 v2) X AX wx2 rx2))
(define-fun y2 () Int (place (col t2 v2) Y AY wy2 ry2))
(define-fun t3 () Int (thread_of (mod x X) (mod y Y)))
(define-fun v3 () Int (value_of (mod x X) (mod y Y)))
"""
HYPOTHESES = {
    "atom in bounds": "(and (<= 0 (row t v)) (< (row t v) X) (<= 0 (col t v)) (< (col t v) Y))",
    "atom in bounds at t2": "(and (<= 0 (row t2 v2)) (< (row t2 v2) X) (<= 0 (col t2 v2)) (< (col t2 v2) Y))",
    "thread undone": "(= (thread_of (row t v) (col t v)) t)",
    "value undone": "(= (value_of (row t v) (col t v)) v)",
    "thread undone at t2": "(= (thread_of (row t2 v2) (col t2 v2)) t2)",
    "value undone at t2": "(= (value_of (row t2 v2) (col t2 v2)) v2)",
    "atom onto": "(and (= (row t3 v3) (mod x X)) (= (col t3 v3) (mod y Y)))",
    "tile in range": "(and (within AX RX wx rx) (within AY RY wy ry))",
    "tile in range at t2": "(and (within AX RX wx2 rx2) (within AY RY wy2 ry2))",
    "element in range": "(and (<= 0 x) (< x (* X AX RX)) (<= 0 y) (< y (* Y AY RY)))",
}
INSTANCES = (
    "(and (counted AX RX wx rx) (counted AY RY wy ry))",
    "(and (unique AX RX wx rx wx2 rx2) (unique AY RY wy ry wy2 ry2))",
    "(and (covered AX RX (div x X) wx3 rx3) (covered AY RY (div y Y) wy3 ry3))",
    "(and (counted X (* AX RX) (row t v) (tile AX wx rx)) (counted Y (* AY RY) (col t v) (tile AY wy ry)))",
    "(and (counted AX RX wx2 rx2) (counted AY RY wy2 ry2))",
    "(and (unique X (* AX RX) (row t v) (tile AX wx rx) (row t2 v2) (tile AX wx2 rx2))"
    " (unique Y (* AY RY) (col t v) (tile AY wy ry) (col t2 v2) (tile AY wy2 ry2)))",
    "(and (covered X (* AX RX) x (mod x X) (div x X)) (covered Y (* AY RY) y (mod y Y) (div y Y)))",
)
GOALS = {
    "in bounds": "(and (<= 0 x1) (< x1 (* X AX RX)) (<= 0 y1) (< y1 (* Y AY RY)))",
    "at most once": "(=> (and (= x1 x2) (= y1 y2))"
    " (and (= t t2) (= v v2) (= wx wx2) (= wy wy2) (= rx rx2) (= ry ry2)))",
    # div x X replaces wx3 + AX * rx3, which it equals: a product with that sum costs z3 a hundred times more.
    "at least once": "(and (within AX RX wx3 rx3) (= (tile AX wx3 rx3) (div x X)) (= x (+ (row t3 v3) (* X (div x X))))"
    " (within AY RY wy3 ry3) (= (tile AY wy3 ry3) (div y Y)) (= y (+ (col t3 v3) (* Y (div y Y)))))",
}
ORIGIN = f"(and (= 1 {' '.join(NAMES[:6])}) (= 0 {' '.join(NAMES[6:])}))"


@dataclass(frozen=True, slots=True)
class Obligations:
    """Assumptions, and goals to be proved from them; ``point`` is an assertion that selects one of their models."""

    assumptions: str
    goals: Mapping[str, str]
    point: str

    def problems(self) -> list[str]:
        """One SMT-LIB text per goal, unsatisfiable exactly when the assumptions imply the goal."""
        return [f"; {title}\n{self.assumptions}(assert (not {goal}))\n" for title, goal in self.goals.items()]


def lemmas(which: Mapping[str, str] = LEMMAS) -> Obligations:
    """The lemmas about w + A * r, which have no assumptions."""
    return Obligations(HEAD + _constants(LEMMA_NAMES), which, "true")


def law(hypotheses: Mapping[str, str] = HYPOTHESES) -> Obligations:
    """The law for one operand: its hypotheses, the instances of the lemmas, and its three goals."""
    known = [HEAD, *(f"(declare-fun {f} (Int Int) Int)\n" for f in ("row", "col", "thread_of", "value_of"))]
    known += [_constants(NAMES), DEFINITIONS]
    known += [f"; {name}\n(assert {text})\n" for name, text in hypotheses.items()]
    known += ["; instances of the lemmas\n", *(f"(assert {text})\n" for text in INSTANCES)]
    return Obligations("".join(known), {f"tiles of XxY atoms: {name}": goal for name, goal in GOALS.items()}, ORIGIN)


def prove_tiling(budget: int = BUDGET, solver: Solver | None = None) -> Outcome:
    """Prove that each element of a tile has one owner: for every bijective atom and all counts of warps and repeats.

    The law is about one operand. Warps that differ only along the axis that the operand lacks own the same elements,
    once each. The text of the outcome has one problem per lemma and goal, separated by (reset): all must be
    unsatisfiable. "vacuous" means that no atom and no counts satisfy the hypotheses. Raises EngineError when the solver
    refutes the law, which is a theorem.

    >>> prove_tiling().status
    'unsat'
    """
    return decide_obligations([lemmas(), law()], budget, solver)


def decide_obligations(
    obligations: list[Obligations],
    budget: int,
    solver: Solver | None = None,
    refute: Callable[[Session], Mapping[str, int]] | None = None,
    method: str = "integers, uninterpreted atom",
) -> Outcome:
    """Prove that every goal follows from its assumptions, and that these can be satisfied.

    ``refute`` confirms the model of a goal that fails, and returns the counterexample. Raises EngineError when a goal
    fails and there is no ``refute``.
    """
    start = perf_counter()
    solver = solver or Solver()
    spent, answers = 0, list[Answer]()
    vacuous, model = False, None
    for one in obligations:
        session = Session(one.assumptions, budget, solver)
        met = _met(one, session)
        vacuous = vacuous or met.status == "unsat"
        for title, goal in one.goals.items():
            answers.append(session.check_assuming(f"(not {goal})"))
            if answers[-1].status == "sat" and refute is None:
                raise EngineError(f"the solver refutes a theorem, {title}:\n{one.assumptions}(assert (not {goal}))")
            if answers[-1].status == "sat" and refute is not None and model is None:
                model = refute(session)
            session.forget()
        answers += [met] if met.status == "unknown" else []
        spent += session.spent
    doubt = next((answer for answer in answers if answer.status == "unknown"), Answer("unsat"))
    return Outcome(
        status="vacuous" if vacuous else "sat" if model is not None else doubt.status,
        method=method,
        model=model,
        bad=None,
        unique=None,
        smt="(reset)\n".join(f"{text}(check-sat)\n" for one in obligations for text in one.problems()),
        rlimit=spent,
        engine=engine(),
        seconds=perf_counter() - start,
        reason="the hypotheses cannot be satisfied" if vacuous else doubt.reason,
    )


def _met(one: Obligations, session: Session) -> Answer:
    """The answer to "have the assumptions a model?": the given point, or else any."""
    at_point = session.check_assuming(one.point)
    session.forget()
    return at_point if at_point.status == "sat" else session.check()


def _constants(names: tuple[str, ...]) -> str:
    return "".join(f"(declare-const {name} Int)\n" for name in names)
