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
>>> prove_partition(C32x32).status
'unsat'
>>> held = Layout.parse("((4,8,2,2),(2,2,2)):((64,1,16,512),(32,8,256))")
>>> prove_tiled(C32x32, held).status
'unsat'
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from math import prod
from operator import mul

from layouts import Layout
from proofs.errors import EngineError, ProblemError
from proofs.layout.family import UNBOUNDED, Size, symbol
from proofs.layout.mixed_radix import Numeral, Numerals
from proofs.layout.modes import domain, modes, size, top_modes, value
from proofs.layout.tiling import Part, decide_parts
from proofs.smt.engine import Session, Solver
from proofs.smt.outcome import BUDGET, Outcome
from proofs.smt.script import Modes, conjunction
from proofs.smt.sexpr import render
from proofs.smt.term import Term

METHOD = "linear integers, any number of tiles"
TILED = "linear integers"


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

    @property
    def positions(self) -> Modes:
        """The tiler's modes; of a tile one wide 1:1, so that a position beyond it is a coordinate beyond it."""
        return modes(self.tiler) or ((1, 1),)


@dataclass(frozen=True, slots=True)
class Partition:
    """An operand of a tiled MMA.

    layout   the atom's (thread v, value) -> i + X * j, for an atom of X x Y
    threads  (v, w_M, w_N, w_K) -> thread
    axes     the two axes of the operand's tile
    along    which modes of `threads` count the atoms along these: (1, 3) for A, (2, 3) for B, (1, 2) for C
    copies   how often the atom itself holds each element

    Raises ProblemError where `threads` numbers other threads than the atom has, or other atoms than the axes.
    """

    layout: Layout
    threads: Layout
    axes: tuple[Axis, Axis]
    along: tuple[int, int]
    copies: int

    def __post_init__(self) -> None:
        counted = [size(flat) for flat in top_modes(self.threads)]
        (lanes, _), (x, y) = domain(self.layout), self.along
        if len(counted) != 4 or (counted[0], counted[x], counted[y]) != (lanes, *(axis.count for axis in self.axes)):
            atoms = " and ".join(str(axis.count) for axis in self.axes)
            raise ProblemError(f"{self.threads} does not number {lanes} threads of {atoms} atoms along its axes")

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
            _image(axis.positions, i + axis.atom * (at[f"w{n}_{which}"] + axis.count * at[f"r{n}_{which}"]))
            + axis.tile * at[f"R{n}_{which}"]
            for axis, n, i in zip(self.axes, "xy", inside, strict=True)
        )
        return v, held, x, y


def prove_partition(p: Partition, budget: int = BUDGET, solver: Solver | None = None) -> Outcome:
    """Each element of (N_x * tile_x) x (N_y * tile_y) is held by exactly `copies` (v, value), all of one atom.

    For all N_x, N_y >= 1: every element held is in the tile, no two holders share one unless digits of stride 0 alone
    tell them apart, and there are `copies` holders per element. A model is a holder, or two, confirmed in plain Python.
    """
    return decide_parts(_posed(p), budget, solver, lambda session: _refutation(p, session), METHOD)


def prove_tiled(p: Partition, held: Layout, budget: int = BUDGET, solver: Solver | None = None) -> Outcome:
    """The (thread, value) layout `held` is the operand of one tile, values counted as (frg, (restX, restY)).

    For every thread (v, w_M, w_N, w_K) and value: held(thread, value) = x + tile_x * y. A model names the first two
    and the element that each side gives them, confirmed in plain Python.

    Raises ProblemError where `held` has fewer threads than that, or another number of values.
    """
    threads, values = domain(held)
    last = sum((s - 1) * max(d, 0) for s, d in modes(p.threads))
    each = size(top_modes(p.layout)[1]) * p.axes[0].rest * p.axes[1].rest
    if threads <= last or values != each:
        raise ProblemError(f"{held} has {threads} threads x {values} values, the tile {last + 1} x {each}")
    return decide_parts([_compared(p, held)], budget, solver, lambda session: _difference(p, held, session), TILED)


