# SPDX-License-Identifier: Apache-2.0
"""Integers that are data: bits modulo 2^n, until something uses them as a number: then they must lie in its type."""

from typing import Any

import pytest

from tests.messages import RANGE_NEEDED
from tests.verify.kernel.test_check import HEAD, POINTERS, REGISTERS, run_once
from verify.core.errors import SpecError

# One thread for each of 64 elements: A[i] in %r2, B[i] in %r3, and what is made of them goes to C[i].
TEXT = f"""{HEAD}{REGISTERS}{POINTERS}
mad.lo.u32 %r4, %r1, SIZE, 0; cvt.u64.u32 %d4, %r4; add.s64 %d5, %d1, %d4; add.s64 %d6, %d2, %d4;
mul.wide.u32 %d7, %r1, WIDE; add.s64 %d7, %d3, %d7;
LOAD
BODY
STORE
ret;
}}
"""
WORD = "ld.global.b32 %r2, [%d5]; ld.global.b32 %r3, [%d6];"
FLOAT, INTEGER, LONG = "st.global.f32 [%d7], %f3;", "st.global.b32 [%d7], %r5;", "st.global.b64 [%d7], %d8;"


def run(body: str, claim: str, kind: str, out: str = "s32", load: str = WORD, **keys: Any) -> Any:
    size, wide = int(kind[1:]) // 8, int(out.strip("usf")) // 8
    store = FLOAT if out == "f32" else LONG if wide == 8 else INTEGER
    if wide < 4:
        store = f"st.global.b{8 * wide} [%d7], %r5;"
    text = TEXT.replace("SIZE", str(size)).replace("WIDE", str(wide)).replace("LOAD", load)
    arrays = {name: {"dims": "i", "type": kind, **keys} for name in "AB"} | {
        "C": {"dims": "i", "type": out, "out": True}
    }
    table = {"grid": 1, "block": 64, "sizes": {"I": 64}, "claim": f"C[i] = {claim}", "params": ["A", "B", "C"],
             "arrays": arrays}  # fmt: skip
    return run_once(text.replace("BODY", body).replace("STORE", store), table)


