# SPDX-License-Identifier: Apache-2.0
"""Reports: the verdicts of a run, its exit code, and their rendering: text, JSON, JUnit, SARIF, annotations, HTML."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from verify.core.errors import Exit
from verify.core.judgement import Judgement
from verify.core.verdict import Check, Evidence, FurtherCause, Place, Scope, Status, Verdict, WrongProduct
from verify.core.wording import count_of
from verify.report.expectation import NOTHING_EXPECTED, Expectation, find_surprise

if TYPE_CHECKING:
    from layouts.toml.errors import AtomFileError
    from verify.pictures.picture import Picture, Window

__all__ = [
    "NOTHING_EXPECTED",
    "Accepted",
    "Alone",
    "Case",
    "Expectation",
    "Failure",
    "Report",
    "consequence",
    "cut_short",
    "drawing_command",
    "failure_of",
    "find_surprise",
]


class Alone(NamedTuple):
    """What the verdicts on a subject say if they are confirmed but no instruction was compared."""

    says: str  # what it is: a bijection onto 16x8
    against: str  # with what it was compared: its tile, another layout; empty if with nothing
    hint: str = ""  # how to compare it with an instruction, or why that can't be done
    missing: str = "not compared with an instruction"  # what was not done; empty if its headline needs no such words


@dataclass(frozen=True, repr=False)
class Case(Judgement):
    """The verdicts on one subject, and what its entry expects of them."""

    name: str  # of the subject: an atom, a tiling, a movement, a law
    verdicts: tuple[Verdict, ...]  # in the order of the table of properties
    layouts: tuple[tuple[str, str], ...] = ()  # (operand, layout as text)
    adapter: str = ""  # the permutation that a copy applies to its registers after the instruction
    expects: Expectation = NOTHING_EXPECTED  # what its entry states about the verdicts
    notes: tuple[str, ...] = ()  # lines on what its verdicts speak of: the domain, the seed
    place: Place | None = None  # where it is written
    alone: Alone | None = None  # of a subject that was compared with no instruction: what is known of it then
    wrong_product: WrongProduct | None = None  # of a kernel: the first whose operands do not belong together
    warnings: tuple[FurtherCause, ...] = ()  # that have an alert and fail no run
    all_sizes: Mapping[str, Any] | None = None  # of a kernel: what is known of all sizes, its headline among the fields
    family: str = ""  # of one that differs from others in its sizes alone: the part of the name that they share
    # (operand, citation, text) of the ISA's formulas, computed where they are shown
    formulas: Callable[[], Iterable[tuple[str, str, str]]] = field(default=tuple, compare=False, repr=False)
    # its picture with the rows and columns of a window, made when it is shown; None if it isn't a map, such as a law
    picture: Callable[[Window], Picture] | None = field(default=None, compare=False, repr=False)
    drawn_by: str = ""  # the command that draws it

    @cached_property
    def contradiction(self) -> bool:
        """Whether the verdict on any claim is a contradiction."""
        return any(map(self.contradicts, self.verdicts))

    def contradicts(self, verdict: Verdict) -> bool:
        """Whether checks disagree on a claim, or a GPU alone refutes it of an atom that equals the ISA tables."""
        of_gpu = verdict.status is Status.REFUTED and verdict.claim.prop.gpu_alone
        return verdict.contradiction or (of_gpu and self._equals_isa)

    @cached_property
    def _equals_isa(self) -> bool:
        """Whether every operand equals the ISA tables, and only GPUs refute anything."""
        equals = [v for v in self.verdicts if Check.ISA in v.claim.prop.required]
        equal = [v.status.confirmed and all(e.status is not Status.UNCHECKED for e in v.evidence) for v in equals]
        wrong = [v for v in self.verdicts if v.status is Status.REFUTED and not v.claim.prop.gpu_alone]
        return bool(equal) and all(equal) and not wrong

    @property
    def contradictions(self) -> list[str]:
        """The recordings, by file and line, that contradict an atom which equals the ISA tables."""
        return [
            f"{verdict.claim.prop.words}: every `equals` is confirmed and {evidence.recording or evidence.method} "
            "refutes it: the recording or the ISA tables are wrong, not the atom"
            for verdict in (self.verdicts if self.contradiction and self._equals_isa else ())
            if self.contradicts(verdict)
            for evidence in verdict.evidence
            if evidence.status is Status.REFUTED and verdict.claim.prop.gpu_alone
        ]

    @cached_property
    def status(self) -> str:
        """The worst status of the claims; else UNCHECKED if a requested check was not made; else VERIFIED.

        >>> from verify.core.verdict import Claim, Property
        >>> claim = Claim("one", "A", Property("size"), "has 8 values")
        >>> [Case("one", (Verdict(claim, status, ()),)).status for status in (Status.PROVED, Status.REFUTED)]
        ['VERIFIED', 'REFUTED']
        """
        if self.contradiction:
            return "CONTRADICTION"
        statuses = {v.status for v in self.verdicts}
        for worst in (Status.VACUOUS, Status.REFUTED, Status.RELABELLED, Status.UNKNOWN):
            if worst in statuses:
                return worst.value
        return Status.UNCHECKED.value if self.gap else "VERIFIED"

    @property
    def gap(self) -> str:
        """Why the first requested check that applies could not be made; empty if all were made.

        A check that was not requested has no evidence. Every requested check has to be made on the claims that state
        what the subject is (`Property.required`); on any other claim one check is enough. If none applies, nothing was
        checked. Of a subject that is refuted as its known defect says, each operand beside it must be confirmed.
        """
        return self._gap[1]

    @property
    def open(self) -> Verdict | None:
        """The verdict of which `gap` speaks."""
        return self._gap[0]

    @cached_property
    def _gap(self) -> tuple[Verdict | None, str]:
        for verdict in self.expects.list_sound(self.verdicts) if self.as_known else self.verdicts:
            missing = [e for e in verdict.evidence if e.status is Status.UNCHECKED and e.applies]
            if missing and (verdict.claim.prop.required or verdict.status is Status.UNCHECKED):
                return verdict, missing[0].reason or f"{missing[0].check} gave no reason"
            if self.as_known and verdict.claim.prop.required and not verdict.status.confirmed:
                return verdict, verdict.reason or "nothing was checked"
        if self.as_known or any(verdict.status.confirmed for verdict in self._main):
            return None, ""
        first = next((v for v in self._main if v.evidence and v.reason), None)
        return first, first.reason if first else "nothing was checked"

    @property
    def _main(self) -> list[Verdict]:
        """The verdicts on the claims that state what the subject is; without any, all but those on its form."""
        main = [v for v in self.verdicts if v.claim.prop.required]
        return main or [v for v in self.verdicts if not v.claim.prop.form] or list(self.verdicts)

    @property
    def is_only_observed(self) -> bool:
        """Whether it is verified by observation or samples alone: none of its main claims is proved."""
        return self.status == "VERIFIED" and not any(v.status is Status.PROVED for v in self._main)

    @property
    def headline(self) -> str:
        """Return the status for people, which never says more than was compared.

        >>> from verify.core.verdict import Claim, Property
        >>> proved = (Verdict(Claim("4:1", "", Property("size"), "has 4 values"), Status.PROVED, ()),)
        >>> Case("4:1", proved, alone=Alone("a bijection onto 4x1", "its tile")).headline
        'a bijection onto 4x1; not compared with an instruction'
        """
        if self.alone is not None and self.status == "VERIFIED":
            hint = f": {self.alone.hint}" if self.alone.hint else ""
            return "; ".join(filter(None, (self.alone.says, self.alone.missing))) + hint
        if self.all_sizes is not None:
            return str(self.all_sizes["headline"])
        return f"{self.status} (observed)" if self.is_only_observed else self.status

    def word(self, verdict: Verdict) -> str:
        """Return the word for the status of a verdict; of all sizes it is the headline, as NOT LIFTED for UNKNOWN."""
        if self.contradicts(verdict):
            return "CONTRADICTION"
        return self.headline if self.all_sizes is not None else verdict.status.value

    @property
    def summary_words(self) -> str:
        """Return the words under which a summary counts it: its status, or what it was compared with."""
        if self.alone is not None and self.status == "VERIFIED":
            return f"compared with {self.alone.against} alone" if self.alone.against else self.alone.says.lower()
        return self.status.lower()

    @property
    def uses_isa(self) -> bool:
        """Whether a formula of the ISA was consulted for any verdict."""
        consulted = (v for v in self.verdicts if v.claim.provenance or v.claim.prop.key == "product")
        made = (e for v in consulted for e in v.evidence if e.check is Check.ISA)
        return self.alone is None and any(e.status is not Status.UNCHECKED for e in made)

    def consequences(self, verdict: Verdict) -> list[Verdict]:
        """Return the refutations that a verdict explains."""
        explains = (verdict.claim.part, verdict.claim.prop.key)
        return [v for v in self.verdicts if v.cause and v.explained_by == explains]

    def source(self, evidence: Evidence) -> str:
        """Return the name of a check as people read it: "points" for `isa` where no instruction was compared."""
        return "points" if self.alone is not None and evidence.check is Check.ISA else evidence.check.value

    @cached_property
    def as_known(self) -> bool:
        """Whether just the parts are refuted that its known defect names."""
        right = {v.claim.part for v in self._main if v.status.confirmed}
        return self.expects.is_defect_found(self.verdicts, right)

    def exit(self) -> Exit:
        """Return the exit code of a report on it alone."""
        return Report((self,)).exit()

    def text(self) -> str:
        """Return the text of a report on it alone."""
        return Report((self,)).text()

    def brief(self) -> str:
        """Return its name, its headline and its first counterexample."""
        return f"{self.name} {self.headline}{self.first_wrong()}"

    def first_wrong(self) -> str:
        """Return its first counterexample, or the reason why it is UNCHECKED, after a comma; else nothing."""
        wrong = next((v.counterexample.statement for v in self.verdicts if v.counterexample and not v.cause), self.gap)
        return f", {wrong}" if wrong else ""


_QUOTE = re.compile(r" *\d* \| ")  # how a line of source begins that is quoted, and the caret's below it


def consequence(verdict: Verdict, general: bool = False) -> str:
    """Return a refutation that another one explains, in a line; `general` leaves out its example."""
    wrong, claim = verdict.counterexample, verdict.claim
    told = ""
    if wrong is not None:
        words = wrong.general if general and wrong.general else (wrong.statement, wrong.extent, *wrong.damage)
        told = f": {'; '.join(text for text in words if text and not _QUOTE.match(text))}"
    part = f"{claim.part} " if verdict.explained_by[0] != claim.part and claim.part else ""
    return f"so too {verdict.status} {part}{claim.text}{told}"


class Failure(NamedTuple):
    """A subject without verdicts: the error in it or our failure, and the exit code for that."""

    name: str
    message: str
    code: Exit
    place: Place | None = None  # of the error, in a file


class Accepted(NamedTuple):
    """What a baseline accepts (`report.baseline`)."""

    file: str  # of the baseline
    names: frozenset[str]  # of cases of whose refutations it has all
    gone: int  # findings of it that no case has any more


def failure_of(error: AtomFileError) -> Failure:
    """Return an error of a file as a failure, at its line."""
    place = Place(error.file, *error.place[:2]) if error.place else None
    return Failure(error.key or error.file, str(error), Exit.USAGE, place)


@dataclass(frozen=True, slots=True, repr=False)
class Report(Judgement):
    """All cases of a run, the checks that it requires, and what the user expects."""

    cases: tuple[Case, ...]  # in the order in which they were selected
    require: frozenset[Check] = frozenset()  # checks that must have been made of every case
    expect_known: bool = False  # whether known defects are expected: only what differs from them fails
    missing: int = 0  # subjects that an interruption left without a verdict
    failures: tuple[Failure, ...] = field(default=(), kw_only=True)  # subjects that could not be verified
    allow_unchecked: bool = field(default=False, kw_only=True)  # whether UNCHECKED cases leave the exit code 0
    accepted: Accepted | None = field(default=None, kw_only=True)  # what a baseline accepts

    def text(self) -> str:
        """Return what a command prints: each claim that is not confirmed, then one line with the counts."""
        from verify.report import as_text

        return as_text.render(self)

    def brief(self) -> str:
        """Return how many subjects have which status, and what is wrong with the first that is not verified."""
        counts = Counter(case.headline for case in self.cases)
        listed = ", ".join(f"{count} {headline}" for headline, count in counts.items()) or "no subject"
        first = next((case for case in self.cases if case.status != "VERIFIED"), None)
        return listed if first is None else f"{listed}; {first.name}{first.first_wrong()}"

    @property
    def complete(self) -> bool:
        """Whether every subject of the run has its verdicts."""
        return not self.missing

    @property
    def surprises(self) -> dict[str, str]:
        """Subjects that are not what their entries expect, and how; known defects count only with `expect_known`."""
        surprises = {case.name: find_surprise(case, self.expect_known) for case in self.cases}
        return {name: how for name, how in surprises.items() if how}

    @property
    def unchecked_cases(self) -> list[Case]:
        """The subjects that are UNCHECKED; `gap` has the reason, its `excuse` why that fails no run."""
        return [case for case in self.cases if self.is_unchecked(case)]

    def why_accepted(self, case: Case) -> str:
        """Return why a refuted case fails no run: the known defect that its entry declares, or the baseline; or ""."""
        if self.expect_known and case.as_known:
            return f"known defect: {case.expects.known_defect}"
        return f"accepted by {self.accepted.file}" if self.accepted and self.is_accepted(case) else ""

    def is_accepted(self, case: Case) -> bool:
        """Return whether a baseline accepts a case."""
        return self.accepted is not None and case.name in self.accepted.names

    def is_unchecked(self, case: Case) -> bool:
        """Whether a subject is UNCHECKED, or refuted as expected while another operand of it is."""
        return case.status == Status.UNCHECKED or (self.expect_known and case.as_known and bool(case.gap))

    @property
    def gaps(self) -> list[Case]:
        """The subjects that fail the run because they are UNCHECKED."""
        return [] if self.allow_unchecked else [case for case in self.unchecked_cases if not case.expects.excuse]

    def unmet(self) -> list[tuple[str, str]]:
        """Subjects on which a required check confirmed and refuted nothing, with the reason.

        An instruction that could not be compared counts as a missing check of every kind, and so does an operand that
        the check says nothing about, as no solver of a map that is given point by point.
        """
        missing = []
        for case, check in product(self.cases, sorted(self.require)):
            about = [v for v in case.verdicts if check in v.claim.prop.required] or case.verdicts
            mine = [e for v in about for e in v.evidence if e.check is check]
            unnamed = [
                v.reason
                for v in case.verdicts
                if v.claim.prop.scope == Scope.INSTRUCTION and v.status is Status.UNCHECKED
            ]
            reasons = [e.reason for e in mine if e.status is Status.UNCHECKED] + unnamed
            if any(e.check is check for v in case.verdicts for e in v.evidence):  # it was requested
                lacking = (f"{v.claim.part} {v.claim.text}".strip() for v in about if _lacks(v, check))
                reasons += [f"none was made of the claim: {words}" for words in lacking]
            if not mine or reasons:
                made = any(v.claim.prop.by(check) is not None for v in case.verdicts)
                why = "it was not requested" if made else "none of its properties has this check"
                missing.append((case.name, f"{check}: {next(iter(reasons), why)}"))
        return missing

    def verdicts(self) -> Iterable[Verdict]:
        """Every verdict of every case."""
        return (v for c in self.cases for v in c.verdicts)

    def counts(self) -> Counter[Status]:
        """Return the number of claims with each status."""
        return Counter(v.status for v in self.verdicts())

    def exit(self) -> Exit:
        """Return the exit code: a contradiction outranks a refutation, a refutation outranks UNKNOWN and UNCHECKED.

        An interruption outranks everything, since the run is incomplete. An internal error counts as a contradiction. A
        subject that was rejected outranks the verdicts on all others but contradictions. A refutation that is expected
        or that a baseline accepts is none.

        >>> from verify.core.verdict import Claim, Property
        >>> claim = Claim("one", "A", Property("size"), "has 8 values")
        >>> cases = [Case("one", (Verdict(claim, status, ()),)) for status in (Status.PROVED, Status.REFUTED)]
        >>> [Report(some).exit().name for some in ((), (cases[0],), tuple(cases))]
        ['EMPTY', 'OK', 'REFUTED']
        """
        if not self.complete:
            return Exit.INTERRUPTED
        counts, failed = self.counts(), {failure.code for failure in self.failures}
        if any(c.contradiction for c in self.cases) or counts[Status.VACUOUS] or Exit.CONTRADICTION in failed:
            return Exit.CONTRADICTION
        if Exit.USAGE in failed:
            return Exit.USAGE
        refuted = (c for c in self.cases if c.status in (Status.REFUTED, Status.RELABELLED))
        if self.surprises or not all(map(self.why_accepted, refuted)):
            return Exit.REFUTED
        if counts[Status.UNKNOWN] or self.unmet() or self.gaps:
            return Exit.UNDECIDED
        return Exit.OK if self.cases else Exit.EMPTY


def _lacks(verdict: Verdict, check: Check) -> bool:
    """Whether a check that a claim requires found nothing on it, not even why: a map's points have no proof."""
    return check in verdict.claim.prop.required and all(evidence.check is not check for evidence in verdict.evidence)


def cut_short(missing: int, what: str = "subject") -> str:
    """Return a line that says how many subjects an interruption left without a verdict.

    >>> cut_short(2)
    'interrupted: 2 subjects not verified'
    """
    return f"interrupted: {count_of(missing, what)} not verified"


def drawing_command(replay: str) -> str:
    """Return the command that draws what a command verifies: `lanecheck show` an entry, or the command itself.

    >>> drawing_command("lanecheck movement mine.toml '--only=the one'")
    "lanecheck show mine.toml '--only=the one'"
    >>> drawing_command("lanecheck movement --descriptor 64:1")
    'lanecheck movement --descriptor 64:1 --format html'
    """
    if re.search(r" '?--only", replay):
        return re.sub(r"^lanecheck \w+", "lanecheck show", replay)
    return f"{replay} --format html"
