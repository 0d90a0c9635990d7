# SPDX-License-Identifier: Apache-2.0
"""Layouts walked digit by digit in plain Python integers.

The silicon's claims and every counterexample that is shown are computed here, without `Layout.__call__` and without
numpy, so that a bug in the library's evaluation cannot confirm itself.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from layouts import Layout


@lru_cache(maxsize=4096)
def read(text: str) -> tuple[object, object]:
    """A second reading of layout text as (shape, stride), without the library's parser.

    Parentheses always make a tuple, so `(8)` is a rank-1 tuple, as `(8,)`: Python needs that comma. It has none in
    `()`, and no leading zeros.

    >>> read("((4,8),(8)):((_32,1),(4,))")
    (((4, 8), (8,)), ((32, 1), (4,)))
    >>> read("(4,()):(1,())")
    ((4, ()), (1, ()))
    """
    plain = re.sub(r"(?<!\d)0+(?=\d)", "", re.sub(r"[\s_]", "", text))
    commas = plain.replace(",)", ")").replace(")", ",)").replace("(,)", "()")
    shape, stride = commas.split(":")
    return ast.literal_eval(shape), ast.literal_eval(stride)


def modes(shape: object, stride: object) -> Iterator[tuple[int, int]]:
    """The (extent, stride) pairs of a layout, leftmost first."""
    if isinstance(shape, tuple) and isinstance(stride, tuple):
        for s, d in zip(shape, stride, strict=True):
            yield from modes(s, d)
    elif isinstance(shape, int) and isinstance(stride, int):
        yield shape, stride
    else:
        raise TypeError(f"shape {shape} and stride {stride} have different profiles")


def terms(shape: object, stride: object, index: int) -> list[tuple[int, int]]:
    """The (digit, stride) pairs of a one-dimensional index, colexicographic, the last mode unbounded.

    >>> terms((4, 8), (32, 1), 5)
    [(1, 32), (1, 1)]
    """
    pairs = list(modes(shape, stride))
    digits = []
    for position, (extent, step) in enumerate(pairs):
        last = position == len(pairs) - 1
        digits.append((index if last else index % extent, step))
        index //= extent
    return digits


def halves(layout: Layout) -> list[tuple[object, object]]:
    """The (shape, stride) of the thread mode and of the value mode."""
    shape, stride = layout.shape, layout.stride
    if not (isinstance(shape, tuple) and isinstance(stride, tuple) and len(shape) == 2):
        raise TypeError(f"{layout} is not a (thread, value) layout")
    return list(zip(shape, stride, strict=True))


def thread_value_terms(layout: Layout, thread: int, value: int) -> list[tuple[int, int]]:
    """The digits of (thread, value) in a thread-value layout, the thread's first."""
    of_thread, of_value = halves(layout)
    return terms(*of_thread, thread) + terms(*of_value, value)


def walk(layout: Layout, thread: int, value: int) -> int:
    """The element that (thread, value) holds: the sum of digit x stride.

    >>> walk(Layout.parse("((4,8),8):((32,1),8)"), 1, 0)
    32
    """
    return sum(digit * stride for digit, stride in thread_value_terms(layout, thread, value))


def walks(layout: Layout) -> list[list[int]]:
    """:func:`walk` at every (thread, value), as rows of threads: a thread's digits and a value's do not mix.

    >>> walks(Layout.parse("(2,3):(10,1)"))
    [[0, 1, 2], [10, 11, 12]]
    """
    rows, columns = (every(shape, stride) for shape, stride in halves(layout))
    return [[row + column for column in columns] for row in rows]


def every(shape: object, stride: object) -> list[int]:
    """The value of every index, the first mode's digit fastest."""
    listed = [0]
    for extent, step in modes(shape, stride):
        listed = [before + digit * step for digit in range(extent) for before in listed]
    return listed


def image(layout: Layout, index: Any) -> Any:
    """The layout's value digit by digit, each within its extent; of an integer, an array or a solver's term."""
    total, prefix = 0, 1
    for extent, step in modes(layout.shape, layout.stride):
        total = total + index // prefix % extent * step
        prefix *= extent
    return total


def lane_of(thr: Layout, thread: int) -> int:
    """The lane of a logical thread."""
    return sum(digit * stride for digit, stride in terms(thr.shape, thr.stride, thread))


def spelled(layout: Layout, thread: int, value: int) -> str:
    """The arithmetic of :func:`walk`, written out.

    >>> spelled(Layout.parse("((4,8),8):((32,1),8)"), 0, 4)
    '0*32 + 0*1 + 4*8'
    """
    return " + ".join(f"{digit}*{stride}" for digit, stride in thread_value_terms(layout, thread, value))
