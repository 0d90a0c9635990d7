# SPDX-License-Identifier: Apache-2.0
"""Phases of barriers: who takes part in each, and who sees its end, is the same in every schedule."""

from __future__ import annotations

import pytest

from verify.kernel.check import LaunchOutcome, check
from verify.kernel.claims.claim import claim_of
from verify.kernel.state.findings import Severity

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


def run(first: str, other: str) -> LaunchOutcome:
    """The outcome where thread 0, or warp 0, does one thing and warp 1 another."""
    (found,) = check(PHASES.replace("FIRST", first).replace("OTHER", other), claim_of(CLAIM), seed=1)
    return found


def alone(text: str) -> str:
    """What thread 0 does alone."""
    return f"@%p1 bra END;\n{text}"


def test_a_phase_that_is_seen_before_the_next_one_ends_is_right() -> None:
    found = run(alone(ONE + ENDED + BACK + ONE), WAIT.format("W2", "%r3", 0) + SEEN)
    assert (found.status, found.findings) == ("VERIFIED", ())


def test_a_wait_for_the_second_phase_by_who_saw_the_first_is_right() -> None:
    both = WAIT.format("W2", "%r3", 0) + SEEN + WAIT.format("W4", "%r3", 1)
    assert run(alone(ONE + ENDED + BACK + ONE), both).status == "VERIFIED"


@pytest.mark.parametrize(
    ("first", "other", "kind"),
    [
        (ONE + ENDED + ONE, WAIT.format("W2", "%r3", 0), "a wait for another phase"),
        (ONE + ENDED + ONE, WAIT.format("W2", "%r3", 1), "a wait for another phase"),
    ],
    ids=["late", "early"],
)
def test_a_phase_that_depends_on_the_schedule_is_refuted(first: str, other: str, kind: str) -> None:
    found = run(alone(first), other)
    assert found.status == "REFUTED" and found.findings[0].severity is Severity.RACE, found.findings
    assert found.findings[0].kind.startswith(kind) and found.findings[0].line and found.findings[0].section
    assert "phase" in found.findings[0].text


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
    found = run(alone(first), EARLIER)
    assert (found.status, {one.severity for one in found.findings}) == ("VERIFIED", {Severity.LETTER})
    (text,) = [one.text for one in found.findings if one.kind == "a waiter a phase late"]
    assert "it would hang, or go on two phases later; let only threads wait that use" in text


@pytest.mark.parametrize("space", GUARDED)
def test_a_waiter_a_phase_late_that_uses_what_is_written_next_is_refuted(space: str) -> None:
    writes, reads = GUARDED[space]
    room = PHASES.replace("back[8];", "back[24];")
    for first in (writes + LATER.format(writes), writes + BACK + ONE + ENDED + writes + ONE):
        (found,) = check(room.replace("FIRST", alone(first)).replace("OTHER", EARLIER + reads), claim_of(CLAIM), seed=1)
        kinds = {one.kind: one.severity for one in found.findings}
        assert found.status == "REFUTED" and kinds["a waiter a phase late"] is Severity.RACE, found.findings
        assert any("race" in kind for kind in kinds), kinds
    once = writes + ONE + ENDED + BACK + ONE  # it is not written again
    (found,) = check(room.replace("FIRST", alone(once)).replace("OTHER", EARLIER + reads), claim_of(CLAIM), seed=1)
    assert found.status == ("VERIFIED" if space == "shared" else "REFUTED"), found.findings  # C[0] is, at the end


def test_a_phase_that_nobody_waits_for_breaks_the_letter() -> None:
    found = run(alone(ONE + ONE), "")
    assert [(one.kind, one.severity) for one in found.findings] == [("a phase without a wait", Severity.LETTER)]


def test_an_arrival_that_nobody_waits_for_comes_once_a_phase() -> None:
    """bar.arrive does not wait: a second one may count for the phase of the first, unless a barrier is between."""
    between = run(
        "bar.arrive 1, 64;\nbar.sync 2, 64;\nbar.arrive 1, 64;", "bar.sync 1, 64;\nbar.sync 2, 64;\nbar.sync 1, 64;"
    )
    assert (between.status, between.findings) == ("VERIFIED", ())
    twice = run("bar.arrive 1, 64;\nbar.arrive 1, 64;", "bar.sync 1, 64;\nbar.sync 1, 64;")
    assert twice.status == "REFUTED" and twice.findings[0].kind == "an arrival of another phase"


def test_a_warp_that_arrives_may_wait_for_all_with_another_arrival() -> None:
    """As the epilogue of FlashAttention 3: warp 0 comes twice to a barrier that counts three warps."""
    both = "bar.arrive 1, 96;\nbar.sync 1, 96;", "bar.arrive 1, 96;"
    assert (found := run(*both)).status == "VERIFIED" and found.findings == ()
    assert run(*(one.replace("96", "128") for one in both)).status == "REFUTED"
    assert run(*(one.replace("96", "64") for one in both)).status == "REFUTED"


def test_a_barrier_number_that_other_warps_use_again_is_ordered_by_something() -> None:
    """Warp 0 alone has barrier 1 for 32 threads, and warp 1 after it: nothing says that its phase is the later one."""
    found = run("bar.sync 1, 32;", "bar.sync 1, 32;")
    assert found.status == "REFUTED" and found.findings[0].kind in ("an arrival of another phase", "barrier overrun")
    assert run("bar.sync 1, 32;", "bar.sync 2, 32;").status == "VERIFIED"


def test_a_wait_whose_failure_leads_to_the_end_of_the_text_does_not_lead_back() -> None:
    """A thread may fall off the end of a kernel, which ends it: such a wait has no meaning, and no error."""
    last = "bra.uni OUT;\nLAST: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r3], 0;\n@%p3 bra SEEN;\n}"
    text = PHASES.replace("FIRST", alone(ONE)).replace("OTHER", "bra LAST;\nSEEN:")
    text = text.replace("ret;\n}", f"{last.replace('bra.uni OUT', 'ret')}")
    (found,) = check(text, claim_of(CLAIM), seed=1)
    assert found.status == "UNKNOWN"
    assert "a wait whose failure does anything else than to lead back to it" in found.findings[0].text
