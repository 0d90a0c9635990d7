# SPDX-License-Identifier: Apache-2.0
"""Formulas of the ledger as text: integer arithmetic, comparisons and `a if c else b`.

This evaluator is deliberately not that of the ISA tables, since claims are compared with these tables.
"""

from __future__ import annotations

import ast
import operator
from functools import cache
from typing import Any

BINARY = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
COMPARE = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def compute(text: str, **names: Any) -> Any:
    """The value of a formula where its names have these values.

    >>> compute("lane % 4 if lane < 16 else lane % 4 + 4", lane=21)
    5
    """
    return _value(_parsed(text.strip()), names)


@cache
def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _value(node: ast.expr, names: dict[str, Any]) -> Any:
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.Name(id=name):
            return names[name]
        case ast.BinOp(left=left, op=op, right=right):
            return BINARY[type(op)](_value(left, names), _value(right, names))
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return COMPARE[type(op)](_value(left, names), _value(right, names))
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return _value(body if _value(test, names) else orelse, names)
    raise ValueError(f"{ast.unparse(node)}: not in the language of the ledger's formulas")
