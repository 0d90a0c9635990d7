# SPDX-License-Identifier: Apache-2.0
"""The TiledMMA law: tiles made of copies of a bijective atom own every element once, whatever their counts.

A TiledMMA lays AX x AY atoms over the warps and repeats that RX x RY times. The element of thread t, value v of warp
(wx, wy) in repeat (rx, ry) is

    x = row(t, v) + X * (wx + AX * rx)        y = col(t, v) + Y * (wy + AY * ry)

for an atom of extents X x Y. Here X and Y are numbers, everything else is symbolic: all positive counts at once (that
they are positive follows from there being a tile at all), and for the atom a pair of uninterpreted functions with an
inverse. Products of unknowns are met by three lemmas about w + A * r alone; the law then uses instances of the lemmas
and linear arithmetic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from time import perf_counter

from proofs.engine import Answer, Session, Solver, engine
from proofs.errors import EngineError, ProblemError
from proofs.outcome import BUDGET, Outcome

HEAD = """\
(set-logic QF_UFNIA)
(define-fun within ((A Int) (R Int) (w Int) (r Int)) Bool (and (<= 0 w) (< w A) (<= 0 r) (< r R)))
(define-fun tile ((A Int) (w Int) (r Int)) Int (+ w (* A r)))
(define-fun counted ((A Int) (R Int) (w Int) (r Int)) Bool
  (=> (within A R w r) (and (<= 0 (tile A w r)) (< (tile A w r) (* A R)))))
(define-fun unique ((A Int) (R Int) (w Int) (r Int) (w2 Int) (r2 Int)) Bool
  (=> (and (within A R w r) (within A R w2 r2) (= (tile A w r) (tile A w2 r2))) (and (= w w2) (= r r2))))
(define-fun reached ((A Int) (R Int) (p Int) (w Int) (r Int)) Bool
  (=> (and (<= 1 A) (<= 0 p) (< p (* A R))) (and (within A R w r) (= p (tile A w r)))))
"""
LEMMAS = {
    "a tile's number is below their count": "(counted A R w r)",
    "no two tiles have one number": "(unique A R w r w2 r2)",
    "every number is some tile's": "(reached A R p (mod p A) (div p A))",
}
LEMMA_NAMES = ("A", "R", "w", "r", "w2", "r2", "p")
NAMES = tuple("AX AY RX RY t v t2 v2 wx wy rx ry wx2 wy2 rx2 ry2 wx3 wy3 rx3 ry3 x y".split())
DEFINITIONS = """\
(define-fun place ((i Int) (extent Int) (A Int) (w Int) (r Int)) Int (+ i (* extent (tile A w r))))
(define-fun x1 () Int (place (row t v) {X} AX wx rx))
(define-fun y1 () Int (place (col t v) {Y} AY wy ry))
(define-fun x2 () Int (place (row t2 v2) {X} AX wx2 rx2))
(define-fun y2 () Int (place (col t2 v2) {Y} AY wy2 ry2))
(define-fun t3 () Int (thread_of (mod x {X}) (mod y {Y})))
(define-fun v3 () Int (value_of (mod x {X}) (mod y {Y})))
"""
HYPOTHESES = {
    "atom in bounds": "(and (<= 0 (row t v)) (< (row t v) {X}) (<= 0 (col t v)) (< (col t v) {Y}))",
    "atom in bounds at t2": "(and (<= 0 (row t2 v2)) (< (row t2 v2) {X}) (<= 0 (col t2 v2)) (< (col t2 v2) {Y}))",
    "thread undone": "(= (thread_of (row t v) (col t v)) t)",
    "value undone": "(= (value_of (row t v) (col t v)) v)",
    "thread undone at t2": "(= (thread_of (row t2 v2) (col t2 v2)) t2)",
    "value undone at t2": "(= (value_of (row t2 v2) (col t2 v2)) v2)",
    "atom onto": "(and (= (row t3 v3) (mod x {X})) (= (col t3 v3) (mod y {Y})))",
    "tile in range": "(and (within AX RX wx rx) (within AY RY wy ry))",
    "tile in range at t2": "(and (within AX RX wx2 rx2) (within AY RY wy2 ry2))",
    "element in range": "(and (<= 0 x) (< x (* {X} AX RX)) (<= 0 y) (< y (* {Y} AY RY)))",
}
INSTANCES = (
    "(and (counted AX RX wx rx) (counted AY RY wy ry))",
    "(and (unique AX RX wx rx wx2 rx2) (unique AY RY wy ry wy2 ry2))",
    "(and (reached AX RX (div x {X}) wx3 rx3) (reached AY RY (div y {Y}) wy3 ry3))",
)
GOALS = {
    "in bounds": "(and (<= 0 x1) (< x1 (* {X} AX RX)) (<= 0 y1) (< y1 (* {Y} AY RY)))",
    "at most once": "(=> (and (= x1 x2) (= y1 y2))"
    " (and (= t t2) (= v v2) (= wx wx2) (= wy wy2) (= rx rx2) (= ry ry2)))",
    "at least once": "(and (within AX RX wx3 rx3) (within AY RY wy3 ry3)"
    " (= x (place (row t3 v3) {X} AX wx3 rx3)) (= y (place (col t3 v3) {Y} AY wy3 ry3)))",
}
ORIGIN = f"(and (= 1 AX AY RX RY) (= 0 {' '.join(NAMES[4:])}))"


@dataclass(frozen=True, slots=True)
class TilingLaw:
    """The law for one atom's extents, its parts open: a test takes a hypothesis away and sees it fail."""

    extents: tuple[int, int]
    lemmas: Mapping[str, str]
    hypotheses: Mapping[str, str]

    def lemma_problems(self) -> list[str]:
        """One problem per lemma, unsatisfiable when it holds."""
        declared = _constants(LEMMA_NAMES)
        return [f"; {name}\n{HEAD}{declared}(assert (not {lemma}))\n" for name, lemma in self.lemmas.items()]

    def assumptions(self) -> str:
        """Everything the law may use: its hypotheses and the instances of the lemmas."""
        lines = [HEAD + "".join(f"(declare-fun {f} (Int Int) Int)\n" for f in ("row", "col", "thread_of", "value_of"))]
        lines += [_constants(NAMES) + DEFINITIONS]
        lines += [f"; {name}\n(assert {text})\n" for name, text in self.hypotheses.items()]
        lines += ["; instances of the lemmas\n", *(f"(assert {text})\n" for text in INSTANCES)]
        return self._filled("".join(lines))

    def law_problems(self) -> list[str]:
        """One problem per part of the law, unsatisfiable when it holds."""
        title = f"tiles of {self.extents[0]}x{self.extents[1]} atoms"
        known = self.assumptions()
        return [f"; {title}: {name}\n{known}(assert (not {self._filled(goal)}))\n" for name, goal in GOALS.items()]

    def _filled(self, text: str) -> str:
        return text.replace("{X}", str(self.extents[0])).replace("{Y}", str(self.extents[1]))


