# SPDX-License-Identifier: Apache-2.0
"""The complement of modes that interleave: where one mode does not end before the next begins.

(2,2):(8,12) takes the values 0, 8, 12 and 20. None of its modes fits below the other, and yet any two of its values
differ by 4 or more: so the copies of [0, 4) at each of them are disjoint. The least distance of values has no closed
form; a search goes mode by mode, from the largest stride, over the few differences that can still be near 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from layouts.errors import LayoutError

LIMIT = 2**16
"""The most differences that are searched before the search is given up."""

Mode = tuple[int, int]
"""Stride and extent: so that modes sort by stride."""


def below_interleaved(modes: Sequence[Mode], target: int) -> tuple[list[int], list[int]] | None:
    """Shape and stride of the complement in [0, target) of sorted modes that may interleave from the target on.

    None where there is no complement: the strides of the modes below the target must divide one another, and these
    modes and the complement fill a range no longer than the least distance of two values of the other modes.

    >>> below_interleaved([(8, 2), (12, 2)], 3), below_interleaved([(8, 2), (12, 2)], 5)
    (([3], [1]), None)

    Raises LayoutError where the decision takes more than LIMIT steps.
    """
    counted = [(d, s) for d, s in modes if s > 1 and d]
    shapes: list[int] = []
    strides: list[int] = []
    end = 1
    for d, s in counted:
        if d >= target:
            break
        if d < end or d % end:
            return None
        shapes.append(d // end)
        strides.append(end)
        end = s * d
    shapes.append(-(-target // end))
    strides.append(end)
    whole = shapes[-1] * end
    return (shapes, strides) if are_spaced(counted[len(shapes) - 1 :], whole) else None


def are_spaced(modes: Sequence[Mode], least: int) -> bool:
    """Whether the values of modes with strides of 1 or more differ by ``least`` or more at different coordinates.

    >>> are_spaced([(8, 2), (12, 2)], 4), are_spaced([(8, 2), (12, 2)], 5), are_spaced([(3, 4), (7, 4)], 1)
    (True, False, True)

    Raises LayoutError where the decision takes more than LIMIT steps.
    """
    spreads = [sum(e * (t - 1) for e, t in modes[:place]) for place in range(len(modes))]
    steps = prod(min(2 * s, 2 * (least + spread) // d + 1) for (d, s), spread in zip(modes, spreads, strict=True))
    if steps > LIMIT:
        shown = ", ".join(f"{s}:{d}" for d, s in modes)
        raise LayoutError(
            f"whether the interleaved modes {shown} keep a distance of {least} takes more than {LIMIT} steps"
        )
    return not any(
        _comes_near(modes[:place], c * d, least)
        for place, (d, s) in enumerate(modes)
        for c in range(1, min(s - 1, (least - 1 + spreads[place]) // d) + 1)
    )


def _comes_near(modes: Sequence[Mode], value: int, least: int) -> bool:
    """Whether a difference of two values of the modes, added to ``value``, is closer to 0 than ``least``."""
    if not modes:
        return abs(value) < least
    *lower, (d, s) = modes
    near = least - 1 + sum(e * (t - 1) for e, t in lower)
    first, last = max(1 - s, -((near + value) // d)), min(s - 1, (near - value) // d)
    return any(_comes_near(lower, value + c * d, least) for c in range(first, last + 1))
