# SPDX-License-Identifier: Apache-2.0
"""Gates: a measurement and its baseline take turns, so that a slow phase of the machine affects both.

A figure is the median of the ratios of at least 15 pairs. Its limit is held against their lower quartile: what other
programs do to one pair in two misses no gate, what is slower in three pairs of four does. Processes are measured by the
CPU seconds that they and their children take, with one thread for linear algebra: starting the others burns time for
which nobody waits. What runs several processes at once is measured by the clock on the wall.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Literal

PAIRS = 15
IMPORTS = "import numpy, z3"
Measured = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Figure:
    """The pairs of a measurement and its baseline, and the largest ratio that meets the target."""

    name: str  # of what is measured
    baseline: str  # its name
    pairs: tuple[tuple[float, float], ...]  # (measurement, baseline) in seconds, or in MiB
    target: float  # the largest ratio
    unit: Literal["ms", "MiB"] = "ms"  # as printed

    @property
    def ratios(self) -> list[float]:
        return [mine / theirs for mine, theirs in self.pairs]

    @property
    def ratio(self) -> float:
        return median(self.ratios)

    @property
    def quartile(self) -> float:
        """The lower quartile of the ratios: the gate."""
        return quantiles(self.ratios, method="inclusive")[0] if len(self.pairs) > 1 else self.ratio

    @property
    def met(self) -> bool:
        return self.quartile <= self.target

    def __str__(self) -> str:
        mine, theirs = (median(side) * (1e3 if self.unit == "ms" else 1) for side in zip(*self.pairs, strict=True))
        return (
            f"{self.name:<44} {mine:10.3f} {self.unit:<4} {self.baseline:<40} {theirs:10.3f} {self.unit:<4} ratio "
            f"{self.ratio:6.2f}, quartile {self.quartile:6.2f} (at most {self.target:g}: {'met' if self.met else 'MISSED'})"
        )


def paired(name: str, run: Measured, baseline: str, base: Measured, target: float, pairs: int = PAIRS) -> Figure:
    """Measure both in turns; the first turn, which fills caches, is discarded."""
    turns = [(run(), base()) for _ in range(pairs + 1)]
    return Figure(name, baseline, tuple(turns[1:]), target)


def against_imports(name: str, run: Measured, target: float, pairs: int = PAIRS) -> Figure:
    """The figure against a fresh Python that imports what every check once needed."""
    return paired(name, run, f"python -c '{IMPORTS}'", process("-c", IMPORTS), target, pairs)


def wall(body: Callable[[], object]) -> Measured:
    """The seconds that a function takes."""

    def measured() -> float:
        started = time.perf_counter()
        body()
        return time.perf_counter() - started

    return measured


def process(*words: str) -> Measured:
    """The CPU seconds of a fresh interpreter with these arguments and of its children; raises where it fails."""

    def measured() -> float:
        before = os.times()
        fresh(*words)
        after = os.times()
        return after.children_user + after.children_system - before.children_user - before.children_system

    return measured


def fresh(*words: str) -> subprocess.CompletedProcess[str]:
    """A fresh interpreter with these arguments, which may write its bytecode; raises where it fails."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return subprocess.run([sys.executable, *words], check=True, capture_output=True, text=True, env=environment)
