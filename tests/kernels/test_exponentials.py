# SPDX-License-Identifier: Apache-2.0
"""Kernels with exponentials: right ones are verified, wrong twins refuted, and a GPU computes what the claim says.

The variable KERNELS names another folder of compiled kernels, as `compile.py --all FOLDER` writes it.
"""

from __future__ import annotations

import os
import re
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpu_checks
from benchmarks.kernels.silicon import job, unpacked
from gpu_checks import Unavailable
from gpu_checks.compiled import check_target, run_all
from gpu_checks.model import Unsupported
from tests.kernels import compile as corpus
from tests.kernels import planted
from verify.kernel import comparison
from verify.kernel.check import LaunchOutcome, check
from verify.kernel.claims.claim import claim_of
from verify.kernel.claims.claim_file import read_claim
from verify.kernel.claims.expression import functions
from verify.kernel.claims.launch import Launch
from verify.kernel.ptx.parse import parse_kernel

FOLDER = Path(os.environ.get("KERNELS", corpus.COMPILED))
PATHS = [path for path in sorted(FOLDER.glob("*.ptx")) if path.stem.startswith(corpus.EXPONENTIALS)]
TOLERANCES = {"f32": 2e-3, "tf32": 4e-3, "f16": 4e-3, "bf16": 2e-2}  # of sums of powers, which are narrowed too


def outcome(name: str, edit: Callable[[str], str] = str, **keys: Any) -> LaunchOutcome:
    """What the check of a kept kernel says, its PTX edited, its claim with other keys."""
    path = corpus.COMPILED / f"{name}.ptx"
    text, table = edit(path.read_text()), tomllib.loads(path.with_suffix(".toml").read_text())
    (judged,) = check(text, claim_of({**table, **keys}), seed=11)
    return judged


@pytest.mark.long
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_right_kernel_is_verified(path: Path) -> None:
    (judged,) = check(path.read_text(), read_claim(path.with_suffix(".toml")), seed=7)
    assert judged.status == "VERIFIED", judged.findings
    assert 0 < judged.bound < 1e-12 and judged.premise


@pytest.mark.long
def test_the_claim_on_the_page_is_that_of_a_kept_kernel() -> None:
    page = (Path(__file__).parents[2] / "docs" / "attention.md").read_text()
    claim = claim_of(tomllib.loads(page.partition("```toml\n")[2].partition("```")[0]))
    (judged,) = check((corpus.COMPILED / "attention.ptx").read_text(), claim, seed=11)
    assert judged.status == "VERIFIED", judged.findings


ROWS = "sum_n softmax_n(SCORE) * V[h,n,d]"
SCORE = "scale * sum_k Q[h,m,k]*K[h,n,k]"


@pytest.mark.long
@pytest.mark.parametrize(
    "claim",
    [
        ROWS.replace("SCORE", "sum_k Q[h,m,k]*K[h,n,k]"),
        ROWS.replace("SCORE", f"where(m >= n, {SCORE}, -inf)"),
        ROWS.replace("SCORE", f"where(m != n, {SCORE}, -inf)"),
        f"sum_n exp2({SCORE}) * V[h,n,d] / sum_n exp2({SCORE})",
        f"sum_n exp({SCORE}) * V[h,n,d]",
        ROWS.replace("SCORE", "scale * sum_k K[h,m,k]*K[h,n,k]"),
        f"sum_n where(n > 0, exp({SCORE}), 0) * V[h,n,d] / sum_n exp({SCORE})",
    ],
)
def test_a_wrong_claim_is_refuted(claim: str) -> None:
    judged = outcome("attention", claim=f"O[h,m,d] = {claim.replace('SCORE', SCORE)}")
    assert judged.status == "REFUTED", judged.findings


@pytest.mark.long
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "claim",
    [
        ROWS.replace("SCORE", f"where(m > n, {SCORE}, -inf)"),  # a row that is wholly masked
        f"sum_n exp(1000*({SCORE})) * V[h,n,d] / sum_n exp(1000*({SCORE}))",  # inf / inf
        f"sum_n V[h,n,d] / ({SCORE} - ({SCORE}))",
        f"sum_n log({SCORE}) * V[h,n,d]",
    ],
)
def test_a_claim_whose_sample_is_no_number_makes_no_warning(claim: str) -> None:
    assert outcome("attention", claim=f"O[h,m,d] = {claim}").status != "VERIFIED"


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "claim", "status"),
    [
        ("attention_causal", "", "VERIFIED"),
        ("attention_causal", f"O[h,m,d] = {ROWS.replace('SCORE', f'where(m > n, {SCORE}, -inf)')}", "REFUTED"),
        ("attention_lse", "", "VERIFIED"),
        ("attention_lse", f"L[h,m] = log2(sum_n exp(where(m > n, {SCORE.replace('K[h', 'K[h//G')}, -inf)))", "REFUTED"),
    ],
)
def test_a_claim_that_is_computed_in_parts_says_the_same(
    name: str, claim: str, status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparison, "PART", 10)
    keys = {"claim": claim} if claim else {}
    assert outcome(name, **keys).status == status


