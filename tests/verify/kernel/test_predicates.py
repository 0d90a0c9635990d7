# SPDX-License-Identifier: Apache-2.0
"""Predicates that data decide: negated, combined, in some threads only; each right kernel has a wrong twin."""

import pytest

from tests.verify.kernel.test_check import run_sum

PARTIAL = "setp.lt.u32 %p2, %r1, 32; @%p2 setp.gt.f32 %p1, %f1, %f2; @!%p2 setp.lt.u32 %p1, %r1, 48;"
# A body, what it computes, and what a kernel must not be taken for.
DECIDED = {
    "negated": ("setp.gt.f32 %p1, %f1, %f2; selp.f32 %f3, %f1, %f2, !%p1;", "min(A[i], B[i])", "max(A[i], B[i])"),
    "not": (
        "setp.gt.f32 %p1, %f1, %f2; not.pred %p2, %p1; selp.f32 %f3, %f1, %f2, %p2;",
        "min(A[i], B[i])", "max(A[i], B[i])",
    ),
    "negated twice": (
        "setp.gt.f32 %p1, %f1, %f2; not.pred %p2, %p1; selp.f32 %f3, %f1, %f2, !%p2;",
        "max(A[i], B[i])", "min(A[i], B[i])",
    ),
    "moved": (
        "setp.gt.f32 %p1, %f1, %f2; mov.pred %p2, %p1; selp.f32 %f3, %f1, %f2, %p2;",
        "max(A[i], B[i])", "min(A[i], B[i])",
    ),
    "the second of a pair": (
        "setp.gt.f32 %p1|%p2, %f1, %f2; selp.f32 %f3, %f1, %f2, %p2;", "min(A[i], B[i])", "max(A[i], B[i])",
    ),
    "the negated second of a pair": (
        "setp.gt.f32 %p1|%p2, %f1, %f2; selp.f32 %f3, %f1, %f2, !%p2;", "max(A[i], B[i])", "min(A[i], B[i])",
    ),
    "and of a number": (
        "setp.eq.u32 %p2, %r1, %r1; setp.gt.and.f32 %p1, %f1, %f2, %p2; selp.f32 %f3, %f1, %f2, %p1;",
        "max(A[i], B[i])", "min(A[i], B[i])",
    ),
    "and of a false number": (
        "setp.ne.u32 %p2, %r1, %r1; setp.gt.and.f32 %p1, %f1, %f2, %p2; selp.f32 %f3, %f1, %f2, %p1;",
        "B[i]", "max(A[i], B[i])",
    ),
    "or of a number": (
        "setp.eq.u32 %p2, %r1, %r1; setp.gt.or.f32 %p1, %f1, %f2, %p2; selp.f32 %f3, %f1, %f2, %p1;",
        "A[i]", "max(A[i], B[i])",
    ),
    "xor of a number": (
        "setp.eq.u32 %p2, %r1, %r1; setp.gt.xor.f32 %p1, %f1, %f2, %p2; selp.f32 %f3, %f1, %f2, %p1;",
        "min(A[i], B[i])", "max(A[i], B[i])",
    ),
    "the second of an and": (
        "setp.eq.u32 %p3, %r1, %r1; setp.gt.and.f32 %p1|%p2, %f1, %f2, %p3; selp.f32 %f3, %f1, %f2, %p2;",
        "min(A[i], B[i])", "max(A[i], B[i])",
    ),
    "a number and data": (
        "setp.gt.f32 %p2, %f1, %f2; setp.eq.and.u32 %p1, %r1, %r1, %p2; selp.f32 %f3, %f1, %f2, %p1;",
        "max(A[i], B[i])", "min(A[i], B[i])",
    ),
    "a number and negated data": (
        "setp.gt.f32 %p2, %f1, %f2; setp.eq.and.u32 %p1, %r1, %r1, !%p2; selp.f32 %f3, %f1, %f2, %p1;",
        "min(A[i], B[i])", "max(A[i], B[i])",
    ),
    "and of predicates": (
        "setp.gt.f32 %p2, %f1, %f2; setp.eq.u32 %p3, %r1, %r1; and.pred %p1, %p2, %p3;"
        " selp.f32 %f3, %f1, %f2, %p1;",
        "max(A[i], B[i])", "min(A[i], B[i])",
    ),
    "xor of predicates": (
        "setp.gt.f32 %p2, %f1, %f2; setp.eq.u32 %p3, %r1, %r1; xor.pred %p1, %p3, %p2;"
        " selp.f32 %f3, %f1, %f2, %p1;",
        "min(A[i], B[i])", "max(A[i], B[i])",
    ),
    "opposites in two branches": (
        "setp.lt.u32 %p2, %r1, 32; @%p2 setp.gt.f32 %p1, %f1, %f2; @!%p2 setp.ge.f32 %p1, %f1, %f2;"
        " selp.f32 %f3, %f1, %f2, %p1;",
        "max(A[i], B[i])", "min(A[i], B[i])",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("body", "right", "wrong"), DECIDED.values(), ids=DECIDED)
def test_a_predicate_that_data_decide_chooses_as_it_is(body: str, right: str, wrong: str) -> None:
    assert run_sum(body, f"C[i] = {right}").status == "VERIFIED"
    assert run_sum(body, f"C[i] = {wrong}").status == "REFUTED"


# Data decide in threads 0 to 31; of the others 32 to 47 take the first value, and the rest the second.
@pytest.mark.parametrize("negated", ["", "!"])
def test_a_predicate_that_data_decide_in_some_threads_is_a_number_in_the_others(negated: str) -> None:
    rest = "setp.lt.u32 %p3, %r1, 48; selp.f32 %f4, %f1, %f2, %p3;"
    low, high = ("%f2", "%f1") if negated else ("%f1", "%f2")
    same = f"""{PARTIAL} selp.f32 %f3, {low}, {high}, {negated}%p1;
{rest} max.f32 %f5, %f1, %f2; selp.f32 %f5, %f5, %f4, %p2; sub.f32 %f3, %f3, %f5;"""
    assert run_sum(same, "C[i] = A[i] - A[i]").status == "VERIFIED"
    wrong = same.replace("%p3, %r1, 48", "%p3, %r1, 49")
    assert run_sum(wrong, "C[i] = A[i] - A[i]").status == "REFUTED"
    everywhere = f"{PARTIAL} selp.f32 %f3, {low}, {high}, {negated}%p1;"
    assert run_sum(everywhere, "C[i] = max(A[i], B[i])").status == "REFUTED"


@pytest.mark.parametrize(
    "body",
    [
        "setp.gt.f32 %p1, %f1, %f2; setp.lt.f32 %p2, %f1, %f3; and.pred %p3, %p1, %p2; selp.f32 %f3, %f1, %f2, %p3;",
        "setp.gt.f32 %p1, %f1, %f2; setp.gt.or.f32 %p2, %f2, %f1, %p1; selp.f32 %f3, %f1, %f2, %p2;",
        "setp.gt.f32 %p1, %f1, %f2; mov.f32 %f3, %f2; @%p1 mov.f32 %f3, %f1;",
        "setp.gt.f32 %p1, %f1, %f2; mov.f32 %f3, %f2; @!%p1 mov.f32 %f3, %f1;",
        "setp.gt.f32 %p1, %f1, %f2; vote.sync.any.pred %p2, %p1, 0xffffffff; selp.f32 %f3, %f1, %f2, %p2;",
        "setp.gt.f32 %p1, %f1, %f2; vote.sync.ballot.b32 %r2, !%p1, 0xffffffff; cvt.rn.f32.u32 %f3, %r2;",
        "mov.b32 %r2, %f1; mov.b32 %r3, %f2; setp.lt.b32 %p1, %r2, %r3; selp.f32 %f3, %f1, %f2, %p1;",
        "activemask.b32 %r2; setp.eq.u32 %p1, %r2, -1; selp.f32 %f3, %f1, %f2, %p1;",
    ],
    ids=["two conditions", "setp of two", "guard", "negated guard", "vote", "ballot", "bits", "activemask"],
)  # fmt: skip
def test_what_a_predicate_of_data_may_not_decide_has_no_meaning(body: str) -> None:
    body = "mov.f32 %f3, %f1;" + body
    for claim in ("max(A[i], B[i])", "min(A[i], B[i])", "A[i]", "B[i]"):
        assert run_sum(body, f"C[i] = {claim}").status in ("UNKNOWN", "REFUTED")
    assert "UNKNOWN" in {str(run_sum(body, f"C[i] = {claim}").status) for claim in ("max(A[i], B[i])", "A[i]")}


NOTE = ("no NaN is among the data that are compared",)


@pytest.mark.parametrize("setp", ["setp.gt.f32 %p1, %f1, %f2, %p2;", "setp.gt.and.f32 %p1, %f1, %f2;"])
def test_a_third_predicate_and_its_operation_come_together(setp: str) -> None:
    """ptxas takes the first, which the ISA does not have: there is no operation that it could mean."""
    outcome = run_sum(f"setp.eq.u32 %p2, %r1, %r1; {setp} selp.f32 %f3, %f1, %f2, %p1;", "C[i] = max(A[i], B[i])")
    assert outcome.status == "UNKNOWN"
    assert any("setp" in finding.text and "predicate" in finding.text for finding in outcome.findings)


def test_a_choice_by_floats_notes_that_no_nan_is_among_them() -> None:
    outcome = run_sum("setp.gt.f32 %p1, %f1, %f2; selp.f32 %f3, %f1, %f2, %p1;", "C[i] = max(A[i], B[i])")
    ((text, lines),) = outcome.notes
    assert (text,) == NOTE and len(lines) == 1
    assert [text for text, _ in run_sum("min.f32 %f3, %f1, %f2;", "C[i] = min(A[i], B[i])").notes] == [*NOTE]
    assert run_sum("add.f32 %f3, %f1, %f2;", "C[i] = A[i] + B[i]").notes == ()


NAN, ONE = "0f7FC00000", "0f3F800000"
RELATIONS = {  # of a NaN with 1, and of 1 with 1: as section 9.7.6.2 says
    **dict.fromkeys(("ne", "lt", "gt"), (False, False)),
    **dict.fromkeys(("eq", "le", "ge"), (False, True)),
    **dict.fromkeys(("neu", "ltu", "gtu"), (True, False)),
    **dict.fromkeys(("equ", "leu", "geu"), (True, True)),
}


@pytest.mark.parametrize("relation", RELATIONS)
def test_an_ordered_relation_of_a_nan_is_false_and_an_unordered_one_true(relation: str) -> None:
    for left, true in zip((NAN, ONE), RELATIONS[relation], strict=True):
        body = f"mov.f32 %f4, {left}; mov.f32 %f5, {ONE}; setp.{relation}.f32 %p1, %f4, %f5;"
        right, wrong = ("A[i]", "B[i]") if true else ("B[i]", "A[i]")
        assert run_sum(f"{body} selp.f32 %f3, %f1, %f2, %p1;", f"C[i] = {right}").status == "VERIFIED"
        assert run_sum(f"{body} selp.f32 %f3, %f1, %f2, %p1;", f"C[i] = {wrong}").status == "REFUTED"


def test_ftz_compares_a_subnormal_as_a_zero() -> None:
    body = (
        "mov.f32 %f4, 0f00000001; mov.f32 %f5, 0f00000000; setp.gt.FTZf32 %p1, %f4, %f5; selp.f32 %f3, %f1, %f2, %p1;"
    )
    for ftz, right in (("", "A[i]"), ("ftz.", "B[i]")):
        assert run_sum(body.replace("FTZ", ftz), f"C[i] = {right}").status == "VERIFIED"
