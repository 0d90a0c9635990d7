# SPDX-License-Identifier: Apache-2.0
"""Strides that are not integers: layouts over them against plain loops over digits."""

from __future__ import annotations

from functools import reduce
from itertools import product
from operator import xor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from layouts import Layout, LayoutError, ProfileError, Swizzle, composition, logical_divide, size, zipped_divide
from layouts.tensor import Coordinates, E, Xor, identity_layout, module_layout, xor_layout
from layouts.tensor.module import index

EXTENTS = st.lists(st.integers(1, 5), min_size=1, max_size=3).map(tuple)
POWERS = st.lists(st.sampled_from([1, 2, 4, 8]), min_size=1, max_size=3).map(tuple)
SOME = st.sampled_from([1, 2, 4, 8, 2, 4, 8, 3, 6, 16])  # most are powers of two: others carry, and are rejected


def digits(i: int, shape: tuple[int, ...]) -> list[int]:
    coordinates = []
    for s in shape[:-1]:
        coordinates.append(i % s)
        i //= s
    return [*coordinates, i]


def carryless(n: int, x: int) -> int:
    return reduce(xor, (x << b for b in range(n.bit_length()) if n >> b & 1), 0)


@given(EXTENTS)
def test_the_identity_gives_each_coordinate_back(shape: tuple[int, ...]) -> None:
    layout = identity_layout(shape)
    for i, reversed_crd in enumerate(product(*(range(s) for s in reversed(shape)))):
        crd = tuple(reversed(reversed_crd))
        assert index(layout(i)) == index(layout(crd)) == crd


def test_a_stride_of_zero_repeats_coordinates() -> None:
    rows, columns = index(module_layout((4, 3), (E(0) + E(1), 0))(np.arange(4)[:, None], np.arange(3)))
    assert rows.tolist() == columns.tolist() == [[i] * 3 for i in range(4)]


def test_nested_modes_have_nested_coordinates() -> None:
    layout = identity_layout((4, (2, (3, 5))))
    assert index(layout(2, (1, (2, 4)))) == (2, (1, (2, 4)))
    assert E(1, 0) + 3 * E(0) == 3 * E(0) + E(1, 0) != E(1)
    assert 0 * E(2) == 0 and E(0) + 0 * E(3) == E(0)
    assert hash(E(0) + 0 * E(3)) == hash(E(0))


@given(EXTENTS, st.integers(0, 40))
def test_arrays_of_coordinates_are_the_coordinates_one_by_one(shape: tuple[int, ...], beyond: int) -> None:
    layout = identity_layout(shape)
    every = np.arange(size(shape) + beyond)
    columns = index(layout(every))
    for i in every:
        assert tuple(np.broadcast_to(c, every.shape)[i] for c in columns) == tuple(digits(int(i), shape))


def check_composition(outer: Layout, inner: Layout) -> None:
    """The composition is right at every index; an example whose composition is rejected does not count."""
    try:
        both = composition(outer, inner)
    except LayoutError:
        reject()
    for i in range(size(inner)):
        assert both(i) == outer(inner(i))


@given(EXTENTS, st.integers(1, 6), st.integers(1, 6), st.integers(1, 7), st.integers(0, 7))
def test_composition_over_coordinates_is_composition(shape: Any, n: int, m: int, r: int, d: int) -> None:
    check_composition(identity_layout(shape), Layout((n, m), (r, d)))


@given(st.data(), POWERS)
def test_xor_strides_add_without_carry(data: st.DataObject, shape: tuple[int, ...]) -> None:
    strides = data.draw(st.tuples(*(st.integers(0, 63) for _ in shape)))
    layout = xor_layout(shape, strides)
    for crd in product(*(range(s) for s in shape)):
        wanted = reduce(xor, (carryless(c, d) for c, d in zip(crd, strides, strict=True)))
        assert abs(layout(crd)) == wanted


def test_a_swizzle_is_a_layout_with_xor_strides() -> None:
    swizzled = composition(Swizzle(3, 3, 3), Layout((8, 64), (64, 1)))
    layout = xor_layout((8, 64), (64 ^ 8, 1))
    rows, columns = np.arange(8)[:, None], np.arange(64)
    assert np.array_equal(index(layout(rows, columns)), swizzled(rows, columns))
    tiled = zipped_divide(layout, (4, 16))
    places = np.arange(64)[:, None], np.arange(8)
    assert np.array_equal(index(tiled(*places)), zipped_divide(swizzled, (4, 16))(*places))


@given(SOME, SOME, SOME, st.just(0) | SOME)
def test_composition_with_xor_strides_is_right_or_rejected(n: int, m: int, r: int, d: int) -> None:
    check_composition(xor_layout((8, 16), (9, 5)), Layout((n, m), (r, d)))


def test_xor_strides_reject_what_would_carry() -> None:
    with pytest.raises(LayoutError):
        composition(xor_layout(8, 1), Layout((2, 2), (1, 1)))  # 1 + 1 is 2, but 1 ^ 1 is 0
    assert logical_divide(xor_layout(8, 1), 2)(1, 3) == Xor(7)


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda: module_layout((4, 8), (E(0), Xor(1))), LayoutError, "Coordinates, Xor"),
        (lambda: module_layout((4, 8), (E(0), 1)), LayoutError, "Coordinates, int"),
        (lambda: module_layout((4, 8), E(0)), ProfileError, "differ in profile"),
        (lambda: module_layout((0, 8), (E(0), E(1))), LayoutError, "at least 1"),
        (lambda: xor_layout((4, 6), (1, 4)), LayoutError, "6 in"),
        (E, LayoutError, r"got \(\)"),
        (lambda: E(-1), LayoutError, "got .-1,"),
        (lambda: E(0) + 3, LayoutError, "cannot add 3 to the coordinate"),
        (lambda: 3 + Xor(1), LayoutError, "cannot add 3 to the xor"),
        (lambda: 1.5 * E(0), LayoutError, "cannot multiply the coordinate .* by 1.5: only integers"),
        (lambda: E(1) * np.array([0.5, 1]), LayoutError, "only integers"),
        (lambda: 0.5 * Xor(1), LayoutError, "must be integers"),
        (lambda: Xor(-1), LayoutError, "negative"),
        (lambda: E(0) + E(0, 1), LayoutError, "nested"),
    ],
)
def test_what_is_no_module_is_rejected(make: Any, error: type[LayoutError], said: str) -> None:
    with pytest.raises(error, match=said) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_elements_of_a_module() -> None:
    assert 2 * E(0) + E(1) * 3 == Coordinates((2, 3)) and str(E(1)) == "(0,1)"
    assert Xor(6) + Xor(3) == Xor(5) and 3 * Xor(6) == Xor(6) and 2 * Xor(6) == 0 and Xor(1) != 1
    assert {Xor(5), Xor(5), E(0)} == {E(0), Xor(5)}
