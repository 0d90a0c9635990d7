# SPDX-License-Identifier: Apache-2.0
"""Phases of barriers: who takes part in each, and who sees its end, is the same in every schedule."""

from __future__ import annotations

import pytest

from tests.messages import FAILED_WAIT, OTHER_PHASE
from verify.kernel.check import LaunchOutcome, check
from verify.kernel.claims.claim import claim_of
from verify.kernel.state.findings import Findings, Severity
from verify.kernel.state.phases import LATE, judge_late

# Thread 0 ends a phase of `bar`, waits, and ends the next; warp 1 waits for one of them and gives `back`.
PHASES = """.version 8.0
.target sm_90a
.address_size 64
.entry k(.param .u64 pa, .param .u64 pc)
{
.reg .pred %p<6>; .reg .b32 %r<9>; .reg .f32 %f<3>; .reg .b64 %d<6>;
.shared .align 8 .b8 bar[8]; .shared .align 8 .b8 back[8];
mov.u32 %r1, %tid.x; mov.u32 %r3, bar; mov.u32 %r4, back;
setp.ne.u32 %p1, %r1, 0;
@%p1 bra START;
mbarrier.init.shared::cta.b64 [%r3], 1; mbarrier.init.shared::cta.b64 [%r4], 32;
START:
bar.sync 0;
setp.ge.u32 %p2, %r1, 32;
@%p2 bra SECOND;
FIRST
bra END;
SECOND:
OTHER
END:
ld.param.u64 %d1, [pa]; ld.param.u64 %d2, [pc];
mul.wide.u32 %d3, %r1, 4; add.s64 %d4, %d1, %d3; add.s64 %d5, %d2, %d3;
ld.global.f32 %f1, [%d4]; st.global.f32 [%d5], %f1;
ret;
}
"""
CLAIM = {
    "grid": 1,
    "block": 64,
    "sizes": {"I": 64},
    "claim": "C[i] = A[i]",
    "params": ["A", "C"],
    "arrays": {name: {"dims": "i", "type": "f32", "out": name == "C"} for name in "AC"},
}
ARRIVE = "mbarrier.arrive.shared::cta.b64 _, [{}];\n"
WAIT = "{0}: mbarrier.try_wait.parity.shared::cta.b64 %p3, [{1}], {2};\n@!%p3 bra {0};\n"
ONE, BACK = ARRIVE.format("%r3"), WAIT.format("W3", "%r4", 0)
ENDED, SEEN = WAIT.format("W1", "%r3", 0), ARRIVE.format("%r4")


def run(first: str, second: str) -> LaunchOutcome:
    """The outcome where thread 0, or warp 0, does one thing and warp 1 another."""
    (outcome,) = check(PHASES.replace("FIRST", first).replace("OTHER", second), claim_of(CLAIM), seed=1)
    return outcome


def write_one(text: str) -> str:
    """What thread 0 does alone."""
    return f"@%p1 bra END;\n{text}"


def test_a_phase_that_is_seen_before_the_next_one_ends_is_right() -> None:
    outcome = run(write_one(ONE + ENDED + BACK + ONE), WAIT.format("W2", "%r3", 0) + SEEN)
    assert (outcome.status, outcome.findings) == ("VERIFIED", ())


def test_a_wait_for_the_second_phase_by_who_saw_the_first_is_right() -> None:
    both = WAIT.format("W2", "%r3", 0) + SEEN + WAIT.format("W4", "%r3", 1)
    assert run(write_one(ONE + ENDED + BACK + ONE), both).status == "VERIFIED"


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        (ONE + ENDED + ONE, WAIT.format("W2", "%r3", 0), "a wait for another phase"),
        (ONE + ENDED + ONE, WAIT.format("W2", "%r3", 1), "a wait for another phase"),
    ],
    ids=["late", "early"],
)
def test_a_phase_that_depends_on_the_schedule_is_refuted(first: str, second: str, kind: str) -> None:
    outcome = run(write_one(first), second)
    assert outcome.status == "REFUTED" and outcome.findings[0].severity is Severity.RACE, outcome.findings
    assert outcome.findings[0].kind.startswith(kind) and outcome.findings[0].line and outcome.findings[0].section
    assert "phase" in outcome.findings[0].text


