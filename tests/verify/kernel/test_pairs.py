# SPDX-License-Identifier: Apache-2.0
"""Integers in pairs on data: each half of a register is a value of its own, and what mixes the halves is refuted."""

import pytest

from tests.verify.kernel.test_check import run_once

TEXT = """.version 8.0
.target sm_90
.address_size 64
.entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc)
{
.reg .b16 %h<4>; .reg .b32 %r<9>; .reg .b64 %d<9>;
ld.param.u64 %d1, [pa]; ld.param.u64 %d2, [pb]; ld.param.u64 %d3, [pc]; mov.u32 %r1, %tid.x;
mul.wide.u32 %d4, %r1, 4; add.s64 %d1, %d1, %d4; add.s64 %d2, %d2, %d4; add.s64 %d3, %d3, %d4;
ld.global.b32 %r2, [%d1]; ld.global.b32 %r3, [%d2];
BODY
st.global.b32 [%d3], %r4;
ret;
}
"""
SWAP = " mov.b32 {%h1, %h2}, %r3; mov.b32 %r3, {%h2, %h1};"


def find_status(body: str, claim: str, kind: str) -> str:
    arrays = {name: {"dims": "i", "type": kind, "out": name == "C"} for name in "ABC"}
    keys = {"grid": 1, "block": 32, "sizes": {"I": 64}, "claim": claim, "params": [*"ABC"], "arrays": arrays}
    return run_once(TEXT.replace("BODY", body), keys).status


@pytest.mark.parametrize("kind", ["s16", "u16"])
@pytest.mark.parametrize(
    ("head", "value"), [("add", "A[i] + B[i]"), ("min", "min(A[i], B[i])"), ("max", "max(A[i], B[i])")]
)
def test_each_half_is_the_instruction_on_its_type(head: str, value: str, kind: str) -> None:
    body = f"{head}.{kind}x2 %r4, %r2, %r3;"
    assert find_status(body, f"C[i] = {value}", kind) == "VERIFIED"
    assert find_status(SWAP + body, f"C[i] = {value}", kind) == "REFUTED"


def test_a_sum_of_pairs_is_no_sum_of_words() -> None:
    assert find_status("add.s32 %r4, %r2, %r3;", "C[i] = A[i] + B[i]", "s16") == "UNKNOWN"


def test_relu_clamps_each_half() -> None:
    body = "max.relu.s16x2 %r4, %r2, %r3;"
    assert find_status(body, "C[i] = max(max(A[i], B[i]), 0)", "s16") == "VERIFIED"
    assert find_status(body, "C[i] = max(A[i], B[i])", "s16") == "REFUTED"


@pytest.mark.parametrize(("opcode", "kind"), [("min.s16x2", "u16"), ("max.u16x2", "s16")])
def test_an_extremum_of_the_wrong_sign_is_not_verified(opcode: str, kind: str) -> None:
    head = opcode.partition(".")[0]
    assert find_status(f"{opcode} %r4, %r2, %r3;", f"C[i] = {head}(A[i], B[i])", kind) in ("UNKNOWN", "REFUTED")
