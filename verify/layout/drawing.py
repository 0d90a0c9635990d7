# SPDX-License-Identifier: Apache-2.0
"""Pictures of a layout: as an operand, onto a tile, as a table of its points, or of its offsets."""

from __future__ import annotations

from argparse import Namespace

from layouts import ComposedLayout, Layout, LayoutError
from verify.core.errors import SpecError, UsageError
from verify.core.verdict import Check
from verify.layout import command
from verify.maps.fragment_map import Axis, FragmentMap, MapError, Origin, Point
from verify.pictures import layouts, maps, points
from verify.pictures.picture import Picture, Window
from verify.pictures.picture import shown as ranges
from verify.report import Case


def of_options(text: str, options: Namespace) -> Picture | Case:
    """Draw a layout as the options of `show` say. Raises UsageError for a layout that has no such picture."""
    window: Window = options.rows, options.columns
    try:
        tile = None if options.onto is None else command.tile_of(options.onto)
        if options.ptx is not None:
            if len(options.operand) != 1:
                raise UsageError("--ptx needs one --operand: which operand of the instruction is the layout?")
            return command.of_operand(text, options.ptx, options.operand[0], tile, {Check.ISA}).cases[0]
        if tile is not None:
            return command.onto_tile(text, tile, {Check.ISA}).cases[0]
        return _of_values(text, command.read(text), options, window)
    except (LayoutError, MapError, command.PointsError) as error:
        raise UsageError(f"{text} is not drawn: {error}") from error


def _of_values(text: str, layout: Layout | ComposedLayout, options: Namespace, window: Window) -> Picture:
    """The table of a layout's points, or of its offsets. Raises LayoutError or MapError where it has none."""
    if options.banks and layouts.has_coordinates(layout):
        raise SpecError("banks", f"the values of {text} are coordinates, which have no bank")
    if not options.table and not layouts.has_coordinates(layout):
        return layouts.of_layout(text, layout, options.banks or 0, window)
    pairs = command.as_pairs(layout)
    found = _points(pairs, *ranges(command.domain_of(pairs), window))
    return Picture(text, (maps.table("", found, text, window=window),), shades="thread")


def _points(pairs: Layout | ComposedLayout, threads: range, values: range) -> FragmentMap:
    """The map of some threads and values of a layout, which may have no values elsewhere."""
    if axes := command.axes_of(pairs):
        return command.points_of(pairs, (threads, values), **{f"@{mode}": command.LARGEST for mode in range(axes)})
    domain = command.domain_of(pairs)
    found = points.within(pairs, domain[0], threads, values)
    inputs = Axis("thread", domain[0]), Axis("value", domain[1])
    images: dict[Point, tuple[Point, ...]] = {point: ((element,),) for point, element in found.items()}
    return FragmentMap(inputs, (Axis("element", command.LARGEST),), images, Origin(str(pairs)))
