# SPDX-License-Identifier: Apache-2.0
"""A (thread, value) layout as a map: plain, behind swizzles, or with coordinates as its strides.

`StridedMap.at` is computed digit by digit in plain integers, `StridedMap.block` by `layouts.batched`. `Layout.__call__`
is neither. At the unit of each digit and at the last point all three must agree: a layout is linear in its digits.

`StridedMap`     the map of a layout, which keeps no points
`of_layout`   a map that keeps them
`of_text`     the map of an atom's operand that isn't a plain layout
`of_rows`     a map from the elements of each thread

>>> tile = Axis("m", 16), Axis("n", 8)
>>> plain = of_layout(read_layout("((4,8),(2,2)):((32,1),(16,8))"), tile)
>>> identity = of_layout(read_layout("((4,8),(2,2)):((2@1,1@0),(1@1,8@0))"), tile)
>>> plain(5, 3), plain == identity, of_layout(read_layout("Sw<1,0,4> o (32,4):(1,32)"), tile)(16, 0)
((9, 3), True, (1, 1))
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import product
from math import prod
from operator import mul
from typing import Any

from layouts import ComposedLayout, Layout, LayoutError, ProfileError, Swizzle, batched, leaves, size
from layouts.composed import on_layout
from layouts.coords import natural
from layouts.int_tuple import nest
from layouts.layout import trust_layout
from layouts.pasted import read_layout
from layouts.tensor import Coordinates
from layouts.text import format_int_tuple
from verify.core.digits import LISTED, count_indices, every, halves, image, modes
from verify.core.verdict import Counterexample
from verify.maps.fragment_map import FragmentMap
from verify.maps.map import LARGEST, NOWHERE, Array, Axis, Map, MapError, MapOrigin, Point, TooWide, has_arrays, inside

KEPT = 1 << 18  # points of a layout whose images are computed once


def of_rows(rows: Sequence[Sequence[int]], extent: tuple[int, int], names: Sequence[str]) -> FragmentMap:
    """Return the map of the elements of each thread: of two names, element x + X*y is (x, y).

    >>> of_rows([[0, 1], [2, 3]], (2, 2), ("m", "n"))(1, 0)
    (0, 1)
    """
    inputs = Axis("thread", len(rows)), Axis("value", len(rows[0]))
    outputs = tuple(map(Axis, names, extent)) if len(names) > 1 else (Axis(names[0], extent[0] * extent[1]),)
    images: dict[Point, tuple[Point, ...]] = {
        (thread, value): ((number % extent[0], number // extent[0]) if len(names) > 1 else (number,),)
        for thread, row in enumerate(rows)
        for value, number in enumerate(row)
    }
    return FragmentMap(inputs, outputs, images)


def of_layout(
    layout: Layout | ComposedLayout,
    outputs: Sequence[Axis],
    inputs: tuple[str, str] = ("lane", "value"),
    origin: MapOrigin | None = None,
    part: tuple[range, range] | None = None,
) -> FragmentMap:
    """Return the map of a layout of rank 2 with its points; an integer e is the element (e % X, e // X) of a tile.

    With `part`, only of these indices of both modes.

    Raises MapError for another rank, for coordinates that are not those of the tile, for a swizzle of negative numbers
    and for more points than a map keeps.
    """
    strided = StridedMap(layout, outputs, inputs)
    threads, values = part or map(range, strided.extents)
    if len(threads) * len(values) > LARGEST:
        raise MapError(f"{layout}: more than {LARGEST} points")
    images: dict[Point, tuple[Point, ...]] = {
        (thread, value): (strided.image(thread, value),) for thread, value in product(threads, values)
    }
    return FragmentMap(strided.inputs, strided.outputs, images, origin or MapOrigin(str(layout)))


class StridedMap(Map):
    """The map of a (thread, value) layout, in the field's words: in the layout T5 V3 holds (m=9, n=3).

    Reports on atoms, tilings and layouts have these words. Other maps name their coordinates, which may be lanes, bytes
    or columns, and have images: lane 5, value 3 has (m=9, n=3).

    Raises MapError for another rank than 2, for coordinates that are not those of the tile, and for a swizzle of
    negative numbers.
    """

    noun, has, have = "layout", "holds", "hold"

    def __init__(
        self,
        layout: Layout | ComposedLayout,
        outputs: Sequence[Axis],
        inputs: tuple[str, str] = ("thread", "value"),
        origin: MapOrigin = NOWHERE,
    ) -> None:
        self.innermost = _innermost(layout)
        if not isinstance(self.innermost.shape, tuple) or len(self.innermost.shape) != 2:
            raise MapError(f"{layout} has rank {len(self.innermost)}, a (thread, value) layout has 2")
        self.layout, self.outputs, self.origin = layout, tuple(outputs), origin
        self.extents = size(self.innermost[0]), size(self.innermost[1])
        self.inputs = tuple(map(Axis, inputs, self.extents))
        self.tile = tuple(axis.extent for axis in self.outputs)
        self.coordinates = any(isinstance(step, Coordinates) for step in leaves(self.innermost.stride))
        # one for each coordinate, or one whose integers are elements
        self.parts = _of_axes(self.innermost, len(self.tile)) if self.coordinates else (self.innermost,)
        self.steps = _steps(layout)
        if self.steps:
            swizzle, offset = self.steps[0]
            least = sum((extent - 1) * min(0, step) for extent, step in _modes(self.innermost))
            _natural(offset + least, swizzle)

    @property
    def plain(self) -> Layout | None:
        """The layout, if it has integers as strides and no swizzle around it: what has proofs."""
        return self.layout if isinstance(self.layout, Layout) and not self.coordinates else None

    @property
    def plain_layout(self) -> Layout:
        """Return the plain layout. Raise TypeError if it is none."""
        if self.plain is None:
            raise TypeError(f"{self.layout} isn't a plain layout")
        return self.plain

    @property
    def key(self) -> Hashable:
        """The layout and the axes."""
        return type(self).__name__, self.layout, self.inputs, self.outputs

    @cached_property
    def searchable(self) -> bool:  # type: ignore[override]
        """Whether it is searched in 64 bits: no other layouts are outside it, nor numbers beyond."""
        try:
            return self.steps is not None and has_arrays() and bool(self._batches)
        except LayoutError:
            return False

    def at(self, *point: int) -> tuple[Point, ...]:
        """Return the image of a (thread, value), digit by digit in plain integers."""
        return (self.image(*point),) if inside(point, self.inputs) else ()

    def image(self, thread: int, value: int) -> Point:
        """Return the only image of a (thread, value), likewise."""
        if self.coordinates:
            return tuple(a + b for a, b in zip(*map(_step, self._vectors, (thread, value)), strict=True))
        threads, values = self._halves
        return _element(outside(self.layout, threads(thread) + values(value)), self.tile)

    @cached_property
    def _halves(self) -> tuple[Callable[[int], int], Callable[[int], int]]:
        """What a thread and what a value adds to the element."""
        thread, value = self.innermost
        return _evaluate_mode(thread), _evaluate_mode(value)

    @cached_property
    def _vectors(self) -> tuple[list[tuple[int, Point]], ...]:
        """The (extent, coordinates of the stride) of each digit, of threads and of values."""
        nothing = (0,) * len(self.tile)
        return tuple(
            [
                (extent, (*(() if step == 0 else step.value), *nothing)[: len(nothing)])
                for extent, step in zip(leaves(half.shape), _strides(half), strict=True)
            ]
            for half in self.innermost
        )

    def block(self, start: int, stop: int) -> tuple[Array, ...]:
        """Return the coordinates of a block, by arrays; of few points they are computed once. Raise TooWide."""
        if not self.searchable:
            raise TooWide(f"{self.layout}: numbers that do not fit 64 bits")
        if prod(self.extents) > KEPT:
            return self._block(start, stop)
        return tuple(column[start:stop] for column in self._all_images)

    @cached_property
    def _all_images(self) -> tuple[Array, ...]:
        return self._block(0, prod(self.extents))

    def _block(self, start: int, stop: int) -> tuple[Array, ...]:
        columns = [batch.values(start, stop) for batch in self._batches]
        if not self.coordinates:
            (number,) = columns
            for extent in self.tile[:-1]:
                columns[-1:] = [number % extent, number // extent]
                number = columns[-1]
        return tuple(columns)

    @cached_property
    def _batches(self) -> list[batched.Batch]:
        """Each coordinate, or the element, as a function of the input's number; raises LayoutError."""
        parts = self.parts if self.coordinates else (self.layout,)
        return [batched.batch(on_layout(_by_thread, part)) for part in parts]

    @cached_property
    def repeats(self) -> int:  # type: ignore[override]
        """All threads, if none of them moves what a value has."""
        still = all(step == 0 for part in self.parts for n, step in modes(*halves(part)[0]) if n > 1)
        return self.extents[0] if still else 1

    def mismatch(self) -> Counterexample | None:
        """Return a digit's unit, or the last point, at which `Layout.__call__` or a block is not what digits give."""
        if "wrong" not in vars(self):
            vars(self)["wrong"] = self._find_mismatch()
        fault: Counterexample | None = vars(self)["wrong"]
        return fault

    def _find_mismatch(self) -> Counterexample | None:
        calls = self.plain is not None
        for point in self.units():
            right = self.image(*point)
            if calls and (called := int(self.layout(*point))) != (number := self.number(right)):
                return misread(point, str(number), str(called), "called")
            if self.searchable:
                place = point[0] * self.extents[1] + point[1]
                among = tuple(int(column[0]) for column in self.block(place, place + 1))
                if among != right:
                    return misread(point, self.show(right), self.show(among))
        return None

    def units(self) -> Iterator[Point]:
        """Yield the point at which exactly one digit is one, for each digit, then the last point."""
        for half, mode in enumerate(halves(self.parts[0])):
            index = 1
            for extent, _ in modes(*mode):
                if extent > 1:
                    yield (index, 0) if half == 0 else (0, index)
                index *= extent
        yield self.extents[0] - 1, self.extents[1] - 1

    def number(self, image: Point) -> int:
        """Return an image as the element x + X*y + ... of the tile, also where it is outside."""
        return sum(c * prod(self.tile[:axis]) for axis, c in enumerate(image))

    def count(self, image: Point) -> int:
        """Return how many points have an image, in plain integers."""
        if self.coordinates:
            digits = [digit for half in self._vectors for digit in half]
            most = max(abs(c) for c in image) + sum((n - 1) * abs(d) for n, step in digits for d in step)
            units = [(2 * most + 1) ** axis for axis in range(len(image))]  # one number for all coordinates
            pairs = [(n, sum(map(mul, units, step))) for n, step in digits]
            return count_indices(pairs, sum(map(mul, units, image)))
        value = self.number(image)
        if _element(value, self.tile) != image:
            return 0
        if self.steps is None:
            return super().count(image)
        for swizzle, offset in reversed(self.steps):
            if value < 0:
                return 0
            value = _apply_outer(swizzle, value) - offset  # a swizzle is its own inverse
        return count_indices(_modes(self.parts[0]), value)

    def show_element(self, number: int) -> str:
        """Return the element x + X*y in words, as `show` does; the last coordinate exceeds the tile if it does."""
        return self.show(_element(number, self.tile))

    def show_input(self, point: Point) -> str:
        """Return an input in words: T5 V3."""
        return "T{} V{}".format(*point)

    def show(self, image: Point) -> str:
        """Return an image in words: (m=9, n=3), bit 3."""
        return f"{self.outputs[0].name} {image[0]}" if len(image) == 1 else super().show(image)


def make_strided(layout: Layout | ComposedLayout, outputs: Sequence[Axis]) -> StridedMap:
    """Return the map of a layout that is to be searched.

    Raises MapError as the class does, and for more points than a map keeps where their numbers do not fit 64 bits.
    """
    m = StridedMap(layout, outputs)
    if prod(m.extents) > LARGEST and not m.searchable:
        raise MapError(f"{layout}: more than {LARGEST} points, and numbers that do not fit 64 bits")
    return m


def misread(point: Point, alone: str, among: str, how: str = "among all points") -> Counterexample:
    """Return the counterexample of a point that two evaluations of ours have otherwise: never reproduced."""
    where = f"T{point[0]} V{point[1]}: {alone} by itself, {among} {how}"
    inputs = dict(zip(("thread", "value"), point, strict=True))
    return Counterexample(inputs, f"{where}: two evaluations differ, which is a bug in Lanecheck", reproduced=False)


def _by_thread(layout: Layout) -> Layout:
    """Return the layout with its values first, so that the indices of a thread follow one another."""
    (thread, value), (thread_step, value_step) = layout.shape, layout.stride  # type: ignore[misc]
    return trust_layout((value, thread), (value_step, thread_step))


def of_text(text: str, fault: str, extents: Mapping[str, int]) -> tuple[StridedMap | None, str]:
    """Return the map of a layout with a swizzle or coordinate strides; None and why, for a plain one its `fault`."""
    try:
        layout = read_layout(text)
        if size(layout) > LARGEST:
            raise MapError(f"{text}: more than {LARGEST} points")
        return StridedMap(layout, tuple(map(Axis, extents, extents.values())), origin=MapOrigin(text)), ""
    except ProfileError:
        return None, fault
    except (LayoutError, MapError) as error:
        return None, str(error)


def outside(layout: Any, value: int) -> int:
    """Return what the swizzles, offsets and layouts around the innermost layout make of its value.

    >>> outside(read_layout("Sw<2,0,2> o 1 o 16:1"), 4), outside(ComposedLayout(Layout(4, 2), 0, Layout(8, 1)), 5)
    (4, 10)
    """
    if isinstance(layout, ComposedLayout):
        return _apply_outer(layout.layout_a, layout.offset + outside(layout.layout_b, value))
    return value


def _apply_outer(outer: Swizzle | Layout | ComposedLayout, index: int) -> int:
    """Return the value of an outer function at an index: S(x) = x ^ the read field, moved onto the changed one."""
    if isinstance(outer, Layout):
        beyond, inside = divmod(index, size(outer))  # the last mode goes on
        return int(image(outer, inside)) + beyond * leaves(outer.shape)[-1] * leaves(outer.stride)[-1]
    if isinstance(outer, ComposedLayout):
        return _apply_outer(outer.layout_a, outer.offset + _apply_outer(outer.layout_b, index))
    field = _natural(index, outer) & outer.yyy_mask
    return index ^ (field >> outer.shift if outer.shift >= 0 else field << -outer.shift)


def _natural(index: int, swizzle: Swizzle) -> int:
    """Return the index of a swizzle; raise MapError for a negative one."""
    try:
        return int(natural(index, swizzle))
    except LayoutError as error:
        raise MapError(str(error)) from error


def _innermost(layout: Layout | ComposedLayout) -> Layout:
    while isinstance(layout, ComposedLayout):
        layout = layout.layout_b
    return layout


def _steps(layout: Layout | ComposedLayout) -> list[tuple[Swizzle, int]] | None:
    """List the swizzles around a layout, innermost first, each with what is added before it; None for others."""
    if isinstance(layout, Layout):
        return []
    before = _steps(layout.layout_b)
    if before is None or not isinstance(layout.layout_a, Swizzle):
        return None
    return [*before, (layout.layout_a, layout.offset)]


def _modes(layout: Layout) -> list[tuple[int, int]]:
    return list(modes(layout.shape, layout.stride))


def _step(digits: Sequence[tuple[int, Point]], index: int) -> Point:
    """Return the sum of digit * stride of an index, by coordinates."""
    total = [0] * len(digits[0][1])
    for extent, step in digits:
        index, digit = divmod(index, extent)
        total = [a + digit * b for a, b in zip(total, step, strict=True)]
    return tuple(total)


def _evaluate_mode(half: Layout) -> Callable[[int], int]:
    """Return the value of one mode of a layout at an index, from a list where that is short."""
    if size(half) <= LISTED:
        return every(half.shape, half.stride).__getitem__
    return partial(image, half)


def _of_axes(layout: Layout, length: int) -> tuple[Layout, ...]:
    """Each coordinate of a layout's values as a layout; raises MapError for one inside a mode of the tile."""
    steps = []
    for half in layout:
        for step in _strides(half):
            flat, shown = (0,) if step == 0 else step.value, format_int_tuple(step)
            if any(isinstance(c, tuple) for c in flat):
                raise MapError(f"{half}: the coordinate {shown} is inside a mode of the tile")
            if any(flat[length:]):
                raise MapError(f"{half}: the coordinate {shown} is beyond the {length} axes of the tile")
            steps.append((*flat[:length], *[0] * (length - len(flat))))
    return tuple(trust_layout(layout.shape, nest(iter(of_axis), layout.shape)) for of_axis in zip(*steps, strict=True))


def _strides(layout: Layout) -> tuple[Any, ...]:
    return leaves(layout.stride)


def _element(value: int, tile: tuple[int, ...]) -> Point:
    """Return an element's coordinates, the first fastest, the last unbounded."""
    point = []
    for extent in tile[:-1]:
        point.append(value % extent)
        value //= extent
    return (*point, value)
