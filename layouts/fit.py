# SPDX-License-Identifier: Apache-2.0
"""The layout that has given values, determined by the values at powers of two.

A layout of powers of two moves each bit of its index by a fixed step, so its values at 1, 2, 4, ... determine it.
`from_samples` does not check the other values; `fit` compares the whole table, without calling a layout.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import numpy as np
import numpy.typing as npt

from layouts.coalesce import coalesce
from layouts.int_tuple import leaves
from layouts.layout import Layout, make_layout


def from_samples(extent: int, value: Callable[[int], int]) -> Layout:
    """The coalesced layout with one mode for each bit of the index, and with ``value`` at powers of two.

    With extent = 2^n * r, r odd: L(2^b) = value(2^b) for all b < n. If r > 1, the last mode has extent r and
    L(2^n) = value(2^n). No other value is computed.

    >>> print(from_samples(16, lambda i: i % 4 * 8 + i // 4))
    (4,4):(8,1)
    >>> print(from_samples(12, lambda i: 5 * i), from_samples(1, lambda i: 7))
    12:5 1:0
    """
    bits = (extent & -extent).bit_length() - 1
    odd = extent >> bits
    shape = (2,) * bits + (odd,) * (odd > 1)
    return coalesce(Layout(shape, tuple(value(1 << bit) for bit in range(len(shape))))) if shape else Layout(1, 0)


def fit(table: npt.ArrayLike) -> Layout | None:
    """The layout with L(i, j, ...) = table[i, j, ...] everywhere, one mode for each axis; None where there is none.

    Each mode is that of `from_samples`. Where all extents are powers of two, None means that no layout fits.

    >>> print(fit([[0, 8], [1, 9], [2, 10], [3, 11]]))
    (4,2):(1,8)
    >>> fit([0, 1, 3, 2]) is None
    True
    """
    values = np.asarray(table)
    modes = []
    for axis, extent in enumerate(values.shape):
        line = np.moveaxis(values, axis, 0).reshape(extent, -1)[:, 0].tolist()
        modes.append(from_samples(extent, line.__getitem__))
    if not np.array_equal(reduce(np.add.outer, map(_values, modes)), values):
        return None
    return make_layout(*modes) if len(modes) > 1 else modes[0]


def _values(layout: Layout) -> npt.NDArray[np.int64]:
    values = np.zeros(1, np.int64)
    for s, d in zip(leaves(layout.shape), leaves(layout.stride), strict=True):
        values = np.add.outer(np.arange(s) * d, values).ravel()
    return values
