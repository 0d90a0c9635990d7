# SPDX-License-Identifier: Apache-2.0
"""Relabellings: two maps that differ by a permutation of one coordinate.

Where A and B number k in another order than the ISA, but both in the same, every product of matrices is right.

>>> numbers = permutation([0, 2, 1, 3], [0, 1, 2, 3], 4)
>>> numbers, spell_permutation(numbers), permutation([0, 0], [0, 1], 2) is None
((0, 2, 1, 3), '(2,2):(2,1)', True)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from verify.maps.fitted import layout_of


def permutation(given: Iterable[int], wanted: Iterable[int], extent: int) -> tuple[int, ...] | None:
    """Return the permutation p of 0..extent-1 with p(wanted) = given at every point; None where there is none."""
    images: dict[int, int] = {}
    for mine, theirs in zip(given, wanted, strict=True):
        if images.setdefault(theirs, mine) != mine:
            return None
    numbers = tuple(images.get(index, -1) for index in range(extent))
    return numbers if sorted(numbers) == list(range(extent)) and len(images) == extent else None


def is_identity(numbers: Sequence[int]) -> bool:
    """Whether a permutation leaves everything where it is."""
    return list(numbers) == list(range(len(numbers)))


def spell_permutation(numbers: Sequence[int]) -> str:
    """Return a permutation as a layout, behind a swizzle if need be; as the list of its values where it is neither."""
    return layout_of(numbers) or ",".join(map(str, numbers))
