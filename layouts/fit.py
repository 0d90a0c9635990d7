# SPDX-License-Identifier: Apache-2.0
"""The layout that has given values, determined by the values at the units of its digits.

A layout with one mode for each prime factor of its size moves each digit by a fixed step, so its values at the units of
the digits (1, 2, 4, ... where the size is a power of two) determine it. `from_samples` does not
check the other values; `fit` reads the extents off the values, and compares the whole table, without calling a layout.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from layouts import batched
from layouts.arrays import np
from layouts.coalesce import from_modes, merge
from layouts.layout import Layout, make_layout

if TYPE_CHECKING:
    import numpy.typing as npt


def from_samples(extent: int, value: Callable[[int], int]) -> Layout:
    """Return the coalesced layout with one mode for each prime factor of the extent, and with ``value`` at their units.

    With extent = p_0 * p_1 * ..., ascending: L(p_0 * ... * p_{k-1}) = value(p_0 * ... * p_{k-1}). No other value is
    computed. The units are 1, 2, 4, ... where the extent is a power of two.

    >>> print(from_samples(16, lambda i: i % 4 * 8 + i // 4))
    (4,4):(8,1)
    >>> print(from_samples(12, lambda i: 5 * i), from_samples(1, lambda i: 7))
    12:5 1:0
    """
    shape: list[int] = []
    stride: list[int] = []
    unit, prime = 1, 2
    while unit < extent:
        if extent // unit % prime:
            prime += 1
            continue
        shape.append(prime)
        stride.append(value(unit))
        unit *= prime
    return from_modes(*merge(tuple(shape), tuple(stride)))


def fit(table: npt.ArrayLike) -> Layout | None:
    """Return the layout with L(i, j, ...) = table[i, j, ...] everywhere, one mode for each axis.

    None where there is none.

    >>> print(fit([[0, 8], [1, 9], [2, 10], [3, 11]]), fit([0, 1, 2, 10, 11, 12]))
    (4,2):(1,8) (3,2):(1,10)
    >>> fit([0, 1, 3, 2]) is None
    True
    """
    values = np.asarray(table)
    modes = []
    for axis, extent in enumerate(values.shape):
        line = np.moveaxis(values, axis, 0).reshape(extent, -1)[:, 0].tolist()
        modes.append(from_modes(*modes_of(line)))
    whole = make_layout(*modes)
    if not np.array_equal(batched.table(whole), values):
        return None
    return whole if len(modes) > 1 else modes[0]


def modes_of(line: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the shape and stride of the only coalesced layout that may have these values.

    Its first extent is the least k > 0 with L(k) != k*L(1), and the rest is the layout of L(k), L(2k), ...
    """
    shape: list[int] = []
    stride: list[int] = []
    unit = 1
    while unit < len(line):
        left, step = -(-len(line) // unit), line[unit]
        extent = next((k for k in range(2, left) if line[k * unit] != k * step), left)
        shape.append(extent)
        stride.append(step)
        unit *= extent
    return shape, stride
