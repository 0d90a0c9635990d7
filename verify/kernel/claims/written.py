# SPDX-License-Identifier: Apache-2.0
"""A claim's tree as its text."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from verify.kernel.claims.expression import LARGEST, Apply, Below, ClaimNumber, Element, Node, Scalar, Sum


def spell_node(node: Node) -> str:
    """Return a tree as a claim has it."""
    if isinstance(node, ClaimNumber | Scalar | Below | Element):
        return _written_leaf(node)
    if isinstance(node, Sum):
        return f"sum_{node.index} {_parenthesize(node.body)}"
    if node.name == LARGEST and isinstance(node.parts[0], Sum):
        return f"max_{node.parts[0].index}({spell_node(node.parts[0].body)})"
    parts = [spell_node(part) for part in node.parts]
    if node.name == "*":
        return "*".join(map(_parenthesize, node.parts))
    if node.name in ("+", "-"):
        return f"{parts[0]} {node.name} {parts[1] if node.name == '+' else _parenthesize(node.parts[1])}"
    if node.name == "where":
        parts[:2] = [f"{parts[0]} > {parts[1]}"]
    return f"{node.name}({', '.join(parts)})"


def _written_leaf(node: ClaimNumber | Scalar | Below | Element) -> str:
    if isinstance(node, Element):
        return f"{node.name}[{','.join(node.indices)}]"
    if isinstance(node, Below):
        return "-inf"
    return node.name if isinstance(node, Scalar) else _spell_number(node.value)


def _spell_number(value: Fraction) -> str:
    """Return a number; one that no float is as a quotient of whole ones."""
    if Fraction(float(value)) == value:
        return _shortest(float(value))
    return f"{'-' * (value < 0)}({abs(value.numerator)} / {value.denominator})"


def _shortest(number: float) -> str:
    """Return the fewest digits that say which number of its type it is: f32 if it is one, else f64."""
    with np.errstate(over="ignore"):
        short = np.float32(number)
    return str(short if float(short) == number else number).removesuffix(".0")


def _parenthesize(node: Node) -> str:
    """Return a tree in parentheses if an operation before or behind it would take a part of it."""
    return f"({spell_node(node)})" if _loose(node) else spell_node(node)


def _loose(node: Node) -> bool:
    return isinstance(node, Sum) or (isinstance(node, Apply) and node.name in ("+", "-"))
