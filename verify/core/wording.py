# SPDX-License-Identifier: Apache-2.0
"""Sets of tile elements, and numbers of owners, in words."""

from __future__ import annotations

from collections.abc import Sequence

SHOWN = 6


def owners(count: int) -> str:
    """How many owners an element has, in words.

    >>> owners(0), owners(1), owners(2)
    ('no owner', 'one owner', '2 owners')
    """
    return {0: "no owner", 1: "one owner"}.get(count, f"{count} owners")


def times(count: int) -> str:
    """A number of times in words: once, twice, 3 times.

    >>> times(1), times(3)
    ('once', '3 times')
    """
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def describe(points: Sequence[tuple[int, int]], extent: tuple[int, int], axes: Sequence[str]) -> str:
    """A set of (x, y) in words: as ranges if it is a rectangle, else its first few members.

    >>> describe([(n, k) for n in range(8) for k in range(20, 32)], (8, 32), ("n", "k"))
    'k = 20..31, every n'
    >>> describe([(0, 0), (1, 1)], (8, 32), ("n", "k"))
    '(n=0, k=0), (n=1, k=1)'
    """
    if len(axes) == 1:
        return _span(sorted(x for x, _ in points), extent[0], axes[0])
    xs, ys = sorted({x for x, _ in points}), sorted({y for _, y in points})
    if len(xs) * len(ys) == len(set(points)):
        spans = [_span(xs, extent[0], axes[0]), _span(ys, extent[1], axes[1])]
        return ", ".join(sorted(spans, key=lambda span: span.startswith("every")))
    shown = ", ".join(f"({axes[0]}={x}, {axes[1]}={y})" for x, y in sorted(points)[:SHOWN])
    return shown + (f" and {len(points) - SHOWN} more" if len(points) > SHOWN else "")


def _span(values: list[int], extent: int, axis: str) -> str:
    if values == list(range(extent)):
        return f"every {axis}"
    if len(values) > 1 and values == list(range(values[0], values[-1] + 1)):
        return f"{axis} = {values[0]}..{values[-1]}"
    listed = ", ".join(map(str, values[:SHOWN]))
    return f"{axis} = {listed}" + (f" and {len(values) - SHOWN} more" if len(values) > SHOWN else "")
