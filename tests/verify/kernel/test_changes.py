# SPDX-License-Identifier: Apache-2.0
"""Each change of a claim that a finding may name is what its words say: its value is that of another claim."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from verify.kernel.blocks import BlockEvaluation
from verify.kernel.changes import list_changes
from verify.kernel.check import check
from verify.kernel.claims.claim import claim_of
from verify.kernel.claims.evaluation import NamedTensor
from verify.kernel.claims.expression import elements, read_claim
from verify.kernel.claims.launch import Launch
from verify.kernel.data.values import Values
from verify.kernel.masks import list_masked

SIZES = {"M": 5, "N": 40, "H": 4, "G": 2, "D": 8}
DIMS = {"S": "mn", "K": "hn", "V": "nd", "T": "h", "E": "m", "O": "md", "Y": "m"}


def launch_of(claim: str) -> Launch:
    """The launch of a claim about small arrays."""
    target, value = read_claim(claim)
    names = dict.fromkeys(element.name for element in (target, *elements(value)))
    arrays = {name: {"dims": [*DIMS[name]], "type": "f32", "out": name == target.name} for name in names}
    scalars = {"scale": 0.375, "eps": 0.25}
    table = {"grid": 1, "block": 32, "sizes": SIZES, "params": [*names], "arrays": arrays, "claim": claim}
    return claim_of({**table, "scalars": scalars}).launches[0]


def evaluate(launch: Launch, node: object) -> np.ndarray:
    """The residues of a tree for the elements of a launch's target, at points that the name of an array decides."""
    values, arrays = Values(3, exponents=True), dict[str, NamedTensor]()
    values.choices.by_leaves = False
    for array in launch.arrays:
        source = np.random.default_rng(sum(map(ord, array.name)))
        residues = np.stack([source.integers(1, int(prime), array.shape) for prime in values.primes]).astype(np.uint64)
        arrays[array.name] = NamedTensor(array.dims, residues, source.uniform(-1, 1, array.shape))
    shape = [launch.extents[name] for name in launch.target.indices]
    tensor = BlockEvaluation(values.primes, arrays, launch.scalars, values.choices, launch.extents, launch.sizes)(node)  # type: ignore[arg-type]
    return np.broadcast_to(tensor.align(launch.target.indices)[0], (len(values.primes), *shape))


ROW, FULL = "sum_n exp(SCORE)", "sum_n exp(SCORE) * V[n,d] / sum_n exp(SCORE)"
SCORE, CAUSAL = "scale * S[m,n]", "where(m >= n, scale * S[m,n], -inf)"


def with_score(score: str, form: str = FULL) -> str:
    return form.replace("SCORE", score)


