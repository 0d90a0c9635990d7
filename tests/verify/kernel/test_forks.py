# SPDX-License-Identifier: Apache-2.0
"""Branches that data decide: both ways are taken, and what is wrong on one of them is not passed over."""

from __future__ import annotations

import pytest

from tests.verify.kernel.test_safety import AT, CHOSEN, kinds, safety

BRANCHED = f"{CHOSEN}@%p1 bra YES; NO bra.uni END; YES: WAY END: "
WRITES = "add.s64 %d7, %d5, 0; st.global.u32 [%d7], %r3;"


@pytest.mark.parametrize(
    ("no", "yes", "after", "status"),
    [
        ("", "st.global.u32 [%d5], %r2;", "", "SAFE"),
        ("", "st.global.u32 [%d2], %r2;", "", "UNKNOWN"),
        ("", "st.global.u32 [%d5+4], %r2;", "", "UNKNOWN"),
        ("mov.u32 %r3, 60;", "mov.u32 %r3, 63;", f"{AT.replace('BASE', '%d1')}ld.global.u32 %r4, [%d7];", "SAFE"),
        ("mov.u32 %r3, 60;", "mov.u32 %r3, 64;", f"{AT.replace('BASE', '%d1')}ld.global.u32 %r4, [%d7];", "UNKNOWN"),
        ("mov.u32 %r5, 60;", "", "st.global.u32 [%d5], %r5;", "REFUTED"),
        ("mov.u32 %r5, 60;", "mov.u32 %r5, 1;", "st.global.u32 [%d5], %r5;", "SAFE"),
        ("", "bar.sync 0;", "", "UNKNOWN"),
        ("", "bar.warp.sync -1;", "", "UNKNOWN"),
        ("", "membar.gl;", "", "UNKNOWN"),
        ("", "ret;", "", "SAFE"),
        ("", "ret;", "bar.sync 0;", "UNKNOWN"),
        ("", "trap;", "", "UNKNOWN"),
        ("", "setp.gt.u32 %p2, %r2, 9; @%p2 bra IN; st.global.u32 [%d5], %r2; IN:", "", "SAFE"),
        ("", "setp.gt.u32 %p2, %r2, 9; @%p2 bra IN; st.global.u32 [%d2], %r2; IN:", "", "UNKNOWN"),
        ("", "mov.u32 %r4, 0; L: add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, 9; @%p2 bra L;", WRITES, "SAFE"),
        ("", "L: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 9; @%p2 bra L;", WRITES, "UNKNOWN"),
        ("", "st.local.u32 [l], %r2;", "ld.local.u32 %r3, [l]; st.global.u32 [%d5], %r3;", "REFUTED"),
        ("st.local.u32 [l], 7;", "st.local.u32 [l], %r2;", "ld.local.u32 %r3, [l]; st.global.u32 [%d5], %r3;", "SAFE"),
    ],
)
def test_a_branch_that_data_decide_is_taken_both_ways(no: str, yes: str, after: str, status: str) -> None:
    body = f".local .align 4 .b8 l[16]; {BRANCHED.replace('NO', no).replace('WAY', yes)}{after}"
    assert safety(body).status == status, safety(body).findings


def test_a_branch_in_a_loop_is_taken_both_ways_a_number_of_times() -> None:
    body = f"mov.u32 %r4, 0; L: {CHOSEN}@%p1 bra N; st.global.u32 [%d5], %r2; N: add.u32 %r4, %r4, 1; "
    body += "setp.lt.u32 %p2, %r4, TRIPS; @%p2 bra L;"
    assert safety(body.replace("TRIPS", "64")).status == "SAFE"
    assert "taken both ways 64 times" in safety(body.replace("TRIPS", "65")).findings[0].text


def test_a_race_behind_a_branch_that_data_decide_is_found() -> None:
    """Each way stores a place that a neighbour reads behind a barrier, or without one."""
    body = f"{CHOSEN}mov.u32 %r5, s; shl.b32 %r4, %r1, 2; add.u32 %r6, %r5, %r4; xor.b32 %r7, %r4, 4; "
    body += "add.u32 %r8, %r5, %r7; @%p1 bra YES; st.shared.u32 [%r6], %r2; bra.uni END; YES: st.shared.u32 [%r6], 0; "
    body += "END: st.shared.u32 [%r6], %r2; bar.sync 0; ld.shared.u32 %r9, [%r8]; st.global.u32 [%d5], %r9;"
    assert safety(body).status == "SAFE"
    assert kinds(safety(body.replace("bar.sync 0;", ""))) == {"race: read after write"}
    both = body.replace("END: st.shared.u32 [%r6], %r2;", "END:")
    assert safety(both).status == "SAFE"
    assert kinds(safety(both.replace("st.shared.u32 [%r6], 0;", ""))) == {"value from nowhere"}


ANYWHERE = """ld.global.u32 %r2, [%d4]; and.b32 %r3, %r2, 63; shl.b32 %r4, %r3, 2; mov.u32 %r5, s;
add.u32 %r5, %r5, %r4; setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [%r5], %r2; bar.sync 0;
mov.u32 %r6, s; ld.shared.u32 %r7, [%r6+AT]; st.global.u32 [%d5], %r7;"""


@pytest.mark.parametrize(("at", "status"), [("0", "UNKNOWN"), ("252", "UNKNOWN"), ("256", "REFUTED")])
def test_bytes_that_a_store_may_have_left_out_are_unknown_and_others_from_nowhere(at: str, status: str) -> None:
    outcome = safety(ANYWHERE.replace("AT", at))
    assert outcome.status == status and {finding.kind for finding in outcome.findings} == {"value from nowhere"}


CHOICE = "setp.gt.u32 %p1, %r2, 9; mov.u32 %r5, s; shl.b32 %r6, %r1, 2; add.u32 %r5, %r5, %r6; "


@pytest.mark.parametrize(
    ("store", "chosen", "status"),
    [
        ("@%p1 st.shared.u32 [%r5], %r2;", "selp.u32 %r8, %r7, 0, %p1;", "UNKNOWN"),  # right: it is not used elsewhere
        ("@%p1 st.shared.u32 [%r5], %r2;", "mov.u32 %r8, %r7;", "REFUTED"),
        ("", "selp.u32 %r8, %r7, 0, %p1;", "UNKNOWN"),
        ("", "selp.u32 %r8, %r7, %r7, %p1;", "REFUTED"),
        ("st.shared.u32 [%r5], %r2;", "selp.u32 %r8, %r7, 0, %p1;", "SAFE"),
    ],
)
def test_what_may_not_have_been_written_and_is_chosen_by_data_is_unknown(store: str, chosen: str, status: str) -> None:
    body = f"ld.global.u32 %r2, [%d4]; {CHOICE}{store} ld.shared.u32 %r7, [%r5]; {chosen} st.global.u32 [%d5], %r8;"
    assert safety(body).status == status, safety(body).findings
