# SPDX-License-Identifier: Apache-2.0
"""The syntax tree of index arithmetic, the same for C and Python: each node has its place in the text.

`Tree`              a number, a name, an operation, a comparison, a choice, a cast or a call
`Code`              the declarations of a text, and the expression that is its value
`ExpressionError`   what is wrong in a text, with line and column
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias


class ExpressionError(ValueError):
    """A text that is no expression of its language; `column` counts from 1 in the line `line` of the text."""

    def __init__(self, problem: str, text: str, offset: int) -> None:
        self.problem, self.text, self.offset = problem, text, offset
        self.line = text.count("\n", 0, offset) + 1
        self.column = offset - (text.rfind("\n", 0, offset) + 1) + 1
        where = f"line {self.line}, column {self.column}" if self.line > 1 else f"column {self.column}"
        super().__init__(f"{problem} at {where} of {_shorten(text)!r}")


def _shorten(text: str) -> str:
    plain = " ".join(text[:80].split())
    return plain if len(text) <= 60 else f"{plain[:57]}..."


class Node:
    """A part of the tree with its place in the text, text[start:end], and its depth; equal by its fields."""

    __match_args__: tuple[str, ...] = ()
    start = end = 0
    depth = 1

    def __init__(self, *values: object) -> None:
        for name, value in zip(self.__match_args__, values, strict=True):
            setattr(self, name, value)

    @property
    def parts(self) -> tuple[Tree, ...]:
        """The trees directly inside."""
        return ()

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and all(
            getattr(self, name) == getattr(other, name) for name in self.__match_args__
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(repr(getattr(self, name)) for name in self.__match_args__)})"


class Number(Node):
    """A literal, with C's suffix: "", u, ll or ull; `decimal` because C gives hexadecimal ones other types."""

    __match_args__ = ("value", "suffix", "decimal")
    value: int
    suffix: str
    decimal: bool

    def __repr__(self) -> str:
        return f"Number({self.value})"


class Name(Node):
    """A coordinate, or a name that a declaration defines."""

    __match_args__ = ("name",)
    name: str


class Unary(Node):
    """op operand, op one of - + ~ ! (Python's `not` is !)."""

    __match_args__ = ("op", "operand")
    op: str
    operand: Tree

    @property
    def parts(self) -> tuple[Tree, ...]:
        """The trees directly inside."""
        return (self.operand,)


class Binary(Node):
    """left op right; Python's `and` and `or` are && and ||."""

    __match_args__ = ("op", "left", "right")
    op: str
    left: Tree
    right: Tree

    @property
    def parts(self) -> tuple[Tree, ...]:
        """The trees directly inside."""
        return self.left, self.right


class Compare(Node):
    """Python's comparison, maybe chained: a < b < c is a < b and b < c."""

    __match_args__ = ("operands", "ops")
    operands: list[Tree]
    ops: list[str]

    @property
    def parts(self) -> tuple[Tree, ...]:
        """The trees directly inside."""
        return tuple(self.operands)


class Ternary(Node):
    """test ? then : otherwise, or `then if test else otherwise`."""

    __match_args__ = ("test", "then", "otherwise")
    test: Tree
    then: Tree
    otherwise: Tree

    @property
    def parts(self) -> tuple[Tree, ...]:
        """The trees directly inside."""
        return self.test, self.then, self.otherwise


class Cast(Node):
    """(type) operand."""

    __match_args__ = ("type", "operand")
    type: str
    operand: Tree

    @property
    def parts(self) -> tuple[Tree, ...]:
        """The trees directly inside."""
        return (self.operand,)


class Call(Node):
    """min, max or abs."""

    __match_args__ = ("function", "arguments")
    function: str
    arguments: list[Tree]

    @property
    def parts(self) -> tuple[Tree, ...]:
        """The trees directly inside."""
        return tuple(self.arguments)


Tree: TypeAlias = Number | Name | Unary | Binary | Compare | Ternary | Cast | Call


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
    """Yield a tree and everything inside it, from left to right."""
    yield tree
    for part in tree.parts:
        yield from nodes(part)
