# SPDX-License-Identifier: Apache-2.0
"""The random integers of a run's points: SplitMix64's published numbers, their range, and what loads with them."""

import random
import subprocess
import sys

import numpy as np

from verify.kernel.data.points import Points, mixed_bits
from verify.kernel.data.values import Values

PUBLISHED = (  # by the reference code, from 1234567
    6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821,
)  # fmt: skip
LOADED = "import sys, verify.kernel.report; print(*[n for n in ('numpy.random', 'hashlib') if n in sys.modules])"


def test_numbers_are_those_of_the_reference_code() -> None:
    assert tuple(mixed_bits(1234567, 5).tolist()) == PUBLISHED
    state, numbers = 1234567, []
    for _ in range(100):  # the same in Python's integers
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        z = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
        numbers.append(z ^ z >> 31)
    assert mixed_bits(1234567, 100).tolist() == numbers


def test_every_number_in_the_range_is_drawn_and_no_other() -> None:
    points = Points(random.Random(5))
    assert sorted(set(points.draw(7, (20, 30)).ravel().tolist())) == list(range(7))
    assert points.draw(7, (2, 3)).shape == (2, 3) and points.draw(7).shape == ()
    assert len(set(points.draw(2**31 - 1, 1000).tolist())) > 990


def test_arrays_differ_and_a_seed_repeats_them() -> None:
    first, again = Points(random.Random(5)), Points(random.Random(5))
    drawn, next_drawn = first.draw(2**31, 50), first.draw(2**31, 50)
    assert (
        (drawn != next_drawn).any()
        and (again.draw(2**31, 50) == drawn).all()
        and (again.draw(2**31, 50) == next_drawn).all()
    )
    assert (Points(random.Random(6)).draw(2**31, 50) != drawn).any()


def test_points_load_neither_numpy_random_nor_openssl() -> None:
    process = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    assert process.stdout.split() == []


def test_tables_of_a_small_run_are_below_what_numpy_takes_in_large_pages() -> None:
    values = Values(1)
    capacity = len(values.sample)
    assert all(table.nbytes < 4 << 20 for table in (values.residues, values.sample, values.kind, values.history))
    first = values.new(2 * capacity, 3)
    assert first + 2 * capacity == values.top <= len(values.sample) and np.all(values.kind[first : values.top] == 3)
