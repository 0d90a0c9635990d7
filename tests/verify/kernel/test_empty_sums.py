# SPDX-License-Identifier: Apache-2.0
"""K = 0: part of the theorem where the kernel does no trip then, and a printed precondition where it does one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.verify.kernel import small
from verify.core.errors import SpecError
from verify.kernel.check import check
from verify.kernel.claims.claim import claim_of
from verify.kernel.sizes.theorem import prove
from verify.kernel.sizes.verdict import LiftedKernel, lift

SEED = 3
GUARDED = (
    ("$trip:", "setp.gt.s32 %p12, %r3, 0;\n\t@!%p12 bra $end;\n$trip:"),
    ("mul.lo.s32 %r30", "$end:\n\tmul.lo.s32 %r30"),
)
ONE = ("mov.b32 %f1, 0f00000000;", "setp.eq.s32 %p13, %r3, 0;\n\tselp.f32 %f1, 0f3F800000, 0f00000000, %p13;")
SIZES = {"M": 4, "N": 8, "K": 0, "lda": 16, "ldb": 24, "ldc": 40}


def edit(*edits: tuple[str, str]) -> str:
    text = small.PTX
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def status_at_zero(ptx: str) -> str:
    arrays = {name: {**array, "strides": [f"ld{name.lower()}", 1]} for name, array in small.claim()["arrays"].items()}
    (outcome,) = check(ptx, claim_of(small.claim(sizes=SIZES, arrays=arrays)), seed=SEED)
    return outcome.status


@pytest.mark.long
def test_a_kernel_without_a_trip_is_proved_for_empty_sums_too() -> None:
    assert prove(edit(*GUARDED), small.claim(), seed=SEED).empty == ""
    assert status_at_zero(edit(*GUARDED)) == "VERIFIED"


@pytest.mark.long
@pytest.mark.parametrize(
    ("ptx", "why"),
    [
        pytest.param(small.PTX, "reads A[4,0] of 12x0", id="a trip that reads beyond A"),
        pytest.param(edit(*GUARDED, ONE), "another value than the claim's", id="one in place of zero"),
    ],
)
def test_where_empty_sums_are_wrong_the_theorem_begins_at_one(ptx: str, why: str) -> None:
    """At K = 0 the precondition is violated, and the kernel is wrong there."""
    assert why in prove(ptx, small.claim(), seed=SEED).empty
    assert status_at_zero(ptx) == "REFUTED"


@pytest.mark.long
@pytest.mark.parametrize(
    ("ptx", "sizes", "trips", "given"),
    [(small.PTX, "M, N, K >= 1", "1 to", True), (edit(*GUARDED), "M, N >= 1, K >= 0", "0 to", False)],
)
def test_the_report_says_whether_empty_sums_are_proved(ptx: str, sizes: str, trips: str, given: bool) -> None:
    def never(table: Any) -> Any:
        raise AssertionError(table)

    case = lift(LiftedKernel(ptx, small.claim(), "small", "", "", SEED), never, never)
    assert case.name == f"small for all {sizes}"
    assert case.all_sizes is not None and case.all_sizes["theorem"].endswith(f"for all {sizes}")
    assert case.all_sizes["trips"].startswith(trips)
    assert any(line.startswith("K >= 1, as K = 0 is not proved: ") for line in case.all_sizes["preconditions"]) == given
    assert any(note.startswith("         K >= 1, as K = 0 is not proved: ") for note in case.notes) == given
    assert any("after one more trip is what it was, with k moved by 2" in note for note in case.notes)
    assert any("it uses only the 1" in note for note in case.notes)


def test_what_is_given_may_exclude_empty_sums() -> None:
    assert "excludes" in prove(edit(*GUARDED), small.claim(given=["K >= 1"]), seed=SEED).empty


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"sizes": {**SIZES, "K": 8, "M": 0}}, "only an array that is read may have none"),
        ({"claim": "C[m,n] = max_k(A[m,k]*B[k,n])"}, "max_k of no values"),
    ],
)
def test_what_has_no_value_is_refused(changed: dict[str, Any], problem: str) -> None:
    arrays = {name: {**array, "strides": [f"ld{name.lower()}", 1]} for name, array in small.claim()["arrays"].items()}
    with pytest.raises(SpecError, match=problem):
        check(edit(*GUARDED), claim_of(small.claim(**{"sizes": SIZES, "arrays": arrays, **changed})), seed=SEED)
