# SPDX-License-Identifier: Apache-2.0
"""What an entry expects of its verdicts: exactly its known defect, and nothing else that was not compared."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from verify.atom.properties import EQUALS, SIGNATURE
from verify.core.verdict import Check, Claim, Evidence, Status, Verdict, join
from verify.report import Case, Expectation, Report, as_json, as_text
from verify.report.alerts import Level, alerts

CLAIM = Claim("atom", "A", EQUALS, "equals the ISA")


def verdict_of(status: Status) -> Verdict:
    return join(CLAIM, [Evidence(Check.ISA, status, "method")])


def test_expect_known_wants_exactly_the_known_defects() -> None:
    refuted = Case("bad", (verdict_of(Status.REFUTED),), expects=Expectation("A: shipped so"))
    right = Case("good", (verdict_of(Status.PROVED),))
    assert Report((refuted, right)).exit() == 1
    assert Report((refuted, right), expect_known=True).exit() == 0
    mended = Case("bad", (verdict_of(Status.PROVED),), expects=Expectation("A: shipped so"))
    assert Report((mended, right), expect_known=True).exit() == 1
    elsewhere = Case("bad", (verdict_of(Status.REFUTED),), expects=Expectation("B: shipped so"))
    assert Report((elsewhere, right), expect_known=True).exit() == 1
    unexpected = Case("other", (verdict_of(Status.REFUTED),))
    assert Report((refuted, unexpected), expect_known=True).exit() == 1


def test_expect_known_passes_no_operand_that_could_not_be_compared() -> None:
    """The defect is of A; nothing is known of B."""
    b = Claim("atom", "B", EQUALS, "equals the ISA")
    open_ = join(b, [Evidence(Check.ISA, Status.UNCHECKED, "", reason="no table has B")])
    known = Case("bad", (verdict_of(Status.REFUTED), open_), expects=Expectation("A: shipped so"))
    report = Report((known,), expect_known=True)
    assert (known.status, known.gap, report.exit()) == ("REFUTED", "no table has B", 4)
    assert "not checked: bad: no table has B" in as_text.render(report)
    assert json.loads(as_json.render(report))["unchecked"] == [
        {"name": "bad", "reason": "no table has B", "excuse": None, "fails": True}
    ]
    assert Report((known,), expect_known=True, allow_unchecked=True).exit() == 0
    assert Report((known,)).exit() == 1 and not Report((known,)).unchecked_cases
    expected = replace(known, expects=replace(known.expects, unchecked="UNCHECKED: no table has B"))
    assert Report((expected,), expect_known=True).exit() == 0
    made = join(b, [Evidence(Check.ISA, Status.PROVED, "method")])
    compared = replace(expected, verdicts=(verdict_of(Status.REFUTED), made))
    assert Report((compared,), expect_known=True).exit() == 1, "it expects B to be UNCHECKED"
    assert Report((replace(compared, expects=replace(compared.expects, unchecked="")),), expect_known=True).exit() == 0
    assert Report((replace(known, expects=Expectation("ptx, A: shipped so")),), expect_known=True).exit() == 0


def test_expect_known_passes_no_operand_without_evidence() -> None:
    """No check was requested that could compare B: as for an atom without a defect, that is exit code 4."""
    b = join(Claim("atom", "B", EQUALS, "equals the ISA"), [])
    known = Case("bad", (verdict_of(Status.REFUTED), b), expects=Expectation("A: shipped so"))
    assert Report((Case("other", (b,)),), expect_known=True).exit() == 4
    assert Report((known,), expect_known=True).exit() == 4
    expected = replace(known, expects=replace(known.expects, unchecked="UNCHECKED: no table has B"))
    assert Report((expected,), expect_known=True).exit() == 0


def test_expect_known_passes_no_instruction_that_could_not_be_looked_up() -> None:
    """Its defect is of A and B is right; nothing is known of an instruction."""
    b = join(Claim("atom", "B", EQUALS, "equals the ISA"), [Evidence(Check.ISA, Status.PROVED, "method")])
    looked_up = Evidence(Check.ISA, Status.UNCHECKED, "", reason="no table has it")
    instruction = join(Claim("atom", "", SIGNATURE, "fits"), [looked_up])
    assert Report((Case("other", (b, instruction)),), expect_known=True).exit() == 4
    known = Case("bad", (verdict_of(Status.REFUTED), b, instruction), expects=Expectation("A: shipped so"))
    assert Report((known,), expect_known=True).exit() == 4


def test_an_alert_says_what_a_known_defect_leaves_unchecked() -> None:
    """Where the exit code is 4, SARIF and GitHub have a warning that says why."""
    b = Claim("atom", "B", EQUALS, "equals the ISA")
    open_ = join(b, [Evidence(Check.ISA, Status.UNCHECKED, "", reason="no table has B")])
    known = Case("bad", (verdict_of(Status.REFUTED), open_), expects=Expectation("A: shipped so"))
    report = Report((known,), expect_known=True)
    assert report.exit() == 4
    assert [a.text for a in alerts(report) if a.level is Level.WARNING] == ["bad  UNCHECKED: no table has B"]


@pytest.mark.parametrize(
    ("defect", "parts"), [("A: why", {"A"}), ("A, ptx: why, and B: too", {"A", "ptx"}), ("", {""})]
)
def test_the_parts_of_a_known_defect_are_those_before_its_first_colon(defect: str, parts: set[str]) -> None:
    assert Expectation(defect).defective_parts == parts


def test_an_entry_without_an_instruction_is_excused_whatever_it_expects() -> None:
    assert Expectation().excuse == ""
    assert Expectation(unchecked="UNCHECKED: why").excuse == "as expected"
    assert Expectation(unchecked="UNCHECKED: why", issues_nothing=True).excuse == "without a matrix instruction"
