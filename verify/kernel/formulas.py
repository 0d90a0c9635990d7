# SPDX-License-Identifier: Apache-2.0
"""The function that a kernel computes for one element, written as a claim would write it, beside the claim's.

Two functions that were not shown to be equal or different are shown with their constants. The CTA that wrote the
element is run again on values that note of what each was made; long sums and deep terms are cut with "…".
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from isa_tables.formula import BinaryOperation, Constant, Identifier, Tree
from verify.kernel.claims.expression import Apply, ClaimNumber, Element, Node, Scalar, Sum
from verify.kernel.claims.written import spell_node
from verify.kernel.comparison import Comparison
from verify.kernel.data import levels
from verify.kernel.data.histories import History
from verify.kernel.data.values import FIRST, Ids, Values
from verify.kernel.interpretation import Interpretation, Missing
from verify.kernel.state.findings import Finding, Severity, Unclear

DEPTH, TERMS, NODES = 8, 3, 60  # that are written: of one formula in another, of one sum, and of all
CUT = Scalar("…")


class NotingValues(Values):
    """Values that note of what each was made."""

    def __init__(self, seed: int, exponents: bool) -> None:
        super().__init__(seed, exponents=exponents)
        self.starts: list[int] = []  # the first ids of operations, ascending
        self.ends: list[int] = []
        self.made: list[Callable[[int, _FormulaWriter, int], Node]] = []  # how the value of a place in one is written

    def _note(self, ids: Ids, write: Callable[[int, _FormulaWriter, int], Node]) -> None:
        first = int(ids.flat[0]) if ids.size else 0
        if (
            ids.size
            and ids.flat[-1] - first == ids.size - 1
            and first >= FIRST
            and (not self.starts or first > self.starts[-1])
        ):
            self.starts.append(first)
            self.ends.append(first + ids.size)
            self.made.append(write)

    def field(self, tree: Tree, roles: Sequence[str], operands: Sequence[Ids], kind: str, narrows: str = "") -> Ids:
        """Return the ids of a formula's results, and note the formula."""
        made = super().field(tree, roles, operands, kind, narrows)
        spread = dict(zip(roles, (np.broadcast_to(each.ravel(), made.size) for each in operands), strict=True))
        self._note(made, lambda at, writer, depth: writer.tree(tree, {k: int(v[at]) for k, v in spread.items()}, depth))
        return made

    def with_histories(self, key: Any, ids: Ids, rule: Callable[[Sequence[History]], History], kind: str) -> Ids:
        """Return the ids of the same values with other histories, and note which they are."""
        made, old = super().with_histories(key, ids, rule, kind), ids.ravel()
        self._note(made, lambda at, writer, depth: writer.value(int(old[at]), depth))
        return made

    def product(self, a: Ids, b: Ids, c: Ids, kind: str, narrows: str = "", clamps: bool = False) -> Ids:
        """Return the ids of a * b + c, and note the rows, the columns and the addends."""
        made = super().product(a, b, c, kind, narrows, clamps)

        def write(at: int, writer: _FormulaWriter, depth: int) -> Node:
            stack, row, column = np.unravel_index(at, made.shape)
            pairs = zip(a[stack, row].tolist(), b[stack, :, column].tolist(), strict=True)
            return writer.sum([*pairs], int(c[stack, row, column]), depth)

        self._note(made, write)
        return made

    def apply(self, name: str, ids: Sequence[Ids], kind: str, opaque: int) -> Ids:
        """Return the ids of a function's values, and note its arguments."""
        made = super().apply(name, ids, kind, opaque)
        flat = [np.broadcast_to(each, made.shape).ravel() for each in ids]

        def write(at: int, writer: _FormulaWriter, depth: int) -> Node:
            return Apply(name, tuple(writer.value(int(each[at]), depth - 1) for each in flat))

        self._note(made, write)
        return made


