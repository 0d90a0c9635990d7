# SPDX-License-Identifier: Apache-2.0
"""Exponentials by pairs of primes: their laws, what has none, infinities, signs, and how often a bug is missed."""

from __future__ import annotations

import random
import tomllib
from pathlib import Path

import numpy as np
import pytest

from tests.verify.kernel.test_signs_and_clamps import TEXT
from verify.core.errors import SpecError
from verify.kernel import chance
from verify.kernel.check import check
from verify.kernel.claims import expression
from verify.kernel.claims.claim import claim_of
from verify.kernel.claims.expression import read_claim
from verify.kernel.comparison import Comparison
from verify.kernel.data import values
from verify.kernel.data.exponents import Pair, inverse, random_pair
from verify.kernel.interpretation import Interpretation
from verify.kernel.ptx.libdevice import replace_functions
from verify.kernel.ptx.parse import parse_kernel

LOW = "mov.b32 y,0xFF800000;"  # -inf
POWER = "ex2.approx.ftz.f32 z,x;"
LOG_OF_MASKED = "add.f32 v,x,y; ex2.approx.ftz.f32 z,v; lg2.approx.ftz.f32 z,z;"
OVER_ZERO = "sub.f32 v,y,y; rcp.approx.ftz.f32 z,v;"
COMPILED = Path(__file__).parents[2] / "kernels" / "compiled"


def verdict(body: str, claim: str, **keys: float) -> str:
    """VERIFIED, or the severity of the first finding, which is never `precision` here."""
    powers = "ex2.approx.ftz.f32 w2,x;"  # so that pairs are taken
    text = TEXT.replace("BODY", f".reg .pred p,q; .reg .b32 v,w2; {body} {powers}")
    arrays = {name: {"dims": "i", "type": "f32", "out": name == "C"} for name in "ABC"}
    table = {"grid": 1, "block": 32, "sizes": {"I": 32}, "params": ["A", "B", "C"], "arrays": arrays, **keys}
    (outcome,) = check(text, claim_of({**table, "claim": f"C[i] = {claim}"}), seed=1)
    texts = [f"{finding.severity}: {finding.text}" for finding in outcome.findings]
    return texts[0].partition(":")[0] if texts else "VERIFIED"


@pytest.mark.long
@pytest.mark.parametrize(
    ("body", "right", "wrong"),
    [
        ("add.f32 z,x,y; ex2.approx.ftz.f32 z,z;", "exp2(A[i])*exp2(B[i])", "exp2(A[i]) + exp2(B[i])"),
        ("add.f32 z,x,0f3F800000; ex2.approx.ftz.f32 z,z;", "2*exp2(A[i])", "exp2(A[i])"),
        ("sub.f32 z,x,y; ex2.approx.ftz.f32 z,z;", "exp2(A[i])/exp2(B[i])", "exp2(B[i])/exp2(A[i])"),
        ("mul.f32 z,x,0f3FB8AA3B; ex2.approx.ftz.f32 z,z;", "exp(A[i])", "exp2(A[i])"),
        (POWER + "ex2.approx.ftz.f32 z,z;", "exp2(exp2(A[i]))", "exp2(2*exp2(A[i]))"),
        (POWER + "lg2.approx.ftz.f32 z,z;", "A[i]", "0 - A[i]"),
        (POWER + "lg2.approx.ftz.f32 z,z; mul.f32 z,z,0f3F317218;", "log(exp2(A[i]))", "log2(exp2(A[i]))"),
        (POWER + "ex2.approx.ftz.f32 v,y; mul.f32 z,z,v; lg2.approx.ftz.f32 z,z;", "A[i] + B[i]", "A[i] - B[i]"),
        ("rcp.approx.ftz.f32 z,x; rcp.approx.ftz.f32 z,z;", "A[i]", "1/A[i]"),
        ("div.full.f32 z,x,y; mul.f32 z,z,y;", "A[i]", "B[i]"),
        ("div.full.f32 z,x,y; div.full.f32 v,y,x; add.f32 z,z,v;", "(A[i]*A[i] + B[i]*B[i])/(A[i]*B[i])", "2*A[i]"),
        ("max.f32 v,x,y; sub.f32 w2,x,v; ex2.approx.ftz.f32 z,w2; sub.f32 w2,y,v; ex2.approx.ftz.f32 w2,w2; "
         "add.f32 w2,z,w2; div.full.f32 z,z,w2;", "exp2(A[i])/(exp2(A[i]) + exp2(B[i]))",
         "exp2(B[i])/(exp2(A[i]) + exp2(B[i]))"),
    ],
)  # fmt: skip
def test_a_law_is_kept_and_a_wrong_twin_refuted(body: str, right: str, wrong: str) -> None:
    assert verdict(body, right) == "VERIFIED"
    assert verdict(body, wrong) == "value"


