# SPDX-License-Identifier: Apache-2.0
"""What depends on the schedule is no data: clocks, masks of active lanes, old values of atomics, failures of waits."""

from __future__ import annotations

import pytest

from tests.messages import FAILED_WAIT
from tests.verify.kernel.test_asynchronous import run as copied
from tests.verify.kernel.test_check import ADD, ADDED, SHARED, TURNED, run_once, run_sum
from verify.kernel.state.findings import Severity
from verify.kernel.verdict import case, spell_finding

SUM = "add.f32 %f3, %f1, %f2;"
WAIT = "WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 0;\n@!%p2 bra WAIT;"
TRY = "mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 0;\n"


@pytest.mark.parametrize("register", ["%clock", "%clock64", "%globaltimer", "%globaltimer_lo"])
def test_a_clock_may_be_looked_at_and_decides_nothing(register: str) -> None:
    look = f"mov.u32 %r9, {register};"
    assert run_sum(f"{look} {SUM}").status == "VERIFIED"
    for use in (f"setp.eq.u32 %p1, %r9, 3; @%p1 {SUM} @!%p1 {SUM}", "cvt.rn.f32.u32 %f3, %r9;"):
        outcome = run_sum(f"{look} {use}")
        assert outcome.status == "UNKNOWN" and "is what a clock said" in outcome.findings[0].text, outcome.findings


@pytest.mark.parametrize("register", ["%warpid", "%smid"])
def test_a_register_of_the_schedule_has_no_meaning(register: str) -> None:
    outcome = run_sum(f"mov.u32 %r9, {register}; {SUM}")
    assert (outcome.status, outcome.steps) == ("UNKNOWN", 0)
    assert register in outcome.findings[0].text


def test_the_mask_of_active_lanes_is_no_number() -> None:
    assert run_sum(f"activemask.b32 %r9; {SUM}").status == "VERIFIED"
    outcome = run_sum(f"activemask.b32 %r9; setp.eq.u32 %p1, %r9, 3; @%p1 {SUM} @!%p1 {SUM}")
    assert (
        outcome.status == "UNKNOWN"
        and "the mask of active lanes, which depends on the schedule" in outcome.findings[0].text
    )
    whole = run_sum(f"vote.sync.ballot.b32 %r9, 1, 0xffffffff; setp.eq.u32 %p1, %r9, 0xffffffff; @%p1 {SUM}")
    assert whole.status == "VERIFIED"


def test_the_old_value_of_an_atomic_addition_is_no_data() -> None:
    """Every thread adds 0 to its element first; the value that comes back must not be used."""
    atom = "mov.f32 %f9, 0f00000000; atom.global.add.f32 %f4, [%d7], %f9; "
    claim = {**ADDED, "claim": "C[i] = C[i] + A[i]"}
    once = ADD.replace("BODY", "atom.global.add.f32 %f4, [%d7], %f1;").replace("st.global.f32 [%d7], %f3;", "")
    assert run_once(once, claim).status == "VERIFIED"
    outcome = run_sum(f"{atom}add.f32 %f3, %f1, %f4;")
    assert outcome.status == "UNKNOWN" and "old value of an atomic operation" in outcome.findings[0].text


def test_an_atomic_addition_races_with_a_plain_read() -> None:
    """Thread 63 - t reads what thread t adds to, before or after; with a barrier between the two is an order."""
    opposite = "xor.b32 %r9, %r1, 63; mul.wide.u32 %d8, %r9, 4; add.s64 %d9, %d3, %d8; "
    read, add = "ld.global.f32 %f4, [%d9]; ", "red.global.add.f32 [%d7], %f1; "
    keys = {**ADDED, "claim": "C[i] = C[i] + A[i]"}
    text = ADD.replace("st.global.f32 [%d7], %f3;", "").replace("BODY", "{}")
    for body in (read + add, add + read):
        outcome = run_once(text.replace("{}", opposite + body), keys)
        assert {each.severity for each in outcome.findings} == {Severity.RACE}, body
        between = body.replace("; red", "; bar.sync 0; red").replace("; ld", "; bar.sync 0; ld")
        assert run_once(text.replace("{}", opposite + between), keys).status == "VERIFIED", body


def test_a_strong_load_of_what_another_thread_writes_is_unknown() -> None:
    """A flag in memory orders accesses by a schedule that is not looked at: nothing is refuted."""
    for load in ("ld.acquire.cta.shared.f32", "ld.volatile.shared.f32", "ld.relaxed.cta.shared.f32"):
        outcome = run_once(SHARED.replace("bar.sync 0;", "").replace("ld.shared.f32 %f2", f"{load} %f2"), TURNED)
        assert outcome.status == "UNKNOWN" and "flags in memory have no meaning" in outcome.findings[0].text
    assert run_once(SHARED.replace("bar.sync 0;", ""), TURNED).status == "REFUTED"


