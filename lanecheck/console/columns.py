# SPDX-License-Identifier: Apache-2.0
"""Text wrapped to a number of columns: long lines continue below, indented; nothing is left out, no word is cut."""

from __future__ import annotations

import re
from collections.abc import Iterator

FURTHER = 4  # further blanks before the continuation of a line
COMMANDS = ("replay ", "then ")  # words before a command line to copy
QUOTED = re.compile(r"""(?:[^\s'"]|'[^']*'|"[^"]*")+|\S+""")  # a word of a command line


def wrap_clauses(text: str, width: int) -> str:
    """Return the text with its long lines broken before a clause, which three blanks separate, or else between words.

    >>> print(wrap_clauses("SM80  VERIFIED  21 proved   gpu: recording of NVIDIA H200", 40), end="")
    SM80  VERIFIED  21 proved
        gpu: recording of NVIDIA H200
    """
    return "".join(f"{line}\n" for long in text.splitlines() for line in _lines(long, width))


def _lines(line: str, width: int) -> Iterator[str]:
    if len(line) <= width:
        yield line
        return
    body = line.lstrip(" ")
    indent = len(line) - len(body)
    further = " " * (indent + FURTHER)
    if body.startswith(COMMANDS):
        yield from _command(line, further, width)
        return
    blanks, now = line[:indent], ""
    for gap, clause in re.findall(r"(^| {3,})(.*?)(?= {3,}|$)", body):
        if now and len(blanks + now + gap + clause) <= width:
            now += gap + clause
            continue
        if now:
            yield blanks + now
            blanks = further
        *full, now = _words(clause, width - len(blanks), width - len(further))
        for part in full:
            yield blanks + part
            blanks = further
    yield blanks + now


def _words(clause: str, first: int, later: int) -> Iterator[str]:
    """Yield a clause in pieces of at most `first` columns, then `later`, unless one word is longer."""
    now, room = "", first
    for gap, word in re.findall(r"(\s*)(\S+)", clause):
        if now and len(now + gap + word) > room:
            yield now
            now, room = word, later
        else:
            now += gap + word
    yield now


def _command(line: str, further: str, width: int) -> Iterator[str]:
    """Yield a command line broken so that a shell reads it as one: a backslash ends each line but the last."""
    start = re.match(r" *\w+ +", line)
    now, fresh = (start[0] if start else ""), True
    for word in QUOTED.findall(line[len(now) :]):
        longer = f"{now}{'' if fresh else ' '}{word}"
        if len(longer) + 2 > width and not fresh:
            yield f"{now} \\"
            longer = further + word
        now, fresh = longer, False
    yield now
