# SPDX-License-Identifier: Apache-2.0
"""Pictures of tilings: the threads of a CTA's tile, coloured by warp, and the five steps to one thread's part.

A large tile is drawn at two levels: the warps of all of it, block by block, and the threads of a part, the one where
it is wrong. A window draws the threads of any part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import product

from layouts import Layout
from layouts.tensor import Tensor
from layouts.tiled import derive
from verify.core.errors import UsageError
from verify.core.verdict import Verdict
from verify.maps.map import Point
from verify.pictures import layouts, owners, points
from verify.pictures.picture import DETAIL, WHOLE, Cell, Fault, Names, Panel, Picture, Window, grid
from verify.tiling.bind import TiledOperand, Tiling

WARP = 32  # threads: WARP_SZ of the PTX ISA
BLOCK = 16  # elements along each axis of a block of a large tile
PART = 16, 8  # rows and columns of the part of a large tile whose threads are drawn: three fit beside each other
FAULTS = {Fault.SEVERAL: "several owners", Fault.MISSING: "too few owners"}
LARGE = 512  # elements of an operand: one with more is drawn at two levels
PLACES = {"A": (1, 0), "B": (0, 1), "C": (1, 1), "E": (2, 0), "SFA": (2, 1), "SFB": (3, 1)}


class TileOwners:
    """The threads of each element of an operand in the whole tile, its values numbered through all repetitions."""

    def __init__(self, tiling: Tiling, tiled: TiledOperand) -> None:
        self.tiled = tiled
        self.axes = tiled.part.axes
        self.extent = tiled.extent(tiling.tile)
        self.unit = tiled.extent(tiling.covered_shape)
        self.wanted = tiled.owners  # of each element
        self.turned = self.axes[0] == "n"  # B is drawn above C, with n across

    @cached_property
    def owners(self) -> Mapping[int, tuple[Point, ...]]:
        """The (thread, value) of every element x + X*y."""
        holders: dict[int, list[Point]] = {}
        (x, y), (width, _) = self.unit, self.extent
        rows = points.rows(self.tiled.layout)
        repeats = [(i, j) for j, i in product(range(self.extent[1] // y), range(self.extent[0] // x))]
        for thread, row in enumerate(rows):
            for number, (i, j) in enumerate(repeats):
                start = i * x + width * j * y
                for value, element in enumerate(row):
                    place = start + element % x + width * (element // x)
                    holders.setdefault(place, []).append((thread, value + len(row) * number))
        return {element: tuple(several) for element, several in holders.items()}

    def warps(self, element: int) -> list[int]:
        """Return the warps that have an element."""
        return sorted({thread // WARP for thread, _ in self.owners.get(element, ())})

    def cell(self, element: int, marked: bool = False) -> Cell:
        """Return the cell of an element, coloured by the warp of its first owner."""
        mine = self.owners.get(element, ())
        cell = owners.cell(mine, mine, self.wanted, marked=marked)
        if not mine:
            return cell
        y, x = divmod(element, self.extent[0])
        warps = self.warps(element)
        first, second = self.axes
        about = f"({first}={x}, {second}={y}): {cell.text}", f"warp {', '.join(map(str, warps))}"
        return Cell(cell.lines, warps[0] % 8, cell.fault, marked=marked, about=about)

    def block(self, xs: range, ys: range, cells: Sequence[Cell]) -> Cell:
        """Return the cell of a block of elements, of which these are the cells: its warps, and what is wrong in it."""
        held = sorted({warp for x in xs for y in ys for warp in self.warps(x + self.extent[0] * y)})
        faults = Counter(cell.fault for cell in cells if cell.fault)
        first, second = self.axes
        place = f"({first}={_ends(xs)}, {second}={_ends(ys)})"
        lines = tuple(owners.list_owners([(warp,) for warp in held], "W")) if held else ()
        wrong = [f"{count} elements with {FAULTS[fault]}" for fault, count in faults.items()]
        fault = min(faults, default=Fault.NONE, key=lambda fault: fault != Fault.SEVERAL)
        marked = any(cell.marked for cell in cells)
        return Cell(
            lines, held[0] % 8 if held else -1, fault, marked=marked, about=(f"{place}: {' '.join(lines)}", *wrong)
        )


def of_tiling(tiling: Tiling, verdicts: Sequence[Verdict], window: Window) -> Picture:
    """Return the picture of a tiling with what the verdicts found wrong."""
    panels: list[Panel] = []
    notes = [
        f"{verdict.claim.part} {verdict.status}: {verdict.counterexample.statement}".strip()
        for verdict in verdicts
        if verdict.counterexample is not None
    ]
    for tiled in tiling.operands:
        if tiled.claimed_layout[0] is None:
            notes.append(
                f"{tiled.name} = {tiled.claimed_text} is not drawn: it is not well formed: {tiled.claimed_layout[1]}"
            )
        else:
            panels += _tile(TileOwners(tiling, tiled), verdicts, window)
    return Picture(tiling.name, tuple(panels), notes=tuple(notes), shades="warp")


def _tile(whole: TileOwners, verdicts: Sequence[Verdict], window: Window) -> Iterator[Panel]:
    """Yield the threads of an operand's whole tile; of a large one the warps, and the threads of a part."""
    name, (width, height) = whole.tiled.name, whole.extent
    wrong = [
        verdict.counterexample
        for verdict in verdicts
        if verdict.claim.part == name and verdict.counterexample is not None
    ]
    inputs = wrong[0].inputs if wrong else {}
    points = {(inputs.get(f"{prefix}thread"), inputs.get(f"{prefix}value")) for prefix in ("", "other ")}

    def cell(x: int, y: int) -> Cell:
        element = x + width * y
        return whole.cell(element, bool(inputs) and not points.isdisjoint(whole.owners.get(element, ())))

    heading = f"{name} {width}x{height} ({','.join(whole.axes)})"
    caption = f"{name} = {whole.tiled.layout} of {whole.unit[0]}x{whole.unit[1]}"
    if window != WHOLE or width * height <= LARGE:
        yield _panel(whole, name, heading, whole.extent, cell, window=window, captions=[caption])
        return
    cells = {(x, y): cell(x, y) for x, y in product(range(width), range(height))}
    xs, ys = _blocks(width), _blocks(height)

    def block(i: int, j: int) -> Cell:
        return whole.block(xs[i], ys[j], [cells[place] for place in product(xs[i], ys[j])])

    names = (lambda i: _ends(xs[i])), (lambda j: _ends(ys[j]))
    extent = len(xs), len(ys)
    yield _panel(whole, name, f"{heading}, its warps", extent, block, names=names, captions=[caption])
    yield _part(whole, cells)


