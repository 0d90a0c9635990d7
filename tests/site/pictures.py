# SPDX-License-Identifier: Apache-2.0
"""Pictures of the site: drawn for the comments of a page, and made parts of it, where keys and a pointer reach cells.

`write` draws a picture as a file, and writes it beside that as HTML, with its words apart: a page says them in a size
that a phone shows. Until the site is made a page has an image, which `inline` replaces by these. Of a picture of many
cells the page has them as data, which its script draws; without scripts it has the image.
"""

from __future__ import annotations

import html
import re
import shlex
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree.ElementTree import tostring

from verify.core.html import element
from verify.kernel import command as kernel
from verify.pictures import svg
from verify.pictures.html import explain_threads, legend, switch
from verify.pictures.picture import Picture
from verify.pictures.zoom import zoom
from verify.show import command as show
from verify.show import subjects

DOCS = Path(__file__).parents[2] / "docs"
SHOWN = re.compile(r"^<!-- show: (.*) -->$", re.MULTILINE)
NEAR = re.compile(r"^<!-- near: (.*) \| (.*) -->$", re.MULTILINE)
IMAGE = r'<img alt="([^"]*)" src="([^":]*\.svg)"\s*/?>'
IMAGES = re.compile(rf"<p>((?:{IMAGE}\s*)+)</p>")
IDS = re.compile(r"(?<=[\"#( ])(?:lc|near)(?=[0-9a-f]{8}-)")
COMMAND = "lanecheck show "
PART, MARK = ".part", "<!-- next -->"  # the suffix of what a page has of a picture; between its four pieces
CELLS = 160  # that a page has as elements


def write(picture: Picture, path: Path) -> None:
    """Write a picture, and beside it what a page has of it: title, drawing, legend, what is wrong, formulas."""
    path.write_text(svg.document([picture]), encoding="utf-8")
    picture = picture.flatten()
    drawn = svg.drawing(picture, CELLS, words=False)
    title = ": ".join(filter(None, (picture.title, picture.status)))
    formulas = [caption for panel in picture.panels for caption in panel.captions]
    lead = [] if [panel.heading for panel in picture.panels] == [title] else [element("p", title, class_="lc-lead")]
    below = [legend(picture, drawn.get("aria-labelledby", "").removesuffix("-title"))]
    below += [element("p", note, class_="lc-note") for note in picture.notes]
    below += [element("pre", "\n".join(formulas))] if formulas else []
    keys = explain_threads(picture)
    above, under, last = (
        "".join(piece if isinstance(piece, str) else tostring(piece, "unicode", method="html") for piece in pieces)
        for pieces in (lead, below, keys)
    )
    path.with_suffix(PART).write_text(MARK.join((above, svg.text(drawn), under, last)), encoding="utf-8")


def list_drawn() -> dict[str, list[str]]:
    """Return the arguments by which docs/show.md draws each picture of the folder docs/pictures."""
    text = (DOCS / "show.md").read_text(encoding="utf-8")
    commands = [shlex.split(line) for line in re.findall(r"^lanecheck show (.*) -o docs/pictures/", text, re.MULTILINE)]
    return dict(zip(re.findall(r" -o docs/pictures/([\w-]+\.svg)$", text, re.MULTILINE), commands, strict=True))


def draw_anew(target: Path) -> None:
    """Draw the pictures of docs/pictures for pages: their words beside them, and what a pointer shows by a script."""
    text = (DOCS / "show.md").read_text(encoding="utf-8")
    (report,) = (shlex.split(line) for line in re.findall(r"^lanecheck kernel (.*)$", text, re.MULTILINE))
    with TemporaryDirectory() as folder:
        made = str(Path(folder) / report[-1])
        kernel.main([*report[:-1], made])
        for name, words in list_drawn().items():
            given = [made if word == report[-1] else word for word in words]
            (picture,) = subjects.draw_arguments(show.parser().parse_args(given)).pictures
            write(picture, target / "pictures" / name)


