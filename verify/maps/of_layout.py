# SPDX-License-Identifier: Apache-2.0
"""A (thread, value) layout as a map: plain, behind swizzles, or with coordinates as its strides.

Every point is computed digit by digit in plain integers, without `Layout.__call__`.

>>> tile = Axis("m", 16), Axis("n", 8)
>>> plain = of_layout(read_layout("((4,8),(2,2)):((32,1),(16,8))"), tile)
>>> identity = of_layout(read_layout("((4,8),(2,2)):((2@1,1@0),(1@1,8@0))"), tile)
>>> plain(5, 3), plain == identity, of_layout(read_layout("Sw<1,0,4> o (32,4):(1,32)"), tile)(16, 0)
((9, 3), True, (1, 1))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from layouts import ComposedLayout, Layout, LayoutError, ProfileError, Swizzle, leaves, size
from layouts.pasted import read_layout
from layouts.tensor import Coordinates
from verify.core.digits import digits, every, image
from verify.maps.fragment_map import LARGEST, Axis, FragmentMap, MapError, Origin, Point

Inputs = tuple[str, str]


def of_layout(
    layout: Layout | ComposedLayout,
    outputs: Sequence[Axis],
    inputs: Inputs = ("lane", "value"),
    origin: Origin | None = None,
    part: tuple[range, range] | None = None,
) -> FragmentMap:
    """The map of a layout of rank 2; an integer e is the element (e % X, e // X) of a tile of X rows.

    With `part`, only of these indices of both modes. Raises MapError for another rank, for too many points, and for
    coordinates that are not those of the tile.
    """
    inner = _innermost(layout)
    if not isinstance(inner.shape, tuple) or len(inner.shape) != 2:
        raise MapError(f"{layout} has rank {len(inner)}, a (thread, value) layout has 2")
    axes = tuple(Axis(name, size(mode)) for name, mode in zip(inputs, inner.shape, strict=True))
    shown = part or (range(axes[0].extent), range(axes[1].extent))
    if len(shown[0]) * len(shown[1]) > LARGEST:
        raise MapError(f"{layout}: more than {LARGEST} points")
    tile, named = tuple(outputs), origin or Origin(str(layout))
    halves = list(zip(inner, shown, strict=True))
    if any(isinstance(step, Coordinates) for step in _strides(inner)):
        threads, values = (_coordinates(half, indices, len(tile)) for half, indices in halves)
        points = ((t, v, _sum(threads[t], values[v])) for t, v in product(*shown))
    else:
        rows, columns = (_offsets(half, indices) for half, indices in halves)
        points = ((t, v, _element(outside(layout, rows[t] + columns[v]), tile)) for t, v in product(*shown))
    return FragmentMap(axes, tile, {(t, v): (image,) for t, v, image in points}, named)


def of_text(text: str, fault: str, extents: Mapping[str, int]) -> tuple[FragmentMap | None, str]:
    """The map of a layout with a swizzle or with coordinates as strides; None and why, for a plain one its `fault`."""
    try:
        layout = read_layout(text)
        return of_layout(layout, tuple(map(Axis, extents, extents.values())), ("thread", "value"), Origin(text)), ""
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
    if index < 0:
        raise MapError(f"{outer} of the negative index {index}")
    field = index & outer.yyy_mask
    return index ^ (field >> outer.shift if outer.shift >= 0 else field << -outer.shift)


def _innermost(layout: Layout | ComposedLayout) -> Layout:
    while isinstance(layout, ComposedLayout):
        layout = layout.layout_b
    return layout


def _strides(layout: Layout) -> tuple[Any, ...]:
    return leaves(layout.stride)


def _offsets(half: Layout, indices: range) -> Mapping[int, int]:
    """The offset at some indices of a mode."""
    if len(indices) == size(half):
        return dict(enumerate(every(half.shape, half.stride)))
    return {index: int(image(half, index)) for index in indices}


def _coordinates(half: Layout, indices: range, length: int) -> Mapping[int, Point]:
    """The coordinate at some indices of a mode; raises MapError for one inside a mode of the tile."""
    steps: list[Point] = []
    for step in _strides(half):
        flat = (0,) if step == 0 else step.value
        if any(isinstance(c, tuple) for c in flat):
            raise MapError(f"{half}: the coordinate {step} is inside a mode of the tile")
        if any(flat[length:]):
            raise MapError(f"{half}: the coordinate {step} is beyond the {length} axes of the tile")
        steps.append(tuple(flat[:length]) + (0,) * (length - len(flat)))

    def at(index: int) -> Point:
        found = (0,) * length
        for digit, moved in zip(digits(leaves(half.shape), index), steps, strict=True):
            found = _sum(found, tuple(digit * c for c in moved))
        return found

    return {index: at(index) for index in indices}


def _sum(one: Point, other: Point) -> Point:
    return tuple(a + b for a, b in zip(one, other, strict=True))


def _element(value: int, tile: tuple[Axis, ...]) -> Point:
    """An element's coordinates, the first fastest, the last unbounded."""
    point = []
    for axis in tile[:-1]:
        point.append(value % axis.extent)
        value //= axis.extent
    return (*point, value)