BYTES = "ld.global.{0} %r2, [%d5]; ld.global.{0} %r3, [%d6];"
SUM = "add.s32 %r5, %r2, %r3;"
# What is right, and what is like it and is not: (body, claim, type of A and B, type of C, how they are loaded)
EXACT = {
    "a sum of u32": (SUM, "A[i] + B[i]", "u32", "u32", WORD),
    "a sum of s32": ("add.u32 %r5, %r2, %r3;", "A[i] + B[i]", "s32", "s32", WORD),
    "a product of s8": ("mul.lo.s32 %r5, %r2, %r3;", "A[i] * B[i]", "s8", "s32", BYTES.format("s8")),
    "a wide product of s8": ("cvt.u16.u32 %h1, %r2; cvt.u16.u32 %h2, %r3; mul.wide.s16 %r5, %h1, %h2;",
                             "A[i] * B[i]", "s8", "s32", BYTES.format("s8")),
    "a wide product of 16-bit registers": (
        "mul.wide.s16 %r5, %h1, %h2;", "A[i] * B[i]", "s8", "s32",
        "ld.global.s8 %h1, [%d5]; ld.global.s8 %h2, [%d6];"),
    "bytes that are extended later": (
        "cvt.s32.s8 %r2, %r2; cvt.s32.s8 %r3, %r3; mad.lo.s32 %r5, %r2, %r3, %r2;", "A[i] * B[i] + A[i]", "s8", "s32",
        BYTES.format("u8")),
    "a product of u8": ("mul.lo.s32 %r5, %r2, %r3;", "A[i] * B[i]", "u8", "s32", BYTES.format("u8")),
    "s8 as a float": ("cvt.rn.f32.s32 %f3, %r2;", "A[i]", "s8", "f32", BYTES.format("s8")),
    "u8 as a float": ("cvt.rn.f32.u32 %f3, %r2;", "A[i]", "u8", "f32", BYTES.format("u8")),
    "u8 as a signed float": ("cvt.rn.f32.s32 %f3, %r2;", "A[i]", "u8", "f32", BYTES.format("u8")),
    "a sum of s8 as a float": ("add.s32 %r5, %r2, %r3; cvt.rn.f32.s32 %f3, %r5;", "A[i] + B[i]", "s8", "f32",
                               BYTES.format("s8")),
    "s32 as a long": ("cvt.s64.s32 %d8, %r2;", "A[i]", "s32", "s64", WORD),
    "u32 as a long": ("cvt.u64.u32 %d8, %r2;", "A[i]", "u32", "u64", WORD),
    "the greater of s32": ("max.s32 %r5, %r2, %r3;", "max(A[i], B[i])", "s32", "s32", WORD),
    "the greater of u32": ("max.u32 %r5, %r2, %r3;", "max(A[i], B[i])", "u32", "u32", WORD),
    "a comparison of s32": ("setp.gt.s32 %p1, %r2, %r3; selp.b32 %r5, %r2, %r3, %p1;", "max(A[i], B[i])", "s32", "s32",
                            WORD),
    "a comparison of u32": ("setp.lo.u32 %p1, %r2, %r3; selp.b32 %r5, %r2, %r3, %p1;", "min(A[i], B[i])", "u32", "u32",
                            WORD),
}  # fmt: skip
WRONG = {
    "s32 as an unsigned float": ("cvt.rn.f32.u32 %f3, %r2;", "A[i]", "s32", "f32", WORD),
    "u32 as a signed float": ("cvt.rn.f32.s32 %f3, %r2;", "A[i]", "u32", "f32", WORD),
    "s8 with zeros above": ("mul.lo.s32 %r5, %r2, %r3;", "A[i] * B[i]", "s8", "s32", BYTES.format("u8")),
    "u8 with signs above": ("mul.lo.s32 %r5, %r2, %r3;", "A[i] * B[i]", "u8", "s32", BYTES.format("s8")),
    "a sum of s32 that may wrap": (f"{SUM} cvt.rn.f32.s32 %f3, %r5;", "A[i] + B[i]", "s32", "f32", WORD),
    "a negative difference of u8": ("sub.s32 %r5, %r2, %r3; cvt.rn.f32.u32 %f3, %r5;", "A[i] - B[i]", "u8", "f32",
                                    BYTES.format("u8")),
    "s32 as an unsigned long": ("cvt.u64.u32 %d8, %r2;", "A[i]", "s32", "s64", WORD),
    "u32 as a signed long": ("cvt.s64.s32 %d8, %r2;", "A[i]", "u32", "s64", WORD),
    "the greater of s32 as u32": ("max.u32 %r5, %r2, %r3;", "max(A[i], B[i])", "s32", "s32", WORD),
    "the greater of u32 as s32": ("max.s32 %r5, %r2, %r3;", "max(A[i], B[i])", "u32", "u32", WORD),
    "s32 compared as u32": ("setp.hi.u32 %p1, %r2, %r3; selp.b32 %r5, %r2, %r3, %p1;", "max(A[i], B[i])", "s32", "s32",
                            WORD),
    "u32 compared as s32": ("setp.gt.s32 %p1, %r2, %r3; selp.b32 %r5, %r2, %r3, %p1;", "max(A[i], B[i])", "u32", "u32",
                            WORD),
    "a difference that wraps, compared": (
        "sub.s32 %r5, %r2, %r3; setp.gt.s32 %p1, %r5, 0; selp.b32 %r5, %r2, %r3, %p1;", "max(A[i], B[i])", "s32", "s32",
        WORD),
    "a wide product of a sum that may wrap": (
        "add.s32 %r5, %r2, %r3; mul.wide.s32 %d8, %r5, %r5;", "(A[i] + B[i]) * (A[i] + B[i])", "s32", "s64", WORD),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize(("body", "claim", "kind", "out", "load"), EXACT.values(), ids=EXACT)
def test_integers_are_the_numbers_that_their_types_say(body: str, claim: str, kind: str, out: str, load: str) -> None:
    outcome = run(body, claim, kind, out, load)
    assert outcome.status == "VERIFIED", outcome.findings
    assert run(body, f"{claim} + A[i]", kind, out, load).status == "REFUTED"


@pytest.mark.parametrize(("body", "claim", "kind", "out", "load"), WRONG.values(), ids=WRONG)
def test_bits_that_may_be_another_number_have_no_meaning(body: str, claim: str, kind: str, out: str, load: str) -> None:
    outcome = run(body, claim, kind, out, load)
    assert outcome.status == "UNKNOWN", outcome.findings
    (text,) = {each.text for each in outcome.findings}
    assert RANGE_NEEDED in text and " from " in text
    assert all(each.line for each in outcome.findings)


@pytest.mark.parametrize(
    ("name", "limits"),
    [
        ("s32 as an unsigned float", [0, 1000]),
        ("u32 as a signed float", [0, 2**31 - 1]),
        ("s8 with zeros above", [0, 127]),
        ("u8 with signs above", [5, 100]),
        ("a sum of s32 that may wrap", [-(2**30), 2**30 - 1]),
        ("s32 as an unsigned long", [0, 7]),
        ("u32 as a signed long", [0, 7]),
        ("the greater of s32 as u32", [0, 7]),
        ("the greater of u32 as s32", [0, 7]),
        ("s32 compared as u32", [0, 7]),
        ("u32 compared as s32", [0, 7]),
        ("a difference that wraps, compared", [-(2**30), 2**30 - 1]),
        ("a wide product of a sum that may wrap", [-(2**30), 2**30 - 1]),
    ],
)
def test_a_range_of_the_claim_bounds_them(name: str, limits: list[int]) -> None:
    outcome = run(*WRONG[name], range=limits)
    assert outcome.status == "VERIFIED", outcome.findings
    assert f"; A from {limits[0]} to {limits[1]}; B from" in outcome.domain
    wider = [limits[0], limits[1] + 1] if "wrap" in name else None
    if wider is not None:
        assert run(*WRONG[name], range=wider).status == "UNKNOWN"


@pytest.mark.parametrize(
    ("kind", "limits", "said"),
    [
        ("s8", [0, 128], "from -128 to 127"),
        ("u8", [-1, 1], "from 0 to 255"),
        ("s8", [3, 2], "the least first"),
        ("s8", [0], "expected the least and the greatest"),
        ("s8", [0, 1.5], "expected the least and the greatest"),
        ("s8", "0..3", "expected the least and the greatest"),
    ],
)
def test_a_range_that_says_nothing_is_one_line(kind: str, limits: Any, said: str) -> None:
    with pytest.raises(SpecError, match=said):
        run(SUM, "A[i]", kind, range=limits)


def test_integers_of_the_output_that_may_wrap_are_noted() -> None:
    assert run(SUM, "A[i] + B[i]", "s8", "s32", BYTES.format("s8")).notes == ()
    note = "integers of C that leave s32 are equal modulo 2^32"
    assert run(SUM, "A[i] + B[i]", "s32").notes == ((note, (0,)),)
    assert run(SUM, "A[i] + B[i]", "s32", range=[0, 9]).notes == ()


def test_a_value_that_is_truncated_is_not_a_number_of_the_narrow_type_again() -> None:
    """A sum of two s8 that goes through s8 wraps; a sum that stays within it does not."""
    body = "add.s32 %r5, %r2, %r3; cvt.s32.s8 %r5, %r5;"
    assert run(body, "A[i] + B[i]", "s8", "s32", BYTES.format("s8")).status == "UNKNOWN"
    assert run(body, "A[i] + B[i]", "s8", "s32", BYTES.format("s8"), range=[-64, 63]).status == "VERIFIED"


@pytest.mark.parametrize("kind", ["u8", "u16"])
def test_the_lowest_byte_of_a_smaller_integer_is_extended_by_its_sign(kind: str) -> None:
    """255 as an s8 is -1: the register above the byte is no zero, and the product isn't a square."""
    load = BYTES.format(kind)
    wrong = run("cvt.s8.s32 %r5, %r2; mul.lo.s32 %r5, %r5, %r2;", "A[i] * A[i]", kind, "s32", load, range=[0, 255])
    assert wrong.status == "UNKNOWN", wrong.findings
    right = run("cvt.u8.s32 %r5, %r2; mul.lo.s32 %r5, %r5, %r2;", "A[i] * A[i]", kind, "s32", load, range=[0, 255])
    assert right.status == "VERIFIED", right.findings
    kept = run("cvt.s8.s32 %r5, %r2;", "A[i]", kind, "u8", load, range=[0, 255])
    assert kept.status == "VERIFIED", kept.findings


# Thread i multiplies row i of A by B in a loop: C[i] = sum_k A[i,k]*B[k], as compilers write it for `signed char`.
NAIVE = f"""{HEAD}{REGISTERS}{POINTERS}
mul.lo.s32 %r2, %r1, 24; cvt.s64.s32 %d4, %r2; add.s64 %d4, %d1, %d4; mov.u64 %d5, %d2;
mov.u32 %r3, 0; mov.u32 %r4, 0;
AGAIN:
ld.global.TYPE %r5, [%d4]; ld.global.TYPE %r6, [%d5]; mad.lo.s32 %r4, %r6, %r5, %r4;
add.s64 %d4, %d4, 1; add.s64 %d5, %d5, 1; add.s32 %r3, %r3, 1; setp.lt.s32 %p1, %r3, 20; @%p1 bra AGAIN;
FINISH
ret;
}}
"""
ADDRESS = "mul.wide.u32 %d6, %r1, 4; add.s64 %d7, %d3, %d6;"
SUMS = {
    "s32": f"{ADDRESS} st.global.u32 [%d7], %r4;",
    "f32": f"{ADDRESS} cvt.rn.f32.s32 %f1, %r4; mul.f32 %f1, %f1, 0f3F000000; st.global.f32 [%d7], %f1;",
}


@pytest.mark.long
@pytest.mark.parametrize("out", SUMS)
@pytest.mark.parametrize(("kind", "load", "status"), [
    ("s8", "s8", "VERIFIED"), ("u8", "u8", "VERIFIED"), ("s8", "u8", "UNKNOWN"), ("u8", "s8", "UNKNOWN"),
])  # fmt: skip
def test_a_naive_product_of_bytes_is_verified_if_its_loads_have_the_arrays_type(
    kind: str, load: str, status: str, out: str
) -> None:
    arrays = {"A": {"dims": "mk", "type": kind, "strides": [24, 1]}, "B": {"dims": "k", "type": kind},
              "C": {"dims": "m", "type": out, "out": True}}  # fmt: skip
    claim = "C[m] = sum_k A[m,k]*B[k]" if out == "s32" else "C[m] = 0.5 * sum_k A[m,k]*B[k]"
    table = {"grid": 1, "block": 64, "sizes": {"M": 64, "K": 20}, "claim": claim, "params": ["A", "B", "C"],
             "arrays": arrays}  # fmt: skip
    text = NAIVE.replace("TYPE", load).replace("FINISH", SUMS[out])
    outcome = run_once(text, table)
    assert (outcome.status, outcome.notes) == (status, ()) or (outcome.status == status != "VERIFIED"), outcome.findings
    assert run_once(text.replace("%r3, 20", "%r3, 19"), table).status in ("REFUTED", status.replace("VERIFIED", ""))
