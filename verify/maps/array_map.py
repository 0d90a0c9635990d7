# SPDX-License-Identifier: Apache-2.0
"""A map that a program gives twice: at all points as arrays, and at one point in plain integers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from verify.maps.map import NOWHERE, Array, Axis, Map, Point, inside


class ArrayMap(Map):
    """The map of arrays, one for each output, beside a function that computes one point by itself.

    >>> from layouts.arrays import np
    >>> m = ArrayMap("twice", [Axis("thread", 2), Axis("value", 2)], [np.array([[0, 2], [4, 6]])], [Axis("element", 8)],
    ...              lambda thread, value: (4 * thread + 2 * value,))
    >>> m(1, 0), m.block(2, 4)[0].tolist()
    ((4,), [4, 6])
    """

    noun, has, have = "layout", "holds", "hold"
    searchable = True
    samples = 1  # the last point of a block: what one point takes is much of what all take

    def __init__(
        self,
        key: Hashable,
        inputs: Sequence[Axis],
        columns: Sequence[Array],
        outputs: Sequence[Axis],
        locate: Callable[..., Point],
    ) -> None:
        self.program, self.inputs, self.outputs, self.origin = key, tuple(inputs), tuple(outputs), NOWHERE
        self.columns, self.locate = tuple(column.reshape(-1) for column in columns), locate

    @property
    def key(self) -> Hashable:
        """What the program's arrays depend on, by its name, and the axes."""
        return type(self).__name__, self.program, self.inputs, self.outputs

    def at(self, *point: int) -> tuple[Point, ...]:
        """Return the image of an input, in plain integers."""
        return (self.locate(*point),) if inside(point, self.inputs) else ()

    def block(self, start: int, stop: int) -> tuple[Array, ...]:
        """Return the coordinates of a block, of the arrays."""
        return tuple(column[start:stop] for column in self.columns)
