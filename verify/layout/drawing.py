# SPDX-License-Identifier: Apache-2.0
"""Pictures of a layout: as an operand, onto a tile, as a table of its points, or of its offsets."""

from __future__ import annotations

import re
from argparse import Namespace

from layouts import ComposedLayout, Layout, LayoutError
from verify.core.errors import SpecError, UsageError
from verify.core.verdict import Check
from verify.kind import Reported
from verify.layout.command import onto_tile
from verify.layout.picture import draw_difference, draw_on_tile
from verify.layout.product import of_operand
from verify.layout.properties import bind_onto_tile
from verify.layout.reading import LARGEST, PointsError, as_pairs, count_axes, count_pairs, map_onto, read_any, read_tile
from verify.maps.fragment_map import FragmentMap
from verify.maps.map import Axis, Map, MapError, MapOrigin, Point
from verify.pictures import layouts, maps, points
from verify.pictures.picture import Picture, Window
from verify.pictures.picture import choose_shown as ranges
from verify.report import Case

# The claims on a layout alone
TILE = re.compile(r"stays inside (\d{1,8}x\d{1,8})")
OTHER = re.compile(r"is the same function as (.+)")


def of_options(text: str, options: Namespace) -> Picture | Case:
    """Draw a layout as the options of `show` say. Raises UsageError for a layout that has no such picture."""
    window: Window = options.rows, options.columns
    try:
        tile = None if options.onto is None else read_tile(options.onto)
        if options.ptx is not None:
            if len(options.operand) != 1:
                raise UsageError("--ptx needs one --operand: which operand of the instruction is the layout?")

            return of_operand(text, options.ptx, options.operand[0], tile, {Check.ISA}).cases[0]
        if tile is not None:
            return onto_tile(text, tile, {Check.ISA}).cases[0]
        return _of_values(text, read_any(text), options, window)
    except (LayoutError, MapError, PointsError) as error:
        raise UsageError(f"{text} is not drawn: {error}") from error


def _of_values(text: str, layout: Layout | ComposedLayout, options: Namespace, window: Window) -> Picture:
    """Return the table of a layout's points, or of its offsets. Raises LayoutError or MapError where it has none."""
    if options.banks and layouts.has_coordinates(layout):
        raise SpecError("banks", f"the values of {text} are coordinates, which have no bank")
    if not options.table and not layouts.has_coordinates(layout):
        return layouts.of_layout(text, layout, options.banks or 0, window)
    pairs = as_pairs(layout)
    mapping = _points(pairs, *ranges(count_pairs(pairs), window))
    return Picture(text, (maps.table("", mapping, text, window=window),), shades="thread")


def of_report(reported: Reported, window: Window) -> Picture | None:
    """Draw a layout on the tile, or beside the other layout, that the claims of a report name; None without such."""
    for verdict in reported.verdicts:
        if tile := TILE.fullmatch(verdict.claim.text):
            subject = bind_onto_tile(reported.name, read_tile(tile[1]))
            return draw_on_tile(subject, reported.verdicts, window)
        if match := OTHER.fullmatch(verdict.claim.text):
            try:
                return draw_difference(reported.name, match[1], verdict.counterexample, window)
            except ValueError as error:
                raise UsageError(f"{reported.name} and {match[1]} are not drawn: {error}") from error
    return None


def _points(pairs: Layout | ComposedLayout, threads: range, values: range) -> Map:
    """Return the map of some threads and values of a layout, which may have no values elsewhere."""
    if axes := count_axes(pairs):
        return map_onto(pairs, (threads, values), **{f"@{mode}": LARGEST for mode in range(axes)})
    domain = count_pairs(pairs)
    offsets = points.within(pairs, domain[0], threads, values)
    inputs = Axis("thread", domain[0]), Axis("value", domain[1])
    images: dict[Point, tuple[Point, ...]] = {point: ((element,),) for point, element in offsets.items()}
    return FragmentMap(inputs, (Axis("element", LARGEST),), images, MapOrigin(str(pairs)))
