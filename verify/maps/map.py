# SPDX-License-Identifier: Apache-2.0
"""A map from named input coordinates to named output coordinates: what every check of a map reads.

A point may have no image, one, or several. Every map has two evaluations that share nothing below its parsed form:

    at      one point in plain integers, digit by digit: the referee. It never calls `Layout.__call__`
    block   many points at once as an array, where there are more than are kept

`verify.maps.search` finds a fault by blocks, and then asks `at`. Where the two differ, that is an error of ours and no
finding. The proofs have a third reading, from shape and stride alone. Bugs planted in each of the three end in a
contradiction and in exit 3 (`tests/verify/maps/test_planted_maps.py`, `test_planted_commands.py`).

`Map`       what they all have: layouts (`StridedMap`), bases, expressions, arrays, formulas (`IsaFormula`), tables
`Axis`      a named coordinate with its extent: 0 <= coordinate < extent
`MapOrigin`    the text, file and line that a map comes from
`MapError`  a map that cannot be made, or asked for an image that it has not
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cached_property
from itertools import product
from math import prod
from typing import Any, ClassVar, NamedTuple, TypeAlias

from verify.core.verdict import Counterexample

Point: TypeAlias = "tuple[int, ...]"
Array: TypeAlias = Any  # of numpy, which is loaded inside `block` alone
LARGEST = 1 << 20  # pairs of a map that keeps them
WARP = 32  # lanes
WAVE = 64  # lanes of AMD's, the most that have one instruction to themselves


class MapError(ValueError):
    """A map that cannot be made, or an image that it does not have."""


class TooWide(MapError):
    """Images that do not fit 64 bits: they are asked for one at a time."""


class Axis(NamedTuple):
    """A named coordinate: 0 <= coordinate < extent. An image outside is kept, and refutes `in bounds`."""

    name: str
    extent: int

    @property
    def word(self) -> str:
        """What messages call the coordinate: the lanes of several warps are threads.

        >>> Axis("lane", 32).word, Axis("lane", 128).word
        ('lane', 'thread')
        """
        return "thread" if self.name == "lane" and self.extent > WAVE else self.name


class MapOrigin(NamedTuple):
    """Where a map comes from: its text, and the file and line if it was read from a file.

    >>> str(MapOrigin("lane/4", "maps.toml", 3)), str(MapOrigin("lane/4"))
    ('maps.toml:3', 'lane/4')
    """

    text: str
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        return (f"{self.file}:{self.line}" if self.line else self.file) or self.text


NOWHERE = MapOrigin("")


class Map:
    """A relation between named input coordinates and named output coordinates.

    Two maps with equal keys are equal functions: a key has the class, the parsed form, and the names and extents of the
    axes, but neither a file nor a line.
    """

    inputs: tuple[Axis, ...]
    outputs: tuple[Axis, ...]
    origin: MapOrigin
    noun: ClassVar[str] = "map"  # what messages call it
    has: ClassVar[str] = "has"  # what messages say of an input and its image
    have: ClassVar[str] = "have"  # of two inputs
    searchable: bool = False  # whether it has blocks; each input then has one image
    samples: int = 32  # points of a block that are compared with `at`
    repeats: int = 1  # the first axis is so often as long as what differs: the rest has the same images

    @property
    def key(self) -> Hashable:
        """What the images depend on, and nothing else."""
        raise NotImplementedError

    def at(self, *point: int) -> tuple[Point, ...]:
        """Return every image of an input, in plain integers."""
        raise NotImplementedError

    def block(self, start: int, stop: int) -> tuple[Array, ...]:
        """Return each coordinate of the images of the inputs from one number to before another; raise TooWide.

        Inputs are numbered in ascending order, the last axis fastest.
        """
        raise NotImplementedError

    def mismatch(self) -> Counterexample | None:
        """Return a point at which two evaluations of ours differ, None if none is known."""
        return None

    def count(self, image: Point) -> int:
        """Return how many inputs have an image, in plain integers."""
        return sum(reached == image for point in self.domain for reached in self.at(*point))

    @property
    def domain(self) -> Sequence[Point]:
        """The inputs that have an image, in ascending order."""
        return tuple(grid(self.inputs))

    @property
    def total(self) -> bool:
        """Whether each input within the extents has one image, and no input is outside them."""
        return True

    def point(self, number: int) -> Point:
        """Return the input of a number."""
        coordinates = []
        for axis in reversed(self.inputs):
            number, coordinate = divmod(number, axis.extent)
            coordinates.append(coordinate)
        return tuple(coordinates[::-1])

    def __call__(self, *point: int) -> Point:
        """Return the only image of an input; raise MapError if it has none or several."""
        images = self.at(*point)
        if len(images) != 1:
            raise MapError(f"{self.show_input(point)} has {len(images)} images, not one")
        return images[0]

    def __len__(self) -> int:
        """Return the number of pairs."""
        return prod(axis.extent for axis in self.inputs)

    def pairs(self) -> Iterator[tuple[Point, Point]]:
        """Yield every (input, image), inputs in ascending order."""
        for point in self.domain:
            yield from ((point, image) for image in self.at(*point))

    def rows(self) -> list[list[Point]]:
        """Return the image of each (input, input): rows of the first input axis, as a (thread, value) layout has.

        Raises MapError unless the map is total, from two axes.
        """
        if len(self.inputs) != 2 or not self.total:
            raise MapError(f"{self.origin} isn't a map of every {' and '.join(axis.name for axis in self.inputs)}")
        threads, values = self.inputs
        return [[self(t, v) for v in range(values.extent)] for t in range(threads.extent)]

    def elements(self) -> list[list[int]]:
        """Return the element x + X*y of each (input, input). Raise MapError as `rows` and `element` do."""
        for point, image in self.pairs():
            if not inside(image, self.outputs):
                raise MapError(f"{self.show_input(point)} {self.has} {self.show(image)}, outside the tile")
        return [[self.element(image) for image in row] for row in self.rows()]

    def element(self, image: Point) -> int:
        """Return an image as one number: x + X*y + X*Y*z, with X, Y the extents of the outputs.

        Raises MapError for an image outside of them: its number would be that of another one.
        """
        if not inside(image, self.outputs):
            raise MapError(f"{self.show(image)} is outside the tile")
        number, unit = 0, 1
        for coordinate, axis in zip(image, self.outputs, strict=True):
            number += unit * coordinate
            unit *= axis.extent
        return number

    def source(self, point: Point) -> str:
        """Return where the image of an input comes from: file and line, or the text."""
        return str(self.origin)

    def show_input(self, point: Point) -> str:
        """Return an input in words: lane 5, value 3."""
        return ", ".join(f"{axis.word} {c}" for axis, c in zip(self.inputs, point, strict=True))

    def show(self, image: Point) -> str:
        """Return an image in words: (m=9, n=3)."""
        return "(" + ", ".join(f"{axis.word}={c}" for axis, c in zip(self.outputs, image, strict=True)) + ")"


class IsaFormula(Map):
    """A formula of the ISA at the lanes of some threads: (thread, value) -> the coordinates of an element.

    Its `block` and `at` evaluate one formula, of arrays and of integers: a bug in the formula itself shows where a
    recording has the operand.

    >>> tile = Axis("m", 8), Axis("n", 8)
    >>> C = IsaFormula(lambda lane, value: (lane // 4, lane % 4 * 2 + value), "C", [0, 4], 2, tile)
    >>> C(1, 1), [column.tolist() for column in C.block(2, 4)]
    ((1, 1), [[1, 1], [0, 1]])
    """

    samples = 4  # the two evaluations have one formula, whose integers are slow

    def __init__(
        self,
        locate: Callable[[Any, Any], Sequence[Any]],
        key: Hashable,
        lanes: Sequence[int],
        values: int,
        outputs: Sequence[Axis],
        names: tuple[str, str] = ("thread", "value"),
    ) -> None:
        self.locate, self.formula, self.lanes = locate, key, tuple(lanes)
        self.inputs = Axis(names[0], len(self.lanes)), Axis(names[1], values)
        self.outputs, self.origin, self.searchable = tuple(outputs), NOWHERE, has_arrays()

    @property
    def key(self) -> Hashable:
        """The formula's key, the lanes and the axes."""
        return type(self).__name__, self.formula, self.lanes, self.inputs, self.outputs

    def at(self, *point: int) -> tuple[Point, ...]:
        """Return the image of a (thread, value), in plain integers."""
        if not inside(point, self.inputs):
            return ()
        thread, value = point
        return (tuple(map(int, self.locate(self.lanes[thread], value))),)

    def block(self, start: int, stop: int) -> tuple[Array, ...]:
        """Return the coordinates of a block, by arrays; those of whole threads by a column of lanes."""
        import numpy as np

        values = self.inputs[1].extent
        first, last = start // values, -(-stop // values)
        lanes = np.array(self.lanes[first:last], dtype=np.int64)
        part = slice(start - first * values, stop - first * values)
        every = self.locate(lanes[:, None], np.arange(values, dtype=np.int64)[None, :])
        return tuple(np.broadcast_to(column, (len(lanes), values)).reshape(-1)[part] for column in every)

    @cached_property
    def repeats(self) -> int:  # type: ignore[override]
        """All threads, if the formula does not read the lane."""
        import numpy as np

        columns = self.locate(np.array(self.lanes[:2])[:, None], np.arange(self.inputs[1].extent)[None, :])
        return len(self.lanes) if all(np.ndim(column) < 2 or len(column) == 1 for column in columns) else 1


def contradict(m: Map, point: Point, alone: Point, among: Point) -> Counterexample:
    """Return the counterexample of a point that two evaluations of a map differ at: never reproduced."""
    inputs = {axis.word: c for axis, c in zip(m.inputs, point, strict=True)}
    where = f"{m.show_input(point)}: {m.show(alone)} by itself, {m.show(among)} among all points"
    return Counterexample(inputs, f"{where}: two evaluations differ, which is a bug in Lanecheck", reproduced=False)


def has_arrays() -> bool:
    """Return whether numpy is here: without it, as in a browser, every point is asked of `Map.at`."""
    try:
        import numpy as np
    except ImportError:
        return False
    return bool(np)


def inside(point: Point, axes: Sequence[Axis]) -> bool:
    """Whether each coordinate is within the extent of its axis."""
    return all(0 <= coordinate < axis.extent for coordinate, axis in zip(point, axes, strict=True))


def grid(axes: Sequence[Axis]) -> Iterator[Point]:
    """Every point within the extents, in ascending order.

    >>> list(grid([Axis("lane", 2), Axis("value", 2)]))
    [(0, 0), (0, 1), (1, 0), (1, 1)]
    """
    return product(*(range(axis.extent) for axis in axes))
