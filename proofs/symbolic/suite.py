# SPDX-License-Identifier: Apache-2.0
"""What an implementation is held to: every operation at every rank, from end to end or by contracts."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import product as grid
from typing import Any

from proofs.symbolic import contracts
from proofs.symbolic.contracts import divide, product
from proofs.symbolic.execution import Operation, Target
from proofs.symbolic.loops import composition_loops
from proofs.symbolic.operations import operations
from proofs.symbolic.runs import composition_merging, composition_run
from proofs.symbolic.searched import refusing


@cache
def examined(rank: int, inside: bool) -> tuple[Operation, ...]:
    """What an implementation is held to at every rank up to the given one; with ``inside`` what looks into ours too.

    Ours composes rank 3 by contract only: followed from end to end, its paths are too many.
    """
    return tuple(_examined(rank, inside))


def _examined(rank: int, inside: bool) -> Iterator[Operation]:
    for operation in operations(rank):
        deep = operation.label.startswith("composition, rank 3") and inside
        composing = operation.name in ("logical_divide", "logical_product") and "rank 1" not in operation.label
        if not (deep or composing):
            yield refusing(operation) if inside else operation
    for r, b in grid(range(1, rank + 1), repeat=2):
        if inside and b == 1:
            yield composition_merging(r)
            yield composition_run(r)
        if inside:
            yield composition_loops(r, b)
        for operation in (divide(r, b), product(r, b)):
            yield refusing(operation) if inside else _composing_once(operation)


class NotComposed(Exception):
    """Composition was not called by its name, once: the contract says nothing of such a path, and it is no refusal."""


def _composing_once(operation: Operation) -> Operation:
    """The operation; where the code of others goes around composition, that is told, not taken for a refusal."""

    def call(t: Target, at: Mapping[str, Any]) -> Any:
        try:
            return operation.call(t, at)
        except ValueError as error:
            if traceback.extract_tb(error.__traceback__)[-1].filename == contracts.__file__:
                raise NotComposed("composition is not called by its name, once") from error
            raise

    return replace(operation, call=call)
