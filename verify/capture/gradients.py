# SPDX-License-Identifier: Apache-2.0
"""The gradient of a recorded expression, as a claim's text: what `y.backward(g)` leaves in `x.grad`.

An expression in indices is differentiated by the chain rule backwards: from the result with `g`, an adjoint goes down
to each place where an element of x stands, and the indices of that place become those of x.grad. All others are summed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Protocol

from verify.capture.contents import Contents, TensorReading, read_operand, say_made
from verify.capture.masks import Names
from verify.capture.places import Unchecked
from verify.kernel.claims.expression import (
    LN_2,
    LOG2_E,
    Apply,
    ClaimNumber,
    Element,
    Node,
    Scalar,
    Sum,
    elements,
    read_claim,
    round_number,
)
from verify.kernel.claims.written import spell_node

LEAF = "_leaf_"  # the name of the tensor that the gradient is of, where a gradient flows to it
NAME = re.compile(r"[A-Za-z_]\w*")  # in an index
ONE, ZERO = ClaimNumber(Fraction(1)), ClaimNumber(Fraction(0))


class LeafWriter(Protocol):
    """What writes a reading's text, with another name for the tensor of which the gradient is."""

    contents: Contents
    sizes: dict[str, int]

    def index(self, extent: int, summed: bool) -> str:
        """Return a new index."""

    def write(self, reading: TensorReading, names: Names, depth: int = 0) -> str:
        """Return the text of an element of a reading."""

    def write_leaf(self, reading: TensorReading, names: Names, leaf: TensorReading, depth: int) -> str:
        """Return the text of an element, in which a tensor has the name LEAF where a gradient flows to it."""


def write_gradient(writer: LeafWriter, content: Mapping[str, Any], names: Names, depth: int) -> str:
    """Return the text of the gradient of (result, adjoint, tensor), which are an operation's arguments."""
    result, leaf = (read_operand(content, content["args"][at]) for at in (0, 2))
    inner = tuple(writer.index(extent, summed=True) if extent > 1 else "" for extent in result.shape)
    adjoint = "1"
    if content["args"][1] is not None:
        adjoint = writer.write(read_operand(content, content["args"][1]), inner, depth + 1)
    text = writer.write_leaf(result, inner, leaf, depth + 1)
    made = Derivation(writer, replace(leaf, grad=False), f"the gradient of {say_made(content)}", depth + 1)
    return made.write(text, adjoint, tuple(filter(None, inner)), tuple(filter(None, names)))


@dataclass
class Derivation:
    """The derivation of one expression by the elements of one tensor."""

    writer: LeafWriter
    leaf: TensorReading  # the tensor, as a constant
    said: str  # in words
    depth: int

    def write(self, text: str, adjoint: str, summed: Names, names: Names) -> str:
        """Return the text of the sum over some indices of adjoint * d text / d leaf[names]."""
        tree, first = (self._separate(read_claim(f"Z[i] = {value}", double=True)[1], {}) for value in (text, adjoint))
        total: Node | None = None
        for places, factor, bound in self._pull(tree, first, summed):
            indices = places if names else ()  # a tensor of one element has none
            if len(indices) != len(names) or len(set(indices)) < len(indices) or not set(indices) <= set(bound):
                raise Unchecked(f"{self.said} rests on an element in a way that is not read")
            term = rename(factor, dict(zip(indices, names, strict=True)))
            for index in (name for name in bound if name not in indices):
                term = self._sum(index, term)
            total = term if total is None else Apply("+", (total, term))
        if total is None:
            raise Unchecked(f"{self.said} is of a tensor to which no gradient flows")
        return spell_node(self._replace_leaf(total))

    def _replace_leaf(self, node: Node) -> Node:
        """Return a tree in which the elements of the tensor are what it holds."""
        if isinstance(node, Element) and node.name == LEAF:
            left = iter(node.indices)
            names = tuple(next(left) if extent > 1 else "" for extent in self.leaf.shape)
            return read_claim(f"Z[i] = {self.writer.write(self.leaf, names, self.depth)}", double=True)[1]
        if isinstance(node, Sum):
            return Sum(node.index, self._replace_leaf(node.body))
        return Apply(node.name, tuple(map(self._replace_leaf, node.parts))) if isinstance(node, Apply) else node

    def _sum(self, index: str, node: Node) -> Node:
        """Return the sum over an index; of what doesn't have it, so many times that."""
        if index in list_indices(node):
            return Sum(index, node)
        return multiply(ClaimNumber(Fraction(self.writer.sizes[index])), node)

    def _separate(self, node: Node, names: Mapping[str, str]) -> Node:
        """Return a tree of which no sum has an index that is used elsewhere."""
        if isinstance(node, Sum):
            fresh = self.writer.index(self.writer.sizes[node.index], summed=True)
            return Sum(fresh, self._separate(node.body, {**names, node.index: fresh}))
        if isinstance(node, Apply):
            return Apply(node.name, tuple(self._separate(part, names) for part in node.parts))
        return rename(node, names)

    def _pull(self, node: Node, adjoint: Node, bound: Names) -> Iterator[tuple[Names, Node, Names]]:
        """Yield (indices, adjoint, indices to sum over) of each element of the leaf in a tree."""
        if isinstance(node, Element):
            if node.name == LEAF:
                yield node.indices, adjoint, bound
        elif isinstance(node, Sum):
            yield from self._pull(node.body, adjoint, (*bound, node.index))
        elif isinstance(node, Apply) and has_leaf(node):
            for part, factor in self._differentiate(node, adjoint):
                yield from self._pull(part, factor, bound)

    def _differentiate(self, node: Apply, adjoint: Node) -> Iterator[tuple[Node, Node]]:
        """Yield each operand of an operation, and the adjoint there."""
        name, parts = node.name, node.parts
        if name in "+-":
            yield parts[0], adjoint
            yield parts[1], adjoint if name == "+" else Apply("-", (ZERO, adjoint))
        elif name == "*" and is_logarithm(node):
            inner = parts[0].parts[0]  # type: ignore[union-attr]
            yield inner, multiply(adjoint, Apply("rcp", (inner,)))
        elif name == "*":
            yield parts[0], multiply(adjoint, parts[1])
            yield parts[1], multiply(adjoint, parts[0])
        elif name == "where":
            yield parts[2], Apply("where", (*parts[:2], adjoint, ZERO))
            yield parts[3], Apply("where", (*parts[:2], ZERO, adjoint))
        elif name == "ex2" and (exponent := find_exponent(parts[0])) is not None:
            yield exponent, multiply(adjoint, node)
        elif name in DERIVATIVES:
            yield parts[0], DERIVATIVES[name](node, adjoint)
        elif has_leaf(node):
            raise Unchecked(f"{self.said} has the derivative of {name}, which no text describes")


