# SPDX-License-Identifier: Apache-2.0
"""Flags in memory: strong accesses that meet are UNKNOWN, never a race; a plain access that meets one is a race."""

from __future__ import annotations

import pytest

from tests.verify.kernel.test_safety import kinds, safety

ARRAYS = {"A": {"dims": ["64"], "type": "u32"}, "C": {"dims": ["64"], "type": "u32", "out": True, "zero": True}}
ONE = "setp.eq.u32 %p1, %r1, 0; @!%p1 bra END; "


def flagged(body: str, grid: int) -> tuple[str, str]:
    """Return the status of a kernel with a flag, and its finding's text."""
    outcome = safety(ONE + body + " END:", grid=grid, arrays=ARRAYS)
    return outcome.status, " ".join(finding.text for finding in outcome.findings)


@pytest.mark.parametrize("write", ["st.release.gpu.global.u32 [%d2], 1;", "atom.global.add.u32 %r3, [%d2], 1;"])
def test_a_strong_write_of_what_a_strong_load_reads_is_no_race(write: str) -> None:
    status, text = flagged(f"ld.relaxed.gpu.global.u32 %r2, [%d2]; {write}", 2)
    assert status == "UNKNOWN" and "flags in memory have no meaning here; let a barrier" in text
    assert flagged(f"ld.relaxed.gpu.global.u32 %r2, [%d2]; {write}", 1)[0] == "SAFE"


@pytest.mark.parametrize(
    "body",
    [
        "ld.relaxed.gpu.global.u32 %r2, [%d2]; st.global.u32 [%d2], 1;",
        "ld.global.u32 %r2, [%d2]; st.release.gpu.global.u32 [%d2], 1;",
        "ld.global.u32 %r2, [%d2]; atom.global.add.u32 %r3, [%d2], 1;",
    ],
)
def test_a_plain_access_that_meets_a_strong_one_is_a_race(body: str) -> None:
    assert flagged(body, 2)[0] == "REFUTED"


@pytest.mark.parametrize("ctas", [1, 2, 100])
def test_a_flag_that_all_ctas_set_to_one_value_is_a_warning(ctas: int) -> None:
    status, text = flagged("st.volatile.global.u32 [%d2], 1; st.volatile.global.u32 [%d2], 1;", ctas)
    assert status == "SAFE" and ("both write the same value" in text) == (ctas > 1)
    assert (
        flagged("mov.u32 %r9, %ctaid.x; st.volatile.global.u32 [%d2], %r9; st.volatile.global.u32 [%d2], %r9;", 2)[0]
        != "SAFE"
    )


@pytest.mark.parametrize("ctas", [2, 100])
def test_a_wait_for_a_flag_is_unknown_where_a_later_cta_sets_it(ctas: int) -> None:
    wait = "mov.u32 %r9, %ctaid.x; setp.ne.u32 %p2, %r9, 0; @%p2 bra SET; "
    wait += "L: ld.acquire.gpu.global.u32 %r2, [%d2]; setp.eq.u32 %p3, %r2, 0; @%p3 bra L; bra END; "
    status, text = flagged(wait + "SET: st.release.gpu.global.u32 [%d2], 1;", ctas)
    assert status == "UNKNOWN" and "until another thread writes" in text


def test_a_loop_on_a_plain_load_of_what_nobody_writes_goes_round_for_ever() -> None:
    outcome = safety("L: ld.global.u32 %r2, [%d2]; setp.eq.u32 %p3, %r2, 0; @%p3 bra L;", arrays=ARRAYS)
    assert outcome.status == "REFUTED" and "endless loop" in kinds(outcome)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (
            "L: ld.acquire.gpu.global.u32 %r2, [%d5]; setp.eq.u32 %p1, %r2, 0; @%p1 bra L;",
            "(ld.acquire.gpu.global.u32 in line",
        ),
        (
            "L: atom.global.cas.b32 %r2, [%d2], 0, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra L;",
            "flags and locks in memory have",
        ),
        ("L: ld.global.u32 %r2, [%d4]; setp.eq.u32 %p1, %r2, 0; @%p1 bra L;", "guard what it does"),
    ],
)
def test_a_loop_that_data_decide_is_told_by_what_it_waits_for_with_a_way_out(body: str, says: str) -> None:
    outcome = safety(body)
    assert outcome.status == "UNKNOWN" and says in outcome.findings[0].text, outcome.findings


def test_a_mask_that_depends_on_a_schedule_is_told_with_a_way_out() -> None:
    outcome = safety("activemask.b32 %r2; vote.sync.any.pred %p1, %p2, %r2;".replace("%p1, %p2", "%p1, 1"))
    assert outcome.status == "UNKNOWN" and "name the lanes by a number" in outcome.findings[0].text
