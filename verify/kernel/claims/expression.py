# SPDX-License-Identifier: Apache-2.0
"""The text of a claim, `C[m,n] = alpha * sum_k A[m,k]*B[k,n] + beta * C[m,n]`: its tree, and its value.

`read_claim` makes the tree, a `Node`; `evaluation` computes its value. A name without brackets is a scalar, a size or
an index.
`whole` evaluates sizes, strides, grids and indices: `"cdiv(M, 64)"`, `"h//G"`.

>>> _, value = read_claim("Y[m,n] = softmax_n(where(m >= n, X[m,n], -inf))")
>>> sorted(functions(value))
['ex2', 'rcp', 'where']
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import NamedTuple, TypeAlias

import numpy as np

from verify.core.errors import SpecError


class ClaimTextError(SpecError):
    """An error in the text of a claim, at one of its letters."""

    def __init__(self, problem: str, text: str, letter: int) -> None:
        super().__init__("claim", problem)
        self.text, self.letter = text, letter


MAX_LENGTH = 16000  # letters: a claim is parsed recursively, and a longer one isn't a formula that a person wrote
MAX_NODES = 2000  # words


class ClaimNumber(NamedTuple):
    """A literal."""

    value: Fraction


class Scalar(NamedTuple):
    """A name without indices: one of the claim's scalars."""

    name: str


class Element(NamedTuple):
    """An element of an array: A[m,k]."""

    name: str
    indices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sum:
    """sum_k of a term."""

    index: str
    body: Node


class Apply(NamedTuple):
    """An operation + - * or a function of some terms."""

    name: str
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Below:
    """-inf, as of a masked element."""


Node: TypeAlias = ClaimNumber | Scalar | Element | Sum | Apply | Below
# The functions of a claim that are decided exactly, with their numbers of arguments.
FUNCTIONS = {"relu": 1, "abs": 1, "max": 2, "min": 2, "where": 4, "floor": 1, "trunc": 1, "rint": 1}
BASES = {"exp": "ex2", "exp2": "ex2", "log": "lg2", "log2": "lg2"}  # functions of a claim -> their opcodes
FREE = ("ex2", "lg2", "sqrt", "rsqrt", "sin", "cos", "tanh", "rcp")
LOG2_E, LN_2 = 1.4426950408889634, 0.6931471805599453  # exp and log are those to the base 2 with these factors, rounded
REDUCED = ("softmax", "logsumexp", "max")  # with the index behind: softmax_n(…)
LARGEST = "largest"  # the operation of max_n, on the sum that has its index and its terms
RELATIONS = (">", "<", ">=", "<=", "==", "!=")  # of the first two arguments of where
_TOKEN = re.compile(r"\s*(\d+\.?\d*(?:e[+-]?\d+)?|[A-Za-z_]\w*|[<>=!]=|//|\*\*|[][(),+*/%=<>-])")


def round_number(number: Fraction | float | str, double: bool) -> Fraction:
    """Return the number as a kernel holds it: rounded to f32, or to f64; OverflowError or ValueError if there is none.

    >>> round_number("0.5", double=False), round_number("0.1", double=False) == Fraction("0.1")
    (Fraction(1, 2), False)
    """
    with np.errstate(over="ignore"):
        return Fraction(float(number) if double else float(np.float32(float(number))))


def read_claim(text: str, double: bool = False) -> tuple[Element, Node]:
    """(target, value) of a claim's text, its numbers as an f32 or a double holds them; SpecError with the column.

    >>> target, value = read_claim("C[m,n] = 2 * sum_k A[m,k]*B[k,n]")
    >>> target.indices, value.parts[1].index
    (('m', 'n'), 'k')
    """
    reader = _ClaimReader(text, double)
    target = reader.factor()
    if not isinstance(target, Element):
        raise SpecError("claim", "begins with the element that it is about, as C[m,n] = …")
    reader.expect("=")
    value = reader.sum()
    if reader.token:
        reader.fail(f"found {reader.token!r} after the end")
    return target, value


