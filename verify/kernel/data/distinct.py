# SPDX-License-Identifier: Apache-2.0
"""The different ones of some numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def sort_distinct(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return the different ones of some numbers, ascending, as `np.unique` does.

    That function loads `numpy.ma` when it is first called, which takes a kernel's check as long as to read its PTX.

    >>> sort_distinct(np.array([[3, 1], [3, 2]])).tolist()
    [1, 2, 3]
    """
    ascending = np.sort(numbers, axis=None)
    return ascending[np.concatenate([[True], ascending[1:] != ascending[:-1]])] if len(ascending) else ascending


def list_distinct(numbers: NDArray[Any]) -> list[int]:
    """Return the different ones of some numbers; mostly there is one."""
    if len(numbers) and (numbers == numbers[0]).all():
        return [int(numbers[0])]
    ascending: list[int] = sort_distinct(numbers).tolist()
    return ascending
