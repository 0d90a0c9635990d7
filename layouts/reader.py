# SPDX-License-Identifier: Apache-2.0
"""A text and the position up to which it is read: the reader of CuTe's notation, which other spellings extend."""

from __future__ import annotations

import re

from layouts.errors import LayoutParseError
from layouts.int_tuple import MAX_DEPTH, IntTuple

# Far above any layout: they bound what a text of somebody else can cost.
MAX_TEXT = 64 * 1024
MAX_DIGITS = 64
INTEGER = re.compile(r"_?(-?[0-9]+)")
SPACE = re.compile(r"[ \t\r\n]*")


class Reader:
    """A parser: a text and the position up to which it is read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        if len(text) > MAX_TEXT:
            raise LayoutParseError(text, MAX_TEXT + 1, f"text longer than {MAX_TEXT} characters")
        self.blank()

    def fail(self, problem: str, at: int | None = None) -> LayoutParseError:
        """Return the error at a position, by default the one up to which the text is read."""
        return LayoutParseError(self.text, (self.at if at is None else at) + 1, problem)

    def blank(self) -> None:
        """Skip blanks."""
        match = SPACE.match(self.text, self.at)
        self.at = match.end() if match else self.at

    def sees(self, mark: str) -> bool:
        """Whether a mark is next."""
        return self.text.startswith(mark, self.at)

    def next_character(self) -> str:
        """Return the next character, for messages."""
        return repr(self.text[self.at]) if self.at < len(self.text) else "the end"

    def expect(self, mark: str) -> None:
        """Read a mark, with the blanks after it. Raises LayoutParseError."""
        if not self.sees(mark):
            raise self.fail(f"expected {mark!r}, found {self.next_character()}")
        self.at += len(mark)
        self.blank()

    def end(self) -> None:
        """Raise LayoutParseError unless the whole text is read."""
        if self.at < len(self.text):
            raise self.fail(f"expected the end, found {self.next_character()}")

    def int_tuple(self, level: int = 0) -> IntTuple:
        """Return an integer, or items in parentheses."""
        return self.items("(", ")", level) if self.sees("(") else self.integer()

    def items(self, opening: str, closing: str, level: int) -> IntTuple:
        """Return the integer tuples in brackets, separated by commas."""
        if level == MAX_DEPTH:
            raise self.fail(f"parentheses nested deeper than {MAX_DEPTH}")
        self.expect(opening)
        items: list[IntTuple] = []
        while not self.sees(closing):
            items.append(self.int_tuple(level + 1))
            if not self.sees(closing):
                if not self.sees(","):
                    raise self.fail(f"expected ',' or {closing!r}, found {self.next_character()}")
                self.expect(",")
        self.expect(closing)
        return tuple(items)

    def integer(self) -> int:
        """Return an integer; CuTe writes a static one with an underscore."""
        token = INTEGER.match(self.text, self.at)
        if token is None:
            if self.sees("_"):
                raise self.fail("'_' means a whole mode and is for tilers only, expected an integer")
            raise self.fail(f"expected an integer or '(', found {self.next_character()}")
        if len(token[1]) > MAX_DIGITS:
            raise self.fail(f"integer of more than {MAX_DIGITS} digits")
        self.at = token.end()
        self.blank()
        return int(token[1])
