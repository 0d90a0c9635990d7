# SPDX-License-Identifier: Apache-2.0
"""Threads that compute what others do: what they write twice, and what they read while another one writes."""

import pytest

from tests.messages import UNORDERED
from tests.verify.kernel.test_safety import HEAD
from verify.kernel.check import LaunchOutcome, check
from verify.kernel.claims.claim import claim_of
from verify.kernel.safety import check_safety
from verify.kernel.state.findings import Severity

# 64 threads for 32 elements in place: threads 32 to 63 compute what threads 0 to 31 do
PLACE = """and.b32 %r2, %r1, 31; mul.wide.u32 %d6, %r2, 4; add.s64 %d7, %d2, %d6; setp.lt.u32 %p1, %r1, 32;
ld.global.f32 %f1, [%d7]; add.f32 %f2, %f1, %f1; """
MASKED = f"{PLACE} @%p1 st.global.f32 [%d7], %f2;"
BOTH = f"{PLACE} st.global.f32 [%d7], %f2;"
# the replica puts what it read into shared memory, from which the others take it
USED = f"""{PLACE} mov.u32 %r3, s; shl.b32 %r4, %r2, 2; add.u32 %r5, %r3, %r4; @!%p1 st.shared.f32 [%r5], %f1;
@%p1 st.global.f32 [%d7], %f2; bar.sync 0; ld.shared.f32 %f3, [%r5]; add.f32 %f3, %f3, %f3;
@%p1 st.global.f32 [%d7], %f3;"""
APART = USED.replace("@%p1 st.global.f32 [%d7], %f2; bar.sync 0;", "bar.sync 0;")
ADDS = f"{PLACE} @%p1 red.global.add.f32 [%d7], %f1;"
TABLE = {
    "grid": 1, "block": 64, "params": ["A", "C"], "sizes": {"I": 32}, "claim": "C[i] = 2 * C[i]",
    "arrays": {"A": {"dims": "i", "type": "f32"}, "C": {"dims": "i", "type": "f32", "out": True}},
}  # fmt: skip


def judge(body: str, **more: object) -> LaunchOutcome:
    """The outcome of a kernel with a claim."""
    (outcome,) = check(f"{HEAD}{body}\nret;\n}}\n", claim_of(TABLE | more), seed=1)
    return outcome


def judge_safety(body: str) -> LaunchOutcome:
    """The outcome of a kernel without a claim."""
    table = {key: value for key, value in TABLE.items() if key != "claim"}
    (outcome,) = check_safety(f"{HEAD}{body}\nret;\n}}\n", claim_of(table, claimed=False), seed=1)
    return outcome


def test_what_a_masked_replica_reads_is_used_for_nothing() -> None:
    outcome = judge(MASKED)
    assert outcome.status == "VERIFIED", outcome.findings
    (race,) = outcome.findings
    assert (race.severity, race.section) == (Severity.LETTER, "8.7.1")
    assert race.text.endswith(f"{UNORDERED}; what is read so is used for nothing, so no result rests on it")
    assert judge_safety(MASKED).status == "SAFE"


@pytest.mark.parametrize("body", [BOTH, USED, ADDS])
def test_what_a_replica_reads_and_uses_is_a_race(body: str) -> None:
    """Both threads write what they read, or the replica's number is used, or is added."""
    assert judge(body).status == "REFUTED", judge(body).findings
    assert judge_safety(body).status == "REFUTED", judge_safety(body).findings


def test_a_barrier_before_the_write_makes_the_use_right() -> None:
    outcome = judge(APART)
    assert (outcome.status, outcome.findings) == ("VERIFIED", ())
    assert judge_safety(APART).status == "SAFE"


def test_a_wrong_result_beside_such_a_race_is_wrong() -> None:
    outcome = judge(MASKED, claim="C[i] = 3 * C[i]")
    assert outcome.status == "REFUTED"
    assert {finding.severity for finding in outcome.findings} >= {Severity.RACE, Severity.VALUE}


def test_the_letter_of_the_isa_refutes_such_a_race() -> None:
    (outcome,) = check(f"{HEAD}{MASKED}\nret;\n}}\n", claim_of(TABLE), seed=1, strict=True)
    assert outcome.status == "REFUTED"


# 64 threads: each two warps write the same shared bytes, rounded to f16 before a product with 2
ROUNDED = """and.b32 %r2, %r1, 31; mul.wide.u32 %d6, %r2, 4; add.s64 %d7, %d1, %d6; add.s64 %d8, %d2, %d6;
ld.global.f32 %f1, [%d7]; WAYS add.f32 %f2, %f2, %f2; mov.u32 %r3, s; shl.b32 %r4, %r2, 2; add.u32 %r5, %r3, %r4;
st.shared.f32 [%r5], %f2; bar.sync 0; ld.shared.f32 %f3, [%r5]; setp.lt.u32 %p1, %r1, 32;
@%p1 st.global.f32 [%d8], %f3;"""
ALIKE = "cvt.rn.f16.f32 %h1, %f1; cvt.f32.f16 %f2, %h1;"
OTHERWISE = """setp.lt.u32 %p2, %r1, 32; mul.f32 %f4, %f1, 0f3F800000; @%p2 cvt.rn.f16.f32 %h1, %f1;
@!%p2 add.f32 %f4, %f1, %f1; @!%p2 cvt.rn.f16.f32 %h1, %f4; cvt.f32.f16 %f2, %h1; @!%p2 mul.f32 %f2, %f2, 0f3F000000;"""


def test_writes_of_values_that_were_rounded_alike_are_equal() -> None:
    text = {"claim": "C[i] = 2 * A[i]", "narrow": ["f16"]}
    outcome = judge(ROUNDED.replace("WAYS", ALIKE), **text)
    assert outcome.status == "VERIFIED", outcome.findings
    assert {finding.severity for finding in outcome.findings} == {Severity.EQUAL}
    assert judge_safety(ROUNDED.replace("WAYS", ALIKE)).status == "SAFE"


def test_writes_of_values_that_were_rounded_in_two_ways_are_not_known_to_be_equal() -> None:
    outcome = judge(ROUNDED.replace("WAYS", OTHERWISE), claim="C[i] = 2 * A[i]", narrow=["f16"])
    assert outcome.status in ("UNKNOWN", "REFUTED"), outcome.findings
    assert any("race: write" in finding.kind and finding.severity is not Severity.EQUAL for finding in outcome.findings)
