# SPDX-License-Identifier: Apache-2.0
"""Texts with parameters: ``{N}`` is a parameter's value, ``{N//8}`` and ``{2048*N}`` are computed from it.

Between braces are parameters and integers, joined by ``*`` and ``//`` from left to right; a quotient must be
whole. A parameter whose values are words must be alone between its braces.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TypeAlias

Word: TypeAlias = "int | str"
PLACE = re.compile(r"\{([^{}]*)\}")
TOKEN = re.compile(r"\s*([A-Za-z][A-Za-z0-9]*|[0-9]{1,9}|\*|//)\s*")
LARGEST = 2**24  # number of a template: far above any extent or stride of an atom


class TemplateError(ValueError):
    """A placeholder that cannot be read or filled; the message says which and why."""


def names(text: str) -> set[str]:
    """Return the parameters that a text uses.

    >>> sorted(names("({M//2},{N})"))
    ['M', 'N']
    """
    return {token for place in PLACE.findall(text) for token in re.findall(r"[A-Za-z]\w*", place)}


def fill(text: str, params: Mapping[str, Word]) -> str:
    """Return the text with its placeholders replaced.

    >>> fill("(2,2,{N//8}):(64,8,512)", {"N": 256})
    '(2,2,32):(64,8,512)'

    Raises TemplateError.
    """
    return PLACE.sub(lambda place: str(evaluate(place[1], params)), text)


def evaluate(expression: str, params: Mapping[str, Word]) -> Word:
    """Return the value of the text between braces: a number, or the word of a parameter.

    Raises TemplateError: unknown parameter, no such operator, a quotient that is not whole, a number above 2^24.
    """
    first, *rest = tokens(expression)
    value = _operand(expression, first, params)
    if not rest:
        return value
    if len(rest) % 2:
        raise TemplateError(f"{{{expression}}} ends in an operator")
    for operator, token in zip(rest[::2], rest[1::2], strict=True):
        value = _apply(expression, value, operator, _operand(expression, token, params))
    return value


@lru_cache(maxsize=1024)  # the members of a family have the same expressions
def tokens(expression: str) -> tuple[str, ...]:
    """Return the names, numbers and operators of an expression; raises TemplateError."""
    parts, at = list[str](), 0
    while at < len(expression):
        token = TOKEN.match(expression, at)
        if token is None:
            raise TemplateError(f"{{{expression}}}: {expression[at]!r} is neither a name, a number, * nor //")
        parts.append(token[1])
        at = token.end()
    if not parts:
        raise TemplateError("{} is empty")
    return tuple(parts)


def _operand(expression: str, token: str, params: Mapping[str, Word]) -> Word:
    if token.isdigit():
        return int(token)
    if token not in params:
        raise TemplateError(f"{{{expression}}}: no parameter {token!r} (there are: {', '.join(params) or 'none'})")
    return params[token]


def _apply(expression: str, left: Word, operator: str, right: Word) -> int:
    if not (isinstance(left, int) and isinstance(right, int)):
        raise TemplateError(f"{{{expression}}}: a word cannot be computed with")
    if operator == "*" and left * right <= LARGEST:
        return left * right
    if operator == "*":
        raise TemplateError(f"{{{expression}}}: {left}*{right} is above {LARGEST}")
    if operator != "//":
        raise TemplateError(f"{{{expression}}}: expected * or //, found {operator!r}")
    if right == 0 or left % right:
        raise TemplateError(f"{{{expression}}}: {left} is not divisible by {right}")
    return left // right