DERIVATIVES: Mapping[str, Callable[[Apply, Node], Node]] = {  # of f(x), times the adjoint
    "relu": lambda of, to: Apply("where", (of.parts[0], ZERO, to, ZERO)),
    "ex2": lambda of, to: multiply(multiply(to, of), ClaimNumber(round_number(LN_2, True))),
    "lg2": lambda of, to: multiply(multiply(to, Apply("rcp", of.parts)), ClaimNumber(round_number(LOG2_E, True))),
    "rcp": lambda of, to: Apply("-", (ZERO, multiply(to, multiply(of, of)))),
    "sqrt": lambda of, to: multiply(multiply(to, Apply("rcp", (of,))), ClaimNumber(Fraction(1, 2))),
    "rsqrt": lambda of, to: multiply(multiply(to, ClaimNumber(Fraction(-1, 2))), multiply(of, multiply(of, of))),
    "sin": lambda of, to: multiply(to, Apply("cos", of.parts)),
    "cos": lambda of, to: Apply("-", (ZERO, multiply(to, Apply("sin", of.parts)))),
    "tanh": lambda of, to: multiply(to, Apply("-", (ONE, multiply(of, of)))),
}


def multiply(left: Node, right: Node) -> Node:
    """Return a product, of which a factor 1 is left out."""
    return right if left == ONE else left if right == ONE else Apply("*", (left, right))


def is_number(node: Node, number: float) -> bool:
    """Return whether a literal is a number, as precisely as an f32 holds it."""
    return isinstance(node, ClaimNumber) and abs(float(node.value) - number) < 1e-7


def find_exponent(node: Node) -> Node | None:
    """Return x of x * log2(e), so that 2 to that is exp(x)."""
    if isinstance(node, Apply) and node.name == "*" and is_number(node.parts[1], LOG2_E):
        return node.parts[0]
    return None


def is_logarithm(node: Apply) -> bool:
    """Return whether a product is log2(x) * ln(2)."""
    first = node.parts[0]
    return isinstance(first, Apply) and first.name == "lg2" and is_number(node.parts[1], LN_2)


def rename(node: Node, names: Mapping[str, str]) -> Node:
    """Return a tree with other names for some of its free indices."""
    if isinstance(node, Element):
        return Element(
            node.name, tuple(NAME.sub(lambda match: names.get(match[0], match[0]), each) for each in node.indices)
        )
    if isinstance(node, Scalar):
        return Scalar(names.get(node.name, node.name))
    if isinstance(node, Sum):
        return Sum(node.index, rename(node.body, {key: new for key, new in names.items() if key != node.index}))
    return Apply(node.name, tuple(rename(part, names) for part in node.parts)) if isinstance(node, Apply) else node


def list_indices(node: Node) -> set[str]:
    """Return the indices, and names without indices, that are free in a tree."""
    if isinstance(node, Element):
        return {name for each in node.indices for name in NAME.findall(each)}
    if isinstance(node, Scalar):
        return {node.name}
    if isinstance(node, Sum):
        return list_indices(node.body) - {node.index}
    return {name for part in node.parts for name in list_indices(part)} if isinstance(node, Apply) else set()


def has_leaf(node: Node) -> bool:
    """Return whether a gradient flows through a tree to the tensor."""
    return any(element.name == LEAF for element in elements(node))
