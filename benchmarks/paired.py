# SPDX-License-Identifier: Apache-2.0
"""Gates: a measurement and its baseline take turns, so that a slow phase of the machine affects both.

A figure is the median of the ratios of at least 15 pairs. Its limit is compared with their lower quartile: other
programs may slow down half of the pairs, what has become slower itself is slower in all. Processes are measured by the
CPU seconds that they and their children take, with one thread for linear algebra: starting the others burns time for
which nobody waits. Where several processes work at once, the clock on the wall counts: that needs as many cores without
other work, for a baseline of one process is slowed down less.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median, quantiles

from benchmarks.absolute import outcome_of
from benchmarks.programs import cpu_seconds, process

PAIRS = 15
BASELINE = "import numpy, z3"


@dataclass(frozen=True, slots=True)
class Figure:
    """The pairs of a measurement and its baseline, and the largest ratio that meets the target."""

    name: str  # of what is measured
    baseline: str  # its name
    pairs: tuple[tuple[float, float], ...]  # (measurement, baseline), of the same unit: seconds where they are printed
    target: float  # the largest ratio

    @property
    def ratios(self) -> list[float]:
        return [mine / theirs for mine, theirs in self.pairs]

    @property
    def ratio(self) -> float:
        return median(self.ratios)

    @property
    def quartile(self) -> float:
        """The lower quartile of the ratios, which the target limits."""
        return quantiles(self.ratios, method="inclusive")[0] if len(self.pairs) > 1 else self.ratio

    @property
    def met(self) -> bool:
        return self.quartile <= self.target

    def __str__(self) -> str:
        mine, theirs = (median(side) * 1e3 for side in zip(*self.pairs, strict=True))
        return (
            f"{self.name:<44} {mine:10.3f} ms   {self.baseline:<40} {theirs:10.3f} ms   "
            f"ratio {self.ratio:6.2f}, lower quartile {self.quartile:6.2f} "
            f"(at most {self.target:g}: {outcome_of(self.met)})"
        )


def wall(body: Callable[[], object]) -> float:
    """The seconds that a function takes by the clock on the wall."""
    started = time.perf_counter()
    body()
    return time.perf_counter() - started


def cpu(body: Callable[[], object]) -> float:
    """The CPU seconds that the processes take which a function starts and waits for."""
    before = cpu_seconds()
    body()
    return cpu_seconds() - before


def paired(
    name: str,
    run: Callable[[], object],
    baseline: str,
    base: Callable[[], object],
    target: float,
    rounds: int = PAIRS,
    clock: Callable[[Callable[[], object]], float] = wall,
) -> Figure:
    """Measure both in turns; the first turn, which fills caches, is discarded."""
    turns = [(clock(run), clock(base)) for _ in range(rounds + 1)]
    return Figure(name, baseline, tuple(turns[1:]), target)


def cold(
    name: str, words: Sequence[str], target: float, code: str = BASELINE, clock: Callable[..., float] = cpu
) -> Figure:
    """The figure of a fresh interpreter with these arguments, against one that runs some code: two imports."""
    return paired(name, process(*words), f"python -c '{code}'", process("-c", code), target, clock=clock)
