# SPDX-License-Identifier: Apache-2.0
"""dp4a: the products of four bytes; and a shuffle in which only the first warp of a CTA takes part."""

from __future__ import annotations

import pytest

from verify.kernel.check import LaunchOutcome, check
from verify.kernel.claims.claim import claim_of

# Of 64 threads the first 32 multiply four bytes each, and the sums of pairs are an element of C.
TEXT = """.version 8.0
.target sm_80
.address_size 64
.entry dot(.param .u64 A, .param .u64 B, .param .u64 C)
{
.reg .b32 %r<12>; .reg .b64 %d<9>; .reg .pred %p<3>;
ld.param.u64 %d1, [A]; ld.param.u64 %d2, [B]; ld.param.u64 %d3, [C];
mov.u32 %r1, %tid.x;
setp.gt.u32 %p1, %r1, 31;
@%p1 bra END;
mul.wide.u32 %d4, %r1, 4; add.s64 %d1, %d1, %d4;
ld.global.u32 %r2, [%d1]; ld.global.u32 %r3, [%d2]; mov.u32 %r4, 0;
dp4a.s32.s32 %r5, %r2, %r3, %r4;
mov.u32 %r6, -1; mov.u32 %r8, 31;
shfl.sync.bfly.b32 %r7, %r5, 1, %r8, %r6;
add.s32 %r5, %r5, %r7;
shr.u32 %r9, %r1, 1; mul.wide.u32 %d5, %r9, 4; add.s64 %d3, %d3, %d5;
and.b32 %r10, %r1, 1; setp.eq.u32 %p2, %r10, 0;
@%p2 st.global.u32 [%d3], %r5;
END:
ret;
}
"""
CLAIM = {
    "grid": 1,
    "block": 64,
    "sizes": {"N": 16, "J": 2, "K": 4},
    "claim": "C[n] = sum_j sum_k A[n,j,k]*B[k]",
    "params": ["A", "B", "C"],
    "arrays": {
        "A": {"dims": "njk", "type": "s8", "strides": [8, 4, 1]},
        "B": {"dims": "k", "type": "s8"},
        "C": {"dims": "n", "type": "s32", "out": True},
    },
}


def run(old: str = "", new: str = "") -> LaunchOutcome:
    """The outcome of one CTA, one part of the text exchanged."""
    assert old in TEXT
    (outcome,) = check(TEXT.replace(old, new) if old else TEXT, claim_of(CLAIM), seed=1)
    return outcome


def test_sums_of_products_of_bytes_are_verified() -> None:
    outcome = run()
    assert (outcome.status, outcome.findings) == ("VERIFIED", ())


@pytest.mark.parametrize(
    ("old", "new", "status"),
    [
        ("%r5, %r2, %r3, %r4;", "%r5, %r2, %r2, %r4;", "REFUTED"),
        ("%r7, %r5, 1,", "%r7, %r5, 2,", "REFUTED"),
        ("dp4a.s32.s32", "dp4a.u32.u32", "UNKNOWN"),  # the bytes are signed
        ("mov.u32 %r6, -1;", "", "REFUTED"),
    ],
)
def test_a_wrong_twin_is_not_verified(old: str, new: str, status: str) -> None:
    assert run(old, new).status == status
