# SPDX-License-Identifier: Apache-2.0
"""Layouts on whole domains at once: evaluation, properties, and many layouts together.

A layout at an index i is L(i) = sum of digit_k(i) * d_k. With the first modes' n indices in one table and the other
modes' in another, L(q * n + r) = high(q) + low(r): a domain is the outer sum of two short tables, without division. The
outer sum is made for a range of indices at a time, so memory is bounded by a budget in bytes, however large the domain.

    table(L)                    L(c_0, c_1, ...), one axis for each mode
    batch(L).values()           L(0), L(1), ...; of a composed layout S(offset + L(i)), of several layouts row by row
    stacked(shapes, strides)    layouts of one rank from two arrays [row][mode]
    compose(F, G)               F(G(i)) for every index i of G
    first_difference(F, G)      the first index at which two functions differ
    first_outside(F, n)         the first index whose value is not within 0 .. n - 1
    first_repeat(F)             the first index whose value occurred before: F is injective where there is none
    first_not_inverse(F, G)     the first index i with F(G(i)) != i
    is_bijection(F)             whether every value in 0 .. size - 1 is taken once
    counts(F, n), inverse(F, n) how many indices have each value, and the first that has it

>>> from layouts import Layout, right_inverse
>>> from layouts.batched import batch, compose, first_not_inverse, first_repeat
>>> L = Layout.parse("((2,2),3):((1,6),2)")
>>> batch(L).values().tolist()
[0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11]
>>> first_repeat(L) is None, first_not_inverse(L, right_inverse(L)) is None
(True, True)

Arrays are of the namespace ``xp`` that a caller gives, numpy or CuPy: only functions of the array API standard are
used. Where a value may need more than 64 bits there is a LayoutError, never a wrapped number. Single integers and
solvers' terms are evaluated by Layout.__call__, one at a time; proofs use nothing of this.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from layouts.batched.evaluate import BUDGET, Batch, batch, compose, stack_layouts, table
    from layouts.batched.properties import (
        counts,
        first_difference,
        first_not_inverse,
        first_outside,
        first_repeat,
        inverse,
        is_bijection,
    )

__all__ = [
    "BUDGET",
    "Batch",
    "batch",
    "compose",
    "counts",
    "first_difference",
    "first_not_inverse",
    "first_outside",
    "first_repeat",
    "inverse",
    "is_bijection",
    "stack_layouts",
    "table",
]


def __getattr__(name: str) -> Any:
    """Import a name's module on its first use: a command that compares few points imports neither."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = "evaluate" if name in ("BUDGET", "Batch", "batch", "compose", "stack_layouts", "table") else "properties"
    return getattr(import_module(f"layouts.batched.{home}"), name)
