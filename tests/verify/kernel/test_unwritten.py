# SPDX-License-Identifier: Apache-2.0
"""Registers that no instruction wrote: what is wrong with some bits in them is wrong; what works with any stays."""

from __future__ import annotations

import pytest

from tests.verify.kernel.test_check import ADD, ADDED, run_once, run_sum

RIGHT = "add.f32 %f3, %f1, %f2;"
FIRST = "add.s64 %d5, %d1, %d4; "


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (FIRST, "", "reads %d5, which no instruction wrote before: it may hold 0x"),  # an address
        (FIRST, "add.s64 %d9, %d9, 4; add.s64 %d5, %d1, %d9; ", "reads %d9, which"),  # what an address is made of
        ("BODY", "mov.f32 %f3, 0f00000000; @%p1 add.f32 %f3, %f1, %f2;", "reads %p1, which"),  # a guard
        ("BODY", "setp.gt.u32 %p1, %r9, 3; @%p1 bra END; add.f32 %f3, %f1, %f2; END:", "reads %r9, which"),  # a branch
    ],
)
def test_a_kernel_that_is_wrong_with_some_bits_is_refuted_and_says_which(old: str, new: str, said: str) -> None:
    outcome = run_once(ADD.replace(old, new).replace("BODY", RIGHT), ADDED, seed=1)
    assert outcome.status == "REFUTED" and said in outcome.findings[0].text
    assert outcome.findings == run_once(ADD.replace(old, new).replace("BODY", RIGHT), ADDED, seed=1).findings


@pytest.mark.parametrize(
    "body",
    [
        "setp.gt.u32 %p1, %r1, 99; @%p1 ld.global.f32 %f9, [%d9]; add.f32 %f3, %f1, %f2;",  # no thread reads it
        "and.b32 %r9, %r8, 0; mov.b32 %f9, %r9; add.f32 %f4, %f1, %f9; add.f32 %f3, %f4, %f2;",  # its bits are gone
        "add.f32 %f9, %f8, %f1; add.f32 %f3, %f1, %f2;",  # nothing is made of it
    ],
)
def test_a_register_without_effect_changes_nothing(body: str) -> None:
    assert run_sum(body).status == "VERIFIED"


def test_what_any_bits_leave_right_or_unclear_is_not_refuted() -> None:
    either = "@%p1 add.f32 %f3, %f1, %f2; @!%p1 add.f32 %f3, %f2, %f1;"
    unclear = "mov.b32 %r5, %f1; xor.b32 %r6, %r5, 1023; mov.b32 %f3, %r6; add.s32 %r9, %r8, 1;"
    assert run_sum(either).status == "UNKNOWN"
    assert run_sum(unclear).status == "UNKNOWN"


def test_a_warning_with_some_bits_refutes_nothing_though_strict() -> None:
    """Two threads store each element, the same number: a warning, which the run without bits doesn't come to."""
    either = "@%p1 add.f32 %f3, %f1, %f2; @!%p1 add.f32 %f3, %f2, %f1;"
    ptx = ADD.replace("mul.wide.u32 %d4", "and.b32 %r1, %r1, 31; mul.wide.u32 %d4").replace("BODY", either)
    assert run_once(ptx, {**ADDED, "sizes": {"I": 32}}, strict=True).status == "UNKNOWN"


def test_a_run_that_ended_early_does_not_bound_the_one_with_bits() -> None:
    loop = "mov.u32 %r5, 0; LOOP: add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 600; @%p2 bra LOOP;"
    body = f"mov.f32 %f3, 0f00000000; @%p1 mov.f32 %f9, %f1; {loop} @%p1 add.f32 %f3, %f1, %f2;"
    assert run_sum(body).status == "REFUTED"
