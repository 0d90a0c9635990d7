# SPDX-License-Identifier: Apache-2.0
"""A layout read off at the units of its digits is the function that was sampled, wherever a layout is that."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as hyp

from layouts import Layout, coalesce, make_layout, size
from layouts.fit import fit, from_samples
from tests.layouts.strategies import table

BITS = hyp.lists(hyp.tuples(hyp.sampled_from([1, 2, 4, 8]), hyp.integers(-40, 40)), min_size=1, max_size=4)
POWERS_OF_TWO = BITS.map(lambda modes: Layout(*(tuple(column) for column in zip(*modes, strict=True))))


@given(POWERS_OF_TWO)
def test_fit_of_a_layouts_values_is_that_layout(layout):
    values = table(layout)
    fitted = fit(values)
    assert fitted == coalesce(layout) == from_samples(size(layout), lambda i: int(values[i]))
    assert table(fitted).tolist() == values.tolist()


@given(POWERS_OF_TWO, POWERS_OF_TWO)
def test_each_axis_of_a_table_becomes_a_mode(thread, value):
    assert fit(np.add.outer(table(thread), table(value))) == make_layout(coalesce(thread), coalesce(value))


@given(POWERS_OF_TWO, hyp.data())
def test_a_table_that_differs_from_every_layout_at_one_point_has_none(layout, data):
    """At index 0, and between the samples, every layout of powers of two is determined by the other values."""
    values = table(layout)
    free = [i for i in range(len(values)) if i.bit_count() != 1]
    values[data.draw(hyp.sampled_from(free))] += data.draw(hyp.integers(1, 9))
    assert fit(values) is None


@given(hyp.lists(hyp.integers(0, 3), min_size=1, max_size=3).map(lambda n: 2 ** len(n)), hyp.data())
def test_none_means_that_no_layout_fits(extent, data):
    """Every layout of so many indices has one stride for each bit: all are tried, with every stride that occurs."""
    values = np.array([0, *data.draw(hyp.lists(hyp.integers(0, 3), min_size=extent - 1, max_size=extent - 1))])
    bits = extent.bit_length() - 1
    every = [np.array(strides) for strides in np.ndindex(*(4,) * bits)]
    fits = any((table(Layout((2,) * bits, tuple(strides.tolist()))) == values).all() for strides in every)
    assert (fit(values) is not None) == fits


FACTORS = hyp.lists(hyp.tuples(hyp.sampled_from([2, 3, 5]), hyp.integers(-9, 9)), min_size=1, max_size=4)


@given(FACTORS)
def test_other_factors_are_modes_in_any_order(modes):
    layout = Layout(*zip(*modes, strict=True))
    assert fit(table(layout)) == coalesce(layout)


@given(FACTORS)
def test_samples_of_other_factors_are_modes_in_ascending_order(modes):
    layout = Layout(*zip(*sorted(modes, key=lambda mode: mode[0]), strict=True))
    values = table(layout)
    assert from_samples(size(layout), lambda i: int(values[i])) == coalesce(layout)
