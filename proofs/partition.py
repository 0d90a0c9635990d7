# SPDX-License-Identifier: Apache-2.0
"""An operand of a tiled MMA, dealt out to threads: proved for tiles of every size that is a multiple of its own.

Along an axis, `count` atoms of `atom` coordinates stand side by side, `rest` times; `tiler` says which coordinate of
the tile a position is, and the tile is repeated R times:

    position p = i + atom * (w + count * r)        coordinate x = tiler(p) + tile * R

with i the coordinate in the atom, w the number of the atom, r of the repetition. A thread is (v, w_M, w_N, w_K), v the
thread of its atom: an operand does not depend on the w of the axis it lacks. All of that is linear, the number of tiles
included, so that the solver decides it over unbounded integers.

>>> from layouts import Layout
>>> C = Layout.parse("((4,8),(2,2)):((32,1),(16,8))")
>>> n = Axis(8, 2, Layout.parse("(8,2,2):(1,16,8)"))
>>> C32x32 = Partition(C, Layout.parse("(32,2,2,1):(1,32,64,0)"), (Axis(16, 2, Layout(32, 1)), n), (1, 2), 1)
>>> C32x32.locate(0, 4), C32x32.locate(64, 0), prove_partition(C32x32).status
((0, 8), (0, 16), 'unsat')
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from math import prod
from operator import mul
from typing import Any

from layouts import Layout
from proofs.engine import Session, Solver
from proofs.errors import EngineError, ProblemError
from proofs.family import Parametric, Size
from proofs.modes import Modes, modes, size, top_modes, value
from proofs.outcome import BUDGET, Outcome
from proofs.script import conjunction
from proofs.sexpr import render
from proofs.term import Condition, Term
from proofs.tiling import Part, decide_parts

UNBOUNDED = 1 << 1024  # over the integers, intervals only tell what is negative
METHOD = "linear integers, any number of tiles"


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of a tile: `count` atoms of extent `atom`, and `tiler`, a layout from positions to coordinates.

    Raises ProblemError where the atoms do not divide the tiler.
    """

    atom: int
    count: int
    tiler: Layout

    def __post_init__(self) -> None:
        if min(self.atom, self.count) < 1 or self.tile % (self.atom * self.count):
            raise ProblemError(f"{self.count} atoms of {self.atom} do not divide the {self.tile} of {self.tiler}")

    @property
    def tile(self) -> int:
        """Coordinates of one tile."""
        return size(modes(self.tiler))

    @property
    def rest(self) -> int:
        """How often the atoms are repeated within a tile."""
        return self.tile // (self.atom * self.count)


