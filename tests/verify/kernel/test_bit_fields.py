# SPDX-License-Identifier: Apache-2.0
"""Fields of integers that are data: cut out, put in, masked; bytes through a funnel; amounts that differ by thread."""

from __future__ import annotations

import pytest

from tests.verify.kernel.test_lanes import tell
from tests.verify.kernel.test_signedness import BYTES, WORD, run

U8, S8 = BYTES.format("u8"), BYTES.format("s8")
LOW = "(A[i] - 16 * floor(A[i] / 16))"  # the lowest four bits
SECOND = "(floor(A[i] / 16) - 16 * floor(A[i] / 256))"  # the next four
ODD = "and.b32 %r6, %r1, 1; setp.eq.u32 %p1, %r6, 1; "
CASES: dict[str, tuple[str, str, str, str, str]] = {  # body, what it is, what it is not, type of A and B, loads
    "unsigned": ("bfe.u32 %r5, %r2, 4, 4;", SECOND, LOW, "u32", WORD),
    "unsigned, of what may be negative": ("bfe.u32 %r5, %r2, 4, 4;", SECOND, LOW, "s32", WORD),
    "to the top": ("bfe.u32 %r5, %r2, 5, 32;", "floor(A[i] / 32)", "floor(A[i] / 16)", "u32", WORD),
    "signed": ("bfe.s32 %r5, %r2, 0, 4;", f"{LOW} - 16 * (floor(A[i] / 8) - 2 * floor(A[i] / 16))", LOW, "u8", U8),
    "signed, to the top": ("bfe.s32 %r5, %r2, 5, 32;", "floor(A[i] / 32)", "floor(A[i] / 16)", "s32", WORD),
    "nothing": ("bfe.u32 %r5, %r2, 4, 0; add.s32 %r5, %r5, %r3;", "B[i]", "A[i]", "u32", WORD),
    "a byte": ("bfe.u32 %r5, %r2, 0, 8;", "A[i]", "B[i]", "u8", U8),
    "the sign of a byte": ("bfe.s32 %r5, %r2, 0, 8;", "A[i]", "B[i]", "s8", U8),
    "a mask of a byte that may be negative": ("and.b32 %r5, %r2, 15;", LOW, SECOND, "s8", U8),
    "of one of two bytes": ("shl.b32 %r6, %r3, 8; or.b32 %r6, %r6, %r2;"
                            "bfe.s32 %r5, %r6, 8, 8;", "B[i]", "A[i]", "s8", U8),
    "bits of one of two bytes": ("shl.b32 %r6, %r3, 8; or.b32 %r6, %r6, %r2; bfe.u32 %r5, %r6, 8, 4;",
                                 LOW.replace("A", "B"), LOW, "u8", U8),
    "a mask": ("and.b32 %r5, %r2, 15;", LOW, SECOND, "u8", U8),
    "a mask of what may be negative": ("and.b32 %r5, %r2, 15;", LOW, SECOND, "s8", S8),
    "a mask further up": ("and.b32 %r5, %r2, 240;", f"16 * {SECOND}", SECOND, "s32", WORD),
    "a mask that keeps all": ("and.b32 %r5, %r2, 511;", "A[i]", LOW, "u8", U8),
    "put in": ("mov.u32 %r4, 0; bfi.b32 %r5, %r2, %r4, 4, 4;", f"16 * {LOW}", LOW, "u8", U8),
    "two put together": ("bfi.b32 %r5, %r3, %r2, 8, 4;", f"A[i] + 256 * {LOW.replace('A', 'B')}", "A[i]", "u8", U8),
    "put over": ("bfi.b32 %r5, %r3, %r2, 4, 28;", f"{LOW} + 16 * B[i]", "A[i] + 16 * B[i]", "u8", U8),
    "bytes put together": ("bfi.b32 %r5, %r3, %r2, 8, 24; bfe.u32 %r5, %r5, 8, 8;", "B[i]", "A[i]", "u8", U8),
    "a rotation": ("shf.l.wrap.b32 %r5, %r2, %r2, 8; shf.r.wrap.b32 %r5, %r5, %r5, 40;", "A[i]", "B[i]", "s32", WORD),
    "through a funnel": ("shf.r.clamp.b32 %r5, %r2, %r3, 32;", "B[i]", "A[i]", "s32", WORD),
    "through a funnel, to the left": ("shf.l.wrap.b32 %r5, %r2, %r3, 4;", "16 * B[i]", "16 * A[i]", "u8", U8),
    "through a funnel, to the right": ("shf.r.wrap.b32 %r5, %r2, %r3, 4;", "floor(A[i] / 16) + 268435456 * B[i]",
                                       "floor(A[i] / 16)", "u32", WORD),
    "through a funnel, from zero": ("mov.u32 %r4, 0; shf.r.clamp.b32 %r5, %r2, %r4, 4;", "floor(A[i] / 16)",
                                    "floor(A[i] / 8)", "u32", WORD),
    "an amount by thread": (f"{ODD} selp.b32 %r6, 0, 4, %p1; shr.u32 %r5, %r2, %r6; {ODD} @%p1 mov.b32 %r5, 3;"
                            "@%p1 add.s32 %r5, %r2, 0; @!%p1 shl.b32 %r5, %r5, 4; @!%p1 add.s32 %r5, %r5, %r2;"
                            "@!%p1 and.b32 %r4, %r2, -16; @!%p1 sub.s32 %r5, %r5, %r4;", "A[i]", "B[i]", "u32", WORD),
    "a divisor by thread": ("and.b32 %r6, %r1, 1; add.s32 %r6, %r6, 3; rem.s32 %r5, %r2, %r6; div.s32 %r7, %r2, %r6;"
                            "mad.lo.s32 %r5, %r7, %r6, %r5;", "A[i]", "B[i]", "s32", WORD),
    "a product of 24 bits": ("mul24.lo.s32 %r5, %r2, %r3;", "A[i] * B[i]", "A[i]", "s8", S8),
    "a sum with one": ("mad24.lo.u32 %r5, %r2, %r3, %r2;", "A[i] * B[i] + A[i]", "A[i] * B[i]", "u8", U8),
    "its upper half": ("mul24.hi.s32 %r5, %r2, %r3;", "floor(A[i] * B[i] / 65536)", "A[i]", "s8", S8),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize(("body", "claim", "wrong_claim", "kind", "load"), CASES.values(), ids=CASES)
def test_a_field_of_an_integer_is_a_number(body: str, claim: str, wrong_claim: str, kind: str, load: str) -> None:
    out = "u32" if kind == "u32" else "s32"
    outcome = run(body, claim, kind, out, load)
    assert (outcome.status, outcome.findings) == ("VERIFIED", ()), tell(outcome)
    wrong = run(body, wrong_claim, kind, out, load)
    assert wrong.status == "REFUTED", tell(wrong)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("bfe.u32 %r5, %r2, %r3, 4;", "bits cut out of data"),
        ("bfi.b32 %r5, %r2, %r3, 4, %r2;", "bits put into data"),
        ("shf.l.wrap.b32 %r5, %r2, %r3, 4;", "an integer is used as a number of type u32"),
        ("and.b32 %r5, %r2, 5;", "and within the bytes of data"),
        ("shl.b32 %r5, %r2, %r3;", "is used as the amount of a shift"),
        ("mul24.lo.s32 %r5, %r2, %r3;", "one of 24 bits, from -8388608 to 8388607"),
        ("mad24.hi.sat.s32 %r5, %r2, %r3, %r2;", "a product of 24 bits of data, clamped"),
        ("div.s32 %r5, %r2, %r3;", "a division of integers by data"),
        ("cvt.u64.u32 %d8, %r2; mul.hi.u64 %d8, %d8, %d8; cvt.u32.u64 %r5, %d8;", "the upper half of a product"),
    ],
)
def test_what_has_no_exact_meaning_is_unknown_with_its_line(body: str, words: str) -> None:
    outcome = run(body, "A[i]", "s32")
    assert outcome.status == "UNKNOWN" and words in tell(outcome), tell(outcome)
    assert all(each.line or "line" in each.text for each in outcome.findings)


