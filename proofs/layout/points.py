# SPDX-License-Identifier: Apache-2.0
"""The claims about each point of one operand.

`prove_in_bounds`      every value of the layout is an element of the tile
`prove_equals`         the layout equals the formula of the ISA
`prove_right_inverse`  a given layout is a right inverse
`prove_product`        all threads of an atom work for one of the products of the instruction

>>> lanes, none = Layout.parse("32:1"), Layout.parse("1:0")
>>> layout = Layout.parse("((4,8),2):((16,1),8)")
>>> f = OperandLayout(layout, (8, 8), lanes, none, lambda l, i: (l // 4, l % 4 * 2 + i), 1)
>>> prove_in_bounds(f).status, prove_equals(f).status
('unsat', 'unsat')
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from layouts import Layout
from proofs.errors import ProblemError
from proofs.layout.modes import modes, size, value
from proofs.layout.operand import Locate, OperandLayout
from proofs.smt.engine import Solver
from proofs.smt.outcome import BUDGET, Outcome
from proofs.smt.script import Script, conjunction
from proofs.smt.solve import BoxClaim, Point, Survey, decide
from proofs.smt.term import BoolTerm, Term


def prove_in_bounds(f: OperandLayout, budget: int = BUDGET, solver: Solver | None = None) -> Outcome:
    """Prove 0 <= L(thread, value) < elements of the tile, for every thread and value. A point is a (thread, value)."""
    variables = {"thread": size(f.thread), "value": size(f.value)}
    return decide(_InBounds(f"in bounds: {f.onto}", variables, (f.thread, f.value), f.elements), budget, solver)


def prove_equals(f: OperandLayout, budget: int = BUDGET, solver: Solver | None = None) -> Outcome:
    """Prove that L(t, v) = x + extent[0] * y with (x, y) = locate(thr(t) + rep(q), v), a coordinate of the tile.

    This is claimed for every thread t, value v and replica q. A point is a (thread, value); it disagrees when any of
    its replicas does. Raises ProblemError when there is no formula, or ``thr`` does not have the threads of the layout.
    """
    if f.locate is None:
        raise ProblemError(f"no formula to compare {f.layout} with")
    thr, rep = f.lanes()
    variables = {"thread": size(f.thread), "value": size(f.value), "replica": size(rep)}
    title = f"equals the formula: {f.onto}, thr {f.thr}, rep {f.rep}"
    claim = _Equals(title, variables, (f.thread, f.value, thr, rep), f.extent, f.locate)
    return decide(claim, budget, solver)


def prove_right_inverse(
    f: OperandLayout, inverse: Layout, budget: int = BUDGET, solver: Solver | None = None
) -> Outcome:
    """Prove that R = ``inverse`` has the elements of the tile as its domain, and L(R(k)) = k for each element k.

    A point is an element k. The claim implies that L is onto.
    """
    flat = (*f.thread, *f.value)
    inv = modes(inverse)
    title = f"right inverse {inverse} of {f.onto}"
    return decide(_RightInverse(title, {"k": max(f.elements, size(inv))}, (inv, flat), f.elements), budget, solver)


def prove_product(
    f: OperandLayout, product: Callable[[Any], Any], budget: int = BUDGET, solver: Solver | None = None
) -> Outcome:
    """Prove product(thr(t) + rep(q)) = product(rep(q)) for every thread t and replica q.

    ``product`` gives, for a lane, the number of the product it works for, when an instruction computes several
    independent ones: all logical threads of an atom must work for the same one. A point is a (thread, replica).
    """
    thr, rep = f.lanes()
    title = f"one product: thr {f.thr}, rep {f.rep}"
    claim = _OneProduct(title, {"thread": size(thr), "replica": size(rep)}, (thr, rep), product)
    return decide(claim, budget, solver)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class _InBounds(BoxClaim):
    elements: int

    def pose(self, script: Script, at: Mapping[str, Term]) -> BoolTerm:
        thread, values = self.layouts
        element = script.define("element", script.image(thread, at["thread"]) + script.image(values, at["value"]))
        return (element >= 0) & (element < self.elements)

    def facts(self, point: Point) -> Point | None:
        thread, values = self.layouts
        element = value(thread, point["thread"]) + value(values, point["value"])
        return None if 0 <= element < self.elements else {**point, "element": element}


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class _Equals(BoxClaim):
    extent: tuple[int, int]
    locate: Locate

    def pose(self, script: Script, at: Mapping[str, Term]) -> BoolTerm:
        thread, values, thr, rep = self.layouts
        element = script.define("element", script.image(thread, at["thread"]) + script.image(values, at["value"]))
        lane = script.define("lane", script.image(thr, at["thread"]) + script.image(rep, at["replica"]))
        place = self.locate(lane, at["value"])
        x, y = (script.define(name, c) for name, c in zip(("x", "y"), place, strict=True))
        inside = [x >= 0, x < self.extent[0], y >= 0, y < self.extent[1]]
        return conjunction([*inside, x + self.extent[0] * y == element])

    def facts(self, point: Point) -> Point | None:
        thread, values, thr, rep = self.layouts
        element = value(thread, point["thread"]) + value(values, point["value"])
        lane = value(thr, point["thread"]) + value(rep, point["replica"])
        x, y = self.locate(lane, point["value"])
        rows, columns = self.extent
        if 0 <= x < rows and 0 <= y < columns and x + rows * y == element:
            return None
        return {**point, "lane": lane, "element": element, "x": int(x), "y": int(y)}

    def survey(self) -> Survey | None:
        points = self.disagreements()
        return Survey(len({(p["thread"], p["value"]) for p in points}), points[0]) if points else None


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class _RightInverse(BoxClaim):
    elements: int

    def pose(self, script: Script, at: Mapping[str, Term]) -> BoolTerm:
        inverse, flat = self.layouts
        k = at["k"]
        index = script.define("index", script.image(inverse, k))
        inside = [k < self.elements, k < size(inverse), index >= 0, index < size(flat)]
        if index.lo < 0:  # L has no value there: the claim is false whatever value is used instead
            index = Term((index >= 0).__where__(index, 0).expr, 0, max(index.hi, 0), index.width)
        return conjunction([*inside, script.define("element", script.image(flat, index)) == k])

    def facts(self, point: Point) -> Point | None:
        inverse, flat = self.layouts
        k = point["k"]
        if k >= size(inverse):
            return point
        index = value(inverse, k)
        if not 0 <= index < size(flat):
            return {**point, "index": index}
        element = value(flat, index)
        return None if element == k < self.elements else {**point, "index": index, "element": element}


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class _OneProduct(BoxClaim):
    product: Callable[[Any], Any]

    def pose(self, script: Script, at: Mapping[str, Term]) -> BoolTerm:
        thr, rep = self.layouts
        offset = script.image(rep, at["replica"])
        here = script.term(self.product(script.define("lane", script.image(thr, at["thread"]) + offset)))
        return here == script.term(self.product(script.define("lane0", offset)))

    def facts(self, point: Point) -> Point | None:
        thr, rep = self.layouts
        offset = value(rep, point["replica"])
        lane = value(thr, point["thread"]) + offset
        here, there = int(self.product(lane)), int(self.product(offset))
        return None if here == there else {**point, "lane": lane, "product": here, "product0": there}
