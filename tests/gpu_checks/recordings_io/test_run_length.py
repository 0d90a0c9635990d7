# SPDX-License-Identifier: Apache-2.0
"""Columns of labels as they are written: every column comes back, and nothing else does."""

import base64
import re
import zlib
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_checks.recordings_io.run_length import entries, write_runs

MODES = st.lists(st.tuples(st.integers(1, 6), st.integers(0, 40)), max_size=4)
ANY = st.lists(st.integers(-1, 2**20 - 1), min_size=1, max_size=400)


def list_column(first, modes):
    """The column that a first piece and modes, the innermost first, make: plain loops over the digits."""
    digits = product(*(range(n) for n, _ in reversed(modes)))
    shifts = [sum(d * step for d, (_, step) in zip(each, reversed(modes), strict=True)) for each in digits]
    return [-1 if number < 0 else number + shift for shift in shifts for number in first]


@given(ANY)
def test_every_column_comes_back(column):
    assert entries(write_runs(np.array(column)), len(column)).tolist() == column


@given(st.lists(st.integers(-1, 50), min_size=1, max_size=8), MODES)
def test_a_column_that_repeats_comes_back(first, modes):
    column = list_column(first, modes)
    assert entries(write_runs(np.array(column)), len(column)).tolist() == column


@given(st.lists(st.integers(-1, 50), min_size=1, max_size=8), MODES)
def test_what_is_written_as_repeated_is_read_as_such(first, modes):
    column = list_column(first, modes)
    given_ = {"first": first, "times": [list(mode) for mode in modes]}
    assert entries(given_, len(column)).tolist() == column


def test_an_entry_that_a_negative_step_takes_below_zero_has_no_label() -> None:
    assert entries({"first": [0], "times": [[2, -1], [2, 5]]}, 4).tolist() == [0, -1, 5, -1]


@pytest.mark.parametrize(
    ("column", "form"),
    [
        ([7] * 600, 7),
        ([3, 1, 2], [3, 1, 2]),
        ([0, 0, 1, 1, 16, 16, 17, 17], {"first": 0, "times": [[2, 0], [2, 1], [2, 16]]}),
        ([*range(1000)], {"first": 0, "times": [[1000, 1]]}),
        ([0, -1, 5, -1], {"first": [0, -1], "times": [[2, 5]]}),
        ([0, -1, -1, 5], [0, -1, -1, 5]),
    ],
)
def test_a_column_is_written_in_its_shortest_form(column, form):
    assert write_runs(np.array(column)) == form


def test_a_long_column_without_a_period_is_compressed():
    column = np.random.default_rng(0).permutation(997)
    compressed = write_runs(column)
    assert isinstance(compressed, str)
    assert np.array_equal(np.frombuffer(zlib.decompress(base64.b64decode(compressed)), "<i4"), column)


BOMB = base64.b64encode(zlib.compress(bytes(4 * 1000))).decode()


@pytest.mark.parametrize(
    ("form", "size", "said"),
    [
        ([1, 2], 3, "has 2 entries, not 3"),
        ([1], 3, "has 1 entries, not 3"),
        ([1, 2**20], 2, "other than small numbers"),
        ([1, -2], 2, "other than small numbers"),
        ([1, True], 2, "other than small numbers"),
        (1.0, 2, "other than small numbers"),
        (None, 2, "other than small numbers"),
        ([10**30, 0], 2, "other than small numbers"),
        ("eNqr", 2, "cannot be expanded"),
        ("?", 2, "cannot be expanded"),
        (BOMB, 999, "cannot be expanded: other than 999 entries"),
        ({"first": 0}, 2, "is not what repeats and how often"),
        ({"first": 0, "times": 2}, 2, "is not what repeats and how often"),
        ({"first": 0, "times": [[2]]}, 2, "is repeated otherwise than so many times with a step"),
        ({"first": 0, "times": [[0, 1]]}, 2, "is repeated otherwise than so many times with a step"),
        ({"first": 0, "times": [[2, 1.5]]}, 2, "is repeated otherwise than so many times with a step"),
        ({"first": 0, "times": [[3, 1]]}, 2, "is repeated 3 times and has not 2 entries"),
        ({"first": 0, "times": [[10**9, 1], [10**9, 1]]}, 2, "is repeated 1000000000000000000 times"),
        ({"first": {"first": 0, "times": [[2, 1]]}, "times": [[1, 1]]}, 2, "is repeated 1 times"),
        ({"first": 0, "times": [[2, 2**20]]}, 2, "other than small numbers"),
        ({"first": 0, "times": [[2, -2]]}, 2, "other than small numbers"),
        ({"first": 0, "times": [[2, 10**30]]}, 2, "is repeated otherwise"),
    ],
)
def test_what_is_no_column_is_rejected(form, size, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        entries(form, size)
