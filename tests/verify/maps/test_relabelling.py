# SPDX-License-Identifier: Apache-2.0
"""A permutation that relates two maps is found, and nothing else is one."""

from verify.maps.relabelling import is_identity, permutation, spell_permutation


def test_a_permutation_is_found_from_its_points() -> None:
    assert permutation([2, 0, 1, 2], [0, 1, 2, 0], 3) == (2, 0, 1)
    assert permutation([2, 0, 1, 0], [0, 1, 2, 0], 3) is None  # two images of 0
    assert permutation([2, 2, 1], [0, 1, 2], 3) is None  # not one to one
    assert permutation([0, 1], [0, 1], 3) is None  # 2 has no image
    assert permutation([0, 3, 1], [0, 1, 2], 3) is None  # outside
    assert permutation([0, 1, 2, 0], [0, 1, 2, 3], 3) is None  # a point outside


def test_a_permutation_is_written_as_a_layout_a_swizzle_or_a_list() -> None:
    assert spell_permutation((0, 2, 1, 3)) == "(2,2):(2,1)"
    assert spell_permutation((0, 1, 3, 2)) == "Sw<1,0,1> o 0 o 4:1"
    assert spell_permutation((1, 2, 3, 0)) == "1,2,3,0"
    assert is_identity((0, 1, 2))
    assert not is_identity((0, 2, 1))
