# SPDX-License-Identifier: Apache-2.0
"""A run over a table of properties: which checks are made, what a need stops, and that a cache key is read once."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from verify.core.verdict import Check, Evidence, Property, Scope, Status
from verify.evidence.run import Run, first, needs_confirmed

SUBJECTS = [SimpleNamespace(name=name, size=size) for name, size in (("one", 4), ("two", 4), ("odd", 3))]


class Alone(Run):
    """A run whose subjects have one unit."""

    def units(self, subject: Any, scope: Scope) -> Sequence[Any]:
        return [subject]


def make_property(calls: list[str]) -> Property:
    def find(_: Run, subject: Any, __: Any) -> list[Evidence]:
        calls.append(subject.name)
        return [Evidence(Check.ISA, Status.REFUTED if subject.size % 2 else Status.PROVED, "counted")]

    return Property("even", isa=find, reads=lambda check, subject, _: subject.size, form=True)


def test_evidence_with_one_key_is_found_once_and_names_its_first_subject() -> None:
    calls: list[str] = []
    run, row = Alone(), make_property(calls)
    verdicts = [run.verdicts([row], subject)[0] for subject in SUBJECTS]
    assert [verdict.status for verdict in verdicts] == [Status.PROVED, Status.PROVED, Status.REFUTED]
    assert calls == ["one", "odd"] and [verdict.evidence[0].shared for verdict in verdicts] == ["", "one", ""]
    assert calls == ["one", "odd"] and Alone().verdicts([row], SUBJECTS[1])[0].evidence[0].shared == ""


def test_a_need_that_is_not_met_leaves_the_property_unchecked_with_the_reason() -> None:
    row = make_property([])
    proved = Property(
        "follows", proof=lambda *_: [Evidence(Check.PROOF, Status.PROVED, "z3")], needs=(needs_confirmed(row),)
    )
    for subject, status in zip(SUBJECTS, (Status.PROVED, Status.PROVED, Status.UNCHECKED), strict=True):
        _, verdict = Alone().verdicts([row, proved], subject)
        assert verdict.status is status
    assert verdict.evidence[0].reason == "its premise is not verified:  even is REFUTED"


@pytest.mark.parametrize("status", [Status.REFUTED, Status.VACUOUS, Status.UNKNOWN, Status.UNCHECKED])
def test_a_premise_that_is_not_confirmed_is_never_taken_for_one(status: Status) -> None:
    row = Property("premise", isa=lambda *_: [Evidence(Check.ISA, status, "", reason="no time")])
    proved = Property(
        "follows", proof=lambda *_: [Evidence(Check.PROOF, Status.PROVED, "z3")], needs=(needs_confirmed(row),)
    )
    assert [verdict.status for verdict in Alone().verdicts([row, proved], SUBJECTS[0])] == [status, Status.UNCHECKED]


def test_only_requested_checks_are_made_and_the_form_always() -> None:
    by_all = {check.value: lambda *_, check=check: [Evidence(check, Status.PROVED, "")] for check in Check}
    run = Alone(checks=frozenset({Check.PROOF}))
    assert run.list_checks(Property("any", **by_all)) == [Check.PROOF]  # type: ignore[arg-type]
    assert run.list_checks(Property("form", **by_all, form=True)) == [Check.ISA, Check.PROOF]  # type: ignore[arg-type]


def test_the_first_check_with_evidence_is_taken() -> None:
    evidence = [Evidence(Check.PROOF, Status.PROVED, "second")]
    assert first(lambda *_: [], lambda *_: evidence, lambda *_: [])(Alone(), None, None) == evidence
    assert first(lambda *_: [])(Alone(), None, None) == []
