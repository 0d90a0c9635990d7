# SPDX-License-Identifier: Apache-2.0
"""Verdicts as text, JSON and JUnit XML, and the exit code they amount to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from verify.cli import Exit
from verify.verdict import Evidence, Status, Verdict, Witness


@dataclass(frozen=True, slots=True)
class Case:
    """One subject's verdicts, with what was known of it before."""

    name: str
    verdicts: tuple[Verdict, ...]
    known_defect: str = ""
    layouts: tuple[tuple[str, str], ...] = ()

    @property
    def contradiction(self) -> bool:
        """Whether two witnesses disagree anywhere."""
        return any(v.contradiction for v in self.verdicts)

    @property
    def status(self) -> str:
        """The subject in one word: STANDS, or the worst that was found."""
        if self.contradiction:
            return "CONTRADICTION"
        statuses = {v.status for v in self.verdicts}
        for worst in (Status.VACUOUS, Status.REFUTED, Status.UNKNOWN):
            if worst in statuses:
                return worst.value
        return "STANDS" if any(s.stands for s in statuses) else Status.UNCHECKED.value


@dataclass(frozen=True, slots=True)
class Report:
    """All cases of a run, what was required of it, and what the user expects."""

    cases: tuple[Case, ...]
    require: frozenset[Witness] = frozenset()
    expect_known: bool = False

    @property
    def surprises(self) -> list[str]:
        """Under `expect_known`: subjects with a known defect that stand, which must not be."""
        return [c.name for c in self.cases if c.known_defect and c.status == "STANDS"]

    def unmet(self) -> list[tuple[str, Evidence]]:
        """Evidence of a required witness that was not given, with its subject."""
        return [
            (f"{v.claim.subject} {v.claim.part}".rstrip(), e)
            for v in self.verdicts()
            for e in v.evidence
            if e.witness in self.require and e.status is Status.UNCHECKED
        ]

    def verdicts(self) -> Iterable[Verdict]:
        """Every verdict of every case."""
        return (v for c in self.cases for v in c.verdicts)

    def counts(self) -> Counter[Status]:
        """How many claims have which status."""
        return Counter(v.status for v in self.verdicts())

    def exit(self) -> Exit:
        """The exit code: a contradiction outranks a refutation, a refutation outranks what is not known."""
        counts = self.counts()
        if any(c.contradiction for c in self.cases) or counts[Status.VACUOUS]:
            return Exit.CONTRADICTION
        if self.surprises and self.expect_known:
            return Exit.REFUTED
        if any(self._refuted(c) for c in self.cases):
            return Exit.REFUTED
        if counts[Status.UNKNOWN] or self.unmet():
            return Exit.UNKNOWN
        return Exit.STANDS if self.cases else Exit.NOTHING

    def _refuted(self, case: Case) -> bool:
        expected = self.expect_known and bool(case.known_defect)
        return case.status == Status.REFUTED and not expected


def tally(counts: Counter[Status], order: Sequence[Status] = tuple(Status)) -> str:
    """Counts in words; VACUOUS, which is an error, only when it happened."""
    words = {Status.AGREES: "agree"}
    return ", ".join(
        f"{counts[s]} {words.get(s, s.value.lower())}" for s in order if counts[s] or s is not Status.VACUOUS
    )
