# SPDX-License-Identifier: Apache-2.0
"""Masks of lanes: who is named, who comes, from whom a lane gets; and CTAs whose last warp is not whole."""

from __future__ import annotations

import pytest

from tests.messages import WRITE_AFTER_READ
from tests.verify.kernel.test_check import ADD, ADDED, HEAD, POINTERS, REGISTERS, SHARED, TURNED, run_once, run_sum
from verify.kernel.check import LaunchOutcome

LANE = "and.b32 %r2, %r1, 31; setp.lt.u32 %p1, %r2, 16; mov.b32 %r9, %f1;\n"
END = "mov.b32 %f3, %r9; add.f32 %f3, %f3, %f2;"
HALVES = "mov.u32 %r3, 0xffff; @!%p1 mov.u32 %r3, 0xffff0000;\n"
TWICE = "shfl.sync.bfly.b32 %r9, %r9, 1, 31, {}; shfl.sync.bfly.b32 %r9, %r9, 1, 31, {};\n"


def check_exchange(text: str) -> LaunchOutcome:
    """The outcome of 64 threads of which each does something with its element, and puts it back."""
    return run_sum(f"{LANE}{text}{END}")


def tell(outcome: LaunchOutcome) -> str:
    """The findings in words."""
    return "; ".join(f"{each.kind}: {each.text}" for each in outcome.findings)


@pytest.mark.parametrize(
    "text",
    [
        TWICE.format("-1", "-1"),
        HALVES + TWICE.format("%r3", "%r3"),
        "@%p1 bra E;\n" + TWICE.format("0xffff0000", "0xffff0000") + "E:\n",
        "@%p1 shfl.sync.bfly.b32 %r9, %r9, 1, 31, 0xffff; @%p1 shfl.sync.bfly.b32 %r9, %r9, 1, 31, 0xffff;\n",
        HALVES + "bar.warp.sync %r3;\n",
    ],
    ids=["whole", "two-masks", "half", "guarded", "two-barriers"],
)
def test_masks_that_name_who_comes_are_right(text: str) -> None:
    outcome = check_exchange(text)
    assert (outcome.status, outcome.findings) == ("VERIFIED", ())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (TWICE.format("0xffff", "0xffff"), "lanes 16-31 execute this instruction, and their own mask does not name"),
        ("bar.warp.sync 0xffff;\n", "lanes 16-31 execute"),
        ("vote.sync.ballot.b32 %r8, 1, 0xfffffffe;\n", "lanes 0 execute"),
        ("@%p1 " + TWICE.format("-1", "-1"), "lanes 16-31 do not come"),
        ("@%p1 bar.warp.sync -1; vote.sync.any.pred %p2, %p1, -1;\n", "lanes 16-31 do not come"),
        ("mov.u32 %r3, -1; @!%p1 mov.u32 %r3, 0xffff0001; bar.warp.sync %r3;\n", "name other lanes"),
        ("@%p1 bra A;\nbar.warp.sync -1;\nbra B;\nA:\nshfl.sync.bfly.b32 %r9, %r9, 0, 31, -1;\nB:\n", "do not come"),
    ],
    ids=["shuffle", "barrier", "vote", "guarded", "barrier-guarded", "other-mask", "other-instruction"],
)
def test_a_mask_that_does_not_fit_is_refuted_with_its_lanes(text: str, words: str) -> None:
    outcome = check_exchange(text)
    assert outcome.status == "REFUTED" and words in tell(outcome), tell(outcome)
    assert outcome.findings[0].line


def test_warp_barriers_of_one_mask_at_two_places_have_no_meaning_yet() -> None:
    """The ISA lets them meet: they are not refuted."""
    outcome = check_exchange("@%p1 bra A;\nbar.warp.sync -1;\nbra B;\nA:\nbar.warp.sync -1;\nB:\n")
    assert outcome.status == "UNKNOWN" and "meet at several bar.warp.sync" in tell(outcome)


def test_a_lane_that_has_ended_is_not_waited_for() -> None:
    """The ISA waits for lanes that have not ended; what such a lane would give is nothing."""
    text = "setp.ge.u32 %p3, %r2, 30; @%p3 st.global.f32 [%d7], %f4; @%p3 ret;\n"
    early = f"{LANE}add.f32 %f4, %f1, %f2; {text}{TWICE.format('-1', '-1')}{END}"
    assert run_sum(early).status == "VERIFIED"
    outcome = run_sum(early.replace(" 1, 31", " 2, 31"))
    assert outcome.status == "REFUTED" and "gets from lane 30" in tell(outcome), tell(outcome)


