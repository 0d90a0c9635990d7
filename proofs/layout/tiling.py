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

import tomllib
from collections.abc import Mapping
from pathlib import Path

from proofs.layout.obligations import Obligations, decide_obligations
from proofs.smt.engine import Solver
from proofs.smt.outcome import BUDGET, Outcome

_TEXT = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
LEMMAS: Mapping[str, str] = _TEXT["lemmas"]
HYPOTHESES: Mapping[str, str] = _TEXT["hypotheses"]
GOALS: Mapping[str, str] = _TEXT["goals"]
NAMES: tuple[str, ...] = tuple(_TEXT["names"].split())
ORIGIN = f"(and (= 1 {' '.join(NAMES[:6])}) (= 0 {' '.join(NAMES[6:])}))"


def lemmas(which: Mapping[str, str] = LEMMAS) -> Obligations:
    """Return the lemmas about w + A * r, which have no assumptions."""
    return Obligations(_TEXT["head"] + _constants(("A", "R", "w", "r", "w2", "r2", "p")), which, "true")


def law(hypotheses: Mapping[str, str] = HYPOTHESES) -> Obligations:
    """Return the law for one operand: its hypotheses, the instances of the lemmas, and its three goals."""
    known = [_TEXT["head"], *(f"(declare-fun {f} (Int Int) Int)\n" for f in ("row", "col", "thread_of", "value_of"))]
    known += [_constants(NAMES), _TEXT["definitions"]]
    known += [f"; {name}\n(assert {text})\n" for name, text in hypotheses.items()]
    known += ["; instances of the lemmas\n", *(f"(assert {text})\n" for text in _TEXT["instances"])]
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


def _constants(names: tuple[str, ...]) -> str:
    return "".join(f"(declare-const {name} Int)\n" for name in names)
