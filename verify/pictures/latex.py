# SPDX-License-Identifier: Apache-2.0
r"""A picture as LaTeX: one TikZ picture in a standalone document, with a cell for each node, as CuTe's print_latex."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from verify.pictures.palette import PASTELS, RED
from verify.pictures.picture import Cell, Fault, Panel, Picture
from verify.pictures.svg import STATIC, first

SPECIAL = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "≠": r"$\neq$",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "→": r"$\to$",
    **{letter: f"\\{letter}" for letter in "{}$&#_%"},
}  # fmt: skip
WIDE, HIGH = 1.25, 1.0  # centimetres of a cell
LETTERS = 6  # that fit in it


def document(pictures: Sequence[Picture]) -> str:
    """Return the pictures as LaTeX, one page each; a panel with more than 4096 cells is a window that says so."""
    colours = [f"\\definecolor{{lc{i}}}{{RGB}}{{{','.join(map(str, shade))}}}" for i, shade in enumerate(PASTELS)]
    colours.append(f"\\definecolor{{lcred}}{{RGB}}{{{','.join(map(str, RED))}}}")
    return "\n".join([
        r"\documentclass[tikz,border=4pt]{standalone}", r"\usetikzlibrary{patterns}", *colours,
        r"\begin{document}", *(line for picture in pictures for line in _picture(picture)), r"\end{document}", "",
    ])  # fmt: skip


def _picture(picture: Picture) -> Iterator[str]:
    yield r"\begin{tikzpicture}[x=1cm,y=-1cm,cell/.style={draw,align=center,font=\ttfamily\scriptsize,inner sep=0pt,"
    yield f"  minimum height={HIGH}cm}}]"
    panels = [first(panel, STATIC) for panel in picture.panels]
    widths = {panel.name: _width(panel, panels) for panel in panels}
    lefts, tops, across, down = {}, {}, 0.0, 1.0
    for column in sorted({panel.place[1] for panel in panels}):
        lefts[column] = across
        across += 1.5 + max(panel.extent[1] * widths[panel.name] for panel in panels if panel.place[1] == column)
    for row in sorted({panel.place[0] for panel in panels}):
        tops[row] = down
        down += 2 + HIGH * max(panel.extent[0] for panel in panels if panel.place[0] == row)
    yield _label(0, -0.2, picture.title + (f": {picture.status}" if picture.status else ""), "right")
    for panel in panels:
        yield from _panel(panel, widths[panel.name], lefts[panel.place[1]], tops[panel.place[0]])
    for number, note in enumerate(picture.notes):
        yield _label(0, down + 0.5 * number, note, "right")
    yield r"\end{tikzpicture}"


def _width(panel: Panel, panels: Sequence[Panel]) -> float:
    cells = [cell for stacked in panels if stacked.place[1] == panel.place[1] for cell in stacked.every()]
    letters = max((len(line) for cell in cells for line in (*cell.lines, f"≠{cell.expected}")), default=1)
    return max(HIGH, WIDE * letters / LETTERS)


def _panel(panel: Panel, width: float, left: float, top: float) -> Iterator[str]:
    heading = panel.heading + (f", {panel.window}" if panel.window else "")
    yield _label(left, top - 1.2, heading, "right")
    for column in range(panel.extent[1]):
        yield _label(left + (column + 0.5) * width, top - 0.75 + 0.1, panel.label(1, column), "font=\\scriptsize")
    for row, cells in enumerate(panel.cells):
        y = top + row * HIGH
        yield _label(left - 0.1, y, panel.label(0, row), "left,font=\\scriptsize")
        for column, cell in enumerate(cells):
            yield from _cell(cell, left + (column + 0.5) * width, y, width)


def _cell(cell: Cell, x: float, y: float, width: float) -> Iterator[str]:
    how = [f"minimum width={width:g}cm"]
    if cell.fault is Fault.SEVERAL:
        how += ["fill=lcred", "text=white", "double"]
    elif cell.fault is Fault.MISSING:
        how += ["pattern=north east lines", "pattern color=gray"]
    elif cell.shade >= 0:
        how.append(f"fill=lc{cell.shade % 8}")
    lines = [escape(line) for line in cell.lines]
    if cell.expected:
        lines.append(r"\textbf{" + escape(f"≠{cell.expected}") + "}")
    text = r"\\".join(lines)
    yield rf"\node[cell,{','.join(how)}] at ({x:g},{y:g}) {{{text}}};"
    for marked, style, inset in (
        (cell.expected, "dashed,thick,blue", 0.05),
        (cell.marked, "ultra thick,rounded corners", 0),
    ):
        if marked:
            ends = (x - width / 2 + inset, y - HIGH / 2 + inset, x + width / 2 - inset, y + HIGH / 2 - inset)
            yield r"\draw[{}] ({:g},{:g}) rectangle ({:g},{:g});".format(style, *ends)


def _label(x: float, y: float, words: str, how: str) -> str:
    return rf"\node[{how}] at ({x:g},{y:g}) {{{escape(words)}}};"


def escape(words: str) -> str:
    r"""Text in which no letter is a command of TeX.

    >>> print(escape(r"SM80_16x8\input{x}"))
    SM80\_16x8\textbackslash{}input\{x\}
    """
    plain = re.sub(r"\s+", " ", words)
    return "".join(SPECIAL.get(letter, letter) for letter in plain)
