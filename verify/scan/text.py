# SPDX-License-Identifier: Apache-2.0
"""The text of a C++ header: comments and directives blanked, brackets matched, offsets as lines and columns.

>>> header = Header("a.hpp", "struct A { /* } */ };")
>>> header.code, header.closing(9)
('struct A {         };', 19)
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property

from verify.core.verdict import Place

LARGEST = 1 << 24  # characters of a header
MOST_BRACES = 1 << 20
DEEPEST = 256  # braces in braces
# each alternative ends at the end of the text too, so that nothing is scanned twice
BLANKED = re.compile(
    r"//(?:\\\n|[^\n])*+|/\*[\s\S]*?(?:\*/|\Z)|\"(?:[^\"\\\n]|\\[\s\S])*+(?:\"|(?=\n)|\Z)|'(?:[^'\\\n]|\\.){1,8}'|"
    r"^[ \t]*\#(?:\\\r?\n|/\*[\s\S]*?(?:\*/|\Z)|[^\n])*+",
    re.MULTILINE,
)
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
BLANKED_STRING = re.compile(r"\$+")
DIRECTIVE = re.compile(r"^[ \t]*\#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b[ \t]*([^\n]*)", re.MULTILINE)
NOT_NEWLINE = re.compile(r"[^\n]")
BRACE = re.compile(r"[{}]")


class ReadError(Exception):
    """Something in a header that cannot be read, with its place."""

    def __init__(self, place: Place, problem: str) -> None:
        super().__init__(f"{place}: {problem}")
        self.place, self.problem = place, problem


class Header:
    """One header. Raises ReadError, with one line, for what isn't text, too large or unbalanced."""

    def __init__(self, path: str, text: str) -> None:
        self.path, self.text = path, text
        if len(text) > LARGEST:
            raise self.fail(0, f"a header of {len(text)} characters, at most {LARGEST} are read")
        if (nul := text.find("\0")) >= 0:
            raise self.fail(nul, "a NUL character: this isn't text")
        self.code = BLANKED.sub(_blank, text)
        for start, end in _find_disabled(text):
            self.code = self.code[:start] + NOT_NEWLINE.sub(" ", self.code[start:end]) + self.code[end:]
        self._closing = self._closing_braces()

    @cached_property
    def _newlines(self) -> list[int]:
        return [match.start() for match in re.finditer("\n", self.text)]

    @cached_property
    def code_with_strings(self) -> str:
        """The code with its strings."""
        return BLANKED_STRING.sub(lambda match: self.text[match.start() : match.end()], self.code)

    def strings(self, start: int, end: int) -> Iterator[re.Match[str]]:
        """Yield the strings between two offsets, those in comments left out; group 1 is what stands in the quotes."""
        for blanked in BLANKED_STRING.finditer(self.code, start, end):
            yield from STRING.finditer(self.text, blanked.start(), blanked.end())

    def place(self, offset: int) -> Place:
        """Return the line and column of an offset."""
        before = bisect_right(self._newlines, offset - 1)
        start = self._newlines[before - 1] + 1 if before else 0
        return Place(self.path, before + 1, offset - start + 1)

    def fail(self, offset: int, problem: str) -> ReadError:
        """Return the error at an offset."""
        return ReadError(self.place(offset), problem)

    def closing(self, opening: int) -> int:
        """Return the offset of the brace that closes one."""
        return self._closing[opening]

    def _closing_braces(self) -> dict[int, int]:
        closing: dict[int, int] = {}
        opened: list[int] = []
        code = self.code
        for brace in BRACE.finditer(code):
            at = brace.start()
            if code[at] == "{":
                opened.append(at)
                if len(opened) > DEEPEST:
                    raise self.fail(at, f"braces nested deeper than {DEEPEST}")
                if len(closing) > MOST_BRACES:
                    raise self.fail(at, f"more than {MOST_BRACES} braces")
            elif not opened:
                raise self.fail(at, "a '}' that closes nothing")
            else:
                closing[opened.pop()] = at
        if opened:
            raise self.fail(opened[-1], "a '{' that is never closed")
        return closing


def _blank(match: re.Match[str]) -> str:
    """Replace a string by dollars, a comment or directive by blanks: offsets and lines stay."""
    text = match[0]
    if text[0] in "\"'":
        return "$" * len(text) if "\n" not in text else NOT_NEWLINE.sub("$", text)
    return " " * len(text) if "\n" not in text else NOT_NEWLINE.sub(" ", text)


def _find_disabled(text: str) -> Iterator[tuple[int, int]]:
    """Yield the ranges that `#if 0` leaves out."""
    if "if 0" not in text:
        return
    depth, inside, start = 0, 0, 0  # how deep the directives are, and where the outermost `#if 0` began
    for match in DIRECTIVE.finditer(text):
        word = match[1]
        if word.startswith("if"):
            depth += 1
            if not inside and word == "if" and match[2].strip() == "0":
                inside, start = depth, match.end()
        elif inside == depth and inside:
            yield start, match.start()
            inside = 0
        depth -= word == "endif"
