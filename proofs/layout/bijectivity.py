# SPDX-License-Identifier: Apache-2.0
"""The claims about the owners of an element: how many (thread, value) a layout maps to it.

>>> [prove_bijective(Layout.parse(text), (2, 4)).status for text in ("(2,4):(4,1)", "(2,4):(4,2)")]
['unsat', 'sat']
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from layouts import Layout
from proofs.errors import ProblemError
from proofs.layout.mixed_radix import MixedRadix, MixedRadixScript
from proofs.layout.modes import modes, size, value, values
from proofs.layout.obligations import Obligations, decide_obligations
from proofs.layout.operand import OperandLayout
from proofs.smt.engine import Solver
from proofs.smt.outcome import BUDGET, Outcome
from proofs.smt.script import Modes, Script, power_of_two
from proofs.smt.sexpr import render
from proofs.smt.solve import BoxClaim, Point, Survey, decide
from proofs.smt.term import BoolTerm, Term

if TYPE_CHECKING:
    from proofs.layout.obligations import Obligations


def prove_ownership(f: OperandLayout, budget: int = BUDGET, solver: Solver | None = None) -> Outcome:
    """Prove that every element of the tile has exactly ``copies`` owners (thread, value), and no value is outside.

    A layout takes its smallest value exactly where every digit of a non-zero stride is at one end of its range: at as
    many points as the product of the extents of stride 0. So the claim is equivalent to four conditions: that product
    is ``copies``, the other modes are injective, all values are elements, and there are ``copies`` points per element.
    The argument is sound and complete for every layout with integer strides.

    A point is an element with a wrong number of owners, or a value outside the tile. The model is the smallest thread
    and value that own such an element, with a second owner; or else the smallest element without an owner.
    """
    parts = {"thread": f.thread, "value": f.value}
    return _ownership(f"each element has {_owners(f.copies)}: {f.onto}", parts, f.elements, f.copies, budget, solver)


def prove_bijective(
    layout: Layout, extents: tuple[int, ...], copies: int = 1, budget: int = BUDGET, solver: Solver | None = None
) -> Outcome:
    """Prove that each of 0 .. product(extents) - 1 is the value of ``layout`` at exactly ``copies`` indices.

    It is the claim of prove_ownership for any layout; the model names an ``index``. Raises ProblemError when an extent
    or ``copies`` is not positive.
    """
    if min(*extents, copies, 1) < 1:
        raise ProblemError(f"extents {extents} and copies {copies} must be positive")
    title = f"each element has {_owners(copies)}: {layout} onto {'x'.join(map(str, extents))}"
    return _ownership(title, {"index": modes(layout)}, prod(extents), copies, budget, solver)


def _ownership(
    title: str, parts: Mapping[str, Modes], elements: int, copies: int, budget: int, solver: Solver | None
) -> Outcome:
    first = {name: size(flat) for name, flat in parts.items()}
    second = {f"{name}2": n for name, n in first.items()}
    claim = _Ownership(title, first | second, tuple(parts.values()), elements, copies)
    if not all(power_of_two(s) for flat in claim.layouts for s, _ in flat):
        outcome = decide_obligations(claim.by_digits(), budget, solver, lambda _: {}, "integers, digit by digit")
        if outcome.status == "unsat":
            return outcome
    return decide(claim, budget, solver)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class _Ownership(BoxClaim):
    """The claim about two points, ``name`` and ``name2``; in plain Python a point is its rank in their order."""

    elements: int
    copies: int

    def pose(self, script: Script, at: Mapping[str, Term]) -> BoolTerm:
        first = [at[name] for name in self._names()]
        second = [at[f"{name}2"] for name in self._names()]
        here, there = (
            script.define(name, script.total(map(script.image, self.layouts, point)))
            for name, point in (("element", first), ("element2", second))
        )
        counted = script.term(self._repeats()) == self.copies
        counted = counted & (script.term(self._size()) == self.copies * self.elements)
        apart: BoolTerm | bool = False
        for flat, a, b in zip(self.layouts, first, second, strict=True):
            for (_, d), x, y in zip(flat, script.digits(flat, a), script.digits(flat, b), strict=True):
                apart = apart if d == 0 else (x != y) | apart
        return counted & (here >= 0) & (here < self.elements) & ((here != there) | (apart ^ True))

    def by_digits(self) -> list[Obligations]:
        """Return the same claim for two points by their digits, which lemmas of `mixed_radix` compare one by one."""
        problem = MixedRadixScript()
        here, there = (
            MixedRadix(
                tuple((problem.variable(f"d{n}_{which}", s), d) for n, (s, d) in enumerate(self._ranked_modes()) if d)
            )
            for which in "12"
        )
        problem.alike(here, there)
        x, y = problem.sum(here), problem.sum(there)
        goals = {
            "in bounds": (x >= 0) & (x < self.elements),
            "one owner": (x != y) | (problem.differ(here, there) ^ True),
        }
        text = {title: render(goal.expr) for title, goal in goals.items()}
        counts = (self._repeats(), self.copies), (self._size(), self.copies * self.elements)
        text["the number of owners"] = f"(and {' '.join(f'(= {a} {b})' for a, b in counts)})"
        return [problem.lemmas(), Obligations(f"; {self.title}\n{problem.spell_assumptions()}", text, "true")]

    def facts(self, point: Point) -> Point | None:
        first, second = (self._rank(point, suffix) for suffix in ("", "2"))
        element = value(self._ranked_modes(), first)
        if not 0 <= element < self.elements:
            return self._place(first) | {"element": element}
        if element != value(self._ranked_modes(), second) or self._owner(first) == self._owner(second):
            return None
        return self._place(first) | self._place(second, "2") | {"element": element}

    def points(self) -> int:
        return max(self.elements, self._size())

    def miscount(self) -> Point | None:
        if self._repeats() != self.copies:
            lowest = sum((s - 1) * min(d, 0) for s, d in self._ranked_modes())
            return {"element": lowest, "owners": self._repeats()}
        if self._size() != self.copies * self.elements:
            return {"points": self._size(), "elements": self.elements}
        return None

    def survey(self) -> Survey | None:
        elements = values(self._ranked_modes())
        owners = Counter(elements)
        wrong = {e for e, n in owners.items() if n != self.copies or not 0 <= e < self.elements}
        missing = [e for e in range(self.elements) if e not in owners]
        if not wrong and not missing:
            return None
        rank = next((r for r, e in enumerate(elements) if e in wrong), None)
        first = {"element": missing[0], "owners": 0} if rank is None else self._first(rank, elements, owners)
        return Survey(len(wrong) + len(missing), first)

    def _first(self, rank: int, elements: list[int], owners: Counter[int]) -> Point:
        """Return the facts at the first point that is an owner of a wrong element, with the next owner."""
        element, miscounted = elements[rank], self.miscount() is not None
        facts = self._place(rank)
        if 0 <= element < self.elements:
            rivals = (r for r, e in enumerate(elements) if e == element and r != rank)
            rival = next((r for r in rivals if miscounted or self._owner(r) != self._owner(rank)), None)
            facts |= {} if rival is None else self._place(rival, "2")
        facts["element"] = element
        return facts | {"owners": owners[element]} if miscounted else facts

    def _names(self) -> list[str]:
        return list(self.variables)[: len(self.layouts)]

    def _ranked_modes(self) -> Modes:
        """All modes, those of the last variable first: a point's rank is the index into them."""
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
        """Return the rank with every digit of stride 0 set to 0: points that differ only there share an element."""
        owner, unit = 0, 1
        for s, d in self._ranked_modes():
            rank, digit = divmod(rank, s)
            owner += digit * unit if d else 0
            unit *= s
        return owner

    def _repeats(self) -> int:
        return prod(s for s, d in self._ranked_modes() if d == 0)

    def _size(self) -> int:
        return size(self._ranked_modes())


def _owners(copies: int) -> str:
    return "one owner" if copies == 1 else f"{copies} owners"
