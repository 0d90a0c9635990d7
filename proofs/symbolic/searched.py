# SPDX-License-Identifier: Apache-2.0
"""What our operations search for instead of computing it: symbolic execution stops there.

`complement` searches whether modes that interleave stay apart (`layouts.interleaved`), and `logical_product` asks for a
single copy of a block that has no complement. Both do so only where they refuse otherwise. So the campaign takes the
answer no, and such a path for a refusal; the answers yes are enumerated on small layouts, by tests.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from proofs.symbolic.execution import Operation, Target, replaced

SEARCHING = ("complement", "logical_divide", "logical_product")
"""The operations that may come to a search."""


def refusing(operation: Operation) -> Operation:
    """The operation with every search answered by no."""
    if operation.name not in SEARCHING:
        return operation

    def call(target: Target, at: Mapping[str, int]) -> Any:
        with answered(lambda modes, cotarget: None, lambda tiler: False):
            return operation.call(target, at)

    return replace(operation, call=call)


@contextmanager
def answered(interleaved: Any, single: Any) -> Iterator[None]:
    """The searches replaced: of interleaved modes, and of a single copy."""
    # By sys.modules: `layouts.complement` is the function of that name.
    with (
        replaced(sys.modules["layouts.complement"], "below_interleaved", interleaved),
        replaced(sys.modules["layouts.products"], "single", single),
    ):
        yield