CASES = [  # claim, words, what the claim is with the change
    (f"{with_score(SCORE)} + E[m]", "the term E[m] is missing", with_score(SCORE)),
    (f"{with_score(SCORE)} + E[m]", "the term E[m] is added twice", f"{with_score(SCORE)} + 2*E[m]"),
    (f"{with_score(SCORE)} + E[m]", "the term E[m] has the other sign", f"{with_score(SCORE)} - E[m]"),
    (with_score("S[m,n] - E[m]"), "the term E[m] is missing", with_score("S[m,n]")),
    ("sum_n (S[m,n] - E[m]) * V[n,d]", "the term E[m] is missing", "sum_n S[m,n] * V[n,d]"),
    (with_score("S[m,n] + 2 * (n - m)"), "the difference n - m is turned", with_score("S[m,n] + 2 * (m - n)")),
    (with_score(SCORE), "scale is not applied", with_score("S[m,n]")),
    (with_score(SCORE), "scale is applied twice", with_score("scale * scale * S[m,n]")),
    ("scale * sum_n exp(scale * S[m,n]) * V[n,d]", "scale is not applied in scale*(sum_n ex2(scale*S[m,n]*1.442695)*…",
     "sum_n exp(scale * S[m,n]) * V[n,d]"),
    ("scale * sum_n exp(scale * S[m,n]) * V[n,d]", "scale is not applied in scale*S[m,n]*1.442695",
     "scale * sum_n exp(S[m,n]) * V[n,d]"),
    ("scale * sum_n exp(scale * S[m,n]) * V[n,d]", "scale is applied twice in scale*S[m,n]*1.442695",
     "scale * sum_n exp(scale * scale * S[m,n]) * V[n,d]"),
    (with_score("scale * tanh(S[m,n] / scale)"), "scale is not applied in scale*tanh(S[m,n]*rcp(scale))*1.442695",
     with_score("tanh(S[m,n] / scale)")),
    (f"({with_score(SCORE)}) * E[m]", "the factor E[m] is missing", with_score(SCORE)),
    (with_score("0.25 * S[m,n]"), "the factor 0.25 is missing in 0.25*S[m,n]*1.442695", with_score("S[m,n]")),
    (with_score(SCORE), "it is not divided by sum_n ex2(scale*S[m,n]*1.442695)", "sum_n exp(scale * S[m,n]) * V[n,d]"),
    ("E[m] / (E[m] + eps)", "it is multiplied by E[m] + eps, not divided", "E[m] * (E[m] + eps)"),
    ("E[m] / sqrt(E[m] + eps)", "sqrt(E[m] + eps) lacks its root", "E[m] / (E[m] + eps)"),
    ("E[m] * rsqrt(E[m] + eps)", "rsqrt(E[m] + eps) lacks its root", "E[m] / (E[m] + eps)"),
    (with_score("2 * tanh(S[m,n])"), "tanh is not applied", with_score("2 * S[m,n]")),
    (with_score(SCORE), "the exponent lacks log2(e)", with_score(SCORE).replace("exp", "exp2")),
    (with_score(SCORE), "the exponent has log2(e) once too often", with_score(f"1.4426950408889634 * {SCORE}")),
    (with_score(SCORE), "the exponent has neither scale nor log2(e)", with_score("S[m,n]").replace("exp", "exp2")),
    (with_score(f"{SCORE} + E[m] * n"), "the term E[m]*n of the exponent lacks log2(e)",
     with_score(f"1.4426950408889634 * {SCORE} + E[m] * n").replace("exp", "exp2")),
    (f"log({with_score(SCORE, ROW)})", "the logarithm has base 2 where base e is claimed",
     f"log2({with_score(SCORE, ROW)})"),
    (f"log2({with_score(SCORE, ROW)})", "the logarithm has base e where base 2 is claimed",
     f"log({with_score(SCORE, ROW)})"),
]  # fmt: skip
MASKS = [
    (CAUSAL, "the mask is off by one, it hides one element too few", "where(m + 1 >= n, scale * S[m,n], -inf)"),
    (CAUSAL, "the mask is off by one, it hides one element too many", "where(m > n, scale * S[m,n], -inf)"),
    (CAUSAL, "the mask is off by 35, it hides 35 elements too few", "where(m + 35 >= n, scale * S[m,n], -inf)"),
    (CAUSAL, "nothing is masked", SCORE),
    ("where(m >= n and n > 1, scale * S[m,n], -inf)", "the mask by m >= n is missing",
     "where(n > 1, scale * S[m,n], -inf)"),
    (SCORE, "only n <= m is summed: a mask is there", CAUSAL),
    (SCORE, "only n >= m is summed: a mask is there", "where(n >= m, scale * S[m,n], -inf)"),
    (SCORE, "the last 8 terms of sum_n are skipped", "where(n < 32, scale * S[m,n], -inf)"),
    (SCORE, "the first 16 terms of sum_n are skipped", "where(n >= 16, scale * S[m,n], -inf)"),
    (SCORE, "every second block of 16 terms of sum_n are skipped",
     "where(n < 16, scale * S[m,n], where(n >= 32, scale * S[m,n], -inf))"),
    ("where(n - m < 20, scale * S[m,n], -inf)", "the mask has the first n of a block of 16 in place of each",
     "where(n < 32, scale * S[m,n], where(32 < m + 20, scale * S[m,n], -inf))"),
    ("where(n - m < 20, scale * S[m,n], -inf)", "the mask is that of whole blocks of 16",
     "where(n < 32, scale * S[m,n], -inf)"),
    (CAUSAL, "the mask compares the places in blocks of 16", CAUSAL),
    ("where(m + 100 >= n, scale * S[m,n], -inf)", "the blocks of 16 on the diagonal are skipped",
     "where(n < 0, scale * S[m,n], -inf)"),
    (CAUSAL, "what is masked has the score 0, not -inf", "where(m >= n, scale * S[m,n], 0)"),
    (CAUSAL, "what is masked has the score -3, not -inf", "where(m >= n, scale * S[m,n], -3)"),
    (CAUSAL, "what is masked isn't hidden: -3 is added to its score",
     "where(m >= n, scale * S[m,n], scale * S[m,n] - 3)"),
]  # fmt: skip
SUMS = [
    ("terms of the score 0 are summed beyond n = 39, as many as 8",
     FULL.replace("/ sum_n exp(SCORE)", "/ (8 + sum_n exp(SCORE))")),
    ("the last 8 terms are skipped in the sum of a row",
     FULL.replace("/ sum_n exp(SCORE)", "/ sum_n where(n < 32, exp(SCORE), 0)")),
    ("the last 8 terms are skipped in the accumulator",
     FULL.replace("sum_n exp(SCORE) * V", "sum_n where(n < 32, exp(SCORE), 0) * V")),
    ("the last of each 32 terms are skipped in the sum of a row",
     FULL.replace("/ sum_n exp(SCORE)", "/ sum_n where(n != 31, exp(SCORE), 0)")),
    ("the first 32 terms are skipped in the accumulator",
     FULL.replace("sum_n exp(SCORE) * V", "sum_n where(n >= 32, exp(SCORE), 0) * V")),
]  # fmt: skip