QUOTIENT = POWER + "ex2.approx.ftz.f32 v,y; add.f32 v,z,v; div.full.f32 z,z,v;"  # of exp2(x) by the sum of both
EIGHTH = "mul.f32 z,x,0f3E000000; ex2.approx.ftz.f32 z,z;"


@pytest.mark.parametrize(
    ("body", "claim", "status"),
    [
        (POWER + "mul.f32 z,z,z;", "exp2(A[i])**2", "VERIFIED"),
        (POWER + "mul.f32 z,z,z;", "exp2(A[i])**3", "value"),
        (POWER + "neg.f32 z,z;", "-exp2(A[i])**1", "VERIFIED"),
        (POWER + "mul.f32 z,z,z; rcp.approx.ftz.f32 z,z;", "1 / exp2(A[i])**2", "VERIFIED"),
        (EIGHTH, "exp2(A[i] / sqrt(64))", "VERIFIED"),
        (EIGHTH, "exp2(A[i] * rsqrt(2*I))", "VERIFIED"),
        (EIGHTH, "exp2(A[i] / sqrt(63))", "value"),
        (QUOTIENT, "exp2(A[i] - log2(exp2(A[i]) + exp2(B[i])))", "VERIFIED"),
        (QUOTIENT, "exp2(A[i] - log2(exp2(A[i]) + 2*exp2(B[i])))", "value"),
        (QUOTIENT, "exp2(A[i] - log(exp2(A[i]) + exp2(B[i])))", "value"),
        ("div.full.f32 v,0f3F800000,y; ex2.approx.ftz.f32 z,x; mul.f32 z,z,v;", "exp2(A[i] - log2(B[i]))", "unknown"),
    ],
)
def test_claims_are_read_as_people_write_them(body: str, claim: str, status: str) -> None:
    """A power, the root of a square, and a logarithm in an exponent: of what is seen to be above 0."""
    assert verdict(body, claim) == status


def test_a_factor_behind_a_sum_that_divides_is_not_taken_into_it() -> None:
    for claim in (
        "exp(A[i]) / (sum_j exp(A[j])) * B[i]",
        "exp(A[i]) / sum_j exp(A[j]) * B[j]",
        "A[i] / sum_j A[j] * 2",
    ):
        read_claim(f"C[i] = {claim}")
    with pytest.raises(SpecError, match=r"where b has no j: write x / \(sum_j a\) \* b, or x / \(sum_j a \* b\) at"):
        read_claim("C[i] = exp(A[i]) / sum_j exp(A[j]) * B[i]")