def _compared(p: Partition, held: Layout) -> Part:
    problem = _tiles()
    point = _point(problem, p, "1")
    for n in "xy":
        problem.require(Term(symbol(f"N{n}"), 1, UNBOUNDED, None) == 1)
    missing = ({1, 2, 3} - set(p.along)).pop()
    numbers = {0: point.v, p.along[0]: point.atom[0], p.along[1]: point.atom[1]}
    numbers[missing] = Numeral(((problem.variable("wz_1", size(top_modes(p.threads)[missing])), 1),))
    parts = [problem.image_of(flat, numbers[mode], f"m{mode}") for mode, flat in enumerate(top_modes(p.threads))]
    thread = parts[0].plus(*((part, 1) for part in parts[1:]))
    frg, (rx, ry) = size(top_modes(p.layout)[1]), point.repeat
    of_thread, of_value = top_modes(held)
    parts = [
        problem.image_of(of_thread, thread, "ht"),
        problem.image_of(of_value, point.value.plus((rx, frg), (ry, frg * p.axes[0].rest)), "hv"),
    ]
    x, y = map(problem.sum, point.element)
    goal = problem.sum(parts[0].plus((parts[1], 1))) == x + y * p.axes[0].tile
    return Part(f"; {held} is {p.layout} tiled\n{problem.assumed()}", {"as tiled": render(goal.expr)}, "true")


def _difference(p: Partition, held: Layout, session: Session) -> dict[str, int]:
    at = _model(p, session, "1", ("wz_1",))
    v, frg, x, y = p.place(at, "1")
    numbers = [0, 0, 0, 0]
    missing = ({1, 2, 3} - set(p.along)).pop()
    for mode, number in zip((0, *p.along, missing), (v, at["wx_1"], at["wy_1"], at["wz_1"]), strict=True):
        numbers[mode] = number
    thread = sum(map(_image, top_modes(p.threads), numbers))
    value = frg + size(top_modes(p.layout)[1]) * (at["rx_1"] + p.axes[0].rest * at["ry_1"])
    of_thread, of_value = top_modes(held)
    element = _image(of_thread, thread) + _image(of_value, value)
    if element == x + p.axes[0].tile * y:
        raise EngineError(f"{held}: plain Python finds nothing wrong at the solver's counterexample {at}")
    return {"thread": thread, "value": value, "element": element, "x": x, "y": y}


def _tiles() -> Numerals:
    problem = Numerals()
    for n in "xy":
        problem.parameter(f"N{n}")
    return problem


def _posed(p: Partition) -> list[Part]:
    problem = _tiles()
    here, there = (_point(problem, p, which) for which in "12")
    x, y = ((problem.sum(a), problem.sum(b)) for a, b in zip(here.element, there.element, strict=True))
    inside = [
        bound
        for n, axis, at in zip("xy", p.axes, (x[0], y[0]), strict=True)
        for bound in (at >= 0, at < Term(symbol(f"N{n}"), 1, UNBOUNDED, None) * axis.tile)
    ]
    goals = {"in bounds": conjunction(inside)}
    for first, second in zip(here.numerals, there.numerals, strict=True):
        problem.alike(first, second)
    goals["held by one"] = ((x[0] == x[1]) & (y[0] == y[1]) & problem.differ(here.told, there.told)) ^ True
    text = {title: render(goal.expr) for title, goal in goals.items()}
    text["as often as stated"] = f"(and (= {p.holders} {p.copies * p.elements}) (= {p.repeats} {p.copies}))"
    return [problem.lemmas(), Part(f"; {p.layout} over {p.threads}\n{problem.assumed()}", text, "true")]


