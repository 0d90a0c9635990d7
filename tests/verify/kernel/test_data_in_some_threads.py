# SPDX-License-Identifier: Apache-2.0
"""A register may hold data in some threads and plain bits in others: there an instruction does what it does to bits."""

import pytest

from tests.verify.kernel.test_check import HEAD, POINTERS, REGISTERS, run_once

# Threads 2i and 2i+1 have A[i] and 0xf0 in %r5; what the odd one makes of it goes to C[i].
TEXT = f"""{HEAD}{REGISTERS}{POINTERS}
shr.u32 %r2, %r1, 1; mul.wide.u32 %d4, %r2, 4; add.s64 %d5, %d1, %d4; add.s64 %d6, %d3, %d4;
and.b32 %r3, %r1, 1; setp.eq.u32 %p1, %r3, 1;
ld.global.b32 %r4, [%d5]; selp.b32 %r5, 240, %r4, %p1;
BODY
@%p1 st.global.b32 [%d6], %r6;
ret;
}}
"""
BODIES = {  # and what it makes of 0xf0; None where the number is left open in these threads too
    "lop3.b32 %r6, %r5, %r5, %r5, 1;": -241,
    "not.b32 %r6, %r5;": -241,
    "popc.b32 %r6, %r5;": 4,
    "mul24.lo.u32 %r6, %r5, %r5;": 57600,
    "bfind.u32 %r6, %r5;": 7,
    "rem.s32 %r7, %r5, %r5; add.s32 %r6, %r7, 3;": 3,
    "add.cc.u32 %r7, %r5, -1; addc.u32 %r6, 5, 0;": 6,
    "shr.u32 %r6, %r5, %r5;": None,
    "cvt.sat.s8.u32 %r6, %r5;": None,
    "cvt.s8.s32 %r6, %r5;": -16,
    "prmt.b32 %r6, %r5, 0, 0x8888;": None,
    "and.b32 %r6, %r5, 0x3c;": None,
    "mul.hi.u32 %r6, %r5, 0x10000000;": None,
}


@pytest.mark.parametrize(("body", "number"), BODIES.items(), ids=BODIES)
def test_threads_with_plain_bits_compute_bits(body: str, number: int | None) -> None:
    for kind in ("f32", "u8"):
        text = TEXT.replace("BODY", body)
        if kind == "u8":
            text = text.replace("ld.global.b32 %r4, [%d5]", "add.s64 %d7, %d1, %d4; ld.global.u8 %r4, [%d1]")
        arrays = {"A": {"dims": "i", "type": kind}, "C": {"dims": "i", "type": "s32", "out": True}}
        table = {"grid": 1, "block": 64, "sizes": {"I": 32}, "params": ["A", "A", "C"], "arrays": arrays}
        if number is not None:
            right = run_once(text, {**table, "claim": f"C[i] = {number}"})
            assert right.status == "VERIFIED", right.findings
        assert run_once(text, {**table, "claim": "C[i] = 0"}).status != "VERIFIED"
