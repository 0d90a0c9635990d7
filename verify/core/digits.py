# SPDX-License-Identifier: Apache-2.0
"""Layouts evaluated digit by digit in plain Python integers.

What an atom claims to a GPU, and every counterexample that is shown, is computed here, without `Layout.__call__` and
without numpy, so that a bug in the library's evaluation cannot confirm itself. For the same reason `proofs` and
`gpu_checks` evaluate layouts with code of their own.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any

from layouts import Layout

LISTED = 1 << 12  # values of modes that are listed together
PLAIN = frozenset("0123456789_-(),: \t\r\n")
OTHERS = (  # what other spellings have in place of parentheses and numbers
    (r"""Layout(?:\.parse)?\(\s*(['"])([^'"]*)\1\s*\)""", r"\2"),
    (r'![a-z]+\.layout<\s*"?([^<>"]*)"?\s*>', r"\1"),
    (r"\s|cute::|cute\.|\{\}", ""),
    (r"(?:Int|C)<(-?\d+)>", r"\1"),
    (r"(?:LayoutLeft|GenColMajor)(?:\(\))?", "'left'"),
    (r"(?:LayoutRight|GenRowMajor)(?:\(\))?", "'right'"),
    (r"(?:shape|stride)=", ""),
    (r"(?:make_layout|Layout)[(<]", "("),
    (r"(?:make_(?:shape|stride|tuple|coord)|Shape|Stride|Step|Coord|Tile|tuple)[(<]", "("),
    (r"\[", "("),
    (r"[\]>]", ")"),
    ("_", ""),
)


@lru_cache(maxsize=4096)  # a second parser: no bug planted in the first is in it
def read_layout_text(text: str) -> tuple[object, object]:
    """Layout text as (shape, stride), read a second time without the library's parser.

    Parentheses always make a tuple, so `(8)` is a rank-1 tuple like `(8,)`: Python needs that comma. It allows none in
    `()`, and no leading zeros.

    >>> read_layout_text("((4,8),(8)):((_32,1),(4,))")
    (((4, 8), (8,)), ((32, 1), (4,)))
    >>> read_layout_text("(4,()):(1,())"), read_layout_text("make_layout(make_shape(4, 8))")
    (((4, ()), (1, ())), ((4, 8), (1, 4)))
    >>> read_layout_text("Layout<Shape<_4,Int<8>>,Stride<_8,_1>>{}")
    ((4, 8), (8, 1))
    """
    if set(text) - PLAIN:
        text = _as_plain(text)
    plain = re.sub(r"(?<!\d)0+(?=\d)", "", re.sub(r"[\s_]", "", text))
    commas = plain.replace(",)", ")").replace(")", ",)").replace("(,)", "()")
    shape, stride = commas.split(":")
    return ast.literal_eval(shape), ast.literal_eval(stride)


def _as_plain(text: str) -> str:
    """Return the text of a layout of C++, Python or MLIR in CuTe's notation, by replacing words."""
    for pattern, words in OTHERS:
        text = re.sub(pattern, words, text)
    if ":" in text:
        return text
    plain = text.replace(",)", ")").replace(")", ",)").replace("(,)", "()")
    first, *rest = ast.literal_eval(plain)
    order = next((word for word in rest if isinstance(word, str)), "left")
    stride = rest[0] if rest and not isinstance(rest[0], str) else compact(first, order == "right")
    return f"{first!r}:{stride!r}"


def compact(shape: Any, rightmost: bool = False) -> Any:
    """Return the strides of a compact layout, the leftmost or the rightmost mode fastest; 0 for extents of 1.

    >>> compact((4, (2, 8))), compact((4, 8), rightmost=True)
    ((1, (4, 8)), (8, 1))
    """
    unit = 1

    def strides(part: Any) -> Any:
        nonlocal unit
        if isinstance(part, tuple):
            nested = [strides(mode) for mode in (reversed(part) if rightmost else part)]
            return tuple(reversed(nested) if rightmost else nested)
        before, unit = unit, unit * part
        return 0 if part == 1 else before

    return strides(shape)


def modes(shape: object, stride: object) -> Iterator[tuple[int, int]]:
    """Yield the (extent, stride) pairs of a layout, leftmost first.

    >>> list(modes((4, (2, 8)), (1, (64, 8))))
    [(4, 1), (2, 64), (8, 8)]
    """
    if isinstance(shape, tuple) and isinstance(stride, tuple):
        for s, d in zip(shape, stride, strict=True):
            yield from modes(s, d)
    elif isinstance(shape, int) and isinstance(stride, int):
        yield shape, stride
    else:
        raise TypeError(f"shape {shape} and stride {stride} have different profiles")


def digits(extents: Iterable[int], index: Any) -> Iterator[Any]:
    """Yield the mixed-radix digits of an index, fastest first: digit k = index div (e_0 * ... * e_(k-1)) mod e_k.

    The index is an integer, an array or a solver's term.

    >>> list(digits((4, 8), 5))
    [1, 1]
    """
    prefix = 1
    for extent in extents:
        yield index // prefix % extent
        prefix *= extent


def terms(shape: object, stride: object, index: Any) -> list[tuple[Any, int]]:
    """Return the (digit, stride) pairs of a one-dimensional index, first mode first.

    >>> terms((4, 8), (32, 1), 5)
    [(1, 32), (1, 1)]
    """
    pairs = list(modes(shape, stride))
    return [(digit, d) for digit, (_, d) in zip(digits((s for s, _ in pairs), index), pairs, strict=True)]


def halves(layout: Layout) -> list[tuple[object, object]]:
    """Return the (shape, stride) of the thread mode and of the value mode."""
    shape, stride = layout.shape, layout.stride
    if not (isinstance(shape, tuple) and isinstance(stride, tuple) and len(shape) == 2):
        raise TypeError(f"{layout} is not a (thread, value) layout")
    return list(zip(shape, stride, strict=True))


def thread_value_terms(layout: Layout, thread: Any, value: Any) -> list[tuple[Any, int]]:
    """Return the (digit, stride) pairs of (thread, value) in a thread-value layout, those of the thread first."""
    of_thread, of_value = halves(layout)
    return terms(*of_thread, thread) + terms(*of_value, value)


def image(layout: Layout, index: Any) -> Any:
    """Return the value of a layout at an index: the sum of digit * stride, for an integer, an array or a solver's term.

    >>> image(Layout.parse("(4,8):(32,1)"), 5)
    33
    """
    return sum(digit * d for digit, d in terms(layout.shape, layout.stride, index))


def walk(layout: Layout, thread: Any, value: Any) -> Any:
    """Return the element at (thread, value), computed as :func:`image`.

    >>> walk(Layout.parse("((4,8),8):((32,1),8)"), 1, 0)
    32
    """
    return sum(digit * d for digit, d in thread_value_terms(layout, thread, value))


def walks(layout: Layout) -> list[list[int]]:
    """:func:`walk` at every (thread, value), as rows of threads: a thread's digits and a value's do not mix.

    >>> walks(Layout.parse("(2,3):(10,1)"))
    [[0, 1, 2], [10, 11, 12]]
    """
    rows, columns = (every(shape, stride) for shape, stride in halves(layout))
    return [[row + column for column in columns] for row in rows]


def every(shape: object, stride: object) -> list[int]:
    """Return the value at every index, the digit of the first mode fastest.

    >>> every((2, 4), (4, 1))
    [0, 4, 1, 5, 2, 6, 3, 7]
    """
    listed = [0]
    for extent, step in modes(shape, stride):
        listed = [before + digit * step for digit in range(extent) for before in listed]
    return listed


def count_indices(pairs: Iterable[tuple[int, int]], value: int) -> int:
    """How many indices of modes (extent, stride) have a value, without a list of all values.

    >>> count_indices([(4, 1), (8, 2)], 5), count_indices([(1 << 24, 3), (2, 0)], 9)
    (2, 2)
    """
    pairs = list(pairs)
    moving = sorted((extent, stride) for extent, stride in pairs if stride and extent > 1)
    extent, stride = moving.pop() if moving else (1, 1)
    line: Sequence[int] = range(0, extent * stride, stride)  # it counts without a search
    if extent <= LISTED:
        while moving and len(line) * moving[-1][0] <= LISTED:
            extent, stride = moving.pop()
            line = [before + digit * stride for digit in range(extent) for before in line]
    combinations = product(*(range(0, extent * stride, stride) for extent, stride in moving))
    repeated = prod(extent for extent, stride in pairs if not stride)
    return repeated * sum(line.count(value - sum(digits)) for digits in combinations)


def lane_of(thr: Layout, thread: int) -> int:
    """Return the lane that `thr` gives a logical thread."""
    return int(image(thr, thread))


def written_out(layout: Layout, thread: int, value: int) -> str:
    """Return the arithmetic of :func:`walk`, written out.

    >>> written_out(Layout.parse("((4,8),8):((32,1),8)"), 0, 4)
    '0*32 + 0*1 + 4*8'
    """
    return " + ".join(f"{digit}*{stride}" for digit, stride in thread_value_terms(layout, thread, value))
