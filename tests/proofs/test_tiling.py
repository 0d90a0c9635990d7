# SPDX-License-Identifier: Apache-2.0
"""The tiling law: proved for atoms of any extents, false as soon as a hypothesis or a lemma is taken away."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

import proofs
from proofs.engine import Session
from proofs.errors import EngineError
from proofs.tiling import HYPOTHESES, INSTANCES, LEMMA_NAMES, LEMMAS, NAMES, TilingLaw, decide_laws

LAW = TilingLaw((16, 8), LEMMAS, HYPOTHESES)
BUDGET = 20_000_000


@pytest.mark.parametrize("extents", [(16, 8, 16), (8, 8, 4), (16, 8, 256), (1, 1, 1), (3, 5), (128, 256, 16)])
def test_the_law_is_proved(extents: tuple[int, ...]) -> None:
    outcome = proofs.prove_tiling(extents)
    assert (outcome.status, outcome.reason) == ("unsat", "")
    tiles = len({(a, b) for i, a in enumerate(extents) for b in extents[i + 1 :]})
    assert outcome.smt.count("(check-sat)") == 3 + 3 * tiles


@pytest.mark.parametrize("hypothesis", HYPOTHESES)
def test_no_hypothesis_is_superfluous(hypothesis: str) -> None:
    kept = {name: text for name, text in HYPOTHESES.items() if name != hypothesis}
    weaker = replace(LAW, hypotheses=kept)
    answers = [Session(text, BUDGET).check().status for text in weaker.law_problems()]
    assert "sat" in answers


def test_widened_ranges_break_the_law() -> None:
    wider = HYPOTHESES | {"tile in range": "(and (<= 0 wx) (<= wx AX) (within AY RY wy ry) (<= 0 rx) (< rx RX))"}
    assert "sat" in [Session(text, BUDGET).check().status for text in replace(LAW, hypotheses=wider).law_problems()]


@pytest.mark.parametrize("lemma", LEMMAS)
def test_lemmas_hold_by_enumeration_and_their_mutants_do_not(lemma: str) -> None:
    (text,) = TilingLaw((1, 1), {lemma: LEMMAS[lemma]}, {}).lemma_problems()
    assert Session(text, BUDGET).check().status == "unsat"
    off_by_one = text.replace("(< w A)", "(<= w A)")
    assert off_by_one != text
    if lemma != "every number is some tile's":
        assert Session(off_by_one, BUDGET).check().status == "sat"
    for counts in product(range(1, 5), repeat=2):
        numbers = [w + counts[0] * r for r in range(counts[1]) for w in range(counts[0])]
        assert sorted(numbers) == list(range(counts[0] * counts[1]))


def test_the_law_needs_its_lemmas_only_as_true_instances() -> None:
    """The instances are about the law's own names: nothing in them is stronger than the lemmas."""
    assert all(instance.count("(") == instance.count(")") for instance in INSTANCES)
    assert set(LEMMA_NAMES).isdisjoint(NAMES)


def test_a_law_whose_hypotheses_contradict_is_vacuous() -> None:
    impossible = HYPOTHESES | {"impossible": "(< AX 1)"}
    outcome = decide_laws([replace(LAW, hypotheses=impossible)], BUDGET)
    assert (outcome.status, outcome.reason) == ("vacuous", "the hypotheses cannot be met")


def test_a_refuted_theorem_is_an_internal_error() -> None:
    kept = {name: text for name, text in HYPOTHESES.items() if name != "value undone"}
    with pytest.raises(EngineError, match="refutes a theorem"):
        decide_laws([replace(LAW, hypotheses=kept)], BUDGET)


def test_too_small_a_budget_is_unknown() -> None:
    outcome = proofs.prove_tiling((16, 8), budget=200)
    assert outcome.status == "unknown"
    assert "rlimit 200 exhausted" in outcome.reason


@pytest.mark.parametrize("extents", [(16,), (16, 0), (1, 2, 3, 4)])
def test_extents_that_are_none_are_refused(extents: tuple[int, ...]) -> None:
    with pytest.raises(proofs.ProblemError, match="extents"):
        proofs.prove_tiling(extents)
