# SPDX-License-Identifier: Apache-2.0
"""The product of powers and an array that a claim has, if it has one that can be told from the other products."""

from __future__ import annotations

import pytest

from verify.kernel.claims.expression import read_claim
from verify.kernel.second_product import find_power_term

POWER = "exp2(scale * sum_k Q[m,k]*K[n,k] - L[m])"


@pytest.mark.parametrize(
    ("claim", "index", "array"),
    [
        ("O[m,d] = sum_n softmax_n(scale * sum_k Q[m,k]*K[n,k]) * V[n,d]", "n", "V"),
        (f"B[n,d] = sum_m {POWER} * G[m,d]", "m", "G"),
        ("O[m,d] = sum_n V[n,d] * 2 * exp(sum_k Q[m,k]*K[n,k]) / sum_n exp(sum_k Q[m,k]*K[n,k])", "n", "V"),
        (f"A[n,k] = sum_m {POWER} * (sum_d G[m,d]*V[n,d]) * W[m,k]", "", ""),  # its operand is a product of others
        (f"A[n,k] = sum_m {POWER} * Q[m,k]", "", ""),  # Q is in both products
        ("Y[m,n] = softmax_n(X[m,n])", "", ""),
        ("C[m,n] = sum_k A[m,k]*B[k,n]", "", ""),
    ],
)
def test_the_array_beside_the_powers_is_found(claim: str, index: str, array: str) -> None:
    term = find_power_term(read_claim(claim)[1])
    assert (term and (term[0], term[2].name)) == ((index, array) if index else None)
