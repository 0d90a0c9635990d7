# SPDX-License-Identifier: Apache-2.0
"""A map of a fragment: which element of an operand each (lane, value) has, whatever text or program it comes from.

`FragmentMap` is the map of index arithmetic, tables, F2 bases, functions and the ISA's formulas. It keeps every point,
in plain integers, so comparing two of them at every point is a proof for that domain. Of a map that has blocks every
point is compared with them when it is kept. Coordinates are named: lane and
value; thread; row and col, m and n and k; byte; the lane and column of tensor memory.

`FragmentMap`   the relation: inputs, outputs, the images of every input
`Packing`       the registers and bits that the values of a lane are in

    tabulate      from a function of the input coordinates
    from_pairs    from a table, forward or inverse, replicated or not
    keep          from any other map
    from_bases    from F2 bases, as Triton's linear layouts have them
    from_operand  from an operand of the ISA tables

`verify.maps.strided` makes one of a layout, `verify.maps.expression` of index arithmetic, `verify.maps.table` of CSV
and JSON, `verify.maps.bases` of the texts of F2 bases. One that is made of another map has its mismatch too.

>>> C = FragmentMap.tabulate(
...     lambda lane, value: (lane // 4 + value // 2 * 8, lane % 4 * 2 + value % 2),
...     (Axis("lane", 32), Axis("value", 4)), (Axis("m", 16), Axis("n", 8)), MapOrigin("C of m16n8k16"))
>>> C(5, 3), C.inverse()(9, 3), C.total, C.owners((9, 3))
((9, 3), (5, 3), True, ((5, 3),))
>>> from isa_tables import instruction
>>> mma = instruction("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
>>> C == FragmentMap.from_operand(mma.operands["C"])
True
"""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

from verify.maps.linear import BasesMap
from verify.maps.map import (
    LARGEST,
    NOWHERE,
    Array,
    Axis,
    IsaFormula,
    Map,
    MapError,
    MapOrigin,
    Point,
    TooWide,
    contradict,
    grid,
    has_arrays,
)

if TYPE_CHECKING:
    import isa_tables
    from verify.core.verdict import Counterexample


@dataclass(frozen=True)
class Packing:
    """Where a value is in the registers of its lane: value i has the bits i*bits + shift and up, register 0 first.

    >>> Packing(16).place(3), Packing(8, shift=2).place(5), Packing(64).place(1)
    ((1, 16), (1, 10), (2, 0))
    """

    bits: int  # of register for each value
    register: int = 32  # bits of a register
    shift: int = 0  # unused bits below each value

    def place(self, value: int) -> tuple[int, int]:
        """(register, lowest bit) of a value."""
        at = value * self.bits
        return at // self.register, at % self.register + self.shift


