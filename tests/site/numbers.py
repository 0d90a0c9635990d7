# SPDX-License-Identifier: Apache-2.0
"""The numbers in the prose of a page, and those that something on the page itself computes.

Prose is all but blocks, `code`, addresses, tags, and what a test writes between `<!-- name -->` and `<!-- /name -->`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

CODE = re.compile(
    r"^```.*?^```$|<!-- (\w+) -->.*?<!-- /\1 -->|(?:^ {4}[^\n]*\n)+|`[^`]*`|<[^>\n]+>|\]\([^)]*\)", re.M | re.S
)
RUN = re.compile(r"^```(?:console|pycon|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ .*$", re.MULTILINE)
NUMBER = re.compile(r"(?:(?<![A-Za-z_.\d])|(?<=\dx))\d+(?:,\d{3}(?!\d))*(?:\.\d+)*(?!\w*[A-Za-wyz_])")
EQUATION = re.compile(r"(?<![\w:.])[-\d(][-\d\s+*/%^()·×,]*(?: = [-\d\s+*/%^()·×,]+)+(?!:)")
TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)
# Numbers that say how something is called or defined, which nothing can compute.
NAMES = {
    "an item, a heading": r"^ *\d+\. |^#+ \d+\. ",
    "a date": r"(?:\d+ )?(?:April|November)? 20\d\d",
    "a version or a section, with a point": r"\d+(?:\.\d+)+|CUDA \d+(?: or \d+)?|CuPy \d+|BSD-\d|ISA's table \d+",
    "an exit code": r"[Ee]xit(?:s|ed)?\b[^|.0-9]*(?:(?:[0-5]|130)\b(?! of)[^|.0-9]*)+",
    "an issue": r"#\d+",
    "the size of a type, of a word, of an access": r"\b(?:1|4|8|16|32|64|128)(?:[- ]bits?\b|-byte)",
    "which one of them": r"\b(?:base|address|[Ll]ane|value|mode|index|[Ss]eed|[Tt]hread|column|row)s? "
    r"\d+(?:(?:,| to| and| or) \d+)*",
    "an operand by its shape": r"\b[ABCD] \d+x\d+\b",
    "a range of numbers, an argument": r"\[0, ?\w+\)|\(\w+, 0\)|\b0 to \d+|E<\d>|E\(\d\)",
}


def prose(text: str) -> str:
    """A page with spaces in place of all that is no prose, so that places stay."""
    return CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def numbers(text: str) -> dict[int, str]:
    """Where each number of the prose begins, and the number.

    >>> numbers("The 16x8 result of `m16n8k16`, m16n8k16 too, has 1,024 bits.")
    {4: '16', 7: '8', 49: '1,024'}
    """
    return {match.start(): match[0] for match in NUMBER.finditer(prose(text))}


def names(text: str) -> Iterator[int]:
    """Every place inside a number that is a name or a definition."""
    for pattern in NAMES.values():
        for match in re.finditer(pattern, prose(text), re.MULTILINE):
            yield from range(match.start(), match.end())


def equations(text: str) -> Iterator[tuple[range, bool]]:
    """Where the equations of a page are, with / for whole quotients, and whether each holds.

    >>> [list(equations(line)) for line in ("so 57 % 16 = 9 and", "so 57 % 16 = 8 and", "(5 / 4, 2·3) = (1, 6)")]
    [[(range(3, 14), True)], [(range(3, 14), False)], [(range(0, 21), True)]]
    """
    for match in EQUATION.finditer(prose(text)):
        written = match[0].rstrip(" ,(\n").replace("·", "*").replace("×", "*").replace("^", "**")
        try:
            first, *sides = (eval(side.replace("//", "/").replace("/", "//")) for side in written.split(" = "))
        except SyntaxError:
            continue
        yield range(match.start(), match.start() + len(written)), all(side == first for side in sides)


def blocks(text: str) -> Iterator[int]:
    """Where numbers begin that a block under the same heading shows, which a test runs.

    This is weaker than a row: another number of the same block in its place is not noticed.
    """
    heads = [0, *(match.start() for match in HEADING.finditer(prose(text))), len(text)]
    for start, end in pairwise(heads):
        shown = {digits for block in RUN.finditer(text, start, end) for digits in re.findall(r"\d+", block[1])}
        yield from (
            at for at, number in numbers(text).items() if start <= at < end and number.replace(",", "") in shown
        )


def sums(text: str) -> Iterator[int]:
    """Every place inside a table of integers whose last row, of all, is the sum of the others."""
    for match in TABLE.finditer(text):
        rows = [[cell.strip() for cell in line.strip("|\n").split("|")][1:] for line in match[0].splitlines()[2:]]
        if len(rows) > 2 and all(cell.isdigit() for row in rows for cell in row):
            *parts, total = [[int(cell) for cell in row] for row in rows]
            if [sum(column) for column in zip(*parts, strict=True)] == total:
                yield from range(match.start(), match.end())
