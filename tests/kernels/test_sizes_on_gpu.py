# SPDX-License-Identifier: Apache-2.0
"""Kernels that are proved for all sizes, on a GPU at random sizes: with random exact integers each element is right."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest

import gpu_checks
from benchmarks.kernels.lifted import EVERY_PROVED, draw_sizes
from benchmarks.kernels.silicon import drawn, job, rounded, unpacked
from benchmarks.kernels.sizes import COMPILED, claim_as_proved
from gpu_checks import Unavailable
from gpu_checks.compiled import RunCompiled, run_all
from verify.kernel.claims.launch import Array
from verify.kernel.ptx.parse import parse_kernel
from verify.kernel.sizes.statement import state

MANY, SEED = 50, 20261128
STEP = 32  # elements of k by which the number of trips is drawn
Arrays = Mapping[str, np.ndarray]
# what claims do with the sum; all others claim the sum itself
CLAIMED: Mapping[str, Callable[[np.ndarray, Arrays], np.ndarray]] = {
    "mma_relu": lambda product, arrays: np.maximum(product + arrays["bias"], 0),
    "simt_tn": lambda product, arrays: 2 * product + 3 * arrays["C"],
    "wmma_f16": lambda product, arrays: 2 * product + 3 * arrays["C"],
}
Job = tuple[str, RunCompiled, int, Array, np.ndarray]


def jobs_of(name: str, many: int) -> Iterator[Job]:
    """Yield launches of a kernel at random sizes, each with its output's number and what numpy computes."""
    path: Path = COMPILED / f"{name}.ptx"
    ptx, table = path.read_text(encoding="utf-8"), tomllib.loads(path.with_suffix(".toml").read_text(encoding="utf-8"))
    statement, draw = state(claim_as_proved(ptx, table)), random.Random(f"{SEED} {name}")
    statement.step = STEP
    for number in range(many):
        sizes = draw_sizes(statement, draw)
        (launch,) = statement.launch(sizes).launches
        samples = drawn(launch, SEED + number)
        b = samples["B"] if launch.array("B").dims == ("k", "n") else samples["B"].T
        target = launch.array(launch.target.name)
        made = job(parse_kernel(ptx, table["kernel"]), ptx, launch, samples)
        claimed = CLAIMED.get(name, lambda product, arrays: product)(samples["A"] @ b, samples)
        yield f"{name} at {sizes}", made, launch.arrays.index(target), target, claimed


@pytest.mark.long
def test_each_job_has_the_arrays_of_its_sizes() -> None:
    for name in EVERY_PROVED:
        for words, made, number, target, product in jobs_of(name, 2):
            assert name in words and product.shape == target.shape
            assert 3 <= len(made.memory) <= 4 and made.memory[number].size >= 2 * target.places.max()


@pytest.mark.gpu
@pytest.mark.parametrize("name", EVERY_PROVED)
def test_a_gpu_computes_what_is_proved(name: str) -> None:
    assert not isinstance(gpu_checks.device_info(), Unavailable)
    every = list(jobs_of(name, MANY))
    wrong = []
    for (words, _, number, target, product), memory in zip(every, run_all([case[1] for case in every]), strict=True):
        if isinstance(memory, Unavailable):
            wrong.append(f"{words}: {memory.reason}")
        elif differ := int((unpacked(target, memory[number]) != rounded(target, product)).sum()):
            wrong.append(f"{words}: {differ} of {product.size} elements differ")
    print(f"{name}: {len(every)} sizes, {len(wrong)} differ")
    assert wrong == []