@pytest.mark.long
@pytest.mark.parametrize(
    ("body", "claim"),
    [
        ("neg.f32 z,x; lg2.approx.ftz.f32 z,z;", "log2(A[i])"),
        ("abs.f32 z,x; lg2.approx.ftz.f32 z,z;", "log2(A[i])"),
        ("mul.f32 z,x,x; lg2.approx.ftz.f32 z,z; mul.f32 z,z,0f3F000000;", "log2(A[i])"),
        (POWER + "neg.f32 z,z; lg2.approx.ftz.f32 z,z;", "A[i]"),
        ("ex2.approx.ftz.f32 z,x; ex2.approx.ftz.f32 v,y; sub.f32 z,z,v; lg2.approx.ftz.f32 z,z;",
         "log2(exp2(B[i]) - exp2(A[i]))"),
        ("sub.f32 v,y,y; div.full.f32 z,x,v;", "A[i]/(B[i] - B[i])"),
        # 1/0 has a residue, which must not come back as a number
        (f"{OVER_ZERO} neg.f32 z,z; ex2.approx.ftz.f32 z,z;", "1"),
        (f"{OVER_ZERO} neg.f32 z,z; ex2.approx.ftz.f32 z,z;", "exp2(0*A[i])"),
        (f"{OVER_ZERO} min.f32 z,z,x;", "min(0*A[i], A[i])"),
        (f"{OVER_ZERO} sqrt.approx.ftz.f32 z,z;", "sqrt(0*A[i])"),
        (f"{OVER_ZERO} rcp.approx.ftz.f32 z,z;", "0*A[i]"),
        (f"{OVER_ZERO} mul.f32 z,z,v;", "0*A[i]"),
        ("sub.f32 v,y,y; rsqrt.approx.ftz.f32 z,v; mul.f32 z,z,v;", "0*A[i]"),
        ("ex2.approx.ftz.f32 v,x; ex2.approx.ftz.f32 w2,y; mul.f32 v,v,w2; add.f32 w2,x,y; ex2.approx.ftz.f32 w2,w2; "
         "sub.f32 v,v,w2; rcp.approx.ftz.f32 z,v; rcp.approx.ftz.f32 z,z;", "0*A[i]"),  # 0 modulo p alone
        ("sub.f32 z,x,x; add.f32 z,z,0f3F800000;", "exp2(0 - 1/(A[i] - A[i]))"),
        ("sub.f32 z,x,x;", "1/(1/(A[i] - A[i]))"),
        ("sub.f32 z,x,x; sqrt.approx.ftz.f32 z,z;", "sqrt(1/(A[i] - A[i]))"),
        ("lg2.approx.ftz.f32 z,x; ex2.approx.ftz.f32 z,z;", "0 - A[i]"),
        ("sub.f32 z,x,x; ex2.approx.ftz.f32 z,z; sub.f32 z,z,0f3F800000; rcp.approx.ftz.f32 z,z;",
         "1/(A[i] - A[i])"),
    ],
)  # fmt: skip
def test_what_has_no_meaning_for_all_data_is_never_verified(body: str, claim: str) -> None:
    assert verdict(body, claim) in ("unknown", "value")


