# SPDX-License-Identifier: Apache-2.0
"""Other trees made of a claim's tree: one part stands in place of another, wherever it does."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import reduce
from math import isqrt
from typing import Any

from verify.kernel.claims.expression import (
    LN_2,
    LOG2_E,
    Apply,
    ClaimNumber,
    Node,
    Scalar,
    Sum,
    list_factors,
    round_number,
)

ZERO, ONE = ClaimNumber(Fraction(0)), ClaimNumber(Fraction(1))
_ARITHMETIC: Mapping[str, Callable[..., Fraction]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}
LOGS = {  # log2(e), by which exp multiplies -> ln(2), by which log does
    ClaimNumber(round_number(LOG2_E, double)): ClaimNumber(round_number(LN_2, double)) for double in (False, True)
}


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


def substitute(node: Node, replacements: Mapping[Any, Node]) -> Node:
    """Return a tree with other parts in place of some, which are not looked into.

    >>> from verify.kernel.claims.expression import Scalar, read_claim
    >>> tree = read_claim("C[i] = a * A[i] + a")[1]
    >>> substitute(tree, {Scalar("a"): Scalar("b")}) == read_claim("C[i] = b * A[i] + b")[1]
    True
    """
    if node in replacements:
        return replacements[node]
    if isinstance(node, Sum):
        return Sum(node.index, substitute(node.body, replacements))
    if isinstance(node, Apply):
        return Apply(node.name, tuple(substitute(part, replacements) for part in node.parts))
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
    return reduce(lambda x, y: Apply("*", (x, y)), [factor for factor in factors if factor != ONE] or [ONE])


def settle_roots(node: Node, sizes: Mapping[str, int]) -> Node:
    """Return a tree with the roots of squares as numbers: 1 / sqrt(K) is 1/8 where the size K is 64.

    >>> from verify.kernel.claims.expression import read_claim
    >>> _, eighth, _ = list_factors(settle_roots(read_claim("C[i] = 1 / sqrt(K) * A[i]")[1], {"K": 64}))
    >>> eighth.value
    Fraction(1, 8)
    """
    return replace_each(node, lambda part: _settle_root(part, sizes))


def _settle_root(node: Node, sizes: Mapping[str, int]) -> Node:
    """Return a root, or the inverse of a number, as a number if it is one; anything else as it is."""
    if not isinstance(node, Apply) or node.name not in ("sqrt", "rsqrt", "rcp"):
        return node
    number = _find_number(node.parts[0], sizes)
    if number is None or number <= 0:
        return node
    if node.name == "rcp":
        return ClaimNumber(1 / number) if isinstance(node.parts[0], ClaimNumber) else node
    root = Fraction(isqrt(number.numerator), isqrt(number.denominator))
    return node if root * root != number else ClaimNumber(root if node.name == "sqrt" else 1 / root)


def _find_number(node: Node, sizes: Mapping[str, int]) -> Fraction | None:
    """Return the number that sums and products of numbers and sizes are; None for anything else."""
    if isinstance(node, ClaimNumber):
        return node.value
    if isinstance(node, Scalar):
        return Fraction(sizes[node.name]) if node.name in sizes else None
    if not isinstance(node, Apply) or node.name not in _ARITHMETIC:
        return None
    parts = [_find_number(part, sizes) for part in node.parts]
    return None if None in parts else _ARITHMETIC[node.name](*parts)


def divide_by_logged(node: Node) -> Node:
    """Return a tree with exp(x) / y in place of exp(x - log(y)), if it is seen that y is above 0.

    >>> from verify.kernel.claims.expression import read_claim
    >>> tree = read_claim("C[m,n] = exp(A[m,n] - logsumexp_n(A[m,n]))")[1]
    >>> divide_by_logged(tree) == read_claim("C[m,n] = softmax_n(A[m,n])")[1]
    True
    """
    return replace_each(node, _divide_power)


def _divide_power(node: Node) -> Node:
    """Return a power of 2 as a quotient, if its exponent has a logarithm to the same base."""
    if not isinstance(node, Apply) or node.name != "ex2":
        return node
    exponent, factor, unit = node.parts[0], ONE, ONE
    factors = list_factors(exponent)
    if isinstance(factors[-1], ClaimNumber) and factors[-1] in LOGS:
        factor, unit, exponent = factors[-1], LOGS[factors[-1]], multiply(*factors[:-1])
    terms = [(sign, term, _find_logged(term, unit)) for sign, term in list_terms(exponent)]
    logged = [Apply("rcp", (y,)) if sign < 0 else y for sign, _, y in terms if y is not None]
    if not logged:
        return node
    rest = add_up((sign, term) for sign, term, y in terms if y is None)
    power = Apply("ex2", (multiply(rest, factor),))
    return multiply(*([] if rest == ZERO else [power]), *logged)


def add_up(terms: Iterable[tuple[int, Node]]) -> Node:
    """Return the sum of terms with their signs.

    >>> from verify.kernel.claims.expression import read_claim
    >>> tree = read_claim("C[i] = A[i] - B[i]")[1]
    >>> add_up(list_terms(tree)) == tree
    True
    """
    made: Node = ZERO
    for sign, term in terms:
        made = term if made == ZERO and sign > 0 else Apply("+" if sign > 0 else "-", (made, term))
    return made


def _find_logged(node: Node, unit: ClaimNumber) -> Node | None:
    """Return the y of log2(y) times a unit, if it is seen that y is above 0."""
    first, *rest = list_factors(node)
    logarithm = first if rest == ([] if unit == ONE else [unit]) else ZERO
    known = isinstance(logarithm, Apply) and logarithm.name == "lg2" and _is_positive(logarithm.parts[0])
    return logarithm.parts[0] if known else None  # type: ignore[union-attr]


def _is_positive(node: Node) -> bool:
    """Return whether a number is seen to be above 0, or 0 where all that it sums is masked."""
    if isinstance(node, Sum):
        return _is_positive(node.body)
    if isinstance(node, Apply):
        parts = node.parts[2:] if node.name == "where" else node.parts
        return node.name == "ex2" or (node.name in ("+", "*", "rcp", "where") and all(map(_is_positive, parts)))
    return isinstance(node, ClaimNumber) and node.value >= 0


def list_products(node: Node) -> list[Apply]:
    """Return every product of a tree, but none that is a factor of another."""
    products = [part for part in list_parts(node) if isinstance(part, Apply) and part.name == "*"]
    inner = {part for product in products for part in product.parts}
    return [product for product in products if product not in inner]


def drop_factor(product: Node, factor: Node) -> Node:
    """Return a product without a factor, once."""
    rest = list_factors(product)
    rest.remove(factor)
    return multiply(*rest)
