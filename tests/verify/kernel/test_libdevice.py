# SPDX-License-Identifier: Apache-2.0
"""A logarithm or exponential of libdevice is known by all of its instructions and constants, or not at all."""

from __future__ import annotations

import re
import tomllib

import pytest

from tests.kernels.compile import COMPILED
from verify.kernel.check import check
from verify.kernel.claims.claim import claim_of
from verify.kernel.ptx.libdevice import name_others, replace_functions
from verify.kernel.ptx.parse import parse_kernel

TEXT = (COMPILED / "softmax_log.ptx").read_text()
CLAIM = tomllib.loads((COMPILED / "softmax_log.toml").read_text())
LAST = re.findall(r"mul\.f32[^;]*;", TEXT.partition("setp.lt.u32")[0])[-1]  # the last product of the polynomial
EXP = """.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 a, .param .u64 b) {
.reg .b32 i,x,y,c,d,e,f,g,h,j,l,m; .reg .b64 pa,pb,o;
mov.u32 i,%tid.x; mul.wide.u32 o,i,4; ld.param.u64 pa,[a]; ld.param.u64 pb,[b]; add.u64 pa,pa,o; add.u64 pb,pb,o;
ld.global.b32 x,[pa];
fma.rn.f32 c,x,0f3BBB989D,0f3F000000; cvt.sat.f32.f32 d,c; fma.rm.f32 e,d,0f437C0000,0f4B400001;
add.f32 f,e,0fCB40007F; neg.f32 g,f; fma.rn.f32 h,x,0f3FB8AA3B,g; fma.rn.f32 j,x,0f32A57060,h; shl.b32 l,e,23;
ex2.approx.ftz.f32 m,j; mul.f32 y,m,l;
st.global.b32 [pb],y; ret; }
"""
ARRAYS = {"A": {"dims": "i", "type": "f32"}, "C": {"dims": "i", "type": "f32", "out": True}}
POWERS = {"grid": 1, "block": 32, "sizes": {"I": 32}, "params": ["A", "C"], "arrays": ARRAYS}


@pytest.mark.parametrize(
    ("name", "there"),
    [
        ("softmax_log", ["logf"]),
        ("attention_lse", ["log2f", "log2f"]),
        ("softmax", []),
        ("mma_relu", []),
        ("softmax_cuda", ["expf"] * 10),
        ("attention_cuda", ["log2f", "log2f"]),
    ],
)
def test_a_function_is_known(name: str, there: list[str]) -> None:
    kernel = parse_kernel((COMPILED / f"{name}.ptx").read_text())
    assert [function for _, function in replace_functions(kernel)] == there


def test_instructions_of_others_may_lie_between() -> None:
    """A compiler interleaves the logarithms of several rows."""
    text = TEXT.replace("setp.lt.u32", "mov.u32 filler, 0;\n" * 300 + "setp.lt.u32").replace(
        ".reg", ".reg .b32 filler; .reg", 1
    )
    assert [name for _, name in replace_functions(parse_kernel(text))] == ["logf"]


SUM = EXP.replace("mul.f32 y,m,l;", "mov.b32 y, x; fma.rn.f32 y,m,l,x;")


@pytest.mark.parametrize(("claim", "status"), [("exp(A[i]) + A[i]", "VERIFIED"), ("exp(A[i])", "REFUTED")])
def test_an_exponential_may_end_in_a_sum_that_has_another_value_before(claim: str, status: str) -> None:
    (outcome,) = check(SUM, claim_of({**POWERS, "claim": f"C[i] = {claim}"}), seed=3)
    assert outcome.status == status and any("expf of libdevice" in text for text, _ in outcome.notes)


@pytest.mark.parametrize(
    ("last", "claim", "status"),
    [
        ("mul.f32 y,l,m;", "exp(A[i])", "VERIFIED"),  # nvcc has the factors of logf in another order beside sums
        ("fma.rn.f32 y,m,l,0f3F800000;", "exp(A[i]) + 1", "VERIFIED"),  # of 1 / (1 + exp(-x))
        ("fma.rn.f32 y,l,m,0f3F800000;", "exp(A[i]) + 1", "VERIFIED"),
        ("fma.rn.f32 y,m,l,0f3F800000;", "exp(A[i])", "REFUTED"),
        ("fma.rn.f32 y,m,0f3F800000,l;", "exp(A[i]) + 1", "UNKNOWN"),
    ],
)
def test_an_exponential_may_end_in_a_sum_with_one_and_has_its_factors_in_any_order(
    last: str, claim: str, status: str
) -> None:
    (outcome,) = check(EXP.replace("mul.f32 y,m,l;", last), claim_of({**POWERS, "claim": f"C[i] = {claim}"}), seed=3)
    assert outcome.status == status, outcome.findings


def test_a_product_with_the_sum_between_is_no_exponential() -> None:
    text = EXP.replace("mul.f32 y,m,l;", "fma.rn.f32 y,m,x,l;")
    assert replace_functions(parse_kernel(text)) == []