@dataclass(frozen=True, eq=False)
class FragmentMap(Map):
    """A map with every pair of it kept: a table, index arithmetic, bases or a function, evaluated at every point.

    A plain map has one image for each input. An input may have none (a lane that does not contribute) or several (the
    inverse of a replicated map). Two maps are equal if their axes are and each input has the same images.
    """

    inputs: tuple[Axis, ...]  # lane and value, thread, byte, ...
    outputs: tuple[Axis, ...]  # m and n, lane and column, ...: with the extents of the tile or memory
    # input -> its images; inputs without one are left out
    images: Mapping[Point, tuple[Point, ...]]
    origin: MapOrigin = NOWHERE  # the text and file that it comes from
    lines: Mapping[Point, int] = field(default_factory=dict)  # input -> line of the origin's file, where each has one
    packing: Packing | None = None  # of the values in registers, where it is known
    misread: Counterexample | None = None  # a point that two evaluations of the map differ at whose points these are

    @classmethod
    def tabulate(
        cls,
        function: Callable[..., Any],
        inputs: Sequence[Axis],
        outputs: Sequence[Axis],
        origin: MapOrigin = NOWHERE,
        packing: Packing | None = None,
    ) -> FragmentMap:
        """Return the map of a function of the input coordinates; it returns an image (a tuple, an int), or None.

        >>> half = FragmentMap.tabulate(lambda i: i // 2 if i else None, [Axis("i", 4)], [Axis("j", 2)])
        >>> half.at(0), half(3), half.inverse().at(1)
        ((), (1,), ((2,), (3,)))

        Raises MapError for an image that isn't a tuple of as many ints as there are outputs.
        """
        _check_size(inputs)
        images: dict[Point, tuple[Point, ...]] = {}
        for point in grid(inputs):
            image = function(*point)
            if image is not None:
                images[point] = (_point(image, outputs, point),)
        return cls(tuple(inputs), tuple(outputs), images, origin, packing=packing)

    @classmethod
    def from_pairs(
        cls,
        inputs: Sequence[Axis],
        outputs: Sequence[Axis],
        pairs: Iterable[tuple[Point, Point]],
        origin: MapOrigin = NOWHERE,
        lines: Mapping[Point, int] | None = None,
    ) -> FragmentMap:
        """Return the relation with these (input, image) pairs, each once however often it is given.

        >>> FragmentMap.from_pairs([Axis("lane", 2)], [Axis("m", 4)], [((0,), (3,)), ((0,), (1,))]).at(0)
        ((3,), (1,))
        """
        images: dict[Point, dict[Point, None]] = {}
        for count, (point, image) in enumerate(pairs):
            if count == LARGEST:
                raise MapError(f"more than {LARGEST} pairs")
            images.setdefault(_point(point, inputs, point), {})[_point(image, outputs, point)] = None
        relation = {point: tuple(several) for point, several in images.items()}
        return cls(tuple(inputs), tuple(outputs), relation, origin, lines or {})

    @classmethod
    def keep(cls, m: Map) -> FragmentMap:
        """Return any map with its points; raise MapError for too many."""
        if isinstance(m, FragmentMap):
            return m
        _check_size(m.inputs)
        images = {point: m.at(*point) for point in m.domain}
        return cls(m.inputs, m.outputs, images, m.origin, misread=_compare_blocks(m, images) or m.mismatch())

    @classmethod
    def from_bases(
        cls, bases: Mapping[str, Sequence[Sequence[int]]], outputs: Sequence[Axis], origin: MapOrigin = NOWHERE
    ) -> FragmentMap:
        """Return the F2-linear map with its points: bit b of input `name` has the image bases[name][b]."""
        return cls.keep(BasesMap(bases, outputs, origin))

    @classmethod
    def from_operand(cls, operand: isa_tables.Operand) -> FragmentMap:
        """Return the map of an operand of the ISA tables, with the axes' names of the ISA: B is (k, n).

        In registers (lane, value) -> element, for the lanes that contribute; in tensor memory element -> place.
        Raises IsaError where the tables have no such map.
        """
        tile = tuple(map(Axis, operand.axes, operand.extent))
        origin = MapOrigin(f"{operand.name} of the PTX ISA", operand.file)
        if operand.placed:
            return cls._tensor_memory_places(operand, tile, origin)
        inputs = Axis("lane", operand.lanes), Axis("value", operand.values)
        packing = Packing(operand.bits, operand.bits * operand.per_register, operand.shift)
        lanes = [lane for lane in range(operand.lanes) if operand.holds(lane)]
        kept = cls.keep(IsaFormula(operand.locate, operand.name, lanes, operand.values, tile))
        images: dict[Point, tuple[Point, ...]] = {
            (lanes[thread], value): image for (thread, value), image in kept.images.items()
        }
        return cls(inputs, tile, images, origin, packing=packing, misread=kept.misread)

    @classmethod
    def _tensor_memory_places(
        cls, operand: isa_tables.Operand, tile: tuple[Axis, ...], origin: MapOrigin
    ) -> FragmentMap:
        """Return the places of every element in tensor memory; each output is as long as the places need."""
        copies = range(operand.copies)
        placed = [((x, y), [operand.place(x, y, copy) for copy in copies]) for x, y in grid(tile)]
        names = list(placed[0][1][0])
        ends = {name: 1 + max(place[name] for _, places in placed for place in places) for name in names}
        pairs = ((point, tuple(place[name] for name in names)) for point, places in placed for place in places)
        return cls.from_pairs(tile, [Axis(name, end) for name, end in ends.items()], pairs, origin)

    @cached_property
    def searchable(self) -> bool:  # type: ignore[override]
        """Whether each input has one image, of numbers of 64 bits."""
        return self.total and has_arrays() and self._columns is not None

    def block(self, start: int, stop: int) -> tuple[Array, ...]:
        """Return the coordinates of a block, of arrays that have each image at its input's number. Raises TooWide."""
        if not self.searchable or self._columns is None:
            raise TooWide(f"{self.origin}: an input without just one image, or numbers that do not fit 64 bits")
        return tuple(column[start:stop] for column in self._columns)

    @cached_property
    def _columns(self) -> tuple[Array, ...] | None:
        """Each coordinate of the images, by the input's number; None where one is too wide."""
        import numpy as np

        units = [prod(axis.extent for axis in self.inputs[place + 1 :]) for place in range(len(self.inputs))]
        numbers = np.array(list(self.images), dtype=np.int64) @ np.array(units, dtype=np.int64)
        columns = np.empty((len(self.outputs), len(numbers)), dtype=np.int64)
        try:
            columns[:, numbers] = np.array([image for (image,) in self.images.values()], dtype=np.int64).T
        except OverflowError:
            return None
        return tuple(columns)

    @cached_property
    def key(self) -> Hashable:
        """The pairs and the axes: neither the text nor the file that they come from."""
        pairs = tuple((point, tuple(sorted(self.images[point]))) for point in self.domain)
        return type(self).__name__, self.inputs, self.outputs, pairs

    def at(self, *point: int) -> tuple[Point, ...]:
        """Return every image of an input."""
        return self.images.get(point, ())

    def __len__(self) -> int:
        """Return the number of pairs."""
        return sum(map(len, self.images.values()))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FragmentMap):
            return NotImplemented
        return self.key == other.key

    def __hash__(self) -> int:
        return hash((self.inputs, self.outputs, len(self.images)))

    @cached_property
    def domain(self) -> tuple[Point, ...]:
        """The inputs that have an image, in ascending order."""
        return tuple(sorted(self.images))

    @cached_property
    def functional(self) -> bool:
        """Whether no input has several images."""
        return {1}.issuperset(map(len, self.images.values()))

    @cached_property
    def total(self) -> bool:
        """Whether each input within the extents has one image, and no input is outside them."""
        as_many = len(self.images) == prod(axis.extent for axis in self.inputs)
        return as_many and self.functional and all(map(self.images.__contains__, grid(self.inputs)))

    @cached_property
    def _owners(self) -> Mapping[Point, tuple[Point, ...]]:
        owners: dict[Point, list[Point]] = {}
        for point in self.domain:
            for image in self.images[point]:
                owners.setdefault(image, []).append(point)
        return {image: tuple(points) for image, points in owners.items()}

    def owners(self, image: Point) -> tuple[Point, ...]:
        """Return the inputs that have an image, in ascending order."""
        return self._owners.get(image, ())

    def inverse(self) -> FragmentMap:
        """Return the relation read backwards: an image that several inputs have gets all of them."""
        return FragmentMap(self.outputs, self.inputs, self._owners, self.origin, misread=self.misread)

    def then(self, after: FragmentMap) -> FragmentMap:
        """Return the composition: an input's images under `after` of its images under this map.

        A forward map followed by its own inverse, as another program states it, must be the identity.
        """
        pairs = ((point, last) for point, image in self.pairs() for last in after.at(*image))
        return FragmentMap.from_pairs(self.inputs, after.outputs, pairs, self.origin)

    def orient(self, inputs: Sequence[str]) -> FragmentMap:
        """Return the map with inputs of these names, in their order: itself, or its inverse, coordinates reordered.

        Raises MapError if neither side of the map has just these names.
        """
        for relation in (self, self.inverse()):
            names = [axis.name for axis in relation.inputs]
            if sorted(names) == sorted(inputs):
                return relation.reorder(inputs, [axis.name for axis in relation.outputs])
        sides = " -> ".join(f"({', '.join(axis.name for axis in side)})" for side in (self.inputs, self.outputs))
        raise MapError(f"the map is {sides}, not from ({', '.join(inputs)})")

    def reorder(self, inputs: Sequence[str], outputs: Sequence[str]) -> FragmentMap:
        """Return the same relation with its coordinates in another order, by their names."""
        take, give = (
            [[axis.name for axis in axes].index(name) for name in names]
            for axes, names in ((self.inputs, inputs), (self.outputs, outputs))
        )
        if take == sorted(take) and give == sorted(give):
            return self
        pairs = {
            tuple(point[i] for i in take): tuple(tuple(image[i] for i in give) for image in images)
            for point, images in self.images.items()
        }
        lines = {tuple(point[i] for i in take): line for point, line in self.lines.items()}
        sides = tuple(self.inputs[i] for i in take), tuple(self.outputs[i] for i in give)
        return replace(self, inputs=sides[0], outputs=sides[1], images=pairs, lines=lines)

    def restrict(self, inputs: Container[Point]) -> FragmentMap:
        """Return the relation at some of its inputs alone."""
        return replace(self, images={point: images for point, images in self.images.items() if point in inputs})

    def rename(self, names: Mapping[str, str]) -> FragmentMap:
        """Return the same relation with other names of its coordinates."""
        sides = [
            tuple(Axis(names.get(axis.name, axis.name), axis.extent) for axis in axes)
            for axes in (self.inputs, self.outputs)
        ]
        return replace(self, inputs=sides[0], outputs=sides[1])

    def mismatch(self) -> Counterexample | None:
        """Return a point at which two evaluations differ of the map whose points these are."""
        return self.misread

    def source(self, point: Point) -> str:
        """Where the image of an input comes from: file and line, or the text."""
        return str(self.origin._replace(line=self.lines[point])) if point in self.lines else str(self.origin)


def _compare_blocks(m: Map, images: Mapping[Point, tuple[Point, ...]]) -> Counterexample | None:
    """Return the first point that the blocks of a map have otherwise than `at`, whose images are given."""
    if not m.searchable:
        return None
    blocks = zip(*(column.tolist() for column in m.block(0, len(m))), strict=True)
    for number, among in enumerate(blocks):
        point = m.point(number)
        if images[point] != (among,):
            return contradict(m, point, images[point][0], among)
    return None


def _check_size(inputs: Sequence[Axis]) -> None:
    if prod(axis.extent for axis in inputs) > LARGEST:
        raise MapError(f"more than {LARGEST} points")


def _point(value: object, axes: Sequence[Axis], at: Point) -> Point:
    """Return a point as a tuple of ints, one for each axis; raise MapError for anything else, also true and 1.0."""
    point = tuple(value) if isinstance(value, tuple | list) else (value,)
    if len(point) != len(axes) or any(type(c) is not int for c in point):
        names = ", ".join(axis.name for axis in axes)
        raise MapError(f"at {at}: expected integers ({names}), found {value!r:.80}")
    return point
