# SPDX-License-Identifier: Apache-2.0
"""The values of many layouts of one shape, as arrays: a row for each layout."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

Array = Any  # of int64


def whole(shape: tuple[int, ...], strides: Array) -> Array:
    """The value at each index of the domain; `strides` has a row of flat strides for each layout.

    >>> whole((2, 2), np.array([[1, 2], [4, 1]])).tolist()
    [[0, 1, 2, 3], [0, 4, 1, 5]]
    """
    return strides @ _digits(shape)


def at(shape: tuple[int, ...], strides: Array, indices: Array) -> Array:
    """The value of each layout at its own row of indices, the last mode unbounded."""
    total = np.zeros_like(indices)
    for mode, extent in enumerate(shape):
        digit = indices if mode == len(shape) - 1 else indices % extent
        total += digit * strides[:, mode, None]
        indices = indices // extent
    return total


@lru_cache(maxsize=4096)
def _digits(shape: tuple[int, ...]) -> Array:
    """The digits of every index of a shape: a row for each mode."""
    index = np.arange(prod(shape))
    return np.array([index // prod(shape[:i]) % n for i, n in enumerate(shape)]).reshape(len(shape), len(index))
