# SPDX-License-Identifier: Apache-2.0
"""Threads that write equal values to one place, with nothing to order them: a warning, and rounded ones a race."""

from __future__ import annotations

import pytest

from tests.verify.kernel.test_check import ADD, ADDED, SHARED, run_once, run_sum
from tests.verify.kernel.test_lanes import tell
from verify.kernel.check import LaunchOutcome
from verify.kernel.state.findings import Severity

EQUAL = {Severity.EQUAL}
# 64 threads add the elements of their warp, each its own way: the sums of all lanes are equal and no two are one value.
SUM = "".join(
    f"mov.b32 %r9, %f1; shfl.sync.bfly.b32 %r9, %r9, {step}, 31, -1; mov.b32 %f2, %r9; add.f32 %f1, %f1, %f2;\n"
    for step in (16, 8, 4, 2, 1)
)
OUT = "shr.u32 %r6, %r1, 5; mul.wide.u32 %d8, %r6, 4; add.s64 %d7, %d3, %d8;\n"
ROUND = "and.b32 %r7, %r1, 1; setp.eq.u32 %p1, %r7, 1; @!%p1 bra E; cvt.rn.f16.f32 %h1, %f1; cvt.f32.f16 %f1, %h1; E:\n"
ROWS = {
    **ADDED,
    "sizes": {"I": 2, "J": 32},
    "claim": "C[i] = sum_j A[i,j]",
    "arrays": {
        "A": {"dims": "ij", "type": "f32", "strides": [32, 1], "offset": 0},
        "B": {"dims": "i", "type": "f32"},
        "C": {"dims": "i", "type": "f32", "out": True, "offset": 16},
    },
}
GLOBAL = ADD.replace("ld.global.f32 %f2, [%d6];", "").replace("BODY", f"{SUM}{{}}{OUT}").replace("%f3", "%f1")
# The sums of the two warps go through shared memory: each thread stores its warp's, and reads the other's.
THROUGH = SHARED.replace("st.shared.f32 [%r4], %f1;", f"{SUM}{{}}shr.u32 %r6, %r1, 5; shl.b32 %r7, %r6, 2; "
                         "add.s32 %r4, %r3, %r7; st.shared.f32 [%r4], %f1;")  # fmt: skip
THROUGH = THROUGH.replace("xor.b32 %r5, %r2, 252;", "mov.u32 %r5, %r7;").replace("st.global.f32 [%d7], %f2;",
                          f"{OUT}st.global.f32 [%d7], %f2;")  # fmt: skip


def run(text: str, between: str = "", **keys: object) -> LaunchOutcome:
    """The outcome of the sums of 32 elements."""
    return run_once(text.replace("{}", between), {**ROWS, **keys}, seed=3)


@pytest.mark.parametrize("text", [GLOBAL, THROUGH], ids=["global", "shared"])
def test_lanes_that_store_equal_sums_are_a_warning(text: str) -> None:
    outcome = run(text)
    assert outcome.status == "VERIFIED" and {each.severity for each in outcome.findings} == EQUAL, tell(outcome)


@pytest.mark.parametrize("text", [GLOBAL, THROUGH], ids=["global", "shared"])
@pytest.mark.parametrize("keys", [{}, {"narrow": ["f16"]}], ids=["exact", "narrow"])
def test_a_lane_that_stores_the_rounded_sum_races(text: str, keys: dict[str, object]) -> None:
    outcome = run(text, ROUND, **keys)
    assert outcome.status == "REFUTED" and Severity.RACE in {each.severity for each in outcome.findings}, tell(outcome)


@pytest.mark.parametrize("text", [GLOBAL, THROUGH], ids=["global", "shared"])
def test_a_lane_that_stores_another_sum_races(text: str) -> None:
    outcome = run(text, ROUND.replace("cvt.rn.f16.f32 %h1, %f1; cvt.f32.f16 %f1, %h1;", "add.f32 %f1, %f1, %f1;"))
    assert outcome.status == "REFUTED" and Severity.RACE in {each.severity for each in outcome.findings}, tell(outcome)


@pytest.mark.parametrize("text", [GLOBAL, THROUGH], ids=["global", "shared"])
@pytest.mark.parametrize("lanes", ["0", "1"], ids=["all", "every other"])
def test_lanes_that_store_values_without_a_meaning_are_unknown(text: str, lanes: str) -> None:
    """A choice by data has no meaning here, so nothing tells whether these are equal, as they are."""
    choice = f"and.b32 %r7, %r1, {lanes}; setp.eq.u32 %p1, %r7, {lanes}; @!%p1 bra E;\n"
    choice += "setp.eq.f32 %p2, %f1, %f1; selp.f32 %f1, %f1, %f4, %p2; E:\n"
    outcome = run(text, choice)
    assert outcome.status == "UNKNOWN", tell(outcome)
    assert "write of values that have no meaning" in tell(outcome)


def test_warps_that_store_equal_sums_one_after_the_other_are_a_warning() -> None:
    """Warp 1 comes later: not one instruction of all threads, and nothing orders the two."""
    later = "and.b32 %r2, %r1, 31; mov.f32 %f4, %f1; mov.b32 %r9, %f1;\n"
    body = f"{SUM}setp.lt.u32 %p1, %r1, 32; @%p1 st.shared.f32 [%r3], %f1; @%p1 bra E; st.shared.f32 [%r3], %f1; E:\n"
    text = SHARED.replace("st.shared.f32 [%r4], %f1;", f"{later}{body}").replace(
        "xor.b32 %r5, %r2, 252;", "mov.u32 %r5, 0;"
    )
    text = text.replace("add.s64 %d5, %d1, %d4", "and.b64 %d8, %d4, 127; add.s64 %d5, %d1, %d8")
    text = text.replace("st.global.f32 [%d7], %f2;", "setp.eq.u32 %p2, %r1, 0; @%p2 st.global.f32 [%d3], %f2;")
    keys = {"sizes": {"J": 32, "I": 1}}
    outcome = run(text, **keys)
    assert outcome.status == "VERIFIED" and {each.severity for each in outcome.findings} == EQUAL, tell(outcome)
    assert run(text.replace("@%p1 bra E;", "@%p1 bra E; add.f32 %f1, %f1, %f1;"), **keys).status == "REFUTED"


