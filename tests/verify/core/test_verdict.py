# SPDX-License-Identifier: Apache-2.0
"""Joining evidence: a time-out, a check that was not made or a disagreement is never a pass."""

import itertools
import json
from dataclasses import replace

import pytest

from verify.atom.properties import EQUALS, RELATION, SIGNATURE
from verify.core.verdict import Check, Claim, Counterexample, Evidence, Status, Verdict, join
from verify.report import Case, Report, as_json, as_text
from verify.report.alerts import Level, alerts

CLAIM = Claim("atom", "A", EQUALS, "equals the ISA")


def verdict_of(*statuses: Status) -> Verdict:
    return join(CLAIM, [Evidence(w, s, "method") for w, s in zip(itertools.cycle(Check), statuses, strict=False)])


@pytest.mark.parametrize("other", [s for s in Status if s not in (Status.REFUTED,)])
def test_one_refutation_refutes(other: Status) -> None:
    assert verdict_of(other, Status.REFUTED).status is Status.REFUTED


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
def test_exit_codes(statuses: list[list[Status]], code: int) -> None:
    cases = tuple(Case(f"atom {i}", (verdict_of(*s),)) for i, s in enumerate(statuses))
    assert Report(cases).exit() == code


def test_a_required_gpu_without_evidence_is_not_good_enough() -> None:
    related = Claim("atom", "", RELATION, "A, B and D interact as recorded")
    unrecorded = join(related, [Evidence(Check.GPU, Status.UNCHECKED, "", reason="no recording", applies=False)])
    case = Case("atom", (verdict_of(Status.PROVED), unrecorded))
    assert Report((case,)).exit() == 0
    assert Report((case,), require=frozenset({Check.GPU})).exit() == 4


def test_expect_known_wants_exactly_the_known_defects() -> None:
    refuted = Case("bad", (verdict_of(Status.REFUTED),), known_defect="A: shipped so")
    right = Case("good", (verdict_of(Status.PROVED),))
    assert Report((refuted, right)).exit() == 1
    assert Report((refuted, right), expect_known=True).exit() == 0
    mended = Case("bad", (verdict_of(Status.PROVED),), known_defect="A: shipped so")
    assert Report((mended, right), expect_known=True).exit() == 1
    elsewhere = Case("bad", (verdict_of(Status.REFUTED),), known_defect="B: shipped so")
    assert Report((elsewhere, right), expect_known=True).exit() == 1
    other = Case("other", (verdict_of(Status.REFUTED),))
    assert Report((refuted, other), expect_known=True).exit() == 1


def test_expect_known_passes_no_operand_that_could_not_be_compared() -> None:
    """The defect is of A; nothing is known of B."""
    b = Claim("atom", "B", EQUALS, "equals the ISA")
    open_ = join(b, [Evidence(Check.ISA, Status.UNCHECKED, "", reason="no table has B")])
    known = Case("bad", (verdict_of(Status.REFUTED), open_), known_defect="A: shipped so")
    report = Report((known,), expect_known=True)
    assert (known.status, known.gap, report.exit()) == ("REFUTED", "no table has B", 4)
    assert "not checked: bad: no table has B" in as_text.render(report)
    assert json.loads(as_json.render(report))["unchecked"] == [
        {"name": "bad", "reason": "no table has B", "excuse": None, "fails": True}
    ]
    assert Report((known,), expect_known=True, allow_unchecked=True).exit() == 0
    assert Report((known,)).exit() == 1 and not Report((known,)).unchecked_cases
    expected = replace(known, expect="UNCHECKED: no table has B")
    assert Report((expected,), expect_known=True).exit() == 0
    made = join(b, [Evidence(Check.ISA, Status.PROVED, "method")])
    compared = replace(expected, verdicts=(verdict_of(Status.REFUTED), made))
    assert Report((compared,), expect_known=True).exit() == 1, "it expects B to be UNCHECKED"
    assert Report((replace(compared, expect=""),), expect_known=True).exit() == 0
    assert Report((replace(known, known_defect="ptx, A: shipped so"),), expect_known=True).exit() == 0


def test_expect_known_passes_no_operand_without_evidence() -> None:
    """No check was requested that could compare B: as for an atom without a defect, that is exit code 4."""
    b = join(Claim("atom", "B", EQUALS, "equals the ISA"), [])
    known = Case("bad", (verdict_of(Status.REFUTED), b), known_defect="A: shipped so")
    assert Report((Case("other", (b,)),), expect_known=True).exit() == 4
    assert Report((known,), expect_known=True).exit() == 4
    expected = replace(known, expect="UNCHECKED: no table has B")
    assert Report((expected,), expect_known=True).exit() == 0


def test_expect_known_passes_no_instruction_that_could_not_be_looked_up() -> None:
    """Its defect is of A and B is right; nothing is known of an instruction."""
    b = join(Claim("atom", "B", EQUALS, "equals the ISA"), [Evidence(Check.ISA, Status.PROVED, "method")])
    looked_up = Evidence(Check.ISA, Status.UNCHECKED, "", reason="no table has it")
    instruction = join(Claim("atom", "", SIGNATURE, "fits"), [looked_up])
    assert Report((Case("other", (b, instruction)),), expect_known=True).exit() == 4
    known = Case("bad", (verdict_of(Status.REFUTED), b, instruction), known_defect="A: shipped so")
    assert Report((known,), expect_known=True).exit() == 4


def test_an_alert_says_what_a_known_defect_leaves_unchecked() -> None:
    """Where the exit code is 4, SARIF and GitHub have a warning that says why."""
    b = Claim("atom", "B", EQUALS, "equals the ISA")
    open_ = join(b, [Evidence(Check.ISA, Status.UNCHECKED, "", reason="no table has B")])
    known = Case("bad", (verdict_of(Status.REFUTED), open_), known_defect="A: shipped so")
    report = Report((known,), expect_known=True)
    assert report.exit() == 4
    assert [a.text for a in alerts(report) if a.level is Level.WARNING] == ["bad  UNCHECKED: no table has B"]


def taken() -> Report:
    """One claim that is proved, and a field that was filled in from the instruction."""
    field = Claim("atom", "types", SIGNATURE, "D f32, A f16, B f16, C f32, as in mma.sync")
    return Report((Case("atom", (verdict_of(Status.PROVED), Verdict(field, Status.TAKEN, (), reason="not given"))),))


def test_what_is_taken_is_counted_separately_and_is_no_yes() -> None:
    assert not Status.TAKEN.confirmed
    text = as_text.render(taken())
    assert "1 proved, 1 taken" in text and "claims: 1 proved" in text
    assert json.loads(as_json.render(taken()))["claims"] | {"PROVED": 1, "TAKEN": 1, "AGREES": 0} == {
        **dict.fromkeys(Status, 0),
        "PROVED": 1,
        "TAKEN": 1,
    }
    assert "taken" not in as_text.render(Report((Case("atom", (verdict_of(Status.PROVED),)),)))
