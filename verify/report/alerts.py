# SPDX-License-Identifier: Apache-2.0
"""What a report says against its subjects, one alert each, with the line of the file: for SARIF and for annotations.

An alert is a claim that is not confirmed, with the claims that are refuted because of it, a subject that was not
checked or that differs from what its entry expects, or one that could not be read. A run without alerts ends with exit
code 0.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from verify.core.verdict import Fix, FurtherCause, Place, Status, Verdict
from verify.report import Case, Report, consequence, cut_short
from verify.report.alike import group_alike
from verify.report.expectation import write_surprise

FINGERPRINT = "finding/v1"  # the name of `Alert.fingerprint` in SARIF
LINES = re.compile(r"(?<=\w:)\d+(?::\d+)?|(?<=\bline )\d+|(?<=\blines )\d+(?:(?:, | and )\d+)*")  # in files
REPLAY = "replay: "  # before the command that finds it again
OPEN = (Status.REFUTED, Status.RELABELLED, Status.VACUOUS, Status.UNKNOWN)


class Level(StrEnum):
    """How much an alert weighs, in SARIF's words."""

    ERROR = "error"  # something is false, or cannot be read
    WARNING = "warning"  # something that was asked for could not be decided
    NOTE = "note"  # a known defect that is expected, or unchecked and accepted by an option


@dataclass(frozen=True, slots=True)
class Alert:
    """One alert: the rule that it is about, and where."""

    rule: str  # the key of a property, or one of `OTHERS`
    words: str  # the name of the rule
    level: Level  # how much it weighs
    subject: str  # whose name is in the text too
    text: str  # a line for the claim and what is wrong, then damage, repair and replay
    part: str = ""  # the operand
    place: Place | None = None  # where it is written
    known: str = ""  # why it fails no run: the defect that the entry declares, or the baseline
    related: tuple[tuple[str, Place], ...] = ()  # the consequences that are written elsewhere, a line each
    fixes: tuple[Fix, ...] = ()  # repairs that were verified, as changes of files
    exact: str = ""  # the text with the seed of this run, where `text` leaves it out
    causes: tuple[str, ...] = ()  # what a kernel does wrong, whatever its sizes, if its words depend on them

    @property
    def fingerprint(self) -> str:
        """The same for the same finding in another run: of what it is about and its first two lines, wherever it is.

        Of a kernel it is of all causes, so that a new one below an old one is a new finding.
        """
        said = self.causes or (LINES.sub("#", "\n".join(self.text.split("\n", 2)[:2])),)
        return _digest((self.rule, self.subject, self.part, self.place.file if self.place else "", *said))

    @property
    def claim_fingerprint(self) -> str:
        """The same for every finding on one claim of a subject, whatever is wrong."""
        return _digest((self.rule, self.subject, self.part, self.place.file if self.place else ""))


def _digest(parts: tuple[str, ...]) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


LETTER = "letter"  # the property of kernels whose findings warn, unless strict
OTHERS = {
    "known_defect": "differs from its entry",
    "required": "a required check",
    "checked": "is checked at all",
    "readable": "can be read",
    "complete": "a complete run",
}


def alerts(report: Report) -> list[Alert]:
    """Return the alerts of a report: case by case, then those on the run."""
    cases = {case.name: case for case in report.cases}
    listed = [alert for first, *_ in group_alike(report.cases) for alert in alerts_of(first, report)]
    for name, how in report.surprises.items():
        listed.append(_alert_of("known_defect", name, write_surprise(name, how), cases[name].place))
    for name, reason in report.unmet():
        text = f"{name}: required, and not made: {reason}"
        listed.append(_alert_of("required", name, text, cases[name].place, Level.WARNING))
    for failure in report.failures:
        listed.append(_alert_of("readable", failure.name, failure.message, failure.place))
    if not report.complete:
        listed.append(_alert_of("complete", "", cut_short(report.missing)))
    return listed


def _alert_of(rule: str, subject: str, text: str, place: Place | None = None, level: Level = Level.ERROR) -> Alert:
    return Alert(rule, OTHERS[rule], level, subject, text, place=place)


