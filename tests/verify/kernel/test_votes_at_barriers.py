# SPDX-License-Identifier: Apache-2.0
"""bar.red: a barrier whose threads join their predicates, as __syncthreads_count, _and and _or do."""

from __future__ import annotations

import pytest

from tests.verify.kernel.test_safety import REVERSE, kinds, safety

KNOWN = "setp.lt.u32 %p1, %r1, BELOW; "
POPC, AND, OR = "bar.red.popc.u32 %r9, 0, %p1;", "bar.red.and.pred %p2, 0, %p1;", "barrier.red.or.pred %p2, 0, 64, %p1;"


@pytest.mark.parametrize(
    "vote", [POPC, AND, OR, "bar.red.or.pred %p2, 0, !%p1;", "barrier.cta.red.popc.aligned.u32 %r9, 0, %p1;"]
)
@pytest.mark.parametrize("predicate", [KNOWN.replace("BELOW", "9"), "setp.gt.u32 %p1, %r2, 5; "])
def test_it_is_a_barrier(vote: str, predicate: str) -> None:
    assert safety(REVERSE.replace("bar.sync 0;", predicate + vote)).status == "SAFE"
    alone = REVERSE.replace("bar.sync 0;", f"{predicate} setp.lt.u32 %p3, %r1, 16; @%p3 {vote}")
    outcome = safety(alone)
    assert outcome.status == "REFUTED" and ("barrier by part of a warp" in kinds(outcome)) != vote.startswith(
        "barrier.red"
    )


@pytest.mark.parametrize(
    ("below", "vote", "right"),
    [
        (9, POPC, "setp.eq.u32 %p4, %r9, 9;"),
        (0, POPC, "setp.eq.u32 %p4, %r9, 0;"),
        (63, AND, "not.pred %p4, %p2;"),
        (64, AND, "mov.pred %p4, %p2;"),
        (1, OR, "mov.pred %p4, %p2;"),
        (0, OR, "not.pred %p4, %p2;"),
        (0, OR.replace(", %p1", ", !%p1"), "mov.pred %p4, %p2;"),
    ],
)
def test_its_result_is_that_of_all_threads(below: int, vote: str, right: str) -> None:
    body = f"{KNOWN.replace('BELOW', str(below))}{vote} {right} @%p4 bra END; trap; END: st.global.u32 [%d5], %r1;"
    assert safety(body).status == "SAFE"
    assert kinds(safety(body.replace("@%p4", "@!%p4"))) == {"trap"}


def test_what_data_decide_is_data_unless_one_thread_settles_it() -> None:
    mixed = "ld.global.u32 %r2, [%d4]; setp.gt.u32 %p1, %r2, 5; setp.eq.u32 %p3, %r1, 7; "
    settled = mixed + "@%p3 setp.ne.u32 %p1, %r1, %r1; bar.red.and.pred %p2, 0, %p1; @!%p2 bra END; trap; END: "
    assert safety(f"{settled}st.global.u32 [%d5], %r1;").status == "SAFE"
    assert safety(settled.replace("@%p3 setp.ne", "@%p3 setp.eq") + "st.global.u32 [%d5], %r1;").status == "UNKNOWN"


def test_a_predicate_that_nobody_wrote_is_none() -> None:
    assert safety("bar.red.popc.u32 %r9, 0, %p7; st.global.u32 [%d5], %r9;").status != "SAFE"


def test_a_barrier_without_a_predicate_does_not_meet_it() -> None:
    body = "setp.lt.u32 %p1, %r1, 32; @%p1 bra LOW; bar.sync 0; bra.uni END; LOW: bar.red.popc.u32 %r9, 0, %p1; END: "
    assert safety(body).status == "UNKNOWN"
