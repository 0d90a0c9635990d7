# SPDX-License-Identifier: Apache-2.0
"""A picture as SVG: static elements up to a number of cells, beyond it cells as JSON that a script draws.

Text of files and of users becomes text of XML elements: xml.etree escapes it, and what XML cannot have is replaced.
Without scripts, as in an <img>, a large panel shows its first rows and columns and says so.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isqrt
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement
from zlib import crc32

from verify.core.html import printable
from verify.pictures import about, palette
from verify.pictures.picture import Cell, Fault, Panel, Picture

STATIC = 4096  # cells that are written as elements
LETTER, LINE = 4.9, 9.0  # width and height of the text of a cell
HEAD, GAP = 26.0, 14.0  # above a panel for its heading, between panels
NOTE = 12.0  # height of a line below the picture
SCALE = 1.5  # pixels of a unit
NARROWEST = 420.0  # for the lines below
SIDE = 8.0
SCRIPT = Path(__file__).with_name("large.js")


@dataclass(frozen=True)
class Sizes:
    """Width and height of the cells of a panel, and the room at its left for the names of its rows."""

    width: float
    height: float
    left: float

    @classmethod
    def of_all(cls, panels: Sequence[Panel]) -> dict[str, Sizes]:
        """As wide as the longest line needs in panels below each other, as high as the most lines beside each other.

        So C's columns go on with B's, and C's rows with A's.
        """
        wide: dict[tuple[bool, int], int] = {}
        tall: dict[int, float] = {}
        left: dict[tuple[bool, int], int] = {}
        for panel in panels:
            row, column = panel.place[0], _column(panel)
            kinds = {(len(cell.lines) + bool(cell.expected), bool(cell.expected)) for cell in panel.every()}
            letters = {len(line) for cell in panel.every() for line in write_lines(cell)}
            letters |= {len(panel.label(1, number)) for number in range(panel.extent[1])}
            wide[column] = max(wide.get(column, 0), *letters, 0)
            tall[row] = max(tall.get(row, 0), *(lines * LINE + 4 * (1 + outlined) for lines, outlined in kinds), 0)
            left[column] = max(left.get(column, 0), *map(len, _names(panel)))
        return {
            panel.name: cls(
                max(20.0, (wide[_column(panel)] + 1) * LETTER), max(20.0, tall[panel.place[0]]),
                left[_column(panel)] * LETTER + 8,
            )
            for panel in panels
        }  # fmt: skip


@dataclass(frozen=True)
class Arrangement:
    """Where everything is: the size of all panels, the left end of each column of them, the top of each row."""

    width: float
    height: float
    lefts: Mapping[tuple[bool, int], float]
    tops: Mapping[int, float]
    corner: tuple[float, float]  # width and height of the place left of B and above A, where there is no panel

    @classmethod
    def of(cls, panels: Sequence[Panel], sizes: Mapping[str, Sizes], narrowest: float = NARROWEST) -> Arrangement:
        """Return places for columns as wide and rows as high as their largest panels."""
        wide: dict[tuple[bool, int], float] = {}
        tall: dict[int, float] = {}
        for panel in panels:
            row, column, size = panel.place[0], _column(panel), sizes[panel.name]
            heading = size.left + (len(panel.heading) + len(panel.window) + 2) * 6.1
            wide[column] = max(wide.get(column, 0.0), size.left + panel.extent[1] * size.width, heading)
            tall[row] = max(tall.get(row, 0.0), HEAD + panel.extent[0] * size.height)
        lefts, tops, ends, y = {}, {}, {False: 0.0, True: 0.0}, HEAD
        for column in sorted(wide):
            lefts[column] = ends[column[0]]
            ends[column[0]] += wide[column] + GAP
        for row in sorted(tall):
            tops[row], y = y, y + tall[row] + GAP
        first = False, 0
        free = all(panel.place != (0, 0) for panel in panels) and first in wide and 0 in tall
        return cls(max(*ends.values(), narrowest), y, lefts, tops, (wide[first], tall[0]) if free else (0.0, 0.0))

    def at(self, panel: Panel, lower: float) -> str:
        """Where a panel is, so much lower for a title of several lines."""
        return f"{self.lefts[_column(panel)]:g} {self.tops[panel.place[0]] + lower:g}"


def _column(panel: Panel) -> tuple[bool, int]:
    """Return the column that a panel is in: parts of others have columns of their own."""
    return panel.detail, panel.place[1]


def document(pictures: Sequence[Picture], cells: int = STATIC) -> str:
    """One or several pictures, below each other, as an SVG file."""
    drawn = [drawing(picture, cells) for picture in pictures]
    if len(drawn) == 1:
        return text(drawn[0])
    boxes = [[float(number) for number in root.get("viewBox", "").split()[2:]] for root in drawn]
    whole, top = _svg(max(box[0] for box in boxes), sum(box[1] for box in boxes)), 0.0
    whole.set("role", "group")
    for root, (wide, tall) in zip(drawn, boxes, strict=True):
        root.attrib |= {"y": f"{top:g}", "width": f"{wide:g}", "height": f"{tall:g}"}
        whole.append(root)
        top += tall
    return text(whole)


def text(element: Element) -> str:
    """Return an element as XML."""
    return ElementTree.tostring(element, encoding="unicode") + "\n"


def drawing(picture: Picture, cells: int = STATIC, prefix: str = "lc", words: bool = True) -> Element:
    """Return the <svg> of a picture; with more cells than `cells`, the panels that have too many are drawn by a script.

    `prefix` begins the ids, for two drawings of one picture on a page. Without `words` it has its panels alone: a page
    says the others itself, and its scripts (`html.script`) draw large panels, move them and write what a pointer shows.
    """
    sizes = Sizes.of_all(picture.panels)
    large = picture.cells > cells
    few = max(1, cells // 4 // max(1, len(picture.panels)))  # a quarter is enough where no script runs
    shown = [first(panel, few) if large else panel for panel in picture.panels]
    narrowest = NARROWEST if words else 0.0
    here, there = (Arrangement.of(panels, sizes, narrowest) for panels in (shown, picture.panels))
    name = f"{prefix}{crc32(repr((picture.title, picture.notes)).encode()):08x}"
    title = _title(picture, here.width) if words else []
    lower = NOTE * (len(title) - 1) if title else SIDE - HEAD
    below, deep = _placed_words(picture, here, there, lower, name) if words else (None, lower)
    svg = _svg(here.width + SIDE, here.height + deep)
    _describe(svg, picture, name)
    SubElement(svg, "style").text = palette.STYLE
    _hatch(svg, name)
    SubElement(svg, "rect", {"class": "bg", "width": "100%", "height": "100%"})
    for number, line in enumerate(title):
        _text(svg, SIDE, 16 + NOTE * number, line, "h")
    for panel, whole in zip(shown, picture.panels, strict=True):
        group = _panel(panel, sizes[panel.name], name, titles=words)
        group.attrib |= {"transform": f"translate({here.at(panel, lower)})", "data-to": there.at(panel, lower)}
        if panel is not whole:
            group.set("data-cells", str(whole.count))
            packed = pack(whole, sizes[panel.name], name, titles=words or picture.cells > STATIC)
            SubElement(group, "metadata").text = packed  # an attribute has &quot; for "
        svg.append(group)
    if not words:
        _place_below(svg, picture, sizes, there.width)
    svg.extend([below] if below is not None else [])
    if large:
        svg.set("data-box", f"{there.width + SIDE:g} {there.height + deep:g} {SCALE}")
    if large and words:
        SubElement(svg, "script").text = SCRIPT.read_text(encoding="utf-8")
    return svg


def _place_below(svg: Element, picture: Picture, sizes: Mapping[str, Sizes], wide: float) -> None:
    """Say where the panels are below each other, for the script of a page whose frame is narrow."""
    panels = [replace(panel, place=(number, 0)) for number, panel in enumerate(picture.panels)]
    narrow = Arrangement.of(panels, sizes, 0.0)
    if narrow.width < wide and not picture.details:
        svg.set("data-below", f"{narrow.width + SIDE:g} {narrow.height + SIDE - HEAD:g}")
        for group, panel in zip(svg.iterfind("g"), panels, strict=True):
            group.set("data-below", narrow.at(panel, SIDE - HEAD))


def _title(picture: Picture, width: float) -> list[str]:
    """Return the lines of a title; none where the only panel has the same heading."""
    if not picture.status and [panel.heading for panel in picture.panels] == [picture.title]:
        return []
    return textwrap.wrap(picture.title + (f": {picture.status}" if picture.status else ""), int(width / 6.1))


def _placed_words(
    picture: Picture, here: Arrangement, there: Arrangement, lower: float, name: str
) -> tuple[Element, float]:
    """Return the words of a picture at their place, and by how much they and its title make it higher."""
    words, tall = _words(picture, here.corner[0], name)
    if here.corner[0] > NARROWEST / 2 and tall < here.corner[1]:
        at = to = f"{SIDE:g} {HEAD + lower + NOTE:g}"
        deep = lower
    else:
        words, tall = _words(picture, here.width, name)
        at, to = (f"{SIDE:g} {arrangement.height + lower:g}" for arrangement in (here, there))
        deep = lower + tall
    words.attrib |= {"transform": f"translate({at})", "data-to": to}
    return words, deep


def samples(picture: Picture, name: str) -> Iterator[tuple[Element, str]]:
    """Yield each sample of the legend as a drawing of its own, with its words."""
    for cell, words in picture.legend():
        svg = _svg(13, 11)
        svg.attrib |= {"role": "presentation", "aria-hidden": "true"}
        svg.append(_cell(cell, 0.5, 0.5, Sizes(12, 10, 0), name))
        yield svg, words


def _svg(width: float, height: float) -> Element:
    return Element("svg", {
        "xmlns": "http://www.w3.org/2000/svg", "class": "lc", "role": "img", "viewBox": f"0 0 {width:g} {height:g}",
        "width": f"{width * SCALE:g}", "height": f"{height * SCALE:g}",
    })  # fmt: skip


def _describe(svg: Element, picture: Picture, name: str) -> None:
    svg.attrib |= {"aria-labelledby": f"{name}-title", "aria-describedby": f"{name}-desc"}
    SubElement(svg, "title", id=f"{name}-title").text = printable(picture.title)
    SubElement(svg, "desc", id=f"{name}-desc").text = printable(picture.summary())


def _hatch(svg: Element, name: str) -> None:
    pattern = SubElement(SubElement(svg, "defs"), "pattern", {
        "id": f"{name}-hatch", "width": "4", "height": "4", "patternUnits": "userSpaceOnUse",
        "patternTransform": "rotate(45)",
    })  # fmt: skip
    SubElement(pattern, "line", {"class": "hatch", "y2": "4"})


def _names(panel: Panel) -> Iterator[str]:
    """Yield the names of the rows that are shown, and of the axes."""
    yield "\\".join(panel.axes)
    yield from (panel.label(0, row) for row in range(panel.extent[0]))


def _panel(panel: Panel, size: Sizes, name: str, *, titles: bool) -> Element:
    """Return a panel with the names of its rows and columns; without `titles` a page's script makes those of cells."""
    group = Element("g")
    shared, numbers = ("", []) if titles else _share(panel)
    if shared:
        group.set("data-words", shared)
    _text(group, size.left, 9, panel.heading + (f", {panel.window}" if panel.window else ""), "h")
    _text(group, size.left - 4, HEAD - 4, "\\".join(panel.axes), "d r")
    for column in range(panel.extent[1]):
        _text(group, size.left + (column + 0.5) * size.width, HEAD - 4, panel.label(1, column), "d k")
    for row, cells in enumerate(panel.cells):
        down = HEAD + row * size.height
        _text(group, size.left - 4, down + size.height / 2 + 3, panel.label(0, row), "d r")
        for column, cell in enumerate(cells):
            bare = cell if titles else cell._replace(about=())
            group.append(_cell(bare, size.left + column * size.width, down, size, name))
    for made, own in zip(group.iterfind("g"), numbers, strict=False):
        made.attrib |= {"data-about": own} if own else {}
    return group


