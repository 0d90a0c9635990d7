# SPDX-License-Identifier: Apache-2.0
"""A picture as part of an HTML page, or as a page of its own: the drawing, what it shows in words, and as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from verify.pictures import svg
from verify.pictures.picture import Cell, Fault, Panel, Picture

STYLE = """
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;margin:0;color:#1b1b1b;background:#fff}
main{padding:1rem;max-width:120rem;margin:auto}
h1{font-size:1.3rem;overflow-wrap:anywhere}h2{font-size:1.1rem;overflow-wrap:anywhere}
figure{margin:0 0 2rem}figcaption{overflow-wrap:anywhere;max-width:50rem}
.lc-scroll{overflow:auto;max-width:100%}.lc-scroll svg{display:block}
.lc-scroll:focus-visible,summary:focus-visible{outline:3px solid #0b3fbf}
table{border-collapse:collapse;font-size:.85rem;margin:.5rem 0}caption{text-align:left;font-weight:bold}
th,td{border:1px solid #8a8a8a;padding:.1rem .4rem;white-space:nowrap;text-align:left}
@media (prefers-color-scheme:dark){body{color:#f2f2f2;background:#16181c}:focus-visible{outline-color:#8ab4ff}}
"""


def page(pictures: Sequence[Picture], cells: int = svg.STATIC) -> str:
    """One file with all pictures that needs no other file."""
    root = Element("html", lang="en")
    head, body = SubElement(root, "head"), SubElement(root, "body")
    SubElement(head, "meta", charset="utf-8")
    SubElement(head, "meta", name="viewport", content="width=device-width")
    title = pictures[0].title if len(pictures) == 1 else f"{len(pictures)} pictures"
    SubElement(head, "title").text = title
    SubElement(head, "style").text = STYLE
    main = SubElement(body, "main")
    SubElement(main, "h1").text = title
    for number, picture in enumerate(pictures):
        if len(pictures) > 1:
            SubElement(main, "h2").text = picture.title
        main.append(figure(picture, cells, f"lc{number}-"))
    return "<!DOCTYPE html>\n" + text(root)


def text(element: Element) -> str:
    """An element as HTML."""
    written = ElementTree.tostring(element, encoding="unicode", method="html")
    return svg.NOT_XML.sub("\N{REPLACEMENT CHARACTER}", written) + "\n"


def figure(picture: Picture, cells: int = svg.STATIC, prefix: str = "lc") -> Element:
    """The <figure> of a picture; the drawing scrolls by itself, so that a narrow page does not. `prefix` is of ids."""
    found = Element("figure")
    scrolled = {"class": "lc-scroll", "tabindex": "0", "role": "region", "aria-label": f"drawing of {picture.title}"}
    SubElement(found, "div", scrolled).append(svg.drawing(picture, cells, prefix))
    SubElement(found, "figcaption").text = picture.summary()
    details = SubElement(found, "details")
    SubElement(details, "summary").text = "The same as tables"
    tables = {**scrolled, "aria-label": f"tables of {picture.title}"}
    SubElement(details, "div", tables).extend(_tables(picture, cells))
    return found


def _tables(picture: Picture, cells: int) -> Iterator[Element]:
    for panel in picture.panels:
        shown = svg.first(panel, cells)
        table = Element("table")
        SubElement(table, "caption").text = panel.heading + (f", {shown.window}" if shown.window else "")
        names = SubElement(SubElement(table, "thead"), "tr")
        SubElement(names, "th", scope="col").text = "\\".join(panel.axes)
        for column in range(shown.extent[1]):
            SubElement(names, "th", scope="col").text = shown.label(1, column)
        _rows(SubElement(table, "tbody"), shown, picture)
        yield table


def _rows(body: Element, panel: Panel, picture: Picture) -> None:
    for number, cells in enumerate(panel.cells):
        row = SubElement(body, "tr")
        SubElement(row, "th", scope="row").text = panel.label(0, number)
        for cell in cells:
            SubElement(row, "td").text = words(cell, picture)


def words(cell: Cell, picture: Picture) -> str:
    """A cell of a picture in words.

    >>> words(Cell(("T0 V4", "T1 V0"), fault=Fault.SEVERAL, expected="T0 V4", marked=True), Picture("one", ()))
    'T0 V4, T1 V0: several owners; expected T0 V4; the counterexample'
    """
    found = {Fault.SEVERAL: f"{cell.text}: {picture.several}", Fault.MISSING: f"{cell.text} no owner".strip()}
    parts = [found.get(cell.fault, cell.text), f"expected {cell.expected}" * bool(cell.expected)]
    return "; ".join(filter(None, [*parts, picture.marked * cell.marked]))
