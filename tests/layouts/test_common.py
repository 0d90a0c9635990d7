# SPDX-License-Identifier: Apache-2.0
"""Common vectors, alignment, null space and distribution against whole tables."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as hyp

from layouts import (
    ComposedLayout,
    Layout,
    LayoutError,
    Swizzle,
    domain_distribute,
    max_alignment,
    max_common_layout,
    max_common_vector,
    nullspace,
    size,
)
from tests.layouts import strategies as st
from tests.layouts.test_swizzle import swizzle_value, swizzles


def same_size_pairs():
    """Two layouts of one shape whose contiguous parts often agree."""
    return st.extents(max_size=60).flatmap(
        lambda sizes: hyp.tuples(*[hyp.permutations(range(len(sizes))).map(lambda p: compact(sizes, p))] * 2)
    )


def compact(sizes, order):
    strides, step = [0] * len(sizes), 1
    for i in order:
        strides[i] = step
        step *= sizes[i]
    return Layout(tuple(sizes), tuple(strides))


def agreeing_prefix(a, b):
    """How many of the values 0, 1, 2, ... both layouts take at one index; b takes each value once."""
    index_of = {v: i for i, v in enumerate(st.table(b).tolist())}
    values = st.table(a).tolist()
    k = 0
    while k in index_of and index_of[k] < len(values) and values[index_of[k]] == k:
        k += 1
    return k


@given(hyp.one_of(same_size_pairs(), hyp.tuples(st.any_layout(), st.nested_strides(2))))
def test_max_common_vector_is_the_prefix_on_which_both_agree(pair):
    a, b = pair
    assert max_common_vector(a, b) == agreeing_prefix(a, b)


@given(hyp.one_of(same_size_pairs(), hyp.tuples(st.any_layout(), st.any_layout())))
def test_max_common_layout_has_the_indices_of_that_vector(pair):
    a, b = pair
    result = max_common_layout(a, b)
    assert size(result) == max_common_vector(a, b)
    for k, index in enumerate(st.table(result).tolist()):
        assert index < min(size(a), size(b))
        assert st.value_at(a, index) == st.value_at(b, index) == k


def test_common_vectors_end_where_the_smaller_layout_ends():
    assert max_common_vector(Layout(4), Layout(8)) == max_common_vector(Layout(8), Layout(4)) == 4


def test_common_vectors_of_layouts_of_a_million_elements():
    a = Layout((1024, 1024), (1, 1024))
    assert max_common_vector(a, a) == 2**20
    assert max_common_vector(a, Layout((1024, 1024), (1, 2048))) == 1024
    assert str(max_common_layout(Layout((1024, 1024), (1024, 1)), Layout((1024, 1024), (2048, 1)))) == "1024:1024"


def runs_in_vectors(values, n):
    """Whether k*n, ..., k*n + n-1 occur equally often, for every k."""
    often = Counter(values)
    return all(often[v] == often[v - v % n] for v in range(min(values) - min(values) % n, max(values) + n))


@given(hyp.one_of(st.nested_strides(3, True), st.nested_strides(1), st.layouts(low=-8, high=16)))
def test_max_alignment_is_an_aligned_vector(layout):
    assert runs_in_vectors(st.table(layout).tolist(), max_alignment(layout))


@given(st.nested_strides(3, True))
def test_max_alignment_is_the_largest_where_modes_do_not_overlap(layout):
    assume(size(layout) > 1 and any(st.flat(layout.stride)))
    values = st.table(layout).tolist()
    assert max_alignment(layout) == max(n for n in range(1, max(values) + 2) if runs_in_vectors(values, n))


@given(swizzles(), hyp.integers(0, 16), st.nested_strides(1))
def test_max_alignment_of_a_composed_layout(swizzle, offset, layout):
    n = max_alignment(ComposedLayout(swizzle, offset, layout))
    values = [swizzle_value(swizzle, offset + v) for v in st.table(layout).tolist()]
    assert runs_in_vectors(values, n)
    assert offset % n == 0


def test_max_alignment_of_shared_memory_atoms():
    atom = ComposedLayout(Swizzle(3, 3, 3), 0, Layout((8, 64), (64, 1)))
    assert max_alignment(atom) == 8
    assert max_alignment(ComposedLayout(Swizzle(3, 3, 3), 4, Layout((8, 64), (64, 1)))) == 4
    assert max_alignment(ComposedLayout(Layout(64), 0, atom)) == 1
    assert max_alignment(ComposedLayout(Swizzle(0, 1, 3), 0, Layout(16))) == 16


@given(hyp.one_of(st.nested_strides(2, True), st.layouts(low=-3)))
def test_nullspace_runs_over_the_modes_of_stride_0(layout):
    result = nullspace(layout)
    indices = st.table(result).tolist()
    assert len(set(indices)) == len(indices) == size(result)
    assert all(st.value_at(layout, i) == 0 for i in indices)
    repeated = 1
    for s, d in zip(st.flat(layout.shape), st.flat(layout.stride), strict=True):
        repeated *= s if d == 0 else 1
    assert size(result) == repeated
    assert str(nullspace(result)) == "1:0"


@given(st.nested_strides(2, True))
def test_nullspace_is_all_that_maps_to_0_where_modes_do_not_overlap(layout):
    zeros = [i for i, v in enumerate(st.table(layout).tolist()) if v == 0]
    assert sorted(st.table(nullspace(layout)).tolist()) == zeros


@given(st.shapes(), hyp.integers(1, 64))
def test_domain_distribute_spreads_indices_that_tile_the_shape(shape, b):
    result = domain_distribute(shape, b)
    indices = st.table(result).tolist()
    assert b % len(indices) == 0
    assert indices == sorted(set(indices))
    assert indices[-1] < st.count(shape)
    assert st.table(domain_distribute(Layout(shape), b)).tolist() == indices
    taken = {tuple(c) for i, c in enumerate(st.flat_coordinates(shape)) if i in set(indices)}
    places = [sorted({c[mode] for c in taken}) for mode in range(len(st.flat(shape)))]
    assert len(taken) == np.prod([len(p) for p in places])
    left = b
    for extent, place in zip(st.flat(shape), places, strict=True):
        assert place == list(range(len(place)))
        assert len(place) == max(g for g in range(1, extent + 1) if extent % g == 0 and left % g == 0)
        left //= len(place)


def test_domain_distribute_as_documented_in_cute():
    assert str(domain_distribute((15, 14), 6)) == "(3,2):(1,15)"
    for b in (0, -1, True, 1.0):
        with pytest.raises(LayoutError, match="at least 1"):
            domain_distribute((15, 14), b)
