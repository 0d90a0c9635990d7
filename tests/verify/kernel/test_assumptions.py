# SPDX-License-Identifier: Apache-2.0
"""What a GPU does to data that exact arithmetic doesn't model is a note, with the line that rests on it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.verify.kernel.test_clamps import outcome

ZERO = "no infinity or NaN is multiplied by 0"
MAGIC = "a sum with 12582912 is a multiple of 1"
DIRECTION = "not its direction: .r"
SUBNORMAL = "no subnormal number is flushed to zero"
OVERFLOW = "lies beyond 65504, the largest f16, though the bounds allow"


@pytest.mark.parametrize(
    ("body", "value", "said", "kinds"),
    [
        ("mov.f32 y,0f00000000; fma.rn.f32 z,x,y,x;", "A[i]", ZERO, ("f32", "f32")),
        ("mov.f32 y,0f80000000; mul.f32 z,y,x; add.f32 z,x,z;", "A[i]", ZERO, ("f32", "f32")),
        ("mov.f32 y,0f00000000; fma.rn.f32 z,y,y,x;", "A[i]", "", ("f32", "f32")),
        ("mov.f32 y,0f40000000; mul.f32 z,y,x;", "2 * A[i]", "", ("f32", "f32")),
        ("add.f32 z,x,0f4B400000; sub.f32 z,z,0f4B400000;", "A[i]", MAGIC, ("f32", "f32")),
        ("fma.rn.f32 z,x,0f3F800000,0f4B400000; add.f32 z,z,0fCB400000;", "A[i]", MAGIC, ("f32", "f32")),
        ("add.f32 z,x,0f4B000000; sub.f32 z,z,0f4B000000;", "A[i]", "8388608 is a multiple of 1", ("f32", "f32")),
        ("add.f32 z,x,0f4AFFFFFE; sub.f32 z,z,0f4AFFFFFE;", "A[i]", "", ("f32", "f32")),
        ("add.rz.f32 z,x,x;", "2 * A[i]", DIRECTION + "z", ("f32", "f32")),
        ("cvt.rz.f16.f32 h,x;", "A[i]", DIRECTION + "z", ("f32", "f16")),
        ("cvt.rm.f32.s32 z,x;", "A[i]", DIRECTION + "m", ("s32", "f32")),
        ("add.ftz.f32 z,x,x;", "2 * A[i]", SUBNORMAL, ("f32", "f32")),
        ("ex2.approx.ftz.f32 z,x;", "ex2(A[i])", SUBNORMAL, ("f32", "f32")),
        ("rcp.approx.ftz.f32 z,x;", "rcp(A[i])", SUBNORMAL, ("f32", "f32")),
        ("cvt.rn.ftz.f16.f32 h,x;", "A[i]", SUBNORMAL, ("f32", "f16")),
        ("max.ftz.f32 z,x,x;", "max(A[i], A[i])", SUBNORMAL, ("f32", "f32")),
        ("cvt.rn.f16.s32 h,x;", "A[i]", OVERFLOW, ("s32", "f16")),
    ],
)
def test_a_difference_from_exact_arithmetic_is_noted_with_its_line(
    body: str, value: str, said: str, kinds: tuple[str, str]
) -> None:
    found = outcome(body, value, *kinds)
    assert (found.status, found.findings) == ("VERIFIED", ())
    lines = [lines for text, lines in found.notes if said and said in text]
    assert (lines != []) == bool(said) and all(each in ((8,), (0,)) for each in lines)
    if not said:
        assert found.notes == ()


def test_a_comparison_that_flushes_is_noted() -> None:
    text = ".reg .pred p; setp.gt.ftz.f32 p,x,0f00000000; selp.f32 z,x,0f00000000,p;"
    found = outcome(text, "relu(A[i])")
    assert found.status == "VERIFIED" and SUBNORMAL in [text for text, lines in found.notes if lines == (8,)]


@pytest.mark.parametrize(("range_", "noted"), [([-9, 9], False), ([0, 65504], False), ([0, 65505], True)])
def test_a_value_that_the_range_lets_overflow_is_noted(range_: Any, noted: bool) -> None:
    found = outcome("cvt.rn.f16.s32 h,x;", "A[i]", "s32", "f16", range=range_)
    assert found.status == "VERIFIED" and any(OVERFLOW in text for text, _ in found.notes) == noted