GROUPED = SCORE.replace("K[h,", "K[h//G,")


@pytest.mark.long
@pytest.mark.parametrize(
    "claim",
    [
        f"log2(sum_n exp({GROUPED}))",
        f"log2(sum_n exp(where(m > n + 0, {GROUPED}, -inf)) + 1)",
        f"log(sum_n exp(where(m >= n, {GROUPED}, -inf)))",
        f"0 - log2(sum_n exp(where(m >= n, {GROUPED}, -inf)))",
        f"log2(sum_n exp(where(m >= n, {GROUPED}, -inf))) + 1",
        f"log2(sum_n exp2(where(m >= n, {GROUPED}, -inf)))",
    ],
)  # fmt: skip
def test_a_wrong_logarithm_of_a_sum_is_refuted(claim: str) -> None:
    judged = outcome("attention_lse", claim=f"L[h,m] = {claim}")
    assert judged.status == "REFUTED", judged.findings


@pytest.mark.long
def test_a_bound_on_logarithms_is_not_proved() -> None:
    assert not outcome("attention_lse").proved and outcome("attention").proved


@pytest.mark.long
@pytest.mark.parametrize(
    "claim",
    [
        f"sum_n exp({SCORE}) * V[h,n,d] / sum_n exp({SCORE})",
        f"sum_n exp2(1.4426950408889634 * ({SCORE})) * V[h,n,d] / sum_n exp({SCORE})",
        f"sum_n exp({SCORE} + 3) * V[h,n,d] / sum_n exp(3 + {SCORE})",
        f"(sum_n V[h,n,d] * exp({SCORE})) / exp(logsumexp_n({SCORE}))",
        f"sum_n exp({SCORE} - logsumexp_n({SCORE})) * V[h,n,d]",
        "sum_n softmax_n(sum_k Q[h,m,k]*K[h,n,k] / sqrt(64)) * V[h,n,d]",
    ],
)
def test_the_ways_to_write_a_softmax_meet(claim: str) -> None:
    judged = outcome("attention", claim=f"O[h,m,d] = {claim}")
    assert judged.status == "VERIFIED", judged.findings


def replace_everywhere(old: str, new: str) -> Callable[[str], str]:
    """Return an edit that puts one text in place of another everywhere."""
    return lambda text: re.sub(old, new, text)


TURNED = replace_everywhere(r"sub\.f32 (\s*)(%\w+), (%\w+), (%\w+);", r"sub.f32 \1\2, \4, \3;")
EDITS: list[tuple[str, str, Callable[[str], str], str]] = [
    ("the mask of the diagonal is strict", "attention_causal", replace_everywhere("setp.ge.s64", "setp.gt.s64"), ""),
    ("the scale lacks log2(e)", "attention", replace_everywhere("0f3FB8AA3B", "0f3F800000"), ""),
    ("ex2 gets the opposite", "softmax", TURNED, "of -inf it is inf"),
    ("a quotient is a product", "softmax", replace_everywhere("div.full.f32", "mul.f32"), ""),
    ("a sum is a maximum", "softmax", replace_everywhere("add.f32", "max.f32"), ""),
]


@pytest.mark.long
@pytest.mark.parametrize(("name", "edit", "but"), [row[1:] for row in EDITS], ids=[row[0] for row in EDITS])
def test_a_wrong_twin_is_not_verified(name: str, edit: Callable[[str], str], but: str) -> None:
    text = (corpus.COMPILED / f"{name}.ptx").read_text()
    assert edit(text) != text
    judged = outcome(name, edit)
    assert judged.status == "REFUTED" or (but and judged.status == "UNKNOWN"), judged.findings


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(planted.BUGS))
def test_a_planted_bug_is_refuted(name: str, tmp_path: Path) -> None:
    """Each class of `planted.toml` is an edit of a source, compiled as a row of the corpus."""
    bug = planted.BUGS[name]
    row = next(row for row in corpus.rows() if row.name == bug["kernel"])
    if reason := corpus.explain_missing([row]):
        pytest.skip(reason)
    text = (corpus.SOURCES / row.source).read_text()
    assert text.count(bug["old"]) == 1
    shutil.copy(corpus.SOURCES / "ptx.cuh", tmp_path)
    (tmp_path / row.source).write_text(text.replace(bug["old"], bug["new"]))
    ((ptx, claim),) = corpus.compile_rows([row], tmp_path)
    (judged,) = check(ptx, claim_of(tomllib.loads(claim)), seed=5)
    assert planted.say_finding(judged) == (planted.verdict(bug), bug["says"]), judged.findings