def test_what_is_equal_and_narrowed_is_narrowed() -> None:
    """All lanes round the sum to f16 as the last step, each by itself: equal, and a narrowing."""
    rounded = GLOBAL.replace("{}", "cvt.rn.f16.f32 %h1, %f1;\n").replace(
        "st.global.f32 [%d7], %f1;", "st.global.b16 [%d7], %h1;"
    )
    rounded = rounded.replace("mul.wide.u32 %d8, %r6, 4", "mul.wide.u32 %d8, %r6, 2")
    arrays = {**ROWS["arrays"], "C": {"dims": "i", "type": "f16", "out": True, "offset": 16}}
    outcome = run(rounded, arrays=arrays)
    assert outcome.status == "VERIFIED" and {each.severity for each in outcome.findings} == EQUAL, tell(outcome)


# Threads 2k and 2k + 1 copy to one place of shared memory; what they copied is read after a barrier.
COPIES = """mov.u32 %r20, buf; and.b32 %r21, %r1, 62; shl.b32 %r22, %r21, 2; add.s32 %r20, %r20, %r22; SOURCE
cp.async.ca.shared.global [%r20], [%d5], 4; AHEAD cp.async.wait_all; BEHIND bar.sync 0; ld.shared.f32 %f4, [%r20];
sub.f32 %f4, %f4, %f4; add.f32 %f3, %f1, %f2; add.f32 %f3, %f3, %f4;"""
COPIED = ADD.replace(".entry k(", ".shared .align 16 .b8 buf[256];\n.entry k(").replace("BODY", COPIES)
ONE = "mul.wide.u32 %d8, %r21, 4; add.s64 %d5, %d1, %d8;"  # source of both


def run_copies(source: str = "", ahead: str = "", behind: str = "", text: str = COPIED) -> LaunchOutcome:
    """The outcome of the copies, with more instructions."""
    return run_once(text.replace("SOURCE", source).replace("AHEAD", ahead).replace("BEHIND", behind), ADDED)


def test_two_copies_of_one_instruction_to_the_same_bytes_race() -> None:
    outcome = run_copies()
    assert outcome.status == "REFUTED", tell(outcome)
    assert ("race: write after write", Severity.RACE) in {(each.kind, each.severity) for each in outcome.findings}
    alone = run_copies(text=COPIED.replace("62;", "63;"))
    assert (alone.status, alone.findings) == ("VERIFIED", ())


def test_two_copies_of_equal_bytes_are_a_warning_and_both_are_waited_for() -> None:
    outcome = run_copies(ONE)
    assert outcome.status == "VERIFIED" and {each.severity for each in outcome.findings} == EQUAL, tell(outcome)
    late = "setp.eq.u32 %p1, %r21, %r1; @%p1 bra ON;"  # one thread of each pair waits before it reads, the other after
    outcome = run_copies(ONE, late, "ON:", COPIED.replace("sub.f32", "cp.async.wait_all; sub.f32"))
    assert outcome.status == "REFUTED" and "nobody has waited for it" in tell(outcome), tell(outcome)


TWO = """mov.u32 %r9, 7; and.b32 %r2, %r1, 31; setp.eq.u32 %p1, %r2, 0; @%p1 st.{space}.u32 [{place}], %r9; {barrier}
setp.eq.u32 %p2, %r1, {writer}; @%p2 st.{space}.u32 [{place}], %r1; add.f32 %f3, %f1, %f2; bar.sync 0;"""


@pytest.mark.parametrize("space", ["shared", "global"])
def test_who_writes_after_one_of_two_equal_writes_races_with_the_other(space: str) -> None:
    """Lanes 0 of both warps write 7, then a lane of one warp writes another number."""
    text = ADD.replace(".entry k(", ".shared .align 16 .b8 buf[256];\n.entry k(").replace("BODY", TWO)
    text = text.replace("{place}", "buf" if space == "shared" else "%d3").replace("{space}", space)
    for writer in ("1", "33"):
        for barrier, status in (("bar.sync 0;", "VERIFIED"), ("bar.warp.sync -1;", "REFUTED")):
            outcome = run_once(text.replace("{writer}", writer).replace("{barrier}", barrier), ADDED)
            assert outcome.status == status, tell(outcome)
            races = [each.text for each in outcome.findings if each.severity is Severity.RACE]
            assert bool(races) == (status == "REFUTED")
            assert space == "global" or all("which several threads wrote at line" in each for each in races)


def test_atomics_after_equal_writes_of_two_threads_race() -> None:
    text = TWO.format(space="global", place="%d3", barrier="bar.warp.sync -1;", writer="33")
    text = text.replace("@%p2 st.global.u32 [%d3], %r1;", "@%p2 red.global.add.f32 [%d3], %f1;")
    outcome = run_sum(text)
    assert outcome.status == "REFUTED" and "race: atomic and plain write" in tell(outcome), tell(outcome)
