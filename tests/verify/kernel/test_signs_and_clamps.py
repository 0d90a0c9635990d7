# SPDX-License-Identifier: Apache-2.0
"""What bit operations, clamps and rounded numbers make of data: signs change, a clamp needs a bound, 1/3 is exact."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from verify.kernel.check import check
from verify.kernel.claims.claim import claim_of

TEXT = """.version 8.0
.target sm_90
.address_size 64
.entry k(.param .u64 a, .param .u64 b, .param .u64 c) {
.reg .b32 i,x,y,z; .reg .b64 pa,pb,pc,o,w; .reg .b16 h;
mov.u32 i,%tid.x; mul.wide.u32 o,i,4; ld.param.u64 pa,[a]; ld.param.u64 pb,[b]; ld.param.u64 pc,[c];
add.u64 pa,pa,o; add.u64 pb,pb,o; add.u64 pc,pc,o; ld.global.b32 x,[pa]; ld.global.b32 y,[pb];
BODY
st.global.b32 [pc],z; ret; }
"""


def findings(body: str, claim: str, kind: str = "f32", **more: Any) -> list[str]:
    """The severity and text of each finding on a kernel of 32 threads, each of which computes one element."""
    size = 64 if kind == "f16" else 32
    arrays: dict[str, Mapping[str, Any]] = {name: {"dims": "i", "type": kind, **more} for name in "AB"}
    arrays["C"] = {"dims": "i", "type": kind, "out": True}
    table = {"grid": 1, "block": 32, "sizes": {"I": size}, "claim": claim, "params": ["A", "B", "C"], "arrays": arrays}
    (outcome,) = check(TEXT.replace("BODY", body), claim_of(table), seed=1)
    return [f"{finding.severity}: {finding.text}" for finding in outcome.findings]


@pytest.mark.parametrize(
    ("body", "right", "wrong", "kind"),
    [
        ("xor.b32 z,x,0x80000000;", "C[i] = 0 - A[i]", "C[i] = A[i]", "f32"),
        ("and.b32 z,x,0x7fffffff;", "C[i] = abs(A[i])", "C[i] = A[i]", "f32"),
        ("or.b32 z,x,0x80000000;", "C[i] = 0 - abs(A[i])", "C[i] = abs(A[i])", "f32"),
        ("xor.b32 z,x,0x80008000;", "C[i] = 0 - A[i]", "C[i] = A[i]", "f16"),
        ("and.b32 z,x,0x7fff7fff;", "C[i] = abs(A[i])", "C[i] = A[i]", "f16"),
        ("mov.f32 y,0f3F800000; div.rn.f32 y,y,0f40400000; mul.f32 z,x,y;", "C[i] = A[i]/3", "C[i] = A[i]/5", "f32"),
    ],
)
def test_a_sign_that_bits_change_and_a_number_that_is_rounded(body: str, right: str, wrong: str, kind: str) -> None:
    assert findings(body, right, kind) == []
    assert findings(body, wrong, kind)[0].startswith("value: ")


@pytest.mark.parametrize("body", ["xor.b32 z,x,0x80000001;", "and.b32 z,x,0x3fffffff;", "xor.b32 z,x,i;"])
def test_other_bits_of_data_have_no_meaning(body: str) -> None:
    assert findings(body, "C[i] = A[i]")[0].startswith("unknown: ")


@pytest.mark.parametrize(
    ("body", "value"),
    [("add.sat.f32 z,x,y;", "A[i] + B[i]"), ("mul.sat.f32 z,x,y;", "A[i]*B[i]"), ("cvt.sat.f32.f32 z,x;", "A[i]"),
     ("fma.rn.sat.f32 z,x,y,x;", "A[i]*B[i] + A[i]")],
)  # fmt: skip
def test_a_clamp_of_data_is_not_the_identity(body: str, value: str) -> None:
    assert findings(body, f"C[i] = {value}")[0].startswith("value: ")
    assert findings(body, f"C[i] = min(max({value}, 0), 1)") == []


def test_a_float_that_is_rounded_to_an_integer_has_no_meaning() -> None:
    assert findings("cvt.rzi.s32.f32 z,x; cvt.rn.f32.s32 z,z;", "C[i] = A[i]")[0].startswith("unknown: ")


def test_a_saturating_sum_of_integers_is_the_sum_if_a_bound_shows_it() -> None:
    assert "range" in findings("add.sat.s32 z,x,y;", "C[i] = A[i] + B[i]", "s32")[0]
    assert findings("add.sat.s32 z,x,y;", "C[i] = A[i] + B[i]", "s32", range=[-100, 100]) == []
    assert findings("sub.sat.s32 z,x,y;", "C[i] = A[i] + B[i]", "s32", range=[-100, 100])[0].startswith("value: ")


def test_from_f64_back_to_f32_is_no_narrowing_and_to_f16_is_one() -> None:
    assert findings("cvt.f64.f32 w,x; cvt.rn.f32.f64 z,w; add.f32 z,z,y;", "C[i] = A[i] + B[i]") == []
    (through,) = findings("cvt.rn.f16.f32 h,x; cvt.f32.f16 z,h; add.f32 z,z,y;", "C[i] = A[i] + B[i]")
    assert through.startswith("precision: ") and "f16" in through


@pytest.mark.parametrize(
    ("kind", "load", "widen", "out"),
    [
        ("u16", "ld.global.b16 h,[pa];", "cvt.u32.u16 z,h;", "u32"),
        ("u16", "ld.global.b16 h,[pa];", "mov.b32 z,{h,0};", "u32"),
        ("u16", "ld.global.u16 z,[pa];", "", "u32"),
        ("u8", "ld.global.b8 h,[pa];", "cvt.u32.u16 z,h;", "u32"),
        ("bf16", "ld.global.b16 h,[pa];", "cvt.u32.u16 z,h; shl.b32 z,z,16;", "f32"),
        ("e5m2", "ld.global.b8 h,[pa];", "shl.b16 h,h,8; cvt.f32.f16 z,h;", "f32"),
    ],
)
def test_zeros_above_an_integer_or_below_a_float_make_it_the_same_number_of_a_wider_type(
    kind: str, load: str, widen: str, out: str
) -> None:
    """As the bits of each type say: e5m2 is the upper byte of f16, bf16 the upper half of f32."""
    place = f"mul.wide.u32 w,i,{1 if '8' in load else 2}; ld.param.u64 pa,[a]; add.u64 pa,pa,w; {load}"
    text = TEXT.replace("ld.global.b32 x,[pa]; ld.global.b32 y,[pb];", place).replace("BODY", widen)
    arrays = {"A": {"dims": "i", "type": kind}, "C": {"dims": "i", "type": out, "out": True}}
    for value, status in (("A[i]", "VERIFIED"), ("2 * A[i]", "REFUTED")):
        table = {"grid": 1, "block": 32, "sizes": {"I": 32}, "claim": f"C[i] = {value}", "arrays": arrays}
        (outcome,) = check(text, claim_of({**table, "params": ["A", "A", "C"]}), seed=1)
        assert outcome.status == status, outcome.findings


def test_a_sum_with_a_nan_is_nan_for_all_data() -> None:
    (text,) = findings("add.f32 z,x,0f7FC00000;", "C[i] = A[i]")
    assert text.startswith("value: C[i=0] is NaN for all data")
    chosen = ".reg .pred p; add.f32 y,x,0f7FC00000; setp.eq.u32 p,i,i; selp.f32 z,x,y,p;"
    assert findings(chosen, "C[i] = A[i]") == []
