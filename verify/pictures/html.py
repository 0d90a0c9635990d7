# SPDX-License-Identifier: Apache-2.0
"""A picture as part of an HTML page, or as a page of its own: the drawing, what it shows in words, and as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from xml.etree.ElementTree import Element

from verify.core.html import document, element
from verify.pictures import svg
from verify.pictures.picture import Cell, Fault, Panel, Picture

ISOLATE = Path(__file__).with_name("isolate.js")  # the script of every page that has figures
KEYS = "Click an element to see its thread alone, or press l in the drawing (L for the one before); Escape shows all. "
STYLE = """
body { max-width: 120rem; }
.lc-scroll { overflow: auto; max-width: 100%; } .lc-scroll svg { display: block; }
figcaption { max-width: 50rem; } .lc-lane { font-weight: 600; }
table { border-collapse: collapse; font-size: .85rem; margin: .5rem 0; }
caption { text-align: left; font-weight: bold; }
th, td { border: 1px solid var(--line); padding: .1rem .4rem; white-space: nowrap; text-align: left; }
"""


def page(pictures: Sequence[Picture], cells: int = svg.STATIC) -> str:
    """One file with all pictures that needs no other file."""
    title = pictures[0].title if len(pictures) == 1 else f"{len(pictures)} pictures"
    main = element("main", element("h1", title), id="main")
    for number, picture in enumerate(pictures):
        if len(pictures) > 1:
            main.append(element("h2", picture.title))
        main.append(figure(picture, cells, f"lc{number}-"))
    return document(title, main, style=STYLE, script=script())


def script() -> str:
    """Return the script that shows one thread of a figure alone."""
    return ISOLATE.read_text(encoding="utf-8")


def figure(picture: Picture, cells: int = svg.STATIC, prefix: str = "lc") -> Element:
    """Return a picture's <figure>; the drawing scrolls by itself, so that a narrow page does not. `prefix` is of ids.

    With more cells than `cells` its panels are below each other: the first one is seen without scrolling.
    """
    if picture.cells > cells:
        below = (replace(panel, place=(number, 0)) for number, panel in enumerate(picture.panels))
        picture = replace(picture, panels=tuple(below))

    def scrolled(what: str, *inside: Element) -> Element:
        return element(
            "div", *inside, class_="lc-scroll", tabindex="0", role="region", aria_label=f"{what} of {picture.title}"
        )

    return element(
        "figure",
        scrolled("drawing", svg.drawing(picture, cells, prefix)),
        element("figcaption", picture.summary(), *_by_thread(picture)),
        element("details", element("summary", "The same as tables"), scrolled("tables", *_tables(picture, cells))),
    )


def _by_thread(picture: Picture) -> Iterator[Element | str]:
    """Yield how to see a thread alone, where cells are coloured by thread, and the place where the script names it."""
    if picture.shades == "thread":
        yield " " + KEYS
        yield element("span", class_="lc-lane", aria_live="polite")


def _tables(picture: Picture, cells: int) -> Iterator[Element]:
    for panel in picture.panels:
        shown = svg.first(panel, cells)
        names = [element("th", shown.label(1, column), scope="col") for column in range(shown.extent[1])]
        corner = element("th", "\\".join(panel.axes), scope="col")
        yield element(
            "table",
            element("caption", panel.heading + (f", {shown.window}" if shown.window else "")),
            element("thead", element("tr", corner, *names)),
            element("tbody", *_rows(shown, picture)),
        )


def _rows(panel: Panel, picture: Picture) -> Iterator[Element]:
    for number, cells in enumerate(panel.cells):
        name = element("th", panel.label(0, number), scope="row")
        yield element("tr", name, *(element("td", words(cell, picture)) for cell in cells))


def words(cell: Cell, picture: Picture) -> str:
    """Return a cell of a picture in words.

    >>> words(Cell(("T0 V4", "T1 V0"), fault=Fault.SEVERAL, expected="T0 V4", marked=True), Picture("one", ()))
    'T0 V4, T1 V0: several owners; expected T0 V4; the counterexample'
    """
    found = {Fault.SEVERAL: f"{cell.text}: {picture.several}", Fault.MISSING: f"{cell.text} no owner".strip()}
    parts = [found.get(cell.fault, cell.text), f"expected {cell.expected}" * bool(cell.expected)]
    return "; ".join(filter(None, [*parts, picture.marked * cell.marked]))
