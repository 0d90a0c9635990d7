# SPDX-License-Identifier: Apache-2.0
"""Joining evidence: a time-out, a check that was not made or a disagreement is never a pass."""

import itertools
import json

import pytest

from verify.atom.properties import EQUALS, RELATION, SIGNATURE
from verify.core.verdict import Check, Claim, Counterexample, Evidence, Status, Verdict, join
from verify.report import Case, Report, as_json, as_text

CLAIM = Claim("atom", "A", EQUALS, "equals the ISA")


def verdict_of(*statuses: Status) -> Verdict:
    return join(CLAIM, [Evidence(w, s, "method") for w, s in zip(itertools.cycle(Check), statuses, strict=False)])


@pytest.mark.parametrize("status", [s for s in Status if s not in (Status.REFUTED,)])
def test_one_refutation_refutes(status: Status) -> None:
    assert verdict_of(status, Status.REFUTED).status is Status.REFUTED


@pytest.mark.parametrize("yes", [Status.PROVED, Status.AGREES])
def test_unknown_and_vacuous_outrank_a_yes(yes: Status) -> None:
    assert verdict_of(yes, Status.UNKNOWN).status is Status.UNKNOWN
    assert verdict_of(yes, Status.VACUOUS).status is Status.VACUOUS


@pytest.mark.parametrize("yes", [Status.PROVED, Status.AGREES])
def test_yes_beside_no_is_a_contradiction(yes: Status) -> None:
    assert verdict_of(yes, Status.REFUTED).contradiction
    assert not verdict_of(Status.UNCHECKED, Status.REFUTED).contradiction
    assert not verdict_of(Status.UNKNOWN, Status.REFUTED).contradiction


def test_an_irreproducible_counterexample_is_a_contradiction() -> None:
    wrong = Counterexample({}, "nonsense", reproduced=False)
    assert join(CLAIM, [Evidence(Check.ISA, Status.REFUTED, "m", counterexample=wrong)]).contradiction


def test_no_evidence_is_unchecked_with_every_reason() -> None:
    missing = [Evidence(w, Status.UNCHECKED, "", reason=f"no {w}") for w in Check]
    verdict = join(CLAIM, missing)
    assert verdict.status is Status.UNCHECKED
    assert all(f"no {w}" in verdict.reason for w in Check)
    assert join(CLAIM, []).status is Status.UNCHECKED


@pytest.mark.parametrize(
    ("statuses", "code"),
    [
        ([[Status.PROVED]], 0),
        ([[Status.PROVED], [Status.UNCHECKED]], 4),
        ([[Status.PROVED], [Status.REFUTED]], 1),
        ([[Status.UNKNOWN], [Status.REFUTED]], 1),
        ([[Status.PROVED], [Status.UNKNOWN]], 4),
        ([[Status.VACUOUS], [Status.REFUTED]], 3),
        ([[Status.PROVED, Status.REFUTED], [Status.REFUTED]], 3),
        ([], 5),
    ],
)
def test_the_exit_code_is_that_of_the_worst_verdict(statuses: list[list[Status]], code: int) -> None:
    cases = tuple(Case(f"atom {i}", (verdict_of(*s),)) for i, s in enumerate(statuses))
    assert Report(cases).exit() == code


def test_a_required_gpu_without_evidence_is_not_good_enough() -> None:
    related = Claim("atom", "", RELATION, "A, B and D interact as recorded")
    unrecorded = join(related, [Evidence(Check.GPU, Status.UNCHECKED, "", reason="no recording", applies=False)])
    case = Case("atom", (verdict_of(Status.PROVED), unrecorded))
    assert Report((case,)).exit() == 0
    assert Report((case,), require=frozenset({Check.GPU})).exit() == 4


def report_taken() -> Report:
    """One claim that is proved, and a field that was filled in from the instruction."""
    field = Claim("atom", "types", SIGNATURE, "D f32, A f16, B f16, C f32, as in mma.sync")
    return Report((Case("atom", (verdict_of(Status.PROVED), Verdict(field, Status.TAKEN, (), reason="not given"))),))


def test_what_is_taken_is_counted_separately_and_is_no_yes() -> None:
    assert not Status.TAKEN.confirmed
    text = as_text.render(report_taken())
    assert "1 proved, 1 taken" in text and "claims: 1 proved" in text
    assert json.loads(as_json.render(report_taken()))["claims"] | {"PROVED": 1, "TAKEN": 1, "AGREES": 0} == {
        **dict.fromkeys(Status, 0),
        "PROVED": 1,
        "TAKEN": 1,
    }
    assert "taken" not in as_text.render(Report((Case("atom", (verdict_of(Status.PROVED),)),)))
