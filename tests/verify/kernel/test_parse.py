# SPDX-License-Identifier: Apache-2.0
"""Calls of functions without a body: an assertion that fails, and what is printed."""

from __future__ import annotations

import pytest

from verify.core.errors import UsageError
from verify.kernel.check import Outcome, check
from verify.kernel.claims.claim import claim_of

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


def run(n: int, old: str = "", new: str = "") -> Outcome:
    """The outcome of 32 threads, one part of the text exchanged."""
    assert old in TEXT
    arrays = {"A": {"dims": "m", "type": "f32", "offset": 8}, "C": {"dims": "m", "type": "f32", "out": True}}
    claim = {"grid": 1, "block": 32, "sizes": {"M": 32}, "claim": "C[m] = A[m]", "params": ["A", "C", n]}
    (found,) = check(TEXT.replace(old, new) if old else TEXT, claim_of(claim | {"arrays": arrays}), seed=1)
    return found


def test_an_assertion_that_never_fails_is_no_finding() -> None:
    found = run(32)
    assert (found.status, found.findings) == ("VERIFIED", ())


def test_an_assertion_that_fails_is_a_finding_with_its_line() -> None:
    found = run(20)
    assert found.status == "REFUTED"
    (failed,) = found.findings
    assert failed.kind == "trap" and "thread 20" in failed.text
    assert "__assertfail" in TEXT.splitlines()[failed.line - 1]


def test_a_function_that_is_nowhere_is_an_error_with_its_line() -> None:
    with pytest.raises(UsageError, match=r"line 17: no function is there for 'call.uni other"):
        run(32, "call.uni __assertfail", "call.uni other")


def test_what_a_variable_of_the_module_holds_has_no_meaning() -> None:
    found = run(20, "{ .param .b64 p0; st.param.b64 [p0+0], %d4; .param .b64 p1;",
                "ld.global.u32 %r4, [%d4]; { .param .b64 p0; st.param.b64 [p0+0], %d4; .param .b64 p1;")  # fmt: skip
    assert found.status == "UNKNOWN" and "variable of the module" in found.findings[-1].text