def test_what_a_lane_that_is_not_named_gives_is_nothing() -> None:
    """Lanes 0-15 get from lanes 16-31, which execute the same shuffle with a mask of their own."""
    outcome = check_exchange(HALVES + TWICE.format("%r3", "%r3").replace(" 1, 31", " 16, 31"))
    assert outcome.status == "REFUTED" and "gets from lane 16, which does not execute the shuffle with it" in tell(
        outcome
    )
    assert check_exchange(TWICE.format("-1", "-1").replace(" 1, 31", " 16, 31")).status == "VERIFIED"


def test_a_vote_is_of_the_lanes_of_its_mask() -> None:
    """Lanes 0-15 say no and 16-31 say yes, to masks of 16 lanes each: all of the upper ones say yes."""
    text = HALVES + "not.pred %p2, %p1; vote.sync.all.pred %p3, %p2, %r3;\n@%p3 mov.b32 %r9, %f2;\n"
    claim = {"sizes": {"I": 16}, "arrays": {name: {"dims": "i", "type": "f32", "out": name == "C"} for name in "ABC"}}
    upper = ADD.replace("BODY", f"{LANE}{text}{END}").replace("st.global", "sub.s64 %d7, %d7, 64; @!%p1 st.global")
    upper = upper.replace("add.s64 %d5, %d1, %d4", "and.b64 %d8, %d4, 63; add.s64 %d5, %d1, %d8")
    upper = upper.replace("add.s64 %d6, %d2, %d4", "add.s64 %d6, %d2, %d8")
    assert run_once(upper, {**ADDED, **claim, "block": 32, "claim": "C[i] = 2 * B[i]"}).status == "VERIFIED"
    assert run_once(upper.replace("%p2, %r3;", "%p1, %r3;"), {**ADDED, **claim, "block": 32}).status == "VERIFIED"


# Of the numbers lane / 8 of each warp: what redux and match give each lane of the lower and upper half.
SETS = "shr.u32 %r7, %r2, 3; add.s32 %r7, %r7, -2;\n"


@pytest.mark.parametrize(
    ("opcode", "lower", "upper"),
    [
        ("redux.sync.add.s32", -24, 8), ("redux.sync.min.s32", -2, 0), ("redux.sync.max.u32", -1, 1),
        ("redux.sync.and.b32", -2, 0), ("redux.sync.or.b32", -1, 1), ("redux.sync.xor.b32", 0, 0),
    ],
)  # fmt: skip
def test_redux_is_of_the_lanes_of_its_mask(opcode: str, lower: int, upper: int) -> None:
    check = f"{opcode} %r8, %r7, %r3; selp.b32 %r10, {lower}, {upper}, %p1; setp.ne.s32 %p2, %r8, %r10; "
    outcome = check_exchange(f"{SETS}{HALVES}{check}@%p2 mov.b32 %r9, %f2;\n")
    assert (outcome.status, outcome.findings) == ("VERIFIED", ())
    whole = check_exchange(f"{SETS}mov.u32 %r3, -1;\n{check}@%p2 mov.b32 %r9, %f2;\n")
    assert whole.status == ("VERIFIED" if lower == upper else "REFUTED")
    data = check_exchange(f"{opcode} %r8, %r9, -1;\n")
    assert data.status == "UNKNOWN" and data.findings[0].line


def test_match_finds_the_lanes_of_its_mask_with_the_same_number() -> None:
    shift = "and.b32 %r10, %r2, 24; mov.u32 %r11, 255; shl.b32 %r11, %r11, %r10; "
    check = f"match.any.sync.b32 %r8, %r7, %r3; {shift}setp.ne.u32 %p2, %r8, %r11; @%p2 mov.b32 %r9, %f2;\n"
    outcome = check_exchange(SETS + HALVES + check)
    assert (outcome.status, outcome.findings) == ("VERIFIED", ())
    assert check_exchange(SETS.replace(" 3;", " 4;") + HALVES + check).status == "REFUTED"
    every = "match.all.sync.b32 %r8|%p2, %r7, %r3; @!%p2 mov.b32 %r9, %f2; setp.ne.u32 %p3, %r8, {}; "
    every += "@%p3 mov.b32 %r9, %f2;\n"
    assert check_exchange(SETS.replace(" 3;", " 4;") + HALVES + every.format("%r3")).status == "VERIFIED"
    assert check_exchange(SETS + HALVES + every.replace("@!%p2", "@%p2").format("0")).status == "VERIFIED"


def test_a_barrier_of_a_half_warp_orders_no_lane_of_the_other() -> None:
    """Lanes exchange with the other half: two barriers of 16 lanes order nothing between the halves."""
    right = SHARED.replace("bar.sync 0;", "bar.warp.sync -1;").replace("252", "60")
    halves = "and.b32 %r6, %r1, 16; mov.u32 %r7, 0xffff; setp.ne.u32 %p1, %r6, 0; @%p1 mov.u32 %r7, 0xffff0000; "
    two = right.replace("bar.warp.sync -1;", f"{halves}bar.warp.sync %r7;")
    assert "race" not in tell(run_once(right, TURNED)) + tell(run_once(two, TURNED))
    across = two.replace(" 60;", " 124;")
    assert "race: read after write" in tell(run_once(across, TURNED))


