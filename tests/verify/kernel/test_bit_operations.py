# SPDX-License-Identifier: Apache-2.0
"""prmt that repeats the sign of data: a byte or two become a wider number; any other use of a sign has no meaning."""

from __future__ import annotations

import pytest

from tests.verify.kernel.test_check import HEAD, POINTERS, REGISTERS, run_once
from verify.kernel.check import LaunchOutcome

# Each of 64 threads has four bytes of A in %r2, and what is made of them goes to C.
TEXT = f"""{HEAD}{REGISTERS}{POINTERS}
mul.wide.u32 %d4, %r1, 4; add.s64 %d5, %d1, %d4; add.s64 %d7, %d3, %d4;
ld.global.b32 %r2, [%d5]; mov.u32 %r9, 0;
BODY
st.global.b32 [%d7], %r5;
ret;
}}
"""
BYTES = "".join(f"prmt.b32 %r{10 + at}, %r2, %r9, {8 + at:#x}{8 + at:x}{8 + at:x}{at};" for at in range(4))
SUM = "add.s32 %r5, %r10, %r11; add.s32 %r5, %r5, %r12; add.s32 %r5, %r5, %r13;"
PAIRS = "mov.b32 {%h1, %h2}, %r3; cvt.s32.s16 %r10, %h1; cvt.s32.s16 %r11, %h2; add.s32 %r5, %r10, %r11;"


def run(body: str, kind: str, count: int) -> LaunchOutcome:
    arrays = {"A": {"dims": "ij", "type": kind, "strides": ["J", 1]}, "B": {"dims": "i", "type": "s32"}}
    arrays["C"] = {"dims": "i", "type": "s32", "out": True}
    table = {"grid": 1, "block": 64, "sizes": {"I": 64, "J": count}, "claim": "C[i] = sum_j A[i,j]",
             "params": ["A", "B", "C"], "arrays": arrays}  # fmt: skip
    return run_once(TEXT.replace("BODY", body), table)


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (BYTES + SUM, "s8", "VERIFIED"),
        (BYTES + SUM, "u8", "UNKNOWN"),  # a byte above 127 would become negative
        (BYTES.replace("0x8880", "0x4440") + SUM, "s8", "UNKNOWN"),  # and a negative one large
        (BYTES.replace("0x8880", "0x9980") + SUM, "s8", "UNKNOWN"),
        (BYTES.replace("0x8880", "0x9991") + SUM, "s8", "REFUTED"),
        ("prmt.b32 %r3, %r2, 0, 0x9910; prmt.b32 %r4, %r2, 0, 0xbb32; add.s32 %r5, %r3, %r4;", "s16", "VERIFIED"),
        ("prmt.b32 %r3, %r2, 0, 0x9910; prmt.b32 %r4, %r2, 0, 0xaa32; add.s32 %r5, %r3, %r4;", "s16", "UNKNOWN"),
        ("prmt.b32 %r3, %r2, 0, 0x3210; " + PAIRS, "s16", "VERIFIED"),
    ],
)
def test_a_sign_that_is_repeated_extends_a_number(body: str, kind: str, status: str) -> None:
    outcome = run(body, kind, 4 if kind[1:] == "8" else 2)
    assert outcome.status == status, outcome.findings


def test_halves_are_extended_each() -> None:
    """0x9180: two bytes become two numbers of 16 bits; 0x3290 keeps a half as it is."""
    two = "prmt.b32 %r3, %r2, 0, 0xSELECTOR; " + PAIRS + "mov.u32 %r6, %r5; prmt.b32 %r3, %r2, 0, 0xb3a2; " + PAIRS
    two += "add.s32 %r5, %r5, %r6;"
    assert run(two.replace("SELECTOR", "9180"), "s8", 4).status == "VERIFIED"
    assert run(two.replace("SELECTOR", "9190"), "s8", 4).status != "VERIFIED"