def prove_tiling(extents: tuple[int, ...], budget: int = BUDGET, solver: Solver | None = None) -> Outcome:
    """Tiles of any count of warps and repeats, of any bijective atom, own each element of an operand exactly once.

    Extents (M, N, K) state it of all three operands, the atom being M x N, M x K and N x K; two extents of one. Warps
    that differ in the axis an operand lacks hold it again, once each. The text has one problem per lemma and part,
    separated by (reset): all must be unsatisfiable. "vacuous": no atom and no counts meet the hypotheses.
    Raises ProblemError for extents below 1, EngineError should the solver refute this theorem.
    """
    if not 2 <= len(extents) <= 3 or min(extents) < 1:
        raise ProblemError(f"an atom's extents are two or three positive numbers, not {extents}")
    first, *others = dict.fromkeys((a, b) for i, a in enumerate(extents) for b in extents[i + 1 :])
    law = TilingLaw(first, LEMMAS, HYPOTHESES)
    return decide_laws([law, *(replace(law, extents=other, lemmas={}) for other in others)], budget, solver)


def decide_laws(laws: list[TilingLaw], budget: int, solver: Solver | None = None) -> Outcome:
    """Check that every law's hypotheses can be met, and that no lemma and no part of a law can fail."""
    start = perf_counter()
    problems = [text for law in laws for text in (*law.lemma_problems(), *law.law_problems())]
    spent, worst = 0, Answer("unsat")
    solver = solver or Solver()
    for text in problems:
        session = Session(text, budget, solver)
        answer = session.check()
        spent += session.spent
        if answer.status == "sat":
            raise EngineError(f"the solver refutes a theorem:\n{text}")
        worst = answer if answer.status == "unknown" else worst
    met = [_met(law, budget, solver) for law in laws]
    vacuous = Answer("unsat") in met
    doubt = next((answer for answer in met if answer.status == "unknown"), worst)
    return Outcome(
        status="vacuous" if vacuous else doubt.status,
        method="integers, uninterpreted atom",
        model=None,
        bad=None,
        unique=None,
        smt="(reset)\n".join(f"{text}(check-sat)\n" for text in problems),
        rlimit=spent,
        engine=engine(),
        seconds=perf_counter() - start,
        reason="the hypotheses cannot be met" if vacuous else doubt.reason,
    )


def _met(law: TilingLaw, budget: int, solver: Solver) -> Answer:
    """Whether the hypotheses have a model: one tile at the origin, or else any."""
    session = Session(law.assumptions(), budget, solver)
    at_origin = session.check_assuming(ORIGIN)
    if at_origin.status == "sat":
        return at_origin
    return Session(law.assumptions(), budget, solver).check()


def _constants(names: tuple[str, ...]) -> str:
    return "".join(f"(declare-const {name} Int)\n" for name in names)
