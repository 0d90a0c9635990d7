# SPDX-License-Identifier: Apache-2.0
"""Random integers for the points of a run and its samples, a whole array at a time.

The numbers are SplitMix64's (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014), each array
from 64 bits of its own. numpy.random has as good ones, but loads OpenSSL: 7 MiB and a tenth of a short run.
"""

from __future__ import annotations

import random
from math import prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Drawn: TypeAlias = NDArray[np.uint64]
# The constants of splitmix64 (Steele, Lea, Flood 2014): distinct counters give distinct, well mixed numbers.
SPLITMIX = tuple(map(np.uint64, (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)))


class Points:
    """A source of arrays of random integers."""

    def __init__(self, source: random.Random) -> None:
        self.source = random.Random(source.getrandbits(128))

    def draw(self, count: int, shape: int | tuple[int, ...] = ()) -> Drawn:
        """Return integers from 0 to count - 1; one has a probability of at most 1 / count + 2^-64.

        >>> bool(Points(random.Random(1)).draw(6, (2, 3)).max() < 6)
        True
        """
        size = shape if isinstance(shape, int) else prod(shape)
        return (mixed_bits(self.source.getrandbits(64), size) % np.uint64(count)).reshape(shape)


def mixed_bits(seed: int, size: int) -> Drawn:
    """Return the first so many numbers of SplitMix64 with this seed."""
    bits = np.arange(1, size + 1, dtype=np.uint64)
    bits *= SPLITMIX[0]
    bits += np.uint64(seed)
    for shift, factor in ((30, SPLITMIX[1]), (27, SPLITMIX[2])):
        bits ^= bits >> np.uint64(shift)
        bits *= factor
    bits ^= bits >> np.uint64(31)
    return bits
