# SPDX-License-Identifier: Apache-2.0
"""Random layouts, and their values by the definition, without the package's arithmetic."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from layouts import IntTuple, Layout

MAX_SIZE = 120


def flat(t: Any) -> list[Any]:
    """The items of a nested tuple from left to right."""
    return [x for part in t for x in flat(part)] if isinstance(t, tuple) else [t]


def count(shape: IntTuple) -> int:
    """The product of the extents, multiplied out."""
    total = 1
    for s in flat(shape):
        total *= s
    return total


def table(layout: Layout) -> npt.NDArray[np.int64]:
    """Every value of a layout, in colexicographic order of the coordinates: the leftmost mode runs fastest."""
    values = np.zeros(1, dtype=np.int64)
    for s, d in zip(flat(layout.shape), flat(layout.stride), strict=True):
        values = (np.arange(s)[:, None] * d + values[None, :]).ravel()
    return values


def value_at(layout: Layout, index: int) -> int:
    """The value at an index: split into digits from the left, the last digit unbounded."""
    pairs = list(zip(flat(layout.shape), flat(layout.stride), strict=True))
    total = 0
    for s, d in pairs[:-1]:
        index, digit = divmod(index, s)
        total += digit * d
    return total + (index * pairs[-1][1] if pairs else 0)


def flat_coordinates(shape: IntTuple) -> Iterator[tuple[int, ...]]:
    """All digits of a shape in colexicographic order."""
    for digits in product(*(range(s) for s in reversed(flat(shape)))):
        yield digits[::-1]


def nested_like(items: list[Any], profile: Any) -> Any:
    """The items in the nesting of ``profile``."""
    if isinstance(profile, tuple):
        return tuple(nested_like(items, p) for p in profile)
    return items.pop(0)


@st.composite
def profiles(draw: st.DrawFn, leaves: int, levels: int = 3) -> Any:
    """Parentheses around ``leaves`` zeros; a single zero may or may not be wrapped."""
    if leaves == 1:
        return (draw(profiles(1, levels - 1)),) if levels and draw(st.integers(0, 5)) == 5 else 0
    if levels <= 1:
        return (0,) * leaves
    sizes = []
    while leaves:
        sizes.append(draw(st.integers(1, leaves)))
        leaves -= sizes[-1]
    return tuple(draw(profiles(n, levels - 1)) for n in sizes)


@st.composite
def extents(draw: st.DrawFn, max_leaves: int = 4, max_size: int = MAX_SIZE) -> list[int]:
    """Flat extents, 1 and non-powers of two among them, of a product that brute force can walk."""
    sizes = draw(st.lists(st.integers(1, 8), min_size=1, max_size=max_leaves))
    while count(tuple(sizes)) > max_size:
        sizes[sizes.index(max(sizes))] -= 1
    return sizes


@st.composite
def shapes(draw: st.DrawFn, max_leaves: int = 4, max_size: int = MAX_SIZE) -> IntTuple:
    """Nested shapes."""
    sizes = draw(extents(max_leaves, max_size))
    result: IntTuple = nested_like(sizes[:], draw(profiles(len(sizes))))
    return result


@st.composite
def layouts(draw: st.DrawFn, low: int = 0, high: int = 40, max_leaves: int = 4, max_size: int = MAX_SIZE) -> Layout:
    """Nested layouts with arbitrary strides in [low, high]; small strides and 0 are common."""
    shape = draw(shapes(max_leaves, max_size))
    stride = st.one_of(st.integers(max(low, -2), min(high, 8)), st.integers(low, high))
    strides = draw(st.lists(stride, min_size=len(flat(shape)), max_size=len(flat(shape))))
    return Layout(shape, nested_like(strides, shape))


@st.composite
def nested_strides(
    draw: st.DrawFn, gap: int = 3, zeros: bool = False, max_leaves: int = 4, max_size: int = MAX_SIZE
) -> Layout:
    """Layouts whose strides, sorted, are multiples of what is filled before them, by factors up to ``gap``.

    With gap 1 they are compact: a permutation of column-major strides. With ``zeros`` some modes have stride 0.
    """
    shape = draw(shapes(max_leaves, max_size))
    sizes = flat(shape)
    strides = [0] * len(sizes)
    step = 1
    for i in draw(st.permutations(range(len(sizes)))):
        if zeros and draw(st.integers(0, 3)) == 3:
            continue
        step *= draw(st.integers(1, gap))
        strides[i] = step
        step *= sizes[i]
    return Layout(shape, nested_like(strides, shape))


def any_layout(max_leaves: int = 4, max_size: int = MAX_SIZE) -> st.SearchStrategy[Layout]:
    """Layouts of all the kinds above, with non-negative strides."""
    sizes = {"max_leaves": max_leaves, "max_size": max_size}
    return st.one_of(nested_strides(**sizes), nested_strides(1, True, **sizes), layouts(**sizes))
