# SPDX-License-Identifier: Apache-2.0
"""Special strides for which `admissible` is false and a layout exists all the same, and the smallest such case."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from layouts import Layout, admissible, coalesce
from proofs.definitions import Flat, at, representable

SMALLEST = (((2, 2, 2), (0, 1, 1)), (3, 3))


def pairs(rank: int, most: int) -> Iterator[tuple[tuple[tuple[int, ...], tuple[int, ...]], tuple[int, int]]]:
    """Coalesced layouts A of a rank with one mode N:r inside the domain of A, up to a sum of all numbers."""
    for extents in product(range(2, 5), repeat=rank):
        for strides in product(range(4), repeat=rank):
            room = most - sum(extents) - sum(strides)
            if any(strides[i + 1] == extents[i] * strides[i] for i in range(rank - 1)):
                continue
            for n, r in product(range(2, room), range(1, room)):
                if n + r <= room:
                    yield (extents, strides), (n, r)


def special(a: tuple[tuple[int, ...], tuple[int, ...]], b: tuple[int, int]) -> bool:
    flat: Flat = list(zip(*a, strict=True))
    values = [at(flat, k * b[1]) for k in range(b[0])]
    return representable(values) and not admissible(Layout(*a), Layout(*b))


def test_the_smallest_case_is_one() -> None:
    a, b = SMALLEST
    assert str(coalesce(Layout(*a))) == "(2,2,2):(0,1,1)"
    assert special(a, b)
    assert [at(list(zip(*a, strict=True)), k * b[1]) for k in range(b[0])] == [0, 1, 2]


def test_no_smaller_case_exists() -> None:
    """By the sum of all numbers, over every coalesced A of rank 2 and 3 with extents up to 4 and strides up to 3."""
    whole = sum(map(sum, SMALLEST[0])) + sum(SMALLEST[1])
    cases = [case for rank in (2, 3) for case in pairs(rank, whole) if special(*case)]
    assert SMALLEST in cases
    assert min(sum(map(sum, a)) + sum(b) for a, b in cases) == whole, cases
