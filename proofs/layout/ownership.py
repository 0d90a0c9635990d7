# SPDX-License-Identifier: Apache-2.0
"""Who holds an element, and how often: ownership with multiplicity, and onto."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from layouts import Layout
from proofs.errors import ProblemError
from proofs.layout.certificate import smallest_gap
from proofs.layout.mixed_radix import Numeral, Numerals
from proofs.layout.modes import modes, size, value, values
from proofs.layout.operand import Fragment
from proofs.layout.tiling import Part, decide_parts
from proofs.smt.engine import Solver
from proofs.smt.outcome import BUDGET, Outcome
from proofs.smt.script import Modes, Script, encodings
from proofs.smt.sexpr import render
from proofs.smt.solve import Claim, Point, Survey, decide
from proofs.smt.term import Condition, Term


def prove_owns(f: Fragment, budget: int = BUDGET, solver: Solver | None = None) -> Outcome:
    """Every element of the tile is held by exactly ``copies`` (thread, value), and nothing else is held.

    The smallest value of a layout is taken just where every digit of a non-zero stride is at one end, by as many
    points as the sizes of the stride-0 modes multiply to. So the claim is equivalent to: that product is ``copies``,
    the other modes are injective, all values are elements, and there are ``copies`` points per element. This is
    sound and complete for every layout of integer strides.

    A point is an element, or a value outside the tile, that is held another number of times than it should be. The
    model is the smallest thread and value that hold one, with a second holder; else the smallest element unheld.
    """
    parts = {"thread": f.thread, "value": f.value}
    return _owns(f"each element held {_times(f.copies)}: {f.onto}", parts, f.elements, f.copies, budget, solver)


def prove_bijective(
    layout: Layout, extents: tuple[int, ...], copies: int = 1, budget: int = BUDGET, solver: Solver | None = None
) -> Outcome:
    """The same claim as prove_owns for any layout onto 0 .. product(extents) - 1; the model names an ``index``."""
    if min(*extents, copies, 1) < 1:
        raise ProblemError(f"extents {extents} and copies {copies} must be positive")
    title = f"each element held {_times(copies)}: {layout} onto {_by(extents)}"
    return _owns(title, {"index": modes(layout)}, prod(extents), copies, budget, solver)


def prove_onto(layout: Layout, extents: tuple[int, ...], budget: int = BUDGET, solver: Solver | None = None) -> Outcome:
    """The values of ``layout`` are exactly 0 .. product(extents) - 1, each taken at least once.

    The preimage of an element is given: greedily, the largest stride first, as large a digit as fits. For strides
    not negative this finds one whenever there is one below the smallest gap; a negative stride leaves the range.
    A point is a missing element or a value outside; the model is the smallest element missing, else an index.
    """
    if min(*extents, 1) < 1:
        raise ProblemError(f"extents {extents} must be positive")
    flat, elements = modes(layout), prod(extents)
    variables = {"index": size(flat), "element": elements}
    return decide(_Onto(f"onto: {layout} onto {_by(extents)}", variables, (flat,), elements), budget, solver)


def _owns(
    title: str, parts: Mapping[str, Modes], elements: int, copies: int, budget: int, solver: Solver | None
) -> Outcome:
    first = {name: size(flat) for name, flat in parts.items()}
    second = {f"{name}2": n for name, n in first.items()}
    claim = _Owns(title, first | second, tuple(parts.values()), elements, copies)
    if encodings(claim.layouts)[0] is None:
        outcome = decide_parts(claim.by_digits(), budget, solver, lambda _: {}, "integers, digit by digit")
        if outcome.status == "unsat":
            return outcome
    return decide(claim, budget, solver)


@dataclass(frozen=True, slots=True)
class _Owns(Claim):
    """Two points, ``name`` and ``name2``; in plain Python a point is its rank in the order of minimisation."""

    elements: int
    copies: int

    def pose(self, script: Script, at: Mapping[str, Term]) -> Condition:
        first = [at[name] for name in self._names()]
        second = [at[f"{name}2"] for name in self._names()]
        here, there = (
            script.define(name, script.total(map(script.image, self.layouts, point)))
            for name, point in (("element", first), ("element2", second))
        )
        counted = script.term(self._stride_0()) == self.copies
        counted = counted & (script.term(self._holders()) == self.copies * self.elements)
        apart: Condition | bool = False
        for flat, a, b in zip(self.layouts, first, second, strict=True):
            for (_, d), x, y in zip(flat, script.digits(flat, a), script.digits(flat, b), strict=True):
                apart = apart if d == 0 else (x != y) | apart
        return counted & (here >= 0) & (here < self.elements) & ((here != there) | (apart ^ True))

    def by_digits(self) -> list[Part]:
        """The same over two points given by their digits, which the lemmas of `numeral` compare one after the other."""
        problem = Numerals()
        here, there = (
            Numeral(tuple((problem.variable(f"d{n}_{which}", s), d) for n, (s, d) in enumerate(self._ranked()) if d))
            for which in "12"
        )
        problem.alike(here, there)
        x, y = problem.sum(here), problem.sum(there)
        goals = {
            "in bounds": (x >= 0) & (x < self.elements),
            "held by one": (x != y) | (problem.differ(here, there) ^ True),
        }
        text = {title: render(goal.expr) for title, goal in goals.items()}
        counts = (self._stride_0(), self.copies), (self._holders(), self.copies * self.elements)
        text["as often as stated"] = f"(and {' '.join(f'(= {a} {b})' for a, b in counts)})"
        return [problem.lemmas(), Part(f"; {self.title}\n{problem.assumed()}", text, "true")]

    def facts(self, point: Point) -> Point | None:
        first, second = (self._rank(point, suffix) for suffix in ("", "2"))
        element = value(self._ranked(), first)
        if not 0 <= element < self.elements:
            return self._place(first) | {"element": element}
        if element != value(self._ranked(), second) or self._owner(first) == self._owner(second):
            return None
        return self._place(first) | self._place(second, "2") | {"element": element}

    def points(self) -> int:
        return max(self.elements, self._holders())

    def miscount(self) -> Point | None:
        if self._stride_0() != self.copies:
            lowest = sum((s - 1) * min(d, 0) for s, d in self._ranked())
            return {"element": lowest, "owners": self._stride_0()}
        if self._holders() != self.copies * self.elements:
            return {"points": self._holders(), "elements": self.elements}
        return None

    def survey(self) -> Survey | None:
        held = values(self._ranked())
        owners = Counter(held)
        wrong = {e for e, n in owners.items() if n != self.copies or not 0 <= e < self.elements}
        unheld = [e for e in range(self.elements) if e not in owners]
        if not wrong and not unheld:
            return None
        rank = next((r for r, e in enumerate(held) if e in wrong), None)
        first = {"element": unheld[0], "owners": 0} if rank is None else self._first(rank, held, owners)
        return Survey(len(wrong) + len(unheld), first)

    def _first(self, rank: int, held: list[int], owners: Counter[int]) -> Point:
        """The facts at the first point that holds a wrong element, with the next holder of it."""
        element, miscounted = held[rank], self.miscount() is not None
        facts = self._place(rank)
        if 0 <= element < self.elements:
            others = (r for r, e in enumerate(held) if e == element and r != rank)
            other = next((r for r in others if miscounted or self._owner(r) != self._owner(rank)), None)
            facts |= {} if other is None else self._place(other, "2")
        facts["element"] = element
        return facts | {"owners": owners[element]} if miscounted else facts

    def _names(self) -> list[str]:
        return list(self.variables)[: len(self.layouts)]

    def _ranked(self) -> Modes:
        """All modes, the last part fastest: the index into them is the rank."""
        return tuple(mode for flat in reversed(self.layouts) for mode in flat)

    def _rank(self, point: Point, suffix: str) -> int:
        rank = 0
        for name in self._names():
            rank = rank * self.variables[name] + point[name + suffix]
        return rank

    def _place(self, rank: int, suffix: str = "") -> dict[str, int]:
        place: dict[str, int] = {}
        for name in reversed(self._names()):
            rank, place[name + suffix] = divmod(rank, self.variables[name])
        return dict(reversed(place.items()))

    def _owner(self, rank: int) -> int:
        """The rank with the digits of stride 0 set to 0: points of one owner hold the same by construction."""
        owner, unit = 0, 1
        for s, d in self._ranked():
            rank, digit = divmod(rank, s)
            owner += digit * unit if d else 0
            unit *= s
        return owner

    def _stride_0(self) -> int:
        return prod(s for s, d in self._ranked() if d == 0)

    def _holders(self) -> int:
        return size(self._ranked())


@dataclass(frozen=True, slots=True)
class _Onto(Claim):
    elements: int

    def pose(self, script: Script, at: Mapping[str, Term]) -> Condition:
        (flat,) = self.layouts
        value = script.define("value", script.image(flat, at["index"]))
        inside = (value >= 0) & (value < self.elements)
        if any(d < 0 for _, d in flat):  # refuted by that alone
            return inside
        rest = at["element"]
        for s, d in sorted(flat, key=lambda mode: mode[1], reverse=True):
            if d > 0:
                fitting = rest // d
                digit = (fitting < s).__where__(fitting, s - 1)
                rest = Term((rest - digit * d).expr, 0, rest.hi, rest.width)  # digit * d <= rest
        return inside & (rest == 0)

    def facts(self, point: Point) -> Point | None:
        (flat,) = self.layouts
        if all(d >= 0 for _, d in flat) and (gap := smallest_gap(flat)) <= min(point["element"], self.elements - 1):
            return {"element": gap, "owners": 0}
        held = value(flat, point["index"])
        return None if 0 <= held < self.elements else {"index": point["index"], "element": held}

    def points(self) -> int:
        return max(self.variables.values())

    def survey(self) -> Survey | None:
        (flat,) = self.layouts
        held = values(flat)
        taken = set(held)
        missing = [e for e in range(self.elements) if e not in taken]
        outside = [i for i, e in enumerate(held) if not 0 <= e < self.elements]
        if not missing and not outside:
            return None
        hole = missing and all(d >= 0 for _, d in flat)
        first = {"element": missing[0], "owners": 0} if hole else {"index": outside[0], "element": held[outside[0]]}
        return Survey(len(missing) + len({held[i] for i in outside}), first)


def _times(copies: int) -> str:
    return "once" if copies == 1 else f"{copies} times"


def _by(extents: tuple[int, ...]) -> str:
    return "x".join(map(str, extents))