@pytest.mark.slow
def test_the_maximum_of_a_row_may_be_an_output(tmp_path: Path) -> None:
    row = next(row for row in corpus.rows() if row.name == "attention_lse")
    if reason := corpus.explain_missing([row]):
        pytest.skip(reason)
    text, stored = (corpus.SOURCES / row.source).read_text(), "most + tl.log2(total), mask"
    (tmp_path / row.source).write_text(text.replace(stored, "most, mask"))
    ((ptx, table),) = corpus.compile_rows([row], tmp_path)
    for mask, status in ((f"where(m >= n, {GROUPED}, -inf)", "VERIFIED"), (GROUPED, "REFUTED")):
        claim = f"L[h,m] = max_n(1.4426950408889634 * {mask})"
        (judged,) = check(ptx, claim_of({**tomllib.loads(table), "claim": claim}), seed=3)
        assert judged.status == status, judged.findings
        assert status == "REFUTED" or judged.bound < 1e-12


def compute_expected(launch: Launch, samples: dict[str, np.ndarray], name: str) -> np.ndarray:
    """Return what a kernel of the corpus computes, by numpy in f64."""
    if name.startswith(("softmax", "norm")):
        return expected_rows(launch, samples, name)
    if "backward" in name or "query" in name:
        return expected_gradient(launch, samples, name)
    if "combine" in name:
        weights = np.exp2(samples["L"])[:, :, None]
        return np.asarray((weights * samples["P"]).sum(0) / weights.sum(0))
    if "more" in name or "S" in launch.sizes:
        return (expected_more if "more" in name else expected_parts)(launch, samples, name)
    group = launch.sizes.get("G", 1)
    key, value = (np.repeat(samples[array], group, 0) for array in "KV")
    score = float(launch.scalars["scale"]) * np.einsum("hmk,hnk->hmn", samples["Q"], key)
    if "where" in functions(launch.value):
        score = np.where(np.tril(np.ones(score.shape[1:], bool)), score, -np.inf)
    powers = np.exp(score)
    if launch.target.name == "L":
        return np.asarray(np.log2(powers.sum(2)))
    return np.asarray(np.einsum("hmn,hnd->hmd", powers / powers.sum(2, keepdims=True), value))


def expected_rows(launch: Launch, samples: dict[str, np.ndarray], name: str) -> np.ndarray:
    """Return the cross entropy, the softmax or its logarithm of rows, or rows over their size."""
    if name.startswith("norm"):
        rows = samples["X"] - ("layer" in name) * samples["X"].mean(1, keepdims=True)
        made = rows / np.sqrt((rows**2).mean(1, keepdims=True) + float(launch.scalars["eps"])) * samples["W"]
        return np.asarray(made + ("layer" in name) * samples["B"])
    if "loss" in name:
        rows, given = samples["X"], samples["T"]
        taken = (given * rows).sum(1) if given.ndim == 2 else rows[np.arange(len(rows)), given.astype(int)]
        return np.asarray(np.log(np.exp(rows).sum(1)) - taken)
    powers = np.exp(samples["X"] - samples["X"].max(1, keepdims=True))
    made = powers / powers.sum(1, keepdims=True)
    return np.asarray(np.log(made) if "log" in name else made)


def expected_gradient(launch: Launch, samples: dict[str, np.ndarray], name: str) -> np.ndarray:
    """Return the gradient by V, K or Q, of a log-sum-exp and delta that are given."""
    scale = float(launch.scalars["scale"])
    powers = np.exp2(np.log2(np.e) * scale * samples["Q"] @ samples["K"].T - samples["L"][:, None])
    if launch.target.name == "B":
        return np.asarray(powers.T @ samples["G"])
    if name.endswith(("_k", "_c")):
        powers = np.where(np.tril(np.ones(powers.shape, bool)), powers, 0)
    inner = powers * (samples["G"] @ samples["V"].T - samples["E"][:, None])
    return np.asarray(scale * (inner @ samples["K"] if "query" in name else inner.T @ samples["Q"]))


