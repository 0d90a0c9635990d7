# SPDX-License-Identifier: Apache-2.0
"""The claims by their definitions, as nested loops; no code is shared with the packages under test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

from hypothesis import strategies as st

from layouts import Layout
from proofs import OperandLayout

ONE = Layout.parse("1:0")


def leaves(t: Any) -> list[int]:
    return [x for part in t for x in leaves(part)] if isinstance(t, tuple) else [t]


def image(shape: Any, stride: Any) -> list[int]:
    """The values in colexicographic order: the first mode varies fastest, in itertools the last factor."""
    sizes, strides = leaves(shape), leaves(stride)
    points = product(*(range(s) for s in reversed(sizes)))
    return [sum(c * d for c, d in zip(reversed(point), strides, strict=True)) for point in points]


def evaluate_all(layout: Layout) -> list[int]:
    return image(layout.shape, layout.stride)


def tv(layout: Layout) -> dict[tuple[int, int], int]:
    threads = image(layout.shape[0], layout.stride[0])
    values = image(layout.shape[1], layout.stride[1])
    return {(t, v): x + y for t, x in enumerate(threads) for v, y in enumerate(values)}


def outside(f: OperandLayout) -> list[tuple[int, int]]:
    tile = f.extent[0] * f.extent[1]
    return [p for p, e in tv(f.layout).items() if not 0 <= e < tile]


def find_miscounted(values: list[int], elements: int, copies: int) -> list[int]:
    """The integers with a wrong number of owners."""
    owners = Counter(values)
    wanted = dict.fromkeys(range(elements), copies)
    return [e for e in owners.keys() | wanted.keys() if owners[e] != wanted.get(e, 0)]


def different(f: OperandLayout) -> list[tuple[int, int]]:
    lanes, offsets = evaluate_all(f.thr), evaluate_all(f.rep)

    def differs(t: int, v: int, e: int) -> bool:
        places = [f.locate(lanes[t] + o, v) for o in offsets]
        return any(not (0 <= x < f.extent[0] and 0 <= y < f.extent[1]) or x + f.extent[0] * y != e for x, y in places)

    return [(t, v) for (t, v), e in tv(f.layout).items() if differs(t, v, e)]


def fragment(
    text: str,
    extent: tuple[int, int],
    locate: Callable[[Any, Any], tuple[Any, Any]] | None = None,
    copies: int = 1,
    thr: str | None = None,
    rep: str = "1:0",
) -> OperandLayout:
    layout = Layout.parse(text)
    threads = len(image(layout.shape[0], layout.stride[0]))
    return OperandLayout(layout, extent, Layout.parse(thr or f"{threads}:1"), Layout.parse(rep), locate, copies)


def mutants(layout: Layout) -> Iterator[Layout]:
    """Mutants: one stride doubled, halved, increased by one or negated, two swapped, one mode dropped."""
    sizes, strides = (leaves(layout.shape[0]), leaves(layout.shape[1])), leaves(layout.stride)
    cut = len(sizes[0])

    def made(ds: list[int], drop: int | None = None) -> Layout:
        shape: list[list[int]] = [list(sizes[0]), list(sizes[1])]
        stride = [ds[:cut], ds[cut:]]
        if drop is not None:
            part, at = (0, drop) if drop < cut else (1, drop - cut)
            shape[part][at], stride[part][at] = 1, 0
        return Layout(tuple(map(tuple, shape)), tuple(map(tuple, stride)))

    for i, d in enumerate(strides):
        for changed in (2 * d, d // 2, d + 1, -d):
            yield made([*strides[:i], changed, *strides[i + 1 :]])
        yield made(strides, drop=i)
        for j in range(i):
            swapped = list(strides)
            swapped[i], swapped[j] = swapped[j], swapped[i]
            yield made(swapped)


@st.composite
def modes(draw: st.DrawFn, most: int = 4) -> tuple[list[int], list[int]]:
    """Extents and strides: often the places of a mixed-radix number in some order, with strides of 0 or one error."""
    sizes = draw(st.lists(st.sampled_from([2, 2, 4, 3, 5, 1]), min_size=1, max_size=most))
    strides = [0] * len(sizes)
    radix = 1
    for i in draw(st.permutations(range(len(sizes)))):
        if draw(st.integers(0, 5)):
            strides[i], radix = radix, radix * sizes[i]
    if draw(st.booleans()):
        strides[draw(st.integers(0, len(sizes) - 1))] = draw(st.integers(-4, 40))
    return sizes, strides


@st.composite
def flat_layouts(draw: st.DrawFn) -> Layout:
    sizes, strides = draw(modes())
    return Layout(tuple(sizes), tuple(strides))


@st.composite
def tv_layouts(draw: st.DrawFn) -> Layout:
    sizes, strides = draw(modes())
    cut = draw(st.integers(0, len(sizes)))
    parts = [(x[:cut], x[cut:]) for x in (sizes, strides)]
    (st_, sv), (dt, dv) = parts
    return Layout((tuple(st_) or 1, tuple(sv) or 1), (tuple(dt) or 0, tuple(dv) or 0))
