# SPDX-License-Identifier: Apache-2.0
"""The searches within the operations of `layouts`, which symbolic execution cannot follow.

`complement` searches whether modes that interleave overlap (`layouts.interleaved`), and `logical_product` searches
whether a block without a complement has a single copy. Both search only where they would otherwise reject the input. So
the campaign replaces the answer by no, which makes such a path reject its input; tests enumerate the answers yes on
small layouts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from typing import Any

from proofs.symbolic.execution import Operation, Target, replace_attribute

SEARCHING = ("complement", "logical_divide", "logical_product")
"""The operations that may come to a search."""


def refusing(operation: Operation) -> Operation:
    """Return the operation with the answer no for every search."""
    if operation.name not in SEARCHING:
        return operation

    def call(target: Target, at: Mapping[str, int]) -> Any:
        with answer_searches(lambda modes, cotarget: None, lambda tiler: False):
            return operation.call(target, at)

    return replace(operation, call=call)


@contextmanager
def answer_searches(interleaved: Any, single: Any) -> Iterator[None]:
    """Replace the searches for interleaved modes and for a single copy in a block."""
    # By its full name, as `layouts.complement` is the function; and `layouts` imports `products` when it is asked for.
    with (
        replace_attribute(import_module("layouts.complement"), "below_interleaved", interleaved),
        replace_attribute(import_module("layouts.products"), "single", single),
    ):
        yield
