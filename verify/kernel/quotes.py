# SPDX-License-Identifier: Apache-2.0
"""Where a finding is, in the source or in the PTX, and the line there with a caret below it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from verify.core.verdict import Place
from verify.kernel.state.findings import Finding

SOURCES = frozenset({".py", ".cu", ".cuh", ".h", ".hpp", ".cpp", ".inl"})  # of files that are quoted
LONG = 72  # letters of a line that a report quotes whole


def find_source(finding: Finding, file: str) -> Place | None:
    """Return where in the source a finding is, if that is here: where the compiler found it, or beside the PTX."""
    line = int(finding.source.rpartition(":")[2] or 0)
    for path in (Path(finding.path), Path(file).parent / Path(finding.path).name) if finding.path and line else ():
        if path.suffix in SOURCES and path.is_file():
            return Place(str(path), line, max(finding.column, 1))
    return None


def quote_source(place: Place | None) -> tuple[str, ...]:
    """Return a line of source, and a caret below its column; nothing if it isn't there."""
    if place is None:
        return ()
    lines = Path(place.file).read_text(encoding="utf-8", errors="replace").splitlines()
    return quote_line(lines, place.line, place.column)


def find_operand_column(line: str, words: str) -> int:
    """Return the column of the register of A or B that the words of a finding name; 1 if the line doesn't have it.

    >>> find_operand_column("mma {%f1,%f2}, {%r1,%r2}, {%r3};", "lane 0, A register 1 low half holds A[m=8,k=0]")
    21
    """
    named, parts = re.search(r"\b([AB]) register (\d+)", words), [*re.finditer(r"\{[^}]*\}", line)]
    operand = named and parts[1 + "AB".index(named[1]) :][:1]
    registers = [*re.finditer(r"[%\w]+", operand[0][0])] if operand else []
    if not operand or named is None or int(named[2]) >= len(registers):
        return 1
    return operand[0].start() + registers[int(named[2])].start() + 1


def quote_line(lines: Sequence[str], number: int, column: int) -> tuple[str, ...]:
    """Return a line of a text, and a caret below its column; nothing if it isn't there. Of a long line the end.

    >>> quote_line(["  bar.sync 0;"], 1, 3)
    ('1 | bar.sync 0;', '  | ^')
    >>> quote_line([f"{'mma.' * 12}f32 {{%f1}}, {{%r1,%r2}}, {{%r3}}, {{%f2}};"], 1, 65)
    ('1 | … {%r1,%r2}, {%r3}, {%f2};', '  |        ^')
    """
    if not 0 < number <= len(lines) or not (text := lines[number - 1].expandtabs()).strip():
        return ()
    caret, text = max(column - 1 - (len(text) - len(text.lstrip())), 0), text.strip()
    if len(text) > LONG and caret > LONG // 2:  # a report would wrap it, and the caret would point elsewhere
        cut = text.rfind(" ", 0, caret) - 1
        caret, text = caret - cut, f"…{text[cut + 1 :]}"
    return f"{number} | {text}", f"{' ' * len(str(number))} | {' ' * caret}^"
