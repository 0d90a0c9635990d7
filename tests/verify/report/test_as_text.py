# SPDX-License-Identifier: Apache-2.0
"""Reports as text: a refutation has its story, the last line counts everything, and -q leaves that line alone."""

from dataclasses import replace

from verify.core.verdict import Check, Claim, Counterexample, Evidence, Property, Status, Verdict, join
from verify.report import Case, Report, as_text

HOLDS = Property("holds")
WRONG = Counterexample(
    {"t": 1},
    "T1 holds 3, the ISA has 4",
    "1 + 2 = 3",
    "smallest",
    ("5 of 8 differ",),
    repair="stride 2",
    replay="again",
)


def verdict(status: Status, wrong: Counterexample | None = None) -> Verdict:
    return join(Claim("atom", "A", HOLDS, "holds"), [Evidence(Check.ISA, status, "counted", 8, counterexample=wrong)])


def report(*verdicts: Verdict) -> Report:
    return Report((Case("atom", verdicts, layouts=(("A", "4:1"),)),))


def test_a_refutation_is_the_claim_then_the_counterexample_then_the_repair() -> None:
    lines = as_text.render(report(verdict(Status.REFUTED, WRONG))).splitlines()
    assert lines[:-1] == [
        "atom  A  REFUTED   holds      counted, 8 points",
        "  A = 4:1",
        "  T1 holds 3, the ISA has 4      1 + 2 = 3      smallest",
        "  5 of 8 differ",
        "  repair   stride 2",
        "  replay   again",
    ]


def test_the_last_line_counts_and_is_all_that_quiet_leaves() -> None:
    printed = report(verdict(Status.PROVED), verdict(Status.REFUTED, WRONG))
    assert as_text.render(printed, quiet=True) == as_text.render(printed).splitlines()[-1] + "\n"
    assert as_text.summary(printed).startswith("1 subject: 1 refuted; claims: ") and as_text.summary(printed).endswith(
        "exit 1"
    )


def test_a_counterexample_that_plain_arithmetic_does_not_give_is_said_to_be_ours() -> None:
    text = as_text.render(report(verdict(Status.REFUTED, WRONG._replace(reproduced=False))))
    assert "CONTRADICTION" in text and "the fault is in Lanecheck, not in the layout" in text


def test_what_is_missing_is_in_the_last_line() -> None:
    gap = join(Claim("atom", "A", HOLDS, "holds"), [Evidence(Check.GPU, Status.UNCHECKED, "", reason="no recording")])
    printed = replace(report(verdict(Status.PROVED), gap), missing=2)
    assert (
        "no evidence: gpu on 1" in as_text.summary(printed)
        and "2 " in as_text.summary(printed).partition("no evidence")[2]
    )


def test_many_subjects_are_counted_in_a_table() -> None:
    right, wrong = (report(verdict(status)).cases[0] for status in (Status.PROVED, Status.REFUTED))
    names = [f"SM{80 + i % 2}_{i}" for i in range(as_text.MANY)]
    cases = tuple(replace(wrong if name == "SM81_1" else right, name=name) for name in names)
    lines = as_text.render(Report(cases)).splitlines()
    assert lines[-5:-1] == [
        "subjects            verified     refuted",
        "SM80          12          12           -",
        "SM81          12          11           1",
        "total         24          23           1",
    ]
    assert "subjects   " not in as_text.render(Report(cases[1:]))  # few subjects have none
    alike = tuple(replace(case, name=f"SM80_{case.name}") for case in cases)
    assert "subjects   " not in as_text.render(Report(alike))  # nor has one group
    assert as_text.render(Report(cases), quiet=True).count("\n") == 1
