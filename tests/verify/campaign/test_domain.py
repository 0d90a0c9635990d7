# SPDX-License-Identifier: Apache-2.0
"""The layouts of a domain: each once, and none is missing."""

from itertools import product as grid
from math import prod

import pytest

from layouts import Layout
from layouts.int_tuple import leaves
from verify.campaign.domain import Domain, profiles


def test_the_layouts_are_all_of_them_and_each_once() -> None:
    domain = Domain(3, 1, 6, (1, 2, 3), (0, 2))
    listed = [domain[n] for n in range(len(domain))]
    brute = {
        (shape if rank > 1 else shape[0], stride if rank > 1 else stride[0])
        for rank in (1, 2, 3)
        for shape in grid((1, 2, 3), repeat=rank)
        for stride in grid((0, 2), repeat=rank)
        if prod(shape) <= 6
    }
    assert set(listed) == brute and len(listed) == len(brute) == len(domain)


def test_a_range_of_numbers_has_the_layouts_of_each_the_first_stride_runs_fastest() -> None:
    domain = Domain(2, 2, 4, (1, 2), (0, 1, 3))
    some = [domain[n] for n in range(len(domain))]
    assert some[-5:] == [((2, 2), (1, 1)), ((2, 2), (3, 1)), ((2, 2), (0, 3)), ((2, 2), (1, 3)), ((2, 2), (3, 3))]
    for start, stop in grid(range(len(domain) + 1), repeat=2):
        assert [*domain.between(start, stop)] == some[start:stop]


def test_they_are_layouts_from_small_to_large() -> None:
    domain = Domain(4, 3, 8, (2, 4), (1, 3))
    listed = [Layout(*domain[n]) for n in range(len(domain))]
    sizes = [prod(leaves(layout.shape)) for layout in listed]
    assert sizes == sorted(sizes) and len(set(listed)) == len(listed)
    assert {layout.shape for layout in listed} >= {2, (2, 2), (2, (2, 2)), ((2, 2), 2)}


def test_the_nestings_are_all_and_have_no_mode_of_a_single_part() -> None:
    """Of 4 modes: 1 flat, with one inner pair or triple, two pairs; the Schroeder number 11 without a bound."""
    assert [len(list(profiles(4, depth))) for depth in (0, 1, 2, 3)] == [0, 1, 7, 11]
    assert len({*profiles(4, 3)}) == 11


def test_a_domain_of_too_many_shapes_is_rejected() -> None:
    with pytest.raises(ValueError, match="there are more than 65536 shapes"):
        Domain(6, 1, 4096, range(1, 4097), (1,))


def test_a_domain_without_a_layout_is_empty() -> None:
    assert len(Domain(2, 1, 4, (8,), (1,))) == 0
