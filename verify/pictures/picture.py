# SPDX-License-Identifier: Apache-2.0
"""A picture as a plain value: panels of cells. What is drawn is decided here, how it looks is each writer's.

`Picture`   a title, the panels with their places beside each other, and sentences about what is wrong
`Panel`     a table of cells with the names of its rows and columns, whole or a window that says so
`Cell`      what is written in it, the number of its colour, its fault, what is expected there
`grid`      a panel made cell by cell
`choose_shown`     the part of a map that a panel shows
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from sys import maxsize
from typing import NamedTuple

from verify.core.wording import count_of

Window = tuple[range | None, range | None]  # rows and columns of a map; None for all
WHOLE: Window = (None, None)
Names = tuple[Callable[[int], str] | None, Callable[[int], str] | None]  # of rows and columns, from their numbers
DETAIL = " part"  # ends the name of a panel that is a part of another one
LACKS = ("no owner", "too few owners")  # of a cell, in words
MOST = 1 << 16  # cells of a panel: beyond, a panel is a window


class Fault(StrEnum):
    """What is wrong with the owners of a cell."""

    NONE = ""
    SEVERAL = "several"  # more than it should have
    MISSING = "missing"  # fewer than it should have


class Cell(NamedTuple):
    """One cell: an element with its owners, a point with its offset, a word of memory with its lanes."""

    lines: tuple[str, ...]  # what is written in it
    shade: int = -1  # the number of its colour, of eight, such as its thread's; -1 for none
    fault: Fault = Fault.NONE  # of its owners
    expected: str = ""  # what should be there, where that is something else
    marked: bool = False  # whether the counterexample is here
    about: tuple[str, ...] = ()  # where it is, and the formulas at this point

    @property
    def text(self) -> str:
        """The lines as one."""
        return (", " if self.several_lines else " ").join(self.lines)

    @property
    def several_lines(self) -> bool:
        """Whether each line is an owner: else they are the thread and the value of one, or an offset and its bank."""
        return any(" " in line for line in self.lines)

    @property
    def lack(self) -> str:
        """What it lacks in words: an owner, or more of them; empty if it lacks nothing."""
        return LACKS[bool(self.lines)] if self.fault is Fault.MISSING else ""


@dataclass(frozen=True, slots=True)
class Panel:
    """A table of cells. `first` and `whole` say which part of the map it shows."""

    name: str  # A, B, C, before, after: unique in a picture
    heading: str  # what is above it
    axes: tuple[str, str]  # what its rows and its columns are
    cells: tuple[tuple[Cell, ...], ...]  # row by row
    whole: tuple[int, int]  # rows and columns of the map
    first: tuple[int, int] = (0, 0)  # the row and column of the map that the first cell is
    place: tuple[int, int] = (0, 0)  # row and column of the panel in the picture
    captions: tuple[str, ...] = ()  # the formulas that it is drawn from
    labels: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())  # of rows and columns, in place of their numbers
    detail: bool = False  # whether it is a part of another panel, below the whole picture

    @property
    def extent(self) -> tuple[int, int]:
        """Rows and columns that are shown."""
        return len(self.cells), len(self.cells[0]) if self.cells else 0

    @property
    def count(self) -> int:
        """The number of cells that are shown."""
        rows, columns = self.extent
        return rows * columns

    @property
    def window(self) -> str:
        """Which part of the map is shown, in words; empty where it is the whole."""
        if self.extent == self.whole:
            return ""
        parts = zip(self.axes, self.first, self.extent, self.whole, strict=True)
        cut = [
            f"{axis} {start}..{start + count - 1} of 0..{end - 1}" for axis, start, count, end in parts if count < end
        ]
        return f"shown: {', '.join(cut)}"

    def label(self, axis: int, number: int) -> str:
        """Return the name of a row (axis 0) or column (axis 1) that is shown, by its place."""
        return self.labels[axis][number] if self.labels[axis] else str(self.first[axis] + number)

    def every(self) -> Iterator[Cell]:
        """Every cell, row by row."""
        for row in self.cells:
            yield from row

    def transpose(self) -> Panel:
        """Return the panel with its rows as columns."""
        return replace(
            self, cells=tuple(zip(*self.cells, strict=True)), axes=self.axes[::-1], whole=self.whole[::-1],
            first=self.first[::-1], labels=self.labels[::-1],
        )  # fmt: skip

    def crop(self, rows: range, columns: range) -> Panel:
        """Return the panel of some of its rows and columns, counted from the first that is shown."""
        down, across = self.labels
        labels = tuple(down[i] for i in rows if down), tuple(across[i] for i in columns if across)
        cells = tuple(tuple(self.cells[r][c] for c in columns) for r in rows)
        first = self.first[0] + rows.start, self.first[1] + columns.start
        return replace(self, cells=cells, first=first, labels=labels)


@dataclass(frozen=True, slots=True)
class Picture:
    """What is drawn of one subject."""

    title: str  # the subject's name
    panels: tuple[Panel, ...]  # in the order in which text lists them
    status: str = ""  # of the checks that were made: VERIFIED, REFUTED, ...
    notes: tuple[str, ...] = ()  # sentences: the counterexample, the extent of the damage
    shades: str = ""  # what the colours are by: "thread", "bank", "warp"
    several: str = "several owners"  # what `Fault.SEVERAL` means in it
    marked: str = "the counterexample"  # what `Cell.marked` means in it
    expected: str = "what is expected there"  # what `Cell.expected` is in it

    @property
    def cells(self) -> int:
        """The number of cells that are shown."""
        return sum(panel.count for panel in self.panels)

    @property
    def details(self) -> tuple[Panel, ...]:
        """The panels that are parts of others."""
        return tuple(panel for panel in self.panels if panel.detail)

    @property
    def names_threads(self) -> bool:
        """Whether cells name threads, by which a page can show one thread alone."""
        return any(re.match(r"T\d", line) for panel in self.panels for cell in panel.every() for line in cell.lines)

    def summary(self) -> str:
        """Say what is to be seen, in sentences, for those who do not see it.

        >>> panel = Panel("C", "C 1x2", ("m", "n"), ((Cell(("T0", "V0"), 0), Cell((), fault=Fault.MISSING)),), (1, 2))
        >>> Picture("one", (panel,)).summary()
        'C 1x2: 1 row (m) by 2 columns (n), 1 cell without an owner.'
        """
        panels = [_summary(panel, self.several, self.expected) for panel in self.panels]
        return " ".join([*panels, *(f"{note.rstrip('.')}." for note in self.notes)])

    def legend(self) -> list[tuple[Cell, str]]:
        """Return a sample of each colour and mark in the picture with its meaning, and of how many cells it is.

        The meaning of the colours is after the last of them.
        """
        every = [cell for panel in self.panels for cell in panel.every()]
        shades = sorted({cell.shade % 8 for cell in every if cell.shade >= 0}) if self.shades else []
        samples = [(Cell((str(shade),), shade), "") for shade in shades]
        if samples:
            below = ", below thread % 8" if self.details else ""
            samples[-1] = samples[-1][0], f"{self.shades} % 8{below}"
        marks = (
            (self.several, Cell((), fault=Fault.SEVERAL), sum(cell.fault is Fault.SEVERAL for cell in every)),
            *((lack, Cell((), fault=Fault.MISSING), sum(cell.lack == lack for cell in every)) for lack in LACKS),
            (f"≠ {self.expected}", Cell((), expected=" "), sum(bool(cell.expected) for cell in every)),
        )
        samples += [(sample, f"{words}: {number}") for words, sample, number in marks if number]
        return samples + [(Cell((), marked=True), self.marked)] * any(cell.marked for cell in every)

    def flatten(self) -> Picture:
        """Return the picture with a tall B below A, k from left to right in both: above C it would leave A no room."""
        tall = [panel for panel in self.panels if panel.name == "B" and panel.extent[0] > 2 * panel.extent[1]]
        below = max((panel.place[0] for panel in self.panels), default=0) + 1
        moved = (replace(panel.transpose(), place=(below, 0)) if panel in tall else panel for panel in self.panels)
        return replace(self, panels=tuple(moved))

    def only(self, names: Sequence[str]) -> Picture:
        """Return the picture of some of its panels, each with its part."""
        return replace(self, panels=tuple(panel for panel in self.panels if panel.name.removesuffix(DETAIL) in names))


def _summary(panel: Panel, several: str, expected: str) -> str:
    rows, columns = panel.whole
    several_owners = sum(cell.fault is Fault.SEVERAL for cell in panel.every())
    lacks = Counter(cell.lack for cell in panel.every())
    differing = sum(bool(cell.expected) and not cell.fault for cell in panel.every())
    counts = (
        (several_owners, f"with {several}"),
        (lacks[LACKS[0]], "without an owner"),
        (lacks[LACKS[1]], f"with {LACKS[1]}"),
        (differing, f"other than {expected}"),
    )
    sizes = f"{count_of(rows, 'row')} ({panel.axes[0]}) by {count_of(columns, 'column')} ({panel.axes[1]})"
    parts = [f"{panel.heading}: {sizes}", *(f"{count_of(n, 'cell')} {what}" for n, what in counts if n)]
    return ", ".join(filter(None, [*parts, panel.window])) + "."


def grid(  # noqa: PLR0913
    name: str,
    heading: str,
    axes: tuple[str, str],
    whole: tuple[int, int],
    at: Callable[[int, int], Cell],
    *,
    window: Window = WHOLE,
    place: tuple[int, int] = (0, 0),
    captions: Sequence[str] = (),
    names: Names = (None, None),
) -> Panel:
    """Return the panel with the cell `at(row, column)` for each row and column of a window, of as many as fit.

    It has no cells where a window is outside the map.

    >>> panel = grid("one", "one", ("row", "column"), (2, 3), lambda r, c: Cell((f"{r}{c}",)))
    >>> [cell.text for cell in panel.every()], panel.window
    (['00', '01', '02', '10', '11', '12'], '')
    """
    rows, columns = choose_shown(whole, window)
    cells = tuple(tuple(at(row, column) for column in columns) for row in rows)
    first = (rows.start, columns.start)
    down, across = (
        tuple(map(named, part)) if named else () for named, part in zip(names, (rows, columns), strict=True)
    )
    return Panel(name, heading, axes, cells, whole, first, place, tuple(captions), (down, across))


def choose_shown(whole: tuple[int, int], window: Window = WHOLE) -> tuple[range, range]:
    """Return the rows and columns of a map that its panel shows: those of a window; the first, where they are many.

    >>> choose_shown((2, 3)), choose_shown((2, 1 << 20)), choose_shown((1 << 20, 3), (range(7, 9), None))
    ((range(0, 2), range(0, 3)), (range(0, 1), range(0, 65536)), (range(7, 9), range(0, 3)))
    """
    parts = zip(map(range, whole), window, strict=True)
    rows, columns = (every[:maxsize] if part is None else every[part.start : part.stop] for every, part in parts)
    if len(rows) * len(columns) > MOST:
        columns = columns[:MOST]
        rows = rows[: max(1, MOST // len(columns))]
    return rows, columns