EARLIER, LATER = SEEN + WAIT.format("W2", "%r3", 0), ONE + ENDED + BACK + "{}" + ONE
# What thread 0 writes before each of two phases, and warp 1 reads when it has waited for the first of them.
GUARDED = {
    "shared": ("st.shared.u32 [%r4+16], %r1;\n", "ld.shared.u32 %r8, [%r4+16];\n"),
    "global": ("ld.param.u64 %d2, [pc]; mov.f32 %f2, 0f00000000; st.global.f32 [%d2], %f2;\n",
               "ld.param.u64 %d2, [pc]; ld.global.f32 %f2, [%d2];\n"),
}  # fmt: skip


@pytest.mark.parametrize("first", [BACK + ONE + ENDED + ONE, LATER.format("")], ids=["blocked", "not-in-time"])
def test_a_waiter_a_phase_late_that_uses_nothing_is_a_warning(first: str) -> None:
    """It may hang, or go on two phases later; the finding says what would be right."""
    outcome = run(write_one(first), EARLIER)
    assert (outcome.status, {finding.severity for finding in outcome.findings}) == ("VERIFIED", {Severity.LETTER})
    (text,) = [finding.text for finding in outcome.findings if finding.kind == "a waiter a phase late"]
    assert "it would hang, or go on two phases later; let only threads wait that use" in text


@pytest.mark.parametrize("space", GUARDED)
def test_a_waiter_a_phase_late_that_uses_what_is_written_next_is_refuted(space: str) -> None:
    writes, reads = GUARDED[space]
    room = PHASES.replace("back[8];", "back[24];")
    for first in (writes + LATER.format(writes), writes + BACK + ONE + ENDED + writes + ONE):
        (outcome,) = check(
            room.replace("FIRST", write_one(first)).replace("OTHER", EARLIER + reads), claim_of(CLAIM), seed=1
        )
        kinds = {finding.kind: finding.severity for finding in outcome.findings}
        assert outcome.status == "REFUTED" and kinds["a waiter a phase late"] is Severity.RACE, outcome.findings
        assert any("race" in kind for kind in kinds), kinds
    once = writes + ONE + ENDED + BACK + ONE  # it is not written again
    (outcome,) = check(
        room.replace("FIRST", write_one(once)).replace("OTHER", EARLIER + reads), claim_of(CLAIM), seed=1
    )
    assert outcome.status == ("VERIFIED" if space == "shared" else "REFUTED"), outcome.findings  # C[0] is, at the end