@dataclass(frozen=True, slots=True)
class Partition:
    """An operand of a tiled MMA.

    layout   the atom's (thread v, value) -> i + X * j, for an atom of X x Y
    threads  (v, w_M, w_N, w_K) -> thread
    axes     the two axes of the operand's tile
    along    which modes of `threads` count the atoms along these: (1, 3) for A, (2, 3) for B, (1, 2) for C
    copies   how often the atom itself holds each element
    """

    layout: Layout
    threads: Layout
    axes: tuple[Axis, Axis]
    along: tuple[int, int]
    copies: int

    @property
    def elements(self) -> int:
        """How many elements one tile has."""
        return self.axes[0].tile * self.axes[1].tile

    @property
    def holders(self) -> int:
        """How many (v, value) of how many atoms hold them."""
        return size(modes(self.layout)) * prod(axis.count * axis.rest for axis in self.axes)

    @property
    def repeats(self) -> int:
        """How many of them differ in digits of stride 0 alone."""
        return prod(s for s, d in modes(self.layout) if d == 0)

    def locate(self, thread: Any, held: Any) -> tuple[Any, Any]:
        """The (x, y) that a thread's value is, values counted as (frg, (restX, restY)); on ints and terms alike.

        A thread's digits are read off by dividing by the strides, so these must divide each other.
        """
        numbers = [_index(flat, thread) for flat in top_modes(self.threads)]
        of_thread, of_value = top_modes(self.layout)
        frg = size(of_value)
        element = _image(of_thread, numbers[0]) + _image(of_value, held % frg)
        x = self.axes[0]
        inside = (element % x.atom, element // x.atom)
        repeats = ((held // frg) % x.rest, held // (frg * x.rest))
        found = tuple(
            _image(modes(axis.tiler), i + axis.atom * (numbers[w] + axis.count * r))
            for axis, i, w, r in zip(self.axes, inside, self.along, repeats, strict=True)
        )
        return found[0], found[1]

    def place(self, at: Mapping[str, int], which: str) -> tuple[int, int, int, int]:
        """(thread v, value, x, y) of one of the two points of a model, in plain integers."""
        of_thread, of_value = top_modes(self.layout)
        v, held = (
            sum(at[f"{stem}{j}_{which}"] * prefix for j, prefix in enumerate(_prefixes(flat)))
            for stem, flat in (("t", of_thread), ("v", of_value))
        )
        element = value(of_thread, v) + value(of_value, held)
        inside = (element % self.axes[0].atom, element // self.axes[0].atom)
        x, y = (
            _image(modes(axis.tiler), i + axis.atom * (at[f"w{n}_{which}"] + axis.count * at[f"r{n}_{which}"]))
            + axis.tile * at[f"R{n}_{which}"]
            for axis, n, i in zip(self.axes, "xy", inside, strict=True)
        )
        return v, held, x, y


def prove_partition(p: Partition, budget: int = BUDGET, solver: Solver | None = None) -> Outcome:
    """Each element of (N_x * tile_x) x (N_y * tile_y) is held by exactly `copies` (v, value), all of one atom.

    For all N_x, N_y >= 1: every element held is in the tile, no two holders share one unless digits of stride 0 alone
    tell them apart, and there are `copies` holders per element. A model is a holder, or two, confirmed in plain Python.
    """
    return decide_parts([_posed(p)], budget, solver, lambda session: _refutation(p, session), METHOD)


def _posed(p: Partition) -> Part:
    problem = _Tiles()
    for n in "xy":
        problem.parameter(f"N{n}")
    here, there = (_point(problem, p, which) for which in "12")
    inside = [c for n, axis, x in zip("xy", p.axes, here.element, strict=True) for c in _within(n, axis, x)]
    apart: Condition | bool = False
    for a, b in zip(here.digits, there.digits, strict=True):
        apart = (a != b) | apart
    same = (here.element[0] == there.element[0]) & (here.element[1] == there.element[1])
    goals = {"in bounds": conjunction(inside), "held by one": (same & apart) ^ True}
    text = {title: render(goal.expr) for title, goal in goals.items()}
    text["as often as stated"] = f"(and (= {p.holders} {p.copies * p.elements}) (= {p.repeats} {p.copies}))"
    return Part(f"; {p.layout} over {p.threads}\n{problem.assumed()}", text, "true")


class _Tiles(Parametric):
    """A problem with integers of either sign, and its assumptions as text."""

    def integer(self, name: str) -> Term:
        self._lines.append(f"(declare-const {name} Int)")
        return Term(name, -UNBOUNDED, UNBOUNDED, None)

    def assumed(self) -> str:
        return "\n".join(["(set-logic QF_LIA)", *self._lines, ""])


@dataclass(frozen=True, slots=True)
class _Point:
    """A holder: the digits that tell it from another, and the element."""

    digits: list[Term]
    element: tuple[Term, Term]


def _point(problem: _Tiles, p: Partition, which: str) -> _Point:
    digits, element = [], problem.term(0)
    for stem, flat in zip("tv", top_modes(p.layout), strict=True):
        for j, (extent, stride) in enumerate(flat):
            digit = problem.variable(f"{stem}{j}_{which}", extent)
            element = element + digit * stride
            digits += [digit] if stride else []
    first = problem.variable(f"ix_{which}", p.axes[0].atom)
    second = problem.integer(f"iy_{which}")  # unbounded, so that no point is lost where the atom leaves its tile
    problem.require(element == first + second * p.axes[0].atom)
    coordinates = []
    for n, axis, i in zip("xy", p.axes, (first, second), strict=True):
        w = problem.variable(f"w{n}_{which}", axis.count)
        r = problem.variable(f"r{n}_{which}", axis.rest)
        tile = problem.below(f"R{n}_{which}", problem.product(Size(1, (f"N{n}",))))
        position = i + (w + r * axis.count) * axis.atom
        moved = _ordered(problem, f"p{n}_{which}", modes(axis.tiler), position)
        coordinates.append(problem.define(f"{n}_{which}", moved + tile * axis.tile))
        digits += [w, r, tile]
    return _Point(digits, (coordinates[0], coordinates[1]))


def _ordered(problem: _Tiles, stem: str, tiler: Modes, position: Term) -> Term:
    """The coordinate at a position: its digits are variables tied to it, the last one unbounded."""
    if len(tiler) < 2:
        return position * (tiler[0][1] if tiler else 1)
    number, image = problem.term(0), problem.term(0)
    for j, ((extent, stride), prefix) in enumerate(zip(tiler, _prefixes(tiler), strict=True)):
        last = j == len(tiler) - 1
        digit = problem.integer(f"{stem}_{j}") if last else problem.variable(f"{stem}_{j}", extent)
        number, image = number + digit * prefix, image + digit * stride
    problem.require(number == position)
    return image


def _within(n: str, axis: Axis, x: Term) -> Iterator[Condition]:
    yield x >= 0
    yield x < Term(f"N{n}", 1, UNBOUNDED, None) * axis.tile


def _refutation(p: Partition, session: Session) -> dict[str, int]:
    """Counts that differ, two holders of one element, or one outside the tile; confirmed apart from the solver."""
    if p.holders != p.copies * p.elements or p.repeats != p.copies:
        return {"holders": p.holders, "elements": p.elements, "repeats": p.repeats}
    names = [f"{stem}{j}" for stem, flat in zip("tv", top_modes(p.layout), strict=True) for j in range(len(flat))]
    names += [f"{stem}{n}" for stem in "wrR" for n in "xy"]
    at = session.values(("Nx", "Ny", *(f"{name}_{which}" for name in names for which in "12")))
    first, second = p.place(at, "1"), p.place(at, "2")
    bounds = [axis.tile * at[f"N{n}"] for n, axis in zip("xy", p.axes, strict=True)]
    inside = all(0 <= x < bound for x, bound in zip(first[2:], bounds, strict=True))
    told = dict(zip(("thread", "value", "x", "y"), first, strict=True)) | {"wx": at["wx_1"], "wy": at["wy_1"]}
    if inside and first[2:] == second[2:]:
        told |= {"thread2": second[0], "value2": second[1], "wx2": at["wx_2"], "wy2": at["wy_2"]}
    elif inside:
        raise EngineError(f"{p.layout}: plain Python finds nothing wrong at the solver's counterexample {at}")
    return told


def _prefixes(flat: Modes) -> list[int]:
    return list(accumulate((s for s, _ in flat[:-1]), mul, initial=1)) if flat else []


def _image(flat: Modes, index: Any) -> Any:
    """The layout's value at an index, the last digit unbounded; by operators that ints and terms share."""
    if not flat:
        return 0 * index
    parts = zip(flat[:-1], _prefixes(flat), strict=False)
    return sum((index // prefix % s * d for (s, d), prefix in parts), index // _prefixes(flat)[-1] * flat[-1][1])


def _index(flat: Modes, image: Any) -> Any:
    """The index whose value is `image`: the inverse of a layout whose strides divide each other."""
    parts = zip(flat, _prefixes(flat), strict=True)
    return sum((image // d % s * prefix for (s, d), prefix in parts), 0 * image)
