# SPDX-License-Identifier: Apache-2.0
"""A map that is linear over F2: the image of an input is the xor of the images of its bits.

>>> C = BasesMap({"value": [(0, 1), (8, 0)], "lane": [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)]},
...              [Axis("m", 16), Axis("n", 8)])
>>> C(3, 5), C.inputs, [column.tolist() for column in C.block(101, 102)]
((9, 3), (Axis(name='value', extent=4), Axis(name='lane', extent=32)), [[9], [3]])
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from math import prod

from verify.core.verdict import Counterexample
from verify.maps.map import NOWHERE, Array, Axis, Map, MapError, MapOrigin, Point, contradict, has_arrays, inside


class BasesMap(Map):
    """The map of bases: bit b of input `name` has the image bases[name][b], and images of bits are xored.

    Raises MapError for a basis that isn't a list of as many integers as there are outputs.
    """

    def __init__(
        self, bases: Mapping[str, Sequence[Sequence[int]]], outputs: Sequence[Axis], origin: MapOrigin = NOWHERE
    ) -> None:
        for name, vectors in bases.items():
            if any(len(vector) != len(outputs) or any(type(c) is not int for c in vector) for vector in vectors):
                raise MapError(f"each basis of {name!r} needs {len(outputs)} numbers, one for each output")
        self.bases = tuple((name, tuple(map(tuple, vectors))) for name, vectors in bases.items())
        self.inputs = tuple(Axis(name, 1 << len(vectors)) for name, vectors in self.bases)
        self.outputs, self.origin, self.searchable = tuple(outputs), origin, has_arrays()

    @property
    def key(self) -> Hashable:
        """The bases with the names of the inputs, and the outputs."""
        return type(self).__name__, self.bases, self.outputs

    def at(self, *point: int) -> tuple[Point, ...]:
        """Return the image of an input, bit by bit in plain integers."""
        if not inside(point, self.inputs):
            return ()
        image = (0,) * len(self.outputs)
        for (_, vectors), index in zip(self.bases, point, strict=True):
            for bit, vector in enumerate(vectors):
                if index >> bit & 1:
                    image = tuple(a ^ b for a, b in zip(image, vector, strict=True))
        return (image,)

    def block(self, start: int, stop: int) -> tuple[Array, ...]:
        """Return the coordinates of a block: of each bit of the input's number, the last input in the lowest bits."""
        import numpy as np

        numbers = np.arange(start, stop, dtype=np.int64)
        units = [vector for _, vectors in reversed(self.bases) for vector in vectors]
        columns = []
        for axis in range(len(self.outputs)):
            column = np.zeros(len(numbers), dtype=np.int64)
            for bit, unit in enumerate(units):
                column ^= (numbers >> bit & 1) * unit[axis]
            columns.append(column)
        return tuple(columns)

    def mismatch(self) -> Counterexample | None:
        """Return the unit of a bit, or the last input, that a block has otherwise than `at`."""
        points = prod(axis.extent for axis in self.inputs)
        units = [1 << bit for bit in range(points.bit_length() - 1)]
        for number in (*units, points - 1) if self.searchable else ():
            point = self.point(number)
            (alone,), among = self.at(*point), tuple(int(column[0]) for column in self.block(number, number + 1))
            if alone != among:
                return contradict(self, point, alone, among)
        return None