def _part(whole: TileOwners, cells: Mapping[tuple[int, int], Cell]) -> Panel:
    """Return the threads of a part of an operand: of the first that has the counterexample, else what is wrong."""
    (x, y), (width, height) = PART[::-1] if whole.turned else PART, whole.extent
    parts = product(_blocks(width, x), _blocks(height, y))

    def right(part: tuple[range, range]) -> tuple[bool, bool]:
        inside = [cells[place] for place in product(*part)]
        return not any(cell.marked for cell in inside), not any(cell.fault for cell in inside)

    def cell(x: int, y: int) -> Cell:
        square, mine = cells[x, y], whole.owners.get(x + width * y)
        return square._replace(shade=mine[0][0] % 8) if mine else square

    name, (xs, ys) = whole.tiled.name, min(parts, key=right)
    first, second = whole.axes
    heading = f"{name}: {first} {_ends(xs)}, {second} {_ends(ys)}"
    about = f"a part of {name}; --rows and --columns draw another one"
    drawn = _panel(whole, f"{name}{DETAIL}", heading, whole.extent, cell, window=(xs, ys), captions=[about], part=True)
    return replace(drawn, whole=drawn.extent)  # the heading says which part


def _panel(  # noqa: PLR0913
    whole: TileOwners,
    name: str,
    heading: str,
    extent: tuple[int, int],
    cell: Callable[[int, int], Cell],
    *,
    window: Window = WHOLE,
    names: Names = (None, None),
    captions: Sequence[str] = (),
    part: bool = False,
) -> Panel:
    """Return a panel of an operand; B, drawn above C, has n across. `window` is of x and y for a `part`."""
    (down, across), (first, second), (width, height), at = PLACES[whole.tiled.name], whole.axes, extent, cell
    if whole.turned:
        first, second, width, height, names = second, first, height, width, names[::-1]
        window, at = (window[::-1] if part else window), lambda row, column: cell(column, row)
    place = (len(PLACES), [*PLACES].index(whole.tiled.name)) if part else (down, across)
    made = grid(
        name, heading, (first, second), (width, height), at, window=window, place=place, captions=captions, names=names
    )
    return replace(made, detail=part)


def _blocks(extent: int, size: int = BLOCK) -> list[range]:
    return [range(start, min(start + size, extent)) for start in range(0, extent, size)]


def _ends(block: range) -> str:
    return f"{block[0]}..{block[-1]}" if len(block) > 1 else str(block[0])


def of_thread(tiling: Tiling, thread: int, window: Window) -> Picture:
    """Draw the steps of each operand side by side, from row-major memory to a thread's elements, which are marked.

    Raises UsageError for a thread that the tiling does not have.
    """
    if thread >= tiling.mma.size:
        raise UsageError(f"--thread {thread}: {tiling.name} has the threads 0 .. {tiling.mma.size - 1}")
    panels: list[Panel] = []
    for number, tiled in enumerate(operand for operand in tiling.operands if operand.name == operand.like):
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
        threads = [owner for owner, _ in mine]
        about = f"{point} -> offset {place}", "; ".join(owners.list_owners(mine))
        return Cell((str(place),), threads[0] % 8 if threads else -1, marked=thread in threads, about=about)

    steps = derive(tiling.mma, tiled.name, memory, thread)
    for number, step in enumerate(steps):
        base = int(offset) if number == len(steps) - 1 else 0
        heading = f"{tiled.name}{number} {step.name}"
        name, drawn = f"{tiled.name}{number}", partial(cell, base)
        panel = layouts.offsets(name, heading, step.layout, drawn, window=window, place=(row, number))
        yield replace(panel, captions=(f"{heading} {step.text}: {step.profile}", f"  {step.layout}"))