@dataclass(frozen=True, slots=True)
class _Point:
    """A holder: (v, value) of an atom, its repetition, the digits that tell it from another, and the element.

    ``numerals`` are the element, in the atom and in the tiles, and its positions along both axes.
    """

    v: Numeral
    value: Numeral
    atom: tuple[Numeral, Numeral]
    repeat: tuple[Numeral, Numeral]
    told: Numeral
    element: tuple[Numeral, Numeral]
    numerals: list[Numeral]


def _point(problem: Numerals, p: Partition, which: str) -> _Point:
    told, element, numbers = Numeral(), Numeral(), []
    for stem, flat in zip("tv", top_modes(p.layout), strict=True):
        number = Numeral()
        for j, ((extent, stride), prefix) in enumerate(zip(flat, _prefixes(flat), strict=True)):
            digit = Numeral(((problem.variable(f"{stem}{j}_{which}", extent), 1),))
            element, number = element.plus((digit, stride)), number.plus((digit, prefix))
            told = told.plus((digit, 1)) if stride else told
        numbers.append(number)
    coordinates, atom, repeat, positions = [], [], [], []
    inside = problem.parted(element, p.axes[0].atom, f"i_{which}")
    for n, axis, i in zip("xy", p.axes, inside, strict=True):
        w = Numeral(((problem.variable(f"w{n}_{which}", axis.count), 1),))
        r = Numeral(((problem.variable(f"r{n}_{which}", axis.rest), 1),))
        tile = Numeral(((problem.below(f"R{n}_{which}", problem.product(Size(1, (f"N{n}",)))), 1),))
        positions.append(i.plus((w, axis.atom), (r, axis.atom * axis.count)))
        coordinates.append(problem.image_of(axis.positions, positions[-1], f"p{n}_{which}").plus((tile, axis.tile)))
        told = told.plus((w, 1), (r, 1), (tile, 1))
        atom.append(w)
        repeat.append(r)
    (v, value), (wx, wy), (rx, ry), (x, y) = numbers, atom, repeat, coordinates
    return _Point(v, value, (wx, wy), (rx, ry), told, (x, y), [element, *positions, x, y])


def _refutation(p: Partition, session: Session) -> dict[str, int]:
    """Counts that differ, two holders of one element, or one outside the tile; confirmed apart from the solver."""
    if p.holders != p.copies * p.elements or p.repeats != p.copies:
        return {"holders": p.holders, "elements": p.elements, "repeats": p.repeats}
    at = _model(p, session, "12", (symbol("Nx"), symbol("Ny")))
    first, second = p.place(at, "1"), p.place(at, "2")
    bounds = [axis.tile * at[symbol(f"N{n}")] for n, axis in zip("xy", p.axes, strict=True)]
    inside = all(0 <= x < bound for x, bound in zip(first[2:], bounds, strict=True))
    told = dict(zip(("thread", "value", "x", "y"), first, strict=True)) | {"wx": at["wx_1"], "wy": at["wy_1"]}
    if inside and first[2:] == second[2:]:
        told |= {"thread2": second[0], "value2": second[1], "wx2": at["wx_2"], "wy2": at["wy_2"]}
    elif inside:
        raise EngineError(f"{p.layout}: plain Python finds nothing wrong at the solver's counterexample {at}")
    return told


def _model(p: Partition, session: Session, points: str, others: tuple[str, ...]) -> dict[str, int]:
    """The model's digits of one point or of two."""
    names = [f"{stem}{j}" for stem, flat in zip("tv", top_modes(p.layout), strict=True) for j in range(len(flat))]
    names += [f"{stem}{n}" for stem in "wrR" for n in "xy"]
    return session.values((*others, *(f"{name}_{which}" for name in names for which in points)))


def _prefixes(flat: Modes) -> list[int]:
    return list(accumulate((s for s, _ in flat[:-1]), mul, initial=1)) if flat else []


def _image(flat: Modes, index: int) -> int:
    """The layout's value at an index, the last digit unbounded."""
    total = 0
    for position, (s, d) in enumerate(flat):
        digit = index if position == len(flat) - 1 else index % s
        total, index = total + digit * d, index // s
    return total
