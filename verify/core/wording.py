# SPDX-License-Identifier: Apache-2.0
"""Sets of tile elements, numbers of owners and lists, in words."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

SHOWN = 6


def owners(count: int) -> str:
    """How many owners an element has, in words.

    >>> owners(0), owners(1), owners(2)
    ('no owner', 'one owner', '2 owners')
    """
    return {0: "no owner", 1: "one owner"}.get(count, f"{count} owners")


def count_of(number: int, noun: str) -> str:
    """Return a number with a noun.

    >>> count_of(1, "cell"), count_of(0, "cell")
    ('1 cell', '0 cells')
    """
    return f"{number} {noun}{'s' * (number != 1)}"


def times(count: int) -> str:
    """Return a number of times in words: once, twice, 3 times.

    >>> times(1), times(3)
    ('once', '3 times')
    """
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def in_words(several: Sequence[str], last: str = "and") -> str:
    """Return several things as a sentence lists them.

    >>> in_words(["atoms", "tilings", "maps"]), in_words(["--ptx"], "or")
    ('atoms, tilings and maps', '--ptx')
    """
    return f" {last} ".join(filter(None, (", ".join(several[:-1]), *several[-1:])))


class Some(NamedTuple):
    """Some of 0, 1, 2, ...: the first few, how many there are, and the last."""

    first: tuple[int, ...]
    many: int
    last: int


def describe(points: Sequence[tuple[int, int]], extent: tuple[int, int], axes: Sequence[str]) -> str:
    """Return a set of (x, y) in words: as ranges if it is a rectangle, else its first few members.

    >>> describe([(n, k) for n in range(8) for k in range(20, 32)], (8, 32), ("n", "k"))
    'k = 20..31, every n'
    >>> describe([(0, 0), (1, 1)], (8, 32), ("n", "k"))
    '(n=0, k=0), (n=1, k=1)'
    """
    if len(axes) == 1:
        return box([_some({x for x, _ in points})], extent[:1], axes)
    xs, ys = {x for x, _ in points}, {y for _, y in points}
    if len(xs) * len(ys) == len(set(points)):
        return box([_some(xs), _some(ys)], extent, axes)
    return list_elements(sorted(points)[:SHOWN], len(points), axes)


def box(spans: Sequence[Some], extents: Sequence[int], axes: Sequence[str]) -> str:
    """Return the elements at some places of every axis, in words: whole axes last."""
    words = [_span(*part) for part in zip(spans, extents, axes, strict=True)]
    return ", ".join(sorted(words, key=lambda span: span.startswith("every")))


def list_elements(points: Sequence[tuple[int, int]], count: int, axes: Sequence[str]) -> str:
    """Return the first few elements, and how many more there are."""
    shown = ", ".join(f"({axes[0]}={x}, {axes[1]}={y})" for x, y in points)
    return shown + (f" and {count - SHOWN} more" if count > SHOWN else "")


def _some(values: Collection[int]) -> Some:
    ordered = sorted(values)
    return Some(tuple(ordered[:SHOWN]), len(ordered), ordered[-1])


def _span(some: Some, extent: int, axis: str) -> str:
    first, count, last = some
    if count == extent == last + 1:
        return f"every {axis}"
    if count > 1 and last - first[0] + 1 == count:
        return f"{axis} = {first[0]}..{last}"
    return f"{axis} = {', '.join(map(str, first))}" + (f" and {count - SHOWN} more" if count > SHOWN else "")
