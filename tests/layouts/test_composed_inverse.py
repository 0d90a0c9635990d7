# SPDX-License-Identifier: Apache-2.0
"""Inverses of composed layouts by their equations, at every point, against a search for the longest right inverse."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from layouts import ComposedLayout, Layout, LayoutError, Swizzle, composition, left_inverse, right_inverse, size
from layouts.composed_inverse import _largest  # seam: the bound on which right inverses rest


def draw_layout(seed: int) -> Any:
    """A composed layout: small, with compact strides or padded ones, a positive or a negative shift."""
    take = random.Random(seed)
    bits = take.randrange(3)
    shift = take.choice((1, -1)) * take.randint(bits, 4)
    shape = [take.choice((1, 2, 3, 4, 8)) for _ in range(take.randint(1, 3))]
    order = take.sample(range(len(shape)), len(shape))
    strides, step = [0] * len(shape), take.choice((1, 1, 1, 2))
    for mode in order:
        strides[mode] = step
        step *= shape[mode] * take.choice((1, 1, 1, 2))
    layout: Any = Layout(tuple(shape), tuple(strides))
    kind = take.randrange(4)
    if kind == 1:
        return ComposedLayout(Layout((4, 64), (64, 1)), 0, composition(Swizzle(bits, take.randrange(3), shift), layout))
    if kind == 2:
        layout = ComposedLayout(Swizzle(1, 0, 2), 0, layout)
    return ComposedLayout(Swizzle(bits, take.randrange(3), shift), 0, layout)


def inverse_or_error(operation: Callable[[Any], Any], layout: Any) -> Any:
    """The inverse of a layout, or the LayoutError that says why there is none."""
    try:
        return operation(layout)
    except LayoutError as error:
        return error


@pytest.mark.long
@pytest.mark.parametrize("seed", range(400))
def test_inverses_by_their_equations(seed: int) -> None:
    layout = draw_layout(seed)
    values = [layout(k) for k in range(size(layout))]
    back, right = inverse_or_error(left_inverse, layout), inverse_or_error(right_inverse, layout)
    assert isinstance(back, LayoutError) or [back(value) for value in values] == list(range(len(values))), layout
    every = [] if isinstance(right, LayoutError) else range(size(right))
    assert [layout(right(k)) for k in every] == list(every), layout


def test_most_inverses_exist() -> None:
    """Those of bijections of powers of two with a shift to the right are what kernels have: none is refused."""
    layout = Layout((8, 64), (64, 1))
    for swizzle in (Swizzle(3, 3, 3), Swizzle(2, 4, 3), Swizzle(1, 3, 3), Swizzle(0, 4, 3)):
        composed: Any = ComposedLayout(swizzle, 0, layout)
        for inverse in (left_inverse(composed), right_inverse(composed)):
            assert size(inverse) == 512
            assert all(inverse(composed(k)) == k == composed(inverse(k)) for k in range(512))


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        (ComposedLayout(Swizzle(2, 0, 2), 4, Layout(16)), "the offset 4 isn't an index"),
        (ComposedLayout(Swizzle(2, 0, -2), 0, Layout(8)), "takes a value below 8 to 15"),
        (ComposedLayout(Layout((2, 2), (2, 1)), 0, composition(Swizzle(1, 0, 1), Layout(2))), "go beyond the 2"),
    ],
)
def test_what_has_no_right_inverse_is_refused(layout: Any, message: str) -> None:
    with pytest.raises(LayoutError, match=message):
        right_inverse(layout)


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        (ComposedLayout(Swizzle(2, 0, 2), 4, Layout(16)), "the offset 4 isn't an index"),
        (ComposedLayout(Swizzle(2, 0, 2), 0, Layout((4, 2), (1, 2))), "overlap"),
        (ComposedLayout(Layout(4, 2), 0, composition(Swizzle(1, 0, 1), Layout(8))), "only the indices below 4"),
    ],
)
def test_what_has_no_left_inverse_is_refused(layout: Any, message: str) -> None:
    with pytest.raises(LayoutError, match=message):
        left_inverse(layout)


@pytest.mark.parametrize("swizzle", [Swizzle(2, 0, 2), Swizzle(2, 1, -3), Swizzle(1, 2, 1), Swizzle(0, 3, 1)])
def test_the_largest_value_of_a_swizzle_is_that_of_all_its_values(swizzle: Swizzle) -> None:
    for stop in range(1, 200):
        assert _largest(swizzle, stop) == max(map(swizzle, range(stop))), stop
