# SPDX-License-Identifier: Apache-2.0
"""The formulas of the laws: one text, translated to SMT-LIB for the solvers and evaluated on Python integers.

The language is Python's expression syntax over integers: names, integer literals, ``+ - * // %``, comparisons (also
chained), ``and or not``, ``a if c else b``, ``implies(p, q)`` and applications ``f(x)``. Over bit-vectors it also has
``& | ^ ~ << >>``, all unsigned and modulo 2**width.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import TypeAlias

from proofs.errors import ProblemError

Node: TypeAlias = "int | str | tuple[str | Node, ...]"
Value: TypeAlias = "int | bool"
Table: TypeAlias = "Callable[..., int]"


class LawFormulaError(ProblemError):
    """A text that is not a formula, or a formula without a meaning. The message quotes the text."""


_BINARY: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.And: "and", ast.Or: "or", ast.Not: "not", ast.USub: "neg", ast.Invert: "~",
}  # fmt: skip
_INT = {
    "==": "=", "!=": "distinct", "//": "div", "%": "mod", "neg": "-", "implies": "=>", "if": "ite",
}  # fmt: skip
_BITS = {
    "+": "bvadd", "-": "bvsub", "*": "bvmul", "&": "bvand", "|": "bvor", "^": "bvxor", "~": "bvnot",
    "<<": "bvshl", ">>": "bvlshr", "<": "bvult", "<=": "bvule", ">": "bvugt", ">=": "bvuge",
    "//": "bvudiv", "%": "bvurem", "neg": "bvneg", "==": "=", "!=": "distinct", "implies": "=>", "if": "ite",
}  # fmt: skip
OPERATORS = frozenset(_BITS) | {"and", "or", "not", "call"}


def parse(text: str) -> Node:
    """Return the tree of a formula.

    >>> parse("x % (a*b) < a*b")
    ('<', ('%', 'x', ('*', 'a', 'b')), ('*', 'a', 'b'))

    Raises FormulaError, with the text and the column, when the text is not in the language.
    """
    try:
        return _node(ast.parse(text.strip(), mode="eval").body, text)
    except SyntaxError as error:
        raise LawFormulaError(f"{text!r}: {error.msg} at column {error.offset}") from error


def _node(tree: ast.expr, text: str) -> Node:
    if isinstance(tree, ast.Name):
        return tree.id
    if isinstance(tree, ast.Constant) and type(tree.value) is int:
        return tree.value
    compound = _compound(tree, lambda part: _node(part, text))
    if compound is None:
        raise LawFormulaError(
            f"{text!r}: {ast.unparse(tree)!r} at column {tree.col_offset + 1} is not in the language of formulas"
        )
    return compound


def _compound(tree: ast.expr, down: Callable[[ast.expr], Node]) -> Node | None:
    node: Node | None = None
    if isinstance(tree, ast.BinOp) and type(tree.op) in _BINARY:
        node = (_BINARY[type(tree.op)], down(tree.left), down(tree.right))
    elif isinstance(tree, ast.UnaryOp) and type(tree.op) in _BINARY:
        node = (_BINARY[type(tree.op)], down(tree.operand))
    elif isinstance(tree, ast.BoolOp):
        node = (_BINARY[type(tree.op)], *map(down, tree.values))
    elif isinstance(tree, ast.IfExp):
        node = ("if", down(tree.test), down(tree.body), down(tree.orelse))
    elif isinstance(tree, ast.Compare) and all(type(op) in _BINARY for op in tree.ops):
        sides = [down(tree.left), *map(down, tree.comparators)]
        parts = [(_BINARY[type(op)], *pair) for op, pair in zip(tree.ops, pairwise(sides), strict=True)]
        node = parts[0] if len(parts) == 1 else ("and", *parts)
    elif isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and not tree.keywords:
        head = ("implies",) if tree.func.id == "implies" else ("call", tree.func.id)
        node = (*head, *map(down, tree.args))
    return node


def substitute(node: Node, by: Mapping[str, Node]) -> Node:
    """Return the tree with variables replaced by trees; the names of applied functions are kept.

    >>> substitute(parse("f(x) + y"), {"x": 3, "f": "g"})
    ('+', ('call', 'f', 3), 'y')
    """
    if isinstance(node, str):
        return by.get(node, node)
    if isinstance(node, int):
        return node
    keep = 2 if node[0] == "call" else 1
    return (*node[:keep], *(substitute(child, by) for child in node[keep:]))


def expand(node: Node, macros: Mapping[str, tuple[tuple[str, ...], Node]]) -> Node:
    """Return the tree with each application of a macro replaced by the body of the macro.

    >>> expand(parse("f(3) + y"), {"f": (("x",), parse("x * x"))})
    ('+', ('*', 3, 3), 'y')

    Raises FormulaError when a macro is applied to a wrong number of arguments.
    """
    if not isinstance(node, tuple):
        return node
    keep = 2 if node[0] == "call" else 1
    children = tuple(expand(child, macros) for child in node[keep:])
    if node[0] == "call" and node[1] in macros:
        parameters, body = macros[str(node[1])]
        if len(parameters) != len(children):
            raise LawFormulaError(f"{node[1]} takes {len(parameters)} arguments, not {len(children)}")
        return substitute(body, dict(zip(parameters, children, strict=True)))
    return (*node[:keep], *children)


def walk(node: Node) -> Iterator[Node]:
    """Every subtree, the tree itself first."""
    yield node
    if isinstance(node, tuple):
        for child in node[2 if node[0] == "call" else 1 :]:
            yield from walk(child)


def conjunction(nodes: tuple[Node, ...]) -> Node:
    """Return the conjunction of some formulas; true for none."""
    return nodes[0] if len(nodes) == 1 else ("and", *nodes)


def smt(node: Node, bits: int | None = None) -> str:
    """Return the SMT-LIB text, over integers or over vectors of ``bits`` bits.

    >>> smt(parse("x // a != y")), smt(parse("x >> 3"), 32)
    ('(distinct (div x a) y)', '(bvlshr x (_ bv3 32))')
    """
    if isinstance(node, int):
        if bits is not None:
            return f"(_ bv{node % (1 << bits)} {bits})"
        return str(node) if node >= 0 else f"(- {-node})"
    if isinstance(node, str):
        return node
    head, *rest = node
    if head == "call":
        return f"({rest[0]} {' '.join(smt(x, bits) for x in rest[1:])})"
    if head in ("and", "or") and not rest:
        return "true" if head == "and" else "false"
    name = (_INT if bits is None else _BITS).get(str(head), str(head))
    return f"({name} {' '.join(smt(x, bits) for x in rest)})"


def evaluate(node: Node, at: Mapping[str, int], functions: Mapping[str, Table], bits: int | None = None) -> Value:
    """Return the value of the formula in Python integers; with ``bits`` modulo 2**bits.

    >>> evaluate(parse("f(x) % 4 == 3"), {"x": 5}, {"f": lambda x: x + 2})
    True
    """
    if isinstance(node, int):
        return node
    if isinstance(node, str):
        return at[node]
    head, *rest = node
    if head == "call":
        return functions[str(rest[0])](*(int(evaluate(x, at, functions, bits)) for x in rest[1:]))
    if head in ("and", "or", "implies", "if"):
        return _lazily(str(head), rest, lambda x: evaluate(x, at, functions, bits))
    values = [evaluate(x, at, functions, bits) for x in rest]
    result = _PYTHON[str(head)](*values)
    return result if bits is None or isinstance(result, bool) else result % (1 << bits)


def _lazily(head: str, parts: list[str | Node], value: Callable[[Node], Value]) -> Value:
    if head == "and":
        return all(value(p) for p in parts)
    if head == "or":
        return any(value(p) for p in parts)
    if head == "implies":
        return not value(parts[0]) or bool(value(parts[1]))
    return value(parts[1]) if value(parts[0]) else value(parts[2])


_PYTHON: dict[str, Callable[..., Value]] = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
    "//": lambda a, b: a // b, "%": lambda a, b: a % b, "neg": lambda a: -a, "not": lambda a: not a,
    "&": lambda a, b: a & b, "|": lambda a, b: a | b, "^": lambda a, b: a ^ b, "~": lambda a: ~a,
    "<<": lambda a, b: a << b if b < 1 << 10 else 0, ">>": lambda a, b: a >> b,
    "==": lambda a, b: a == b, "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
}  # fmt: skip


_LOOSE = {"implies": 0, "if": 1, "or": 2, "and": 3, "not": 4}
_TIGHT = {"|": 6, "^": 7, "&": 8, "<<": 9, ">>": 9, "+": 10, "-": 10, "*": 11, "//": 11, "%": 11, "neg": 12, "~": 12}


def text(node: Node, outer: int = -1) -> str:
    """Return the text of the formula, with no more parentheses than it needs.

    >>> text(parse("(x//a) % b == (x % (a*b)) // a"))
    'x // a % b == x % (a * b) // a'
    """
    if not isinstance(node, tuple):
        return str(node)
    head, *rest = node
    if head in ("call", "implies"):
        name, parts = (str(rest[0]), rest[1:]) if head == "call" else (head, rest)
        return f"{name}({', '.join(text(x) for x in parts)})"
    level = _LOOSE.get(str(head), _TIGHT.get(str(head), 5))
    if head == "if":
        shown = f"{text(rest[1], 2)} if {text(rest[0], 2)} else {text(rest[2], 1)}"
    elif len(rest) == 1:
        shown = {"neg": "-", "not": "not "}.get(str(head), str(head)) + text(rest[0], level)
    elif head in ("and", "or"):
        shown = f" {head} ".join(text(x, level + 1) for x in rest) or str(head == "and")
    else:
        shown = f"{text(rest[0], level)} {head} {text(rest[1], level + 1)}"
    return f"({shown})" if level < outer else shown