def _share(panel: Panel) -> tuple[str, list[str]]:
    """Return the words that a pointer shows at the cells of a panel, and the numbers of each."""
    return about.share([printable("\n".join(cell.about)) for cell in panel.every()])


def _cell(cell: Cell, x: float, y: float, size: Sizes, name: str) -> Element:
    """Return a cell: its rectangle, what marks its fault, its lines; what a pointer shows is its title."""
    shade = f" s{cell.shade % 8}" if cell.shade >= 0 and not cell.fault else ""
    group = Element("g", {"class": f"c{shade}{f' {cell.fault}' if cell.fault else ''}"})
    if cell.about:
        SubElement(group, "title").text = printable("\n".join(cell.about))
    box = _box(x, y, size, 0)
    SubElement(group, "rect", box)
    if cell.fault is Fault.MISSING:
        SubElement(group, "rect", {**box, "style": f"fill:url(#{name}-hatch)"})
    if cell.fault is Fault.SEVERAL and not cell.expected:
        SubElement(group, "rect", {**_box(x, y, size, 1.5), "class": "b"})
    if cell.expected:
        SubElement(group, "rect", {**_box(x, y, size, 1.2), "class": "o"})
    if cell.marked:
        SubElement(group, "rect", {**_box(x, y, size, 0.5), "class": "m", "rx": "4"})
    lines = write_lines(cell)
    first = y + size.height / 2 - LINE * (len(lines) - 1) / 2 + 2.8
    for number, line in enumerate(lines):
        expected = {"class": "e"} if number == len(cell.lines) else {}
        at = {"x": f"{x + size.width / 2:g}", "y": f"{first + LINE * number:g}"}
        SubElement(group, "text", {**at, **expected}).text = line
    return group


