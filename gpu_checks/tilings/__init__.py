# SPDX-License-Identifier: Apache-2.0
"""The check on a GPU for tilings: a kernel made from layouts alone multiplies matrices, and numpy checks the result.

A `TilingKernel` is plain data: which thread holds which elements of a CTA's tile, where they are in shared memory,
which thread copies them. `gpu_checks.tilings.kernel`, which is loaded to run one, writes the CUDA C++ text, `run` runs
it on exact integers, `recordings_of_tilings` are the results of earlier runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from gpu_checks.tilings.store import TilingRun, recordings_of_tilings, tilings
from gpu_checks.tilings.strided import Strided
from gpu_checks.tilings.tiling import Feed, Load, Reuse, TiledProduct, TilingError, TilingKernel, check, mutants

if TYPE_CHECKING:
    from gpu_checks.model import Unavailable

__all__ = [
    "Feed",
    "Load",
    "Reuse",
    "Strided",
    "TiledProduct",
    "TilingError",
    "TilingKernel",
    "TilingRun",
    "check",
    "mutants",
    "recordings_of_tilings",
    "run_all",
    "run_tiling",
    "tilings",
]


def run_tiling(tiling: TilingKernel, seed: int = 0) -> TilingRun | Unavailable:
    """Run one tiling and its controls; Unavailable, with the reason, where there is no GPU for it.

    TilingError for a tiling whose layouts do not fit each other.
    """
    return next(run_all([tiling], seed))[1]


def run_all(chosen: Sequence[TilingKernel], seed: int = 0) -> Iterator[tuple[TilingKernel, TilingRun | Unavailable]]:
    """Run tilings in a worker process, which is restarted after a tiling that breaks it."""
    from gpu_checks.tilings.runner import FACTORY, RunTiling
    from gpu_checks.worker import Worker

    with Worker(FACTORY) as worker:
        for index, run in worker.run_jobs([RunTiling(tiling, seed) for tiling in chosen]):
            yield chosen[index], run
