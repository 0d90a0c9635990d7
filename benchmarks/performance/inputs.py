# SPDX-License-Identifier: Apache-2.0
"""The inputs of docs/performance.md: layouts as (shape, stride), of powers of two, so that every library has them."""

from __future__ import annotations

from itertools import accumulate
from operator import mul
from typing import Any

Given = tuple[Any, Any]  # shape, stride

EVALUATED = tuple(1 << bits for bits in (10, 13, 17, 20, 23, 27))
"""Points of the layouts that are evaluated: from 1e3 to 1e8."""
RANKS = tuple(range(1, 9))
POINTS = 1 << 16
"""Points of every layout whose rank varies."""
UNIT = 1 << 13
"""Points of the layout that is the baseline: all its arrays are in the cache."""
ATOMS = (1, 3, 10, 30, 100, 300, 1000)  # and all


def hierarchical(points: int) -> Given:
    """A bijection of rank 5, nested three deep, of which no two modes coalesce."""
    a, b, c, d, e = extents(points, 5)
    return ((a, b), (c, (d, e))), ((c * e, b * c * d * e), (1, (b * c * e, c)))


def flat(points: int, rank: int) -> Given:
    """A bijection of flat modes, the last fastest."""
    shape = extents(points, rank)
    return joined(shape), joined([*accumulate([1, *shape[:0:-1]], mul)][::-1])


def extents(points: int, rank: int) -> list[int]:
    """Powers of two with this product, as equal as possible, the larger first."""
    bits = points.bit_length() - 1
    return [1 << bits // rank + (k < bits % rank) for k in range(rank)]


def joined(modes: list[Any]) -> Any:
    """One mode alone, or several as a tuple."""
    return modes[0] if len(modes) == 1 else tuple(modes)


def algebra(rank: int, points: int = POINTS) -> dict[str, list[tuple[Any, ...]]]:
    """The arguments of each operation: layouts of this rank, and tilers as large as half of one."""
    shape = extents(points, rank)
    before = [*accumulate([1, *shape], mul)]
    whole = flat(points, rank)
    strides = [whole[1]] if rank == 1 else whole[1]
    every_second = joined([s // 2 for s in shape]), joined([2 * p for p in before[:-1]])
    first_half = joined([*shape[:-1], shape[-1] // 2]), joined(before[:-1])
    reordered = joined(shape[::-1]), joined(before[-2::-1])
    halved = joined([(2, s // 2) for s in shape]), joined([(d, 2 * d) for d in strides])
    return {
        "composition": [(whole, every_second), (whole, first_half), (whole, reordered)],
        "complement": [(every_second, points), (first_half, points)],
        "right_inverse": [(whole,), (halved,)],
        "coalesce": [(halved,), (first_half,)],
        "logical_divide": [(whole, every_second), (whole, first_half)],
    }
