# SPDX-License-Identifier: Apache-2.0
"""What a GPU does to data that exact arithmetic doesn't model is a note, with the line that rests on it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.verify.kernel.test_check import CLAIM, HEAD, POINTERS, REGISTERS, run_once
from tests.verify.kernel.test_clamps import run_body

ZERO = "no infinity or NaN is multiplied by 0"
MAGIC = "a sum with 12582912 is a multiple of 1"
DIRECTION = "not its direction: .r"
SUBNORMAL = "no subnormal number is flushed to zero"
BEYOND = "a product with 1.70141e+38 leaves f32 if the other factor lies beyond 2"
OVERFLOW = "lies beyond 65504, the largest f16, though the bounds allow"


@pytest.mark.parametrize(
    ("body", "value", "said", "kinds"),
    [
        ("ld.global.f32 y,[pc]; fma.rn.f32 z,y,0f00000000,x;", "A[i]", ZERO, ("f32", "f32")),
        ("ld.global.f32 y,[pc]; mul.f32 z,0f80000000,y; add.f32 z,x,z;", "A[i] + 0 * C[i]", ZERO, ("f32", "f32")),
        (
            "ld.global.b16 h,[pc]; cvt.f32.f16 y,h; fma.rn.f32 z,0f00000000,y,x; cvt.rn.f16.f32 h,z;",
            "A[i]",
            ZERO,
            ("f32", "f16"),
        ),
        ("ld.global.f32 y,[pc]; fma.rn.f32 z,y,0f3F800000,x;", "A[i] + C[i]", "", ("f32", "f32")),
        ("fma.rn.f32 z,x,0f00000000,x;", "A[i]", "", ("f32", "f32")),  # the padding of a tile
        ("mov.f32 y,0f00000000; fma.rn.f32 z,y,y,x;", "A[i]", "", ("f32", "f32")),
        ("mov.f32 y,0f40000000; mul.f32 z,y,x;", "2 * A[i]", "", ("f32", "f32")),
        ("add.f32 z,x,0f4B400000; sub.f32 z,z,0f4B400000;", "A[i]", MAGIC, ("f32", "f32")),
        ("fma.rn.f32 z,x,0f3F800000,0f4B400000; add.f32 z,z,0fCB400000;", "A[i]", MAGIC, ("f32", "f32")),
        ("add.f32 z,x,0f4B000000; sub.f32 z,z,0f4B000000;", "A[i]", "8388608 is a multiple of 1", ("f32", "f32")),
        ("add.f32 z,x,0f4AFFFFFE; sub.f32 z,z,0f4AFFFFFE;", "A[i]", "", ("f32", "f32")),
        ("mul.f32 z,x,0f7F000000; mul.f32 z,z,0f00400000;", "A[i]", BEYOND, ("f32", "f32")),
        ("mul.f32 z,x,0f5F000000; mul.f32 z,z,0f20000000;", "A[i]", "", ("f32", "f32")),  # by 2^63
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
    outcome = run_body(body, value, *kinds)
    assert (outcome.status, outcome.findings) == ("VERIFIED", ())
    lines = [lines for text, lines in outcome.notes if said and said in text]
    assert (lines != []) == bool(said) and all(each in ((8,), (0,)) for each in lines)
    if not said:
        assert outcome.notes == ()


def test_a_comparison_that_flushes_is_noted() -> None:
    text = ".reg .pred p; setp.gt.ftz.f32 p,x,0f00000000; selp.f32 z,x,0f00000000,p;"
    outcome = run_body(text, "relu(A[i])")
    assert outcome.status == "VERIFIED" and SUBNORMAL in [text for text, lines in outcome.notes if lines == (8,)]


@pytest.mark.parametrize(("range_", "noted"), [([-9, 9], False), ([0, 65504], False), ([0, 65505], True)])
def test_a_value_that_the_range_lets_overflow_is_noted(range_: Any, noted: bool) -> None:
    outcome = run_body("cvt.rn.f16.s32 h,x;", "A[i]", "s32", "f16", range=range_)
    assert outcome.status == "VERIFIED" and any(OVERFLOW in text for text, _ in outcome.notes) == noted


# A (8x4) row-major, B column-major (n, k): lane = 4 * group + t has an element of each, and two of C.
DOUBLES = f"""{HEAD}{REGISTERS}{POINTERS}.reg .f64 %e<9>;
mul.wide.u32 %d4, %r1, 8; add.s64 %d5, %d1, %d4; add.s64 %d6, %d2, %d4; add.s64 %d7, %d4, %d4; add.s64 %d7, %d3, %d7;
ld.global.f64 %e1, [%d5]; ld.global.f64 %e2, [%d6]; mov.f64 %e3, 0.0;
mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {{%e4,%e5}}, {{%e1}}, {{%e2}}, {{%e3,%e3}};
st.global.v2.f64 [%d7], {{%e4, %e5}};
ret;
}}
""".replace(".target sm_80", ".target sm_90")
PRODUCT = {
    **CLAIM,
    "sizes": {"M": 8, "N": 8, "K": 4},
    "arrays": {name: {"dims": dims, "type": "f64", "strides": [dims[1].upper(), 1], "out": name == "C"}
               for name, dims in (("A", "mk"), ("B", "nk"), ("C", "mn"))},
}  # fmt: skip


@pytest.mark.parametrize(
    ("rounding", "said"), [("", ""), (".rn", ""), (".rz", DIRECTION + "z"), (".rp", DIRECTION + "p")]
)
def test_a_product_that_does_not_round_to_the_nearest_is_noted(rounding: str, said: str) -> None:
    outcome = run_once(DOUBLES.replace(".row.col.f64", f".row.col{rounding}.f64"), PRODUCT)
    assert (outcome.status, outcome.findings) == ("VERIFIED", ())
    assert [(said in text, lines) for text, lines in outcome.notes] == ([(True, (14,))] if said else [])
