# SPDX-License-Identifier: Apache-2.0
"""Figures that are no ratio: the memory of a command, the time of a probe on the one GPU that has a target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Literal

from benchmarks.programs import observed

SAMPLES = 3
REDUCED: dict[str, Callable[[tuple[float, ...]], float]] = {"worst": max, "median": median}


class Unmeasured(Exception):
    """What a suite needs and this machine has not; the text has how to get it. It is no target that is met."""


@dataclass(frozen=True, slots=True)
class Absolute:
    """Samples of one quantity; their worst, or their median, and the most that it may be."""

    name: str  # of what is measured, and how
    samples: tuple[float, ...]
    unit: Literal["MiB", "s"]
    target: float | None  # the largest value; None where this machine has no target
    of: Literal["worst", "median"] = "worst"  # what the target limits

    @property
    def value(self) -> float:
        """The worst or the median of the samples, which the target limits."""
        return REDUCED[self.of](self.samples)

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None without a target."""
        return None if self.target is None else self.value <= self.target

    def __str__(self) -> str:
        least, most = min(self.samples), max(self.samples)
        outcome = "no target here" if self.met is None else f"at most {self.target:g}: {outcome_of(self.met)}"
        return (
            f"{self.name:<44} {self.value:10.1f} {self.unit:<4} {self.of} of {len(self.samples)}, "
            f"{least:.1f} to {most:.1f} ({outcome})"
        )


def outcome_of(met: bool) -> str:
    """The word for a target that is met, or not."""
    return "met" if met else "MISSED"


def memory(name: str, *words: str, target: float) -> Absolute:
    """The most memory that a command takes with its processes, in several runs; their worst has the target."""
    samples = tuple(observed(*words).memory for _ in range(SAMPLES))
    return Absolute(f"{name}: memory, PSS of all processes", samples, "MiB", target)
