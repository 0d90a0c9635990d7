# SPDX-License-Identifier: Apache-2.0
"""The parser of formulas: Python's syntax tree, through a whitelist, to the typed tree of `isa_tables.formula`.

Rejected with the column: names and calls that are not declared, divisors and shifts that are not positive
constants, a bit operator beside a comparison without brackets, C's operators (the message names Python's).

Main declarations: `parse(text, names)` returns a `Formula` or raises `FormulaError`; `parse_in(file, key, ...)` does
the same for a key of a table file and raises `TableError`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache, partial, reduce

from isa_tables.errors import TableError
from isa_tables.formula import OPERATORS, BinaryOperation, Conditional, Constant, Formula, Identifier, Opposite, Tree
from isa_tables.schema import NAME

# Far above any formula of the ISA: they bound what an edited table can cost.
MAX_BYTES = 4096
MAX_DEPTH = 64
MAX_SHIFT = 31  # bits: the formulas of the ISA compute with integers of 32 bits
LIMIT = 1 << 31  # every constant is below it in magnitude


class FormulaError(ValueError):
    """A formula outside the language; `column` counts from 1."""

    def __init__(self, reason: str, text: str, column: int) -> None:
        self.reason, self.text, self.column = reason, text, column
        super().__init__(f"{reason} at column {column}\n  {text}\n  {' ' * (column - 1)}^")


_SYMBOL: Mapping[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.And: "and",
    ast.Or: "or",
}
# C's operator -> Python's. The single = is what the ISA prints for equality.
_NOT_OURS = re.compile(r"&&|\|\||!(?!=)|\?|(?<!/)/(?!/)|(?<![<>=!])=(?!=)")
_PYTHON = {"&&": "and", "||": "or", "!": "not", "?": "a if c else b", "/": "//", "=": "=="}


def parse(
    text: str, names: Mapping[str, bool], constants: Mapping[str, int] | None = None, condition: bool = False
) -> Formula:
    """Return the formula of a text, a number or a condition. `names` maps each name it may use to "could be negative".

    Raises FormulaError for anything outside the language, pointing at the column.

        >>> parse("i & 0x1 if i < 2 else (i & 0x1) + 8", {"i": False}).pieces
        (('i & 0x1', 'i < 2'), ('(i & 0x1) + 8', ''))
    """
    _check_text(text)
    source = text.replace("%laneid", "_laneid")  # same length: columns stay
    try:
        root = ast.parse(source, mode="eval").body
    except SyntaxError as error:
        column = min(error.offset or len(text) + 1, len(text) + 1)  # Python gives 0 at the text's end
        raise FormulaError(f"not a formula ({error.msg})", text, column) from None
    except (ValueError, MemoryError, RecursionError) as error:
        raise FormulaError(f"not a formula ({type(error).__name__})", text, 1) from None
    reader = _FormulaReader(text, names, constants or {})
    pieces = tuple(_pieces(text, root))
    if condition:
        return Formula(text, reader.condition(root, 1), pieces, False, frozenset(reader.seen))
    tree = reader.number(root, 1)
    return Formula(text, tree, pieces, reader.is_signed(tree), frozenset(reader.seen))


def parse_in(file: str, key: str, text: str, names: Mapping[str, bool], constants: Mapping[str, int]) -> Formula:
    """Return the formula of a table file's key: a condition where the key is an operand's `holds`, else a number.

    Raises TableError with file, key and column where the text is not in the language.
    """
    condition, words = key.endswith(".holds") and ".let." not in key, set(NAME.findall(text))
    used = tuple((name, value) for name, value in constants.items() if name in words)
    with suppress(FormulaError):
        return _parse_once(text, tuple(names.items()), used, condition)
    try:
        return parse(text, names, constants, condition)
    except FormulaError as error:
        raise TableError(file, key, error.reason, error.text, error.column) from None


@lru_cache(maxsize=1 << 12)
def _parse_once(
    text: str, names: tuple[tuple[str, bool], ...], constants: tuple[tuple[str, int], ...], condition: bool
) -> Formula:
    """Return a formula, parsed once for all members of a family on whose parameters it does not depend."""
    return parse(text, dict(names), dict(constants), condition)


def _check_text(text: str) -> None:
    if len(text.encode()) > MAX_BYTES:
        raise FormulaError(f"longer than {MAX_BYTES} bytes", text[:40] + "...", 1)
    depth = 0
    for column, char in enumerate(text, 1):
        if not (char.isascii() and char.isprintable()) or char in "#\\":
            raise FormulaError(f"the character {char!r} has no place in a formula", text, column)
        depth += (char == "(") - (char == ")")
        if depth > MAX_DEPTH:
            raise FormulaError(f"nested deeper than {MAX_DEPTH}", text, column)
    foreign = _NOT_OURS.search(text)
    if foreign:
        operator = foreign.group()
        reason = f"{operator!r} is not in the language: write {_PYTHON[operator]!r}"
        raise FormulaError(reason, text, foreign.start() + 1)


def _span(text: str, node: ast.expr) -> tuple[int, int, bool]:
    """Where the node begins and ends in the text, brackets around it included, and whether it has any."""
    start, end, bracketed = node.col_offset, node.end_col_offset or len(text), False
    while True:
        before, after = text[:start].rstrip(), text[end:].lstrip()
        if not (before.endswith("(") and after.startswith(")")):
            return start, end, bracketed
        start, end, bracketed = len(before) - 1, len(text) - len(after) + 1, True


def _pieces(text: str, node: ast.expr) -> list[tuple[str, str]]:
    pieces = []
    while isinstance(node, ast.IfExp):
        (a, b, _), (c, d, _) = _span(text, node.body), _span(text, node.test)
        pieces.append((text[a:b], text[c:d]))
        node = node.orelse
    start, end, _ = _span(text, node)
    return [*pieces, (text[start:end], "")]


class _FormulaReader:
    """The whitelist: turns Python's syntax tree into the typed tree, or raises FormulaError."""

    def __init__(self, text: str, names: Mapping[str, bool], constants: Mapping[str, int]) -> None:
        self.text, self.names, self.constants = text, names, constants
        self.seen: set[str] = set()

    def error(self, reason: str, node: ast.expr) -> FormulaError:
        return FormulaError(reason, self.text, node.col_offset + 1)

    def number(self, node: ast.expr, depth: int) -> Tree:
        if depth > MAX_DEPTH:
            raise self.error(f"nested deeper than {MAX_DEPTH}", node)
        match node:
            case ast.Constant(value=int(value)) if not isinstance(value, bool):
                return self.constant(value, node)
            case ast.Name(id=name):
                return self.name(name, node)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _SYMBOL:
                return self.arithmetic(
                    _SYMBOL[type(op)], self.number(left, depth + 1), self.number(right, depth + 1), node
                )
            case ast.IfExp(test=test, body=body, orelse=orelse):
                condition = self.condition(test, depth + 1)
                return Conditional(condition, self.number(body, depth + 1), self.number(orelse, depth + 1))
            case ast.Compare() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
                raise self.error("expected a number, found a condition", node)
        raise self.error(f"{type(node).__name__} is not in the language", node)

    def constant(self, value: int, node: ast.expr) -> Constant:
        if not -LIMIT < value < LIMIT:
            raise self.error("a constant of 32 bits or more", node)
        return Constant(value)

    def name(self, name: str, node: ast.expr) -> Tree:
        name = "%laneid" if self.text.startswith("%laneid", node.col_offset) else name
        self.seen.add(name)
        if name in self.constants:
            return self.constant(self.constants[name], node)
        if name in self.names:
            return Identifier(name)
        known = ", ".join([*self.names, *self.constants])
        raise self.error(f"unknown name {name!r} (known here: {known})", node)

    def arithmetic(self, op: str, left: Tree, right: Tree, node: ast.BinOp) -> Tree:
        if op in ("//", "%", "<<", ">>"):
            self.check_right(op, right, node.right)
        if op in ("//", "%", ">>") and self.is_signed(left):
            raise self.error(f"the left side of {op!r} contains a subtraction: C and Python may differ", node)
        if isinstance(left, Constant) and isinstance(right, Constant):
            return self.constant(OPERATORS[op](left.value, right.value), node)
        return BinaryOperation(op, left, right)

    def check_right(self, op: str, right: Tree, node: ast.expr) -> None:
        if not isinstance(right, Constant):
            raise self.error(f"the right side of {op!r} must be a constant", node)
        if op in ("//", "%") and right.value <= 0:
            raise self.error(f"the right side of {op!r} must be positive", node)
        if op in ("<<", ">>") and not 0 <= right.value <= MAX_SHIFT:
            raise self.error(f"a shift must be by 0..{MAX_SHIFT}", node)

    def is_signed(self, tree: Tree) -> bool:
        match tree:
            case Constant(value):
                return value < 0
            case Identifier(name):
                return self.names[name]
            case BinaryOperation(op, left, right):
                return op == "-" or self.is_signed(left) or self.is_signed(right)
            case Conditional(_, then, otherwise):
                return self.is_signed(then) or self.is_signed(otherwise)
            case Opposite():
                return False

    def condition(self, node: ast.expr, depth: int) -> Tree:
        if depth > MAX_DEPTH:
            raise self.error(f"nested deeper than {MAX_DEPTH}", node)
        match node:
            case ast.Compare():
                return self.comparison(node, depth)
            case ast.BoolOp(op=op, values=values):
                conditions = [self.condition(value, depth + 1) for value in values]
                return reduce(partial(BinaryOperation, _SYMBOL[type(op)]), conditions)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return Opposite(self.condition(operand, depth + 1))
        raise self.error("expected a condition, found a number", node)

    def comparison(self, node: ast.Compare, depth: int) -> Tree:
        operands = [node.left, *node.comparators]
        for side in operands:
            bitwise = isinstance(side, ast.BinOp) and isinstance(side.op, ast.BitAnd | ast.BitOr | ast.BitXor)
            if bitwise and not _span(self.text, side)[2]:
                reason = "a bit operator beside a comparison needs brackets: C binds it otherwise"
                raise self.error(reason, side)
        numbers = [self.number(side, depth + 1) for side in operands]
        trees: list[Tree] = []
        for op, left, right in zip(node.ops, numbers[:-1], numbers[1:], strict=True):
            if type(op) not in _SYMBOL:
                raise self.error(f"{type(op).__name__} is not in the language", node)
            trees.append(BinaryOperation(_SYMBOL[type(op)], left, right))
        return reduce(partial(BinaryOperation, "and"), trees)
