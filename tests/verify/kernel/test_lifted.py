# SPDX-License-Identifier: Apache-2.0
"""Proofs for all sizes of a small kernel, and of wrong ones: each was proved once, or differs in one thing alone."""

from __future__ import annotations

import pytest

from tests.verify.kernel import small
from verify.kernel.check import check
from verify.kernel.claims.claim import claim_of
from verify.kernel.sizes.forms import NotLifted
from verify.kernel.sizes.theorem import prove

SEED = 3


def test_a_loop_of_plain_loads_is_proved_for_all_sizes_without_a_divisor() -> None:
    found = prove(small.PTX, small.claim(), seed=SEED)
    assert (found.first, found.period, found.alone) == (1, 1, 3)


@pytest.mark.parametrize("name", small.TWINS)
def test_no_wrong_kernel_is_proved(name: str) -> None:
    with pytest.raises(NotLifted, match=small.TWINS[name]["refused"]):
        prove(small.twin(name), small.claim(), seed=SEED)


@pytest.mark.parametrize("name", [name for name, one in small.TWINS.items() if "default_sizes_refute" not in one])
def test_default_sizes_accept_these_wrong_kernels(name: str) -> None:
    assert {one.status for one in check(small.twin(name), claim_of(small.claim()), seed=SEED)} == {"VERIFIED"}