# A thread reads what its neighbour has, then what it has itself, and writes that: the barrier orders the two.
NEIGHBOUR = """xor.b32 %r6, %r2, 4; add.s32 %r6, %r6, %r3; ld.shared.f32 %f2, [%r6]; {} {}
st.shared.f32 [%r4], %f1; bar.sync 0; ld.shared.f32 %f2, [%r4];"""
OWN = "ld.shared.f32 %f3, [%r4];"
FIRST = NEIGHBOUR.replace("xor.b32 %r6, %r2, 4;", "and.b32 %r6, %r2, {mask};")  # of all lanes that one barrier has
HALF = "and.b32 %r6, %r1, 16; mov.u32 %r7, 0xffff; setp.ne.u32 %p1, %r6, 0; @%p1 mov.u32 %r7, 0xffff0000; "


@pytest.mark.parametrize("own", ["", OWN], ids=["", "own"])
@pytest.mark.parametrize(
    ("barrier", "mask"), [("bar.sync 0;", 0), ("bar.warp.sync -1;", 128), (f"{HALF}bar.warp.sync %r7;", 192)]
)
def test_a_barrier_orders_a_lanes_write_after_the_reads_of_other_lanes(barrier: str, mask: int, own: str) -> None:
    text = SHARED.replace("xor.b32 %r5, %r2, 252; add.s32 %r5, %r3, %r5;\nld.shared.f32 %f2, [%r5];", "{}")
    for read in (NEIGHBOUR, FIRST.replace("{mask}", str(mask))):
        outcome = run_once(text.replace("{}", read.format(barrier, own)), TURNED)
        assert (outcome.status, outcome.findings) == ("VERIFIED", ()), tell(outcome)
        late = run_once(text.replace("{}", read.format("", own)), TURNED)
        assert "race: write after read" in tell(late)
    wider = FIRST.replace("{mask}", str(mask & 128 if mask else 0)).format(barrier, own)
    assert ("race: write after read" in tell(run_once(text.replace("{}", wider), TURNED))) == (mask == 192)


@pytest.mark.parametrize("barrier", ["bar.sync 0;", "bar.warp.sync -1;", ""])
def test_a_barrier_orders_a_lanes_write_to_global_memory_after_the_reads_of_other_lanes(barrier: str) -> None:
    read = "xor.b32 %r2, %r1, 1; mul.wide.u32 %d8, %r2, 4; add.s64 %d9, %d3, %d8; ld.global.f32 %f4, [%d9]; "
    read += "mul.f32 %f4, %f4, 0f00000000; add.f32 %f1, %f1, %f4; "
    for own in ("", "ld.global.f32 %f5, [%d7]; "):
        outcome = run_sum(f"{read}{barrier}{own}add.f32 %f3, %f1, %f2;")
        assert outcome.status == ("VERIFIED" if barrier else "REFUTED"), tell(outcome)
        assert (WRITE_AFTER_READ in tell(outcome)) == (not barrier)


ODD = f"""{HEAD}{REGISTERS}{POINTERS}
mov.u32 %r5, %ctaid.x; mad.lo.u32 %r6, %r5, 48, %r1; mul.wide.u32 %d4, %r6, 4;
add.s64 %d5, %d1, %d4; add.s64 %d6, %d2, %d4; add.s64 %d7, %d3, %d4;
ld.global.f32 %f1, [%d5]; ld.global.f32 %f2, [%d6]; mov.b32 %r9, %f1;
shfl.sync.bfly.b32 %r9, %r9, 1, 31, -1;
shfl.sync.BACK.b32 %r9, %r9, 1, 31, -1;
mov.b32 %f3, %r9; add.f32 %f3, %f3, %f2;
st.global.f32 [%d7], %f3;
ret;
}}
"""
ODDS = {**ADDED, "grid": 2, "block": 48, "sizes": {"I": 96}}


def test_a_shuffle_of_a_cta_of_48_threads_stays_in_the_cta() -> None:
    """Lane 15 of the half warp, thread 47, is the last: the first thread of the next CTA is not of its warp."""
    assert run_once(ODD.replace("BACK", "bfly"), ODDS).status == "VERIFIED"
    down = ODD.replace("BACK", "down").replace("bfly", "up", 1).replace(" 1, 31, -1", " 1, 0, -1", 1)
    outcome = run_once(down, ODDS)
    assert outcome.status == "REFUTED" and "gets from lane 16" in tell(outcome), tell(outcome)


