# SPDX-License-Identifier: Apache-2.0
"""The syntax tree of index arithmetic, the same for C and Python: each node has its place in the text.

`Tree`              a number, a name, an operation, a comparison, a choice, a cast or a call
`Code`              the declarations of a text, and the expression that is its value
`ExpressionError`   what is wrong in a text, with line and column
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias


class ExpressionError(ValueError):
    """A text that is no expression of its language; `column` counts from 1 in the line `line` of the text."""

    def __init__(self, problem: str, text: str, offset: int) -> None:
        self.problem, self.text, self.offset = problem, text, offset
        self.line = text.count("\n", 0, offset) + 1
        self.column = offset - (text.rfind("\n", 0, offset) + 1) + 1
        where = f"line {self.line}, column {self.column}" if self.line > 1 else f"column {self.column}"
        super().__init__(f"{problem} at {where} of {_shown(text)!r}")


def _shown(text: str) -> str:
    plain = " ".join(text[:80].split())
    return plain if len(text) <= 60 else f"{plain[:57]}..."


@dataclass
class Node:
    """A part of the tree with its place in the text: text[start:end]."""

    start: int = field(default=0, init=False, repr=False, compare=False)
    end: int = field(default=0, init=False, repr=False, compare=False)
    depth: int = field(default=1, init=False, repr=False, compare=False)

    @property
    def parts(self) -> tuple[Tree, ...]:
        """The trees directly inside."""
        return ()


@dataclass
class Number(Node):
    """A literal, with C's suffix: "", u, ll or ull; `decimal` because C gives hexadecimal ones other types."""

    value: int
    suffix: str = field(default="", repr=False)
    decimal: bool = field(default=True, repr=False)

    def __repr__(self) -> str:
        return f"Number({self.value})"


@dataclass
class Name(Node):
    """A coordinate, or a name that a declaration defines."""

    name: str

    def __repr__(self) -> str:
        return f"Name({self.name!r})"


@dataclass
class Unary(Node):
    """op operand, op one of - + ~ ! (Python's `not` is !)."""

    op: str
    operand: Tree

    @property
    def parts(self) -> tuple[Tree, ...]:
        """The trees directly inside."""
        return (self.operand,)

    def __repr__(self) -> str:
        return f"Unary({self.op!r}, {self.operand})"


@dataclass
class Binary(Node):
    """left op right; Python's `and` and `or` are && and ||."""

    op: str
    left: Tree
    right: Tree

    @property
    def parts(self) -> tuple[Tree, ...]:
        """The trees directly inside."""
        return self.left, self.right

    def __repr__(self) -> str:
        return f"Binary({self.op!r}, {self.left}, {self.right})"


@dataclass
class Compare(Node):
    """Python's comparison, maybe chained: a < b < c is a < b and b < c."""

    operands: list[Tree]
    ops: list[str]

    @property
    def parts(self) -> tuple[Tree, ...]:
        """The trees directly inside."""
        return tuple(self.operands)

    def __repr__(self) -> str:
        return f"Compare({self.operands}, {self.ops})"


@dataclass
class Choice(Node):
    """test ? then : otherwise, or `then if test else otherwise`."""

    test: Tree
    then: Tree
    otherwise: Tree

    @property
    def parts(self) -> tuple[Tree, ...]:
        """The trees directly inside."""
        return self.test, self.then, self.otherwise


@dataclass
class Cast(Node):
    """(type) operand."""

    type: str
    operand: Tree

    @property
    def parts(self) -> tuple[Tree, ...]:
        """The trees directly inside."""
        return (self.operand,)


@dataclass
class Call(Node):
    """min, max or abs."""

    function: str
    arguments: list[Tree]

    @property
    def parts(self) -> tuple[Tree, ...]:
        """The trees directly inside."""
        return tuple(self.arguments)


Tree: TypeAlias = Number | Name | Unary | Binary | Compare | Choice | Cast | Call


class Declaration(NamedTuple):
    """`type name = value`: a name that later expressions use; `type` is empty where none is given."""

    name: str
    type: str
    value: Tree


class Code(NamedTuple):
    """A text: its declarations in their order, and the expression that is its value."""

    text: str
    language: str
    declarations: tuple[Declaration, ...]
    result: Tree
    nodes: int  # of all its trees


def nodes(tree: Tree) -> Iterator[Tree]:
    """A tree and everything inside it, from left to right."""
    yield tree
    for part in tree.parts:
        yield from nodes(part)
