# SPDX-License-Identifier: Apache-2.0
"""`barrier` without `.aligned`: the threads of a warp may come to it in different instructions (9.7.13.1)."""

from __future__ import annotations

import pytest

from tests.verify.kernel.test_safety import REVERSE, kinds, safety

PARTED = """setp.lt.u32 %p1, ODD; @%p1 bra ON; SYNC; bra.uni END; ON: SYNC;
END: """
COUNTS = ("0", "0, 64")


def part(sync: str, odd: str = "%r9, 1") -> str:
    """Return a kernel in which a part of each warp comes to another barrier instruction."""
    text = PARTED.replace("SYNC", sync).replace("ODD", odd)
    return REVERSE.replace("bar.sync 0;", f"and.b32 %r9, %r1, 1; {text}")


@pytest.mark.parametrize("count", COUNTS)
def test_the_two_parts_of_a_warp_meet_at_two_instructions(count: str) -> None:
    assert safety(part(f"barrier.sync {count}")).status == "SAFE"
    for aligned in (f"bar.sync {count}", f"barrier.sync.aligned {count}"):
        assert "barrier by part of a warp" in kinds(safety(part(aligned)))


@pytest.mark.parametrize("count", COUNTS)
def test_a_warp_has_come_when_all_of_its_threads_have(count: str) -> None:
    """Where a part of a warp never comes, the rest waits for ever."""
    text = part(f"barrier.sync {count}").replace(f"@%p1 bra ON; barrier.sync {count};", "@%p1 bra ON;")
    assert kinds(safety(text)) >= {"stuck threads"} or kinds(safety(text)) >= {"race: read after write"}
    assert safety(text).status == "REFUTED"


def test_threads_that_have_ended_are_not_waited_for() -> None:
    gone = "setp.ge.u32 %p2, %r1, 40; @%p2 ret; "
    body = f"ld.global.u32 %r2, [%d4]; {gone}barrier.sync 0; st.global.u32 [%d5], %r2;"
    assert safety(body).status == "SAFE"


def test_a_warp_of_which_a_part_came_completes_no_phase() -> None:
    """Its other part writes behind the barrier of the first: with a count of one warp too the first must wait."""
    body = """mov.u32 %r3, s; shl.b32 %r4, %r1, 2; add.u32 %r5, %r3, %r4; xor.b32 %r6, %r4, 4; add.u32 %r7, %r3, %r6;
setp.ge.u32 %p3, %r1, 32; @%p3 ret;
and.b32 %r9, %r1, 1; setp.eq.u32 %p1, %r9, 0; @%p1 bra EVEN;
st.shared.u32 [%r5], %r1; barrier.sync 1, 32; bra.uni END;
EVEN: st.shared.u32 [%r5], %r1; barrier.sync 1, 32;
END: ld.shared.u32 %r8, [%r7]; st.global.u32 [%d5], %r8;"""
    assert safety(body).status == "SAFE"
    early = body.replace(
        "EVEN: st.shared.u32 [%r5], %r1; barrier.sync 1, 32;", "EVEN: barrier.sync 1, 32; st.shared.u32 [%r5], %r1;"
    )
    assert "race: read after write" in kinds(safety(early))
