# SPDX-License-Identifier: Apache-2.0
"""The museum's page with a picture of each wrong map, drawn by `verify.show` from the command that refutes it."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from tests.museum.page import REPORTS, Report, page
from verify.pictures import svg
from verify.pictures.picture import Picture
from verify.pictures.zoom import around, first_wrong, zoom
from verify.show import command as show
from verify.show import subjects

ATOMS = "\n[The page of their verdicts](verdicts/refuted.html) has each of them with its picture.\n"
FEW = 64  # cells that can be read on a phone
SIDE = 24  # rows and columns of a panel of a large picture
WHOLE = {"element", "base", "sbo", "lbo", "narrow", "width"}  # keys of an entry that are whole numbers


def with_pictures(target: Path) -> str:
    """The page, with the pictures that it writes to a folder `museum` beside it."""
    folder, text = target / "museum", page()
    folder.mkdir()
    for one in REPORTS:
        if not one.refuted or not draw(one, folder):
            continue
        command = f"```\nlanecheck {one.refuted.strip()}\n    {one.says}\n```\n"
        assert command in text, one.where
        image = f"![The wrong map of museum {one.number}: {one.says}](museum/{one.number}.svg)\n"
        if (folder / f"{one.number}-near.svg").is_file():
            image = f"![What is wrong first in museum {one.number}](museum/{one.number}-near.svg)\n\n{image}"
        text = text.replace(command, f"{command}\n{image}", 1)
    return text.replace("\n## Atoms\n", f"\n## Atoms\n{ATOMS}", 1)


def draw(one: Report, folder: Path) -> bool:
    """Draw the wrong map of a report; whether its command is about a map that can be drawn."""
    name, *words = shlex.split(one.refuted)
    entry = folder / f"{one.number}.toml"
    if name == "layout":
        given = [word for word in words if word != "--equals"]
    elif name in ("index", "movement"):
        entry.write_text(_entry(words), encoding="utf-8")
        given = [str(entry)]
    else:
        return False
    pictures = subjects.draw_arguments(show.parser().parse_args(given)).pictures
    entry.unlink(missing_ok=True)
    (folder / f"{one.number}.svg").write_text(svg.document([_near(one) for one in pictures]), encoding="utf-8")
    near = zoom(pictures[0])
    if near is not None and pictures[0].cells > FEW:
        first = svg.drawing(near[1], prefix="near", words=False)
        (folder / f"{one.number}-near.svg").write_text(svg.text(first), encoding="utf-8")
    return True


def _near(picture: Picture) -> Picture:
    """Return the picture; of a large one the rows and columns around what is wrong first in each panel."""
    if picture.cells <= 32 * SIDE:
        return picture
    return replace(picture, panels=tuple(around(one, first_wrong(one), SIDE, SIDE) for one in picture.panels))


def _entry(words: list[str]) -> str:
    """The options of a command as an entry of a file."""
    let: dict[str, str] = {}
    lines = ['["the wrong map"]']
    for option, value in pairwise(words):
        key = option.removeprefix("--").replace("-", "_")
        if option == "--let":
            name, _, text = value.partition("=")
            let[name.strip()] = text.strip()
        elif option.startswith("--"):
            lines.append(f"{key} = {value if key in WHOLE else json.dumps(value)}")
    lines += [f"let = {{ {', '.join(f'{name} = {json.dumps(text)}' for name, text in let.items())} }}"] if let else []
    return "\n".join(lines) + "\n"
