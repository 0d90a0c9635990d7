# SPDX-License-Identifier: Apache-2.0
"""Panels of operands, and of layouts alone: each element with its owners, and by the ISA where that differs.

The ISA's formulas are evaluated at one lane and value at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from layouts import Layout
from verify.binding.axes import OperandFormula
from verify.binding.operand import BoundOperand
from verify.core.digits import halves, modes, written_out
from verify.core.verdict import Verdict
from verify.maps.map import Point
from verify.pictures import elements, owners
from verify.pictures.elements import Elements
from verify.pictures.picture import WHOLE, Cell, Panel, Picture, Window, choose_shown, grid

Owners = Mapping[int, Sequence[Point]]  # element -> every (thread, value) that has it
PLACES = {"": (0, 0), "A": (1, 0), "B": (0, 1), "C": (1, 1), "E": (2, 0), "SFA": (2, 1), "SFB": (3, 1)}
COPIED = {"Src": (0, 0), "Dst": (0, 1), "Ref": (0, 2)}
BRIEF = 4096  # elements of an operand: beyond, cells are not described one by one


class NumberedFormula(NamedTuple):
    """A formula of the ISA, and the lanes of the threads of one replica."""

    formula: OperandFormula
    lanes: Sequence[int]


@dataclass(frozen=True)
class Reference:
    """One formula of the ISA on one replica of the atom's threads: where it has each (thread, value)."""

    formula: OperandFormula
    at: Mapping[Point, int]  # (thread, value) -> element; -1 outside the tile

    @cached_property
    def owners(self) -> Owners:
        """The (thread, value) of every element."""
        return _inverse(self.at)