def draw(page: Path) -> str:
    """Return a page with pictures in place of its comments.

    `<!-- show: ARGUMENTS -->` is what `lanecheck show` draws, `<!-- near: ARGUMENTS | WORDS -->` its first wrong cells.
    """
    folder, numbers = page.parent / "drawn", count(1)

    def name_picture() -> str:
        folder.mkdir(exist_ok=True)
        return f"{page.stem}-{next(numbers)}.svg"  # a page may have one drawing twice, with other ids

    def draw_all(comment: re.Match[str]) -> str:
        shown = subjects.draw_arguments(show.parser().parse_args(shlex.split(comment[1])))
        assert shown.pictures and shown.code in (0, 1), comment[0]
        names = [name_picture() for _ in shown.pictures]
        for name, picture in zip(names, shown.pictures, strict=True):
            write(picture, folder / name)
        return "\n".join(f"![{COMMAND}{html.escape(comment[1])}](drawn/{name})" for name in names)

    def draw_near(comment: re.Match[str]) -> str:
        (picture,) = subjects.draw_arguments(show.parser().parse_args(shlex.split(comment[1]))).pictures
        near, name = zoom(picture), name_picture()
        assert near is not None, comment[0]
        (folder / name).write_text(svg.text(svg.drawing(near[1], words=False)), encoding="utf-8")
        return f"![{html.escape(comment[2])}](drawn/{name})"

    return NEAR.sub(draw_near, SHOWN.sub(draw_all, page.read_text(encoding="utf-8")))


def inline(page: Path) -> None:
    """Put the pictures into a page of the site."""
    text = page.read_text(encoding="utf-8")
    with_pictures = IMAGES.sub(lambda match: figures(match[1], page.parent), text)
    if with_pictures != text:
        page.write_text(with_pictures, encoding="utf-8")


def figures(images: str, folder: Path) -> str:
    """Return the pictures of a paragraph as parts of a page, those of one paragraph next to each other."""
    made = [figure(words, folder, name) for words, name in re.findall(IMAGE, images)]
    return made[0] if len(made) == 1 else f'<div class="lc-beside">{"".join(made)}</div>'


def figure(words: str, folder: Path, name: str) -> str:
    """Return a picture as a part of a page; `words` are HTML. Ids of two pictures on a page differ by their names."""
    picture = folder / name
    part = picture.with_suffix(PART)
    pieces = part.read_text(encoding="utf-8") if part.exists() else MARK.join(("", picture.read_text("utf-8"), "", ""))
    pieces = pieces.replace(" />", "/>").replace(' xmlns="http://www.w3.org/2000/svg"', "")
    above, drawn, below, keys = pieces.split(MARK)
    drawn = re.sub(r"<style>.*?</style>", "", drawn, flags=re.DOTALL)  # site.css has it, once for all pictures
    caption = f"<code>{words}</code>" if words.startswith(COMMAND) else f"{words.rstrip('.')}."
    caption = "" if f">{words}</text>" in drawn else caption  # the drawing has it as its heading
    width = re.search(r'<svg [^>]*?\bwidth="([\d.]+)"', drawn)
    full = "".join(tostring(label, "unicode", method="html") for label in switch(float(width[1]) if width else 0))
    image = f'<noscript><img alt="{words}" src="{name}"></noscript>' if "data-cells" in drawn else ""
    made = (
        f'<figure class="lc-figure">{above}{full}<div class="lc-scroll lc-whole" tabindex="0" role="region" '
        f'aria-label="drawing {picture.stem}: {html.escape(html.unescape(words))}">{drawn}</div>{image}'
        f"<figcaption>{below}{caption} {keys}</figcaption></figure>"
    )
    return rename_ids(made, picture.stem)


def rename_ids(drawn: str, name: str) -> str:
    """Return drawings whose ids begin with a name, for two of one subject on a page."""
    return IDS.sub(f"lc{name}-", drawn)