# FlashAttention 3 in small: the rows of B are written by the four warps of a warpgroup, each waits for its own alone,
# and a wgmma reads all of them; then the next ones. All lanes of warp 4 wait for `bar`, whose phase ends at the end;
# one of them lets the others begin, by `full`.
PARTS = """.version 8.0
.target sm_90a
.address_size 64
.entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc)
{
.reg .pred %p<6>; .reg .b32 %r<30>; .reg .f32 %f<4>; .reg .b64 %d<8>;
.shared .align 8 .b8 bar[8]; .shared .align 8 .b8 full[8]; .shared .align 8 .b8 word[8]; .shared .align 128 .b8 b[256];
mov.u32 %r1, %tid.x; mov.u32 %r3, bar; mov.u32 %r26, full; mov.u32 %r27, word; setp.ne.u32 %p1, %r1, 0;
@%p1 bra START;
mbarrier.init.shared::cta.b64 [%r3], 1; mbarrier.init.shared::cta.b64 [%r26], 1;
START:
bar.sync 0;
setp.lt.u32 %p2, %r1, 128; setp.eq.u32 %p5, %r1, 128;
@%p2 bra PRODUCTS;
OTHER
ret;
PRODUCTS:
BEGIN
ld.param.u64 %d1, [pa]; ld.param.u64 %d2, [pb]; ld.param.u64 %d3, [pc];
shr.u32 %r4, %r1, 5; and.b32 %r5, %r1, 31; shr.u32 %r6, %r5, 2; and.b32 %r7, %r5, 3; mad.lo.u32 %r8, %r4, 16, %r6;
shl.b32 %r9, %r7, 2; mad.lo.u32 %r10, %r8, 64, %r9; cvt.u64.u32 %d4, %r10; add.s64 %d1, %d1, %d4;
setp.lt.u32 %p3, %r5, 16; shr.u32 %r11, %r5, 3; mad.lo.u32 %r11, %r4, 2, %r11; and.b32 %r12, %r5, 7;
shl.b32 %r13, %r12, 2; mad.lo.u32 %r14, %r11, 64, %r13; cvt.u64.u32 %d5, %r14; add.s64 %d2, %d2, %d5;
shr.u32 %r15, %r12, 2; and.b32 %r16, %r12, 3; mov.u32 %r17, b; mad.lo.u32 %r18, %r15, 128, %r17;
mad.lo.u32 %r18, %r11, 16, %r18; mad.lo.u32 %r18, %r16, 4, %r18;
shr.u32 %r19, %r17, 4; cvt.u64.u32 %d6, %r19; or.b64 %d6, %d6, 0x1000080000;
mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0; setp.eq.u32 %p4, %r1, %r1;
STEPS
shl.b32 %r20, %r7, 3; mad.lo.u32 %r20, %r8, 32, %r20; cvt.u64.u32 %d7, %r20; add.s64 %d3, %d3, %d7;
st.global.v2.f32 [%d3], {%f0, %f1}; st.global.v2.f32 [%d3+256], {%f2, %f3};
FIRST
ret;
}
"""
STEP = """ld.global.b32 %r21, [%d1+{0}]; ld.global.b32 %r22, [%d1+{1}]; ld.global.b32 %r23, [%d1+{2}];
ld.global.b32 %r24, [%d1+{3}]; @%p3 ld.global.b32 %r25, [%d2+{0}]; @%p3 st.shared.b32 [%r18], %r25;
bar.warp.sync -1; fence.proxy.async; wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{%f0,%f1,%f2,%f3}}, {{%r21,%r22,%r23,%r24}}, %d6, %p4, 1, 1, 0;
wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;
"""
STEPS = "".join(STEP.format(*(32 * step + place for place in (0, 512, 16, 528))) for step in range(2))
PARTS_CLAIM = {
    "grid": 1,
    "block": 160,
    "sizes": {"M": 64, "N": 8, "K": 32},
    "claim": "C[m,n] = sum_k A[m,k]*B[n,k]",
    "params": ["A", "B", "C"],
    "arrays": {name: {"dims": dims, "type": "f16", "strides": ["K", 1]} for name, dims in (("A", "mk"), ("B", "nk"))}
    | {"C": {"dims": "mn", "type": "f32", "strides": ["N", 1], "out": True}},
}
EMPTY = WAIT.format("W5", "%r3", 1)  # the phase before the first: it passes at once
FULL = "@%p5 " + ARRIVE.format("%r26")
TOLD = "st.shared.u32 [%r27], %r1;\n" + ONE


def run_parts(first: str, second: str) -> LaunchOutcome:
    """The outcome where thread 0 does one thing after its sums, and warp 4 another beside them."""
    text = PARTS.replace("BEGIN", WAIT.format("W4", "%r26", 0)).replace("STEPS", STEPS)
    text = text.replace("FIRST", f"@%p1 ret;\n{first}").replace("OTHER", second)
    (outcome,) = check(text, claim_of(PARTS_CLAIM), seed=1)
    return outcome


@pytest.mark.parametrize("tail", ["", WAIT.format("W6", "%r3", 0)], ids=["", "waits-for-the-end-too"])
def test_a_late_waiter_is_a_warning_though_parts_of_a_warpgroup_write_what_a_wgmma_read(tail: str) -> None:
    """As warp 0 of FlashAttention 3: its lanes use nothing, and what the other warps break is of no late waiter."""
    outcome = run_parts(ONE, EMPTY + FULL + tail)
    assert {finding.kind for finding in outcome.findings} == {
        "a waiter a phase late",
        "read after write by a part of a warpgroup",
        "write after read by a part of a warpgroup",
    }
    assert {finding.severity for finding in outcome.findings} == {Severity.LETTER} and outcome.status == "VERIFIED"


