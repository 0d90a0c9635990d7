# SPDX-License-Identifier: Apache-2.0
"""An atomic operation may have its order and scope before the space, behind it, or behind the operation."""

from __future__ import annotations

import pytest

from tests.verify.kernel.test_safety import kinds, safety

WRITTEN = [  # ptxas takes each
    "red.relaxed.SCOPE.global.add.u32",  # CUTLASS
    "red.global.SCOPE.add.u32",  # CUDA C++, atomicAdd_block
    "red.SCOPE.global.add.u32",
    "red.global.SCOPE.acq_rel.add.u32",  # Triton
    "red.add.release.SCOPE.u32",  # libcu++
    "red.inc.SCOPE.u32",
    "red.max.acq_rel.SCOPE.s32",
    "red.or.relaxed.SCOPE.b32",
]


@pytest.mark.parametrize("opcode", WRITTEN)
def test_the_scope_counts_wherever_it_stands(opcode: str) -> None:
    for scope, status in (("gpu", "SAFE"), ("sys", "SAFE"), ("cta", "REFUTED"), ("cluster", "REFUTED")):
        body = f"{opcode.replace('SCOPE', scope)} [%d2], 1;"
        assert safety(body).status == "SAFE"
        outcome = safety(body, grid=2)
        assert outcome.status == status and kinds(outcome) == (
            {"race: atomics of a CTA"} if status != "SAFE" else set()
        )


@pytest.mark.parametrize("words", ["shared.add.f32", "shared::cta.add.f32", "relaxed.cta.shared.add.f32"])
def test_a_sum_of_floats_in_shared_memory(words: str) -> None:
    body = (
        "mov.u32 %r3, s; mov.f32 %f1, 0f00000000; setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.f32 [%r3], %f1; bar.sync 0;"
    )
    body += f"ld.global.f32 %f2, [%d4]; atom.{words} %f3, [%r3], %f2; bar.sync 0; ld.shared.f32 %f4, [%r3];"
    body += "st.global.f32 [%d5], %f4;"
    assert safety(body).status == "SAFE"
    first, second, third = body.split("bar.sync 0;")
    assert kinds(safety(f"{first}{second}bar.sync 0;{third}")) == {"race: atomic and plain access"}
    assert kinds(safety(f"{first}bar.sync 0;{second}{third}")) == {"race: atomic and plain access"}
