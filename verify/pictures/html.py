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
from verify.pictures.zoom import zoom

SCRIPTS = ("large.js", "figures.js", "zoom.js")  # of every page that has figures
KEYS = "Click an element to see its thread alone, or press l in the drawing (L for the one before); Escape shows all. "
PHONE = 360  # pixels: a wider drawing does not fit a phone
READABLE = 0.75  # of its size, in which a drawing can still be read
FIGURES = """
.lc-figure { margin: .6rem 0; }
.lc-scroll { overflow: auto; max-width: 100%; } .lc-scroll svg { display: block; max-width: 100%; height: auto; }
.lc-zoom:not([hidden]) ~ .lc-whole svg { max-height: 90vh; width: auto; }
.lc-figure:has(.lc-full :checked) .lc-whole svg { max-width: none; max-height: none; }
.lc-parts { display: flex; flex-wrap: wrap; gap: .3rem 1rem; } .lc-parts svg { width: 100%; }
.lc-lead { font-weight: 600; } .lc-lead, .lc-near { margin: .2rem 0; } .lc-near { font-size: .85rem; }
.lc-overview .c { cursor: zoom-in; }
.lc .here { fill: var(--lc-out); fill-opacity: .15; stroke: var(--lc-out); stroke-width: 3px;
  vector-effect: non-scaling-stroke; pointer-events: none; }
.lc-keys { display: flex; flex-wrap: wrap; gap: .1rem .15rem; align-items: center; font-size: .85rem; margin: .3rem 0; }
.lc-keys svg { vertical-align: -.15em; } .lc-keys span { margin-right: .8rem; }
.lc-full { display: block; font-size: .85rem; } .lc-full[hidden] { display: none; }
.lc-lane { font-weight: 600; } .lc-words { font-size: .85rem; }
"""
STYLE = """
body { max-width: 120rem; }
figcaption { max-width: 50rem; }
table { border-collapse: collapse; font-size: .85rem; margin: .5rem 0; }
caption { text-align: left; font-weight: bold; }
th, td { border: 1px solid var(--line); padding: .1rem .4rem; white-space: nowrap; text-align: left; }
"""


def page(pictures: Sequence[Picture], cells: int = svg.STATIC) -> str:
    """One file with all pictures that needs no other file."""
    titles = [": ".join(filter(None, (picture.title, picture.status))) for picture in pictures]
    title = titles[0] if len(pictures) == 1 else f"{len(pictures)} pictures"
    main = element("main", element("h1", title), id="main")
    for number, picture in enumerate(pictures):
        if len(pictures) > 1:
            main.append(element("h2", titles[number]))
        wrong = not picture.status.startswith("VERIFIED")
        main.append(figure(picture, cells, f"lc{number}-", wrong=wrong))
    return document(title, main, style=FIGURES + STYLE, script=script())


def script() -> str:
    """Return the script of every page that has figures: large panels, a thread alone, narrow frames, parts."""
    return "".join(Path(__file__).with_name(name).read_text(encoding="utf-8") for name in SCRIPTS)


def figure(
    picture: Picture, cells: int = svg.STATIC, prefix: str = "lc", *, wrong: bool = False, lead: bool = True
) -> Element:
    """Return the <figure> of a picture: of a wrong one its first wrong cells, then the whole as wide as the page.

    `prefix` is of ids; `lead` has the first note above.
    """
    picture = picture.flatten()
    made = element("figure", class_="lc-figure")
    made.extend([element("p", picture.notes[0], class_="lc-lead")] if lead and picture.notes else [])
    near = zoom(picture) if wrong else None
    if near is not None:
        part, drawn = near
        made.append(element("p", ", ".join(filter(None, (part.heading, part.window))), class_="lc-near"))
        drawing = svg.drawing(drawn, cells, f"{prefix}near-", words=False)
        made.append(_scroll("lc-scroll lc-zoom", f"the first wrong cells of {picture.title}", drawing))
    details = replace(picture, panels=picture.details, notes=())
    without = replace(picture, panels=tuple(panel for panel in picture.panels if not panel.detail))
    whole = svg.drawing(without, cells, prefix, words=False)
    made.extend(switch(float(whole.get("width", "0"))))
    made.append(_scroll("lc-scroll lc-whole", f"drawing of {picture.title}", whole))
    name = whole.get("aria-labelledby", "").removesuffix("-title")
    made.extend([element("div", *_parts(details, cells, prefix), class_="lc-parts")] if details.panels else [])
    made.append(element("figcaption", legend(picture, name), *explain_threads(picture)))
    tables = _scroll("lc-scroll", f"tables of {picture.title}", *_tables(picture, cells))
    made.append(element("details", element("summary", "In words and as tables"), *_in_words(picture), tables))
    return made


def switch(width: float) -> list[Element]:
    """Return the switch to the full size of a wide drawing; the script hides it if the letters are large enough."""
    made = element("label", element("input", type="checkbox"), " full size", class_="lc-full")
    return [made] if width > PHONE else []


def _parts(details: Picture, cells: int, prefix: str) -> Iterator[Element]:
    """Yield each panel of details, beside the next one where the page is wide enough to read both."""
    for panel in details.panels:
        alone = replace(panel, place=(0, 0), detail=False)
        drawing = svg.drawing(replace(details, title=panel.heading, panels=(alone,)), cells, prefix, words=False)
        width = float(drawing.get("width", "0"))
        made = _scroll("lc-scroll", f"drawing of {panel.heading}", drawing)
        room = f"flex: {width:.0f} 1 {width * READABLE:.0f}px; max-width: min({width:.0f}px, 100%)"
        yield element("div", made, style=room)


def _scroll(kind: str, label: str, *inside: Element) -> Element:
    """Return what scrolls by itself, so that a narrow page does not."""
    return element("div", *inside, class_=kind, tabindex="0", role="region", aria_label=label)


def legend(picture: Picture, name: str) -> Element:
    """Return a sample of each colour and mark; `name` begins the ids of the drawing."""
    made = element("div", class_="lc-keys")
    for drawn, words in svg.samples(picture, name):
        made.append(element("span", drawn, f" {words}") if words else drawn)
    return made


def _in_words(picture: Picture) -> Iterator[Element]:
    """Yield what is to be seen, then the formulas that it is drawn from."""
    yield element("p", picture.summary(), class_="lc-words")
    captions = [line for panel in picture.panels for line in panel.captions]
    if captions:
        yield element("pre", "\n".join(captions))


def explain_threads(picture: Picture) -> Iterator[Element | str]:
    """Yield how to see a thread alone, if cells name threads, and the place where the script names it."""
    if picture.names_threads and (picture.shades == "thread" or picture.details):
        yield KEYS
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
    fault = picture.several if cell.fault is Fault.SEVERAL else cell.lack
    parts = [": ".join(filter(None, (cell.text, fault))), f"expected {cell.expected}" * bool(cell.expected)]
    return "; ".join(filter(None, [*parts, picture.marked * cell.marked]))
