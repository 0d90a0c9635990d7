# SPDX-License-Identifier: Apache-2.0
"""A layout as flat modes (extent, stride), read from its shape and stride alone, and its values in plain Python.

``Layout.__call__`` is never used: a proof that evaluated the layout by the code under test would share its bugs. The
values here confirm counterexamples only; the encoding for the solver (script.py) is written independently of them.
"""

from __future__ import annotations

from math import prod

from layouts import Layout
from proofs.errors import ProblemError
from proofs.smt.script import Modes


def modes(layout: Layout) -> Modes:
    """Return the flat modes from left to right, without those of size 1.

    >>> modes(Layout.parse("((4,1),(2,2)):((32,7),(16,8))"))
    ((4, 32), (2, 16), (2, 8))
    """
    return _flat(layout.shape, layout.stride)


def top_modes(layout: Layout) -> tuple[Modes, ...]:
    """Return the flat modes of each top-level mode.

    >>> top_modes(Layout.parse("((4,8),2):((32,1),16)"))
    (((4, 32), (8, 1)), ((2, 16),))
    """
    if not (isinstance(layout.shape, tuple) and isinstance(layout.stride, tuple)):
        return (modes(layout),)
    return tuple(_flat(s, d) for s, d in zip(layout.shape, layout.stride, strict=True))


def domain(layout: Layout) -> tuple[int, int]:
    """Return the number of threads and the number of values of a (thread, value) layout, from its shape.

    Raises ProblemError when the layout does not have two modes.

    >>> domain(Layout.parse("((4,8),(2,2)):((32,1),(16,8))"))
    (32, 4)
    """
    parts = top_modes(layout)
    if len(parts) != 2:
        raise ProblemError(f"a (thread, value) layout has two modes, {layout} does not")
    return size(parts[0]), size(parts[1])


def size(flat: Modes) -> int:
    """Return the number of points of the domain: the product of the extents."""
    return prod(s for s, _ in flat)


def values(flat: Modes) -> list[int]:
    """Return the values at 0, 1, 2, ...; the leftmost mode varies fastest.

    >>> values(((2, 10), (3, 1)))
    [0, 10, 1, 11, 2, 12]
    """
    out = [0]
    for s, d in flat:
        out = [base + digit * d for digit in range(s) for base in out]
    return out


def value(flat: Modes, index: int) -> int:
    """Return the value at one index of the domain: the sum of digit * stride.

    >>> value(((2, 10), (3, 1)), 3)
    11
    """
    total = 0
    for s, d in flat:
        index, digit = divmod(index, s)
        total += digit * d
    return total


def _flat(shape: object, stride: object) -> Modes:
    if isinstance(shape, tuple) and isinstance(stride, tuple):
        return tuple(m for s, d in zip(shape, stride, strict=True) for m in _flat(s, d))
    if isinstance(shape, int) and isinstance(stride, int):
        return ((shape, stride),) if shape != 1 else ()
    raise TypeError(f"shape {shape!r} and stride {stride!r} differ in profile")
