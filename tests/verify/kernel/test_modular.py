# SPDX-License-Identifier: Apache-2.0
"""Rows and columns modulo M and N, as in Triton's tutorial: right for an index of the output, and for no other."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from benchmarks.kernels.sizes import claim_for_all
from tests.verify.kernel import small
from verify.kernel.check import check
from verify.kernel.claims.claim import claim_of
from verify.kernel.sizes.forms import NotLifted
from verify.kernel.sizes.theorem import prove
from verify.kernel.sizes.verdict import LiftedKernel, lift

SEED = 3
ROW = ("mul.lo.s32 %r16, %r14, %r4;", "rem.s32 %r40, %r14, %r1;\n\tmul.lo.s32 %r16, %r40, %r4;")
LOADS = (
    ("@%p1 ld.global.f32 %f2, [%rd5];", "ld.global.f32 %f2, [%rd5];"),
    ("@%p4 ld.global.f32 %f4, [%rd5+4];", "@%p3 ld.global.f32 %f4, [%rd5+4];"),
)
SUMMED = """
	rem.s32 %r41, %r21, %r3;
	mul.wide.s32 %rd30, %r41, 4;
	add.s64 %rd31, %rd1, %rd4;
	add.s64 %rd31, %rd31, %rd30;
	ld.global.f32 %f4, [%rd31];
"""
COLUMN = """
	mul.lo.s32 %r42, %r41, %r5;
	rem.s32 %r43, %r15, %r2;
	add.s32 %r42, %r42, %r43;
	mul.wide.s32 %rd32, %r42, 4;
	add.s64 %rd32, %rd2, %rd32;
	ld.global.f32 %f5, [%rd32];
"""
HERE = Path(__file__).parent
TRITON = (HERE / "grouped_80.ptx").read_text(encoding="utf-8")
CLAIM = tomllib.loads((HERE / "grouped_80.toml").read_text(encoding="utf-8"))


def edit(*edits: tuple[str, str], text: str = small.PTX) -> str:
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


RIGHT = edit(ROW, *LOADS)
WRONG = {
    "modulo M + 1": (edit((ROW[1], ROW[1].replace("%r14, %r1;", "%r14, %r44;")), text=edit(ROW, *LOADS)), True),
    "modulo N": (edit((ROW[1], ROW[1].replace("%r14, %r1;", "%r14, %r2;")), text=edit(ROW, *LOADS)), True),
    "without a mask or a modulus": (edit(*LOADS), True),
    "k modulo K": (
        edit(ROW, LOADS[0], (LOADS[1][0], SUMMED), ("@%p5 ld.global.f32 %f5, [%rd9];", COLUMN)), True,
    ),
}  # fmt: skip
WRONG["modulo M + 1"] = (
    WRONG["modulo M + 1"][0].replace("rem.s32 %r40", "add.s32 %r44, %r1, 1;\n\trem.s32 %r40"), True,
)  # fmt: skip


@pytest.mark.long
def test_an_index_of_the_output_may_be_taken_modulo_its_size() -> None:
    assert {outcome.status for outcome in check(RIGHT, claim_of(small.claim()), seed=SEED)} == {"VERIFIED"}

    def never(table: object) -> str:
        raise AssertionError(table)

    case = lift(LiftedKernel(RIGHT, small.claim(), "small", "", "", SEED), never, never)
    assert case.all_sizes is not None
    assert case.all_sizes["masks"].startswith(
        "A read where k < K at m modulo M; B read where k < K and n < N; C written"
    )


@pytest.mark.long
@pytest.mark.parametrize("name", WRONG)
def test_no_other_remainder_is_proved(name: str) -> None:
    ptx, refuted = WRONG[name]
    with pytest.raises(NotLifted):
        prove(ptx, small.claim(), seed=SEED)
    assert ("REFUTED" in {outcome.status for outcome in check(ptx, claim_of(small.claim()), seed=SEED)}) == refuted


@pytest.mark.slow
def test_the_matrix_product_of_tritons_tutorial_is_proved() -> None:
    theorem = prove(TRITON, claim_for_all(CLAIM), seed=SEED)
    assert "min4" in str(theorem.statement.tiles["m"]) and (theorem.period, theorem.empty) == (2, "")


TWINS = {
    "rows modulo M + 1": (("rem.s32 \t%r81, %r79, %r34;", "add.s32 %r81, %r34, 1;\n rem.s32 %r81, %r79, %r81;"),),
    "group without its end": (("min.s32 \t%r69, %r68, 4;", "mov.b32 %r69, 4;"),),
    "size of the first groups": (
        ("sub.s32 \t%r68, %r57, %r67;", "min.s32 %r68, %r67, 400;\n sub.s32 \t%r68, %r57, %r68;"),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TWINS)
def test_no_wrong_twin_of_the_tutorial_is_proved(name: str) -> None:
    with pytest.raises(NotLifted):
        prove(edit(*TWINS[name], text=TRITON), claim_for_all(CLAIM), seed=SEED)
