# SPDX-License-Identifier: Apache-2.0
"""The texts of layouts as layouts and as maps, small enough to be enumerated, or a UsageError that says why not."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from layouts import ComposedLayout, Layout, LayoutError, LayoutParseError, cosize, leaves, parse_layout, size
from layouts.composed import on_layout
from layouts.layout import trust_layout
from layouts.pasted import read_layout
from layouts.tensor import Coordinates
from layouts.text import numbers
from verify.core.errors import UsageError
from verify.core.files import purpose
from verify.maps.map import Axis, Map
from verify.maps.strided import make_strided, of_layout

LARGEST = 1 << 24  # points of a layout, its values and elements of a tile: of each element the owners are counted


class PointsError(UsageError):
    """A layout that has no map onto a tile; the text says why, and does not name the layout."""


def parse_any(text: str) -> Layout | ComposedLayout:
    """Return the layout of a text, in any spelling. Raises LayoutError."""
    with suppress(LayoutParseError):
        return parse_layout(text)
    return read_layout(text)


def parse_small(text: str) -> Layout | ComposedLayout:
    """Return the layout of a text, small enough to be enumerated. Raises LayoutError if it is none, else UsageError."""
    layout = parse_any(text)
    if size(layout) > LARGEST or (isinstance(layout, Layout) and plain(layout) and cosize(layout) > LARGEST):
        raise UsageError(f"{text!r}: more than 2^24 points or values, too many to enumerate")
    return layout


def read_any(text: str) -> Layout | ComposedLayout:
    """Return the layout of an argument, of any size. Raises UsageError for anything else."""
    try:
        return parse_any(text)
    except LayoutError as error:
        raise UsageError(describe_fault(text, error)) from error


def read_small(text: str) -> Layout | ComposedLayout:
    """Return the layout of an argument, small enough to be enumerated. Raises UsageError for anything else."""
    try:
        return parse_small(text)
    except LayoutError as error:
        raise UsageError(describe_fault(text, error)) from error


def describe_fault(text: str, error: LayoutError) -> str:
    """Return why a text isn't a layout; for a file, which command reads it."""
    if not os.path.isfile(text):
        return str(error) if isinstance(error, LayoutParseError) else f"{text:.200} isn't a layout: {error}"

    return f"{text} isn't a layout: {purpose(Path(text))}"


def read_tile(text: str) -> tuple[int, int]:
    """Return the two extents of the tile; a size alone is a tile of one column. Raises UsageError."""
    extents = numbers(text) or [0]
    if 0 in extents or len(extents) > 2:
        raise UsageError(f"--onto {text!r}: it should be two positive extents such as 16x8, or one size")
    return extents[0], extents[1] if len(extents) == 2 else 1


def check_operand(ptx: str | None, operand: str | None) -> None:
    """Raise UsageError if one of --ptx and --operand is given without the other."""
    if (ptx is None) != (operand is None):
        raise UsageError("--ptx and --operand: give both: an instruction, and which operand of it the layout is")


def plain(layout: Layout | ComposedLayout) -> bool:
    """Return whether a layout has no swizzle around it, and integers as strides."""
    return isinstance(layout, Layout) and all(type(stride) is int for stride in leaves(layout.stride))


def count_axes(layout: Layout | ComposedLayout) -> int:
    """Return how many axes the coordinates have that are a layout's values; 0 if its values are integers."""
    if not isinstance(layout, Layout):
        return 0
    steps: tuple[object, ...] = leaves(layout.stride)
    return max((len(step.value) for step in steps if isinstance(step, Coordinates)), default=0)


def map_pair(first: Layout | ComposedLayout, second: Layout | ComposedLayout) -> tuple[Map, Map]:
    """Return the maps of two layouts onto the same outputs. Raises MapError."""
    outputs = {f"@{mode}": LARGEST for mode in range(max(count_axes(first), count_axes(second)))}
    mine, theirs = (map_onto(as_pairs(each), **(outputs or {"element": LARGEST})) for each in (first, second))
    return mine, theirs


def map_onto(layout: Layout | ComposedLayout, part: tuple[range, range] | None = None, /, **outputs: int) -> Map:
    """Return the map of a (thread, value) layout onto outputs of these extents, or that of some threads and values.

    Raises MapError.
    """
    tile = tuple(map(Axis, outputs, outputs.values()))
    return make_strided(layout, tile) if part is None else of_layout(layout, tile, ("thread", "value"), part=part)


def as_pairs(layout: Layout | ComposedLayout) -> Layout | ComposedLayout:
    """Return a layout by (thread, value) as it is, any other by one index and one value, behind the same swizzles."""
    return on_layout(as_thread_value, layout)


def as_thread_value(layout: Layout) -> Layout:
    """Return a layout of rank 2 as it is; any other as (index, 1 value)."""
    if isinstance(layout.shape, tuple) and len(layout.shape) == 2:
        return layout
    return trust_layout((layout.shape, 1), (layout.stride, 0))


def count_pairs(layout: Layout | ComposedLayout) -> tuple[int, int]:
    """Return the numbers of threads and of values of a (thread, value) layout."""
    return size(layout[0]), size(layout[1])
