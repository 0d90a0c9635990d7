# SPDX-License-Identifier: Apache-2.0
"""Paired timing: measurement and baseline take turns, so that a slow phase of the machine affects both."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Figure:
    """The medians of a measurement and of its baseline, in seconds or MiB, and the largest ratio allowed."""

    name: str  # of what is measured
    baseline: str  # the name of the baseline
    seconds: float  # of the measurement; MiB where that is the unit
    against: float  # of the baseline
    target: float  # the largest ratio that meets the target
    unit: Literal["ms", "MiB"] = "ms"  # as printed

    @property
    def ratio(self) -> float:
        return self.seconds / self.against

    @property
    def met(self) -> bool:
        return self.ratio <= self.target

    def __str__(self) -> str:
        mine, theirs = (amount * (1e3 if self.unit == "ms" else 1) for amount in (self.seconds, self.against))
        return (
            f"{self.name:<44} {mine:10.3f} {self.unit:<4} {self.baseline:<40} {theirs:10.3f} {self.unit:<4} "
            f"ratio {self.ratio:6.2f} (at most {self.target:g}: {'met' if self.met else 'MISSED'})"
        )


def paired(
    name: str, run: Callable[[], object], baseline: str, base: Callable[[], object], target: float, rounds: int = 9
) -> Figure:
    """Run both in turns and compare their medians; the first round of each is discarded."""
    times: tuple[list[float], list[float]] = ([], [])
    for turn in range(rounds + 1):
        for side, body in enumerate((run, base)):
            started = time.perf_counter()
            body()
            if turn:
                times[side].append(time.perf_counter() - started)
    return Figure(name, baseline, statistics.median(times[0]), statistics.median(times[1]), target)
