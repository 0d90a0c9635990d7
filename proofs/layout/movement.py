# SPDX-License-Identifier: Apache-2.0
"""Claims about moving data: registers that two instructions share, and accesses of shared memory.

`RegisterHandOver`, `prove_hand_over`  the destination operand of one instruction is the source operand of the next
`SharedAccess`                         accesses of shared memory by all lanes, for which four claims are proved:
`prove_whole`                          the values of one access are contiguous and aligned
`prove_room`                           the tile lies within the memory
`prove_disjoint`                       different elements lie at different bytes
`prove_conflict_free`                  no bank conflicts
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from layouts import Layout, Swizzle
from proofs.layout.modes import modes, size, top_modes, value
from proofs.layout.operand import Locate
from proofs.smt.engine import Solver
from proofs.smt.outcome import BUDGET, Outcome
from proofs.smt.script import Modes, Script
from proofs.smt.solve import BoxClaim, Point, decide
from proofs.smt.term import BoolTerm, Term

Number: TypeAlias = Callable[[Any, Any], Any]  # (lane, value) -> element
BANKS, WORD = 32, 4


@dataclass(frozen=True, slots=True)
class RegisterHandOver:
    """A hand-over of registers between two instructions: value v of the second is value source(v) of the first."""

    locate: Locate  # (lane, value) -> (row, column), the element in a register after the first instruction
    rows: Layout  # row -> its share of the number of the element
    columns: Layout  # column -> its share: the element has the number rows(row) + columns(column)
    wanted: Number  # (lane, value) -> the number of the element that the second instruction reads
    source: Layout  # value of the second instruction -> value of the first, the same register
    lanes: int  # how many lanes there are


@dataclass(frozen=True, slots=True)
class SharedAccess:
    """Accesses of shared memory: value v of lane l is at byte swizzle(unit * base + element * tile(threads(l, v))).

    The layouts ``threads`` and ``tile`` are evaluated one after the other, never composed.
    """

    threads: Layout  # (lane, value) -> index in the tile
    tile: Layout  # index -> number of the element
    element: int  # the size of an element in bytes
    bits: int  # how many bits a lane accesses at once
    phase: int  # how many neighbouring lanes are served together
    swizzle: Swizzle  # the permutation of byte addresses
    bases: int  # how many base addresses there are: base = 0 .. bases - 1
    unit: int  # the distance of two base addresses in bytes
    shared: bool = True  # whether one word can serve several lanes

    @property
    def vector(self) -> int:
        """The number of values that a lane accesses at once."""
        return self.bits // (8 * self.element)

    @property
    def layouts(self) -> tuple[Modes, Modes, Modes]:
        """The modes of the lanes, of the values and of the tile."""
        lanes, values = top_modes(self.threads)
        return lanes, values, modes(self.tile)


def prove_hand_over(over: RegisterHandOver, budget: int = BUDGET, solver: Solver | None = None) -> Outcome:
    """Prove rows(r) + columns(c) = wanted(lane, v) with (r, c) = locate(lane, source(v)), for every lane and value v.

    A point is a (lane, value).

    >>> rows, columns, same = Layout(32, 2), Layout(2, 1), Layout(2, 1)
    >>> two_each = RegisterHandOver(lambda lane, v: (lane, v), rows, columns, lambda lane, v: 2 * lane + v, same, 32)
    >>> prove_hand_over(two_each).status
    'unsat'
    """
    flat = modes(over.source), modes(over.rows), modes(over.columns)
    title = f"hand-over: values {over.source}, rows {over.rows}, columns {over.columns}"
    claim = _SameElement(title, {"lane": over.lanes, "value": size(flat[0])}, flat, over.locate, over.wanted)
    return decide(claim, budget, solver)


def prove_whole(access: SharedAccess, budget: int = BUDGET, solver: Solver | None = None) -> Outcome:
    """Prove that the values of each access are contiguous and start at a multiple of its width.

    The claim is about every base address, lane and value. A point is a (base, lane, value).
    """
    lanes, values, _ = map(size, access.layouts)
    variables = {"base": access.bases, "lane": lanes, "value": values}
    title = f"whole accesses of {access.bits} bits: {access.tile} of {access.threads}, {access.swizzle} of bytes"
    return decide(_Whole(title, variables, access.layouts, access), budget, solver)


def prove_room(
    access: SharedAccess, base: int, room: int, budget: int = BUDGET, solver: Solver | None = None
) -> Outcome:
    """Prove that every element of the tile, stored from byte ``base`` on, ends within the first ``room`` bytes.

    A point is an index in the tile, whether or not a lane accesses it.
    """
    tile = modes(access.tile)
    title = f"{access.tile}, {access.swizzle} of bytes, from byte {base} on, in {room} bytes"
    return decide(_Room(title, {"index": size(tile)}, (tile,), access, base, room), budget, solver)


def prove_disjoint(access: SharedAccess, budget: int = BUDGET, solver: Solver | None = None) -> Outcome:
    """Prove that two values at the same byte are the same element of the tile: no element overwrites another one.

    A point is two lanes and a value of each. Base 0 is enough: a base moves both equally, and a swizzle is injective.
    """
    lanes, values, _ = map(size, access.layouts)
    variables = {"lane": lanes, "value": values, "lane2": lanes, "value2": values}
    title = f"disjoint: {access.tile} of {access.threads}, {access.swizzle} of bytes"
    return decide(_Disjoint(title, variables, access.layouts, access), budget, solver)


def prove_conflict_free(access: SharedAccess, budget: int = BUDGET, solver: Solver | None = None) -> Outcome:
    """Prove that two lanes of a phase that access the same bank access the same word, in every step, for every base.

    When words are not shared, two lanes may not access the same bank at all. A point is a base, a step, two lanes, and
    one of the words that each lane accesses.

    >>> lanes = Layout.parse("(32,1):(1,0)")      # each of 32 lanes accesses one word of 4 bytes
    >>> row, column = (SharedAccess(lanes, Layout(32, d), 4, 32, 32, Swizzle(0, 4, 3), 1, 128) for d in (1, 32))
    >>> prove_conflict_free(row).status, prove_conflict_free(column).status
    ('unsat', 'sat')
    """
    words, (lanes, values, _) = max(1, access.bits // (8 * WORD)), map(size, access.layouts)
    variables = {"base": access.bases, "step": values // access.vector, "lane": lanes, "lane2": lanes}
    variables |= {"part": words, "part2": words}
    bases = f"{access.bases} bases {access.unit} bytes apart"
    title = f"no two words of a bank: {access.tile} of {access.threads}, {access.swizzle} of bytes, {access.bits} bits"
    return decide(_ConflictFree(f"{title}, {bases}", variables, access.layouts, access), budget, solver)


@dataclass(frozen=True, slots=True)
class _OfAccess(BoxClaim):
    """A claim about an access; `pose_value` and `at` give the index in the tile and the byte address of a value."""

    access: SharedAccess

    def pose_value(self, script: Script, name: str, base: Term, lane: Term, position: Term) -> tuple[Term, Term]:
        lanes, values, tile = self.layouts
        index = script.define(f"index{name}", script.image(lanes, lane) + script.image(values, position))
        place = base * self.access.unit + script.image(tile, index) * self.access.element
        return index, script.define(f"byte{name}", _through(self.access.swizzle, place))

    def at(self, base: int, lane: int, position: int) -> tuple[int, int]:
        lanes, values, tile = self.layouts
        index = value(lanes, lane) + value(values, position)
        place = base * self.access.unit + value(tile, index) * self.access.element
        return index, int(_through(self.access.swizzle, place))


@dataclass(frozen=True, slots=True)
class _SameElement(BoxClaim):
    locate: Locate
    wanted: Number

    def pose(self, script: Script, at: Mapping[str, Term]) -> BoolTerm:
        source, rows, columns = self.layouts
        row, column = self.locate(at["lane"], script.define("source", script.image(source, at["value"])))
        row, column = script.define("row", row), script.define("column", column)
        place = script.define("place", script.image(rows, row) + script.image(columns, column))
        return place == script.term(self.wanted(at["lane"], at["value"]))

    def facts(self, point: Point) -> Point | None:
        source, rows, columns = self.layouts
        row, column = self.locate(point["lane"], value(source, point["value"]))
        place, wanted = value(rows, int(row)) + value(columns, int(column)), int(self.wanted(*point.values()))
        return None if place == wanted else {**point, "place": place, "wanted": wanted}


@dataclass(frozen=True, slots=True)
class _ConflictFree(_OfAccess):
    def pose(self, script: Script, at: Mapping[str, Term]) -> BoolTerm:
        first, phase = at["step"] * self.access.vector, self.access.phase
        here, there = (
            self.pose_value(script, n, at["base"], at[f"lane{n}"], first)[1] // WORD + at[f"part{n}"] for n in ("", "2")
        )
        apart = (at["lane"] // phase != at["lane2"] // phase) | (here % BANKS != there % BANKS)
        return apart | (here == there if self.access.shared else at["lane"] == at["lane2"])

    def facts(self, point: Point) -> Point | None:
        phase, lanes = self.access.phase, (point["lane"], point["lane2"])
        if lanes[0] // phase != lanes[1] // phase:
            return None
        base, first = point["base"], point["step"] * self.access.vector
        here, there = (self.at(base, point[f"lane{n}"], first)[1] // WORD + point[f"part{n}"] for n in ("", "2"))
        same = here == there if self.access.shared else lanes[0] == lanes[1]
        if same or (here - there) % BANKS:
            return None
        return {**point, "word": here, "word2": there, "bank": here % BANKS}


@dataclass(frozen=True, slots=True)
class _Room(_OfAccess):
    base: int
    room: int

    def pose(self, script: Script, at: Mapping[str, Term]) -> BoolTerm:
        place = script.image(self.layouts[0], at["index"]) * self.access.element
        return (
            script.define("byte", self.base + _through(self.access.swizzle, place)) + self.access.element <= self.room
        )

    def facts(self, point: Point) -> Point | None:
        byte = self.base + int(
            _through(self.access.swizzle, value(self.layouts[0], point["index"]) * self.access.element)
        )
        return None if byte + self.access.element <= self.room else {**point, "byte": byte}


@dataclass(frozen=True, slots=True)
class _Disjoint(_OfAccess):
    def pose(self, script: Script, at: Mapping[str, Term]) -> BoolTerm:
        (first, here), (second, there) = (
            self.pose_value(script, n, script.term(0), at[f"lane{n}"], at[f"value{n}"]) for n in ("", "2")
        )
        return (here != there) | (first == second)

    def facts(self, point: Point) -> Point | None:
        (first, here), (second, there) = (self.at(0, point[f"lane{n}"], point[f"value{n}"]) for n in ("", "2"))
        if here != there or first == second:
            return None
        return {**point, "byte": here, "index": first, "index2": second}


@dataclass(frozen=True, slots=True)
class _Whole(_OfAccess):
    def pose(self, script: Script, at: Mapping[str, Term]) -> BoolTerm:
        vector, element = self.access.vector, self.access.element
        first, here = (
            self.pose_value(script, name, at["base"], at["lane"], position)[1]
            for name, position in (("", at["value"] // vector * vector), ("2", at["value"]))
        )
        return (here == first + at["value"] % vector * element) & (first % (vector * element) == 0)

    def facts(self, point: Point) -> Point | None:
        place, element = point["value"] % self.access.vector, self.access.element
        first, here = (
            self.at(point["base"], point["lane"], position)[1] for position in (point["value"] - place, point["value"])
        )
        if here == first + place * element and first % (self.access.vector * element) == 0:
            return None
        return {**point, "first": first, "here": here}


def _through(swizzle: Swizzle, address: Any) -> Any:
    """Return the swizzled address: the bits that the swizzle reads are xored into the bits that it changes."""
    read, shift = address & swizzle.yyy_mask, swizzle.shift
    return address ^ (read >> shift if shift >= 0 else read << -shift)
