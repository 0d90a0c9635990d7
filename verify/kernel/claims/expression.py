# SPDX-License-Identifier: Apache-2.0
"""The text of a claim, `C[m,n] = alpha * sum_k A[m,k]*B[k,n] + beta * C[m,n]`: its tree, and its value.

`read` makes the tree. `Evaluation` evaluates it by plain arithmetic modulo each prime, with no code of the interpreter:
two computations that share no step are compared. `whole` evaluates sizes, strides and grids: `"cdiv(M, 64)"`.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from verify.core.errors import SpecError


class ClaimTextError(SpecError):
    """An error in the text of a claim, at one of its letters."""

    def __init__(self, problem: str, text: str, letter: int) -> None:
        super().__init__("claim", problem)
        self.text, self.letter = text, letter


MAX_LENGTH = 4000
MAX_NODES = 500


@dataclass(frozen=True, slots=True)
class Number:
    """A literal."""

    value: Fraction


@dataclass(frozen=True, slots=True)
class Scalar:
    """A name without indices: one of the claim's scalars."""

    name: str


@dataclass(frozen=True, slots=True)
class Element:
    """An element of an array: A[m,k]."""

    name: str
    indices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sum:
    """sum_k of a term."""

    index: str
    body: Node


@dataclass(frozen=True, slots=True)
class Apply:
    """An operation + - * or a function of some terms."""

    name: str
    parts: tuple[Node, ...]


Node: TypeAlias = Number | Scalar | Element | Sum | Apply
FUNCTIONS = {"relu": 1, "abs": 1, "max": 2, "min": 2, "where": 4, "floor": 1, "trunc": 1}
FREE = ("ex2", "lg2", "sqrt", "rsqrt", "sin", "cos", "tanh", "rcp")
RELATIONS = (">", "<", ">=", "<=", "==", "!=")  # of the first two arguments of where
_TOKEN = re.compile(r"\s*(\d+\.?\d*(?:e[+-]?\d+)?|[A-Za-z_]\w*|[<>=!]=|[][(),+*/=<>-])")


def held(number: Fraction | float | str, double: bool) -> Fraction:
    """The number as a kernel holds it: rounded to f32, or to f64; OverflowError or ValueError if there is none.

    >>> held("0.5", double=False), held("0.1", double=False) == Fraction("0.1")
    (Fraction(1, 2), False)
    """
    with np.errstate(over="ignore"):
        return Fraction(float(number) if double else float(np.float32(float(number))))


def read(text: str, double: bool = False) -> tuple[Element, Node]:
    """(target, value) of a claim's text, its numbers as an f32 or a double holds them; SpecError with the column.

    >>> target, value = read("C[m,n] = 2 * sum_k A[m,k]*B[k,n]")
    >>> target.indices, value.parts[1].index
    (('m', 'n'), 'k')
    """
    reader = _Reader(text, double)
    target = reader.factor()
    if not isinstance(target, Element):
        raise SpecError("claim", "begins with the element that it is about, as C[m,n] = …")
    reader.expect("=")
    value = reader.sum()
    if reader.token:
        reader.fail(f"found {reader.token!r} after the end")
    return target, value


class _Reader:
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
        """The token that was current; the next one becomes current."""
        old = self.token
        self.nodes += 1
        if self.nodes > MAX_NODES:
            self.fail(f"more than {MAX_NODES} words")
        rest = self.text[self.place :]
        found = _TOKEN.match(rest)
        self.column = self.place + len(rest) - len(rest.lstrip()) + 1
        if found is None and rest.strip():
            self.token = ""
            self.fail(f"cannot read {rest.strip()[:10]!r}")
        self.token = found[1] if found else ""
        self.place += found.end() if found else len(rest)
        return old

    def expect(self, token: str) -> None:
        if self.token != token:
            self.fail(f"expected {token!r}, found {self.token or 'the end'!r}")
        self.next()

    def sum(self) -> Node:
        found = self.term()
        while self.token in ("+", "-") and self.token:
            sign = self.next()
            found = Apply(sign, (found, self.term()))
        return found

    def term(self) -> Node:
        found = self.factor()
        while self.token in ("*", "/") and self.token:
            sign = self.next()
            right = self.factor()
            if sign == "/":
                if not isinstance(right, Number) or not right.value:
                    self.fail("a divisor that is no number")
                    raise AssertionError
                right = Number(1 / right.value)
            found = Apply("*", (found, right))
        return found

    def factor(self) -> Node:  # noqa: PLR0911 - one for each kind of factor
        token = self.next()
        if token == "-":
            return Apply("-", (Number(Fraction(0)), self.factor()))
        if token == "(":
            inner = self.sum()
            self.expect(")")
            return inner
        if token[:1].isdigit():
            return Number(self._round_token(token))
        if not token or not (token[0].isalpha() or token[0] == "_"):
            self.fail(f"expected a term, found {token or 'the end'!r}")
        if token.startswith("sum_") and len(token) > 4:
            return Sum(token[4:], self.term())
        if self.token == "[":
            return Element(token, tuple(self._list("[", "]")))
        if self.token == "(":
            return self._call(token)
        return Scalar(token)

    def _round_token(self, token: str) -> Fraction:
        try:
            return held(token, self.double)
        except OverflowError:
            self.fail(f"{token[:20]} is too large for {'f64' if self.double else 'f32'}")
            raise

    def _list(self, opening: str, closing: str) -> list[str]:
        self.expect(opening)
        found = [self.next()]
        while self.token == ",":
            self.next()
            found.append(self.next())
        self.expect(closing)
        if not all(one.isidentifier() for one in found):
            self.fail("an index that is no name")
        return found

    def _call(self, name: str) -> Node:
        if name not in FUNCTIONS and name not in FREE:
            self.fail(f"no function is named {name!r}; there are: {', '.join((*FUNCTIONS, *FREE))}")
        self.expect("(")
        parts = [self.sum()]
        relation = self.token if name == "where" else ""
        while self.token == "," or (self.token == relation != "" and len(parts) == 1):
            self.next()
            parts.append(self.sum())
        self.expect(")")
        if len(parts) != FUNCTIONS.get(name, 1):
            self.fail(f"{name} has {FUNCTIONS.get(name, 1)} arguments, here are {len(parts)}")
        if relation in RELATIONS:
            left, right, chosen, other = parts
            if relation in ("==", "!="):  # a and b differ if |a - b| > 0
                left, right = Apply("abs", (Apply("-", (left, right)),)), Number(Fraction(0))
            elif relation in ("<", ">="):
                left, right = right, left
            parts = [left, right, *((chosen, other) if relation in (">", "<", "!=") else (other, chosen))]
        return Apply(name, tuple(parts))


