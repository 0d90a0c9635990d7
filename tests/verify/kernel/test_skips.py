# SPDX-License-Identifier: Apache-2.0
"""Branches on what has no plain bits: what they compute has no meaning, and all that doesn't depend on it has."""

from __future__ import annotations

from typing import Any

import pytest

from tests.verify.kernel.test_signs_and_clamps import TEXT
from verify.kernel.check import LaunchOutcome, check
from verify.kernel.claims.claim import claim_of

ROW = """.reg .pred p,q; .shared .b32 s[32]; .reg .b32 v,t; .reg .b64 b;
setp.lt.u32 q,i,16; mov.u32 t,s; shl.b32 v,i,2; add.u32 t,t,v; @q st.shared.b32 [t],x; ld.shared.b32 v,[t];
ex2.approx.ftz.f32 v,v; mov.f32 z,0f3F800000; setp.eq.ftz.f32 p,v,0f00000000; @p bra DONE; WAY DONE:"""
COMPUTES = "rcp.approx.ftz.f32 z,v;"
STORED = ROW + " @!q bra END; st.global.b32 [pc],z; END: ret; }"  # of the threads that have a value


def outcome(body: str, claim: str, count: int = 16) -> LaunchOutcome:
    """What the check says of 32 threads, the first 16 of which have a value v = exp2(A), the others garbage."""
    text = TEXT.replace("BODY\nst.global.b32 [pc],z; ret; }", body)
    arrays: dict[str, Any] = {name: {"dims": "i", "type": "f32", "strides": [1]} for name in "ABC"}
    arrays["C"]["out"] = True
    for name in "AB":
        arrays[name]["dims"] = "j"
    table = {"grid": 1, "block": 32, "sizes": {"I": count, "J": 32}, "params": ["A", "B", "C"], "arrays": arrays}
    (judged,) = check(text, claim_of({**table, "claim": f"C[i] = {claim}"}), seed=1)
    return judged


def test_what_nobody_stores_decides_nothing() -> None:
    judged = outcome(STORED.replace("WAY", COMPUTES), "1 / exp2(A[i*1])")
    assert judged.status == "VERIFIED", judged.findings
    assert outcome(STORED.replace("WAY", COMPUTES), "exp2(A[i*1])").status == "REFUTED"


@pytest.mark.parametrize("address", ["c", "b"])
def test_a_way_may_read_parameters(address: str) -> None:
    """FlashAttention 3 reads its scale there, by the address of its one parameter."""
    way, before = f"ld.param.u64 w,[{address}]; {COMPUTES}", "mov.b64 b,c; setp.eq.ftz"
    body = STORED.replace("setp.eq.ftz", before)
    judged = outcome(body.replace("WAY", way), "1 / exp2(A[i*1])")
    assert judged.status == "VERIFIED", judged.findings
    assert outcome(body.replace("WAY", way), "exp2(A[i*1])").status == "REFUTED"
    elsewhere = outcome(body.replace("WAY", f"add.u64 b,b,4096; {way}"), "1 / exp2(A[i*1])")
    assert elsewhere.status == ("VERIFIED" if address == "c" else "UNKNOWN"), elsewhere.findings


def test_a_part_that_a_way_drops_is_no_register_that_it_writes() -> None:
    judged = outcome(STORED.replace("WAY", COMPUTES + " mov.b64 b,{t,t}; mov.b64 {t,_},b;"), "1 / exp2(A[i*1])")
    assert judged.status == "VERIFIED", judged.findings


@pytest.mark.parametrize(
    "way",
    [
        COMPUTES + " ld.shared.b32 v,[t];",  # it may lie outside
        COMPUTES + " st.shared.b32 [t],z;",
        COMPUTES + " bar.sync 0;",
        COMPUTES + " shfl.sync.bfly.b32 v,z,1,31,-1;",
        "L: rcp.approx.ftz.f32 z,v; setp.lt.f32 p,z,0f40000000; @p bra L;",  # who knows how often
    ],
)
def test_a_way_that_does_more_than_compute_is_followed(way: str) -> None:
    assert outcome(STORED.replace("WAY", way), "1 / exp2(A[i*1])").status == "UNKNOWN"


def test_what_is_stored_must_not_depend_on_it() -> None:
    judged = outcome(ROW.replace("WAY", COMPUTES) + " st.global.b32 [pc],z; ret; }", "1 / exp2(A[i*1])", count=32)
    assert judged.status in ("UNKNOWN", "REFUTED")
    assert any("depends on a branch" in finding.text for finding in judged.findings), judged.findings