def test_the_lane_that_is_elected_is_no_number() -> None:
    text = "elect.sync %r20|%p3, 0xffffffff;\nnot.pred %p1, %p3;"
    assert copied("setp.ne.u32 %p1, %r1, 0;", text).status == "VERIFIED"
    outcome = copied("setp.ne.u32 %p1, %r1, 0;", "elect.sync %r20|%p3, 0xffffffff;\nsetp.ne.u32 %p1, %r1, %r20;")
    assert outcome.status == "UNKNOWN" and "the lane that elect.sync chooses" in outcome.findings[0].text


@pytest.mark.parametrize(
    "text",
    [
        f"WAIT:\n{TRY}@%p2 bra DONE;\nbra WAIT;\nDONE:",
        f"WAIT:\n{TRY}@%p2 bra DONE;\nnanosleep.u32 20;\nbra.uni WAIT;\nDONE:",
        f"WAIT:\nmov.u32 %r20, %r3;\n{TRY}selp.b32 %r21, 1, 0, %p2;\nsetp.eq.s32 %p3, %r21, 0;\n@%p3 bra WAIT;",
        f"WAIT:\n{TRY}not.pred %p3, %p2;\n@%p3 bra WAIT;".replace("try_wait", "test_wait"),
        f"WAIT:\n{TRY}@%p2 bra DONE;\nadd.s32 %r21, %r20, 1;\nbra WAIT;\nDONE:",
    ],
)
def test_a_wait_that_leads_back_to_itself_is_a_wait(text: str) -> None:
    assert copied(WAIT, text).status == "VERIFIED"


@pytest.mark.parametrize(
    "text",
    [
        f"WAIT:\n{TRY}selp.b32 %r21, 1, 0, %p2;\nadd.s32 %r3, %r3, 0;",
        f"WAIT:\n{TRY}add.s32 %r21, %r21, 1;\n@!%p2 bra WAIT;",
        f"WAIT:\n{TRY}@%p2 bra DONE;\nadd.s32 %r21, %r20, 1;\nbra WAIT;\nDONE:\nadd.s32 %r22, %r21, 0;",
        f"WAIT:\n{TRY}@!%p2 st.shared.u32 [%r3+64], %r1;\n@!%p2 bra WAIT;",
        f"WAIT:\n{TRY}@!%p2 bra WAIT2;\nbra DONE;\nWAIT2:\nbar.sync 0;\nbra WAIT;\nDONE:",
        f"WAIT:\n{TRY}".rstrip(),
    ],
)
def test_a_wait_whose_failure_does_something_else_has_no_meaning(text: str) -> None:
    outcome = copied(WAIT, text)
    assert (outcome.status, outcome.steps) == ("UNKNOWN", 0)
    assert f"a wait whose {FAILED_WAIT}" in outcome.findings[0].text


def test_equal_values_written_twice_are_a_warning_of_their_own() -> None:
    """All threads write one number to one place; and with --strict that is refuted."""
    text = SHARED.replace("bar.sync 0;", "bar.sync 0; mov.u32 %r9, 7; st.shared.u32 [%r3+4], %r9; bar.sync 0;")
    text = text.replace("ld.shared.f32 %f2, [%r5];", "ld.shared.f32 %f2, [%r4]; mov.f32 %f2, %f1;")
    outcome = run_once(text, TURNED)
    assert [(each.kind, each.severity) for each in outcome.findings] == [
        ("race: write of equal values", Severity.EQUAL)
    ]
    assert outcome.status == "VERIFIED" and run_once(text, TURNED, strict=True).status == "REFUTED"
    different = run_once(text.replace("mov.u32 %r9, 7;", "mov.u32 %r9, %r1;"), TURNED)
    assert ("race: write after write", Severity.RACE) in {(each.kind, each.severity) for each in different.findings}


def test_the_first_cause_in_time_is_said_first() -> None:
    """A race at a later line comes first, as it is executed first; the wrong elements are seen at the end."""
    outcome = run_once(SHARED.replace("bar.sync 0;", ""), TURNED)
    verdicts = case(outcome, "", False, "").verdicts
    assert [verdict.claim.prop.key for verdict in verdicts if verdict.status.name == "REFUTED"] == ["order", "values"]


def test_a_letter_of_the_isa_cites_what_a_gpu_showed() -> None:
    from tests.kernels.test_order import outcome

    (finding, *_) = outcome("tma_3", "bar.sync \t0;", "", 1).findings
    assert finding.severity is Severity.LETTER
    text = spell_finding(finding)
    assert "(ISA 9.7.15.7.3; NVIDIA H200: 0 of 131,072,000 results wrong, one warp up to 20000 cycles late)" in text
