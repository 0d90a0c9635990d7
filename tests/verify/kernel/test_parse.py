# SPDX-License-Identifier: Apache-2.0
"""Calls of functions without a body: an assertion that fails, and what is printed; and float literals."""

from __future__ import annotations

import pytest

from verify.core.errors import UsageError
from verify.kernel.check import LaunchOutcome, check
from verify.kernel.claims.claim import claim_of
from verify.kernel.ptx.parse import parse_kernel

# C = A, where every thread's index must be below n; the last thread prints.
TEXT = """.version 8.0
.target sm_80
.address_size 64
.extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
.global .align 1 .b8 $str[6] = {105, 32, 60, 32, 110};
.entry copy(.param .u64 A, .param .u64 C, .param .u32 n)
{
.reg .b32 %r<5>; .reg .b64 %d<9>; .reg .pred %p<3>; .reg .f32 %f<2>;
ld.param.u64 %d1, [A]; ld.param.u64 %d2, [C]; ld.param.u32 %r1, [n];
mov.u32 %r2, %tid.x;
setp.lt.u32 %p1, %r2, %r1;
@%p1 bra RIGHT;
mov.u64 %d3, $str; cvta.global.u64 %d4, %d3;
{ .param .b64 p0; st.param.b64 [p0+0], %d4; .param .b64 p1; st.param.b64 [p1+0], %d4;
.param .b32 p2; st.param.b32 [p2+0], 5; .param .b64 p3; st.param.b64 [p3+0], %d4; .param .b64 p4;
st.param.b64 [p4+0], 1; call.uni __assertfail, (p0, p1, p2, p3, p4); }
RIGHT:
setp.ne.u32 %p2, %r2, 31;
@%p2 bra QUIET;
{ .param .b64 p0; st.param.b64 [p0+0], %d4; .param .b64 p1; st.param.b64 [p1+0], 0; .param .b32 r0;
call.uni (r0), vprintf, (p0, p1); ld.param.b32 %r3, [r0+0]; }
QUIET:
mul.wide.u32 %d5, %r2, 4; add.s64 %d1, %d1, %d5; add.s64 %d2, %d2, %d5;
ld.global.f32 %f1, [%d1]; st.global.f32 [%d2], %f1;
ret;
}
"""


def run(n: int, old: str = "", new: str = "") -> LaunchOutcome:
    """The outcome of 32 threads, one part of the text exchanged."""
    assert old in TEXT
    return run_text(TEXT.replace(old, new) if old else TEXT, n)


def run_text(text: str, n: int = 32) -> LaunchOutcome:
    """The outcome of a text."""
    arrays = {"A": {"dims": "m", "type": "f32", "offset": 8}, "C": {"dims": "m", "type": "f32", "out": True}}
    claim = {"grid": 1, "block": 32, "sizes": {"M": 32}, "claim": "C[m] = A[m]", "params": ["A", "C", n]}
    (outcome,) = check(text, claim_of(claim | {"arrays": arrays}), seed=1)
    return outcome


def test_an_assertion_that_never_fails_is_no_finding() -> None:
    outcome = run(32)
    assert (outcome.status, outcome.findings) == ("VERIFIED", ())


def test_an_assertion_that_fails_is_a_finding_with_its_line() -> None:
    outcome = run(20)
    assert outcome.status == "REFUTED"
    (failed,) = outcome.findings
    assert failed.kind == "trap" and "thread 20" in failed.text
    assert "__assertfail" in TEXT.splitlines()[failed.line - 1]


def test_a_function_that_is_nowhere_is_an_error_with_its_line() -> None:
    with pytest.raises(UsageError, match=r"line 17: no function is there for 'call.uni other"):
        run(32, "call.uni __assertfail", "call.uni other")


