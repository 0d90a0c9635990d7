# SPDX-License-Identifier: Apache-2.0
"""The largest of a row, max_n: in any order and grouping it is one value, and another one of other terms."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.verify.kernel.test_signs_and_clamps import TEXT
from verify.core.errors import SpecError
from verify.kernel.check import LaunchOutcome, check
from verify.kernel.claims.claim import claim_of
from verify.kernel.claims.expression import read_claim
from verify.kernel.claims.written import spell_node

COMPILED = Path(__file__).parents[2] / "kernels" / "compiled"
LOW = "mov.b32 y,0xFF800000;"  # -inf
UP = "".join(f"shfl.sync.bfly.b32 y,x,{1 << step},31,-1; max.f32 x,x,y; " for step in range(5))
DOWN = "".join(f"shfl.sync.bfly.b32 y,x,{1 << step},31,-1; max.f32 x,y,x; " for step in reversed(range(5)))
TWICE = UP + "shfl.sync.bfly.b32 y,x,1,31,-1; max.f32 z,x,y;"
SHORT = "".join(f"shfl.sync.bfly.b32 y,x,{1 << step},31,-1; max.f32 x,x,y; " for step in range(4))


def run_body(body: str, claim: str, **keys: Any) -> LaunchOutcome:
    """What the check says of a warp whose thread i has x = A[i] and y = B[i], and stores z as C[i]."""
    text = TEXT.replace("BODY", f".reg .pred p; .reg .b32 v; {body}")
    arrays: Mapping[str, Any] = {name: {"dims": "i", "type": "f32", "out": name == "C"} for name in "ABC"}
    table = {"grid": 1, "block": 32, "sizes": {"I": 32}, "params": ["A", "B", "C"], "arrays": arrays, **keys}
    (outcome,) = check(text, claim_of({**table, "claim": f"C[i] = {claim}"}), seed=1)
    return outcome


@pytest.mark.parametrize(
    ("body", "claim", "status"),
    [
        (UP + "mov.b32 z,x;", "max_j(A[j])", "VERIFIED"),
        (DOWN + "mov.b32 z,x;", "max_j(A[j])", "VERIFIED"),
        (TWICE, "max_j(A[j])", "VERIFIED"),  # the larger of x and x is x
        (SHORT + "mov.b32 z,x;", "max_j(A[j])", "REFUTED"),  # of half a warp
        (UP + "mov.b32 z,x;", "max_j(B[j])", "REFUTED"),
        (UP + "mov.b32 z,x;", "max_j(where(j < 1, A[j], -inf))", "REFUTED"),
        (f"mov.b32 v,x; {LOW} max.f32 x,y,x; {UP} sub.f32 z,v,x;", "A[i] - max_j(A[j])", "VERIFIED"),
        (f"mul.f32 x,x,0f40000000; {UP} mov.b32 z,x;", "max_j(2*A[j])", "VERIFIED"),
        (f"{UP} mul.f32 z,x,0f40000000;", "2*max_j(A[j])", "VERIFIED"),
        (f"{UP} mul.f32 z,x,0f40000000;", "max_j(2*A[j])", "UNKNOWN"),  # a factor outside isn't one inside
        (f"mul.f32 x,x,x; {UP} mov.b32 y,0f00000000; max.f32 z,y,x;", "max_j(A[j]*A[j])", "UNKNOWN"),
        (f"ex2.approx.ftz.f32 x,x; {UP} mov.b32 y,0f00000000; max.f32 z,y,x;", "max_j(exp2(A[j]))", "VERIFIED"),
        (f"{UP} mov.b32 y,0f00000000; max.f32 z,y,x;", "max_j(A[j])", "UNKNOWN"),  # all may be below 0
        ("sub.f32 v,x,y; max.f32 z,v,x; sub.f32 y,y,y; min.f32 z,z,y;", "max_j(A[j])", "REFUTED"),
    ],
)  # fmt: skip
def test_no_order_matters_and_every_term_does(body: str, claim: str, status: str) -> None:
    outcome = run_body(body, claim)
    assert outcome.status == status, outcome.findings


@pytest.mark.parametrize("order", ["x,y", "y,x"])
def test_the_larger_of_a_number_and_of_what_nobody_wrote_is_not_verified(order: str) -> None:
    body = f".shared .b32 s[32]; ld.shared.b32 y,[s]; ex2.approx.ftz.f32 x,x; max.f32 z,{order};"
    outcome = run_body(body, "exp2(A[i]) + 0*max_j(A[j])")
    assert outcome.status == "REFUTED" and "nobody has written" in str(outcome.findings)


@pytest.mark.parametrize("name", ["attention", "softmax"])
def test_a_softmax_may_be_written_with_its_maximum(name: str) -> None:
    table = tomllib.loads((COMPILED / f"{name}.toml").read_text())
    score = "X[m,n]" if name == "softmax" else "scale * sum_k Q[h,m,k]*K[h,n,k]"
    power = f"exp({score} - max_n({score}))"
    target, rest = ("Y[m,n]", "") if name == "softmax" else ("O[h,m,d]", " * V[h,n,d]")
    claim = f"{target} = {'sum_n ' if rest else ''}{power} / (sum_n {power}){rest}"
    (outcome,) = check((COMPILED / f"{name}.ptx").read_text(), claim_of({**table, "claim": claim}), seed=1)
    assert outcome.status == "VERIFIED" and outcome.bound < 1e-12, outcome.findings


def test_the_text_of_a_maximum_is_read_as_it_is_written() -> None:
    text = "max_n(where(m > n, 2*X[m,n], -inf)) + 1"
    assert spell_node(read_claim(f"Y[m] = {text}")[1]) == text


def test_a_maximum_over_an_index_that_its_terms_lack_is_an_error() -> None:
    with pytest.raises(SpecError, match="max_j of what has no index j"):
        run_body("mov.b32 z,x;", "max_j(A[i]) + 0*sum_j A[j]")
