# SPDX-License-Identifier: Apache-2.0
"""The relation of a matrix product, as either probe observed it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpu_checks.arrays import np
from gpu_checks.model import CONTRACTED, Coordinates, Image, Labels, Metadata


@dataclass(frozen=True, slots=True)
class Relation:
    """The classes of every slot, and what they were taken from."""

    operands: Mapping[str, Labels]  # A (its k under the first pattern), B or its plainest image, D
    pairs: int  # of a slot of A and a slot of B
    hash: str  # SHA-256 of the observed table
    notes: tuple[str, ...]  # what does not fit a matrix product
    metadata: Metadata | None = None  # of a sparse instruction
    images: tuple[Image, ...] = ()  # the other modes of matrices in shared memory
    coordinates: tuple[Coordinates, ...] | None = None  # None where they come from other instructions

    def ways(self) -> Labels:
        """[pattern][A slot] -> k, the one row of a dense instruction if there are no patterns."""
        kept = [self.operands["A"][..., CONTRACTED]] if self.metadata is None else list(self.metadata.kept.values())
        return np.stack([k.reshape(-1) for k in kept])