@dataclass(frozen=True)
class Drawn:
    """One operand of an atom, or a layout alone, with all that its cells are made of."""

    part: BoundOperand  # its map, onto its tile
    copies: int = 1  # the owners that each element should have
    verdicts: Sequence[Verdict] = ()  # on this operand
    formulas: Sequence[NumberedFormula] = ()  # of the ISA, of every instruction and replica
    grain: int = 1  # values that stay together, in one cell; only the first of them is evaluated
    run: int = 1  # the longest run of bits that stay together in an operand of the copy
    window: Window = WHOLE  # of its panel; of a large operand the points in it alone are kept

    @cached_property
    def alike(self) -> bool:
        """Whether it is in memory, and every thread has all of it: then one thread is drawn for all."""
        whole = all(formula.whole for formula in self.part.formulas)
        return whole and bool(self.part.formulas or not self.owners_claimed) and self._has_equal_threads

    @property
    def owners_claimed(self) -> bool:
        """Whether its owners are claimed to be right: not those of Ref, which repeats Src or Dst."""
        return self.part.name != "Ref"

    @property
    def _has_equal_threads(self) -> bool:
        """Whether every thread has what the first one has."""
        if self.part.layout is None:
            return self.part.well_formed and all(row == rows[0] for rows in [self.part.points.rows()] for row in rows)
        return all(stride == 0 for extent, stride in modes(*halves(self.part.layout)[0]) if extent > 1)

    @cached_property
    def points(self) -> int:
        """How many (thread, value) it has, those together counted once."""
        return self.part.domain[1] if self.alike else self.part.domain[0] * self.part.domain[1] // self.grain

    @cached_property
    def large(self) -> bool:
        """Whether it has too many points to keep all of them."""
        return self.points > elements.LARGEST

    @cached_property
    def places(self) -> Elements:
        """Which (thread, value) has which element by the layout."""
        if not self.large:
            return elements.every(self.part, 1 if self.alike else self.part.domain[0], self.grain)
        turned = self.part.axes[0] == "n"
        ranges = choose_shown(self.part.extent[::-1] if turned else self.part.extent, self.window)
        return elements.within(self.part, *(ranges[::-1] if turned else ranges))

    @property
    def at(self) -> Mapping[Point, int]:
        """The element of every (thread, value) by the layout; -1 outside the tile."""
        return self.places.at

    @cached_property
    def unfit(self) -> str:
        """Why it is not drawn; empty where it is."""
        if not self.part.well_formed:
            return f"{self.part.text} is not well formed: {self.part.fault}"
        compared = self.part.formulas or len(self.part.axes) == 1
        if not self.large or (not compared and self.places.count <= elements.LARGEST):
            return ""
        count = f"{self.points} points" if compared else f"{self.places.count} points in this window"
        instead = "--table with --rows A:B shows the elements of some threads"
        return f"too large to draw: {count}, more than {elements.LARGEST}; {instead}"

    @cached_property
    def owners(self) -> Owners:
        """The (thread, value) of every element by the layout."""
        return _inverse(self.at)

    @cached_property
    def reference(self) -> Reference | None:
        """The first formula that differs from the layout; else the first; None where the ISA tables have none."""
        references = list(self._references())
        return next((reference for reference in references if reference.at != self.at), next(iter(references), None))

    def _references(self) -> Iterator[Reference]:
        rows, columns = self.part.extent
        for formula, lanes in self.formulas:
            at: dict[Point, int] = {}
            for thread, lane in enumerate(lanes[:1] if self.alike else lanes):
                for value in range(0, formula.values, self.grain):
                    x, y = formula.locate(lane, value)
                    at[thread, value] = int(x + rows * y) if 0 <= x < rows and 0 <= y < columns else -1
            yield Reference(formula, at)

    @cached_property
    def wanted_owners(self) -> int:
        """The owners that each element should have."""
        return 1 if self.alike else self.copies

    @cached_property
    def marked_elements(self) -> frozenset[int]:
        """The elements of the first counterexample that has any: those that its points have, and should have."""
        for verdict in self.verdicts:
            if verdict.counterexample is not None:
                marked = frozenset(
                    element for element in self._list_named(verdict.counterexample.inputs) if element >= 0
                )
                if marked:
                    return marked
        return frozenset()

    def _list_named(self, inputs: Mapping[str, int]) -> Iterator[int]:
        if "element" in inputs:
            yield inputs["element"]
        x, y = (inputs.get(axis, -1) for axis in (*self.part.axes, "")[:2])
        if x >= 0 and y >= 0:
            yield x + self.part.extent[0] * y
        for prefix in ("", "other "):
            point = inputs.get(f"{prefix}thread", -1), inputs.get(f"{prefix}value", -1) // self.grain * self.grain
            if point in self.at:
                yield self.at[point]
            elif self.large and all(0 <= c < extent for c, extent in zip(point, self.part.domain, strict=True)):
                yield elements.find_element(self.part, point)
            if self.reference is not None and "other thread" not in inputs and self.reference.at.get(point, -1) >= 0:
                yield self.reference.at[point]

    def cell(self, element: int) -> Cell:
        """Return the cell of an element, or of as many as stay together from it on."""
        grain = self.grain
        mine = self.owners.get(element, ())
        theirs = self.reference.owners.get(element, ()) if self.reference is not None else mine
        marked = bool(self.marked_elements) and any(element <= at < element + grain for at in self.marked_elements)
        brief = self.part.extent[0] * self.part.extent[1] > BRIEF
        about = () if brief else tuple(self._about(element, mine, theirs))
        wanted = self.wanted_owners if self.owners_claimed else len(mine)
        cell = owners.cell(mine, theirs, wanted, marked=marked, about=about)
        if self.alike:
            return cell._replace(lines=tuple(f"V{value}" for _, value in mine), shade=-1)
        if grain > 1:
            runs = [_run_of(words, grain) for words in owners.list_owners(mine)]
            lines = tuple(runs[0].split(" ")) if len(runs) == 1 else tuple(runs)
            expected = cell.expected and "; ".join(_run_of(words, grain) for words in owners.list_owners(theirs))
            return cell._replace(lines=lines, expected=expected or cell.expected)
        return cell

    def _about(self, element: int, mine: Sequence[Point], theirs: Sequence[Point]) -> Iterator[str]:
        """Where an element is, with both formulas at its owners."""
        place = self.part.show(element)
        yield f"{place}: {'; '.join(owners.list_owners(mine)) or 'no owner'}"
        if isinstance(self.part.layout, Layout):
            for thread, value in sorted(mine)[: owners.SHOWN]:
                arithmetic = written_out(self.part.layout, thread, value)
                yield f"layout: T{thread} V{value} has {arithmetic} = {element}"
        if self.reference is not None:
            formula = one_line(self.reference.formula)
            listed = "; ".join(owners.list_owners(theirs)) or "no owner"
            yield f"ISA: {listed}: {formula}" if len(theirs) <= owners.SHOWN else f"ISA: {listed}"

    def name_picture(self, mark: str, words: str) -> str:
        """Return the operand's name, a mark and some words; a layout that isn't an operand has no name."""
        return f"{self.part.name}{mark}{words}" if self.part.name else words

    def captions(self) -> Iterator[str]:
        """Yield the layout, and the ISA's formula line by line."""
        yield self.name_picture(" = ", self.part.text) + (f": {self.part.fault}" if self.part.fault else "")
        if self.reference is not None:
            yield f"{self.reference.formula.citation}:"
            yield from (f"  {line}" for line in self.reference.formula.text().splitlines())
        elif self.part.no_formula:
            yield self.part.no_formula

    def beyond(self) -> Iterator[str]:
        """Which points are in no cell."""
        if words := self.places.beyond():
            yield self.name_picture(": ", words)

    def notes(self) -> Iterator[str]:
        """Say what the verdicts found wrong."""
        for verdict in self.verdicts:
            wrong = verdict.counterexample
            if wrong is not None:
                lines = (wrong.statement, wrong.arithmetic, wrong.extent, *wrong.damage)
                yield self.name_picture(" ", f"{verdict.status}: " + "; ".join(filter(None, lines)))


