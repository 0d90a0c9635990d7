# SPDX-License-Identifier: Apache-2.0
"""Certificates of linear inequalities: right ones are found, wrong ones are rejected, whatever a solver says."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofs.smt.inequalities import Inequalities, Linear, find_point, is_certificate
from proofs.smt.libz3 import Context

SMALL = st.integers(-5, 5)
LINEAR = st.dictionaries(st.sampled_from([(), ("x",), ("y",), ("x", "y")]), SMALL, max_size=4)


@given(st.lists(LINEAR, max_size=4), LINEAR)
def test_what_is_derived_is_true_wherever_all_facts_are(facts: list[Linear], goal: Linear) -> None:
    multipliers = Inequalities(facts).derive(goal)
    wrong = []
    for x, y in product(range(-4, 5), repeat=2):
        at = {(): 1, ("x",): x, ("y",): y, ("x", "y"): x * y}
        *values, last = (sum(number * at[key] for key, number in fact.items()) for fact in (*facts, goal))
        wrong += [(x, y)] if min(values, default=0) >= 0 and last < 0 else []
    assert multipliers is None or not wrong


FACTS = [{("M",): 1, ("x",): -64, (): -1}, {("x",): 1}]
GOAL = {("M",): 1, (): -1}


def test_a_certificate_of_another_goal_is_rejected() -> None:
    right = Inequalities(FACTS).derive(GOAL)
    assert right is not None and is_certificate(FACTS, GOAL, right)
    assert not is_certificate(FACTS, {**GOAL, (): -2}, right)
    assert not is_certificate([*FACTS[:1], {("x",): 2}], GOAL, right)


@pytest.mark.parametrize("by", [{0: Fraction(-1)}, {7: Fraction(1)}, {-1: Fraction(1)}, {}])
def test_negative_multipliers_and_facts_that_are_not_there_are_rejected(by: dict[int, Fraction]) -> None:
    assert not is_certificate(FACTS, GOAL, by)


def test_a_point_satisfies_every_fact_as_a_product() -> None:
    facts = [{("x", "y"): 1, (): -35}, {("x",): -1, (): 7}, {("x",): 1}, {("y",): 1}]
    point = find_point(facts, ["y", "x"])
    assert point is not None and point["x"] * point["y"] >= 35 and point["x"] <= 7
    assert find_point([{("x",): 1, (): -1}, {("x",): -1}], []) is None


def _rename(facts: list[Linear], name: str) -> list[Linear]:
    """Return facts of which nobody has asked: x is another symbol."""
    return [
        {tuple(name if symbol == "x" else symbol for symbol in key): by for key, by in fact.items()} for fact in facts
    ]


def test_the_budget_of_an_earlier_proof_ends_nothing() -> None:
    *facts, goal = _rename([*FACTS, GOAL], "budget")
    Context().evaluate("(set-option :rlimit 1)")
    assert Inequalities(facts).derive(goal) is not None
    Context().evaluate("(set-option :rlimit 1)")
    assert find_point([{("x",): 1, (): -3}], ["x"]) == {"x": 3}


def test_the_time_of_a_question_is_not_left_to_later_proofs() -> None:
    *facts, goal = _rename([*FACTS, GOAL], "time")
    before = Context().evaluate("(get-option :timeout)")
    assert Inequalities(facts).derive(goal) is not None and Inequalities(facts).derive({**goal, (): -2}) is None
    assert find_point([{("x",): 1, (): -3}], ["x"]) == {"x": 3}
    assert Context().evaluate("(get-option :timeout)") == before


def test_an_answer_is_kept_and_is_no_answer_without_its_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    *facts, goal = _rename([*FACTS, GOAL], "kept")
    asked = []
    evaluate = Context.evaluate
    monkeypatch.setattr(Context, "evaluate", lambda self, text: asked.append(text) or evaluate(self, text))  # type: ignore[func-returns-value]
    first = Inequalities(facts)
    multipliers = first.derive(goal)
    assert multipliers is not None and asked
    asked.clear()
    more: Linear = {("more",): 1}
    again = Inequalities([more, *reversed(facts)])
    kept = again.derive(goal)
    assert kept is not None and not asked and is_certificate(again.facts, goal, kept)
    for left in range(len(facts)):  # it rests on each of them
        assert Inequalities([*facts[:left], *facts[left + 1 :]]).derive(goal) is None
    asked.clear()
    assert first.derive({**goal, (): -2}) is None and asked
    asked.clear()
    assert Inequalities(facts).derive({**goal, (): -2}) is None and not asked  # of the same facts
    first.add({("kept",): 1, (): -9})
    assert first.derive({**goal, (): -2}) is not None  # with one more there is an answer
