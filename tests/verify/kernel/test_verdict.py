# SPDX-License-Identifier: Apache-2.0
"""The claims of a report on a kernel: none is PROVED that rests on a claim which is not confirmed."""

import pytest

from tests.verify.kernel.test_check import ADD, ADDED
from verify.core.verdict import Status, Verdict
from verify.kernel.check import check
from verify.kernel.claims.claim import claim_of
from verify.kernel.safety import check_safety, safety_case
from verify.kernel.verdict import case

PLUS = "add.f32 %f3, %f1, %f2;"
# Two warps exchange what they loaded: thread i adds the values of thread i and of thread i xor 32.
EXCHANGED = """.shared .align 16 .b8 s[256];
shl.b32 %r2, %r1, 2; mov.u32 %r3, s; add.u32 %r4, %r3, %r2; xor.b32 %r5, %r2, 128; add.u32 %r5, %r3, %r5;
st.shared.f32 [%r4], %f1; BARRIER ld.shared.f32 %f4, [%r5]; add.f32 %f3, %f1, %f4;"""
SUMMED = {
    **ADDED,
    "sizes": {"G": 2, "H": 2, "I": 32},
    "claim": "C[h,i] = sum_g A[g,i]",
    "arrays": {
        "A": {"dims": "gi", "type": "f32", "strides": ["I", 1]},
        "B": {"dims": "gi", "type": "f32", "strides": ["I", 1]},
        "C": {"dims": "hi", "type": "f32", "strides": ["I", 1], "out": True},
    },
}


def verdicts(body: str, load: str = "[%d5]", claim: dict = ADDED, **options: bool) -> dict[str, Verdict]:
    """The verdicts by the keys of their properties, of the kernel that adds, with this load of A."""
    ptx = ADD.replace("BODY", body).replace("[%d5]", load)
    (outcome,) = check(ptx, claim_of(claim), seed=3)
    listed = case(outcome, claim["claim"], False, "replay").verdicts
    return {verdict.claim.prop.key: verdict for verdict in listed}


def test_every_claim_of_a_right_kernel_is_proved_over_all_elements() -> None:
    by_key = verdicts(PLUS)
    assert {verdict.status for verdict in by_key.values()} == {Status.PROVED}
    assert by_key["values"].evidence[0].points == 64


def test_elements_from_outside_of_an_array_are_not_compared() -> None:
    by_key = verdicts(PLUS, "[%d5+256]")
    assert by_key["memory"].status is Status.REFUTED
    assert by_key["values"].status is Status.UNCHECKED and by_key["values"].evidence[0].points == 0
    assert "64 of 64 elements" in by_key["values"].reason and "memory" in by_key["values"].reason
    assert Status.PROVED not in {verdict.status for verdict in by_key.values()}


def test_the_points_are_those_that_were_compared() -> None:
    late = "setp.gt.u32 %p1, %r1, 47; @%p1 ld.global.f32 %f1, [%d5+256]; " + PLUS
    by_key = verdicts(late)
    assert by_key["values"].status is Status.UNCHECKED and by_key["values"].evidence[0].points == 48
    assert "16 of 64 elements" in by_key["values"].reason


def test_a_read_outside_of_an_array_that_nothing_uses_leaves_no_claim_proved() -> None:
    by_key = verdicts("ld.global.f32 %f9, [%d5+256]; " + PLUS)
    assert by_key["memory"].status is Status.REFUTED
    assert by_key["values"].status is Status.UNCHECKED and by_key["values"].evidence[0].points == 64


@pytest.mark.parametrize(("barrier", "status"), [("bar.sync 0;", Status.PROVED), ("", Status.UNCHECKED)])
def test_values_rest_on_the_order_of_accesses(barrier: str, status: Status) -> None:
    by_key = verdicts(EXCHANGED.replace("BARRIER", barrier), claim=SUMMED)
    assert by_key["order"].status is (Status.PROVED if barrier else Status.REFUTED)
    assert {verdict.status for key, verdict in by_key.items() if key != "order"} == {status}


