# SPDX-License-Identifier: Apache-2.0
"""An `if` with an `else` around a load: the side that the sample doesn't execute is read, and must leave a zero."""

from __future__ import annotations

import pytest

from tests.verify.kernel import small
from verify.kernel.check import check
from verify.kernel.claims.claim import claim_of
from verify.kernel.ptx.parse import parse_kernel
from verify.kernel.sizes.branches import read_other_side
from verify.kernel.sizes.forms import NotLifted
from verify.kernel.sizes.theorem import prove

SEED = 3
LOAD = "@%p4 ld.global.f32 %f4, [%rd5+4];"
SIDES = """@%p4 bra $in;
	bra.uni $out;
$in:
	ld.global.f32 %f4, [%rd5+4];
	bra.uni $on;
$out:
	mov.u32 %r50, 0;
	cvt.rn.f32.s32 %f4, %r50;
$on:"""
RIGHT = small.PTX.replace("mov.b32 %f4, 0f00000000;\n", "").replace(LOAD, SIDES)
ZERO = "mov.u32 %r50, 0;\n	cvt.rn.f32.s32 %f4, %r50;"
WRONG = {
    "one": (RIGHT.replace("mov.u32 %r50, 0;", "mov.u32 %r50, 1;"), "only a part"),
    "another register": (RIGHT.replace(ZERO, "mov.b32 %f40, 0f00000000;"), "only a part"),
    "from a size": (RIGHT.replace("mov.u32 %r50, 0;", "shr.u32 %r50, %r10, 4;"), "is taken at the sample"),
    "the other operand": (
        RIGHT.replace(ZERO, ZERO + "\n	mov.b32 %f3, 0f00000000;"),
        "only a part of the threads may",
    ),
    "no load": (
        RIGHT.replace("ld.global.f32 %f4, [%rd5+4];\n	bra", "mov.b32 %f41, 0f00000000;\n	bra").replace(
            "@%p4 bra $in;", f"mov.b32 %f4, 0f00000000;\n	{LOAD.replace('%p4', '%p1')}\n	@%p4 bra $in;"
        ),
        "only a part of the threads may",
    ),
    "read back": (RIGHT.replace("$on:", "$on:\n	add.s32 %r51, %r50, 1;"), "only a part of the threads may"),
}


@pytest.mark.long
def test_an_if_with_an_else_is_proved() -> None:
    assert prove(RIGHT, small.claim(), seed=SEED).period == 1
    assert {outcome.status for outcome in check(RIGHT, claim_of(small.claim()), seed=SEED)} == {"VERIFIED"}


@pytest.mark.long
@pytest.mark.parametrize("name", WRONG)
def test_another_other_side_is_not_proved(name: str) -> None:
    text, why = WRONG[name]
    with pytest.raises(NotLifted, match=why):
        prove(text, small.claim(), seed=SEED)


def test_the_other_side_is_zeros_and_what_it_writes() -> None:
    kernel = parse_kernel(RIGHT, "small")
    number = next(number for number, inst in enumerate(kernel.instructions) if "bra $in" in inst.text)
    side = read_other_side(kernel.instructions, number)
    assert side is not None
    names = {kernel.names[index] for index in side.zeros}
    assert names == {"%f4", "%r50"} == {kernel.names[index] for index in side.written}
    entered = parse_kernel(
        RIGHT.replace("	cvt.rn.f32", "$middle:\n	cvt.rn.f32").replace("$trip:", "$trip:\n @%p9 bra $middle;"),
        "small",
    )
    number = next(number for number, inst in enumerate(entered.instructions) if "bra $in" in inst.text)
    assert read_other_side(entered.instructions, number) is None


def test_a_conversion_of_two_numbers_is_zero_only_if_both_are() -> None:
    for second, zero in (("%r50", True), ("%r7", False)):
        text = RIGHT.replace(
            ZERO, f"mov.u32 %r50, 0;\n	cvt.rn.f16x2.f32 %r51, %r50, {second};\n	mov.b32 %f4, %r50;"
        )
        kernel = parse_kernel(text, "small")
        number = next(number for number, inst in enumerate(kernel.instructions) if "bra $in" in inst.text)
        side = read_other_side(kernel.instructions, number)
        assert side is not None and ("%r51" in {kernel.names[index] for index in side.zeros}) is zero
