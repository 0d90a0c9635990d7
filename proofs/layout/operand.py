# SPDX-License-Identifier: Apache-2.0
"""One operand of an atom: its layout, and the formula of the ISA that the layout has to equal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from layouts import Layout
from proofs.errors import ProblemError
from proofs.layout.modes import domain, modes, size, top_modes
from proofs.smt.script import Modes

Locate: TypeAlias = Callable[[Any, Any], tuple[Any, Any]]
"""(lane, value) -> (x, y), for ints and for Terms; ``Any``, because the function needs operators, not a type."""


@dataclass(frozen=True, slots=True)
class OperandLayout:
    """The layout of an operand and what it has to satisfy.

    Raises ProblemError when the layout does not have two modes, or an extent or ``copies`` is not positive.
    """

    layout: Layout  # (logical thread, value) -> x + extent[0] * y
    extent: tuple[int, int]  # (M, K) for A, (N, K) for B, (M, N) for C and D
    thr: Layout  # logical thread -> lane
    rep: Layout  # replica -> lane offset; 1:0 when ``thr`` covers the lanes
    locate: Locate | None  # the formula of the ISA tables, (lane, value) -> (x, y); None when there is none
    copies: int  # how many owners (logical thread, value) each element has

    def __post_init__(self) -> None:
        domain(self.layout)
        if min(*self.extent, self.copies) < 1:
            raise ProblemError(f"extents {self.extent} and copies {self.copies} must be positive")

    @property
    def thread(self) -> Modes:
        """The modes of the logical thread."""
        return top_modes(self.layout)[0]

    @property
    def value(self) -> Modes:
        """The modes of the value index."""
        return top_modes(self.layout)[1]

    @property
    def elements(self) -> int:
        """The number of elements of the tile."""
        return self.extent[0] * self.extent[1]

    @property
    def onto(self) -> str:
        """The layout and the extents of its tile, in words."""
        return f"{self.layout} onto {self.extent[0]}x{self.extent[1]}"

    def lanes(self) -> tuple[Modes, Modes]:
        """Return the modes of ``thr`` and of ``rep``.

        Raises ProblemError when ``thr`` has another number of threads than the layout, or a lane is negative.
        """
        if size(modes(self.thr)) != size(self.thread):
            raise ProblemError(
                f"thr {self.thr} numbers {size(modes(self.thr))} threads, {self.layout} has {size(self.thread)}"
            )
        lanes = modes(self.thr), modes(self.rep)
        if any(stride < 0 for flat in lanes for _, stride in flat):
            raise ProblemError(f"thr {self.thr} with rep {self.rep} names lanes below 0")
        return lanes
