# SPDX-License-Identifier: Apache-2.0
"""Clamps of data: the identity if bounds show it, a choice if not, and a note beyond the numbers of a format."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.messages import RANGE_NEEDED
from tests.verify.kernel.test_check import HEAD, POINTERS, REGISTERS, run_once
from tests.verify.kernel.test_signs_and_clamps import TEXT
from verify.kernel.check import LaunchOutcome, check
from verify.kernel.claims.claim import claim_of

COMPILED = Path(__file__).parents[2] / "kernels" / "compiled"
UNIT, E4M3, E5M2 = "min(max(A[i], 0), 1)", "min(max(A[i], 0-448), 448)", "min(max(A[i], 0-57344), 57344)"
BYTE = "min(max(A[i], 0-128), 127)"


def run_body(
    body: str, value: str, kind: str = "f32", out: str = "f32", samples: Any = None, **more: Any
) -> LaunchOutcome:
    """The outcome of 32 threads, each of which makes C[i] of A[i], one more of 32 of a type."""
    size = int("".join(filter(str.isdigit, out.replace("e4m3", "8").replace("e5m2", "8")))) // 8
    text = TEXT.replace("BODY", body).replace("add.u64 pc,pc,o;", f"mul.wide.u32 o,i,{size}; add.u64 pc,pc,o;")
    text = text.replace("st.global.b32 [pc],z;", f"st.global.b{8 * size} [pc],{'h' if size == 2 else 'z'};")
    arrays = {name: {"dims": "i", "type": kind, **more} for name in "AB"} | {
        "C": {"dims": "i", "type": out, "out": True}
    }
    table = {"grid": 1, "block": 32, "sizes": {"I": 32}, "claim": f"C[i] = {value}", "params": ["A", "B", "C"],
             "arrays": arrays}  # fmt: skip
    (outcome,) = check(text, claim_of(table), seed=1, samples=samples)
    return outcome


def read_note(outcome: LaunchOutcome) -> str:
    return "; ".join(text for text, _ in outcome.notes)


TO_E4M3 = "mov.b32 y,0f00000000; cvt.rn.satfinite.e4m3x2.f32 h,y,x; cvt.u32.u16 z,h;"
TO_E5M2 = TO_E4M3.replace("e4m3", "e5m2")


@pytest.mark.parametrize(
    ("body", "value", "out"),
    [
        ("cvt.sat.f32.f32 z,x;", UNIT, "f32"),
        ("mov.f32 y,0f00000000; add.sat.f32 z,x,y;", UNIT, "f32"),
        ("mov.f32 y,0f3F800000; fma.rn.sat.f32 z,x,y,0f00000000;", UNIT, "f32"),
        ("cvt.rn.sat.f16.f32 h,x;", UNIT, "f16"),
        (TO_E4M3, E4M3, "e4m3"),
        (TO_E5M2, E5M2, "e5m2"),
        ("cvt.rn.satfinite.f16.f32 h,x;", "min(max(A[i], 0-65504), 65504)", "f16"),
        ("cvt.rn.relu.f16.f32 h,x;", "relu(A[i])", "f16"),
        (TO_E4M3.replace("satfinite", "satfinite.relu"), "relu(min(max(A[i], 0-448), 448))", "e4m3"),
    ],
)
def test_a_clamp_is_what_a_claim_says_and_not_the_identity(body: str, value: str, out: str) -> None:
    assert run_body(body, value, out=out).status == "VERIFIED"
    if "satfinite" not in body or "relu" in body:
        assert run_body(body, "A[i]", out=out).status == "REFUTED"
    assert run_body(body, f"2 * {value}", out=out).status == "REFUTED"
    unclamped = body.replace(".satfinite", "").replace(".sat", "").replace(".relu", "")
    if "e4m3" not in body and "e5m2" not in body:
        assert run_body(unclamped, value, out=out).status in ("REFUTED", "UNKNOWN")


@pytest.mark.parametrize(
    ("body", "out", "most"),
    [
        (TO_E4M3, "e4m3", "448"),
        (TO_E5M2, "e5m2", "57344"),
        ("cvt.rn.satfinite.f16.f32 h,x;", "f16", "65504"),
        ("cvt.rn.satfinite.bf16.f32 h,x;", "bf16", "3.38953e+38"),
        ("cvt.rna.satfinite.tf32.f32 z,x;", "tf32", "3.40116e+38"),
    ],
)
def test_beyond_the_numbers_of_a_format_a_clamp_is_noted_with_its_line(body: str, out: str, most: str) -> None:
    outcome = run_body(body, "A[i]", out=out)
    assert (outcome.status, outcome.findings) == ("VERIFIED", ())
    (lines,) = [lines for text, lines in outcome.notes if "satfinite" in text]
    assert lines == (8,) and f"beyond {most} in magnitude" in read_note(outcome)
    plain = run_body(f"max.f32 x,x,0fC0000000; min.f32 x,x,0f40000000; {body}", "min(max(A[i], 0-2), 2)", out=out)
    assert plain.status == "VERIFIED" and "satfinite" not in read_note(plain)


@pytest.mark.parametrize(("range_", "value", "status"), [(None, "A[i]", "UNKNOWN"), (None, BYTE, "VERIFIED"),
                         ([-100, 100], "A[i]", "VERIFIED"), ([-100, 200], "A[i]", "UNKNOWN")])  # fmt: skip
def test_an_integer_that_is_clamped_lies_in_its_type_or_is_chosen(range_: Any, value: str, status: str) -> None:
    more = {"range": range_} if range_ else {}
    outcome = run_body("cvt.sat.s8.s32 z,x;", value, "s32", "s8", **more)
    assert outcome.status in (status, status.replace("UNKNOWN", "REFUTED")), outcome.findings  # by a large number
    wrong = run_body("cvt.s8.s32 z,x;", BYTE, "s32", "s8")
    assert wrong.status != "VERIFIED"


def test_bytes_that_are_no_integers_are_not_moved_by_a_clamp() -> None:
    outcome = run_body("mov.b32 {h,h2},x; cvt.sat.u8.u16 h,h; cvt.u32.u16 z,h;".replace("h2", "_"), "A[i]", "f32")
    assert outcome.status == "UNKNOWN"


def test_a_function_of_a_claim_that_bounds_decide_refutes_nothing() -> None:
    """relu of u8 is the u8: a compiler leaves it out."""
    outcome = run_body("cvt.rn.f32.u32 z,x;", "relu(A[i])", "u32")
    assert outcome.status == "UNKNOWN"
    assert run_body("cvt.rn.f32.s32 z,x;", "relu(A[i])", "s32").status == "REFUTED"


# A (16x16) row-major, B column-major (n, k) of bytes, added to C: lane = 4 * group + t has four of a row.
PRODUCT = f"""{HEAD}{REGISTERS}{POINTERS}
shr.u32 %r2, %r1, 2; and.b32 %r3, %r1, 3; shl.b32 %r4, %r1, 2; cvt.u64.u32 %d4, %r4;
add.s64 %d5, %d1, %d4; add.s64 %d6, %d2, %d4;
ld.global.b32 %r10, [%d5]; ld.global.b32 %r11, [%d5+128]; ld.global.b32 %r12, [%d6];
mul.wide.u32 %d7, %r1, 8; add.s64 %d8, %d3, %d7;
ld.global.v2.u32 {{%r20, %r21}}, [%d8]; ld.global.v2.u32 {{%r22, %r23}}, [%d8+256];
mma.sync.aligned.m16n8k16.row.col.satfinite.s32.s8.s8.s32 {{%r20,%r21,%r22,%r23}}, {{%r10,%r11}}, {{%r12}},
    {{%r20,%r21,%r22,%r23}};