def test_a_funnel_shift_of_floats_within_a_byte_has_no_meaning() -> None:
    body = "cvt.rn.f32.s32 %f4, %r2; mov.b32 %r4, %f4; shf.l.wrap.b32 %r5, %r4, %r4, 4;"
    outcome = run(body, "A[i]", "s8", "s32", S8)
    assert outcome.status == "UNKNOWN" and "a funnel shift of data" in tell(outcome), tell(outcome)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("shl.b32 %r4, %r2, 28; shl.b32 %r4, %r4, 4; add.s32 %r5, %r4, %r2;", "UNKNOWN"),
        ("shl.b32 %r4, %r2, 28; add.s32 %r5, %r4, %r2;", "REFUTED"),
        ("add.s32 %r5, %r2, %r3;", "REFUTED"),
    ],
)
def test_numbers_that_differ_by_a_multiple_of_two_to_the_32_are_the_same_bits(body: str, status: str) -> None:
    """2^32 A + A is A: residues that differ refute an integer only if the bits of the sample do."""
    assert run(body, "A[i]", "u8", "s32", U8).status == status


def test_a_product_of_24_bits_is_one_within_a_range() -> None:
    body = "mul24.lo.s32 %r5, %r2, %r3;"
    assert run(body, "A[i] * B[i]", "s32", range=[-(1 << 23), (1 << 23) - 1]).status == "VERIFIED"
    assert run(body, "A[i] * B[i]", "s32", range=[0, 1 << 23]).status == "UNKNOWN"
    assert run(body.replace("s32", "u32"), "A[i] * B[i]", "s32", range=[-1, 1]).status == "UNKNOWN"


@pytest.mark.parametrize(
    ("case", "right", "wrong"),
    [
        ("an amount by thread", "0, 4, %p1", "0, 5, %p1"),
        ("a divisor by thread", "%r6, 3;", "%r6, 3; mov.b32 %r8, %r6;"),
    ],
)
def test_each_thread_has_its_own_number(case: str, right: str, wrong: str) -> None:
    """The thread that shifts or divides by another number is refuted; so is one that takes its neighbour's."""
    body, claim, _, kind, load = CASES[case]
    assert right in body
    body = body.replace(right, wrong)
    if "%r8" in wrong:
        body = body.replace("mad.lo.s32 %r5, %r7, %r6", "xor.b32 %r8, %r8, 7; mad.lo.s32 %r5, %r7, %r8")
    outcome = run(body, claim, kind, "u32" if kind == "u32" else "s32", load)
    assert outcome.status == "REFUTED", tell(outcome)