@pytest.mark.parametrize(("count", "status"), [("", "VERIFIED"), (", 64", "VERIFIED"), (", 32", "REFUTED")])
def test_a_warp_that_its_cta_does_not_fill_counts_as_a_whole_one_at_a_barrier(count: str, status: str) -> None:
    """The count of arrivals grows by the size of a warp, whatever lanes it has (9.7.13.1)."""
    body = f"bar.sync 0{count}; mov.f32 %f3, %f1;"
    assert (
        run_once(ADD.replace("BODY", body), {**ODDS, "grid": 1, "sizes": {"I": 48}, "claim": "C[i] = A[i]"}).status
        == status
    )


def test_a_ballot_of_a_cta_of_48_threads_has_the_lanes_that_are_there() -> None:
    text = ODD.replace("shfl.sync.BACK.b32 %r9, %r9, 1, 31, -1;", "vote.sync.ballot.b32 %r7, 1, -1; popc.b32 %r7, %r7; "
                       "setp.ge.u32 %p1, %r1, 32; selp.u32 %r8, 16, 32, %p1; setp.ne.u32 %p2, %r7, %r8; "
                       "shfl.sync.bfly.b32 %r9, %r9, 1, 31, -1; @%p2 mov.b32 %r9, %f2;")  # fmt: skip
    assert run_once(text, ODDS).status == "VERIFIED"


def test_a_product_by_a_warp_of_16_lanes_is_refuted() -> None:
    from tests.verify.kernel.test_check import CLAIM, MMA, PRODUCT

    outcome = run_once(PRODUCT, {**CLAIM, "block": 16})
    assert outcome.status == "REFUTED" and "only lanes 0-15 of this warp execute" in tell(outcome), tell(outcome)
    part = PRODUCT.replace(MMA, f"setp.lt.u32 %p1, %r1, 31; @%p1 {MMA}")
    outcome = run_once(part, CLAIM)
    assert outcome.status == "REFUTED" and "only lanes 0-30 of this warp execute" in tell(outcome), tell(outcome)


def test_registers_of_a_warpgroup_that_is_not_whole_have_no_meaning() -> None:
    text = ADD.replace("sm_80", "sm_90a").replace("BODY", "setmaxnreg.dec.sync.aligned.u32 40;\nadd.f32 %f3, %f1, %f2;")
    outcome = run_once(text, ADDED)
    assert outcome.status == "UNKNOWN" and "whose warpgroup has no four warps" in tell(outcome)
    arrays = {name: {"dims": "i", "type": "f32", "out": name == "C"} for name in "ABC"}
    assert run_once(text, {**ADDED, "sizes": {"I": 128}, "block": 128, "arrays": arrays}).status == "VERIFIED"


def test_a_warp_that_ends_without_the_setmaxnreg_of_its_warpgroup_is_refuted() -> None:
    arrays = {name: {"dims": "i", "type": "f32", "out": name == "C"} for name in "ABC"}
    claim = {**ADDED, "sizes": {"I": 128}, "block": 128, "arrays": arrays}
    body = "setp.ge.u32 %p1, %r1, 32; @%p1 bra E; setmaxnreg.dec.sync.aligned.u32 24; E: add.f32 %f3, %f1, %f2;"
    outcome = run_once(ADD.replace("sm_80", "sm_90a").replace("BODY", body), claim)
    assert outcome.status == "REFUTED" and "warp 1 ends without a setmaxnreg that another warp" in tell(outcome)


def test_a_warpgroup_changes_its_registers_again_after_a_barrier_of_its_own() -> None:
    """The other warpgroup takes no part, so it knows of neither change: only the four warps of one must."""
    twice = "setmaxnreg.dec.sync.aligned.u32 40;\nbar.sync 1, 128;\nsetmaxnreg.inc.sync.aligned.u32 48;\n"
    first = "setp.lt.u32 %p1, %r1, 128; @%p1 bra E;\n"
    arrays = {name: {"dims": "i", "type": "f32", "out": name == "C"} for name in "ABC"}
    claim = {**ADDED, "sizes": {"I": 256}, "block": 256, "arrays": arrays}
    text = ADD.replace("sm_80", "sm_90a").replace("BODY", f"{first}{twice}E: add.f32 %f3, %f1, %f2;")
    outcome = run_once(text, claim)
    assert (outcome.status, outcome.findings) == ("VERIFIED", ())
    for lower in (True, False):  # either warpgroup is found without it
        wrong = text.replace("bar.sync 1, 128;", "").replace("@%p1 bra", "@%p1 bra" if lower else "@!%p1 bra")
        assert "no barrier of its warps is between" in tell(run_once(wrong, claim))
