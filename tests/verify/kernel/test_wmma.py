# SPDX-License-Identifier: Apache-2.0
"""wmma: right kernels are verified, wrong ones refuted, and what the ISA leaves open is not called wrong."""

from __future__ import annotations

import pytest

from verify.kernel.check import LaunchOutcome, check
from verify.kernel.claims.claim import claim_of

SUMS = ", ".join(f"%f{number}" for number in range(8))
SCALED = "\n".join(f"mul.f32 %f{number}, %f{number}, 0f40000000;" for number in range(8))
STEP = """wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%a0,%a1,%a2,%a3,%a4,%a5,%a6,%a7}, [%dA], %ld;
wmma.load.b.sync.aligned.col.m16n16k16.global.f16 {%b0,%b1,%b2,%b3,%b4,%b5,%b6,%b7}, [%dB], 48;
wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {SUMS}, {%a0,%a1,%a2,%a3,%a4,%a5,%a6,%a7},
 {%b0,%b1,%b2,%b3,%b4,%b5,%b6,%b7}, {SUMS};
"""
# One warp: C = 2 * A * B of 16 x 16, in two steps of 16 along k.
PRODUCT = f""".version 8.0
.target sm_80
.address_size 64
.entry product(.param .u64 A, .param .u64 B, .param .u64 C, .param .u32 lda)
{{
.reg .b32 %a<8>; .reg .b32 %b<8>; .reg .f32 %f<12>; .reg .b64 %d<9>; .reg .b64 %dA; .reg .b64 %dB; .reg .b32 %ld;
.reg .b32 %t; .reg .pred %p;
ld.param.u64 %dA, [A]; ld.param.u64 %dB, [B]; ld.param.u64 %d3, [C]; ld.param.u32 %ld, [lda];
mov.f32 %f0, 0f00000000;
mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0; mov.f32 %f4, %f0; mov.f32 %f5, %f0; mov.f32 %f6, %f0;
mov.f32 %f7, %f0;
{STEP}add.s64 %dA, %dA, 32; add.s64 %dB, %dB, 32;
{STEP}mov.u32 %t, %tid.x;
{SCALED}
wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%d3], {{SUMS}}, 24;
ret;
}}
""".replace("{SUMS}", f"{{{SUMS}}}")
# In place of the store: each lane stores its eight values, half a row, as if it knew which they are.
EACH = "shr.u32 %a0, %t, 1; mul.wide.u32 %d4, %a0, 96; and.b32 %a1, %t, 1; mul.wide.u32 %d5, %a1, 32;"
EACH += "add.s64 %d4, %d4, %d5; add.s64 %d4, %d4, %d3;"
EACH += "".join(f"st.global.f32 [%d4+{4 * number}], %f{number};" for number in range(8))
CLAIM = {
    "grid": 1,
    "block": 32,
    "sizes": {"M": 16, "N": 16, "K": 32},
    "claim": "C[m,n] = 2 * sum_k A[m,k]*B[n,k]",
    "params": ["A", "B", "C", "lda"],
    "arrays": {
        "A": {"dims": "mk", "type": "f16", "strides": [40, 1]},
        "B": {"dims": "nk", "type": "f16", "strides": [48, 1]},
        "C": {"dims": "mn", "type": "f32", "strides": [24, 1], "out": True},
    },
}


def run(old: str = "", new: str = "", **claim: object) -> LaunchOutcome:
    """The outcome of the product, one part of its text exchanged everywhere."""
    assert old in PRODUCT
    (outcome,) = check(PRODUCT.replace(old, new) if old else PRODUCT, claim_of(CLAIM | claim), seed=3)
    return outcome


def test_a_product_in_fragments_is_verified_in_every_arrangement() -> None:
    for seed in range(4):
        (outcome,) = check(PRODUCT, claim_of(CLAIM), seed=seed)
        assert (outcome.status, outcome.findings) == ("VERIFIED", ())


@pytest.mark.long
@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("row.m16n16k16.global.f16", "col.m16n16k16.global.f16", ""),  # A along m is a fragment of another kind
        ("[%dB], 48", "[%dB], 40", "holds"),
        ("add.s64 %dA, %dA, 32;", "", "C[m=0,n=0]"),
        ("store.d.sync.aligned.row", "store.d.sync.aligned.col", "belongs to C["),
        (SCALED, "", "C[m=0,n=0] is"),
        ("mov.f32 %f0, 0f00000000;", "mov.f32 %f0, 0f3F800000;", "C[m=0,n=0] is"),
        ("[%dA], %ld", "[%dA+2], %ld", "multiple of 16 bytes"),
    ],
)
def test_a_wrong_product_is_refuted(old: str, new: str, words: str) -> None:
    outcome = run(old, new)
    assert outcome.status == ("REFUTED" if words else "UNKNOWN")
    assert any(words in finding.text for finding in outcome.findings), outcome.findings


def test_the_cause_is_the_first_product_of_two_different_k() -> None:
    outcome = run(" add.s64 %dB, %dB, 32;", "")
    (cause,) = [finding.text for finding in outcome.findings if finding.kind == "wrong operand"]
    assert cause.startswith("wmma of the warp of CTA 0") and "A holds k = 16..31, B k = 0..15" in cause


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [  # right on hardware whose arrangement somebody found out, and nothing that the ISA promises
        ("mul.f32 %f3, %f3, 0f40000000;", "add.f32 %f3, %f4, %f4;", "two of its places"),
        ("mul.f32 %f3, %f3, 0f40000000;", "", "leaves open"),
        ("wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%d3], {" + SUMS + "}, 24;", EACH, "leaves open"),
        ("{%a0,%a1,%a2,%a3,%a4,%a5,%a6,%a7},\n", "{%a1,%a0,%a2,%a3,%a4,%a5,%a6,%a7},\n", "two of its places"),
        ("row.col.m16n16k16.f32.f32", "row.row.m16n16k16.f32.f32", "another fragment"),
        ("mov.f32 %f7, %f0;", "cvt.rn.f32.u32 %f7, %tid.x;", "no wmma instruction"),
    ],
)  # fmt: skip
def test_what_the_isa_leaves_open_is_unknown(old: str, new: str, words: str) -> None:
    outcome = run(old, new)
    assert outcome.status == "UNKNOWN", outcome.findings
    assert any(words in finding.text for finding in outcome.findings), outcome.findings


def test_a_number_of_registers_that_the_instruction_does_not_have_is_named_before_it_runs() -> None:
    outcome = run("{%a0,%a1,%a2,%a3,%a4,%a5,%a6,%a7}, [", "{%a0,%a1,%a2,%a3}, [")
    assert outcome.status == "UNKNOWN" and outcome.steps == 0
    assert "A has 4 registers, not 8" in outcome.findings[0].text
