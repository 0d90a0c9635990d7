# SPDX-License-Identifier: Apache-2.0
"""The museum's page with a picture of each wrong map, drawn by `verify.show` from the command that refutes it.

It has the whole map if that is small; else what is wrong first, in a size for a phone, and a link to the map's file,
where hover works too. All maps whole would be 2 MB of one page.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from layouts.atoms import load
from tests.museum.page import REPORTS, Report, page
from tests.site import pictures as drawing
from verify.layout.command import compare
from verify.pictures import svg
from verify.pictures.picture import WHOLE as WINDOW
from verify.pictures.picture import Picture
from verify.pictures.zoom import zoom
from verify.show import command as show
from verify.show import subjects

ROOT = Path(__file__).parents[2]
WRONG = "tests/museum/wrong.toml"
ATOMS = "\nThe name of an atom leads to its verdict, with its picture.\n"
MOST = 300  # cells of a picture that is a part of the page
WHOLE = {"element", "base", "sbo", "lbo", "narrow", "width"}  # keys of an entry that are integers


def with_pictures(target: Path) -> str:
    """The page, with the pictures that it writes to a folder `museum` beside it."""
    folder, text = target / "museum", page()
    folder.mkdir()
    for report in REPORTS:
        drawn = draw(report, folder) if report.refuted else ""
        command = f"```\nlanecheck {report.refuted.strip()}\n    {report.says}\n```\n"
        assert not drawn or command in text, report.where
        text = text.replace(command, f"{command}\n{drawn}", 1) if drawn else text
    for name, verdict in list_verdicts().items():
        number, _, atom = name.partition(": ")
        text = text.replace(f"| {number} | `{atom}` |", f"| {number} | [`{atom}`](verdicts/{verdict}) |", 1)
    return text.replace("\n## Atoms\n", f"\n## Atoms\n{ATOMS}", 1)


def list_verdicts() -> dict[str, str]:
    """Return the file of the page of each wrong atom."""
    return {atom.name: f"museum-{atom.name.partition(':')[0]}.html" for atom in load(ROOT / WRONG)}


def draw(report: Report, folder: Path) -> str:
    """Return the Markdown of the pictures of a wrong map; empty if its command is about nothing that can be drawn."""
    pictures = _pictures(report, folder)
    if not pictures:
        return ""
    cells = sum(picture.cells for picture in pictures)
    if cells <= MOST:
        names = [f"{report.number}{f'-{at}' if at else ''}.svg" for at in range(len(pictures))]
        for name, picture in zip(names, pictures, strict=True):
            drawing.write(picture, folder / name)
        title = f"The wrong map of museum {report.number}: {report.says}"
        return "\n".join(f"![{title}](museum/{name})" for name in names) + "\n"
    (folder / f"{report.number}.svg").write_text(svg.document(pictures), encoding="utf-8")
    whole = f"[The wrong map of museum {report.number}](museum/{report.number}.svg) whole, {cells:,} cells.\n"
    near = zoom(pictures[0])
    if near is None:
        return whole
    first = svg.drawing(near[1], prefix="near", words=False)
    (folder / f"{report.number}-near.svg").write_text(svg.text(first), encoding="utf-8")
    return f"![What is wrong first in museum {report.number}](museum/{report.number}-near.svg)\n\n{whole}"


def _pictures(report: Report, folder: Path) -> Sequence[Picture]:
    """Return the pictures of a wrong map: of a layout beside another one, what should be there."""
    name, *words = shlex.split(report.refuted)
    if name == "layout" and words[1] == "--equals":
        (case,) = compare(words[0], words[2]).cases
        assert case.picture
        drawn = case.picture(WINDOW)
        return [drawn] if drawn else []
    entry = folder / f"{report.number}.toml"
    if name in ("index", "movement"):
        entry.write_text(_entry(words), encoding="utf-8")
    elif name != "layout":
        return []
    given = words if name == "layout" else [str(entry)]
    pictures = subjects.draw_arguments(show.parser().parse_args(given)).pictures
    entry.unlink(missing_ok=True)
    return pictures


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
