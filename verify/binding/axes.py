# SPDX-License-Identifier: Apache-2.0
"""What an operand's coordinates are called, and what a formula for it offers: all that maps need of the ISA tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

AXES: Mapping[str, tuple[str, ...]] = {
    "A": ("m", "k"),
    "B": ("n", "k"),
    **dict.fromkeys(("C", ""), ("m", "n")),  # without a name: a layout that isn't an operand
    **{"E": ("m", "k"), "SFA": ("m", "k"), "SFB": ("n", "k")},
    **dict.fromkeys(("Src", "Dst", "Ref"), ("bit",)),
}


class OperandFormula(Protocol):
    """A map (lane, value) -> (x, y) that an operand's layout must equal, as x + X*y."""

    def locate(self, lane: Any, value: Any) -> tuple[Any, Any]:
        """(x, y) of element `value` of `lane`, on ints, arrays and terms alike."""

    @property
    def values(self) -> int:
        """Values per lane, as the atom counts them."""

    @property
    def copies(self) -> int:
        """The number of owners of each element, over all lanes."""

    @property
    def whole(self) -> bool:
        """Return whether every lane has the whole tile: value v is its element v."""

    @property
    def citation(self) -> str:
        """The section of the PTX ISA, with the provenance."""

    @property
    def provenance(self) -> str:
        """The origin of the formula: ISA text, corrected, derived or observed."""

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for equal formulas."""

    def text(self) -> str:
        """Return the formula as the ISA tables write it."""
