# SPDX-License-Identifier: Apache-2.0
"""One operand of one atom, as a problem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from layouts import Layout
from proofs.errors import ProblemError
from proofs.layout.modes import domain, modes, size, top_modes
from proofs.smt.script import Modes

Locate: TypeAlias = Callable[[Any, Any], tuple[Any, Any]]
"""(lane, value) -> (x, y) on ints and on terms alike; ``Any`` because operators, not a type, are the contract."""


@dataclass(frozen=True, slots=True)
class Fragment:
    """The layout of an operand beside the formula it has to equal.

    layout  (logical thread, value) -> x + extent[0] * y
    extent  (M, K) for A, (N, K) for B, (M, N) for C and D
    thr     logical thread -> lane
    rep     replica -> lane offset; 1:0 when ``thr`` covers the lanes
    locate  the book's formula in the codomain's order, (lane, value) -> (x, y); None where there is no formula
    copies  how often each element is held over all (logical thread, value)

    Raises ProblemError when the layout does not have two modes, or extents or copies are not positive.
    """

    layout: Layout
    extent: tuple[int, int]
    thr: Layout
    rep: Layout
    locate: Locate | None
    copies: int

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
        """How many elements the tile has."""
        return self.extent[0] * self.extent[1]

    @property
    def onto(self) -> str:
        """The layout and its tile, for a title."""
        return f"{self.layout} onto {self.extent[0]}x{self.extent[1]}"

    def lanes(self) -> tuple[Modes, Modes]:
        """The modes of ``thr`` and ``rep``.

        Raises ProblemError when ``thr`` numbers other threads than the layout does, or lanes below 0.
        """
        if size(modes(self.thr)) != size(self.thread):
            raise ProblemError(
                f"thr {self.thr} numbers {size(modes(self.thr))} threads, {self.layout} has {size(self.thread)}"
            )
        lanes = modes(self.thr), modes(self.rep)
        if any(stride < 0 for flat in lanes for _, stride in flat):
            raise ProblemError(f"thr {self.thr} with rep {self.rep} names lanes below 0")
        return lanes