@pytest.mark.long
@pytest.mark.parametrize(
    ("body", "claim", "status"),
    [
        (LOW + "max.f32 z,x,y;", "A[i]", "VERIFIED"),
        (LOW + "max.f32 z,y,x;", "2*A[i]", "value"),
        (LOW + "min.f32 z,x,y;", "A[i]", "value"),  # it is -inf
        (LOW + "add.f32 z,x,y; ex2.approx.ftz.f32 z,z; add.f32 z,z,x;", "A[i]", "VERIFIED"),
        (LOW + "sub.f32 z,y,x; ex2.approx.ftz.f32 z,z; add.f32 z,z,x;", "A[i] + 1", "value"),
        (LOW + "add.f32 z,x,y; sub.f32 z,z,y;", "A[i]", "value"),  # NaN
        (LOW + "add.f32 z,x,y; sub.f32 z,z,y; max.f32 z,z,x;", "A[i]", "unknown"),  # not that of a NaN
        (LOW + "add.f32 v,x,y; sub.f32 z,v,y; max.f32 z,z,y; ex2.approx.ftz.f32 z,z;", "0*A[i]", "unknown"),  # -inf
        (LOW + "add.f32 v,x,y; sub.f32 z,v,y; max.f32 z,y,z; ex2.approx.ftz.f32 z,z;", "0*A[i]", "unknown"),
        (LOW + "add.f32 z,x,y; mul.f32 z,z,0f00000000;", "A[i]", "value"),  # NaN
        ("add.f32 z,x,0f7FC00000;", "A[i]", "value"),  # NaN, as a compiler folds -inf - -inf
        ("mul.f32 z,y,0fFFFFFFFF; ex2.approx.ftz.f32 z,z;", "0*A[i]", "value"),
        ("add.f32 z,x,0f7FC00000; max.f32 z,z,x;", "A[i]", "unknown"),
        (LOW + "mul.f32 z,y,x; ex2.approx.ftz.f32 z,z;", "0*A[i]", "unknown"),  # of unknown sign
        (LOW + "mul.f32 z,y,0fBF800000; ex2.approx.ftz.f32 z,z;", "0*A[i]", "unknown"),
        (LOW + "mul.f32 z,y,0f3F000000; ex2.approx.ftz.f32 z,z;", "0*A[i]", "VERIFIED"),
        (LOW + "ex2.approx.ftz.f32 v,x; mul.f32 z,y,v; ex2.approx.ftz.f32 z,z;", "0*A[i]", "VERIFIED"),
        (LOW + "ex2.approx.ftz.f32 z,y; mul.f32 z,z,y;", "A[i]", "value"),  # 0 * -inf
        (f"{LOW}{LOG_OF_MASKED}", "log2(0*exp2(A[i]))", "VERIFIED"),  # both are -inf
        (f"{LOW}{LOG_OF_MASKED}", "A[i]", "value"),
        (f"{LOW}{LOG_OF_MASKED} ex2.approx.ftz.f32 z,z; add.f32 z,z,x;", "A[i]", "VERIFIED"),
        (f"{LOW}{LOG_OF_MASKED} sub.f32 z,z,z; add.f32 z,z,x;", "A[i]", "value"),  # NaN
        (LOW + "neg.f32 y,y; ex2.approx.ftz.f32 z,y;", "A[i]", "unknown"),
        (LOW + "setp.eq.f32 p,x,y; selp.f32 z,0f3F800000,x,p;", "A[i]", "VERIFIED"),
        (LOW + "setp.gt.f32 p,x,y; selp.f32 z,0f3F800000,x,p;", "1", "VERIFIED"),
        (LOW + "add.f32 z,x,y; setp.eq.f32 p,z,y; selp.f32 z,x,z,p;", "A[i]", "VERIFIED"),
        (POWER + "setp.gt.f32 p,z,0f00000000; selp.f32 z,x,z,p;", "A[i]", "VERIFIED"),
        (POWER + "setp.eq.f32 p,z,0f00000000; selp.f32 z,x,z,p;", "A[i]", "value"),
        (POWER + "setp.neu.f32 p,z,z; selp.f32 z,x,z,p;", "exp2(A[i])", "VERIFIED"),
        (LOW + "ex2.approx.ftz.f32 z,y; setp.gt.f32 p,z,0f00000000; selp.f32 z,z,x,p;", "A[i]", "VERIFIED"),
        ("setp.eq.f32 p,x,0f00000000; selp.f32 z,y,x,p; ex2.approx.ftz.f32 v,y;", "A[i]", "unknown"),
        (POWER + "sub.f32 z,z,y; setp.gt.f32 p,z,0f00000000; selp.f32 z,x,y,p;", "A[i]", "value"),
        ("mul.f32 z,x,x; ex2.approx.ftz.f32 v,y; add.f32 z,z,v; setp.gt.f32 p,z,0f00000000; selp.f32 z,x,y,p;",
         "A[i]", "unknown"),  # positive, and not seen to be
    ],
)  # fmt: skip
def test_infinities_and_signs_are_those_of_ieee_754(body: str, claim: str, status: str) -> None:
    assert verdict(body, claim) == status


ROOT = "mul.f32 v,x,x; add.f32 v,v,0f3F800000; "
RSQRT, QUOTIENT = f"{ROOT}rsqrt.approx.f32 v,v; mul.f32 z,y,v;", f"{ROOT}sqrt.rn.f32 v,v; div.rn.f32 z,y,v;"


@pytest.mark.parametrize("body", [RSQRT, QUOTIENT, f"{ROOT}sqrt.rn.f32 v,v; rcp.rn.f32 v,v; mul.f32 z,y,v;"])
@pytest.mark.parametrize(
    ("claim", "status"),
    [
        ("B[i] / sqrt(A[i]*A[i] + 1)", "VERIFIED"),
        ("B[i] * rsqrt(1 + A[i]*A[i])", "VERIFIED"),
        ("B[i] / sqrt(A[i]*A[i] + 2)", "unknown value"),
        ("B[i] * sqrt(A[i]*A[i] + 1)", "unknown value"),
        ("B[i] / (A[i]*A[i] + 1)", "unknown value"),
        ("B[i] / (0 - sqrt(A[i]*A[i] + 1))", "unknown value"),
    ],
)
def test_an_inverse_root_is_the_inverse_of_the_root(body: str, claim: str, status: str) -> None:
    assert verdict(body, claim) in status.split()


