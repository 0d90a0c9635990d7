# SPDX-License-Identifier: Apache-2.0
"""Every kernel of the corpus on a GPU, with random exact integers: each element is what the interpretation computes.

The variable KERNELS names another folder of compiled kernels, as `compile.py --all FOLDER` writes it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpu_checks
from benchmarks.kernels.silicon import BITS, drawn, job, packed, rounded, unpacked
from gpu_checks import Unavailable
from gpu_checks.compiled import RunCompiled, check_target, run_all
from gpu_checks.kernels.packing import encode
from gpu_checks.model import Unsupported
from tests.kernels import compile as corpus
from verify.kernel.check import check
from verify.kernel.claims.claim_file import read_claim
from verify.kernel.claims.launch import Array
from verify.kernel.ptx.parse import parse_kernel

FOLDER = Path(os.environ.get("KERNELS", corpus.COMPILED))
KERNELS = [path for path in sorted(FOLDER.glob("*.ptx")) if not path.stem.startswith(corpus.EXPONENTIALS)]
QUICK = [corpus.COMPILED / "mma_split.ptx", corpus.COMPILED / "simt_tn.ptx"]


def prepare_job(path: Path) -> tuple[RunCompiled, int, Array, np.ndarray]:
    """The job of a kernel, its output with its number, and what the interpretation says of it."""
    ptx, claim = path.read_text(), read_claim(path.with_suffix(".toml"))
    (launch,) = claim.launches
    samples = drawn(launch, seed=len(path.stem))
    (outcome,) = check(ptx, claim, samples=samples)
    assert outcome.status != "REFUTED", outcome.findings
    if outcome.status == "UNKNOWN":
        pytest.skip(f"{path.stem} has instructions without a meaning: {outcome.findings[0].text}")
    target = launch.array(launch.target.name)
    made = job(parse_kernel(ptx, claim.kernel), ptx, launch, samples)
    return made, launch.arrays.index(target), target, outcome.output[target.name]


@pytest.mark.slow
@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_the_interpretation_of_samples_is_numpys_product(path: Path) -> None:
    """What is compared with a GPU below is right by a third way, and the job has every parameter."""
    made, _, target, output = prepare_job(path)
    (launch,) = read_claim(path.with_suffix(".toml")).launches
    assert len(made.memory) == len(launch.arrays) >= 3 and len(made.parameters) == len(launch.params) >= 5
    samples = drawn(launch, seed=len(path.stem))
    a, b = samples["A"], samples["B"]
    product = a @ (b if launch.array("B").dims == ("k", "n") else b.T)
    if "alpha" in launch.scalars and "alpha" in str(launch.value):
        product = 2 * product + 3 * samples["C"]
    if "bias" in str(launch.value):
        product = np.maximum(product + samples["bias"], 0)
    if "split" in path.stem:
        product = product + samples["C"]
    if "relu" in path.stem:
        product = np.maximum(product, 0)
    if "leaky" in path.stem:
        product = np.where(product > 0, product, 0.25 * product)
    assert (output == product).all()
    assert (unpacked(target, packed(target, np.ones(target.shape))) == 1).all()


def compare_jobs(run: Callable[[list[RunCompiled]], Iterable[Any]], sm: str, gpu: str) -> tuple[list[str], list[str]]:
    """What differs between the interpretation and what `run` makes of the jobs, and the kernels that were not run."""
    jobs, expected, skipped = [], [], []
    for path in KERNELS:
        try:
            check_target(path.read_text(), sm, gpu)
            made, number, target, output = prepare_job(path)
        except (Unsupported, pytest.skip.Exception) as reason:
            skipped.append(f"{path.stem}: {reason}")
            continue
        jobs.append(made)
        expected.append((path.stem, number, target, output))
    wrong = []
    for (name, number, target, output), memory in zip(expected, run(jobs), strict=True):
        if isinstance(memory, Unavailable):
            wrong.append(f"{name}: {memory.reason}")
            continue
        differ = int((unpacked(target, memory[number]) != rounded(target, output)).sum())
        print(f"{name:<24} {differ} of {output.size} elements differ")
        wrong += [f"{name}: {differ} of {output.size} elements differ"] if differ else []
    return wrong, skipped


def as_claimed(jobs: list[RunCompiled]) -> Iterator[list[np.ndarray]]:
    """The memory that a right GPU would leave, by the interpretation; that of the last job with one element changed."""
    for number, (path, made) in enumerate(zip(QUICK, jobs, strict=True)):
        _, place, target, output = prepare_job(path)
        memory = [array.copy() for array in made.memory]
        width = BITS[target.kind] // 8
        memory[place].view(f"u{width}")[target.places] = encode(target.kind, output.astype(np.int64).ravel())
        if number == len(QUICK) - 1:
            memory[place][target.places[7] * width] ^= 1
        yield memory


@pytest.mark.long
def test_one_element_that_differs_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.kernels.test_silicon.KERNELS", QUICK)
    wrong, skipped = compare_jobs(as_claimed, "sm_90a", "a GPU")
    assert skipped == [] and [line.partition(":")[0] for line in wrong] == [QUICK[-1].stem]
    assert "1 of " in wrong[0]


@pytest.mark.gpu
def test_a_gpu_computes_what_the_interpretation_says() -> None:
    here = gpu_checks.device_info()
    wrong, skipped = compare_jobs(run_all, here.sm, here.gpu)
    print("\n".join(skipped))
    assert wrong == []
    assert len(KERNELS) - len(skipped) >= 10