class _ClaimReader:
    """A reader of a claim's text by recursive descent."""

    def __init__(self, text: str, double: bool) -> None:
        self.double = double
        self.text, self.place, self.token, self.column, self.nodes = text, 0, "", 1, 0
        if len(text) > MAX_LENGTH:
            self.fail(f"longer than {MAX_LENGTH} characters")
        self.next()

    def fail(self, problem: str) -> None:
        raise ClaimTextError(f"{problem} at column {self.column}: {self.text[:200]}", self.text, self.column - 1)

    def next(self) -> str:
        """Return the token that was current; the next one becomes current."""
        old = self.token
        self.nodes += 1
        if self.nodes > MAX_NODES:
            self.fail(f"more than {MAX_NODES} words")
        rest = self.text[self.place :]
        match = _TOKEN.match(rest)
        self.column = self.place + len(rest) - len(rest.lstrip()) + 1
        if match is None and rest.strip():
            self.token = ""
            self.fail(f"cannot read {rest.strip()[:10]!r}")
        self.token = match[1] if match else ""
        self.place += match.end() if match else len(rest)
        return old

    def expect(self, token: str) -> None:
        if self.token != token:
            self.fail(f"expected {token!r}, found {self.token or 'the end'!r}")
        self.next()

    def sum(self) -> Node:
        total = self.term()
        while self.token in ("+", "-") and self.token:
            sign = self.next()
            total = Apply(sign, (total, self.term()))
        return total

    def term(self) -> Node:
        product = self.power()
        while self.token in ("*", "/") and self.token:
            sign, bare = self.next(), self.token.startswith("sum_")
            right = self.power()
            if sign == "/" and bare and isinstance(right, Sum):
                self.check_divisor(right)
            if sign == "/" and isinstance(right, ClaimNumber):
                if not right.value:
                    self.fail("a division by 0")
                right = ClaimNumber(1 / right.value)
            elif sign == "/":
                right = Apply("rcp", (right,))
            product = Apply("*", (product, right))
        return product

    def check_divisor(self, node: Sum) -> None:
        """Refuse x / sum_j a[j] * b: a sum takes in all factors behind it, and b is hardly meant to divide."""
        _, *rest = list_factors(node.body)
        if rest and elements(rest[-1]) and not depends(rest[-1], node.index):
            name = f"sum_{node.index}"
            self.fail(f"x / {name} a * b, where b has no {node.index}: write x / ({name} a) * b, or x / ({name} a * b)")

    def power(self) -> Node:
        """Return a factor, or a product of so many of it: x**2 is x * x."""
        before, factor = self.nodes, self.factor()
        if self.token != "**":
            return factor
        size = self.nodes - before
        self.next()
        if not re.fullmatch(r"[1-9]", self.token):
            self.fail(f"a power is an integer from 1 to 9, found {self.token or 'the end'!r}")
        count = int(self.token)
        self.nodes += size * (count - 1)
        self.next()
        return reduce(lambda made, base: Apply("*", (made, base)), [factor] * count)

    def factor(self) -> Node:  # noqa: PLR0911 - one for each kind of factor
        token = self.next()
        if token == "-" and self.token == "inf":
            self.next()
            return Below()
        if token == "-":
            return Apply("-", (ClaimNumber(Fraction(0)), self.power()))
        if token == "(":
            inner = self.sum()
            self.expect(")")
            return inner
        if token[:1].isdigit():
            return ClaimNumber(self._round_token(token))
        if not token or not (token[0].isalpha() or token[0] == "_"):
            self.fail(f"expected a term, found {token or 'the end'!r}")
        if token.startswith("sum_") and len(token) > 4:
            return Sum(token[4:], self.term())
        if self.token == "[":
            return Element(token, tuple(self._list("[", "]")))
        if self.token == "(":
            return self._call(token)
        if token == "inf":
            self.fail("only -inf, of a masked element, is read")
        return Scalar(token)

    def _round_token(self, token: str) -> Fraction:
        try:
            return round_number(token, self.double)
        except OverflowError:
            self.fail(f"{token[:20]} is too large for {'f64' if self.double else 'f32'}")
            raise

    def _list(self, opening: str, closing: str) -> list[str]:
        self.expect(opening)
        indices = [self._index()]
        while self.token == ",":
            self.next()
            indices.append(self._index())
        self.expect(closing)
        return indices

    def _index(self) -> str:
        """Return the text of an index: a name, or a name with numbers and sizes, as h//G."""
        text = self.next()
        while self.token in ("+", "-", "*", "//", "%") and self.token:
            text += self.next()
            text += self.next()
        if not text.isidentifier() and not re.fullmatch(r"\w+(?:(?:[-+*%]|//)\w+)+", text):
            self.fail("an index that isn't a name")
        return text

    def _call(self, name: str) -> Node:
        reduced, _, index = name.partition("_")
        if reduced in REDUCED and index:
            return self._reduce(reduced, index)
        base = BASES.get(name, name)
        if base not in FUNCTIONS and base not in FREE:
            names = (*FUNCTIONS, *BASES, *FREE, *(f"{head}_n" for head in REDUCED))
            self.fail(f"no function is named {name!r}; there are: {', '.join(names)}")
        self.expect("(")
        if name == "where":
            return self._where()
        parts = [self.sum()]
        while self.token == ",":
            self.next()
            parts.append(self.sum())
        self.expect(")")
        if len(parts) != FUNCTIONS.get(name, 1):
            self.fail(f"{name} has {FUNCTIONS.get(name, 1)} arguments, here are {len(parts)}")
        if name == "exp":
            return self._exp(parts[0])
        made = Apply(base, tuple(parts))
        return Apply("*", (made, self._constant(LN_2))) if name == "log" else made

    def _where(self) -> Node:
        """Return a choice; `where(a > b and c > d, x, y)` is a choice within another."""
        conditions, joined = [self._condition()], self.token
        while self.token in ("and", "or"):
            if self.next() != joined:
                self.fail("`and` and `or` in one condition: write one where within another")
            conditions.append(self._condition())
        self.expect(",")
        chosen = self.sum()
        self.expect(",")
        otherwise = self.sum()
        self.expect(")")
        made = chosen if joined != "or" else otherwise
        for left, right, opposite in reversed(conditions):
            yes, no = (made, otherwise) if joined != "or" else (chosen, made)
            made = Apply("where", (left, right, *((no, yes) if opposite else (yes, no))))
        return made

    def _condition(self) -> tuple[Node, Node, bool]:
        """Return a and b of a > b, or of its opposite; a and b without a relation are separated by a comma."""
        left, relation = self.sum(), self.token
        if relation not in (*RELATIONS, ","):
            self.fail(f"expected one of {' '.join(RELATIONS)}, found {relation or 'the end'!r}")
        self.next()
        right = self.sum()
        if relation in ("==", "!="):  # a and b differ if |a - b| > 0
            return Apply("abs", (Apply("-", (left, right)),)), ClaimNumber(Fraction(0)), relation == "=="
        if relation in ("<", ">="):
            left, right = right, left
        return left, right, relation in ("<=", ">=")

    def _reduce(self, name: str, index: str) -> Node:
        """Return softmax_n(x) = exp(x) / sum_n exp(x), logsumexp_n(x) = log(sum_n exp(x)), or max_n(x)."""
        self.expect("(")
        inner = self.sum()
        self.expect(")")
        if name == "max":
            return Apply(LARGEST, (Sum(index, inner),))
        power = self._exp(inner)
        total = Sum(index, power)
        if name == "softmax":
            return Apply("*", (power, Apply("rcp", (total,))))
        return Apply("*", (Apply("lg2", (total,)), self._constant(LN_2)))

    def _exp(self, node: Node) -> Node:
        return Apply("ex2", (Apply("*", (node, self._constant(LOG2_E))),))

    def _constant(self, number: float) -> ClaimNumber:
        return ClaimNumber(round_number(number, self.double))


