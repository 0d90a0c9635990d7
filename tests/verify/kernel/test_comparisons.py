# SPDX-License-Identifier: Apache-2.0
"""`slct` and `set` by data choose, as `selp` does by a comparison."""

from __future__ import annotations

import pytest

from tests.verify.kernel.test_lanes import tell
from tests.verify.kernel.test_signedness import BYTES, WORD, run
from tests.verify.kernel.test_signs_and_clamps import findings

S8 = BYTES.format("s8")


@pytest.mark.parametrize(
    ("body", "right", "wrong"),
    [
        ("slct.f32.f32 z,x,y,x;", "where(A[i] >= 0, A[i], B[i])", "where(A[i] > 0, A[i], B[i])"),
        ("slct.b32.f32 z,x,y,y;", "where(B[i] >= 0, A[i], B[i])", "where(B[i] >= 0, B[i], A[i])"),
        ("sub.f32 z,y,x; slct.f32.f32 z,x,y,z;", "where(B[i] >= A[i], A[i], B[i])", "where(B[i] <= A[i], A[i], B[i])"),
        ("sub.f32 z,y,x; slct.ftz.f32.f32 z,x,y,z;", "min(A[i], B[i])", "max(A[i], B[i])"),
        ("set.gt.f32.f32 z,x,y;", "where(A[i] > B[i], 1, 0)", "where(A[i] >= B[i], 1, 0)"),
        ("set.leu.f32.f32 z,x,y; mul.f32 z,z,x;", "where(A[i] <= B[i], 1, 0) * A[i]", "where(A[i] <= B[i], 1, 0)"),
    ],
)
def test_a_float_that_is_data_chooses(body: str, right: str, wrong: str) -> None:
    assert findings(body, f"C[i] = {right}") == []
    assert any("value" in each or "unknown" in each for each in findings(body, f"C[i] = {wrong}"))


PICK = "{{ .reg .pred p; {compare} selp.f32 z,{first},{second},p; }}"


@pytest.mark.parametrize(
    ("compare", "first", "second"), [("setp.num.f32 p,x,x;", "x", "y"), ("setp.nan.f32 p,x,y;", "y", "x")]
)
def test_data_are_numbers_and_no_nan(compare: str, first: str, second: str) -> None:
    """Triton's tf32x3 replaces each NaN of a partial sum by 0."""
    body = PICK.format(compare=compare, first=first, second=second)
    assert findings(body, "C[i] = A[i]") == []
    assert any("value" in each for each in findings(body, "C[i] = B[i]"))


@pytest.mark.parametrize(
    "operand", ["mov.b32 y,0x7fc00000;", "lg2.approx.f32 y,y; popc.b32 y,y;"], ids=["NaN", "unknown"]
)
def test_what_is_compared_with_a_nan_or_without_a_meaning_is_no_number(operand: str) -> None:
    body = operand + PICK.format(compare="setp.num.f32 p,x,y;", first="x", second="0f00000000")
    assert findings(body, "C[i] = A[i]") != []


@pytest.mark.parametrize(
    ("body", "right", "wrong", "kind", "load"),
    [
        ("slct.s32.s32 %r5, %r2, %r3, %r2;", "where(A[i] >= 0, A[i], B[i])", "where(A[i] < 0, A[i], B[i])", "s32",
         WORD),
        ("set.lt.s32.s32 %r5, %r2, %r3;", "where(A[i] < B[i], 0 - 1, 0)", "where(A[i] < B[i], 1, 0)", "s32", WORD),
        ("set.eq.u32.s32 %r5, %r2, %r3; neg.s32 %r5, %r5;", "where(A[i] == B[i], 1, 0)", "where(A[i] != B[i], 1, 0)",
         "s8", S8),
        ("setp.lt.u32 %p1, %r1, 16; set.lt.and.s32.s32 %r5, %r2, %r3, %p1;", "where(A[i] < B[i], 0-1, 0)", "0", "s32",
         WORD),
    ],
)  # fmt: skip
def test_an_integer_that_is_data_chooses(body: str, right: str, wrong: str, kind: str, load: str) -> None:
    outcome = run(body, right, kind, "s32", load)
    if "and" in body:  # half of the threads choose
        assert outcome.status == "REFUTED" and run(body, wrong, kind, "s32", load).status == "REFUTED"
        body = body.replace("%r1, 16", "%r1, 999")
        outcome = run(body, right, kind, "s32", load)
    assert (outcome.status, outcome.findings) == ("VERIFIED", ()), tell(outcome)
    assert run(body, wrong, kind, "s32", load).status == "REFUTED"


def test_the_sign_of_bits_needs_that_they_are_a_number() -> None:
    """A difference of s32 may wrap: without a range its sign isn't the comparison's."""
    body, claim = "sub.s32 %r5, %r2, %r3; slct.s32.s32 %r5, %r2, %r3, %r5;", "where(A[i] >= B[i], A[i], B[i])"
    outcome = run(body, claim, "s32")
    assert outcome.status == "UNKNOWN" and "used as a number of type s32" in tell(outcome)
    assert run(body, claim, "s32", range=[-(1 << 30), (1 << 30) - 1]).status == "VERIFIED"