def test_what_a_variable_of_the_module_holds_has_no_meaning() -> None:
    outcome = run(20, "{ .param .b64 p0; st.param.b64 [p0+0], %d4; .param .b64 p1;",
                "ld.global.u32 %r4, [%d4]; { .param .b64 p0; st.param.b64 [p0+0], %d4; .param .b64 p1;")  # fmt: skip
    assert outcome.status == "UNKNOWN" and "variable of the module" in outcome.findings[-1].text


@pytest.mark.long
@pytest.mark.parametrize(
    ("literal", "kind", "bits"),
    [
        ("1.5", "f32", 0x3FC00000), ("1e3", "f32", 0x447A0000), (".5", "f32", 0x3F000000), ("1.", "f32", 0x3F800000),
        ("-1.5", "f32", 0xBFC00000), ("- 1.5", "f32", 0xBFC00000), ("+1.5E-1", "f32", 0x3E19999A),
        ("0.1", "f32", 0x3DCCCCCD), ("01.5", "f32", 0x3FC00000), ("0e1", "f32", 0), ("3e39", "f32", 0x7F800000),
        ("1.00000005960464477540", "f32", 0x3F800000),  # through a double: a tie
        ("0d3FF8000010000000", "f32", 0x3FC00000), ("0f3FC00001", "f64", 0x3FF8000020000000),
        ("0.1", "f64", 0x3FB999999999999A), ("1.5", "b64", 0x3FF8000000000000), ("0f3FC00000", "b32", 0x3FC00000),
    ],
)  # fmt: skip
def test_a_float_is_read_as_ptxas_reads_it(literal: str, kind: str, bits: int) -> None:
    """ptxas 13.0 takes each of these, and makes of it these bits; the wrong twin has another last bit."""
    register = {"f32": "%f1", "b32": "%r4"}.get(kind, "%d8")
    load = f"mov.{kind} {register}, {literal};"
    same = f"mov.b64 %d6, {register};" if kind[1:] == "64" else f"mov.b32 %r3, {register}; cvt.u64.u32 %d6, %r3;"
    body = f"{load} {same} setp.ne.u64 %p1, %d6, {{}}; @%p1 bra END;\nmul.wide.u32 %d5, %r2, 4;"
    text = TEXT.replace("mul.wide.u32 %d5, %r2, 4;", body).replace("ret;\n}", "END: ret;\n}")
    for number, status in ((bits, "VERIFIED"), (bits ^ 1, "REFUTED")):
        assert run_text(text.replace("{}", str(number))).status == status


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("add.s32 %r3, %r2, 1.5;", "1.5 is a float, as an operand of type s32"),
        ("mov.b32 %r3, 1.5;", "1.5 is a float, as an operand of type b32"),
        ("mov.b64 %d6, 0f3F800000;", "0f3F800000 is a float, as an operand of type b64"),
        ("mov.f32 %f1, 1.5f;", "cannot read"),
        ("ld.global.f32 %f1, [%d1+1.5];", "cannot read the address"),
    ],
)
def test_a_float_where_ptxas_rejects_one_is_refused(body: str, said: str) -> None:
    text = TEXT.replace("mul.wide.u32 %d5", f"{body} mul.wide.u32 %d5")
    if "cannot" in said:
        with pytest.raises(UsageError, match=said):
            run_text(text)
    else:
        assert [said in finding.text for finding in run_text(text).findings] == [True]


def test_all_instructions_of_one_inline_asm_are_at_its_line() -> None:
    """LLVM counts the lines of its text on from the line of the source: one too many for the second instruction."""
    text = """.version 8.0
.target sm_80
.entry k()
{
.reg .b32 %r<4>;
.loc 1 22 9
// begin inline asm
.loc 1 22 9
mov.u32 %r1, 0;
.loc 1 23 9
mov.u32 %r2, 1;
// end inline asm
.loc 1 24 5
mov.u32 %r3, 2;
ret;
}
"""
    assert [instruction.source for instruction in parse_kernel(text).instructions] == [
        (1, 22),
        (1, 22),
        (1, 24),
        (1, 24),
    ]