def elements(node: Node) -> list[Element]:
    """Every element of an array in a tree."""
    if isinstance(node, Element):
        return [node]
    if isinstance(node, Sum):
        return elements(node.body)
    return [element for part in node.parts for element in elements(part)] if isinstance(node, Apply) else []


def list_summed(node: Node) -> set[str]:
    """Return the indices over which a tree sums."""
    if isinstance(node, Sum):
        return {node.index} | list_summed(node.body)
    return {index for part in node.parts for index in list_summed(part)} if isinstance(node, Apply) else set()


def scalars(node: Node) -> set[str]:
    """Return the names of a tree's scalars."""
    if isinstance(node, Sum):
        return scalars(node.body)
    if isinstance(node, Apply):
        return {name for part in node.parts for name in scalars(part)}
    return {node.name} if isinstance(node, Scalar) else set()


def list_factors(node: Node) -> list[Node]:
    """Return the factors of a product from left to right; of anything else, itself.

    >>> len(list_factors(read_claim("C[i] = A[i]*(B[i]*2)")[1]))
    3
    """
    product = isinstance(node, Apply) and node.name == "*"
    return [factor for part in node.parts for factor in list_factors(part)] if product else [node]  # type: ignore[union-attr]


def depends(node: Node, index: str) -> bool:
    """Return whether a tree differs by the value of an index.

    >>> depends(read_claim("C[i] = sum_n A[n//2,i]")[1], "i"), depends(read_claim("C[i] = sum_n A[n//2,i]")[1], "n")
    (True, False)
    """
    if isinstance(node, Sum):
        return node.index != index and depends(node.body, index)
    if isinstance(node, Apply):
        return any(depends(part, index) for part in node.parts)
    if isinstance(node, Element):
        return any(index in re.findall(r"\w+", text) for text in node.indices)
    return isinstance(node, Scalar) and node.name == index


