# SPDX-License-Identifier: Apache-2.0
"""Shifts, divisions and comparisons of integers that are data: numbers where the bits do not wrap, else a bound."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.messages import RANGE_NEEDED
from tests.verify.kernel.test_check import ADD, ADDED, run_once
from tests.verify.kernel.test_lanes import tell
from tests.verify.kernel.test_signedness import BYTES, FLOAT, SUM, TEXT, WORD, run
from verify.core.errors import SpecError
from verify.kernel.check import check
from verify.kernel.claims.claim import claim_of

U8, S8 = BYTES.format("u8"), BYTES.format("s8")
# What is right, and the same with another claim: (body, claim, another claim, type of A and B, range or None, loads)
RIGHT: dict[str, tuple[str, str, str, str, list[int] | None, str]] = {
    "a shift of s32": ("shr.s32 %r5, %r2, 3;", "floor(A[i] / 8)", "floor(A[i] / 4)", "s32", None, WORD),
    "a shift of u32": ("shr.u32 %r5, %r2, 3;", "floor(A[i] / 8)", "floor(A[i] / 16)", "u32", None, WORD),
    "a shift of bits": ("shr.b32 %r5, %r2, 3;", "floor(A[i] / 8)", "A[i] / 8", "u32", None, WORD),
    "a shift of s32 as u32": ("shr.u32 %r5, %r2, 3;", "floor(A[i] / 8)", "A[i]", "s32", [0, 900], WORD),
    "a shift by a byte": ("shr.u32 %r5, %r2, 8;", "floor(A[i] / 256)", "floor(A[i] / 128)", "u32", [0, 1000], WORD),
    "a signed shift by a byte": ("shr.s32 %r5, %r2, 8;", "floor(A[i] / 256)", "A[i]", "s32", [-900, 900], WORD),
    "a shift to the left": ("shl.b32 %r5, %r2, 5;", "32 * A[i]", "16 * A[i]", "s32", None, WORD),
    "to the left by a byte": ("shl.b32 %r5, %r2, 8; add.s32 %r5, %r5, %r3;", "256 * A[i] + B[i]", "128 * A[i] + B[i]",
                              "s32", None, WORD),
    "two shifts": ("shr.s32 %r5, %r2, 2; shr.s32 %r5, %r5, 3;", "floor(A[i] / 32)", "floor(A[i] / 16)", "s32", None,
                   WORD),
    "a sum of s8, shifted": (f"{SUM} shr.s32 %r5, %r5, 2;", "floor((A[i] + B[i]) / 4)", "floor(A[i] / 4)", "s8", None,
                             S8),
    "a division of u32": ("div.u32 %r5, %r2, 7;", "floor(A[i] / 7)", "floor(A[i] / 6)", "u32", None, WORD),
    "a division of s32": ("div.s32 %r5, %r2, 7;", "trunc(A[i] / 7)", "floor(A[i] / 7)", "s32", None, WORD),
    "by a negative number": ("div.s32 %r5, %r2, -7;", "0 - trunc(A[i] / 7)", "trunc(A[i] / 7)", "s32", None, WORD),
    "of what is not negative": ("div.s32 %r5, %r2, 7;", "floor(A[i] / 7)", "floor(A[i] / 8)", "s32", [0, 99], WORD),
    "a remainder": ("rem.s32 %r5, %r2, 7;", "A[i] - 7 * trunc(A[i] / 7)", "A[i] - 7 * floor(A[i] / 7)", "s32", None,
                    WORD),
    "an upper half": ("mul.hi.u32 %r5, %r2, 1000000007;", "floor(A[i] * 1000000007 / 4294967296)", "A[i]", "u32", None,
                      WORD),
    "a magic number": ("mul.hi.u32 %r5, %r2, -1431655765; shr.u32 %r5, %r5, 1;", "floor(A[i] / 3)", "floor(A[i] / 4)",
                       "u32", None, WORD),
    "a divisor above the numbers of s64": (
        "cvt.u64.u32 %d8, %r2; mul.lo.u64 %d8, %d8, 4294967296; div.u64 %d8, %d8, -9223372036854775808; "
        "cvt.u32.u64 %r5, %d8;", "floor(A[i] / 2147483648)", "A[i]", "u32", None, WORD),
    "a magic number of 64 bits": (
        "cvt.u64.u32 %d8, %r2; mul.hi.u64 %d8, %d8, -3689348814741910323; shr.u64 %d8, %d8, 3; cvt.u32.u64 %r5, %d8;",
        "floor(A[i] / 10)", "floor(A[i] / 5)", "u32", None, WORD),
    "an upper half of 64 bits": (
        "cvt.s64.s32 %d8, %r2; mul.hi.s64 %d8, -4611686018427387904, %d8; cvt.u32.u64 %r5, %d8;",
        "floor(0 - A[i] / 4)", "0 - floor(A[i] / 4)", "s32", None, WORD),
    "a division as nvcc has it": (
        "shr.s32 %r4, %r2, 31; shr.u32 %r4, %r4, 29; add.s32 %r4, %r2, %r4; shr.s32 %r5, %r4, 3;", "floor(A[i] / 8)",
        "floor(A[i] / 16)", "s32", [0, 1000], WORD),
    "equal": ("setp.eq.s32 %p1, %r2, %r3; selp.b32 %r5, %r2, 7, %p1;", "where(A[i] == B[i], A[i], 7)",
              "where(A[i] != B[i], A[i], 7)", "s32", [0, 3], WORD),
    "equal bits": ("setp.eq.b32 %p1, %r2, 2; selp.b32 %r5, 1, 0, %p1;", "where(A[i] == 2, 1, 0)",
                   "where(A[i] == 1, 1, 0)", "u32", None, WORD),
    "not equal": ("setp.ne.s32 %p1, %r3, %r2; selp.b32 %r5, 1, 0, %p1;", "where(A[i] == B[i], 0, 1)",
                  "where(A[i] == B[i], 1, 0)", "s8", None, S8),
    "the least of sums": (f"{SUM} min.s32 %r5, %r5, %r2;", "min(A[i] + B[i], A[i])", "max(A[i] + B[i], A[i])", "u8",
                          None, U8),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize(("body", "claim", "wrong", "kind", "limits", "load"), RIGHT.values(), ids=RIGHT)
def test_a_quotient_or_comparison_of_numbers_is_what_the_claim_says(
    body: str, claim: str, wrong: str, kind: str, limits: list[int] | None, load: str
) -> None:
    keys = {} if limits is None else {"range": limits}
    out = kind if kind == "u32" else "s32"
    outcome = run(body, claim, kind, out, load, **keys)
    assert outcome.status == "VERIFIED", tell(outcome)
    assert run(body, wrong, kind, out, load, **keys).status == "REFUTED"


UNBOUNDED: dict[str, tuple[str, str, str, str, str, list[int]]] = {
    "s32 shifted as u32": ("shr.u32 %r5, %r2, 3;", "floor(A[i] / 8)", "s32", "from 0 to 4294967295", WORD, [0, 99]),
    "u32 shifted as s32": ("shr.s32 %r5, %r2, 3;", "floor(A[i] / 8)", "u32", "to 2147483647", WORD, [0, 99]),
    "a sum that may wrap": (f"{SUM} shr.s32 %r5, %r5, 1;", "floor((A[i] + B[i]) / 2)", "s32", "to 2147483647", WORD,
                            [0, (1 << 30) - 1]),
    "s32 divided as u32": ("div.u32 %r5, %r2, 3;", "floor(A[i] / 3)", "s32", "to 4294967295", WORD, [0, 99]),
    "a remainder of u32 as s32": ("rem.s32 %r5, %r2, 3;", "A[i] - 3 * floor(A[i] / 3)", "u32", "to 2147483647", WORD,
                                  [0, 99]),
    "an upper half of s32 as u32": ("mul.hi.u32 %r5, %r2, 1000000007;", "floor(A[i] * 1000000007 / 4294967296)", "s32",
                                    "to 4294967295", WORD, [0, 99]),
    "a sum that may wrap, compared": (f"{SUM} setp.eq.s32 %p1, %r5, 5; selp.b32 %r5, %r2, %r3, %p1;",
                                      "where(A[i] + B[i] == 5, A[i], B[i])", "s32", "differ by less than 4294967296",
                                      WORD, [0, 9]),
}  # fmt: skip


@pytest.mark.parametrize(("body", "claim", "kind", "words", "load", "limits"), UNBOUNDED.values(), ids=UNBOUNDED)
def test_bits_that_may_wrap_have_no_meaning_and_the_bound_is_named(
    body: str, claim: str, kind: str, words: str, load: str, limits: list[int]
) -> None:
    outcome = run(body, claim, kind, kind, load)
    assert outcome.status == "UNKNOWN", tell(outcome)
    assert all(words in each.text and RANGE_NEEDED in each.text and each.line
               for each in outcome.findings), tell(outcome)  # fmt: skip
    assert run(body, claim, kind, kind, load, range=limits).status == "VERIFIED"


def test_a_magic_number_that_is_wrong_for_large_numbers_is_no_division() -> None:
    """x * 43691 >> 17 is x / 3 below 2^16, and not for all of 32 bits."""
    body = "mul.lo.u32 %r5, %r2, 43691; shr.u32 %r5, %r5, 17;"
    assert run(body, "floor(A[i] * 43691 / 131072)", "u32", "u32", range=[0, 98302]).status == "VERIFIED"
    high = "mul.hi.u32 %r5, %r2, 1431655766;"
    assert run(high, "floor(A[i] / 3)", "u32", "u32", range=[0, 1 << 30]).status == "VERIFIED"
    assert run(high, "floor(A[i] / 3)", "u32", "u32").status == "UNKNOWN"


def test_a_magic_number_of_s32_without_its_correction_is_no_division_of_negative_numbers() -> None:
    """-3 * 1431655766 / 2^32 is a little below -1, and is rounded down to -2."""
    body = "mul.hi.s32 %r5, %r2, 1431655766;"
    exact = run(body, "floor(A[i] * 1431655766 / 4294967296)", "s32", "s32", range=[-900, 900])
    assert exact.status == "VERIFIED", tell(exact)
    assert run(body, "floor(A[i] / 3)", "s32", "s32", range=[-900, 900]).status != "VERIFIED"


@pytest.mark.parametrize("more", ["", "add.s32 %r5, %r5, 0;"])
def test_plain_bits_above_a_byte_of_data_are_not_forgotten(more: str) -> None:
    body = f"and.b32 %r2, %r2, 255; or.b32 %r5, %r2, 256; {more}"
    outcome = run(body, "A[i]", "u8", "s32", U8)
    assert outcome.status == "UNKNOWN" and "bytes of different values" in tell(outcome)
    assert run(body.replace("256", "0"), "A[i]", "u8", "s32", U8).status == "VERIFIED"


def test_plain_bits_below_a_bf16_are_not_forgotten() -> None:
    """0x8000 below the bits of a bf16 is half of its last digit."""
    load = "ld.global.b16 %h1, [%d5]; mov.b16 %h2, LOW; mov.b32 %r2, {%h2, %h1}; mov.b32 %f3, %r2;"
    whole = TEXT.replace("SIZE", "2").replace("WIDE", "4").replace("BODY", "").replace("STORE", FLOAT)
    arrays = {"A": {"dims": "i", "type": "bf16"}, "B": {"dims": "i", "type": "bf16"},
              "C": {"dims": "i", "type": "f32", "out": True}}  # fmt: skip
    table = {**ADDED, "claim": "C[i] = A[i]", "arrays": arrays}
    assert run_once(whole.replace("LOAD", load.replace("LOW", "0")), table).status == "VERIFIED"
    assert run_once(whole.replace("LOAD", load.replace("LOW", "-32768")), table).status == "UNKNOWN"


@pytest.mark.parametrize(("kind", "limits", "number"), [("s8", [0, 15], 16), ("u8", [3, 9], 2), ("s32", None, 2**31)])
def test_samples_lie_in_the_range(kind: str, limits: list[int] | None, number: int) -> None:
    keys: dict[str, Any] = {} if limits is None else {"range": limits}
    arrays = {name: {"dims": "i", "type": kind, **keys} for name in "AB"}
    table = {**ADDED, "arrays": arrays | {"C": {"dims": "i", "type": "s32", "out": True}}}
    inside = {"A": np.full(64, 5.0)}
    kernel = ADD.replace("BODY", "mov.f32 %f3, %f1;")
    for samples in ({"A": np.full(64, float(number))}, {"A": np.full(64, 5.5)}):
        with pytest.raises(SpecError, match=r"samples\.A|holds") as error:
            check(kernel, claim_of(table), samples=samples)
        assert error.value.key == "samples.A" and "from" in error.value.problem
    check(kernel, claim_of(table), samples=inside)


def test_what_is_drawn_is_of_the_whole_range() -> None:
    outcome = run("mov.b32 %r5, %r2;", "A[i]", "s32", "s32", range=[5000, 9000])
    drawn = outcome.output["C"]
    assert 5000 <= drawn.min() < 5300 and drawn.max() > 6000
