# SPDX-License-Identifier: Apache-2.0
"""Proposals: shown only if the whole subject is verified with them, alone or together."""

from __future__ import annotations

from collections.abc import Callable

from verify.core.verdict import Check, Claim, Counterexample, Property, Proposal, Verdict, finding, join
from verify.core.verified_repair import TOGETHER, settle

Numbers = tuple[int, ...]


def put(place: int, number: int) -> Callable[[Numbers], Numbers]:
    return lambda spec: (*spec[:place], number, *spec[place + 1 :])


def make_wrong(*proposals: Proposal) -> Verdict:
    counterexample = Counterexample({}, "wrong", proposals=proposals)
    return join(Claim("own", "A", Property("size"), "is right"), [finding(Check.ISA, counterexample, "counted")])


def list_repairs(verdicts: list[Verdict], spec: Numbers) -> list[str]:
    settled = settle(verdicts, spec, lambda numbers: numbers == (1, 2))
    assert all(
        e.counterexample is None or not e.counterexample.proposals for verdict in settled for e in verdict.evidence
    )
    return ["" if verdict.counterexample is None else verdict.counterexample.repair for verdict in settled]


def test_only_what_verifies_is_shown() -> None:
    assert list_repairs([make_wrong(Proposal("one", put(0, 1)), Proposal("two", put(0, 2)))], (5, 2)) == ["one"]
    assert list_repairs([make_wrong(Proposal("two", put(0, 2)))], (5, 2)) == [""]


def test_what_changes_nothing_is_no_repair() -> None:
    assert list_repairs([make_wrong(Proposal("the same", put(0, 1)))], (1, 2)) == [""]


def test_two_that_are_needed_are_shown_together() -> None:
    verdicts = [make_wrong(Proposal("one", put(0, 1))), make_wrong(Proposal("two", put(1, 2)))]
    assert list_repairs(verdicts, (5, 5)) == [f"one{TOGETHER}", f"two{TOGETHER}"]