def test_nothing_is_proved_of_narrowings_where_values_are_wrong() -> None:
    by_key = verdicts("mul.f32 %f3, %f1, %f2;")
    assert by_key["values"].status is Status.REFUTED
    assert by_key["precision"].status is Status.UNCHECKED and "values" in by_key["precision"].reason
    assert {by_key[key].status for key in ("memory", "order", "progress", "letter")} == {Status.PROVED}


def test_a_value_without_a_meaning_leaves_narrowings_unchecked() -> None:
    by_key = verdicts("shr.b32 %f3, %f1, 3;")
    assert by_key["values"].status is Status.UNKNOWN
    assert by_key["precision"].status is Status.UNCHECKED and by_key["memory"].status is Status.PROVED


@pytest.mark.parametrize(
    ("given", "said"), [("sm_80", ""), ("sm_107a", "sm_107a is in no table"), ("", "names no .target")]
)
def test_a_target_that_no_table_lists_is_said(given: str, said: str) -> None:
    ptx = ADD.replace("BODY", PLUS).replace(".target sm_80\n", f".target {given}\n" if given else "")
    (outcome,) = check(ptx, claim_of(ADDED), seed=3)
    notes = [note for note in case(outcome, "", False, "replay").notes if note.startswith("target")]
    assert [said in note for note in notes] == ([True] if said else [])


@pytest.mark.parametrize(
    ("instruction", "warned"),
    [
        ("@%p1 set.lt.f32.f32 %f4, %f1, %f1;", True),
        ("@!%p1 set.eq.u32.u16 %r5, %h1, %h1;", True),
        ("@%p1 testp.finite.f32 %p2, %f4;", True),
        ("set.lt.f32.f32 %f4, %f4, %f4;", False),
        ("@%p1 set.lt.u32.f32 %r5, %f4, %f4;", False),
        ("@%p1 set.eq.u32.s32 %r5, %r1, %r1;", False),
        ("@%p1 setp.lt.f32 %p2, %f4, %f4;", False),
    ],
)
def test_a_guard_that_a_driver_drops_is_a_warning_with_its_place_and_a_remedy(instruction: str, warned: bool) -> None:
    body = f"mov.f32 %f4, 1.0; mov.b16 %h1, 1; setp.lt.u32 %p1, %r1, 3; {instruction.replace('f1', 'f4')} {PLUS}"
    (outcome,) = check(ADD.replace("BODY", body), claim_of(ADDED), seed=3)
    assert (outcome.status, bool(outcome.findings)) == ("VERIFIED", warned)
    lines = [note for note in case(outcome, "", False, "replay").notes if note.startswith("warning")]
    assert len(lines) == warned
    for line in lines:
        assert line.startswith("warning  line 14: guard not kept: ")
        assert "move that under the guard (ISA 9.7." in line and "H200" in line and "driver 580.159.04)" in line
    if warned:
        (strict,) = check(ADD.replace("BODY", body), claim_of(ADDED), seed=3, strict=True)
        assert strict.status == "REFUTED"


def test_an_opcode_without_a_meaning_is_told_once() -> None:
    """The other properties say where the interpretation ended; nothing was compared, so there is no probability."""
    by_key = verdicts("frob.f32 %f3, %f1;")
    assert by_key["values"].status is Status.UNKNOWN and by_key["values"].reason.count("frob.f32:") == 1
    assert by_key["values"].reason.startswith("line ") and "no meaning: no meaning" not in by_key["values"].reason
    assert "unnoticed" not in by_key["values"].evidence[0].method
    rest = [verdict for key, verdict in by_key.items() if key != "values"]
    assert {verdict.status for verdict in rest} == {Status.UNCHECKED}
    assert all("see values" in verdict.reason and "frob" not in verdict.reason for verdict in rest)


def test_an_end_of_an_interpretation_is_unknown_without_a_claim_too() -> None:
    """Else --allow-unchecked would accept it."""
    ptx = ADD.replace("BODY", "frob.f32 %f3, %f1;")
    (outcome,) = check_safety(ptx, claim_of(ADDED), seed=3)
    by_key = {verdict.claim.prop.key: verdict for verdict in safety_case(outcome, False, "replay").verdicts}
    assert by_key["memory"].status is Status.UNKNOWN and "frob.f32" in by_key["memory"].reason
    assert by_key["order"].status is Status.UNCHECKED and "see memory" in by_key["order"].reason
