# SPDX-License-Identifier: Apache-2.0
"""What a wrong kernel with exponentials forgets is named, if that explains every wrong element."""

from __future__ import annotations

import tomllib

import pytest

from tests.kernels.compile import COMPILED
from tests.verify.kernel.test_signs_and_clamps import TEXT
from verify.kernel.check import check
from verify.kernel.claims.claim import claim_of
from verify.kernel.masks import list_masked

STEPS = """.reg .b32 low,m,n,p,q,l,acc,s; mov.b32 low,0xFF800000;
max.f32 m,low,x; sub.f32 p,x,m; ex2.approx.ftz.f32 l,p; mov.b32 acc,l;
max.f32 n,m,y; sub.f32 s,m,n; ex2.approx.ftz.f32 s,s; sub.f32 q,y,n; ex2.approx.ftz.f32 q,q;
mul.f32 l,l,s; add.f32 l,l,q; mul.f32 acc,acc,s;
div.full.f32 z,acc,l;"""
QUOTIENT = "exp2(A[i])/(exp2(A[i]) + exp2(B[i]))"


def kinds(body: str, claim: str) -> list[str]:
    """The kinds of findings on a kernel of 32 threads."""
    arrays = {name: {"dims": "i", "type": "f32", "out": name == "C"} for name in "ABC"}
    table = {"grid": 1, "block": 32, "sizes": {"I": 32}, "params": ["A", "B", "C"], "arrays": arrays}
    (outcome,) = check(TEXT.replace("BODY", body), claim_of({**table, "claim": f"C[i] = {claim}"}), seed=1)
    return [finding.kind for finding in outcome.findings]


def list_texts(claim: str, **sizes: int) -> list[str]:
    """The changes of the masks of a claim about a 4 x N array, in words."""
    arrays = {
        "X": {"dims": "mn", "type": "f32"},
        "Y": {"dims": "mn" if "Y[m,n]" in claim else "m", "type": "f32", "out": True},
    }
    table = {
        "grid": 1,
        "block": 32,
        "sizes": {"M": 4, "W": 2, **sizes},
        "params": ["X", "Y"],
        "arrays": arrays,
        "claim": claim,
    }
    launch = claim_of(table).launches[0]
    return [text for text, _ in list_masked(launch.value, launch, [])]


def test_a_sum_that_is_rescaled_is_verified() -> None:
    assert kinds(STEPS, QUOTIENT) == []


@pytest.mark.parametrize("forgotten", ["mul.f32 l,l,s;", "mul.f32 acc,acc,s;"])
def test_a_rescaling_that_is_forgotten_is_named(forgotten: str) -> None:
    assert kinds(STEPS.replace(forgotten, ""), QUOTIENT) == ["not rescaled", "wrong element"]


def test_another_bug_is_not_called_a_missing_rescaling() -> None:
    assert kinds(STEPS.replace("add.f32 l,l,q;", ""), QUOTIENT) == [
        "another formula",
        "wrong element",
    ]  # a term is missing
    assert kinds(STEPS.replace("add.f32 l,l,q;", "add.f32 l,l,x;"), QUOTIENT) == ["wrong element"]


def test_the_last_block_of_a_sum_may_be_ragged() -> None:
    texts = list_texts("Y[m] = sum_n exp(X[m,n])", N=72)
    counts = [text.split()[2] for text in texts if "the last" in text and text.endswith("of sum_n are skipped")]
    assert counts == ["8", "16", "32", "64"]


def test_each_mask_alone_may_be_off_by_one() -> None:
    every = list_texts("Y[m,n] = softmax_n(where(m >= n and m - n < W, X[m,n], -inf))", N=4)
    texts = [text for text in every if "off by one" in text]
    assert texts == [f"the mask is off by one, it hides one element too {few}" for few in ("few", "many")] * 2


def test_an_edge_that_is_not_masked_is_named() -> None:
    """Rows of 100 elements in blocks of 128, whose last 28 are 0 in place of -inf."""
    text, claim = (COMPILED / f"softmax.{kind}" for kind in ("ptx", "toml"))
    edited = text.read_text().replace("0fFF800000", "0f00000000").replace("-8388608", "0")
    (outcome,) = check(edited, claim_of(tomllib.loads(claim.read_text())), seed=1)
    said = "terms of the score 0 are summed beyond n = 99, as many as 28"
    assert said in [finding.text.partition(":")[0] for finding in outcome.findings if finding.kind == "another formula"]


SCORE = "scale * sum_k Q[h,m,k]*K[h,n,k]"


@pytest.mark.long
@pytest.mark.parametrize(
    ("score", "text"),
    [
        (f"where(m > n - 2, {SCORE}, -inf)", "the mask is off by one, it hides one element too many"),
        (f"where(m > n, {SCORE}, -inf)", "the mask is off by one, it hides one element too few"),
        (f"where(m >= n and m - n < 5, {SCORE}, -inf)", "the mask by 5 > m - n is missing"),
        (SCORE, "only n <= m is summed: a mask is there"),
        ("where(m >= n, sum_k Q[h,m,k]*K[h,n,k] * scale * scale, -inf)", "scale is not applied in"),
        (f"where(m >= n and n != 3, {SCORE} + {SCORE} * n, -inf)", ""),
    ],
)
def test_a_change_of_the_claim_is_named_if_it_gives_all_wrong_elements(score: str, text: str) -> None:
    table = tomllib.loads((COMPILED / "attention_causal.toml").read_text())
    table["claim"] = f"O[h,m,d] = sum_n softmax_n({score}) * V[h,n,d]"
    (outcome,) = check((COMPILED / "attention_causal.ptx").read_text(), claim_of(table), seed=1)
    assert outcome.status == "REFUTED"
    texts = [finding.text for finding in outcome.findings if finding.kind == "another formula"]
    assert [text in words for words in texts] == [True] * bool(text)
