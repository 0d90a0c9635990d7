# SPDX-License-Identifier: Apache-2.0
"""The tiling law: proved for atoms of any extents, and false without any of its hypotheses or lemmas."""

from __future__ import annotations

from itertools import product

import pytest

import proofs
from proofs.errors import EngineError
from proofs.layout.obligations import Obligations, decide_obligations
from proofs.layout.tiling import GOALS, HYPOTHESES, LEMMAS, law, lemmas
from proofs.smt.engine import Session
from tests.cases import each

BUDGET = 20_000_000


def answers(part: Obligations) -> list[str]:
    """The answers to the problems of a text, each solved by itself."""
    return [Session(text, BUDGET).check().status for text in part.problems()]


SIZES = {"extents": "(and (= X 3) (= Y 2))", "counts": "(and (= AX 2) (= RX 3) (= AY 2) (= RY 2))"}


def test_the_law_is_proved_for_every_extent() -> None:
    outcome = proofs.prove_tiling()
    assert (outcome.status, outcome.reason, outcome.method) == ("unsat", "", "integers, uninterpreted atom")
    assert outcome.smt.count("(check-sat)") == len(LEMMAS) + len(GOALS)
    assert "(declare-const X Int)" in outcome.smt


@pytest.mark.parametrize("hypothesis", HYPOTHESES)
def test_no_hypothesis_is_superfluous(hypothesis: str) -> None:
    """Without it some atom of 3x2 breaks the law: the sizes are numbers, so the solver finds a model."""
    kept = {name: text for name, text in HYPOTHESES.items() if name != hypothesis} | SIZES
    assert "sat" in answers(law(kept))


def test_a_widened_range_breaks_the_law() -> None:
    wider = "(and (<= 0 wx) (<= wx AX) (within AY RY wy ry) (<= 0 rx) (< rx RX))"
    assert "sat" in answers(law(HYPOTHESES | {"tile in range": wider} | SIZES))


@pytest.mark.parametrize("goal", GOALS)
def test_a_mutated_goal_is_refuted(goal: str) -> None:
    """One mutant of each goal: a bound too small by one, uniqueness of another value, a tile too far by one."""
    mutants = {
        "in bounds": ("(< x1 (* X AX RX))", "(< (+ 1 x1) (* X AX RX))"),
        "at most once": ("(and (= x1 x2) (= y1 y2))", "(= x1 x2)"),
        "at least once": ("(= (tile AX wx3 rx3) (div x X))", "(= (tile AX wx3 rx3) (+ 1 (div x X)))"),
    }
    old, new = mutants[goal]
    assert GOALS[goal].count(old) == 1
    part = law(HYPOTHESES | SIZES)
    assert answers(Obligations(part.assumptions, {goal: GOALS[goal].replace(old, new)}, part.point)) == ["sat"]


@pytest.mark.parametrize("lemma", LEMMAS)
def test_the_lemmas_hold_and_their_mutants_do_not(lemma: str) -> None:
    part = lemmas({lemma: LEMMAS[lemma]})
    assert answers(part) == ["unsat"]
    mutants = {
        "a tile's number is below their count": ("(< w A)", "(<= w A)"),
        "no two tiles have one number": ("(< w A)", "(<= w A)"),
        "every number is some tile's": ("(< p (* A R))", "(<= p (* A R))"),
    }
    assert answers(Obligations(part.assumptions.replace(*mutants[lemma]), part.goals, part.point)) == ["sat"]


@each("counts", [*product((1, 2, 3), repeat=4)], ids=str)
def test_the_law_for_small_counts_by_enumeration(counts: tuple[int, int, int, int]) -> None:
    warps_x, warps_y, repeats_x, repeats_y = counts
    atom = [(2 * t % 3 + 0 * v, v) for t in range(3) for v in range(2)]  # some bijection onto 3 x 2
    places = [
        (row + 3 * (wx + warps_x * rx), column + 2 * (wy + warps_y * ry))
        for row, column in atom
        for wx, wy in product(range(warps_x), range(warps_y))
        for rx, ry in product(range(repeats_x), range(repeats_y))
    ]
    assert sorted(places) == list(product(range(3 * warps_x * repeats_x), range(2 * warps_y * repeats_y)))


def test_a_law_whose_hypotheses_contradict_is_vacuous() -> None:
    outcome = decide_obligations([law(HYPOTHESES | {"impossible": "(< AX 1)"})], BUDGET)
    assert (outcome.status, outcome.reason) == ("vacuous", "the hypotheses cannot be satisfied")


def test_a_refuted_theorem_is_an_internal_error() -> None:
    kept = {name: text for name, text in HYPOTHESES.items() if name != "value undone"}
    with pytest.raises(EngineError, match="refutes a theorem"):
        decide_obligations([law(kept | SIZES)], BUDGET)


def test_too_small_a_budget_is_unknown() -> None:
    outcome = proofs.prove_tiling(budget=200)
    assert outcome.status == "unknown"
    assert "rlimit 200 exhausted" in outcome.reason
