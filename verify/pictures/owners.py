# SPDX-License-Identifier: Apache-2.0
"""The cell of an element: its owners in words, "T3 V1", threads that have the same value as a range."""

from __future__ import annotations

from collections.abc import Sequence

from verify.maps.map import Point
from verify.pictures.picture import Cell, Fault

SHOWN = 4  # owners written in one cell; all of them are in its description


def lines(owners: Sequence[Point], letters: Sequence[str] = ("T", "V")) -> tuple[str, ...]:
    """Return the lines of a cell: of one owner its thread and its value, of several one line each.

    >>> lines([(3, 1)]), lines([(0, 4), (1, 0)]), lines([(t, 7) for t in range(128)])
    (('T3', 'V1'), ('T0 V4', 'T1 V0'), ('T0-127', 'V7'))
    """
    if len(owners) == 1 and len(owners[0]) == 2:
        thread, value = owners[0]
        return f"{letters[0]}{thread}", f"{letters[1]}{value}"
    listed = list_owners(owners, letters)
    return tuple(listed[0].split(" ")) if len(listed) == 1 else tuple(listed)


def list_owners(owners: Sequence[Point], letters: Sequence[str] = ("T", "V")) -> list[str]:
    """Every owner in words; neighbouring threads that have one value are one range.

    >>> list_owners([(0, 4), (1, 4), (2, 4), (7, 4), (1, 0)])
    ['T0-2 V4', 'T1 V0', 'T7 V4']
    """
    if len(owners) == 1:
        first, *rest = owners[0]
        return [_words(first, first, rest, letters)]
    runs: list[tuple[int, int, Point]] = []  # first and last of the first coordinate, and the rest
    for first, *rest in sorted(owners, key=lambda owner: (owner[1:], owner[0])):
        if runs and runs[-1][1] == first - 1 and runs[-1][2] == tuple(rest):
            runs[-1] = runs[-1][0], first, runs[-1][2]
        else:
            runs.append((first, first, tuple(rest)))
    order = sorted(runs, key=lambda run: (run[0], run[2]))
    return [_words(first, last, rest, letters) for first, last, rest in order]


def _words(first: int, last: int, rest: Sequence[int], letters: Sequence[str]) -> str:
    ends = f"{letters[0]}{first}" + (f"-{last}" if last > first else "")
    return " ".join([ends, *(f"{letter}{number}" for letter, number in zip(letters[1:], rest, strict=False))])


def cell(
    mine: Sequence[Point],
    theirs: Sequence[Point],
    wanted: int,
    *,
    letters: Sequence[str] = ("T", "V"),
    marked: bool = False,
    about: Sequence[str] = (),
) -> Cell:
    """Return the cell of an element with its owners, those that it should have, and how many it should have.

    >>> cell([(0, 4), (1, 0)], [(0, 4)], 1)
    Cell(lines=('T0 V4', 'T1 V0'), shade=0, fault=<Fault.SEVERAL: 'several'>, expected='T0 V4', marked=False, about=())
    """
    fault = Fault.SEVERAL if len(mine) > wanted else Fault.MISSING if len(mine) < wanted else Fault.NONE
    expected = (
        "" if theirs == mine or sorted(theirs) == sorted(mine) else "; ".join(list_owners(theirs, letters)) or "none"
    )
    shade = mine[0][0] % 8 if mine else -1
    return Cell(lines(mine, letters), shade, fault, expected, marked, tuple(about))
