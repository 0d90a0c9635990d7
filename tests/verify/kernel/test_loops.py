# SPDX-License-Identifier: Apache-2.0
"""Loops are counted; one that goes on for ever, or far beyond the budget, is found long before the budget ends it."""

from __future__ import annotations

import pytest

from tests.verify.kernel.test_check import ADD, ADDED, HEAD, REGISTERS, SHARED, TURNED, run_once, run_sum
from verify.kernel.state.findings import Severity
from verify.kernel.verdict import case

SUM = "add.f32 %f3, %f1, %f2;"
COUNT = (
    "mov.u32 %r9, 0; $L: add.s32 %r9, %r9, {step}; mul.f32 %f4, %f1, %f1; setp.{how}.s32 %p1, %r9, {end}; @%p1 bra $L; "
)


def write_loop(step: int = 1, how: str = "lt", end: int = 20) -> str:
    """A loop that counts, and the sum."""
    return COUNT.format(step=step, how=how, end=end) + SUM


def test_the_trips_of_a_loop_are_counted_and_printed() -> None:
    outcome = run_sum(write_loop(end=20))
    assert outcome.status == "VERIFIED" and [trips for _, trips in outcome.loops] == [20]
    (line,) = [line for line, _ in outcome.loops]
    assert f"loops    line {line}: 20 trips" in case(outcome, "", False, "").notes
    assert run_sum(SUM).loops == ()


def test_the_most_trips_of_a_thread_are_counted() -> None:
    outcome = run_sum(write_loop().replace("%r9, 20", "%r9, %r1"))
    assert outcome.status == "VERIFIED" and [trips for _, trips in outcome.loops] == [63]


@pytest.mark.parametrize(
    "body",
    [
        f"$L: bra $L; {SUM}",
        f"setp.eq.s32 %p1, 0, 0; $L: mul.f32 %f4, %f1, %f2; @%p1 bra $L; {SUM}",
        f"mov.u32 %r9, 0; $L: xor.b32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 2; @%p1 bra $L; {SUM}",
        f"$L: ld.global.f32 %f4, [%d5]; and.b32 %r9, %r1, 0; setp.eq.s32 %p1, %r9, 0; @%p1 bra $L; {SUM}",
    ],
)
def test_a_loop_whose_state_comes_again_is_refuted(body: str) -> None:
    outcome = run_sum(body)
    (endless,) = [each for each in outcome.findings if each.kind == "endless loop"]
    assert endless.severity is Severity.STUCK and outcome.status == "REFUTED" and outcome.steps < 200
    assert "the loop of lines" in endless.text and endless.line > 0


def test_a_loop_of_some_threads_alone_waits_for_what_others_write() -> None:
    """Warp 0 goes round before warp 1 has a turn: what that writes could end the loop, in another schedule."""
    spin = "setp.ge.u32 %p1, %r1, 32; @%p1 bra $E; $L: ld.volatile.shared.u32 %r9, [buf+252]; setp.eq.u32 %p2, %r9, 7; "
    spin += "@!%p2 bra $L; $E: bar.sync 0;"
    start = "mov.u32 %r9, 0; st.shared.u32 [buf+252], %r9; bar.sync 0;"
    text = SHARED.replace("bar.sync 0;", start + spin)
    outcome = run_once(text.replace("st.shared.f32 [%r4], %f1;", ""), TURNED)
    assert outcome.status in ("UNKNOWN", "REFUTED") and outcome.steps < 300
    assert any("until another thread writes" in each.text for each in outcome.findings)


@pytest.mark.parametrize(
    "body",
    [
        write_loop(step=-1),
        write_loop(how="ne", end=-5),
        write_loop(step=1, end=1 << 30),
        write_loop(step=2, how="ne", end=7),
    ],
    ids=["away", "past", "far", "over"],
)
def test_a_loop_that_needs_more_than_the_budget_ends_early(body: str) -> None:
    outcome = run_once(ADD.replace("BODY", body), ADDED, budget=50_000)
    assert outcome.status == "UNKNOWN" and outcome.steps < 5_000
    assert "times more" in outcome.findings[0].text and "--budget" in outcome.findings[0].text


def test_a_long_loop_within_the_budget_is_run_to_its_end() -> None:
    assert run_sum(write_loop(end=3000)).status == "VERIFIED"


def test_the_budget_names_the_loop() -> None:
    body = "mov.u32 %r9, 1; $L: mul.lo.s32 %r9, %r9, 3; setp.ne.s32 %p1, %r9, 0; @%p1 bra $L; " + SUM
    outcome = run_once(ADD.replace("BODY", body), ADDED, budget=3000)
    assert outcome.status == "UNKNOWN" and "has not ended after 3000 instructions" in outcome.findings[0].text
    assert "the loop of lines" in outcome.findings[0].text


def test_a_loop_that_does_nothing_is_endless_in_any_batch() -> None:
    outcome = run_once(f"{HEAD}{REGISTERS}$L: bra $L;\nret;\n}}")
    assert outcome.status == "REFUTED" and outcome.steps < 20