@pytest.mark.parametrize(
    ("body", "claim"),
    [
        ("sqrt.rn.f32 v,x; mul.f32 z,v,v;", "A[i]"),  # of a number below 0 it is none
        ("sqrt.rn.f32 v,x; mul.f32 z,v,v;", "0 - A[i]"),
        ("mul.f32 v,x,x; sqrt.rn.f32 z,v;", "A[i]"),  # it is |A|
        ("mul.f32 v,x,x; rsqrt.approx.f32 z,v;", "1 / A[i]"),
        ("sub.f32 v,x,x; rsqrt.approx.f32 z,v;", "rsqrt(A[i] - A[i])"),  # of 0 it isn't a number
        ("sub.f32 v,x,x; sqrt.rn.f32 v,v; rcp.rn.f32 z,v;", "1 / sqrt(A[i] - A[i])"),
    ],
)
def test_other_laws_of_roots_are_not_taken_for_granted(body: str, claim: str) -> None:
    assert verdict(body, claim) != "VERIFIED"


def test_the_root_of_zero_is_zero() -> None:
    assert verdict("sub.f32 v,x,x; sqrt.rn.f32 z,v; add.f32 z,z,y;", "B[i]") == "VERIFIED"


@pytest.mark.parametrize(("least", "most"), [(1 << 9, 1 << 10), (1 << 29, 1 << 30)])
def test_a_pair_keeps_the_laws(least: int, most: int) -> None:
    source = random.Random(3)
    for _ in range(4):
        pair = random_pair(source, least, most)
        p, q = pair.prime, pair.order
        assert p == 2 * q + 1 and least <= q < most and pow(2, q, p) == 1
        x, y = (np.array([source.randrange(q) for _ in range(40)], np.uint64) for _ in range(2))
        powers = [pair.power(exponent) for exponent in (x, y, (x + y) % np.uint64(q))]
        assert [int(number) for number in powers[0]] == [pow(2, int(number), p) for number in x]
        assert (powers[0] * powers[1] % np.uint64(p) == powers[2]).all()
        assert (pair.logarithm(powers[0]) == x).all() and (pair.logarithm(np.uint64(p) - powers[0]) == x).all()
        there = inverse(powers[0], np.uint64(p))
        assert (there * powers[0] % np.uint64(p) == 1).all()
    assert inverse(np.zeros(2, np.uint64), np.uint64(23)).tolist() == [0, 0]


def softmax(pair: Pair, scores: np.ndarray, values: np.ndarray, terms: slice) -> np.ndarray:
    """Row by row: the sum of exp2(score) * value over that of exp2(score), of some terms, modulo p."""
    p = np.uint64(pair.prime)
    powers = pair.power(scores[:, terms])
    total = (powers * values[:, terms] % p).sum(1) % p
    return total * inverse(powers.sum(1) % p, p) % p


def test_a_wrong_softmax_is_missed_no_more_often_than_the_bound_says() -> None:
    """At small primes, where misses can be counted: the last term is left out, of 16."""
    rows, terms = 40_000, 16
    for seed in range(3):
        pair = random_pair(random.Random(seed), 1 << 9, 1 << 10)
        points = np.random.default_rng(seed)
        scores = points.integers(0, pair.order, (rows, terms), dtype=np.uint64)
        values = points.integers(0, pair.prime, (rows, terms), dtype=np.uint64)
        right, wrong = (softmax(pair, scores, values, slice(end)) for end in (terms, terms - 1))
        missed = float((right == wrong).mean())
        degree = 2 * 2 + 1  # each side is a quotient of sums of degree 2, one of them with an input
        assert 0.3 / pair.order < missed < 2 * degree / pair.order