st.global.v2.u32 [%d8], {{%r20, %r21}}; st.global.v2.u32 [%d8+256], {{%r22, %r23}};
ret;
}}
"""
SUMS = {
    "grid": 1, "block": 32, "sizes": {"M": 16, "N": 8, "K": 16}, "params": ["A", "B", "C"],
    "claim": "C[m,n] = C[m,n] + sum_k A[m,k]*B[n,k]",
    "arrays": {"A": {"dims": "mk", "type": "s8", "strides": ["K", 1]},
               "B": {"dims": "nk", "type": "s8", "strides": ["K", 1]},
               "C": {"dims": "mn", "type": "s32", "strides": ["N", 1], "out": True}},
}  # fmt: skip


@pytest.mark.parametrize(
    ("edit", "range_", "status"),
    [
        ("", None, "UNKNOWN"),  # an H100 clamps what leaves s32
        ("", [-(1 << 30), 1 << 30], "VERIFIED"),
        ("", [0, (1 << 31) - 1 - 16 * 128 * 128], "VERIFIED"),
        ("", [0, (1 << 31) - 16 * 128 * 128], "UNKNOWN"),
        (".satfinite", None, "VERIFIED"),  # without it sums are equal modulo 2^32
        ("+128", [0, 9], "REFUTED"),
    ],
)
def test_a_clamped_sum_of_bytes_is_the_sum_if_it_stays_in_its_type(edit: str, range_: Any, status: str) -> None:
    more = {"range": range_} if range_ else {}
    arrays = {**SUMS["arrays"], "C": {**SUMS["arrays"]["C"], **more}}
    outcome = run_once(PRODUCT.replace(edit, "") if edit else PRODUCT, {**SUMS, "arrays": arrays})
    assert outcome.status == status, outcome.findings
    if status == "UNKNOWN":
        assert RANGE_NEEDED in outcome.findings[0].text and outcome.findings[0].line == 17


def test_the_corpus_product_of_bytes_is_exact_with_a_clamp() -> None:
    """Bytes and K bound every sum: no `range` is needed."""
    text, table = (COMPILED / "mma_s8.ptx").read_text(), tomllib.loads((COMPILED / "mma_s8.toml").read_text())
    table["sizes"] = {"M": 64, "N": 64, "K": 64}
    clamped = text.replace(".row.col.s32.s8.s8.s32", ".row.col.satfinite.s32.s8.s8.s32")
    (outcome,) = check(clamped, claim_of(table), seed=1)
    assert clamped != text and (outcome.status, outcome.findings) == ("VERIFIED", ())
