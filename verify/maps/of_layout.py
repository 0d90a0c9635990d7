# SPDX-License-Identifier: Apache-2.0
"""A (thread, value) layout as a map: plain, behind swizzles, or with coordinates as its strides.

Every image is computed digit by digit in plain integers, without `Layout.__call__`; of many points, blocks are computed
by `layouts.batched`, and searched in `verify.core.search`.

`of_layout`   the map, which keeps its points
`searched`    the map of a layout that is verified: it keeps none, and is worded as a layout
`of_text`     such a map of an atom's operand

>>> tile = Axis("m", 16), Axis("n", 8)
>>> plain = of_layout(read_layout("((4,8),(2,2)):((32,1),(16,8))"), tile)
>>> identity = of_layout(read_layout("((4,8),(2,2)):((2@1,1@0),(1@1,8@0))"), tile)
>>> plain(5, 3), plain == identity, of_layout(read_layout("Sw<1,0,4> o (32,4):(1,32)"), tile)(16, 0)
((9, 3), True, (1, 1))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from itertools import accumulate, product
from math import prod
from operator import mul
from typing import TYPE_CHECKING, Any

from layouts import ComposedLayout, Layout, LayoutError, ProfileError, Swizzle, leaves, size
from layouts.arrays import np
from layouts.coords import natural
from layouts.int_tuple import nest
from layouts.layout import trusted
from layouts.pasted import read_layout
from layouts.tensor import Coordinates
from layouts.text import format_int_tuple
from verify.core.digits import FEW, every, image, modes, often, walks
from verify.maps.fragment_map import LARGEST, Axis, FragmentMap, MapError, Origin, Point
from verify.maps.images import Images

if TYPE_CHECKING:
    from verify.core.search import Numbers

FITTING = 1 << 62  # numbers below it fit 64 bits, with room for one sum


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


class LayoutMap(FragmentMap):
    """The map of a (thread, value) layout that is verified, in the field's words: in the layout T5 V3 holds (m=9, n=3).

    Reports on atoms, tilings and layouts have these words. Other maps name their coordinates, which may be lanes, bytes
    or columns, and have images: lane 5, value 3 has (m=9, n=3).
    """

    noun, has, have = "layout", "holds", "hold"

    def show_input(self, point: Point) -> str:
        """An input in words: T5 V3."""
        return "T{} V{}".format(*point)

    def show(self, image: Point) -> str:
        """An image in words: (m=9, n=3), bit 3."""
        return f"{self.outputs[0].name} {image[0]}" if len(image) == 1 else super().show(image)


def of_layout(
    layout: Layout | ComposedLayout,
    outputs: Sequence[Axis],
    inputs: tuple[str, str] = ("lane", "value"),
    origin: Origin | None = None,
    part: tuple[range, range] | None = None,
) -> FragmentMap:
    """The map of a layout of rank 2; an integer e is the element (e % X, e // X) of a tile of X rows.

    With `part`, only of these indices of both modes.

    Raises MapError for another rank, for coordinates that are not those of the tile, for a swizzle of negative numbers
    and for more points than a map keeps.
    """
    tile = tuple(outputs)
    images = LayoutImages(layout, tile)
    return FragmentMap(images.axes(inputs), tile, images.kept(part), origin or Origin(str(layout)))


def searched(
    layout: Layout | ComposedLayout,
    outputs: Sequence[Axis],
    origin: Origin | None = None,
    numbers: Callable[[], Numbers] | None = None,
) -> LayoutMap:
    """The map of a (thread, value) layout that is verified. It keeps no points, unless its numbers do not fit 64 bits.

    `numbers` are those of a plain layout where they are computed otherwise than here.

    Raises MapError as `of_layout`, but not for many points that are not kept.
    """
    tile = tuple(outputs)
    images = LayoutImages(layout, tile, numbers)
    found = images if numbers or images.fits else images.kept()
    return LayoutMap(images.axes(("thread", "value")), tile, found, origin or Origin(str(layout)))


class LayoutImages(Images):
    """The images of a layout of rank 2, behind swizzles, or with coordinates as its strides."""

    def __init__(
        self, layout: Layout | ComposedLayout, tile: Sequence[Axis], numbers: Callable[[], Numbers] | None = None
    ) -> None:
        inner = _innermost(layout)
        if not isinstance(inner.shape, tuple) or len(inner.shape) != 2:
            raise MapError(f"{layout} has rank {len(inner)}, a (thread, value) layout has 2")
        super().__init__([size(mode) for mode in inner], [axis.extent for axis in tile])
        self.layout, self.numbers = layout, numbers
        self.coordinates = any(isinstance(step, Coordinates) for step in leaves(inner.stride))
        # one for each coordinate, or one whose integers are elements
        self.parts = _of_axes(inner, len(tile)) if self.coordinates else (inner,)
        self.steps = _steps(layout)
        if self.steps:
            swizzle, offset = self.steps[0]
            _natural(offset + sum((extent - 1) * min(0, step) for extent, step in _modes(inner)), swizzle)
        self.few = numbers is None and self.steps is not None and prod(self.extents) <= FEW

    def axes(self, names: tuple[str, str]) -> tuple[Axis, ...]:
        """Both inputs under these names."""
        return tuple(map(Axis, names, self.extents))

    def kept(self, part: tuple[range, range] | None = None) -> dict[Point, tuple[Point, ...]]:
        """The images at all or some threads and values; raises MapError for too many."""
        threads, values = part or map(range, self.extents)
        if len(threads) * len(values) > LARGEST:
            unfit = "" if self.fits else ", and numbers that do not fit 64 bits"
            raise MapError(f"{self.layout}: more than {LARGEST} points{unfit}")
        return {(thread, value): (self.image(thread, value),) for thread, value in product(threads, values)}

    def image(self, thread: int, value: int) -> Point:
        """The image of one (thread, value), digit by digit in plain integers."""
        found = [threads(thread) + values(value) for threads, values in self._halves]
        return tuple(found) if self.coordinates else _element(outside(self.layout, found[0]), self.tile)

    @cached_property
    def _halves(self) -> list[tuple[Callable[[int], int], Callable[[int], int]]]:
        """What a thread and what a value adds to each coordinate."""
        return [(_added(thread), _added(value)) for thread, value in self.parts]

    @cached_property
    def fits(self) -> bool:
        """Whether it is searched in 64 bits: no other layouts are outside it, nor numbers beyond."""
        if (listed := self.listed) is not None:
            return all(-FITTING < min(numbers) and max(numbers) < FITTING for numbers in listed)
        try:
            return self.steps is not None and all(column.points for column in self.columns)
        except LayoutError:
            return False

    @cached_property
    def listed(self) -> list[list[int]] | None:
        """Each coordinate at every point of few, or the elements, in plain integers."""
        if not self.few:
            return None
        return [[outside(self.layout, number) for row in walks(part) for number in row] for part in self.parts]

    @cached_property
    def listed_elements(self) -> list[int] | None:
        """The elements at every point of few, in plain integers."""
        if (listed := self.listed) is None:
            return None
        return [self._inside(*image) for image in zip(*listed, strict=True)] if self.coordinates else listed[0]

    @cached_property
    def columns(self) -> tuple[Numbers, ...]:
        """Each coordinate of the images, by blocks."""
        if self.coordinates:
            return tuple(self._numbers(axis, part, self.coordinate(axis)) for axis, part in enumerate(self.parts))
        units = accumulate(self.tile[:-1], mul, initial=1)
        return tuple(
            self.elements.then(partial(_digit, unit=unit, extent=extent), self.coordinate(axis))
            for axis, (unit, extent) in enumerate(zip(units, (*self.tile[:-1], 0), strict=True))
        )

    @cached_property
    def elements(self) -> Numbers:
        """The images as elements of the tile, by blocks."""
        if self.numbers is not None:
            return self.numbers()
        return super().elements if self.coordinates else self._numbers(0, self.layout, self.element)

    def _numbers(self, part: int, layout: Layout | ComposedLayout, alone: Callable[[int, int], int]) -> Numbers:
        """One part's numbers by blocks: of few points those that are listed."""
        from verify.core import search

        if (listed := self.listed) is None:
            return search.of_layout(layout, alone)
        flat = np.array(listed[part], dtype=np.int64)
        threads, values = self.extents
        return search.Numbers(threads, values, lambda start, stop: flat[start:stop], alone, compared=True)

    def same(self, other: object) -> bool:
        """Whether other images are known to be these: those of the same layout on the same tile."""
        return isinstance(other, LayoutImages) and (self.layout, self.tile) == (other.layout, other.tile)

    def count(self, image: Point) -> int:
        """How many points have an image, in plain integers."""
        if self.coordinates:
            most = max(abs(c) for c in image) + sum((n - 1) * abs(d) for part in self.parts for n, d in _modes(part))
            units = [(2 * most + 1) ** axis for axis in range(len(image))]  # one number for all coordinates
            strides = zip(*([d for _, d in _modes(part)] for part in self.parts), strict=True)
            pairs = zip((n for n, _ in _modes(self.parts[0])), (sum(map(mul, units, d)) for d in strides), strict=True)
            return often(pairs, sum(map(mul, units, image)))
        value = self.number(image)
        if _element(value, self.tile) != image:
            return 0
        for swizzle, offset in reversed(self.steps or ()):
            if value < 0:
                return 0
            value = _applied(swizzle, value) - offset  # a swizzle is its own inverse
        return often(_modes(self.parts[0]), value)


def _digit(number: Any, unit: int, extent: int) -> Any:
    """A coordinate of an element; the last has the extent 0: it is unbounded."""
    return number // unit % extent if extent else number // unit


def of_text(text: str, fault: str, extents: Mapping[str, int]) -> tuple[FragmentMap | None, str]:
    """The map of a layout with a swizzle or with coordinates as strides; None and why, for a plain one its `fault`."""
    try:
        layout = read_layout(text)
        if size(layout) > LARGEST:
            raise MapError(f"{text}: more than {LARGEST} points")
        return searched(layout, tuple(map(Axis, extents, extents.values())), Origin(text)), ""
    except ProfileError:
        return None, fault
    except (LayoutError, MapError) as error:
        return None, str(error)


def outside(layout: Any, value: int) -> int:
    """What the swizzles, offsets and layouts around the innermost layout make of its value.

    >>> outside(read_layout("Sw<2,0,2> o 1 o 16:1"), 4), outside(ComposedLayout(Layout(4, 2), 0, Layout(8, 1)), 5)
    (4, 10)
    """
    if isinstance(layout, ComposedLayout):
        return _applied(layout.layout_a, layout.offset + outside(layout.layout_b, value))
    return value


def _applied(outer: Swizzle | Layout | ComposedLayout, index: int) -> int:
    """The value of an outer function at an index: S(x) = x ^ the read field, moved onto the changed one."""
    if isinstance(outer, Layout):
        beyond, inside = divmod(index, size(outer))  # the last mode goes on
        return int(image(outer, inside)) + beyond * leaves(outer.shape)[-1] * leaves(outer.stride)[-1]
    if isinstance(outer, ComposedLayout):
        return _applied(outer.layout_a, outer.offset + _applied(outer.layout_b, index))
    field = _natural(index, outer) & outer.yyy_mask
    return index ^ (field >> outer.shift if outer.shift >= 0 else field << -outer.shift)


def _natural(index: int, swizzle: Swizzle) -> int:
    """The index of a swizzle; raises MapError for a negative one."""
    try:
        return int(natural(index, swizzle))
    except LayoutError as error:
        raise MapError(str(error)) from error


def _innermost(layout: Layout | ComposedLayout) -> Layout:
    while isinstance(layout, ComposedLayout):
        layout = layout.layout_b
    return layout


def _steps(layout: Layout | ComposedLayout) -> list[tuple[Swizzle, int]] | None:
    """The swizzles around a layout, innermost first, each with what is added before it; None for other functions."""
    if isinstance(layout, Layout):
        return []
    before = _steps(layout.layout_b)
    if before is None or not isinstance(layout.layout_a, Swizzle):
        return None
    return [*before, (layout.layout_a, layout.offset)]


def _modes(layout: Layout) -> list[tuple[int, int]]:
    return list(modes(layout.shape, layout.stride))


def _added(half: Layout) -> Callable[[int], int]:
    """The value of one mode of a layout at an index, from a list where that is short."""
    if size(half) <= FEW:
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
    return tuple(trusted(layout.shape, nest(iter(of_axis), layout.shape)) for of_axis in zip(*steps, strict=True))


def _strides(layout: Layout) -> tuple[Any, ...]:
    return leaves(layout.stride)


def _element(value: int, tile: tuple[int, ...]) -> Point:
    """An element's coordinates, the first fastest, the last unbounded."""
    point = []
    for extent in tile[:-1]:
        point.append(value % extent)
        value //= extent
    return (*point, value)
