# SPDX-License-Identifier: Apache-2.0
"""cvt.pack: two clamped integers in a register, a above b, and the low bits of c above both, on data and in its order.

The texts are those of CUTLASS's NumericArrayConverter from s32 to s8, u8 and s16.
"""

from __future__ import annotations

import pytest

from verify.kernel.check import LaunchOutcome, check
from verify.kernel.claims.claim import claim_of

TEXT = """.version 8.8
.target sm_90
.address_size 64
.entry k(.param .u64 pa, .param .u64 pc)
{
.reg .b64 %a; .reg .b64 %c; .reg .b64 %o; .reg .b32 %i; .reg .b32 %z<2>; .reg .b32 %r<4>;
ld.param.u64 %a,[pa]; ld.param.u64 %c,[pc]; mov.u32 %i,%tid.x;
mul.wide.u32 %o,%i,16; add.u64 %a,%a,%o; mul.wide.u32 %o,%i,SIZE; add.u64 %c,%c,%o;
ld.global.v4.b32 {%r0,%r1,%r2,%r3},[%a];
BODY
ret;
}"""
BYTES = "cvt.pack.sat.s8.s32.b32 %z1,%r3,%r2,0; cvt.pack.sat.s8.s32.b32 %z0,%r1,%r0,%z1; st.global.b32 [%c],%z0;"
HALVES = "cvt.pack.sat.s16.s32 %z0,%r1,%r0; cvt.pack.sat.s16.s32 %z1,%r3,%r2; st.global.v2.b32 [%c],{%z0,%z1};"
CLAMPED = {
    "s8": "min(max(A[i], 0-128), 127)", "u8": "min(max(A[i], 0), 255)", "s16": "min(max(A[i], 0-32768), 32767)",
    "u16": "min(max(A[i], 0), 65535)",
}  # fmt: skip


def convert_four(body: str, value: str, out: str, **more: object) -> LaunchOutcome:
    """Return the outcome of 32 threads, each of which makes C[4i] to C[4i + 3] of the same elements of A."""
    arrays = {"A": {"dims": "i", "type": "s32", **more}, "C": {"dims": "i", "type": out, "out": True}}
    table = {"grid": 1, "block": 32, "sizes": {"I": 128}, "claim": f"C[i] = {value}", "params": ["A", "C"],
             "arrays": arrays}  # fmt: skip
    (outcome,) = check(TEXT.replace("BODY", body).replace("SIZE", str(int(out[1:]) // 2)), claim_of(table), seed=1)
    return outcome


def of_type(kind: str) -> str:
    return (BYTES if kind[1:] == "8" else HALVES).replace(kind.replace("u", "s"), kind)


@pytest.mark.parametrize("kind", CLAMPED)
def test_four_integers_are_clamped_and_packed_in_the_order_of_their_elements(kind: str) -> None:
    assert convert_four(of_type(kind), CLAMPED[kind], kind).status == "VERIFIED"


@pytest.mark.parametrize("kind", CLAMPED)
def test_a_pack_of_swapped_operands_is_refuted(kind: str) -> None:
    body = of_type(kind).replace("%r1,%r0", "%r0,%r1")
    assert convert_four(body, CLAMPED[kind], kind).status == "REFUTED"


@pytest.mark.parametrize(("kind", "wrong"), [("s8", "u8"), ("u8", "s8"), ("s16", "u16"), ("u16", "s16")])
def test_a_pack_that_clamps_to_the_other_sign_is_refuted(kind: str, wrong: str) -> None:
    assert convert_four(of_type(wrong), CLAMPED[kind], kind).status == "REFUTED"


def test_a_pack_of_integers_within_the_type_is_the_identity() -> None:
    assert convert_four(BYTES, "A[i]", "s8", range=[-128, 127]).status == "VERIFIED"
    assert convert_four(BYTES, "A[i]", "s8", range=[-128, 128]).status != "VERIFIED"


@pytest.mark.parametrize("kind", ["s4", "u4", "s2", "u2"])
def test_a_pack_of_parts_of_bytes_of_data_has_no_meaning(kind: str) -> None:
    outcome = convert_four(BYTES.replace("s8", kind), CLAMPED["s8"], "s8")
    assert outcome.status == "UNKNOWN"
    assert any(f"cvt.pack.sat.{kind}.s32.b32 of data" in finding.text for finding in outcome.findings)
