# SPDX-License-Identifier: Apache-2.0
"""The TiledMMA law for atoms of every extent at once.

`tiling` states the law for extents that are numbers. With X and Y symbolic too, the element of a tile is one more
numeral, x = i + X * p with i < X, so the same three lemmas about w + A * r speak of it, with A = X and R = A * R.
"""

from __future__ import annotations

from proofs.engine import Solver
from proofs.outcome import BUDGET, Outcome
from proofs.tiling import DEFINITIONS, GOALS, HEAD, HYPOTHESES, INSTANCES, NAMES, ORIGIN, Part, decide_parts, lemmas

EXTENTS = ("X", "Y")
POSITIVE = "(and (<= 1 X) (<= 1 Y))"
WITHIN_TILES = (
    "(and (counted X (* AX RX) (row t v) (tile AX wx rx)) (counted Y (* AY RY) (col t v) (tile AY wy ry)))",
    "(and (counted AX RX wx2 rx2) (counted AY RY wy2 ry2))",
    "(and (unique X (* AX RX) (row t v) (tile AX wx rx) (row t2 v2) (tile AX wx2 rx2))"
    " (unique Y (* AY RY) (col t v) (tile AY wy ry) (col t2 v2) (tile AY wy2 ry2)))",
    "(and (reached X (* AX RX) x (mod x X) (div x X)) (reached Y (* AY RY) y (mod y Y) (div y Y)))",
)


def law() -> Part:
    """The law for every X and Y >= 1: hypotheses, instances of the lemmas, and what it claims."""
    constants = "".join(f"(declare-const {name} Int)\n" for name in (*NAMES, *EXTENTS))
    functions = "".join(f"(declare-fun {f} (Int Int) Int)\n" for f in ("row", "col", "thread_of", "value_of"))
    assumed = [POSITIVE, *HYPOTHESES.values(), *INSTANCES, *WITHIN_TILES]
    text = _filled("".join([HEAD, functions, constants, DEFINITIONS, *(f"(assert {said})\n" for said in assumed)]))
    goals = {f"tiles of atoms of any extent: {name}": _filled(goal) for name, goal in GOALS.items()}
    return Part(text, goals, f"(and (= 1 {' '.join(EXTENTS)}) {ORIGIN})")


def prove_tiling_of_any(budget: int = BUDGET, solver: Solver | None = None) -> Outcome:
    """Tiles of any count of warps and repeats, of any bijective atom of any extents, own each element exactly once.

    >>> prove_tiling_of_any().status
    'unsat'
    """
    return decide_parts([lemmas(), law()], budget, solver)


def _filled(text: str) -> str:
    return text.replace("{X}", EXTENTS[0]).replace("{Y}", EXTENTS[1])