def test_a_late_waiter_beside_parts_of_a_warpgroup_that_uses_what_is_written_next_is_refuted() -> None:
    outcome = run_parts(TOLD + TOLD, FULL + WAIT.format("W6", "%r3", 0) + "ld.shared.u32 %r29, [%r27];\n")
    kinds = {finding.kind: finding.severity for finding in outcome.findings}
    assert outcome.status == "REFUTED" and kinds["a waiter a phase late"] is Severity.RACE, outcome.findings
    assert kinds["race: read after write"] is Severity.RACE


@pytest.mark.parametrize(
    ("loose", "severity"), [({5}, Severity.RACE), ({6}, Severity.LETTER), (set(), Severity.LETTER)]
)
def test_a_late_waiter_is_refuted_only_by_what_it_uses_itself(loose: set[int], severity: Severity) -> None:
    findings = Findings()
    findings.add(LATE, Severity.LETTER, "thread 5 may be late")
    findings.late, findings.loose = {5}, loose
    judge_late(findings)
    assert [finding.severity for finding in findings.reported.values()] == [severity]


def test_a_phase_that_nobody_waits_for_breaks_the_letter() -> None:
    outcome = run(write_one(ONE + ONE), "")
    assert [(finding.kind, finding.severity) for finding in outcome.findings] == [
        ("a phase without a wait", Severity.LETTER)
    ]


def test_an_arrival_that_nobody_waits_for_comes_once_a_phase() -> None:
    """bar.arrive does not wait: a second one may count for the phase of the first, unless a barrier is between."""
    between = run(
        "bar.arrive 1, 64;\nbar.sync 2, 64;\nbar.arrive 1, 64;", "bar.sync 1, 64;\nbar.sync 2, 64;\nbar.sync 1, 64;"
    )
    assert (between.status, between.findings) == ("VERIFIED", ())
    twice = run("bar.arrive 1, 64;\nbar.arrive 1, 64;", "bar.sync 1, 64;\nbar.sync 1, 64;")
    assert twice.status == "REFUTED" and twice.findings[0].kind == OTHER_PHASE


def test_a_warp_that_arrives_may_wait_for_all_with_another_arrival() -> None:
    """As the epilogue of FlashAttention 3: warp 0 comes twice to a barrier that counts three warps."""
    both = "bar.arrive 1, 96;\nbar.sync 1, 96;", "bar.arrive 1, 96;"
    assert (outcome := run(*both)).status == "VERIFIED" and outcome.findings == ()
    assert run(*(body.replace("96", "128") for body in both)).status == "REFUTED"
    assert run(*(body.replace("96", "64") for body in both)).status == "REFUTED"


def test_a_barrier_number_that_other_warps_use_again_is_ordered_by_something() -> None:
    """Warp 0 alone has barrier 1 for 32 threads, and warp 1 after it: nothing says that its phase is the later one."""
    outcome = run("bar.sync 1, 32;", "bar.sync 1, 32;")
    assert outcome.status == "REFUTED" and outcome.findings[0].kind in (OTHER_PHASE, "barrier overrun")
    assert run("bar.sync 1, 32;", "bar.sync 2, 32;").status == "VERIFIED"


def test_a_wait_whose_failure_leads_to_the_end_of_the_text_does_not_lead_back() -> None:
    """A thread may fall off the end of a kernel, which ends it: such a wait has no meaning, and no error."""
    last = "bra.uni OUT;\nLAST: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r3], 0;\n@%p3 bra SEEN;\n}"
    text = PHASES.replace("FIRST", write_one(ONE)).replace("OTHER", "bra LAST;\nSEEN:")
    text = text.replace("ret;\n}", f"{last.replace('bra.uni OUT', 'ret')}")
    (outcome,) = check(text, claim_of(CLAIM), seed=1)
    assert outcome.status == "UNKNOWN"
    assert f"a wait whose {FAILED_WAIT} than to lead back to it" in outcome.findings[0].text