@pytest.mark.long
@pytest.mark.parametrize(
    "claim",
    [
        "exp(X[m,n]) / sum_n where(n > 0, exp(X[m,n]), 0)",
        "softmax_n(2*X[m,n])",
        "softmax_n(0 - X[m,n])",
    ],
)
def test_a_wrong_kernel_is_missed_no_more_often_than_the_bound_says(
    claim: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole check of a compiled softmax, with one pair of small primes, against claims that are wrong."""
    monkeypatch.setattr(values, "random_pair", lambda source: random_pair(source, 1 << 9, 1 << 10))
    monkeypatch.setattr(chance, "LEAST_ORDER", 1 << 9)
    table, kernel = tomllib.loads((COMPILED / "softmax.toml").read_text()), (COMPILED / "softmax.ptx").read_text()
    missed, orders, count = 0, 0, 3
    for seed in range(count):
        (launch,) = claim_of({**table, "claim": f"Y[m,n] = {claim}", "sizes": {"M": 60, "N": 100}}).launches
        known = parse_kernel(kernel, "softmax")
        replace_functions(known)
        run = Interpretation(known, launch, values.Values(seed, 1, exponents=True), 300_000, {})
        run.interpret()
        comparison = Comparison(run)
        missed += int(run.values.equal(run.values.residues[:, comparison.ids], comparison.residues).sum())
        orders += run.values.pairs[0].order
        run.values.choices.hashed = 0  # so few residues take many arguments of the maximum for one: not counted here
        growth = chance.ClaimGrowth(launch.extents, {})
        bound = chance.bound_chance(run.values, comparison.ids[:1], launch.value, growth).bound
    rate, order = missed / (count * comparison.ids.size), orders / count
    assert 0.1 / order < rate < 8 / order < bound < 1


@pytest.mark.parametrize(("claim", "count", "pairs"), [("exp(X[m,n])", 8, 3), ("softmax_n(X[m,n])", 100, 4),
                                                       ("softmax_n(X[m,n])", 2048, 5)])  # fmt: skip
def test_a_long_run_takes_enough_pairs_at_once(claim: str, count: int, pairs: int) -> None:
    """A verdict with too few is made again with one more, which takes as long."""
    _, value = expression.read_claim(f"Y[m,n] = {claim}")
    growth = chance.ClaimGrowth({"m": count, "n": count}, {})
    assert chance.estimate_pairs(value, growth, count * count) == pairs


MASK, SUM = "mov.b32 y,0xC9742400;", "add.f32 v,x,y;"  # -1e6
POWER_OF_SUM = f"{MASK}{SUM}ex2.approx.ftz.f32 z,v;"


@pytest.mark.long
@pytest.mark.parametrize(
    ("body", "claim", "floor", "status"),
    [
        (POWER_OF_SUM, "0*A[i]", -1e5, "VERIFIED"),
        (POWER_OF_SUM, "0*A[i]", None, "unknown"),
        (POWER_OF_SUM, "0*A[i]", -2e6, "unknown"),
        (f"{MASK}{SUM}sub.f32 v,v,y; ex2.approx.ftz.f32 z,v;", "exp2(A[i])", -1e5, "VERIFIED"),
        (f"{MASK}{SUM}mul.f32 v,v,0f3E000000; ex2.approx.ftz.f32 z,v;", "0*A[i]", -1e5, "VERIFIED"),
        (f"{MASK}{SUM}mul.f32 v,v,0f3D000000; ex2.approx.ftz.f32 z,v;", "0*A[i]", -1e5, "unknown"),
        (f"{MASK}{SUM}mul.f32 v,v,x; ex2.approx.ftz.f32 z,v;", "0*A[i]", -1e5, "unknown"),
        (f"{MASK}{SUM}neg.f32 v,v; ex2.approx.ftz.f32 z,v;", "0*A[i]", -1e5, "unknown"),
        # what takes the mask away again
        (f"{MASK}{SUM}add.f32 v,v,0f49742400; ex2.approx.ftz.f32 z,v;", "0*A[i]", -1e5, "value"),
        (f"{MASK}{SUM}add.f32 v,v,0f49742400; ex2.approx.ftz.f32 z,v;", "exp2(A[i])", -1e5, "VERIFIED"),
        (f"{MASK}{SUM}add.f32 v,v,0f49F42400; ex2.approx.ftz.f32 z,v;", "0*A[i]", -1e5, "unknown"),
        (f"{MASK}{SUM}{'add.f32 v,v,0f47B71B00;' * 12} ex2.approx.ftz.f32 z,v;", "0*A[i]", -1e5, "unknown"),
        (f"{MASK}fma.rn.f32 v,x,0f49742400,y; ex2.approx.ftz.f32 z,v;", "0*A[i]", -1e5, "unknown"),
        (f"{MASK}{SUM}add.f32 v,v,0f3F800000; ex2.approx.ftz.f32 z,v;", "0*A[i]", -1e5, "VERIFIED"),
        (f"{MASK}{SUM}max.f32 z,v,x;", "A[i]", -1e5, "VERIFIED"),
        (f"{MASK}{SUM}max.f32 z,x,v;", "A[i] - 1000000", -1e5, "value"),
        (f"{MASK}{SUM}max.f32 z,y,v; sub.f32 z,v,z; ex2.approx.ftz.f32 z,z;", "0*A[i]", -1e5, "value"),
        (f"{MASK}{SUM}mul.f32 w2,v,0f3E000000; sub.f32 z,w2,y; ex2.approx.ftz.f32 z,z;", "0*A[i]", -1e5, "unknown"),
        (f"{MASK}{SUM}setp.gt.f32 p,v,x; selp.f32 z,v,x,p;", "A[i]", -1e5, "unknown"),
    ],
)
def test_a_finite_number_stands_for_an_infinity_only_if_the_claim_says_so(
    body: str, claim: str, floor: float | None, status: str
) -> None:
    assert verdict(body, claim, **({} if floor is None else {"floor": floor})) == status


GUARD = "setp.eq.f32 p,z,y; selp.f32 z,0f00000000,z,p;"


@pytest.mark.parametrize(("guard", "status"), [(GUARD, "VERIFIED"), ("", "value")], ids=["guarded", "bare"])
def test_a_row_that_is_wholly_masked_needs_a_guard(guard: str, status: str) -> None:
    """The maximum of such a row is -inf, and -inf less -inf is NaN: a guard puts 0 in its place."""
    body = f"{LOW}add.f32 v,x,y; max.f32 z,v,y; {guard} sub.f32 v,v,z; ex2.approx.ftz.f32 v,v; mul.f32 z,v,x;"
    assert verdict(body, "0*A[i]") == status


TWO = "ex2.approx.ftz.f32 z,x; ex2.approx.ftz.f32 v,y; add.f32 v,z,v; lg2.approx.ftz.f32 v,v;"  # log2 of their sum
SUM = "(exp2(A[i]) + exp2(B[i]))"
NATURAL = "mul.f32 v,v,0f3F317218; sub.f32 z,x,v; mul.f32 z,z,0f3FB8AA3B; ex2.approx.ftz.f32 z,z;"
LESS = "sub.f32 z,x,v; ex2.approx.ftz.f32 z,z;"


@pytest.mark.long
@pytest.mark.parametrize(
    ("body", "claim"),
    [
        (TWO + LESS, f"exp2(A[i]) / {SUM}"),
        (TWO + LESS, f"exp2(A[i] - log2{SUM})"),
        (TWO + "add.f32 z,x,v; ex2.approx.ftz.f32 z,z;", f"exp2(A[i]) * {SUM}"),
        (TWO + NATURAL, f"exp(A[i]) / {SUM}"),
        (TWO + "mul.f32 v,v,0f40400000;" + LESS, f"exp2(A[i]) / {SUM}**3"),
        (TWO + "add.f32 v,v,v;" + LESS, f"exp2(A[i]) / {SUM}**2"),
        (TWO + "sub.f32 z,v,v; add.f32 v,z,v;" + LESS, f"exp2(A[i]) / {SUM}"),
        (TWO + "fma.rn.f32 z,v,0fBF800000,x; ex2.approx.ftz.f32 z,z;", f"exp2(A[i]) / {SUM}"),
        (TWO + "max.f32 z,v,x; sub.f32 w2,v,z; ex2.approx.ftz.f32 w2,w2; sub.f32 z,x,z; ex2.approx.ftz.f32 z,z; "
         "div.full.f32 z,w2,z;", f"{SUM} / exp2(A[i])"),
        (TWO + "ex2.approx.ftz.f32 w2,v; lg2.approx.ftz.f32 v,w2;" + LESS, f"exp2(A[i]) / {SUM}"),
    ],
)  # fmt: skip
def test_a_power_of_a_logarithm_is_what_the_logarithm_is_of(body: str, claim: str) -> None:
    assert verdict(body, claim) == "VERIFIED"
    assert verdict(body, f"0 - {claim}") == "value"
    assert verdict(body, claim.replace("A[i]) + exp2(B[i])", "A[i]) + 2*exp2(B[i])")) == "value"


@pytest.mark.parametrize(
    ("body", "claim"),
    [
        # the root of a logarithm's argument may be either of two, and so may anything made of it
        (TWO + "mul.f32 v,v,0f3F000000; ex2.approx.ftz.f32 z,v; mul.f32 z,z,z;", SUM),
        (TWO + "mul.f32 v,v,0f3F000000; add.f32 v,v,v; ex2.approx.ftz.f32 z,v;", SUM),
        (TWO + "rcp.approx.ftz.f32 v,v; rcp.approx.ftz.f32 v,v; ex2.approx.ftz.f32 z,v;", SUM),
        (TWO + "mul.f32 v,v,y; div.full.f32 v,v,y; ex2.approx.ftz.f32 z,v;", SUM),
        ("lg2.approx.ftz.f32 z,x; ex2.approx.ftz.f32 z,z;", "A[i]"),
        ("mul.f32 z,x,x; lg2.approx.ftz.f32 z,z; ex2.approx.ftz.f32 z,z;", "A[i]*A[i]"),
    ],
)
def test_a_power_of_half_a_logarithm_or_one_of_any_number_has_no_law(body: str, claim: str) -> None:
    assert verdict(body, claim) == "unknown"


@pytest.mark.long
@pytest.mark.parametrize("claim", [f"0 - {SUM}", f"exp2(A[i] - A[i]) - {SUM} - 1"])
def test_the_residues_of_a_power_of_a_logarithm_are_not_those_of_its_opposite(claim: str) -> None:
    """Without the signs they were in one element of eight, and only the sample told them apart."""
    text = TEXT.replace("BODY", f".reg .b32 v; {TWO} ex2.approx.ftz.f32 z,v;")
    arrays = {name: {"dims": "i", "type": "f32", "out": name == "C"} for name in "ABC"}
    table = {"grid": 1, "block": 32, "sizes": {"I": 32}, "params": ["A", "B", "C"], "arrays": arrays}
    for seed in range(3):
        for formula, same in ((claim, False), (SUM, True)):
            (launch,) = claim_of({**table, "claim": f"C[i] = {formula}"}).launches
            run = Interpretation(parse_kernel(text), launch, values.Values(seed, exponents=True), 300_000, {})
            run.interpret()
            comparison = Comparison(run)
            agree = run.values.equal(run.values.residues[:, comparison.ids], comparison.residues)
            assert agree.all() if same else not agree.any()


@pytest.mark.long
@pytest.mark.parametrize(
    ("body", "claim"),
    [
        ("ex2.approx.ftz.f32 z,v;", f"exp2(log2({SUM}))"),
        ("mul.f32 v,v,0f40000000;" + LESS, f"exp2(A[i] - 2*log2({SUM}))"),
        ("mul.f32 v,v,0f40400000;" + LESS, f"exp2(A[i] - log2({SUM})*3)"),
        ("mul.f32 v,v,0f3F000000;" + LESS, f"exp2(A[i] - 0.5*log2({SUM}))"),
        ("mul.f32 v,v,y;" + LESS, f"exp2(A[i] - B[i]*log2({SUM}))"),
    ],
)
def test_a_claim_has_powers_of_logarithms_as_kernels_do(body: str, claim: str) -> None:
    assert verdict(TWO + body, claim) == "VERIFIED"
    assert verdict(TWO + body, f"0 - {claim}") == "value"
    assert verdict(TWO + body, claim.replace("exp2(B[i])", "2*exp2(B[i])")) == "value"
