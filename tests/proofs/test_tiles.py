# SPDX-License-Identifier: Apache-2.0
"""The tiling law for every extent at once."""

import pytest

from proofs import tiles
from proofs.tiling import HYPOTHESES, Part, decide_parts, lemmas


def test_the_law_holds_for_every_extent() -> None:
    outcome = tiles.prove_tiling_of_any()
    assert (outcome.status, outcome.method) == ("unsat", "integers, uninterpreted atom")
    assert "(declare-const X Int)" in outcome.smt


def test_its_assumptions_can_be_met() -> None:
    impossible = Part(tiles.law().assumptions + "(assert (= X 0))\n", tiles.law().goals, "true")
    assert decide_parts([impossible], 10**7).status == "vacuous"


def without(said: str) -> Part:
    law = tiles.law()
    line = f"(assert {said})\n".replace("{X}", "X").replace("{Y}", "Y")
    assert line in law.assumptions
    return Part(law.assumptions.replace(line, ""), law.goals, law.point)


@pytest.mark.parametrize("said", [HYPOTHESES["thread undone"], HYPOTHESES["element in range"], HYPOTHESES["atom onto"]])
def test_an_assumption_that_is_needed_cannot_be_left_out(said: str) -> None:
    """Without it some goal no longer follows: the solver refutes it, or gives up on the products."""
    try:
        assert decide_parts([lemmas(), without(said)], 10**6).status == "unknown"
    except RuntimeError as error:
        assert "refutes" in str(error)


def test_out_of_budget_is_unknown() -> None:
    assert tiles.prove_tiling_of_any(budget=5).status == "unknown"
