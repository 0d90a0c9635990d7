# SPDX-License-Identifier: Apache-2.0
"""A picture as text: a table for each panel, as wide as the terminal; columns that do not fit follow below.

Without colour a mark says what is wrong, before the owner: several owners, no owner, what is expected, the
counterexample.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from verify.pictures.palette import PASTELS, RED
from verify.pictures.picture import LACKS, Cell, Fault, Panel, Picture

UNICODE = {"several": "×", "missing": "░", "expected": "≠", "marked": "▶"}
ASCII = {"several": "!", "missing": "-", "expected": "#", "marked": ">"}
RESET = "\x1b[0m"


@dataclass(frozen=True)
class Style:
    """How text is written: its columns, whether in colour, and with which marks."""

    width: int = 80
    colour: bool = False
    unicode: bool = True

    @property
    def marks(self) -> dict[str, str]:
        """The mark of each fault."""
        return UNICODE if self.unicode else ASCII


def render(picture: Picture, style: Style, quiet: bool = False) -> str:
    r"""Return the panels of a picture, one below the other, then what is wrong and the formulas.

    >>> from verify.pictures.picture import grid
    >>> cells = {(0, 0): Cell(("T0", "V0"), 0), (0, 1): Cell(("T0 V1", "T1 V0"), fault=Fault.SEVERAL)}
    >>> panel = grid("C", "C 1x2", ("m", "n"), (1, 2), lambda r, c: cells[r, c])
    >>> print(render(Picture("one", (panel,)), Style(unicode=False)), end="")
    one
    C 1x2
    m\n    0       1
    0    T0 V0   !T0 V1
                 !T1 V0
    ! several owners
    """
    lines = [picture.title + (f": {picture.status}" if picture.status else "")]
    if not quiet:
        lines += _below(picture, style)
    text = "\n".join(line.rstrip() for line in lines) + "\n"
    return text if style.unicode else text.replace("…", "...").encode("ascii", "backslashreplace").decode()


def _below(picture: Picture, style: Style) -> list[str]:
    """Return the lines below the title."""
    lines: list[str] = []
    for panel in picture.panels:
        lines += [panel.heading + (f", {panel.window}" if panel.window else ""), *_panel(panel, style)]
    if marks := _list_marks(picture):
        held = {cell.lack for panel in picture.panels for cell in panel.every()}
        lacks = " or ".join(lack for lack in LACKS if lack in held)
        meanings = {
            "several": picture.several, "missing": lacks, "expected": picture.expected, "marked": picture.marked,
        }  # fmt: skip
        lines.append(", ".join(f"{style.marks[mark]} {words}" for mark, words in meanings.items() if mark in marks))
    lines += [part for note in picture.notes for part in _wrap(note, style.width)]
    for panel in picture.panels:
        lines += [part for caption in panel.captions for part in _wrap(f"  {caption}", style.width)]
    return lines


def _panel(panel: Panel, style: Style) -> Iterator[str]:
    rows, columns = panel.extent
    axes = "\\".join(panel.axes)
    left = max([len(axes), *(len(panel.label(0, row)) for row in range(rows))])
    written = [[_lines(cell, style) for cell in row] for row in panel.cells]
    wide = max((len(line) for row in written for lines in row for line in lines), default=1)
    wide = max([wide, *(len(panel.label(1, column)) for column in range(columns))])
    fits = max(1, (style.width - left - 1) // (wide + 1))
    for start in range(0, columns, fits):
        chosen = range(start, min(start + fits, columns))
        yield " ".join([axes.ljust(left), *(panel.label(1, column).center(wide) for column in chosen)])
        for row, cells in enumerate(panel.cells):
            for number in range(max(len(written[row][column]) for column in chosen)):
                name = panel.label(0, row) if not number else ""
                parts = (_pad(cells[c], written[row][c], number, wide, style) for c in chosen)
                yield " ".join([name.ljust(left), *parts])


def _lines(cell: Cell, style: Style) -> list[str]:
    """Return the lines of a cell: each owner on one line, with its mark; below it what is expected."""
    marks = style.marks
    first = marks["marked"] if cell.marked else " "
    if cell.fault is Fault.MISSING and not cell.lines:
        lines = [first + marks["missing"] * 4]
    elif cell.fault:
        lines = [f"{first}{marks[cell.fault.value]}{line}" for line in _owners(cell)]
    else:
        lines = [f"{first}{line}" for line in _owners(cell)] or [first]
    return [*lines, f" {marks['expected']}{cell.expected}"] if cell.expected else lines


def _owners(cell: Cell) -> tuple[str, ...]:
    """Each owner on a line: the lines, unless these are the thread and the value of one."""
    return cell.lines if cell.several_lines else (cell.text,)


def _pad(cell: Cell, lines: list[str], number: int, wide: int, style: Style) -> str:
    text = (lines[number] if number < len(lines) else "").ljust(wide)
    if not style.colour:
        return text
    if cell.fault is Fault.SEVERAL:
        return f"\x1b[1;97;48;2;{_rgb(RED)}m{text}{RESET}"
    if cell.fault is Fault.MISSING or cell.expected:
        return f"\x1b[7m{text}{RESET}"
    if cell.shade < 0:
        return text
    return f"\x1b[30;48;2;{_rgb(PASTELS[cell.shade % 8])}m{text}{RESET}"


def _rgb(colour: tuple[int, int, int]) -> str:
    return ";".join(map(str, colour))


def _list_marks(picture: Picture) -> set[str]:
    """Return the marks that the picture has."""
    present: set[str] = set()
    for panel in picture.panels:
        for cell in panel.every():
            marks = {"expected": cell.expected, "marked": cell.marked, str(cell.fault): cell.fault}
            present |= {mark for mark, has in marks.items() if has}
    return present


def _wrap(line: str, width: int) -> list[str]:
    body = line.lstrip()
    indent = " " * (len(line) - len(body))
    if len(line) <= width:
        return [line]
    return textwrap.wrap(body, width, initial_indent=indent, subsequent_indent=f"{indent}    ", break_long_words=False)
