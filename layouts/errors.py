# SPDX-License-Identifier: Apache-2.0
"""Errors of layouts, of their texts, and of the arguments of operations."""

EXCERPT = 60  # letters of a user's text that a message quotes


class LayoutError(ValueError):
    """A precondition of a layout or of an operation is violated; the message names it, with the numbers."""


class RejectedError(LayoutError):
    """An operation has no result for its arguments: a template and its parts, made a text when it is asked for.

    >>> str(RejectedError("{} has {} modes", "(4,8)", 2))
    '(4,8) has 2 modes'
    """

    def __str__(self) -> str:
        template, *parts = self.args
        return str(template).format(*parts)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


class ProfileError(LayoutError):
    """Shape and stride do not have the same profile: the nesting of their parentheses differs."""


class LayoutParseError(LayoutError):
    """A text isn't a layout, or no integer tuple.

    The message has the text and the column (from 1) where parsing stopped, with the line if the text has several.
    """

    def __init__(self, text: str, column: int, problem: str) -> None:
        self.text = text
        self.column = column
        self.problem = problem
        before = text[: column - 1]
        line = before.count("\n") + 1
        where = f"column {column}" if line == 1 else f"line {line}, column {column - before.rfind(chr(10)) - 1}"
        super().__init__(f"cannot read {_excerpt(text, column)!r}: {problem} at {where}")

    def __reduce__(self) -> tuple[type, tuple[str, int, str]]:
        """Pickle by the three arguments, so that the error crosses process borders."""
        return type(self), (self.text, self.column, self.problem)


def _excerpt(text: str, column: int) -> str:
    if len(text) <= EXCERPT:
        return text
    start = max(0, column - EXCERPT // 2)
    end = start + EXCERPT
    return ("..." if start else "") + text[start:end] + ("..." if end < len(text) else "")
