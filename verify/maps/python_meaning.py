# SPDX-License-Identifier: Apache-2.0
"""The meaning of Python: an expression as a function of integers without a width.

`//` and `%` round down, `/` gives a float, comparisons chain, `and` and `or` give one of their operands. A value beyond
64 bits is an `Undefined`: an index never needs it, and a hostile text could fill the memory.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeAlias

from verify.maps.c_meaning import Undefined
from verify.maps.tree import Binary, Call, Cast, Compare, ExpressionError, Name, Number, Ternary, Tree, Unary

Values: TypeAlias = "Mapping[str, Any]"
Function: TypeAlias = Callable[[Values], Any]
LARGEST = 1 << 64
OPERATIONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "&": operator.and_, "|": operator.or_, "^": operator.xor, "<<": operator.lshift,
    ">>": operator.rshift, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
UNARY: Mapping[str, Callable[[Any], Any]] = {
    "-": operator.neg,
    "+": operator.pos,
    "~": operator.inv,
    "!": operator.not_,
}
CALLS: Mapping[str, Callable[..., Any]] = {"min": min, "max": max, "abs": abs}


def meaning(tree: Tree, names: Collection[str], text: str) -> Function:
    """Return the value of an expression as a function of the values of its names.

    >>> from verify.maps.syntax import PYTHON, parse
    >>> value = meaning(parse("(lane - 9) // 4 if 0 <= lane < 32 else -1", PYTHON).result, {"lane"}, "")
    >>> value({"lane": 3}), value({"lane": 32})
    (-2, -1)

    Raises ExpressionError for an unknown name; the function raises Undefined.
    """
    match tree:
        case Number(value=number):
            return lambda _: number
        case Name(name=name):
            if name not in names:
                raise ExpressionError(f"unknown name {name!r}", text, tree.start)
            return lambda values: values[name]
    parts = [meaning(part, names, text) for part in tree.parts]
    words = " ".join(text[tree.start : tree.end].split())
    return _choosing(tree, parts) or _check_result(_computing(tree, parts), words)


def _choosing(tree: Tree, parts: list[Function]) -> Function | None:
    """Return the value of what evaluates only some of its parts; None for anything else."""
    match tree:
        case Ternary():
            test, then, otherwise = parts
            return lambda values: then(values) if test(values) else otherwise(values)
        case Binary(op="&&"):
            return lambda values: parts[0](values) and parts[1](values)
        case Binary(op="||"):
            return lambda values: parts[0](values) or parts[1](values)
        case Compare(ops=ops):
            return _chain(parts, ops)
    return None


def _computing(tree: Tree, parts: list[Function]) -> Function:
    """Return the value of an operation on all its parts."""
    match tree:
        case Binary(op=op):
            return lambda values: _operate(op, parts[0](values), parts[1](values))
        case Unary(op=op):
            return lambda values: UNARY[op](parts[0](values))
        case Cast():
            return lambda values: int(parts[0](values))
        case Call(function=function):
            return lambda values: CALLS[function](*(part(values) for part in parts))
    raise TypeError(type(tree).__name__)


def _chain(parts: list[Function], ops: list[str]) -> Function:
    """Whether a < b < c: a < b and b < c, without the rest after the first that fails."""

    def compare(values: Values) -> bool:
        left = parts[0](values)
        for op, part in zip(ops, parts[1:], strict=True):
            right = part(values)
            if not OPERATIONS[op](left, right):
                return False
            left = right
        return True

    return compare


def _operate(op: str, left: Any, right: Any) -> Any:
    if op == "<<" and isinstance(right, int) and right > 64 and left:
        raise OverflowError(f"a shift by {right}")
    return OPERATIONS[op](left, right)


def _check_result(function: Function, words: str) -> Function:
    """Return the function; Python's errors are Undefined, and a value beyond 64 bits too."""

    def check(values: Values) -> Any:
        try:
            value = function(values)
        except ZeroDivisionError:
            raise Undefined(f"division by zero in {words}") from None
        except (TypeError, ValueError, OverflowError) as error:
            raise Undefined(f"{error} in {words}") from None
        if not -LARGEST < value < LARGEST:
            raise Undefined(f"a value of more than 64 bits in {words}")
        return value

    return check