class _FormulaWriter:
    """The writer of one value's formula; what goes beyond its room is cut."""

    def __init__(self, run: Interpretation, values: NotingValues) -> None:
        self.run, self.values, self.room = run, values, NODES

    def value(self, number: int, depth: int) -> Node:
        """Return the formula of a value by its id."""
        self.room -= 1
        if number < FIRST:
            return CUT
        history = self.values.histories[int(self.values.history[number])]
        if history.level:
            return Scalar("inf" if history.level == levels.ABOVE else "-inf")
        if not history.degree:
            return ClaimNumber(Fraction(float(self.values.sample[number])))
        for region in self.run.regions:
            if 0 <= number - region.first < len(region.places):
                name, _, indices = region.array.element(number - region.first).removesuffix("]").partition("[")
                return Element(name, tuple(indices.split(",")))
        place = bisect_right(self.values.starts, number) - 1
        if place < 0 or number >= self.values.ends[place] or depth <= 0 or self.room <= 0:
            return CUT
        return self.values.made[place](number - self.values.starts[place], self, depth)

    def tree(self, tree: Tree, named: Mapping[str, int], depth: int) -> Node:
        """Return a formula of the opcode tables with the formulas of its operands."""
        if isinstance(tree, Identifier):
            return self.value(named[tree.name], depth - 1)
        if isinstance(tree, Constant):
            return ClaimNumber(Fraction(tree.value))
        if not isinstance(tree, BinaryOperation) or tree.op not in "+-*":
            return CUT
        return combine(tree.op, *(self.tree(part, named, depth) for part in (tree.left, tree.right)))

    def sum(self, pairs: list[tuple[int, int]], addend: int, depth: int) -> Node:
        """Return a sum of products and an addend; of many products the first and the last."""
        shown = [*pairs[:1], *pairs[-1:]] if len(pairs) > TERMS else pairs
        terms: list[Node] = [combine("*", *(self.value(each, depth - 1) for each in pair)) for pair in shown]
        if len(shown) < len(pairs):
            terms.insert(1, CUT)
        total = self.value(addend, depth - 1)
        for term in terms:
            total = combine("+", total, term)
        return total


def combine(sign: str, left: Node, right: Node) -> Node:
    """Return a sum, a difference or a product without a zero or one that changes nothing.

    >>> spell_node(combine("+", ClaimNumber(Fraction(0)), combine("*", Element("A", ("k",)), ClaimNumber(Fraction(1)))))
    'A[k]'
    """
    zero, unit = ClaimNumber(Fraction(0)), ClaimNumber(Fraction(1))
    if sign == "*" and zero in (left, right):
        return zero
    if right == (unit if sign == "*" else zero):
        return left
    if left == unit and sign == "*":
        return right
    if left == zero and sign == "+":
        return right
    if left == CUT == right and sign != "-":
        return CUT
    return Apply(sign, (left, right))


def place_claim(node: Node, at: Mapping[str, int], numbers: Mapping[str, Fraction]) -> Node:
    """Return a claim's tree for one element, its scalars as numbers."""
    if isinstance(node, Scalar):
        value = numbers.get(node.name, at.get(node.name))
        return node if value is None else ClaimNumber(Fraction(value))
    if isinstance(node, Element):
        return Element(node.name, tuple(f"{index}={at[index]}" if index in at else index for index in node.indices))
    if isinstance(node, Sum):
        return Sum(node.index, place_claim(node.body, at, numbers))
    if isinstance(node, Apply):
        return Apply(node.name, tuple(place_claim(part, at, numbers) for part in node.parts))
    return node


def compare_functions(run: Interpretation, comparison: Comparison, seed: int, budget: int) -> Finding:
    """Return the finding of elements that were not shown to be equal or different, with both functions."""
    open_ = np.flatnonzero(comparison.vague)
    first = int(open_[0])
    at: Any = np.unravel_index(first, comparison.array.shape)
    places = dict(zip(run.launch.target.indices, map(int, at), strict=True))
    wanted = spell_node(place_claim(run.launch.value, places, run.launch.scalars))
    computed = _write_computed(run, comparison, first, seed, budget)
    text = (
        f"{comparison.array.element(first)} and {len(open_) - 1} others are functions that were not shown to be equal "
    )
    text += f"or different: the kernel computes {computed}, and the claim is {wanted}"
    return Finding("functions", Severity.UNKNOWN, 0, text)


def _write_computed(run: Interpretation, comparison: Comparison, first: int, seed: int, budget: int) -> str:
    """Return what the kernel computes for an element, by another run of the CTA that wrote it."""
    assert comparison.region.stored is not None
    place = int(comparison.region.places[first]) * comparison.region.size
    cta = int(comparison.region.stored.writer[place]) // run.machine.threads
    values = NotingValues(seed, bool(run.values.pairs))
    again = Interpretation(run.kernel, run.launch, values, budget, {})
    try:
        again.interpret(cta)
    except (Unclear, Missing):
        return str(CUT.name)
    stored = again.regions[comparison.region.number].stored
    assert stored is not None
    return spell_node(_FormulaWriter(again, values).value(int(stored.labels[place]) >> 3, DEPTH))