def draw_operands(name: str, operands: Iterable[Drawn], status: str = "") -> Picture:
    """Return the picture of some operands, each in its place, with what the verdicts found wrong."""
    panels, notes = [], []
    for drawn in operands:
        if drawn.unfit:
            notes.append(drawn.name_picture(" " if drawn.part.well_formed else " = ", drawn.unfit))
        else:
            panels.append(panel(drawn, {**PLACES, **COPIED}[drawn.part.name]))
            notes += drawn.beyond()
        notes += drawn.notes()
    return Picture(name, tuple(panels), status, tuple(notes), "thread")


def panel(drawn: Drawn, place: tuple[int, int] = (0, 0)) -> Panel:
    """Return the panel of an operand: its first axis down, its second across; B, drawn above C, has n across."""
    part, window = drawn.part, drawn.window
    if len(part.axes) == 1:
        return _bits(drawn, place, window)
    (rows, columns), axes = part.extent, (part.axes[0], part.axes[1])
    heading, captions = drawn.name_picture(" ", part.tile), tuple(drawn.captions())
    heading += ", by every thread" * drawn.alike
    if axes[0] == "n":
        return grid(
            part.name, heading, (axes[1], axes[0]), (columns, rows), lambda y, x: drawn.cell(x + rows * y),
            window=window, place=place, captions=captions,
        )  # fmt: skip
    return grid(
        part.name, heading, axes, (rows, columns), lambda x, y: drawn.cell(x + rows * y),
        window=window, place=place, captions=captions,
    )  # fmt: skip


def _bits(drawn: Drawn, place: tuple[int, int], window: Window) -> Panel:
    """Return the panel of a copy's operand: bits that stay together in one cell, as many across as a thread has."""
    part, total = drawn.part, drawn.part.extent[0]
    together = drawn.grain
    across = min(16, max(8, drawn.run // together), -(-total // together))
    heading = f"{part.name}: {total} bits" + (f", {together} in a cell" if together > 1 else "")
    heading += ", by every thread" * drawn.alike

    def at(row: int, column: int) -> Cell:
        bit = (row * across + column) * together
        return drawn.cell(bit) if bit < total else Cell(())

    return grid(
        part.name, heading, ("bit", "+"), (-(-total // (across * together)), across),
        at,
        window=window, place=place, captions=tuple(drawn.captions()),
        names=(lambda row: str(row * across * together), lambda column: str(column * together)),
    )  # fmt: skip


def _run_of(words: str, grain: int) -> str:
    """Return an owner of the first of some values that stay together, as the owner of all of them.

    >>> _run_of("T0-3 V32", 16)
    'T0-3 V32-47'
    """
    thread, value = words.split(" ")
    return f"{thread} {value}-{int(value[1:]) + grain - 1}"


def one_line(formula: OperandFormula) -> str:
    """Return a formula without the ranges of its names, in one line.

    >>> from layouts.atoms import registry
    >>> from verify.binding.atom import prepare
    >>> one_line(prepare(registry()["SM80_16x8x16_F32F16F16F32_TN"]).parts[2].formulas[0])
    'row = groupID if i < 2, groupID + 8 otherwise; col = (threadID_in_group * 2) + (i & 0x1)'
    """
    joined = ""
    for line in formula.text().splitlines():
        words = " ".join(line.split())
        if words.startswith("i = "):
            continue
        if joined:
            joined += ", " if line.startswith(" ") else "; "
        joined += words
    return joined


def _inverse(at: Mapping[Point, int]) -> Owners:
    holders: dict[int, list[Point]] = {}
    for point, element in at.items():
        holders.setdefault(element, []).append(point)
    return holders
