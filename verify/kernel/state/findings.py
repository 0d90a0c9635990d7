# SPDX-License-Identifier: Apache-2.0
"""What an interpretation finds wrong or unclear: findings, each with a severity and its line; and what ends a run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from verify.kernel.data.floats import largest


class Severity(StrEnum):
    """How bad a finding is. LETTER and EQUAL warn, UNKNOWN leaves open, all others refute."""

    VALUE = "value"  # an element is wrong
    MEMORY = "memory"  # an access outside of an array, of memory that nobody wrote, or misaligned
    RACE = "race"  # two accesses that nothing orders
    PRECISION = "precision"  # a narrowing that the claim does not allow
    STUCK = "stuck"  # threads that wait for ever
    EQUAL = "equal"  # two writes of one value that nothing orders: in any order the same is written
    LETTER = "letter"  # against the ISA's text; no wrong result is known
    UNKNOWN = "unknown"  # what the interpreter has no meaning for


class Finding(NamedTuple):
    """One finding: what kind, how bad, where, and in words."""

    kind: str  # in words
    severity: Severity  # what it does to the verdict
    line: int  # of the PTX; 0 where it has none
    text: str  # a sentence
    section: str = ""  # of the ISA, for a rule of order
    source: str = ""  # file and line that the instruction comes from, if the PTX has it
    column: int = 0  # and its column, from 1; 0 if the PTX doesn't say it
    path: str = ""  # the file, as the compiler named it


CAUSE = "wrong operand"  # the kind of the finding that names the first cause of a wrong element
NOWHERE = "value from nowhere"  # and of what is written with a value that nobody gave
GUARD_LOST = "guard not kept"  # a kind of findings
NOT_NAN = "no NaN is among the data that are compared"  # a note
FLUSHED = "no subnormal number is flushed to zero"  # and these
DIRECTED = frozenset({"rz", "rm", "rp"})  # roundings that are not to the nearest
WARNINGS = frozenset({Severity.EQUAL, Severity.LETTER})  # what refutes under --strict alone


def fold_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings, those of one cause as one that says how many lines have it.

    One cause: the same words but for numbers; for what has no meaning, the same problem before the instruction's text.

    >>> finding = Finding("no meaning", Severity.UNKNOWN, 3, "no meaning for the opcode frob: frob %r1;")
    >>> [each.text for each in fold_findings([finding, finding._replace(line=5, text=finding.text.replace("1", "2"))])]
    ['no meaning for the opcode frob: frob %r1; (also at line 5)']
    """
    return [tell_once(several) for several in group_findings(findings)]


def group_findings(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Return the findings, those of one cause together, in the order of the first."""
    causes: dict[tuple[str, Severity, str], list[Finding]] = {}
    for finding in findings:
        words = finding.text.rpartition(": ")[0] if finding.kind == "no meaning" else ""
        causes.setdefault((finding.kind, finding.severity, words or mask_numbers(finding.text)), []).append(finding)
    return list(causes.values())


_NUMBERS = re.compile(r"(?<![a-z_%])\d+(?:\.\d+)?")


def mask_numbers(text: str) -> str:
    """Return a text without its numbers, those in names apart.

    >>> mask_numbers("CTA 0, thread 1 reads %r2")
    'CTA #, thread # reads %r2'
    """
    return _NUMBERS.sub("#", text)


_LINES = 4  # that are named of one cause


def tell_once(several: Sequence[Finding]) -> Finding:
    """Return the first of some findings of one cause, which says how many lines have it."""
    first, *rest = several
    if not rest:
        return first
    places = {finding.line: finding.source for finding in sorted(rest, key=lambda finding: finding.line)}
    lines = [line for line in places if line not in (first.line, 0)]
    named = ", ".join(map(str, lines[:_LINES])) + (f" and {len(lines) - _LINES} more" if len(lines) > _LINES else "")
    sources = ", ".join(dict.fromkeys(places[line] for line in lines[:_LINES] if places[line] != first.source))
    ptx = f"{'PTX ' * bool(first.source)}line{'s' * (len(lines) > 1)} {named}"
    what = f"also at {f'{sources} ({ptx})' if sources else ptx}" if lines else f"{len(several)} times"
    return first._replace(text=f"{first.text} ({what})")


def direction_ignored(rounding: str) -> str:
    """Return the note on a rounding that is not to the nearest."""
    return f"rounding is not modelled, and so not its direction: .{rounding}"


def not_beyond(kind: str, size: float, whose: str = "") -> str:
    """Return the note on values of a format whose bounds allow a number of this size, for which it has an infinity."""
    return f"no value{whose} lies beyond {float(largest(kind)):g}, the largest {kind}, though the bounds allow {size:g}"


class Unclear(Exception):
    """The end of a run that needs something without a meaning."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(f"line {line}: {problem}" if line else problem)
        self.line, self.problem = line, problem


class Findings:
    """The findings of a run, one for each kind and line."""

    def __init__(self) -> None:
        self.reported: dict[tuple[str, int], Finding] = {}  # by kind and line
        self.line = 0  # of the instruction that is executed
        self.notes: dict[str, set[int]] = {}  # what a verdict takes for granted -> the lines that rest on it
        self.flags: set[int] = set()  # addresses of strong accesses
        self.late: set[int] = set()  # threads of a CTA that may look at a phase of an mbarrier after the next one
        self.loose: set[int] = set()  # and that access Tensor Memory, with nothing that orders a later access after it

    def note(self, *texts: str) -> None:
        """Note what the instruction that is executed takes for granted of all data."""
        for text in texts:
            self.notes.setdefault(text, set()).add(self.line)

    def add(self, kind: str, severity: Severity, text: str, section: str = "") -> None:
        """Keep a finding at the line that is executed, the first of its kind there."""
        self.reported.setdefault((kind, self.line), Finding(kind, severity, self.line, text, section))

    def new(self, kind: str) -> bool:
        """Whether no finding of the kind is known at this line: a text need not be made again."""
        return (kind, self.line) not in self.reported

    def worsen(self, kind: str, severity: Severity) -> None:
        """Give the findings of a kind another severity."""
        for key, finding in self.reported.items():
            if finding.kind == kind:
                self.reported[key] = finding._replace(severity=severity)

    def withdrawn(self, kind: str) -> bool:
        """Take back the finding at this line whose kind begins so; whether there was one."""
        keys = [key for key in self.reported if key[1] == self.line and key[0].startswith(kind)]
        for key in keys:
            del self.reported[key]
        return bool(keys)