def elements(node: Node) -> list[Element]:
    """Every element of an array in a tree."""
    if isinstance(node, Element):
        return [node]
    if isinstance(node, Sum):
        return elements(node.body)
    return [one for part in node.parts for one in elements(part)] if isinstance(node, Apply) else []


def summed(node: Node) -> set[str]:
    """The indices over which a tree sums."""
    if isinstance(node, Sum):
        return {node.index} | summed(node.body)
    return {index for part in node.parts for index in summed(part)} if isinstance(node, Apply) else set()


def scalars(node: Node) -> set[str]:
    """The names of a tree's scalars."""
    if isinstance(node, Sum):
        return scalars(node.body)
    if isinstance(node, Apply):
        return {name for part in node.parts for name in scalars(part)}
    return {node.name} if isinstance(node, Scalar) else set()


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
    return {node.value} if isinstance(node, Number) else set()


Numbers: TypeAlias = NDArray[np.uint64] | NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Tensor:
    """Numbers with a name for each axis after the first, which has the primes; or samples without that axis."""

    dims: tuple[str, ...]
    residues: NDArray[np.uint64]  # (primes, ...)
    sample: NDArray[np.float64]


Chooser: TypeAlias = Callable[[str, Sequence[NDArray[np.uint64]], Sequence[NDArray[np.float64]]],
                              tuple[NDArray[np.uint64], NDArray[np.float64]]]  # fmt: skip