def alerts_of(case: Case, report: Report) -> Iterator[Alert]:
    """Yield the alerts on a case: claims that are not confirmed; of an UNCHECKED case the first not checked."""
    for verdict in case.verdicts:
        if verdict.cause and not case.contradicts(verdict):
            continue  # it is told with its cause
        if case.contradicts(verdict) or verdict.status in OPEN:
            known = report.why_accepted(case) if verdict.status.refuted else ""
            decided = case.contradicts(verdict) or verdict.status is not Status.UNKNOWN
            level = Level.NOTE if known else Level.ERROR if decided else Level.WARNING
            exact, text = _text(case, verdict), _text(case, verdict, general=True)
            yield from _split_causes(_of_verdict(case, verdict, level, exact, known, text), verdict)
    yield from (_of_warning(case, warning) for warning in case.warnings)
    if report.is_unchecked(case) and not case.expects.excuse:
        level, text = Level.WARNING if case in report.gaps else Level.NOTE, f"{case.name}  UNCHECKED: {case.gap}"
        first = case.open or next(filter(_open, case.verdicts), None)
        if first is None:
            yield _alert_of("checked", case.name, text, case.place, level)
        else:
            yield _of_verdict(case, first, level, text)


def _of_warning(case: Case, warning: FurtherCause) -> Alert:
    """Return the alert of a warning: it is of a rule, and fails no run."""
    subject, head = case.family or case.name, "WARNING: a rule of the ISA's text is broken"
    text, exact = (f"{subject}  {head}\n{words}" for words in (warning.general, warning.text))
    return Alert(
        LETTER, LETTER, Level.WARNING, subject, text, place=warning.place or case.place, exact=exact,
        causes=warning.causes,
    )  # fmt: skip


def _open(verdict: Verdict) -> bool:
    """Whether a check that applies could not be made of it."""
    missing = any(e.status is Status.UNCHECKED and e.applies for e in verdict.evidence)
    return missing or verdict.status is Status.UNCHECKED


def _of_verdict(case: Case, verdict: Verdict, level: Level, exact: str, known: str = "", general: str = "") -> Alert:
    prop, part = verdict.claim.prop, verdict.claim.part
    place = verdict.place or case.place
    elsewhere = [effect for effect in case.consequences(verdict) if effect.place is not None and effect.place != place]
    related = tuple(
        (consequence(effect, general=True), effect.place) for effect in elsewhere if effect.place is not None
    )
    exact = exact.replace(case.name, case.family) if case.family else exact
    # the text and the fingerprint of an alert stay as they are with other sizes and seeds
    text = re.sub(r" --seed \d+", "", (general or exact).replace(case.name, case.family)) if case.family else exact
    fixes = tuple(fix for fix in verdict.fixes if fix.edits)
    causes = verdict.counterexample.causes if verdict.counterexample is not None else ()
    subject = case.family or case.name
    return Alert(prop.key, prop.words, level, subject, text, part, place, known, related, fixes, exact, causes)


def _split_causes(alert: Alert, verdict: Verdict) -> Iterator[Alert]:
    """Yield the alert of a verdict, and one for each further cause, where that is; what one repair mends is one."""
    yield alert
    wrong = verdict.counterexample
    for cause in wrong.further if wrong is not None and not wrong.repair else ():
        text, exact = _tell_instead(cause.general, alert.text), _tell_instead(cause.text, alert.exact)
        place = cause.place or alert.place
        yield replace(alert, text=text, exact=exact, place=place, causes=cause.causes, related=(), fixes=())


def _tell_instead(cause: str, whole: str) -> str:
    """Return the text of an alert with another cause than its first one."""
    head, *rest = whole.split("\n")
    return "\n".join([head, cause, *(line for line in rest if line.startswith(REPLAY))])


def _text(case: Case, verdict: Verdict, general: bool = False) -> str:
    """Return an alert's text; `general` leaves out the example of what differs with sizes."""
    head = f"{' '.join(filter(None, (case.name, verdict.claim.part)))}  {case.word(verdict)}: {verdict.claim.text}"
    wrong = verdict.counterexample
    if wrong is None:
        return "\n".join(filter(None, (head, verdict.reason)))
    apart = {cause.text for cause in wrong.further}
    damage = (line for line in wrong.damage if line not in apart)
    lines = [head, "; ".join(filter(None, (wrong.statement, wrong.arithmetic, wrong.extent))), *damage]
    lines = [head, *wrong.general] if general and wrong.general else lines
    lines += [f"repair: {wrong.repair}"] if wrong.repair else []
    lines += [f"{REPLAY}{wrong.replay}"] if wrong.replay else []
    lines += [consequence(effect, general) for effect in case.consequences(verdict)]
    return "\n".join([*lines, *(case.contradictions if case.contradicts(verdict) else [])])
