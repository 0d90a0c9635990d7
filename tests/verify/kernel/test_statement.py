# SPDX-License-Identifier: Apache-2.0
"""Each precondition of a theorem is needed: without it the kernel isn't proved, and where it is false it is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from tests.verify.kernel import plain, small
from verify.core.errors import SpecError
from verify.kernel.check import check
from verify.kernel.sizes.forms import NotLifted
from verify.kernel.sizes.statement import AllSizes, state
from verify.kernel.sizes.theorem import prove

SEED = 3
WRAPS = {"lda": {"M": 12, "N": 8, "K": 4}, "ldb": {"M": 4, "N": 8, "K": 12}, "ldc": {"M": 12, "N": 8, "K": 4}}


@pytest.mark.parametrize("number", range(3))
def test_without_the_bound_of_a_product_of_sizes_nothing_is_proved(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    preconditions, implied = AllSizes.preconditions, AllSizes.implied_facts

    def leave_out(found: list[Any]) -> list[Any]:
        return found[:number] + found[number + 1 :]

    monkeypatch.setattr(AllSizes, "preconditions", lambda self: leave_out(preconditions(self)))
    monkeypatch.setattr(AllSizes, "implied_facts", lambda self: leave_out(implied(self)))
    with pytest.raises(NotLifted, match="not shown to lie within s32"):
        prove(small.PTX, small.claim(), seed=SEED)


@pytest.mark.parametrize("stride", ["lda", "ldc"])
def test_where_a_product_wraps_the_kernel_is_wrong(stride: str) -> None:
    """Rows 2^28 and more elements apart: the last begins beyond 2^31."""
    statement = state(small.claim())
    sizes = {**WRAPS[stride], "lda": 16, "ldb": 16, "ldc": 16, stride: 1 << 28}
    (found,) = check(small.PTX, statement.launch(sizes), seed=SEED)
    assert found.status == "REFUTED"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["K", "N", "lda", "ldb", "ldc"])
def test_without_a_divisor_the_pipeline_is_not_proved(name: str) -> None:
    given = [one for one in plain.GIVEN if not one.startswith(f"{name} ")]
    with pytest.raises(NotLifted):
        prove(plain.PTX, plain.claim(given), seed=SEED)


@pytest.mark.parametrize("sizes", [{"K": 44}, {"N": 76}, {"lda": 92}, {"ldb": 100}, {"ldc": 102}])
def test_where_a_divisor_does_not_divide_the_pipeline_is_wrong(sizes: dict[str, int]) -> None:
    held = {"M": 80, "N": 80, "K": 48, "lda": 96, "ldb": 96, "ldc": 96, **sizes}
    with pytest.raises(SpecError, match="does not hold"):
        state(plain.claim()).symbols(held)
    statement = state(plain.claim(()))
    (found,) = check(plain.PTX, statement.launch(held), seed=SEED)
    assert found.status == "REFUTED"