@pytest.mark.parametrize(
    ("constant", "name"),
    [("0f3BBB989E", ""), ("0f41102CB4", "tanhf"), ("0f40549A78", "exp10f"), ("-1059760811", "logf")],
)
def test_what_has_no_meaning_is_named(constant: str, name: str) -> None:
    """Of code that computes on the bits of a float, its function is named."""
    text = EXP.replace("0f3BBB989D", "0f3BBB989E").replace(
        "shl.b32 l,e,23;", f"shl.b32 l,e,23; xor.b32 f,f,{constant};"
    )
    kernel = parse_kernel(text)
    assert [function for _, function in name_others(kernel, replace_functions(kernel))] == [name] * bool(name)
    (outcome,) = check(text, claim_of({**POWERS, "claim": "C[i] = exp(A[i])"}), seed=3)
    assert (outcome.status == "UNKNOWN" and not name) or f"{name} of CUDA's libdevice" in outcome.findings[0].text


SELECT = re.search(r"selp\.f32\s*(%\w+), 0fFF800000, (%\w+), (%\w+);", TEXT)


@pytest.mark.long
@pytest.mark.parametrize(
    ("infinity", "follows", "status"),
    [("0f7F800000", "add", "VERIFIED"), ("0f7F800000", "sub", "REFUTED"), ("0fFF800000", "add", "UNKNOWN")],
)
def test_the_opposite_of_a_logarithm_may_be_taken_into_its_end(infinity: str, follows: str, status: str) -> None:
    assert SELECT is not None
    made, log, zero = SELECT.groups()
    turned = f"neg.f32 turned, {log}; selp.f32 {made}, {infinity}, turned, {zero};"
    text = TEXT.replace(SELECT[0], turned).replace(".reg", ".reg .b32 turned; .reg", 1)
    text = re.sub(rf"sub\.f32(\s*%\w+, %\w+, {made};)", rf"{follows}.f32\1", text)
    (outcome,) = check(text, claim_of(CLAIM), seed=3)
    assert outcome.status == status, outcome.findings


def test_a_function_that_is_known_is_not_named_as_unknown() -> None:
    kernel = parse_kernel(TEXT)
    assert name_others(kernel, replace_functions(kernel)) == []
    assert [name for _, name in name_others(parse_kernel(TEXT), [])] == ["logf"]


@pytest.mark.parametrize(("claim", "status"), [("exp(A[i])", "VERIFIED"), ("exp2(A[i])", "REFUTED")])
def test_an_exponential_is_one(claim: str, status: str) -> None:
    (outcome,) = check(EXP, claim_of({**POWERS, "claim": f"C[i] = {claim}"}), seed=3)
    assert outcome.status == status and any("expf of libdevice" in text for text, _ in outcome.notes)


@pytest.mark.parametrize("edit", [("0f437C0000", "0f437B0000"), (",23;", ",22;"), ("add.f32 f,e", "add.f32 f,d"),
                                  ("st.global.b32 [pb],y", "st.global.b32 [pb],m")])  # fmt: skip
def test_an_exponential_that_differs_is_not_verified(edit: tuple[str, str]) -> None:
    assert edit[0] in EXP
    (outcome,) = check(EXP.replace(*edit), claim_of({**POWERS, "claim": "C[i] = exp(A[i])"}), seed=3)
    assert outcome.status in ("UNKNOWN", "REFUTED")


@pytest.mark.long
@pytest.mark.parametrize(
    ("pattern", "instead"),
    [
        ("0fBDF8CDCC", "0fBDF8CDCD"),  # a constant
        ("-1059760811", "-1059760810"),
        ("0f3F317218", "0f3FB8AA3B"),
        (r"sub.s32", "add.s32"),
        (re.escape(LAST), LAST.replace("mul", "mul.rz")),
        (r"setp.lt.u32", "setp.le.u32"),
        (re.escape(LAST), f"bra HERE; {LAST}"),  # steps are left out
    ],
)
def test_a_logarithm_that_differs_has_no_meaning(pattern: str, instead: str) -> None:
    text = re.sub(pattern, instead, TEXT).replace("setp.lt.u32", "HERE: setp.lt.u32")
    assert text != TEXT
    assert replace_functions(parse_kernel(text)) == []
    (outcome,) = check(text, claim_of(CLAIM), seed=3)
    assert outcome.status == "UNKNOWN"


def test_a_result_that_is_read_on_the_way_is_not_there() -> None:
    """The predicate of the last choice is no longer computed, so nothing else may read it."""
    where = re.search(r"setp.eq.f32 \s*(%p\d+), (%r\d+), 0f00000000;", TEXT)
    assert where is not None
    text = TEXT.replace(where[0], f"{where[0]} @{where[1]} bar.sync 0;")
    assert replace_functions(parse_kernel(text)) == []
