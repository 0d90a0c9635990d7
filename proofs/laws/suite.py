# SPDX-License-Identifier: Apache-2.0
"""What an implementation is held to: every operation at every rank, from end to end or by contracts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product as grid

from proofs.laws.contracts import divide, product
from proofs.laws.execution import Operation
from proofs.laws.loops import composition_loops
from proofs.laws.operations import operations
from proofs.laws.runs import composition_merging, composition_run


def examined(rank: int, inside: bool) -> Iterator[Operation]:
    """What an implementation is held to at every rank up to the given one; with ``inside`` what looks into ours too.

    Ours composes rank 3 by contract only: followed from end to end, its paths are too many.
    """
    for operation in operations(rank):
        deep = operation.label.startswith("composition, rank 3") and inside
        composing = operation.name in ("logical_divide", "logical_product") and "rank 1" not in operation.label
        if not (deep or composing):
            yield operation
    for r, b in grid(range(1, rank + 1), repeat=2):
        if inside and b == 1:
            yield composition_merging(r)
            yield composition_run(r)
        if inside:
            yield composition_loops(r, b)
        yield divide(r, b)
        yield product(r, b)
