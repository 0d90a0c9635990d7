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
    found = np.sort(numbers, axis=None)
    return found[np.concatenate([[True], found[1:] != found[:-1]])] if len(found) else found


def list_distinct(numbers: NDArray[Any]) -> list[int]:
    """Return the different ones of some numbers; mostly there is one."""
    if len(numbers) and (numbers == numbers[0]).all():
        return [int(numbers[0])]
    found: list[int] = sort_distinct(numbers).tolist()
    return found