def write_lines(cell: Cell) -> tuple[str, ...]:
    """Return the lines of a cell, then the expected owner."""
    return (*cell.lines, f"≠{cell.expected}") if cell.expected else cell.lines


def _box(x: float, y: float, size: Sizes, inset: float) -> dict[str, str]:
    numbers = (x + inset, y + inset, size.width - 2 * inset, size.height - 2 * inset)
    return dict(zip(("x", "y", "width", "height"), (f"{number:g}" for number in numbers), strict=True))


def first(panel: Panel, cells: int) -> Panel:
    """Return the first columns and rows of a panel, as many as there may be cells; itself where it has no more."""
    if panel.count <= cells:
        return panel
    columns = min(panel.extent[1], max(1, isqrt(cells)))
    return panel.crop(range(min(panel.extent[0], max(1, cells // columns))), range(columns))


def _words(picture: Picture, width: float, name: str) -> tuple[Element, float]:
    """Return a sample of each mark that the picture has, what is wrong, the formulas; and the height of all that."""
    group, x, y, sample = Element("g"), 0.0, 0.0, Sizes(12, 10, 0)
    for cell, words in picture.legend():
        wide = 16 + len(words) * 5.4 if words else 3.0  # a colour is next to the next one
        if x and x + wide > width:
            x, y = 0.0, y + NOTE
        group.append(_cell(cell, x, y - 8, sample, name))
        _text(group, x + 16, y, words, "n d")
        x += wide + 10
    y += NOTE * 1.4
    for line in _below(picture, max(width, NARROWEST / 2)):
        _text(group, 0, y, line, "n d" if line.startswith(" ") else "n")
        y += NOTE
    return group, y + NOTE


def _below(picture: Picture, width: float) -> Iterator[str]:
    """Yield the lines below the panels: what is wrong, then the formulas."""
    columns = int(width / 5.5)
    for note in picture.notes:
        yield from textwrap.wrap(note, columns, subsequent_indent="    ")
    for line in (f" {caption}" for panel in picture.panels for caption in panel.captions):
        indent = " " * (len(line) - len(line.lstrip()))
        yield from textwrap.wrap(line.lstrip(), columns, initial_indent=indent, subsequent_indent=f"{indent}    ",
                                 drop_whitespace=True) if len(line) > columns else [line]  # fmt: skip


def _text(parent: Element, x: float, y: float, words: str, kind: str) -> None:
    SubElement(parent, "text", {"x": f"{x:g}", "y": f"{y:g}", "class": kind}).text = printable(words)


def pack(panel: Panel, size: Sizes, name: str, *, titles: bool) -> str:
    """Pack a whole panel as JSON for the script: a cell is its lines and shade; then fault, expected owner, mark.

    Without `titles` it has the numbers that a pointer shows at each cell.
    """

    def cell(drawn: Cell) -> list[object]:
        packed: list[object] = ["\n".join(drawn.lines), drawn.shade]
        if drawn.fault or drawn.expected or drawn.marked:
            packed += [str(drawn.fault), drawn.expected, int(drawn.marked)]
        return packed

    shared, numbers = ("", []) if titles else _share(panel)
    document = {
        "heading": panel.heading + (f", {panel.window}" if panel.window else ""), "axes": panel.axes,
        "labels": panel.labels, "first": panel.first, "captions": panel.captions,
        "size": [size.width, size.height, size.left, HEAD], "hatch": f"{name}-hatch",
        "cells": [[cell(drawn) for drawn in row] for row in panel.cells], "words": shared, "about": numbers,
    }  # fmt: skip
    return printable(json.dumps(document, ensure_ascii=False, separators=(",", ":")))
