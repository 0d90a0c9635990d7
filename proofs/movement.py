# SPDX-License-Identifier: Apache-2.0
"""Registers handed from one instruction to the next, and words asked of shared memory, for every lane and base."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from layouts import Layout, Swizzle
from proofs.decide import Claim, Point, decide
from proofs.engine import Solver
from proofs.modes import modes, size, value
from proofs.outcome import BUDGET, Outcome
from proofs.script import Script
from proofs.term import Condition, Term

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
    """Accesses of shared memory: lane l asks in step s for ``bits`` at byte swizzle(unit * base + address(l, s)).

    ``phase`` neighbouring lanes are served together. Bases are 0 .. ``bases`` - 1.
    """

    address: Layout
    bits: int
    phase: int
    swizzle: Swizzle
    bases: int
    unit: int


def prove_handed(over: HandOver, budget: int = BUDGET, solver: Solver | None = None) -> Outcome:
    """For every lane and value v: rows(r) + columns(c) = wanted(lane, v), where (r, c) = held(lane, source(v)).

    A point is a (lane, value).
    """
    flat = modes(over.source), modes(over.rows), modes(over.columns)
    title = f"handed over: values {over.source}, rows {over.rows}, columns {over.columns}"
    claim = _Handed(title, {"lane": over.lanes, "value": size(flat[0])}, flat, over.held, over.wanted)
    return decide(claim, budget, solver)


def prove_whole(access: Access, element: int, budget: int = BUDGET, solver: Solver | None = None) -> Outcome:
    """The values of one access lie side by side at a multiple of its width, for every lane, value and base address.

    Here ``access.address`` is (lane, value) -> byte, a value being ``element`` bytes and an access a run of values.
    A point is a base, lane and value.
    """
    lane, values = (modes(part) for part in access.address)
    variables = {"base": access.bases, "lane": size(lane), "value": size(values)}
    title = f"whole accesses of {access.bits} bits: {access.address}, {access.swizzle}"
    claim = _Whole(title, variables, (lane, values), access.swizzle, access.unit, access.bits // 8, element)
    return decide(claim, budget, solver)


def prove_conflict_free(access: Access, budget: int = BUDGET, solver: Solver | None = None) -> Outcome:
    """Two lanes of a phase that meet in a bank ask for the same word, in every step and for every base address.

    A point is a base, step, two lanes and the word of each that meets.
    """
    lane, step = (modes(part) for part in access.address)
    words = max(1, access.bits // (8 * WORD))
    variables = {"base": access.bases, "step": size(step), "lane": size(lane), "lane2": size(lane)}
    variables |= {"part": words, "part2": words}
    bases = f"{access.bases} bases {access.unit} bytes apart"
    title = f"no two words of a bank: {access.address}, {access.swizzle}, {access.bits} bits, {bases}"
    claim = _ConflictFree(title, variables, (lane, step), access.phase, access.swizzle, access.unit)
    return decide(claim, budget, solver)


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
    phase: int
    swizzle: Swizzle
    unit: int

    def pose(self, script: Script, at: Mapping[str, Term]) -> Condition:
        lane, step = self.layouts
        start = at["base"] * self.unit + script.image(step, at["step"])
        here, there = (
            script.define(f"word{n}", _through(self.swizzle, start + script.image(lane, at[f"lane{n}"])) // WORD)
            + at[f"part{n}"]
            for n in ("", "2")
        )
        together = at["lane"] // self.phase == at["lane2"] // self.phase
        return (together ^ True) | (here % BANKS != there % BANKS) | (here == there)

    def facts(self, point: Point) -> Point | None:
        lane, step = self.layouts
        if point["lane"] // self.phase != point["lane2"] // self.phase:
            return None
        start = point["base"] * self.unit + value(step, point["step"])
        here, there = (
            _through(self.swizzle, start + value(lane, point[f"lane{n}"])) // WORD + point[f"part{n}"]
            for n in ("", "2")
        )
        if here == there or (here - there) % BANKS:
            return None
        return {**point, "word": here, "word2": there, "bank": here % BANKS}


@dataclass(frozen=True, slots=True)
class _Whole(Claim):
    swizzle: Swizzle
    unit: int
    width: int  # bytes of an access
    element: int  # bytes of a value

    def pose(self, script: Script, at: Mapping[str, Term]) -> Condition:
        lane, values = self.layouts
        start = at["base"] * self.unit + script.image(lane, at["lane"])
        vector = self.width // self.element
        place, leading = at["value"] % vector, at["value"] // vector * vector
        first = script.define("first", _through(self.swizzle, start + script.image(values, leading)))
        here = script.define("here", _through(self.swizzle, start + script.image(values, at["value"])))
        return (here == first + place * self.element) & (first % self.width == 0)

    def facts(self, point: Point) -> Point | None:
        lane, values = self.layouts
        start = point["base"] * self.unit + value(lane, point["lane"])
        place = point["value"] % (self.width // self.element)
        first = _through(self.swizzle, start + value(values, point["value"] - place))
        here = _through(self.swizzle, start + value(values, point["value"]))
        if here == first + place * self.element and first % self.width == 0:
            return None
        return {**point, "first": first, "here": here}


def _through(swizzle: Swizzle, address: Any) -> Any:
    """The address with the field that the swizzle changes xored with the field that it reads."""
    read, shift = address & swizzle.yyy_mask, swizzle.shift
    return address ^ (read >> shift if shift >= 0 else read << -shift)
