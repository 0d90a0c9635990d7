# SPDX-License-Identifier: Apache-2.0
"""An implementation checked for the errors R1 to R9: it has one when the published claim is false for it too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from proofs.definitions import flat
from proofs.laws.published import Flat, InputRejected, Published
from proofs.symbolic.execution import Target, pair

NEEDS = {
    "R1": "composition", "R2": "composition", "R3": "composition", "R4": "composition", "R5": "composition",
    "R6": "complement", "R7": "complement", "R8": "left_inverse", "R9": "compatible",
}  # fmt: skip

DOCUMENTED = ("R7",)
"""Claims that are false for a right implementation too: errors of a document only."""


class Claimed(Published):
    """The operations of an implementation in the form of the claims."""

    def __init__(self, target: Target) -> None:
        self.target = target

    def by_mode(self, a: Flat, b: Flat) -> list[Flat]:
        """Return the modes of A o B, for B of rank 2 or more, when each mode alone is admissible (Shah 2024)."""
        super().by_mode(a, b)  # raises Rejected where a mode alone is not admissible
        returned = self._call(lambda on: on.composition(self._layout(a), self._layout(b)))
        return [_flat((s, d)) for s, d in zip(*pair(returned), strict=True)]

    def fold(self, a: Flat, n: int, r: int, guard: str) -> Flat:
        """Return A o (n:r), when the published guard accepts it."""
        super().fold(a, n, r, guard)  # raises Rejected where the guard does
        return self._flat(lambda on: on.composition(self._layout(a), self.target.make(n, r)))

    def complement(self, a: Flat, target: int) -> Flat:
        """Return the complement of A in [0, target)."""
        return self._flat(lambda on: on.complement(self._layout(a), target))

    def left_inverse(self, a: Flat) -> Flat:
        """Return the left inverse of A."""
        return self._flat(lambda on: on.left_inverse(self._layout(a)))

    def compatible(self, a: object, b: object) -> bool:
        """Whether a shape is compatible with another."""
        return bool(self._call(lambda on: on.compatible(a, b)))

    def _layout(self, a: Flat) -> Any:
        return self.target.make(*((side[0] if len(side) == 1 else side) for side in a))

    def _flat(self, call: Callable[[Any], Any]) -> Flat:
        return _flat(pair(self._call(call)))

    def _call(self, call: Callable[[Any], Any]) -> Any:
        try:
            return call(self.target.functions)
        except self.target.refused as error:
            raise InputRejected from error


def _flat(layout: tuple[Any, Any]) -> Flat:
    modes = flat(layout)
    return tuple(s for s, _ in modes), tuple(d for _, d in modes)
