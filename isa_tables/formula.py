# SPDX-License-Identifier: Apache-2.0
"""The syntax tree of an ISA formula, and its value.

`formula_parser.parse` makes a tree from text, and keeps numbers and conditions separate. `evaluate` computes it on
anything that overloads Python's operators: ints, numpy arrays, symbolic terms.

    >>> tree = Conditional(BinaryOperation("<", Identifier("i"), Constant(2)), Constant(0), Constant(8))
    >>> [evaluate(tree, {"i": i}) for i in range(4)]
    [0, 0, 8, 8]
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple


class Constant(NamedTuple):
    """A literal, the value of a parameter, or the result of an operation on two constants."""

    value: int


class Identifier(NamedTuple):
    """%laneid, i, or a name that `let` defines."""

    name: str


class BinaryOperation(NamedTuple):
    """left op right: + - * // % & | ^ << >> < <= > >= == != of numbers, and or of conditions."""

    op: str
    left: Tree
    right: Tree


class Conditional(NamedTuple):
    """then if condition else otherwise."""

    condition: Tree
    then: Tree
    otherwise: Tree


class Opposite(NamedTuple):
    """not condition."""

    condition: Tree


Tree = Constant | Identifier | BinaryOperation | Conditional | Opposite


class Formula(NamedTuple):
    """A parsed formula: its text, its tree, and its outermost conditional as (value, condition) texts."""

    text: str
    tree: Tree
    pieces: tuple[tuple[str, str], ...]  # the last one's condition is ""
    signed: bool  # contains a subtraction, so it could be negative
    names: frozenset[str] = frozenset()  # that it mentions, parameters included

    def lines(self, name: str) -> list[str]:
        """`name = value` as lines, one for each piece, with its condition to the right."""
        if len(self.pieces) == 1:
            return [f"{name} = {self.text}"]
        width = max(len(value) for value, _ in self.pieces)
        starts = [f"{name} = ", *[" " * len(f"{name} = ")] * (len(self.pieces) - 1)]
        return [
            f"{start}{value:{width}}   {f'if {condition}' if condition else 'otherwise'}"
            for start, (value, condition) in zip(starts, self.pieces, strict=True)
        ]


OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "and": operator.and_,
    "or": operator.or_,
}


def where(condition: Any, then: Any, otherwise: Any) -> Any:
    """`then` where the condition holds, else `otherwise`; a term with `__where__(then, otherwise)` decides itself.

    >>> import numpy
    >>> where(True, 1, 2), where(numpy.array([True, False]), 1, 2).tolist()
    (1, [1, 2])
    """
    if isinstance(condition, bool):
        return then if condition else otherwise
    if hasattr(condition, "__where__"):
        return condition.__where__(then, otherwise)
    import numpy

    return numpy.where(condition, then, otherwise)


def evaluate(tree: Tree, values: Mapping[str, Any]) -> Any:
    """Return the value of a tree, a number or a truth value, where its names have these values."""
    if isinstance(tree, Identifier):
        return values[tree.name]
    if isinstance(tree, Constant):
        return tree.value
    if isinstance(tree, BinaryOperation):
        return OPERATORS[tree.op](evaluate(tree.left, values), evaluate(tree.right, values))
    condition = evaluate(tree.condition, values)
    if isinstance(tree, Opposite):
        return condition ^ True
    if isinstance(condition, bool):
        return evaluate(tree.then if condition else tree.otherwise, values)
    return where(condition, evaluate(tree.then, values), evaluate(tree.otherwise, values))
