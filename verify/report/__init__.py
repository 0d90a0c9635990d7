# SPDX-License-Identifier: Apache-2.0
"""Verdicts as text, JSON, JUnit XML and HTML, and the exit code they amount to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

from verify.cli import Exit
from verify.verdict import Kind, Status, Verdict, Witness

REQUIRED = {  # the claims on which a required witness must speak
    Witness.BOOK: (Kind.EQUALS,),
    Witness.PROOF: (Kind.EQUALS,),
    Witness.SILICON: (Kind.RELATION,),
}
COMPARED = (Kind.EQUALS, Kind.SIGNATURE)  # where one of them is UNCHECKED, the subject is


@dataclass(frozen=True)
class Case:
    """One subject's verdicts, with what was known of it before."""

    name: str
    verdicts: tuple[Verdict, ...]
    known_defect: str = ""
    layouts: tuple[tuple[str, str], ...] = ()
    adapter: str = ""  # what a copy does to its registers after the instruction
    expect: str = ""  # that it is expected to be UNCHECKED, and why

    @cached_property
    def contradiction(self) -> bool:
        """Whether two witnesses disagree anywhere."""
        return any(v.contradiction for v in self.verdicts)

    @property
    def status(self) -> str:
        """The subject in one word: STANDS, UNCHECKED where maps or an instruction were not compared, or the worst."""
        if self.contradiction:
            return "CONTRADICTION"
        statuses = {v.status for v in self.verdicts}
        for worst in (Status.VACUOUS, Status.REFUTED, Status.UNKNOWN):
            if worst in statuses:
                return worst.value
        unread = any(v.claim.kind in COMPARED and v.status is Status.UNCHECKED for v in self.verdicts)
        stands = any(s.stands for s in statuses) and not unread
        return "STANDS" if stands else Status.UNCHECKED.value

    @property
    def as_known(self) -> bool:
        """Whether it is refuted in the parts that its known defect names, before the colon, and in no other."""
        named = {part.strip() for part in self.known_defect.partition(":")[0].split(",")}
        refuted = {v.claim.part or "ptx" for v in self.verdicts if v.status is Status.REFUTED}
        return bool(self.known_defect) and bool(refuted) and refuted <= named

    @property
    def as_expected(self) -> bool:
        """Whether it is UNCHECKED, and its entry says that it is expected to be."""
        return bool(self.expect) and self.status == Status.UNCHECKED

    def surprise(self, expect_known: bool) -> str:
        """How it is otherwise than its entry says; empty where it is as expected or nothing was."""
        if expect_known and self.known_defect and not self.as_known:
            return "is not refuted in just the parts of its known defect"
        return f"is {self.status}, its entry expects UNCHECKED" if self.expect and not self.as_expected else ""


@dataclass(frozen=True, slots=True)
class Failure:
    """A subject without verdicts: what was refused of it or at what we failed, and the exit code that it calls for."""

    name: str
    message: str
    code: Exit


@dataclass(frozen=True, slots=True)
class Report:
    """All cases of a run, what was required of it, and what the user expects."""

    cases: tuple[Case, ...]
    require: frozenset[Witness] = frozenset()
    expect_known: bool = False
    missing: int = 0  # subjects that an interruption left without a verdict
    failures: tuple[Failure, ...] = field(default=(), kw_only=True)

    @property
    def complete(self) -> bool:
        """Whether every subject that was asked for has its verdicts."""
        return not self.missing

    @property
    def surprises(self) -> dict[str, str]:
        """Subjects that are not what their entries expect, and how; known defects count under `expect_known`."""
        told = {case.name: case.surprise(self.expect_known) for case in self.cases}
        return {name: how for name, how in told.items() if how}

    def unmet(self) -> list[tuple[str, str]]:
        """Subjects on which a required witness said nothing that stands or refutes, with its reason."""
        missing = []
        for case, witness in product(self.cases, sorted(self.require)):
            about = [v for v in case.verdicts if v.claim.kind in REQUIRED[witness]] or case.verdicts
            mine = [e for v in about for e in v.evidence if e.witness is witness]
            if not mine or any(e.status is Status.UNCHECKED for e in mine):
                silent = next((e.reason for e in mine if e.status is Status.UNCHECKED), "it was not asked")
                missing.append((case.name, f"{witness}: {silent}"))
        return missing

    def verdicts(self) -> Iterable[Verdict]:
        """Every verdict of every case."""
        return (v for c in self.cases for v in c.verdicts)

    def counts(self) -> Counter[Status]:
        """How many claims have which status."""
        return Counter(v.status for v in self.verdicts())

    def exit(self) -> Exit:
        """The exit code: a contradiction outranks a refutation, a refutation outranks what is not known.

        An interruption outranks all: whatever was found, it is not the answer. A subject that we failed at counts as a
        contradiction, one that was refused outranks all that was found of the others.
        """
        if not self.complete:
            return Exit.INTERRUPTED
        counts, failed = self.counts(), {failure.code for failure in self.failures}
        if any(c.contradiction for c in self.cases) or counts[Status.VACUOUS] or Exit.CONTRADICTION in failed:
            return Exit.CONTRADICTION
        if Exit.USAGE in failed:
            return Exit.USAGE
        refuted = (c for c in self.cases if c.status == Status.REFUTED)
        if self.surprises or not all(self.expect_known and case.as_known for case in refuted):
            return Exit.REFUTED
        if counts[Status.UNKNOWN] or self.unmet():
            return Exit.UNKNOWN
        return Exit.STANDS if self.cases else Exit.NOTHING


def cut_short(missing: int, what: str = "subject") -> str:
    """That an interruption left subjects without a verdict, in words."""
    return f"interrupted: {missing} {what}{'s' * (missing != 1)} not judged"


def surprise(name: str, how: str) -> str:
    """An atom that is not what its entry expects, in one line."""
    return f"SURPRISE {name} {how}"


def tally(counts: Counter[Status], order: Sequence[Status] = tuple(Status)) -> str:
    """Counts in words; VACUOUS, which is an error, and TAKEN only when they happened."""
    words = {Status.AGREES: "agree"}
    rare = (Status.VACUOUS, Status.TAKEN)
    return ", ".join(f"{counts[s]} {words.get(s, s.value.lower())}" for s in order if counts[s] or s not in rare)