def holds(target: str, claim: str, words: str, changed: str) -> bool:
    """Whether one of the changes of a claim that has these words gives what another claim does."""
    launch, wanted = launch_of(f"{target} = {claim}"), launch_of(f"{target} = {changed}")
    changes = [*list_changes(launch.value, launch), *list_masked(launch.value, launch, [Fraction(-3)])]
    trees = [node for text, node in changes if text == words]
    assert trees, sorted({text for text, _ in changes})
    assert not (evaluate(wanted, wanted.value) == evaluate(launch, launch.value)).all() or claim == changed
    return any((evaluate(launch, node) == evaluate(wanted, wanted.value)).all() for node in trees)


@pytest.mark.parametrize(("claim", "words", "changed"), CASES, ids=[f"{case[1]} {at}" for at, case in enumerate(CASES)])
def test_a_change_is_what_its_words_say(claim: str, words: str, changed: str) -> None:
    assert holds("O[m,d]" if "V[" in claim else "Y[m]", claim, words, changed)


@pytest.mark.parametrize(("score", "words", "changed"), MASKS, ids=[case[1] for case in MASKS])
def test_a_change_of_a_mask_is_what_its_words_say(score: str, words: str, changed: str) -> None:
    assert holds("O[m,d]", with_score(score), words, with_score(changed))


@pytest.mark.parametrize(("words", "changed"), SUMS, ids=[case[0] for case in SUMS])
def test_a_sum_that_lacks_terms_is_what_its_words_say(words: str, changed: str) -> None:
    assert holds("O[m,d]", with_score(SCORE), words, with_score(SCORE, changed))


def test_a_head_of_another_group_is_a_change_of_the_claim() -> None:
    claim, changed = "sum_n K[m//2,n] * V[n,d]", "sum_n K[m%2,n] * V[n,d]"
    launch = launch_of(f"O[m,d] = {claim}")
    ((words, node),) = [change for change in list_changes(launch.value, launch) if "m%2" in change[0]]
    assert words == "K has the index m%2, not m//2"
    wanted = launch_of(f"O[m,d] = {changed}")
    assert (evaluate(launch, node) == evaluate(wanted, wanted.value)).all()


LANES = [  # the column of an output -> the places of a term, in columns of 8, that its lane and another one have
    ("2 of the 4 lanes", 0, (0, 1, 2, 3)),
    ("2 of the 4 lanes", 5, (4, 5, 6, 7)),
    ("2 of the 4 lanes", 0, (0, 1, 4, 5)),
    ("2 of the 4 lanes", 6, (2, 3, 6, 7)),
    ("one of the 4 lanes", 4, (4, 5)),
]


@pytest.mark.parametrize(("lanes", "column", "places"), LANES)
def test_a_sum_that_some_of_its_lanes_have(lanes: str, column: int, places: tuple[int, ...]) -> None:
    launch, kept = launch_of(f"O[m,d] = {with_score('S[m,n]')}"), "0"
    for n in range(SIZES["N"] - 2, -2, -2):  # two at a time
        kept = f"where(n < {n + 2}, {'exp(S[m,n])' if n % 8 in places else '0'}, {kept})"
    value = FULL.replace("/ sum_n exp(SCORE)", f"/ sum_n {kept}")
    words = f"the sum of a row is that of {lanes} that share it: a shuffle is missing"
    trees = [node for text, node in list_masked(launch.value, launch, []) if text == words]
    wanted = evaluate(launch, launch_of(f"O[m,d] = {with_score('S[m,n]', value)}").value)[..., column]
    assert sum((evaluate(launch, node)[..., column] == wanted).all() for node in trees) == 1


# One thread has a row: a step for each of three terms, with a running maximum.
ONLINE = """.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 a, .param .u64 b, .param .u64 c)
{
.reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 x,v,m,new,p,s,l,acc,o;
mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 12; mul.wide.u32 %d2, %r1, 4;
ld.param.u64 %d3, [a]; add.s64 %d3, %d3, %d1; ld.param.u64 %d4, [b]; add.s64 %d4, %d4, %d1;
ld.param.u64 %d5, [c]; add.s64 %d5, %d5, %d2;
mov.f32 m, 0fFF800000; mov.f32 l, 0f00000000; mov.f32 acc, 0f00000000;
STEPS
END
st.global.f32 [%d5], o;
ret;
}
"""
STEP = """ld.global.f32 x, [%d3+AT]; ld.global.f32 v, [%d4+AT];
max.f32 new, m, x; sub.f32 p, x, new; ex2.approx.ftz.f32 p, p; sub.f32 s, m, new; ex2.approx.ftz.f32 s, s;
mul.f32 l, l, s; add.f32 l, l, p;
mul.f32 acc, acc, s; fma.rn.f32 acc, p, v, acc;
mov.f32 m, new;
"""
QUOTIENT = "sum_n exp2(A[i,n]) * B[i,n] / sum_n exp2(A[i,n])"
DIVIDE, SIZE = "div.full.f32 o, acc, l;", "lg2.approx.ftz.f32 o, l; add.f32 o, o, m;"


