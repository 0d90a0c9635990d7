# SPDX-License-Identifier: Apache-2.0
"""The tiling law: proved for atoms of any extents, false as soon as a hypothesis or a lemma is taken away."""

from __future__ import annotations

from itertools import product

import pytest

import proofs
from proofs.engine import Session
from proofs.errors import EngineError
from proofs.tiling import HYPOTHESES, LEMMAS, Part, decide_parts, law, lemmas

BUDGET = 20_000_000


def answers(part: Part) -> list[str]:
    """Each problem of its own, as the emitted text has it."""
    return [Session(text, BUDGET).check().status for text in part.problems()]


@pytest.mark.parametrize("extents", [(16, 8, 16), (8, 8, 4), (16, 8, 256), (1, 1, 1), (3, 5), (128, 256, 16)])
def test_the_law_is_proved(extents: tuple[int, ...]) -> None:
    outcome = proofs.prove_tiling(extents)
    assert (outcome.status, outcome.reason) == ("unsat", "")
    tiles = len({(a, b) for i, a in enumerate(extents) for b in extents[i + 1 :]})
    assert outcome.smt.count("(check-sat)") == 3 + 3 * tiles


@pytest.mark.parametrize("extents", [(16, 8), (3, 5)])
@pytest.mark.parametrize("hypothesis", HYPOTHESES)
def test_no_hypothesis_is_superfluous(hypothesis: str, extents: tuple[int, int]) -> None:
    kept = {name: text for name, text in HYPOTHESES.items() if name != hypothesis}
    assert "sat" in answers(law(extents, kept))


def test_a_widened_range_breaks_the_law() -> None:
    wider = HYPOTHESES | {"tile in range": "(and (<= 0 wx) (<= wx AX) (within AY RY wy ry) (<= 0 rx) (< rx RX))"}
    assert "sat" in answers(law((16, 8), wider))


@pytest.mark.parametrize("lemma", LEMMAS)
def test_the_lemmas_hold_and_their_mutants_do_not(lemma: str) -> None:
    part = lemmas({lemma: LEMMAS[lemma]})
    assert answers(part) == ["unsat"]
    mutants = {
        "a tile's number is below their count": ("(< w A)", "(<= w A)"),
        "no two tiles have one number": ("(< w A)", "(<= w A)"),
        "every number is some tile's": ("(< p (* A R))", "(<= p (* A R))"),
    }
    assert answers(Part(part.assumptions.replace(*mutants[lemma]), part.goals, part.point)) == ["sat"]


@pytest.mark.parametrize("counts", [*product((1, 2, 3), repeat=4)], ids=str)
def test_the_law_for_small_counts_by_enumeration(counts: tuple[int, int, int, int]) -> None:
    warps_x, warps_y, repeats_x, repeats_y = counts
    atom = [(2 * t % 3 + 0 * v, v) for t in range(3) for v in range(2)]  # some bijection onto 3 x 2
    held = [
        (row + 3 * (wx + warps_x * rx), column + 2 * (wy + warps_y * ry))
        for row, column in atom
        for wx, wy in product(range(warps_x), range(warps_y))
        for rx, ry in product(range(repeats_x), range(repeats_y))
    ]
    assert sorted(held) == list(product(range(3 * warps_x * repeats_x), range(2 * warps_y * repeats_y)))


def test_a_law_whose_hypotheses_contradict_is_vacuous() -> None:
    outcome = decide_parts([law((16, 8), HYPOTHESES | {"impossible": "(< AX 1)"})], BUDGET)
    assert (outcome.status, outcome.reason) == ("vacuous", "the hypotheses cannot be met")


def test_a_refuted_theorem_is_an_internal_error() -> None:
    kept = {name: text for name, text in HYPOTHESES.items() if name != "value undone"}
    with pytest.raises(EngineError, match="refutes a theorem"):
        decide_parts([law((16, 8), kept)], BUDGET)


def test_too_small_a_budget_is_unknown() -> None:
    outcome = proofs.prove_tiling((16, 8), budget=200)
    assert outcome.status == "unknown"
    assert "rlimit 200 exhausted" in outcome.reason


@pytest.mark.parametrize("extents", [(16,), (16, 0), (1, 2, 3, 4)], ids=str)
def test_extents_that_are_none_are_refused(extents: tuple[int, ...]) -> None:
    with pytest.raises(proofs.ProblemError, match="extents"):
        proofs.prove_tiling(extents)
