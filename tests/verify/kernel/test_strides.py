# SPDX-License-Identifier: Apache-2.0
"""A pointer that advances by another stride of its array: the right one is named if the kernel with it is verified."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.verify.kernel.test_check import HEAD, POINTERS, REGISTERS
from verify.kernel.report import verify_kernel, verify_safety
from verify.report import Report
from verify.report.as_sarif import render

LAUNCH = {
    "kernel": "rows", "grid": 1, "block": 32, "claim": "C[m] = sum_k A[m,k]", "sizes": {"M": 32, "K": 24},
    "params": ["A", "C", "K", "stride_am", "stride_ak"],
    "arrays": {
        "A": {"dims": "mk", "type": "f32", "strides": ["2*K+3", 2]}, "C": {"dims": "m", "type": "f32", "out": True},
    },
}  # fmt: skip
ROWS = """.version 8.0
.target sm_80
.address_size 64
.visible .entry rows(.param .u64 A, .param .u64 C, .param .u32 K, .param .u32 am, .param .u32 ak)
{
.reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<9>; .reg .pred %p<3>;
mov.u32 %r1, %tid.x; ld.param.u64 %d1, [A]; ld.param.u64 %d2, [C]; ld.param.u32 %r2, [K];
ld.param.u32 %r3, [am]; ld.param.u32 %r4, [ak];
mul.lo.u32 %r5, %r1, %r3;
mul.wide.u32 %d3, %r5, 4; add.u64 %d1, %d1, %d3;
mul.wide.u32 %d4, %r4, 4;
mov.f32 %f1, 0f00000000; mov.u32 %r6, 0;
L:
ld.global.f32 %f2, [%d1];
add.f32 %f1, %f1, %f2;
add.u64 %d1, %d1, %d4;
add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, %r2;
@%p1 bra L;
mul.wide.u32 %d5, %r1, 4; add.u64 %d2, %d2, %d5;
st.global.f32 [%d2], %f1;
ret;
}
"""
WRONG = ROWS.replace("%d4, %r4, 4", "%d4, %r3, 4")
WORDS = "A advances by stride_am where k has stride_ak: with that at line 11 the kernel is verified"


def repairs(report: Report) -> set[str]:
    """Return the repairs that a report shows."""
    wrong = (verdict.counterexample for case in report.cases for verdict in case.verdicts)
    return {example.repair for example in wrong if example is not None and example.repair}


def test_the_kernel_is_right() -> None:
    assert verify_kernel(ROWS, LAUNCH, seed=1) and verify_safety(ROWS, LAUNCH, seed=1)


def test_the_right_stride_is_named() -> None:
    report = verify_kernel(WRONG, LAUNCH, seed=1)
    assert repairs(report) == {WORDS} and report.exit() == 1
    assert repairs(verify_safety(WRONG, LAUNCH, seed=1)) == {WORDS.replace("verified", "SAFE")}


def test_a_stride_that_the_compiler_knew_is_named_as_triton_does() -> None:
    launch = LAUNCH | {"params": LAUNCH["params"][:4]}
    right = (
        ROWS.replace(", .param .u32 ak", "").replace("ld.param.u32 %r4, [ak];", "").replace("%d4, %r4, 4", "%d4, 2, 4")
    )
    assert verify_kernel(right, launch, seed=1)
    assert repairs(verify_kernel(right.replace("%d4, 2, 4", "%d4, %r3, 4"), launch, seed=1)) == {WORDS}


@pytest.mark.parametrize(
    "text",
    [
        WRONG.replace("add.f32 %f1, %f1", "sub.f32 %f1, %f1"),  # wrong besides
        WRONG.replace("%r6, %r2", "%r6, 30"),
        ROWS.replace("%r5, %r1, %r3", "%r5, %r1, %r4"),  # no step
    ],
)
def test_no_stride_is_named_for_a_kernel_that_stays_wrong(text: str) -> None:
    report = verify_kernel(text, LAUNCH, seed=1)
    assert not report and not repairs(report), report.text()


def test_the_fix_of_a_file_is_in_sarif(tmp_path: Path) -> None:
    file = tmp_path / "rows.ptx"
    file.write_text(WRONG)
    log = render(verify_kernel(file, LAUNCH, seed=1))
    assert '"startLine": 11' in log and '"text": "%r4"' in log


DENSE = f"""{HEAD}{REGISTERS}{POINTERS}
mul.wide.u32 %d4, %r1, 4; add.s64 %d5, %d1, %d4; add.s64 %d6, %d3, %d4;
ld.global.f32 %f1, [%d5]; st.global.f32 [%d6], %f1;
ret;
}}
"""
COPY: dict[str, Any] = {
    "grid": 1, "block": 64, "sizes": {"M": 4, "N": 16}, "claim": "C[m,n] = A[m,n]", "params": ["A", "B", "C"],
    "arrays": {
        "A": {"dims": "mn", "type": "f32"}, "B": {"dims": "n", "type": "f32"},
        "C": {"dims": "mn", "type": "f32", "out": True},
    },
}  # fmt: skip


def list_notes(ptx: str, claim: dict[str, Any]) -> list[str]:
    report = verify_kernel(ptx, claim, seed=1)
    assert not report
    return [note for note in report.cases[0].notes if note.startswith("strides")]


def test_a_claim_that_lacks_strides_is_told_which() -> None:
    """Rows with gaps are chosen to hide nothing: a kernel that is right for rows without gaps is refuted."""
    (note,) = list_notes(DENSE, COPY)
    assert "of A and C aren't in the claim" in note and "without gaps the kernel is verified" in note
    assert note.endswith('say strides = ["N", 1] of A and strides = ["N", 1] of C')
    arrays = {name: {**array, "strides": ["N", 1]} for name, array in COPY["arrays"].items() if name != "B"}
    assert verify_kernel(DENSE, {**COPY, "arrays": {**COPY["arrays"], **arrays}}, seed=1)


def test_strides_are_not_suggested_to_a_kernel_that_is_wrong_with_them() -> None:
    assert list_notes(DENSE.replace("[%d6], %f1", "[%d6], 0f00000000"), COPY) == []
    assert list_notes(DENSE.replace("%d1, %d4", "%d1, 4"), COPY) == []
