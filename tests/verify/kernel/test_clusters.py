# SPDX-License-Identifier: Apache-2.0
"""Clusters of one CTA: the barrier that is split in two, and the addresses of the CTA's own memory."""

from __future__ import annotations

import pytest

from tests.messages import UNORDERED
from verify.kernel.check import LaunchOutcome, check
from verify.kernel.claims.claim import claim_of

# 64 threads exchange their elements through shared memory, by the addresses that CTA 0 of the cluster has for it.
TEXT = """.version 8.0
.target sm_90
.address_size 64
.entry turn(.param .u64 A, .param .u64 C)
.reqntid 64
{
.reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<3>;
.shared .align 16 .b8 tile[256];
ld.param.u64 %d1, [A]; ld.param.u64 %d2, [C];
mov.u32 %r1, %tid.x; mov.u32 %r2, tile; shl.b32 %r3, %r1, 2; add.s32 %r4, %r2, %r3;
mul.wide.u32 %d3, %r1, 4; add.s64 %d4, %d1, %d3; add.s64 %d5, %d2, %d3;
ld.global.f32 %f1, [%d4];
mov.u32 %r7, %cluster_ctarank;
mapa.shared::cluster.u32 %r5, %r4, %r7;
st.shared::cluster.f32 [%r5], %f1;
barrier.cluster.arrive.release.aligned;
barrier.cluster.wait.acquire.aligned;
xor.b32 %r6, %r3, 252; add.s32 %r6, %r2, %r6;
ld.shared.f32 %f2, [%r6];
st.global.f32 [%d5], %f2;
ret;
}
"""


def run(old: str = "", new: str = "") -> LaunchOutcome:
    """The outcome of one CTA, one part of the text exchanged; C is written the other way round, and read by rows."""
    assert old in TEXT
    arrays = {"A": {"dims": "m", "type": "f32"}, "C": {"dims": "m", "type": "f32", "out": True}}
    claim = {"grid": 1, "block": 64, "sizes": {"M": 64}, "claim": "C[m] = A[m]", "params": ["A", "C"]}
    text = TEXT.replace(
        "add.s64 %d5, %d2, %d3;", "xor.b32 %r8, %r3, 252; mul.wide.u32 %d6, %r8, 1;add.s64 %d5, %d2, %d6;"
    )
    (outcome,) = check(text.replace(old, new) if old else text, claim_of(claim | {"arrays": arrays}), seed=1)
    return outcome


def test_a_split_barrier_orders_what_came_before_the_arrival() -> None:
    outcome = run()
    assert (outcome.status, outcome.findings) == ("VERIFIED", ())


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("barrier.cluster.wait.acquire.aligned;", "", UNORDERED),
        ("cluster.arrive.release", "cluster.arrive.relaxed", UNORDERED),
        ("st.shared::cluster.f32 [%r5], %f1;\nbarrier.cluster.arrive.release.aligned;",
         "barrier.cluster.arrive.release.aligned;\nst.shared::cluster.f32 [%r5], %f1;", UNORDERED),
        ("barrier.cluster.wait.acquire.aligned;", "barrier.cluster.arrive;", "arrives twice"),
        ("barrier.cluster.arrive.release", "setp.eq.u32 %p1, %r1, 5;\n@!%p1 barrier.cluster.arrive", "has not arrived"),
    ],
)  # fmt: skip
def test_a_wrong_twin_is_refuted(old: str, new: str, words: str) -> None:
    outcome = run(old, f".reg .pred %p<2>;\n{new}" if "%p1" in new else new)
    assert outcome.status == "REFUTED"
    assert any(words in finding.text for finding in outcome.findings), outcome.findings


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (".reqntid 64", ".reqntid 64\n.reqnctapercluster 2, 1, 1", "clusters of several CTAs"),
        ("mapa.shared::cluster.u32 %r5, %r4, %r7;", "mapa.shared::cluster.u32 %r5, %r4, 1;", "another CTA's shared"),
    ],
)
def test_other_ctas_of_a_cluster_have_no_meaning(old: str, new: str, words: str) -> None:
    outcome = run(old, new)
    assert outcome.status == "UNKNOWN" and words in outcome.findings[0].text
