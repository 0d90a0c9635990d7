# SPDX-License-Identifier: Apache-2.0
"""C++ types and constant expressions, parsed into trees. Nothing is evaluated here.

>>> parse("Layout<Shape<_4,Int<N/8>>>")
('name', (('Layout', (('name', (('Shape', (('name', (('_4', None),)), ('name', (('Int', (('binary', '/', \
('name', (('N', None),)), ('number', 8)),)),)))),)),)),))
>>> parse("M == 64 ? 1 : sizeof_bits<T>::value")[0]
'condition'
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

Tree = tuple[Any, ...]
TOKEN = re.compile(
    r"\s*(?:(::|->|&&|\|\||<<|==|!=|<=|>=|\.\.\.|[A-Za-z_]\w*|0[xX][0-9a-fA-F]+|\d+)(?:(?<=[0-9a-fA-F])[uUlL]+\b)?|(\S))"
)
NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|\d+")
NAME = re.compile(r"[A-Za-z_]\w*")
MOST = 4096  # tokens
DEEPEST = 48
LEVELS = (("||",), ("&&",), ("|",), ("&",), ("==", "!="), ("<", ">", "<=", ">="), ("<<",), ("+", "-"), ("*", "/", "%"))
SKIPPED = ("typename", "const", "template", "constexpr", "class")


class SyntaxProblem(Exception):
    """A text that isn't a type or expression of the subset that is read."""


@lru_cache(maxsize=8192)
def parse(text: str) -> Tree:
    """Return the tree of a type or expression. Raises SyntaxProblem."""
    parser = ExpressionParser(text)
    tree = parser.ternary(False)
    parser.end()
    return tree


@lru_cache(maxsize=8192)
def arguments(text: str) -> tuple[Tree, ...]:
    """Return the trees of a list of template arguments. Raises SyntaxProblem."""
    if not text.strip():
        return ()
    parser = ExpressionParser(text)
    trees = [parser.ternary(False)]
    while parser.take(","):
        trees.append(parser.ternary(False))
    parser.end()
    return tuple(trees)


