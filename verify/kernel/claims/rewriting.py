# SPDX-License-Identifier: Apache-2.0
"""Other trees made of a claim's tree: one part stands in place of another, wherever it does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import reduce
from typing import Any

from verify.kernel.claims.expression import Apply, ClaimNumber, Node, Sum, list_factors

ZERO, ONE = ClaimNumber(Fraction(0)), ClaimNumber(Fraction(1))


def list_parts(node: Node) -> list[Node]:
    """Return every part of a tree once, itself first.

    >>> from verify.kernel.claims.expression import read_claim
    >>> len(list_parts(read_claim("C[i] = A[i] + exp2(A[i])")[1]))
    3
    """
    return list(dict.fromkeys(_walk(node)))


def _walk(node: Node) -> Iterator[Node]:
    yield node
    parts = (node.body,) if isinstance(node, Sum) else node.parts if isinstance(node, Apply) else ()
    for part in parts:
        yield from _walk(part)


def replace_each(node: Node, change: Callable[[Node], Node]) -> Node:
    """Return a tree with a change of each of its parts, the inner ones first."""
    if isinstance(node, Sum):
        return change(Sum(node.index, replace_each(node.body, change)))
    if isinstance(node, Apply):
        return change(Apply(node.name, tuple(replace_each(part, change) for part in node.parts)))
    return change(node)


def substitute(node: Node, others: Mapping[Any, Node]) -> Node:
    """Return a tree with other parts in place of some, which are not looked into.

    >>> from verify.kernel.claims.expression import Scalar, read_claim
    >>> tree = read_claim("C[i] = a * A[i] + a")[1]
    >>> substitute(tree, {Scalar("a"): Scalar("b")}) == read_claim("C[i] = b * A[i] + b")[1]
    True
    """
    if node in others:
        return others[node]
    if isinstance(node, Sum):
        return Sum(node.index, substitute(node.body, others))
    if isinstance(node, Apply):
        return Apply(node.name, tuple(substitute(part, others) for part in node.parts))
    return node


def list_terms(node: Node, sign: int = 1) -> list[tuple[int, Node]]:
    """Return the terms of a sum with their signs, without zeros.

    >>> from verify.kernel.claims.expression import read_claim
    >>> [sign for sign, _ in list_terms(read_claim("C[i] = A[i] - (B[i] - D[i])")[1])]
    [1, -1, 1]
    """
    if isinstance(node, Apply) and node.name in ("+", "-"):
        left, right = node.parts
        return list_terms(left, sign) + list_terms(right, sign if node.name == "+" else -sign)
    return [] if node == ZERO else [(sign, node)]


def is_sum(node: Node) -> bool:
    """Return whether a tree is a sum or a difference of terms."""
    return isinstance(node, Apply) and node.name in ("+", "-")


def multiply(*factors: Node) -> Node:
    """Return the product of some trees, without ones."""
    return reduce(lambda x, y: Apply("*", (x, y)), [one for one in factors if one != ONE] or [ONE])


def list_products(node: Node) -> list[Apply]:
    """Return every product of a tree, but none that is a factor of another."""
    products = [one for one in list_parts(node) if isinstance(one, Apply) and one.name == "*"]
    inner = {part for one in products for part in one.parts}
    return [one for one in products if one not in inner]


def drop_factor(product: Node, factor: Node) -> Node:
    """Return a product without a factor, once."""
    rest = list_factors(product)
    rest.remove(factor)
    return multiply(*rest)
