# SPDX-License-Identifier: Apache-2.0
"""Pictures of tilings: the threads of a CTA's tile, coloured by warp, and the five steps to one thread's part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import product

from layouts import Layout
from layouts.tensor import Tensor
from layouts.tiled import derive
from verify.core.errors import UsageError
from verify.core.verdict import Verdict
from verify.maps.fragment_map import Point
from verify.pictures import layouts, owners, points
from verify.pictures.picture import Cell, Panel, Picture, Window, grid
from verify.tiling.bind import TiledOperand, Tiling

WARP = 32
PLACES = {"A": (1, 0), "B": (0, 1), "C": (1, 1), "E": (2, 0), "SFA": (2, 1), "SFB": (3, 1)}


class TileOwners:
    """The threads of each element of an operand in the whole tile, its values numbered through all repetitions."""

    def __init__(self, tiling: Tiling, tiled: TiledOperand) -> None:
        self.tiled = tiled
        self.axes = tiled.part.axes
        self.extent = tiled.extent(tiling.tile)
        self.unit = tiled.extent(tiling.covered)
        self.wanted = tiled.owners  # of each element

    @cached_property
    def owners(self) -> Mapping[int, tuple[Point, ...]]:
        """The (thread, value) of every element x + X*y."""
        found: dict[int, list[Point]] = {}
        (x, y), (width, _) = self.unit, self.extent
        rows = points.rows(self.tiled.layout)
        repeats = [(i, j) for j, i in product(range(self.extent[1] // y), range(self.extent[0] // x))]
        for thread, row in enumerate(rows):
            for number, (i, j) in enumerate(repeats):
                start = i * x + width * j * y
                for value, element in enumerate(row):
                    place = start + element % x + width * (element // x)
                    found.setdefault(place, []).append((thread, value + len(row) * number))
        return {element: tuple(several) for element, several in found.items()}

    def cell(self, element: int, marked: bool = False) -> Cell:
        """The cell of an element, coloured by the warp of its first owner."""
        mine = self.owners.get(element, ())
        found = owners.cell(mine, mine, self.wanted, marked=marked)
        if not mine:
            return found
        y, x = divmod(element, self.extent[0])
        warps = sorted({thread // WARP for thread, _ in mine}) if len(mine) > 1 else [mine[0][0] // WARP]
        first, second = self.axes
        about = f"({first}={x}, {second}={y}): {found.text}", f"warp {', '.join(map(str, warps))}"
        return Cell(found.lines, warps[0] % 8, found.fault, marked=marked, about=about)


def of_tiling(tiling: Tiling, verdicts: Sequence[Verdict], window: Window) -> Picture:
    """The picture of a tiling with what the verdicts found wrong."""
    panels = []
    notes = [
        f"{one.claim.part} {one.status}: {one.counterexample.statement}".strip()
        for one in verdicts
        if one.counterexample is not None
    ]
    for tiled in tiling.operands:
        if tiled.read[0] is None:
            notes.append(f"{tiled.name} = {tiled.claimed} is not drawn: it is not well formed: {tiled.read[1]}")
        else:
            panels.append(_tile(tiling, tiled, verdicts, window))
    return Picture(tiling.name, tuple(panels), notes=tuple(notes), shades="warp")


def _tile(tiling: Tiling, tiled: TiledOperand, verdicts: Sequence[Verdict], window: Window) -> Panel:
    """The whole tile of an operand; B, drawn above C, has n across."""
    whole, name = TileOwners(tiling, tiled), tiled.name
    rows, columns = whole.extent
    first, second = tiled.part.axes
    wrong = [one.counterexample for one in verdicts if one.claim.part == name and one.counterexample is not None]
    inputs = wrong[0].inputs if wrong else {}
    points = {(inputs.get(f"{other}thread"), inputs.get(f"{other}value")) for other in ("", "other ")}

    def cell(element: int) -> Cell:
        return whole.cell(element, bool(inputs) and not points.isdisjoint(whole.owners.get(element, ())))

    heading = f"{name} {rows}x{columns} ({first},{second})"
    captions = [f"{name} = {tiled.layout} of {whole.unit[0]}x{whole.unit[1]}"]
    if first == "n":
        return grid(name, heading, (second, first), (columns, rows), lambda y, x: cell(x + rows * y),
                    window=window, place=PLACES[name], captions=captions)  # fmt: skip
    return grid(name, heading, (first, second), (rows, columns), lambda x, y: cell(x + rows * y),
                window=window, place=PLACES[name], captions=captions)  # fmt: skip


def of_thread(tiling: Tiling, thread: int, window: Window) -> Picture:
    """The steps of each operand side by side, from row-major memory to the elements of a thread, which are marked.

    Raises UsageError for a thread that the tiling does not have.
    """
    if thread >= tiling.mma.size:
        raise UsageError(f"--thread {thread}: {tiling.name} has the threads 0 .. {tiling.mma.size - 1}")
    panels: list[Panel] = []
    for number, tiled in enumerate(one for one in tiling.operands if one.name == one.like):
        panels += _of_operand(tiling, tiled, thread, number, window)
    title = f"{tiling.name}: the part of thread {thread}"
    return Picture(title, tuple(panels), shades="thread", marked=f"of thread {thread}")


def _of_operand(tiling: Tiling, tiled: TiledOperand, thread: int, row: int, window: Window) -> Iterator[Panel]:
    whole = TileOwners(tiling, tiled)
    rows, columns = whole.extent
    memory = Layout((rows, columns), (columns, 1))
    offset = tiled.partition(thread, Tensor(None, memory)).offset

    def cell(base: int, at: int, point: str) -> Cell:
        place = at + base
        mine = whole.owners.get(place // columns + rows * (place % columns), ())
        threads = [one for one, _ in mine]
        about = f"{point} -> offset {place}", "; ".join(owners.listed(mine))
        return Cell((str(place),), threads[0] % 8 if threads else -1, marked=thread in threads, about=about)

    steps = derive(tiling.mma, tiled.name, memory, thread)
    for number, step in enumerate(steps):
        base = int(offset) if number == len(steps) - 1 else 0
        heading = f"{tiled.name}{number} {step.name}"
        name, drawn = f"{tiled.name}{number}", partial(cell, base)
        panel = layouts.offsets(name, heading, step.layout, drawn, window=window, place=(row, number))
        yield replace(panel, captions=(f"{heading} {step.text}: {step.profile}", f"  {step.layout}"))