class ExpressionParser:
    """A recursive-descent parser over the tokens of one text."""

    def __init__(self, text: str) -> None:
        self.tokens: list[str] = []
        for match in TOKEN.finditer(text):
            self.tokens.append(match[1] or match[2])
            if len(self.tokens) > MOST:
                raise SyntaxProblem(f"an expression of more than {MOST} words")
        self.at = self.depth = 0

    def see(self) -> str:
        """Return the next token; empty at the end."""
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, token: str) -> bool:
        """Whether the next token is this one, then read."""
        is_next = self.see() == token
        self.at += is_next
        return is_next

    def expect(self, token: str) -> None:
        """Read a token. Raises SyntaxProblem for any other."""
        if not self.take(token):
            raise SyntaxProblem(f"expected {token!r}, found {self.see()!r}")

    def end(self) -> None:
        """Raise SyntaxProblem unless everything is read."""
        if self.at < len(self.tokens):
            raise SyntaxProblem(f"unexpected {self.see()!r}")

    def ternary(self, inside: bool) -> Tree:
        """Return an expression; `inside` angle brackets a `>` ends it."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise SyntaxProblem(f"nested deeper than {DEEPEST}")
        tree = self.binary(0, inside)
        if self.take("?"):
            first = self.ternary(inside)
            self.expect(":")
            tree = ("condition", tree, first, self.ternary(inside))
        self.depth -= 1
        return tree

    def binary(self, level: int, inside: bool) -> Tree:
        """Operators of one level and above, from left to right."""
        if level == len(LEVELS):
            return self.unary(inside)
        tree = self.binary(level + 1, inside)
        while self.see() in LEVELS[level] and not (inside and self.see() in (">", ">=")):
            operator = self.see()
            self.at += 1
            tree = ("binary", operator, tree, self.binary(level + 1, inside))
        return tree

    def unary(self, inside: bool) -> Tree:
        """Return a primary expression with its signs and suffixes."""
        while self.see() in SKIPPED:
            self.at += 1
        token = self.see()
        if token and token in "!-+~":
            self.depth += 1
            if self.depth > DEEPEST:
                raise SyntaxProblem(f"nested deeper than {DEEPEST}")
            self.at += 1
            tree: Tree = ("unary", token, self.unary(inside))
            self.depth -= 1
            return tree
        return self.parse_suffixes(self.primary(), inside)

    def primary(self) -> Tree:
        """Return a number, a name, an expression in parentheses, or a type in decltype and sizeof."""
        token = self.see()
        self.at += 1
        if NUMBER.fullmatch(token):
            return ("number", int(token, 0) if token[:2].lower() == "0x" else int(token))
        if token == "(":
            tree = self.ternary(False)
            self.expect(")")
            return tree
        if token in ("true", "false"):
            return ("number", int(token == "true"))
        if token == "::":
            token = self.see()
            self.at += 1
        if token in ("decltype", "sizeof") and self.take("("):
            tree = self.ternary(False)
            self.expect(")")
            inner: Tree = (token, tree)
            while self.take("::"):
                inner = ("member", inner, self.segment())
            return inner
        if not NAME.fullmatch(token):
            raise SyntaxProblem(f"expected a type or a number, found {token!r}")
        self.at -= 1
        path = [self.segment()]
        while self.take("::"):
            self.take("template")
            path.append(self.segment())
        return ("name", tuple(path))

    def segment(self) -> tuple[str, tuple[Tree, ...] | None]:
        """One part of a qualified name, with its template arguments."""
        name = self.see()
        if not NAME.fullmatch(name):
            raise SyntaxProblem(f"expected a name, found {name!r}")
        self.at += 1
        if self.see() != "<" or not self.is_template():
            return name, None
        self.at += 1
        trees = []
        if self.see() != ">":
            trees.append(self.ternary(True))
            while self.take(","):
                trees.append(self.ternary(True))
        self.expect(">")
        return name, tuple(trees)

    def is_template(self) -> bool:
        """Whether the `<` at hand opens template arguments: its `>` follows with no logical operator between."""
        depth = parens = 0
        for token in self.tokens[self.at :]:
            if token in "()":
                parens += 1 if token == "(" else -1
                if parens < 0:
                    return False
            elif parens == 0 and token in ("&&", "||"):
                return False
            elif parens == 0 and token in "<>":
                depth += 1 if token == "<" else -1
                if depth == 0:
                    return True
        return False

    def parse_suffixes(self, tree: Tree, inside: bool) -> Tree:
        """Return a primary with calls, braces, members, pointers and extents after it."""
        while True:
            if self.see() == "(":
                self.at += 1
                tree = ("call", tree, self.parse_list(")"))
            elif self.see() == "{":
                self.at += 1
                tree = ("braces", tree, self.parse_list("}"))
            elif self.see() == "[":
                self.at += 1
                extent = self.ternary(False)
                self.expect("]")
                tree = ("array", tree, extent)
            elif self.see() == "...":
                self.at += 1
                tree = ("pack", tree)
            elif self.see() == "const" or (self.see() in ("*", "&") and self._ends_type(inside)):
                self.at += 1
                tree = ("pointer", tree)
            else:
                return tree

    def _ends_type(self, inside: bool) -> bool:
        after = self.tokens[self.at + 1] if self.at + 1 < len(self.tokens) else ""
        return after in ("", ",", ")", "const", "*", "&") or (inside and after == ">")

    def parse_list(self, closing: str) -> tuple[Tree, ...]:
        """Expressions up to a closing bracket."""
        trees = []
        while not self.take(closing):
            trees.append(self.ternary(False))
            if not self.take(","):
                self.expect(closing)
                break
        return tuple(trees)
