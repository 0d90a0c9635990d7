# SPDX-License-Identifier: Apache-2.0
"""The operations that are examined: each at every rank, from end to end or by contracts."""

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
def examine_operations(rank: int, inside: bool) -> tuple[Operation, ...]:
    """Return the operations at every rank up to the given one.

    With ``inside`` also those that execute parts of `layouts`.

    With ``inside``, composition of rank 3 is examined by contract only: from end to end it has too many paths.
    """
    return tuple(_examine(rank, inside))


def _examine(rank: int, inside: bool) -> Iterator[Operation]:
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
    """Composition was not called once by its name: the contract does not apply to the path, which isn't a rejection."""


def _composing_once(operation: Operation) -> Operation:
    """Return the operation, raising NotComposed when the code does not call composition; that is not a rejection."""

    def call(t: Target, at: Mapping[str, Any]) -> Any:
        try:
            return operation.call(t, at)
        except ValueError as error:
            if traceback.extract_tb(error.__traceback__)[-1].filename == contracts.__file__:
                raise NotComposed("composition is not called by its name, once") from error
            raise

    return replace(operation, call=call)
