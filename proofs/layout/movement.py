# SPDX-License-Identifier: Apache-2.0
"""Registers handed from one instruction to the next, and words asked of shared memory, for every lane and base."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from layouts import Layout, Swizzle
from proofs.layout.modes import modes, size, top_modes, value
from proofs.smt.engine import Solver
from proofs.smt.outcome import BUDGET, Outcome
from proofs.smt.script import Modes, Script
from proofs.smt.solve import Claim, Point, decide
from proofs.smt.term import Condition, Term

Locate: TypeAlias = Callable[[Any, Any], tuple[Any, Any]]  # (lane, value) -> (row, column)
Number: TypeAlias = Callable[[Any, Any], Any]  # (lane, value) -> element
BANKS, WORD = 32, 4


@dataclass(frozen=True, slots=True)
class HandOver:
    """Two instructions that share registers: what a lane wants as value v is what it holds as value source(v).

    ``held`` gives the (row, column) of a held value, which is element rows(row) + columns(column) of the tile.
    """

    held: Locate
    rows: Layout
    columns: Layout
    wanted: Number
    source: Layout
    lanes: int


@dataclass(frozen=True, slots=True)
class Access:
    """Accesses of shared memory: value v of lane l is at byte swizzle(unit * base + element * tile(threads(l, v))).

    ``threads`` is (lane, value) -> index in the tile, ``tile`` index -> element of ``element`` bytes; they are taken
    one after the other, never composed. A lane asks for ``bits`` at once; ``phase`` neighbouring lanes are served
    together. Bases are 0 .. ``bases`` - 1. ``shared`` says that one word serves several lanes.
    """

    threads: Layout
    tile: Layout
    element: int
    bits: int
    phase: int
    swizzle: Swizzle
    bases: int
    unit: int
    shared: bool = True

    @property
    def vector(self) -> int:
        """Values that a lane asks for at once."""
        return self.bits // (8 * self.element)

    @property
    def path(self) -> _Path:
        """The same as the modes of lanes, of values and of the tile."""
        lanes, values = top_modes(self.threads)
        return _Path((lanes, values, modes(self.tile)), self.element, self.swizzle, self.unit)


def prove_handed(over: HandOver, budget: int = BUDGET, solver: Solver | None = None) -> Outcome:
    """For every lane and value v: rows(r) + columns(c) = wanted(lane, v), where (r, c) = held(lane, source(v)).

    A point is a (lane, value).
    """
    flat = modes(over.source), modes(over.rows), modes(over.columns)
    title = f"handed over: values {over.source}, rows {over.rows}, columns {over.columns}"
    claim = _Handed(title, {"lane": over.lanes, "value": size(flat[0])}, flat, over.held, over.wanted)
    return decide(claim, budget, solver)


def prove_whole(access: Access, budget: int = BUDGET, solver: Solver | None = None) -> Outcome:
    """The values of one access lie side by side at a multiple of its width, for every lane, value and base address.

    A point is a base, lane and value.
    """
    path = access.path
    variables = {"base": access.bases, "lane": size(path.layouts[0]), "value": size(path.layouts[1])}
    title = f"whole accesses of {access.bits} bits: {access.tile} of {access.threads}, {access.swizzle} of bytes"
    return decide(_Whole(title, variables, path.layouts, path, access.vector), budget, solver)


def prove_room(access: Access, base: int, room: int, budget: int = BUDGET, solver: Solver | None = None) -> Outcome:
    """Every element of the tile, laid out from a base on, ends at most ``room`` bytes from byte 0.

    A point is an index in the tile, whether or not a lane asks for it.
    """
    tile = access.path.layouts[2]
    title = f"{access.tile}, {access.swizzle} of bytes, from byte {base} on, in {room} bytes"
    claim = _Room(title, {"index": size(tile)}, (tile,), access.swizzle, access.element, base, room)
    return decide(claim, budget, solver)


def prove_kept_apart(access: Access, budget: int = BUDGET, solver: Solver | None = None) -> Outcome:
    """Two values that lie at one byte are one element of the tile: nothing is written over by something else.

    A point is two lanes and a value of each; a base moves both alike, and a swizzle lets no two addresses meet.
    """
    path = access.path
    lanes, values = (size(path.layouts[i]) for i in (0, 1))
    variables = {"lane": lanes, "value": values, "lane2": lanes, "value2": values}
    title = f"kept apart: {access.tile} of {access.threads}, {access.swizzle} of bytes"
    return decide(_KeptApart(title, variables, path.layouts, path), budget, solver)


def prove_conflict_free(access: Access, budget: int = BUDGET, solver: Solver | None = None) -> Outcome:
    """Two lanes of a phase that meet in a bank ask for the same word, in every step and for every base address.

    Where words are not shared no two lanes may meet at all. A point is a base, step, two lanes and the word of each
    that meets.
    """
    path = access.path
    words, lanes = max(1, access.bits // (8 * WORD)), size(path.layouts[0])
    variables = {"base": access.bases, "step": size(path.layouts[1]) // access.vector, "lane": lanes, "lane2": lanes}
    variables |= {"part": words, "part2": words}
    bases = f"{access.bases} bases {access.unit} bytes apart"
    title = f"no two words of a bank: {access.tile} of {access.threads}, {access.swizzle} of bytes, {access.bits} bits"
    return decide(_ConflictFree(f"{title}, {bases}", variables, path.layouts, path, access), budget, solver)


@dataclass(frozen=True, slots=True)
class _Path:
    """From a lane and a value to a byte: the modes of lanes, of values and of the tile, one after the other."""

    layouts: tuple[Modes, Modes, Modes]
    element: int
    swizzle: Swizzle
    unit: int

    def posed(self, script: Script, name: str, base: Term, lane: Term, position: Term) -> tuple[Term, Term]:
        """The element of the tile and its byte, as terms."""
        lanes, values, tile = self.layouts
        index = script.define(f"index{name}", script.image(lanes, lane) + script.image(values, position))
        place = base * self.unit + script.image(tile, index) * self.element
        return index, script.define(f"byte{name}", _through(self.swizzle, place))

    def at(self, base: int, lane: int, position: int) -> tuple[int, int]:
        """The same in plain integers."""
        lanes, values, tile = self.layouts
        index = value(lanes, lane) + value(values, position)
        return index, int(_through(self.swizzle, base * self.unit + value(tile, index) * self.element))


@dataclass(frozen=True, slots=True)
class _Handed(Claim):
    held: Locate
    wanted: Number

    def pose(self, script: Script, at: Mapping[str, Term]) -> Condition:
        source, rows, columns = self.layouts
        row, column = self.held(at["lane"], script.define("source", script.image(source, at["value"])))
        row, column = script.define("row", row), script.define("column", column)
        place = script.define("place", script.image(rows, row) + script.image(columns, column))
        return place == script.term(self.wanted(at["lane"], at["value"]))

    def facts(self, point: Point) -> Point | None:
        source, rows, columns = self.layouts
        row, column = self.held(point["lane"], value(source, point["value"]))
        place, wanted = value(rows, int(row)) + value(columns, int(column)), int(self.wanted(*point.values()))
        return None if place == wanted else {**point, "place": place, "wanted": wanted}


@dataclass(frozen=True, slots=True)
class _ConflictFree(Claim):
    path: _Path
    access: Access

    def pose(self, script: Script, at: Mapping[str, Term]) -> Condition:
        first, phase = at["step"] * self.access.vector, self.access.phase
        here, there = (
            self.path.posed(script, n, at["base"], at[f"lane{n}"], first)[1] // WORD + at[f"part{n}"] for n in ("", "2")
        )
        apart = (at["lane"] // phase != at["lane2"] // phase) | (here % BANKS != there % BANKS)
        return apart | (here == there if self.access.shared else at["lane"] == at["lane2"])

    def facts(self, point: Point) -> Point | None:
        phase, lanes = self.access.phase, (point["lane"], point["lane2"])
        if lanes[0] // phase != lanes[1] // phase:
            return None
        base, first = point["base"], point["step"] * self.access.vector
        here, there = (self.path.at(base, point[f"lane{n}"], first)[1] // WORD + point[f"part{n}"] for n in ("", "2"))
        same = here == there if self.access.shared else lanes[0] == lanes[1]
        if same or (here - there) % BANKS:
            return None
        return {**point, "word": here, "word2": there, "bank": here % BANKS}


@dataclass(frozen=True, slots=True)
class _Room(Claim):
    swizzle: Swizzle
    element: int
    base: int
    room: int

    def pose(self, script: Script, at: Mapping[str, Term]) -> Condition:
        place = script.image(self.layouts[0], at["index"]) * self.element
        return script.define("byte", self.base + _through(self.swizzle, place)) + self.element <= self.room

    def facts(self, point: Point) -> Point | None:
        byte = self.base + int(_through(self.swizzle, value(self.layouts[0], point["index"]) * self.element))
        return None if byte + self.element <= self.room else {**point, "byte": byte}


@dataclass(frozen=True, slots=True)
class _KeptApart(Claim):
    path: _Path

    def pose(self, script: Script, at: Mapping[str, Term]) -> Condition:
        (one, here), (other, there) = (
            self.path.posed(script, n, script.term(0), at[f"lane{n}"], at[f"value{n}"]) for n in ("", "2")
        )
        return (here != there) | (one == other)

    def facts(self, point: Point) -> Point | None:
        (one, here), (other, there) = (self.path.at(0, point[f"lane{n}"], point[f"value{n}"]) for n in ("", "2"))
        if here != there or one == other:
            return None
        return {**point, "byte": here, "index": one, "index2": other}


@dataclass(frozen=True, slots=True)
class _Whole(Claim):
    path: _Path
    vector: int

    def pose(self, script: Script, at: Mapping[str, Term]) -> Condition:
        place, width = at["value"] % self.vector, self.vector * self.path.element
        first, here = (
            self.path.posed(script, name, at["base"], at["lane"], held)[1]
            for name, held in (("", at["value"] // self.vector * self.vector), ("2", at["value"]))
        )
        return (here == first + place * self.path.element) & (first % width == 0)

    def facts(self, point: Point) -> Point | None:
        place, width = point["value"] % self.vector, self.vector * self.path.element
        first, here = (
            self.path.at(point["base"], point["lane"], held)[1] for held in (point["value"] - place, point["value"])
        )
        if here == first + place * self.path.element and first % width == 0:
            return None
        return {**point, "first": first, "here": here}


def _through(swizzle: Swizzle, address: Any) -> Any:
    """The address with the field that the swizzle changes xored with the field that it reads."""
    read, shift = address & swizzle.yyy_mask, swizzle.shift
    return address ^ (read >> shift if shift >= 0 else read << -shift)