def name_cause(step: str, end: str, claim: str) -> str:
    """The first words on a kernel of three steps."""
    text = ONLINE.replace("STEPS", "".join(step.replace("AT", str(4 * n)) for n in range(3))).replace("END", end)
    arrays = {name: {"dims": "in", "type": "f32", "strides": ["N", 1]} for name in "AB"}
    table = {"grid": 1, "block": 32, "sizes": {"I": 32, "N": 3}, "params": ["A", "B", "C"], "claim": f"C[i] = {claim}"}
    table |= {"arrays": {**arrays, "C": {"dims": "i", "type": "f32", "out": True}}, "claim": f"C[i] = {claim}"}
    (outcome,) = check(text, claim_of(table), seed=1)
    return outcome.status if outcome.status != "REFUTED" else outcome.findings[0].text.partition(": that gives")[0]


LOG = "log2(sum_n exp2(A[i,n]))"
LOG_2E = "mul.f32 p, p, 0f3FB8AA3B; "
GROWS = "is not rescaled when the maximum grows"
RUNNING = [
    ("", "", DIVIDE, QUOTIENT, "VERIFIED"),
    ("", "", SIZE, LOG, "VERIFIED"),
    ("mul.f32 l, l, s;", "", DIVIDE, QUOTIENT, f"the sum of a row {GROWS}"),
    ("mul.f32 acc, acc, s;", "", DIVIDE, QUOTIENT, f"the accumulator {GROWS}"),
    ("mul.f32 l, l, s; add.f32 l, l, p;", "add.f32 l, l, p; mul.f32 l, l, s;", DIVIDE, QUOTIENT,
     "the sum of a row is rescaled once too often, with what a step adds"),
    ("mul.f32 acc, acc, s; fma.rn.f32 acc, p, v, acc;", "fma.rn.f32 acc, p, v, acc; mul.f32 acc, acc, s;",
     DIVIDE, QUOTIENT,
     "the accumulator is rescaled once too often, with what a step adds"),
    ("mul.f32 acc, acc, s; fma", "mul.f32 v, v, s; fma", DIVIDE, QUOTIENT,
     f"the accumulator {GROWS}, but what a step adds is"),
    ("sub.f32 p, x, new; ", f"sub.f32 p, x, new; {LOG_2E}", DIVIDE, QUOTIENT,
     "each of the sum of a row and the accumulator has powers of e, and is rescaled by powers of 2"),
    ("add.f32 l, l, p;", "add.f32 l, l, 0f3F800000;", DIVIDE, QUOTIENT,
     "the sum of a row has 1 in place of each power"),
    ("", "", f"add.f32 l, l, 0f3F800000; {DIVIDE}", QUOTIENT, "1 is added to the sum of a row"),
    ("", "", "mov.f32 o, acc;", QUOTIENT, "the accumulator is not divided by the sum of a row"),
    ("mul.f32 l, l, s;", "", SIZE, LOG, f"the sum of a row {GROWS}"),
    ("", "", "lg2.approx.ftz.f32 o, l;", LOG, "the logarithm of the sum lacks the maximum"),
    ("", "", "lg2.approx.ftz.f32 o, l; sub.f32 o, o, m;", LOG,
     "the maximum is subtracted from the logarithm of the sum"),
    ("", "", "lg2.approx.ftz.f32 o, l; fma.rn.f32 o, o, 0f3F317218, m;", LOG,
     "the logarithm of the sum has base e, its maximum base 2"),
    ("", "", "lg2.approx.ftz.f32 o, l; fma.rn.f32 o, m, 0f3F317218, o;", LOG,
     "the maximum has base e, the logarithm of the sum base 2"),
    ("", "", SIZE, "log(sum_n exp2(A[i,n]))", "the logarithm has base 2 where base e is claimed"),
]  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize(
    ("old", "new", "end", "claim", "words"), RUNNING, ids=[f"{case[-1]} {at}" for at, case in enumerate(RUNNING)]
)
def test_what_a_running_maximum_forgets_is_named(old: str, new: str, end: str, claim: str, words: str) -> None:
    assert old in STEP
    assert name_cause(STEP.replace(old, new) if old else STEP, end, claim) == words