def functions(node: Node) -> set[str]:
    """Return the names of the functions in a tree."""
    if isinstance(node, Sum):
        return functions(node.body)
    if not isinstance(node, Apply):
        return set()
    return {name for part in node.parts for name in functions(part)} | ({node.name} - set("+-*"))


def numbers(node: Node) -> set[Fraction]:
    """Return the literals of a tree."""
    if isinstance(node, Sum):
        return numbers(node.body)
    if isinstance(node, Apply):
        return {value for part in node.parts for value in numbers(part)}
    return {node.value} if isinstance(node, ClaimNumber) else set()


_WHOLE: Mapping[type[ast.AST], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def whole(key: str, text: object, sizes: Mapping[str, int]) -> int:
    """Return the integer of an expression of sizes: + - * // % and cdiv; raise SpecError.

    >>> whole("grid", "cdiv(M, 64) * 2", {"M": 100})
    4
    """
    if isinstance(text, int) and not isinstance(text, bool):
        return text
    if not isinstance(text, str) or len(text) > 200:
        raise SpecError(key, f"expected an integer or an expression of sizes, found {text!r:.60}")
    try:
        return _whole(ast.parse(text, mode="eval").body, sizes)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError) as error:
        known = f" (sizes: {', '.join(sizes)})" if sizes else ""
        raise SpecError(key, f"{text!r}: {error}{known}") from None


def _whole(node: ast.AST, sizes: Mapping[str, int]) -> int:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.Name):
        if node.id not in sizes:
            raise ValueError(f"no size is named {node.id!r}")
        return sizes[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_whole(node.operand, sizes)
    if isinstance(node, ast.BinOp) and type(node.op) in _WHOLE:
        number = _WHOLE[type(node.op)](_whole(node.left, sizes), _whole(node.right, sizes))
        if abs(number) >= 1 << 63:
            raise ValueError("the number is too large")
        return number
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        parts = [_whole(part, sizes) for part in node.args]
        if node.func.id == "cdiv" and len(parts) == 2:
            return -(-parts[0] // parts[1])
        if node.func.id in ("min", "max") and parts:
            return (min if node.func.id == "min" else max)(parts)
    raise ValueError("only + - * // %, cdiv, min, max, sizes and integers are read")
