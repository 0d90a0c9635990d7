# SPDX-License-Identifier: Apache-2.0
"""What a cell of a notebook ends with, drawn: a layout, an atom, a map or a report (`lanecheck.display`).

A layout is drawn as its offsets, an atom and a map as who has which element. A report is its text, as a command prints
it, and the pictures of what is wrong.
"""

from __future__ import annotations

from html import escape

from layouts import ComposedLayout, Layout, size
from layouts.atoms import AnyAtom
from verify import Report, verify_kind
from verify.api import show
from verify.maps.fragment_map import FragmentMap
from verify.pictures import maps, svg
from verify.pictures.picture import WHOLE, Picture
from verify.report import Case

PICTURES = 4  # of one report
SIDE = 64  # rows and columns of a picture: more would make a notebook slow


def draw_layout(layout: Layout | ComposedLayout) -> str:
    """Return the SVG of a layout's offsets, of a large one the first rows and columns.

    >>> from layouts import parse_layout
    >>> draw_layout(parse_layout("(4,8):(8,1)"))[:4]
    '<svg'
    """
    part = {"rows": (0, SIDE), "columns": (0, SIDE)} if size(layout) > SIDE**2 else {}
    return str(show(layout, format="svg", **part))


def draw_atom(atom: AnyAtom) -> str:
    """Return the SVG of an atom, and above it what is wrong with it."""
    report = verify_kind("atom", atom)
    return "\n".join([*([] if report else [_text(report)]), *_pictures(report.cases)])


def draw_map(fragments: FragmentMap) -> str | None:
    """Return the SVG of a map to the elements of a tile: each with its owners; None for one to other places.

    >>> from verify.maps.map import Axis
    >>> draw_map(FragmentMap.tabulate(lambda lane, value: (lane, value), (Axis("lane", 4), Axis("value", 2)),
    ...                               (Axis("m", 4), Axis("n", 2))))[:4]
    '<svg'
    """
    if len(fragments.outputs) > 2:
        return None
    drawn = maps.tile("map", fragments, window=(range(SIDE), range(SIDE)))
    return svg.document([Picture(fragments.origin.text or drawn.heading, (drawn,), shades=fragments.inputs[0].name)])


def draw_report(report: Report) -> str:
    """Return what a command prints, and the SVG of the first subjects that are not verified."""
    return "\n".join([_text(report), *_pictures([case for case in report.cases if case.status != "VERIFIED"])])


def _text(report: Report) -> str:
    return f"<pre>{escape(report.text().rstrip())}</pre>"


def _pictures(cases: list[Case] | tuple[Case, ...]) -> list[str]:
    drawn = [picture for case in cases[:PICTURES] if (picture := _picture(case)) and picture.cells <= SIDE**2]
    return [svg.document([picture]) for picture in drawn]


def _picture(case: Case) -> Picture | None:
    """Return the picture of a case; None for one that has none."""
    if case.picture is None:
        return None
    try:
        picture = case.picture(WHOLE)
    except ValueError:  # such as a layout that has no such points
        return None
    return picture if picture.panels else None
