# SPDX-License-Identifier: Apache-2.0
"""Strides as large as a real allocation, which is not allocated: an offset that needs 64 bits and has 32 is refuted."""

from __future__ import annotations

from typing import Any

import pytest

from tests.verify.kernel.test_check import HEAD, POINTERS, REGISTERS, run_once
from verify.core.errors import SpecError
from verify.kernel.check import LaunchOutcome, check
from verify.kernel.claims.claim import claim_of

# Thread (row, column) of 4 x 16 copies A[b, m, n] of its CTA's batch b to C; `lda` and the batch stride are parameters.
TEXT = f"""{HEAD.replace(".u64 pc)", ".u64 pc, .param .u32 ld, .param .u64 batch)")}{REGISTERS}{POINTERS}
ld.param.u32 %r2, [ld]; ld.param.u64 %d9, [batch]; mov.u32 %r8, %ctaid.x; cvt.u64.u32 %d10, %r8;
shr.u32 %r3, %r1, 4; and.b32 %r4, %r1, 15;
OFFSET
shl.b64 %d4, %d4, 2; add.s64 %d5, %d1, %d4; add.s64 %d6, %d3, %d4;
ld.global.f32 %f1, [%d5]; st.global.f32 [%d6], %f1;
ret;
}}
"""
LONG = """mul.wide.u32 %d4, %r3, %r2; cvt.u64.u32 %d7, %r4; add.s64 %d4, %d4, %d7;
mul.lo.s64 %d10, %d10, %d9; add.s64 %d4, %d4, %d10;"""
ROW = LONG.replace("mul.wide.u32 %d4, %r3, %r2;", "mul.lo.u32 %r5, %r3, %r2; cvt.u64.u32 %d4, %r5;")
SIGNED = LONG.replace("mul.wide.u32 %d4, %r3, %r2;", "mul.lo.u32 %r5, %r3, %r2; cvt.s64.s32 %d4, %r5;")
BATCH = LONG.replace(
    "mul.lo.s64 %d10, %d10, %d9;", "cvt.u32.u64 %r6, %d9; mul.lo.u32 %r6, %r8, %r6; cvt.u64.u32 %d10, %r6;"
)
SMALL, FAR = {"LD": 24, "BATCH": 96}, {"LD": 1 << 31, "BATCH": 96}


def table(*sizes: dict[str, int], strides: Any = ("BATCH", "LD", 1), **keys: Any) -> dict[str, Any]:
    """The claim that A is copied to C; each table of sizes has its strides."""
    array = {"dims": "bmn", "type": "f32", "strides": list(strides), **keys}
    return {
        "grid": 2, "block": 64, "sizes": [{"B": 2, "M": 4, "N": 16, **each} for each in sizes],
        "claim": "C[b,m,n] = A[b,m,n]", "params": ["A", "B", "C", "LD", "BATCH"],
        "arrays": {"A": array, "B": {"dims": "n", "type": "f32"}, "C": {**array, "out": True}},
    }  # fmt: skip


def run(offset: str, *sizes: dict[str, int]) -> list[LaunchOutcome]:
    return check(TEXT.replace("OFFSET", offset), claim_of(table(*sizes)))


@pytest.mark.parametrize(
    ("wrong", "wide"),
    [
        (ROW, FAR),
        (ROW, {"LD": 3_000_000_001, "BATCH": 96}),
        (SIGNED, {"LD": 800_000_000, "BATCH": 96}),
        (BATCH, {"LD": 24, "BATCH": 10_000_000_007}),
    ],
    ids=["a row at 2^32", "a row that wraps to no element", "a signed row", "a batch"],
)
def test_an_offset_of_32_bits_is_refuted_and_its_twin_of_64_verified(wrong: str, wide: dict[str, int]) -> None:
    assert [each.status for each in run(LONG, wide, SMALL)] == ["VERIFIED"] * 2
    assert [each.status for each in run(wrong, wide, SMALL)] == ["REFUTED", "VERIFIED"]


def test_an_access_between_the_elements_is_named_by_its_place() -> None:
    apart = LONG.replace("mul.wide.u32 %d4, %r3, %r2;", "mul.wide.u32 %d4, %r3, %r2; add.s64 %d4, %d4, 1000;")
    (outcome,) = run(apart, {"LD": 1 << 31, "BATCH": 1 << 34})
    (text,) = {each.text for each in outcome.findings if each.text.startswith("CTA 0, thread 0 reads")}
    assert outcome.status == "REFUTED" and "reads A[0,0,1000] of 2x4x16; 128 threads" in text


@pytest.mark.parametrize(
    ("sizes", "said"),
    [((SMALL,), "every array ends"), ((FAR,), "B ends"), ((SMALL, FAR), "B ends")],
    ids=["none", "far", "one of two"],
)
def test_what_no_launch_reaches_is_a_blind_spot(sizes: tuple[dict[str, int], ...], said: str) -> None:
    for outcome in run(LONG, *sizes):
        (text,) = [each for each in outcome.hidden if "2^32" in each]
        assert text == f"{said} before 2^32 elements: an offset that wraps at 32 bits is not seen"


def test_two_elements_at_one_place_are_an_error_however_far_they_lie() -> None:
    with pytest.raises(SpecError, match="two elements of A have the same place"):
        claim_of(table({"LD": 1 << 33, "BATCH": 1 << 33}))
    with pytest.raises(SpecError, match="within 549755813888 bytes"):
        claim_of(table({"LD": 1 << 36, "BATCH": 96}))


STORE = "st.global.f32 [%d6], %f1;"
COPY = f"ld.global.f32 %f1, [%d5]; {STORE}"


def test_atomic_sums_and_races_of_places_far_apart_are_seen() -> None:
    text = TEXT.replace("OFFSET", LONG)
    added = text.replace(COPY, "mov.f32 %f1, 0f3F800000; red.global.add.f32 [%d6], %f1;")
    assert run_once(added, {**table(FAR), "claim": "C[b,m,n] = C[b,m,n] + 1"}).status == "VERIFIED"
    assert run_once(added, {**table(FAR), "claim": "C[b,m,n] = C[b,m,n] + 2"}).status == "REFUTED"
    racing = text.replace("%d10, %d9;", "%d10, 0;").replace(COPY, f"cvt.rn.f32.u32 %f1, %r8; {STORE}")
    assert racing.count("cvt.rn.f32.u32") == 1
    assert "race: two writes in global memory" in {each.kind for each in run_once(racing, table(FAR)).findings}
