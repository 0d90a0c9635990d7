# SPDX-License-Identifier: Apache-2.0
"""Values of which each rounding to a narrower format is a function of its own, of which nothing else is known.

Two of them are equal if they were made of equal values and rounded at the same places: then their bits are equal too,
as those of warps that compute the same are. What such a run computes is compared with no claim.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isa_tables.formula import Tree
from verify.kernel.data.values import Ids, Values


class RoundingValues(Values):
    """The values of a run that tells apart what was rounded in different ways."""

    rounding = True

    def __init__(self, seed: int, primes: int = 3, exponents: bool = False) -> None:
        super().__init__(seed, primes)
        self.levels = exponents  # no law of powers and logarithms: what is equal by one may be rounded differently

    def field(self, tree: Tree, roles: Sequence[str], operands: Sequence[Ids], kind: str, narrows: str = "") -> Ids:
        """Return the ids of a formula's results, rounded if its arithmetic has a narrower format."""
        made = super().field(tree, roles, operands, kind, narrows)
        return self._round(made, narrows) if narrows else made

    def copy(self, ids: Ids, kind: str, narrows: bool) -> Ids:
        """Return values as values of another type, rounded if that is narrower."""
        made = super().copy(ids, kind, narrows)
        return self._round(made, kind) if narrows else made

    def product(self, a: Ids, b: Ids, c: Ids, kind: str, narrows: str = "", clamps: bool = False) -> Ids:
        """Return the ids of a * b + c, rounded if its sums have a narrower format."""
        made = super().product(a, b, c, kind, narrows, clamps)
        return self._round(made, narrows) if narrows else made

    def _round(self, ids: Ids, kind: str) -> Ids:
        """Round new values to a format."""
        self.flush()
        places = ids.ravel()
        self.residues[:, places] = self.choices.round_to(kind, self.residues[:, places].astype(np.uint64))
        return ids