def expected_parts(launch: Launch, samples: dict[str, np.ndarray], name: str) -> np.ndarray:
    """Return attention over each part of the keys, or its base-2 log-sum-exps: with a window, or with ALiBi."""
    score = float(launch.scalars["scale"]) * np.einsum("hmk,hnk->hmn", samples["Q"], samples["K"])
    m, n = np.indices(score.shape[1:])
    if "alibi" in name:
        score = score + samples["T"][:, None, None] * (n - m)
    made, part, window = [], launch.sizes["P"], launch.sizes["W"]
    for number in range(launch.sizes["S"]):
        there = np.ones(m.shape, bool) if not part else n // part == number
        there &= (m >= n) & (m - n < window) if window else True
        powers = np.exp(np.where(there, score, -np.inf))
        total = powers.sum(2, keepdims=True)
        out = np.einsum("hmn,hnd->hmd", powers / total, samples["V"])
        made.append(np.log2(total[..., 0]) if launch.target.name == "L" else out)
    return np.stack(made)


def expected_more(launch: Launch, samples: dict[str, np.ndarray], name: str) -> np.ndarray:
    """Return attention with fewer queries than keys, a sink, a cap, a bias or weights."""
    scale, cap = (float(launch.scalars[key]) for key in ("scale", "cap"))
    score = scale * np.einsum("hmk,hnk->hmn", samples["Q"], samples["K"])
    m, n = np.indices(score.shape[1:])
    score = cap * np.tanh(score / cap) if "cap" in name else score
    score = score + samples["B"][:, None, :] if "bias" in name else score
    if "first" in name or "last" in name:
        offset = launch.sizes["N"] - launch.sizes["M"] if "last" in name else 0
        score = np.where(m + offset >= n, score, -np.inf)
    powers = np.exp(score)
    total = powers.sum(2) + (np.exp(samples["S"])[:, None] if "sink" in name else 0)
    powers = powers * samples["W"] if "keep" in name else powers
    return np.asarray(np.einsum("hmn,hnd->hmd", powers / total[:, :, None], samples["V"]))


def draw_samples(launch: Launch, seed: int, real: bool = False) -> dict[str, np.ndarray]:
    """Return small random integers for each array, or reals of 8 bits; a log-sum-exp is above what it is one of."""
    source, made = np.random.default_rng(seed), dict[str, np.ndarray]()
    for array in launch.arrays:
        if array.limits is not None:
            low, high = map(int, array.limits)
            made[array.name] = source.integers(low, high + 1, array.shape).astype(float)
            continue
        parts, exponents = np.frexp(source.normal(size=array.shape))
        reals = np.ldexp(np.rint(parts * 256) / 256, exponents)  # as bf16 has them, and every wider type
        made[array.name] = reals if real else source.integers(-2, 3, array.shape).astype(float)
    return {**made, "L": made["L"] + 8} if "L" in made and not launch.array("L").out else made


@pytest.mark.long
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_the_claim_on_a_sample_is_what_numpy_computes(path: Path) -> None:
    claim = read_claim(path.with_suffix(".toml"))
    (launch,) = claim.launches
    samples = draw_samples(launch, 3)
    (judged,) = check(path.read_text(), claim, seed=7, samples=samples)
    wanted = compute_expected(launch, samples, path.stem)
    assert np.allclose(judged.expected[launch.target.name], wanted, 1e-6, 1e-6)
    assert np.allclose(judged.output[launch.target.name], wanted, 1e-6, 1e-6)


@pytest.mark.gpu
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_gpu_computes_what_numpy_does(path: Path) -> None:
    here, text, claim = gpu_checks.device_info(), path.read_text(), read_claim(path.with_suffix(".toml"))
    try:
        check_target(text, here.sm, here.gpu)
    except Unsupported as reason:
        pytest.skip(str(reason))
    (launch,) = claim.launches
    samples = draw_samples(launch, len(path.stem), real=True)
    (memory,) = run_all([job(parse_kernel(text, claim.kernel), text, launch, samples)])
    assert not isinstance(memory, Unavailable), memory.reason
    target = launch.array(launch.target.name)
    made, wanted = unpacked(target, memory[launch.arrays.index(target)]), compute_expected(launch, samples, path.stem)
    gap = np.abs(made - wanted) / (1 + np.abs(wanted))
    print(f"{path.stem}: the largest difference is {gap.max():.1e}")
    assert gap.max() < max(TOLERANCES.get(array.kind, 0.0) for array in launch.arrays)