class Evaluation:
    """The value of a claim's tree at the points of a run."""

    def __init__(
        self, primes: Sequence[int], arrays: Mapping[str, Tensor], scalars: Mapping[str, Fraction], choose: Chooser
    ) -> None:
        self.primes = np.array(primes, np.uint64)
        self.arrays, self.scalars, self.choose = arrays, scalars, choose

    def __call__(self, node: Node) -> Tensor:
        """The tensor of a tree, over its free indices."""
        if isinstance(node, Number):
            return self._number(node.value)
        if isinstance(node, Scalar):
            return self._number(self.scalars[node.name])
        if isinstance(node, Element):
            found = self.arrays[node.name]
            return Tensor(node.indices, found.residues, found.sample)
        if isinstance(node, Sum):
            return self._sum(node)
        parts = [self(part) for part in node.parts]
        if node.name in "+-*":
            return self._arithmetic(node.name, *parts)
        dims = self._dims(parts)
        residues, samples = zip(*(self._aligned(part, dims) for part in parts), strict=True)
        shape = np.broadcast_shapes(*(one.shape for one in samples))
        flat = [np.broadcast_to(one, (len(self.primes), *shape)).reshape(len(self.primes), -1) for one in residues]
        made, sample = self.choose(node.name, flat, [np.broadcast_to(one, shape).ravel() for one in samples])
        return Tensor(dims, made.reshape(-1, *shape), sample.reshape(shape))

    def _number(self, value: Fraction) -> Tensor:
        residues = [value.numerator * pow(value.denominator, -1, int(p)) % int(p) for p in self.primes]
        return Tensor((), np.array(residues, np.uint64), np.array(float(value)))

    @staticmethod
    def _dims(parts: Sequence[Tensor]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for part in parts for name in part.dims))

    @staticmethod
    def _aligned(part: Tensor, dims: tuple[str, ...]) -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
        """Its numbers with an axis for each of `dims`, of extent 1 where it does not depend on one."""
        order = sorted(range(len(part.dims)), key=lambda axis: dims.index(part.dims[axis]))
        sample = part.sample.transpose(order)
        residues = part.residues.transpose(0, *(axis + 1 for axis in order))
        for place, name in enumerate(dims):
            if name not in part.dims:
                sample, residues = np.expand_dims(sample, place), np.expand_dims(residues, place + 1)
        return residues, sample

    def _arithmetic(self, sign: str, left: Tensor, right: Tensor) -> Tensor:
        dims = self._dims((left, right))
        (x, a), (y, b) = self._aligned(left, dims), self._aligned(right, dims)
        top = self.primes.reshape(-1, *[1] * len(dims))
        apply = {"+": operator.add, "-": operator.sub, "*": operator.mul}[sign]
        y = top - y if sign == "-" else y
        residues = (x * y if sign == "*" else x + y) % top
        return Tensor(dims, residues, apply(a, b))

    def _sum(self, node: Sum) -> Tensor:
        """The sum of products of factors, one index at a time: a tensor of all products would be large."""
        factors, rest = [], [node.body]
        while rest:
            inner = rest.pop()
            if isinstance(inner, Apply) and inner.name == "*":
                rest += inner.parts
            else:
                factors.append(self(inner))
        count = next((part.sample.shape[part.dims.index(node.index)] for part in factors if node.index in part.dims), 0)
        if not count:
            raise SpecError("claim", f"no array under sum_{node.index} has the index {node.index}")
        shared = set.intersection(*(set(part.dims) for part in factors))
        if len(factors) == 2 and shared == {node.index}:
            return self._matrix_product(node.index, *factors)
        dims = tuple(name for name in self._dims(factors) if name != node.index)
        aligned = [self._aligned(part, (node.index, *dims)) for part in factors]
        shape = np.broadcast_shapes(*(sample.shape[1:] for _, sample in aligned))
        residues, total = np.zeros((len(self.primes), *shape), np.uint64), np.zeros(shape)
        room = np.empty(shape, np.uint64)
        for number in range(count):
            picked = [number if sample.shape[0] > 1 else 0 for _, sample in aligned]
            total += reduce(operator.mul, (sample[at] for at, (_, sample) in zip(picked, aligned, strict=True)))
            for row, prime in enumerate(self.primes):
                *rest, last = (found[row, at] for at, (found, _) in zip(picked, aligned, strict=True))
                product = reduce(lambda x, y, prime=prime: x * y % prime, rest, np.uint64(1))  # type: ignore[misc]
                residues[row] += np.multiply(product, last, out=room)
                if number % 3 == 2:  # four numbers below 2^62 are below 2^64
                    np.floor_divide(residues[row], prime, out=room)
                    room *= prime
                    residues[row] -= room
        return Tensor(dims, residues % self.primes.reshape(-1, *[1] * len(dims)), total)

    def _matrix_product(self, index: str, left: Tensor, right: Tensor) -> Tensor:
        """The sum of products over the one index that two tensors share.

        Residues are cut into halves of 16 bits: a double holds a sum of 64 products of a half and a residue exactly.
        """
        parts = []
        for part in (left, right):
            rest = tuple(name for name in part.dims if name != index)
            residues, sample = self._aligned(part, (index, *rest))
            parts.append(
                (rest, residues.reshape(*residues.shape[:2], -1), sample.reshape(len(sample), -1), sample.shape[1:])
            )
        (first, x, a, rows), (second, y, b, columns) = parts
        residues = np.zeros((len(self.primes), x.shape[2], y.shape[2]), np.uint64)
        for number, prime in enumerate(self.primes):
            for start in range(0, x.shape[1], 64):
                some = slice(start, start + 64)
                halves, other = x[number, some].T, y[number, some].astype(np.float64)
                upper = ((halves >> np.uint64(16)).astype(np.float64) @ other).astype(np.uint64) % prime
                lower = ((halves & np.uint64(65535)).astype(np.float64) @ other).astype(np.uint64)
                residues[number] += (upper << np.uint64(16)) + lower
            residues[number] %= prime
        return Tensor((*first, *second), residues.reshape(-1, *rows, *columns), (a.T @ b).reshape(*rows, *columns))


_WHOLE: Mapping[type[ast.AST], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def whole(key: str, text: object, sizes: Mapping[str, int]) -> int:
    """The whole number of an expression of sizes: + - * // % and cdiv; raises SpecError.

    >>> whole("grid", "cdiv(M, 64) * 2", {"M": 100})
    4
    """
    if isinstance(text, int) and not isinstance(text, bool):
        return text
    if not isinstance(text, str) or len(text) > 200:
        raise SpecError(key, f"expected a whole number or an expression of sizes, found {text!r:.60}")
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
        found = _WHOLE[type(node.op)](_whole(node.left, sizes), _whole(node.right, sizes))
        if abs(found) >= 1 << 63:
            raise ValueError("the number is too large")
        return found
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        parts = [_whole(part, sizes) for part in node.args]
        if node.func.id == "cdiv" and len(parts) == 2:
            return -(-parts[0] // parts[1])
        if node.func.id in ("min", "max") and parts:
            return (min if node.func.id == "min" else max)(parts)
    raise ValueError("only + - * // %, cdiv, min, max, sizes and whole numbers are read")
