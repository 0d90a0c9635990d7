# SPDX-License-Identifier: Apache-2.0
"""The declarations of a C++ header that traits are made of: aliases, structs, constants, namespaces.

Bodies of functions and everything else are passed over.

>>> header = Header("a.hpp", "namespace cute { template <int N> struct A<N> : B { using C = D; }; }")
>>> [(item.kind, item.name, item.arguments, item.bases) for item in items(header, 17, header.closing(15))]
[('struct', 'A', 'N', 'B')]
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from verify.scan.text import Header

LONGEST = 1 << 14  # characters of template parameters, arguments or bases
BLANK = re.compile(r"[\s;]*")
WORD = re.compile(r"[A-Za-z_]\w*|.", re.DOTALL)
ANGLE = re.compile(r"[<>(){};]|->|<<|[<>]=")
STOP = re.compile(r"[;{}]")
NAMESPACE = re.compile(r"(?:inline\s+)?namespace\s*((?:[A-Za-z_]\w*\s*(?:::\s*)?)*)\{")
ALIAS = re.compile(r"using\s+([A-Za-z_]\w*)\s*=")
USING = re.compile(r"using\s+(namespace\s+|typename\s+)?([\w:\s]+)$")
STRUCT = re.compile(r"(?:struct|class)\s+(?:(?:alignas|__align__|CUTE_\w+)\s*(?:\([^()]*\)\s*)?)*([A-Za-z_]\w*)\s*")
CONSTANT = re.compile(r"(?:(?:static|constexpr|inline|const)\s+)+[\w:]+\s+(?:const\s+)?([A-Za-z_]\w*)\s*=([^;{}]*);")
ASSERTION = re.compile(r"(?:CUTE_STATIC_ASSERT(?:_V)?|static_assert)\s*\(")
LABEL = re.compile(r"(?:public|private|protected)\s*:(?!:)")


@dataclass(frozen=True, slots=True, eq=False)
class Item:
    """One declaration."""

    kind: str  # namespace, struct, alias, using, directive or constant
    name: str  # of a namespace: with ::; of a using: the path
    header: Header  # where it is written
    at: int  # the offset of its first word
    params: str | None = None  # the text between the angle brackets of its template; None: none
    arguments: str | None = None  # of a specialization
    bases: str = ""  # the text after the colon
    text: str = ""  # of an alias or constant: what it is
    text_at: int = 0  # where that begins
    body: tuple[int, int] | None = None  # of a struct or namespace: the offsets between its braces


def items(header: Header, start: int, end: int) -> Iterator[Item]:
    """Yield the declarations between two offsets, nested ones left in their bodies. Raises ReadError."""
    code, at = header.code, start
    params: str | None = None
    while True:
        blank = BLANK.match(code, at, end)
        at = blank.end() if blank else at
        if at >= end:
            return
        word = WORD.match(code, at, end)
        first = word[0] if word else ""
        if first == "template" and (opened := code.find("<", at, end)) >= 0 and not code[at + 8 : opened].strip():
            closed = angles(header, opened, end)
            params, at = code[opened + 1 : closed], closed + 1
            continue
        item, at = _read_item(header, first, at, end, params)
        params = None
        if item is not None:
            yield item


def _read_item(header: Header, first: str, at: int, end: int, params: str | None) -> tuple[Item | None, int]:
    """One declaration, None for another sort, and where the next begins."""
    code = header.code
    if first in ("namespace", "inline") and (match := NAMESPACE.match(code, at, end)):
        closed = header.closing(match.end() - 1)
        name = re.sub(r"\s", "", match[1])
        return Item("namespace", name, header, at, body=(match.end(), closed)), closed + 1
    if first == "using":
        return _using(header, at, end, params)
    if first in ("struct", "class") and (match := STRUCT.match(code, at, end)):
        return _struct(header, match, end, params)
    if match := LABEL.match(code, at, end):
        return None, match.end()
    if first in ("static", "constexpr", "inline", "const") and (match := CONSTANT.match(code, at, end)):
        return Item("constant", match[1], header, at, params, text=match[2], text_at=match.start(2)), match.end()
    return None, _find_end(header, at, end)


def _find_end(header: Header, at: int, end: int) -> int:
    """Where a declaration of another sort ends: after its semicolon or its braces."""
    match = STOP.search(header.code, at, end)
    if match is None:
        return end
    if match[0] == "{":
        return header.closing(match.start()) + 1
    return match.end()


def _using(header: Header, at: int, end: int, params: str | None) -> tuple[Item | None, int]:
    code = header.code
    stop = code.find(";", at, end)
    stop = end if stop < 0 else stop
    if match := ALIAS.match(code, at, stop):
        return Item("alias", match[1], header, at, params, text=code[match.end() : stop], text_at=match.end()), stop + 1
    if match := USING.match(code[at:stop]):
        kind = "directive" if (match[1] or "").startswith("namespace") else "using"
        return Item(kind, re.sub(r"\s", "", match[2]), header, at), stop + 1
    return None, stop + 1


def _struct(header: Header, match: re.Match[str], end: int, params: str | None) -> tuple[Item | None, int]:
    code, at = header.code, match.end()
    arguments = None
    if code[at : at + 1] == "<":
        closed = angles(header, at, end)
        arguments, at = code[at + 1 : closed], closed + 1
    stop = STOP.search(code, at, end)
    if stop is None or stop[0] != "{":
        return None, end if stop is None else stop.end()  # a declaration, or a variable
    between = code[at : stop.start()].strip().removeprefix("final").strip()
    if between and not between.startswith(":"):
        return None, header.closing(stop.start()) + 1  # a function that returns one
    if len(between) > LONGEST:
        raise header.fail(at, "a list of bases that is too long")
    closed = header.closing(stop.start())
    body = stop.end(), closed
    return Item(
        "struct", match[1], header, match.start(), params, arguments, between[1:].strip(), body=body
    ), closed + 1


def angles(header: Header, opened: int, end: int) -> int:
    """Return the offset of the `>` that closes a `<`; comparisons in parentheses are passed over. Raises ReadError."""
    depth = parens = 0
    for match in ANGLE.finditer(header.code, opened, min(end, opened + LONGEST)):
        mark = match[0]
        if mark in "()":
            parens += 1 if mark == "(" else -1
        elif mark == ";":
            break
        elif parens == 0 and mark in "<>":
            depth += 1 if mark == "<" else -1
            if depth == 0:
                return match.start()
    raise header.fail(opened, "a '<' that is never closed")


def assertions(header: Header, start: int, end: int) -> Iterator[str]:
    """Yield the conditions of the static assertions between two offsets, without their messages."""
    code = header.code
    for match in ASSERTION.finditer(code, start, end):
        depth, at = 1, match.end()
        for mark in re.compile(r"[(),]").finditer(code, at, min(end, at + LONGEST)):
            depth += {"(": 1, ")": -1, ",": 0}[mark[0]]
            if depth == 0 or (depth == 1 and mark[0] == "," and not _in_angles(code[at : mark.start()])):
                yield code[at : mark.start()]
                break


def _in_angles(text: str) -> bool:
    """Whether a text ends between angle brackets."""
    return len(re.findall(r"\w\s*<(?![=\s])", text)) > len(re.findall(r">(?!=)", text.replace(" > ", "")))
