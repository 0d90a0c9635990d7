# SPDX-License-Identifier: Apache-2.0
"""Verdicts as text, JSON, JUnit XML and HTML, and the exit code they amount to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

from verify.core.errors import Exit
from verify.core.verdict import Check, Scope, Status, Verdict

__all__ = ["Case", "Failure", "Report", "cut_short", "surprise", "tally"]


@dataclass(frozen=True)
class Case:
    """One subject's verdicts, with what was known of it before."""

    name: str  # of the subject: an atom, a tiling, a movement, a law
    verdicts: tuple[Verdict, ...]  # in the order of the table of properties
    known_defect: str = ""  # which defect its entry declares, in words; empty where none
    layouts: tuple[tuple[str, str], ...] = ()  # (operand, layout as text)
    adapter: str = ""  # what a copy does to its registers after the instruction
    expect: str = ""  # that it is expected to be UNCHECKED, and why
    issues_nothing: bool = False  # the entry says that no matrix instruction is issued (`ptx = []`)

    @cached_property
    def contradiction(self) -> bool:
        """Whether two witnesses disagree anywhere."""
        return any(map(self.contradicts, self.verdicts))

    def contradicts(self, verdict: Verdict) -> bool:
        """Whether witnesses disagree on a claim, or a GPU alone refutes it of an atom that is what the ISA says."""
        of_gpu = verdict.claim.prop.gpu_alone and verdict.status is Status.REFUTED
        return verdict.contradiction or (of_gpu and self._as_the_isa_says)

    @cached_property
    def _as_the_isa_says(self) -> bool:
        """Whether every operand equals what the ISA says, and nothing is refuted but by a GPU."""
        equals = [v for v in self.verdicts if Check.ISA in v.claim.prop.required]
        equal = [v.status.confirmed and all(e.status is not Status.UNCHECKED for e in v.evidence) for v in equals]
        wrong = [v for v in self.verdicts if v.status is Status.REFUTED and not v.claim.prop.gpu_alone]
        return bool(equal) and all(equal) and not wrong

    @property
    def contradictions(self) -> list[str]:
        """The recordings, by file and line, that contradict an atom which is what the ISA says: they or the ISA err."""
        return [
            f"{verdict.claim.prop.words}: every `equals` is confirmed and {evidence.recording or evidence.method} "
            "refutes it: the recording or the book is wrong, not the atom"
            for verdict in self.verdicts
            if self.contradicts(verdict) and self._as_the_isa_says
            for evidence in verdict.evidence
            if evidence.status is Status.REFUTED and verdict.claim.prop.gpu_alone
        ]

    @property
    def status(self) -> str:
        """The subject in one word: VERIFIED, UNCHECKED where a check that was asked for was not made, or the worst."""
        if self.contradiction:
            return "CONTRADICTION"
        statuses = {v.status for v in self.verdicts}
        for worst in (Status.VACUOUS, Status.REFUTED, Status.UNKNOWN):
            if worst in statuses:
                return worst.value
        return Status.UNCHECKED.value if self.gap else "VERIFIED"

    @cached_property
    def gap(self) -> str:
        """The first check that was asked for, applies and could not be made, by its reason; empty where all were made.

        A witness that was not asked gave no evidence. One that was asked has to speak on what the subject says; of a
        claim besides one of them is enough. What does not apply to any of them leaves nothing that was checked.
        """
        for verdict in self.verdicts:
            silent = [e for e in verdict.evidence if e.status is Status.UNCHECKED and e.applies]
            if silent and (verdict.claim.prop.required or verdict.status is Status.UNCHECKED):
                return silent[0].reason or f"{silent[0].check} gave no reason"
        if any(verdict.status.confirmed for verdict in self._saying):
            return ""
        return next((v.reason for v in self._saying if v.evidence and v.reason), "nothing was checked")

    @property
    def _saying(self) -> list[Verdict]:
        """The verdicts on what the subject says, besides its form."""
        said = [v for v in self.verdicts if v.claim.prop.required]
        return said or [v for v in self.verdicts if not v.claim.prop.form] or list(self.verdicts)

    @property
    def observed(self) -> bool:
        """Whether it stands on observation or samples alone: nothing that it says is proved."""
        return self.status == "VERIFIED" and not any(v.status is Status.PROVED for v in self._saying)

    @property
    def headline(self) -> str:
        """The status as people read it: it says where a subject rests on observation alone."""
        return f"{self.status} (observed)" if self.observed else self.status

    @property
    def excuse(self) -> str:
        """Why it is no failure that the subject is UNCHECKED; empty where it is one."""
        if self.issues_nothing:
            return "without a matrix instruction"
        return "as expected" if self.expect else ""

    @property
    def as_known(self) -> bool:
        """Whether it is refuted in the parts that its known defect names, before the colon, and in no other."""
        named = {part.strip() for part in self.known_defect.partition(":")[0].split(",")}
        refuted = {v.claim.part or "ptx" for v in self.verdicts if v.status is Status.REFUTED}
        return bool(self.known_defect) and bool(refuted) and refuted <= named

    def surprise(self, expect_known: bool) -> str:
        """How it is otherwise than its entry says; empty where it is as expected or nothing was."""
        if expect_known and self.known_defect and not self.as_known:
            return "is not refuted in just the parts of its known defect"
        other = self.expect and self.status != Status.UNCHECKED
        return f"is {self.status}, its entry expects UNCHECKED" if other else ""


