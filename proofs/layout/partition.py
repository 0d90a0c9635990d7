# SPDX-License-Identifier: Apache-2.0
"""An operand of a tiled MMA, distributed over threads: the owners of each element, for every number of tiles.

Along an axis, `count` atoms of `atom` coordinates lie side by side, repeated `rest` times; `tiler` maps a position to a
coordinate of the tile, and the tile itself is repeated, R counting the tiles:

    position p = i + atom * (w + count * r)        coordinate x = tiler(p) + tile * R

with i the coordinate in the atom, w the number of the atom and r that of the repetition. A thread is
(v, w_M, w_N, w_K), with v the thread in its atom: an operand does not depend on the w of the axis that it lacks. All of
this is linear, also in the number of tiles, so the solver decides it over unbounded integers.

`TileAxis`, `Partition`  an axis of a tile, and an operand with its two axes
`prove_partition`        each element has the given number of owners, for any number of tiles
`prove_tiled`            a given (thread, value) layout is the operand of one tile

>>> from layouts import Layout
>>> C = Layout.parse("((4,8),(2,2)):((32,1),(16,8))")
>>> n = TileAxis(8, 2, Layout.parse("(8,2,2):(1,16,8)"))
>>> C32x32 = Partition(C, Layout.parse("(32,2,2,1):(1,32,64,0)"), (TileAxis(16, 2, Layout(32, 1)), n), (1, 2), 1)
>>> prove_partition(C32x32).status
'unsat'
>>> layout = Layout.parse("((4,8,2,2),(2,2,2)):((64,1,16,512),(32,8,256))")
>>> prove_tiled(C32x32, layout).status
'unsat'
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from math import prod
from operator import mul
from typing import NamedTuple

from layouts import Layout
from proofs.errors import EngineError, ProblemError
from proofs.layout.family import UNBOUNDED, Size, symbol
from proofs.layout.mixed_radix import MixedRadix, MixedRadixScript
from proofs.layout.modes import domain, modes, size, top_modes, value
from proofs.layout.obligations import Obligations, decide_obligations
from proofs.smt.engine import Session, Solver
from proofs.smt.outcome import BUDGET, Outcome
from proofs.smt.script import Modes, conjunction
from proofs.smt.sexpr import render
from proofs.smt.term import Term

METHOD = "linear integers, any number of tiles"
TILED = "linear integers"


@dataclass(frozen=True, slots=True)
class TileAxis:
    """One axis of a tile: `count` atoms of extent `atom`, and `tiler`, a layout from positions to coordinates.

    Raises ProblemError when the atoms do not divide the size of the tiler.
    """

    atom: int
    count: int
    tiler: Layout

    def __post_init__(self) -> None:
        if min(self.atom, self.count) < 1 or self.tile % (self.atom * self.count):
            raise ProblemError(f"{self.count} atoms of {self.atom} do not divide the {self.tile} of {self.tiler}")

    @property
    def tile(self) -> int:
        """The number of coordinates of one tile."""
        return size(modes(self.tiler))

    @property
    def rest(self) -> int:
        """The number of repetitions of the atoms within a tile."""
        return self.tile // (self.atom * self.count)

    @property
    def positions(self) -> Modes:
        """The modes of the tiler; 1:1 for a tile of extent 1, so that a position outside is a coordinate outside."""
        return modes(self.tiler) or ((1, 1),)


@dataclass(frozen=True, slots=True)
class Partition:
    """An operand of a tiled MMA.

    Raises ProblemError when `threads` has another number of threads than the atom, or of atoms than the axes.
    """

    layout: Layout  # (thread v, value) -> i + X * j, the layout of an atom of extents X x Y
    threads: Layout  # (v, w_M, w_N, w_K) -> thread
    axes: tuple[TileAxis, TileAxis]  # the two axes of the tile of the operand
    # the modes of `threads` that count the atoms along these axes: (1, 3) for A, (2, 3) for B, (1, 2) for C
    along: tuple[int, int]
    copies: int  # how many owners each element has within the atom

    def __post_init__(self) -> None:
        counted = [size(flat) for flat in top_modes(self.threads)]
        (lanes, _), (x, y) = domain(self.layout), self.along
        if len(counted) != 4 or (counted[0], counted[x], counted[y]) != (lanes, *(axis.count for axis in self.axes)):
            atoms = " and ".join(str(axis.count) for axis in self.axes)
            raise ProblemError(f"{self.threads} does not number {lanes} threads of {atoms} atoms along its axes")

    @property
    def elements(self) -> int:
        """The number of elements of one tile."""
        return self.axes[0].tile * self.axes[1].tile

    @property
    def holders(self) -> int:
        """The number of owners in one tile: the (v, value) of all its atoms."""
        return size(modes(self.layout)) * prod(axis.count * axis.rest for axis in self.axes)

    @property
    def repeats(self) -> int:
        """The number of (v, value) of an atom that differ only in digits of stride 0."""
        return prod(s for s, d in modes(self.layout) if d == 0)

    def place(self, at: Mapping[str, int], which: str) -> tuple[int, int, int, int]:
        """(thread v, value, x, y) of one of the two owners in a model, in plain integers."""
        of_thread, of_value = top_modes(self.layout)
        v, position = (
            sum(at[f"{stem}{j}_{which}"] * prefix for j, prefix in enumerate(_prefixes(flat)))
            for stem, flat in (("t", of_thread), ("v", of_value))
        )
        element = value(of_thread, v) + value(of_value, position)
        inside = (element % self.axes[0].atom, element // self.axes[0].atom)
        x, y = (
            _image(axis.positions, i + axis.atom * (at[f"w{n}_{which}"] + axis.count * at[f"r{n}_{which}"]))
            + axis.tile * at[f"R{n}_{which}"]
            for axis, n, i in zip(self.axes, "xy", inside, strict=True)
        )
        return v, position, x, y


def prove_partition(p: Partition, budget: int = BUDGET, solver: Solver | None = None) -> Outcome:
    """Prove that each element of (N_x * tile_x) x (N_y * tile_y) has exactly `copies` owners, all in one atom.

    Three claims, for all N_x, N_y >= 1: every element is in the tile, two owners of one element differ only in digits
    of stride 0, and there are `copies` owners per element. A model is one owner or two, confirmed in plain Python.
    """
    return decide_obligations(_pose(p), budget, solver, partial(_refutation, p), METHOD)


def prove_tiled(p: Partition, layout: Layout, budget: int = BUDGET, solver: Solver | None = None) -> Outcome:
    """Prove that a (thread, value) layout is the operand of one tile, with its values counted as (frg, (restX, restY)).

    The claim is layout(thread, value) = x + tile_x * y for every thread (v, w_M, w_N, w_K) and value. A model has the
    thread, the value, the element by the layout and (x, y) by the partition, confirmed in plain Python.

    Raises ProblemError when the layout has fewer threads than the partition, or another number of values.
    """
    threads, values = domain(layout)
    last = sum((s - 1) * max(d, 0) for s, d in modes(p.threads))
    each = size(top_modes(p.layout)[1]) * p.axes[0].rest * p.axes[1].rest
    if threads <= last or values != each:
        raise ProblemError(f"{layout} has {threads} threads x {values} values, the tile {last + 1} x {each}")
    refute = partial(_difference, p, layout)
    return decide_obligations([_compare_layouts(p, layout)], budget, solver, refute, TILED)


def _compare_layouts(p: Partition, layout: Layout) -> Obligations:
    """Return the obligation of `prove_tiled`."""
    script = _tiles()
    point = _point(script, p, "1")
    for n in "xy":
        script.require(Term(symbol(f"N{n}"), 1, UNBOUNDED, None) == 1)
    missing = ({1, 2, 3} - set(p.along)).pop()
    numbers = {0: point.v, p.along[0]: point.atom[0], p.along[1]: point.atom[1]}
    numbers[missing] = MixedRadix(((script.variable("wz_1", size(top_modes(p.threads)[missing])), 1),))
    parts = [script.image_of(flat, numbers[mode], f"m{mode}") for mode, flat in enumerate(top_modes(p.threads))]
    thread = parts[0].plus(*((part, 1) for part in parts[1:]))
    frg, (rx, ry) = size(top_modes(p.layout)[1]), point.repeat
    of_thread, of_value = top_modes(layout)
    parts = [
        script.image_of(of_thread, thread, "ht"),
        script.image_of(of_value, point.value.plus((rx, frg), (ry, frg * p.axes[0].rest)), "hv"),
    ]
    x, y = map(script.sum, point.element)
    goal = script.sum(parts[0].plus((parts[1], 1))) == x + y * p.axes[0].tile
    return Obligations(
        f"; {layout} is {p.layout} tiled\n{script.spell_assumptions()}", {"as tiled": render(goal.expr)}, "true"
    )


def _difference(p: Partition, layout: Layout, session: Session) -> dict[str, int]:
    """Return a counterexample to `prove_tiled`, confirmed in plain Python."""
    at = _model(p, session, "1", ("wz_1",))
    v, frg, x, y = p.place(at, "1")
    numbers = [0, 0, 0, 0]
    missing = ({1, 2, 3} - set(p.along)).pop()
    for mode, number in zip((0, *p.along, missing), (v, at["wx_1"], at["wy_1"], at["wz_1"]), strict=True):
        numbers[mode] = number
    thread = sum(map(_image, top_modes(p.threads), numbers))
    value = frg + size(top_modes(p.layout)[1]) * (at["rx_1"] + p.axes[0].rest * at["ry_1"])
    of_thread, of_value = top_modes(layout)
    element = _image(of_thread, thread) + _image(of_value, value)
    if element == x + p.axes[0].tile * y:
        raise EngineError(f"{layout}: plain Python finds nothing wrong at the solver's counterexample {at}")
    return {"thread": thread, "value": value, "element": element, "x": x, "y": y}


def _tiles() -> MixedRadixScript:
    script = MixedRadixScript()
    for n in "xy":
        script.parameter(f"N{n}")
    return script


def _pose(p: Partition) -> list[Obligations]:
    """Return the obligations of `prove_partition`."""
    script = _tiles()
    here, there = (_point(script, p, which) for which in "12")
    x, y = ((script.sum(a), script.sum(b)) for a, b in zip(here.element, there.element, strict=True))
    inside = [
        bound
        for n, axis, at in zip("xy", p.axes, (x[0], y[0]), strict=True)
        for bound in (at >= 0, at < Term(symbol(f"N{n}"), 1, UNBOUNDED, None) * axis.tile)
    ]
    goals = {"in bounds": conjunction(inside)}
    for first, second in zip(here.compared, there.compared, strict=True):
        script.alike(first, second)
    goals["one owner"] = ((x[0] == x[1]) & (y[0] == y[1]) & script.differ(here.identity, there.identity)) ^ True
    text = {title: render(goal.expr) for title, goal in goals.items()}
    text["the number of owners"] = f"(and (= {p.holders} {p.copies * p.elements}) (= {p.repeats} {p.copies}))"
    return [script.lemmas(), Obligations(f"; {p.layout} over {p.threads}\n{script.spell_assumptions()}", text, "true")]


class _Point(NamedTuple):
    """An owner of an element, by its digits."""

    v: MixedRadix  # the thread in the atom
    value: MixedRadix  # the value in the atom
    atom: tuple[MixedRadix, MixedRadix]  # the number w of the atom along both axes
    repeat: tuple[MixedRadix, MixedRadix]  # the number r of the repetition along both axes
    identity: MixedRadix  # the digits in which two different owners of one element may not differ
    element: tuple[MixedRadix, MixedRadix]  # the coordinates (x, y) of the element
    # the numbers to which the lemma is applied: the element in the atom, its two positions, x and y
    compared: list[MixedRadix]


def _point(script: MixedRadixScript, p: Partition, which: str) -> _Point:
    identity, element, numbers = MixedRadix(), MixedRadix(), []
    for stem, flat in zip("tv", top_modes(p.layout), strict=True):
        number = MixedRadix()
        for j, ((extent, stride), prefix) in enumerate(zip(flat, _prefixes(flat), strict=True)):
            digit = MixedRadix(((script.variable(f"{stem}{j}_{which}", extent), 1),))
            element, number = element.plus((digit, stride)), number.plus((digit, prefix))
            identity = identity.plus((digit, 1)) if stride else identity
        numbers.append(number)
    coordinates, atom, repeat, positions = [], [], [], []
    inside = script.divide(element, p.axes[0].atom, f"i_{which}")
    for n, axis, i in zip("xy", p.axes, inside, strict=True):
        w = MixedRadix(((script.variable(f"w{n}_{which}", axis.count), 1),))
        r = MixedRadix(((script.variable(f"r{n}_{which}", axis.rest), 1),))
        tile = MixedRadix(((script.below(f"R{n}_{which}", script.product(Size(1, (f"N{n}",)))), 1),))
        positions.append(i.plus((w, axis.atom), (r, axis.atom * axis.count)))
        coordinates.append(script.image_of(axis.positions, positions[-1], f"p{n}_{which}").plus((tile, axis.tile)))
        identity = identity.plus((w, 1), (r, 1), (tile, 1))
        atom.append(w)
        repeat.append(r)
    (v, value), (wx, wy), (rx, ry), (x, y) = numbers, atom, repeat, coordinates
    return _Point(v, value, (wx, wy), (rx, ry), identity, (x, y), [element, *positions, x, y])


def _refutation(p: Partition, session: Session) -> dict[str, int]:
    """Return a counterexample, confirmed in plain Python: wrong counts, two owners, or an element outside the tile."""
    if p.holders != p.copies * p.elements or p.repeats != p.copies:
        return {"holders": p.holders, "elements": p.elements, "repeats": p.repeats}
    at = _model(p, session, "12", (symbol("Nx"), symbol("Ny")))
    first, second = p.place(at, "1"), p.place(at, "2")
    bounds = [axis.tile * at[symbol(f"N{n}")] for n, axis in zip("xy", p.axes, strict=True)]
    inside = all(0 <= x < bound for x, bound in zip(first[2:], bounds, strict=True))
    facts = dict(zip(("thread", "value", "x", "y"), first, strict=True)) | {"wx": at["wx_1"], "wy": at["wy_1"]}
    if inside and first[2:] == second[2:]:
        facts |= {"thread2": second[0], "value2": second[1], "wx2": at["wx_2"], "wy2": at["wy_2"]}
    elif inside:
        raise EngineError(f"{p.layout}: plain Python finds nothing wrong at the solver's counterexample {at}")
    return facts


def _model(p: Partition, session: Session, points: str, extra: tuple[str, ...]) -> dict[str, int]:
    """Return the digits of one owner or of two in the model."""
    names = [f"{stem}{j}" for stem, flat in zip("tv", top_modes(p.layout), strict=True) for j in range(len(flat))]
    names += [f"{stem}{n}" for stem in "wrR" for n in "xy"]
    return session.values((*extra, *(f"{name}_{which}" for name in names for which in points)))


def _prefixes(flat: Modes) -> list[int]:
    return list(accumulate((s for s, _ in flat[:-1]), mul, initial=1)) if flat else []


def _image(flat: Modes, index: int) -> int:
    """Return the value of the layout at an index, the last digit unbounded."""
    total = 0
    for position, (s, d) in enumerate(flat):
        digit = index if position == len(flat) - 1 else index % s
        total, index = total + digit * d, index // s
    return total