@dataclass(frozen=True, slots=True)
class Failure:
    """A subject without verdicts: what was refused of it or at what we failed, and the exit code that it calls for."""

    name: str
    message: str
    code: Exit


@dataclass(frozen=True, slots=True)
class Report:
    """All cases of a run, what was required of it, and what the user expects."""

    cases: tuple[Case, ...]  # in the order in which they were selected
    require: frozenset[Check] = frozenset()  # checks that must have been made of every case
    expect_known: bool = False  # whether known defects are expected: only what differs from them fails
    missing: int = 0  # subjects that an interruption left without a verdict
    failures: tuple[Failure, ...] = field(default=(), kw_only=True)  # subjects that could not be verified
    allow_unchecked: bool = field(default=False, kw_only=True)  # whether UNCHECKED cases leave the exit code 0

    @property
    def complete(self) -> bool:
        """Whether every subject that was asked for has its verdicts."""
        return not self.missing

    @property
    def surprises(self) -> dict[str, str]:
        """Subjects that are not what their entries expect, and how; known defects count under `expect_known`."""
        told = {case.name: case.surprise(self.expect_known) for case in self.cases}
        return {name: how for name, how in told.items() if how}

    @property
    def unchecked(self) -> list[Case]:
        """The subjects that are UNCHECKED; `gap` says why, `excuse` why that fails no run."""
        return [case for case in self.cases if case.status == Status.UNCHECKED]

    @property
    def gaps(self) -> list[Case]:
        """The subjects that fail the run because they are UNCHECKED."""
        return [] if self.allow_unchecked else [case for case in self.unchecked if not case.excuse]

    def unmet(self) -> list[tuple[str, str]]:
        """Subjects on which a required witness said nothing that stands or refutes, with its reason.

        On an instruction that could not be compared none has spoken.
        """
        missing = []
        for case, check in product(self.cases, sorted(self.require)):
            about = [v for v in case.verdicts if check in v.claim.prop.required] or case.verdicts
            mine = [e for v in about for e in v.evidence if e.check is check]
            unnamed = [
                v.reason
                for v in case.verdicts
                if v.claim.prop.scope is Scope.INSTRUCTION and v.status is Status.UNCHECKED
            ]
            silent = [e.reason for e in mine if e.status is Status.UNCHECKED] + unnamed
            if not mine or silent:
                missing.append((case.name, f"{check}: {next(iter(silent), 'it was not asked')}"))
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
        if counts[Status.UNKNOWN] or self.unmet() or self.gaps:
            return Exit.UNDECIDED
        return Exit.OK if self.cases else Exit.EMPTY


def cut_short(missing: int, what: str = "subject") -> str:
    """That an interruption left subjects without a verdict, in words."""
    return f"interrupted: {missing} {what}{'s' * (missing != 1)} not judged"


def surprise(name: str, how: str) -> str:
    """An atom that is not what its entry expects, in one line."""
    return f"{name}  SURPRISE: it {how}"


def tally(counts: Counter[Status], order: Sequence[Status] = tuple(Status)) -> str:
    """Counts in words; VACUOUS, which is an error, and TAKEN only when they happened."""
    words = {Status.AGREES: "agree"}
    rare = (Status.VACUOUS, Status.TAKEN)
    return ", ".join(f"{counts[s]} {words.get(s, s.value.lower())}" for s in order if counts[s] or s not in rare)
