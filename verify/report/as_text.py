# SPDX-License-Identifier: Apache-2.0
"""A report as text for people.

A refutation is printed in one order: the claim, the smallest counterexample with its arithmetic, the extent of the
damage, the formula of the ISA, a repair if a small one exists, the command that replays it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from lanecheck.console.counts import join_counts
from verify.core.verdict import Check, Claim, Evidence, Origin, Status, Verdict, origin
from verify.core.wording import count_of
from verify.report import Case, Report, consequence, cut_short
from verify.report.alike import group_alike, name_sizes
from verify.report.expectation import write_surprise

NAME_WIDTH = 44
MANY = 24  # subjects, from which on a table of them follows, and the most rows that it has
# in the order of the last line
HEADS = (
    "VERIFIED",
    "CONTRADICTION",
    "VACUOUS",
    "REFUTED",
    "RELABELLED",
    "UNKNOWN",
    "UNCHECKED",
)  # in the order of the last line


def render(report: Report, quiet: bool = False, verbose: bool = False) -> str:
    """Return the whole report; `quiet` leaves the last line only, `verbose` shows every claim with its evidence."""
    lines: list[str] = []
    if not quiet:
        room = min(NAME_WIDTH, max((len(case.name) for case in report.cases), default=0))
        sources = {source for case in report.cases if (source := _source(case))}
        alike = len(sources) == 1 and len(report.cases) > 1  # then they are printed once
        for first, *rest in [[case] for case in report.cases] if verbose else group_alike(report.cases):
            brief = not verbose and first.status == "VERIFIED" and _has_wrong_sizes(first, report)
            lines += [_headline(first, room, alike)] if brief else _case(first, verbose, room, alike)
            lines += [f"  {report.why_accepted(first)}"] if report.is_accepted(first) else []
            lines += [f"  so too   {'; '.join(map(name_sizes, rest))}"] if rest else []
        lines += [write_surprise(name, how) for name, how in report.surprises.items()]
        lines += [f"gpu: {source}" for source in sources if alike]
        lines += totals(report) if len(report.cases) >= MANY else []
    return "\n".join([*lines, summary(report)]) + "\n"


def _has_wrong_sizes(case: Case, report: Report) -> bool:
    """Return whether a kernel is wrong at other sizes: what is right is a line then."""
    return bool(case.family) and any(
        sibling.family == case.family and sibling.status == Status.REFUTED for sibling in report.cases
    )


def summary(report: Report) -> str:
    """Return the last line: subjects by status, claims by status, which checks have no evidence, the exit code."""
    line = f"{subjects(report)}; claims: {tally(report.counts())}"
    missing = Counter(e.check.value for v in report.verdicts() for e in v.evidence if e.status is Status.UNCHECKED)
    if missing:
        line += f" (no evidence: {', '.join(f'{check} on {n}' for check, n in sorted(missing.items()))})"
    unmet = report.unmet()
    if unmet:
        line += f"; required but missing on {len(unmet)}: {unmet[0][0]}: {unmet[0][1]}"
    if report.accepted is not None:
        line += f"; accepted by {report.accepted.file}: {len(report.accepted.names)}"
        line += f" ({report.accepted.gone} of its findings are gone)" if report.accepted.gone else ""
    if report.surprises:
        line += f"; entries not as expected: {len(report.surprises)}"
    if report.gaps:
        line += f"; not checked: {report.gaps[0].name}: {report.gaps[0].gap} (--allow-unchecked accepts it)"
    if not report.complete:
        line += f"; {cut_short(report.missing)}"
    return f"{line}; exit {int(report.exit())}"


def subjects(report: Report) -> str:
    """Return how many subjects there are, and by status."""
    by_status = Counter((HEADS.index(c.status), c.summary_words) for c in report.cases)
    words = ", ".join(f"{count} {words}" for (_, words), count in sorted(by_status.items()))
    excused = Counter(c.expects.excuse for c in report.unchecked_cases if c.status == Status.UNCHECKED)
    excused.pop("", None)  # of those that fail the run
    if excused:
        words += f" ({', '.join(f'{n} {excuse}' for excuse, n in excused.items())})"
    return f"{count_of(len(report.cases), 'subject')}: {words or 'none'}"


def tally(counts: Counter[Status], order: Sequence[Status] = tuple(Status)) -> str:
    """Return counts of claims in words, of what there is.

    >>> tally(Counter({Status.PROVED: 3, Status.REFUTED: 1})), tally(Counter())
    ('3 proved, 1 refuted', 'none')
    """
    words = {Status.AGREES: "agree"}
    return join_counts({words.get(s, s.value.lower()): counts[s] for s in order})


def totals(report: Report) -> Iterator[str]:
    """Count subjects by the first word of their names and by status, as a table; nothing where that is one row."""
    groups: dict[str, Counter[str]] = {}
    for case in report.cases:
        word = case.name.partition("_")[0].partition("::")[0].partition("<")[0].partition(" ")[0]
        groups.setdefault(word, Counter())[case.status.lower()] += 1
    if not 1 < len(groups) <= MANY:
        return
    whole = sum(groups.values(), Counter[str]())
    heads = [status.lower() for status in HEADS if whole[status.lower()]]
    wide = max(map(len, (*groups, "subjects")))
    yield f"{'subjects':<{wide}}  {'':>6}" + "".join(f"  {head:>10}" for head in heads)
    for name, counts in (*groups.items(), ("total", whole)):
        cells = (f"  {counts[head] or '-':>10}" for head in heads)
        yield f"{name:<{wide}}  {counts.total():>6}{''.join(cells)}"


def _source(case: Case) -> str:
    """Return the sources of the GPU evidence: recordings, by GPU and driver."""
    sources = {e.method: None for v in case.verdicts for e in v.evidence if e.check is Check.GPU and e.method}
    return "; ".join(sources)


def _case(case: Case, verbose: bool, room: int, alike: bool) -> Iterator[str]:
    """Yield the lines of a case; names have `room` columns, and sources that are `alike` in all cases are left out."""
    open_ = (Status.REFUTED, Status.RELABELLED, Status.VACUOUS, Status.UNKNOWN)
    wrong = [v for v in case.verdicts if v.status in open_ or (case.contradiction and case.contradicts(v))]
    if not wrong or verbose:
        yield _headline(case, room, alike)
    for verdict in case.verdicts:
        if verdict in wrong and verdict.cause:
            continue  # it is told with its cause
        if verdict in wrong:
            yield from story(case, verdict, verbose)
        elif verbose:
            yield from _plain(case, verdict)
    if taken := [f"{v.claim.part} {v.claim.text}" for v in case.verdicts if v.status is Status.TAKEN]:
        yield f"  not given, taken from the instruction: {'; '.join(taken)}"
    yield from (f"  {line}" for line in (*case.contradictions, *case.notes))
    if wrong and case.expects.known_defect:
        yield f"  known defect: {case.expects.known_defect}" + (
            f"; not checked: {case.gap}" if case.as_known and case.gap else ""
        )


def _headline(case: Case, room: int, alike: bool) -> str:
    counts = Counter(v.status for v in case.verdicts)
    line = f"{case.name:<{room}}  {case.headline:<9} {tally(counts, (Status.PROVED, Status.AGREES, Status.TAKEN))}"
    if counts[Status.UNCHECKED]:
        line += f", {counts[Status.UNCHECKED]} unchecked"
    cited = [v.claim for v in case.verdicts if v.evidence and v.claim.part and v.claim.provenance]
    rests = {claim.part: origin(claim.provenance) for claim in cited}
    origins: dict[str, list[str]] = {}
    for part, kinds in rests.items():
        if kinds != (Origin.TEXT,):
            origins.setdefault(" and ".join(kinds), []).append(part)
    line += "".join(f"   {v.claim.text}" for v in case.verdicts if v.claim.part == "relabel")
    if case.adapter:
        line += f"   then: {case.adapter}"
    if origins:
        line += "   isa: " + "; ".join(f"{', '.join(parts)} {kinds}" for kinds, parts in origins.items())
    source = _source(case)
    if source and not alike:
        line += f"   gpu: {source}"
    if case.gap:
        line += f"   {case.gap}"
    elif not source:
        reasons = [v.reason for v in case.verdicts if v.status is Status.UNCHECKED and v.evidence]
        line += "".join(f"   {reason}" for reason in reasons[:1])
    return line


def _rests(claim: Claim) -> str:
    """Return the provenance that a claim rests on, unless its text has it."""
    return f"  ({claim.provenance})" if claim.provenance and claim.provenance not in claim.text else ""


def _plain(case: Case, verdict: Verdict) -> Iterator[str]:
    claim = verdict.claim
    yield f"  {claim.part or '-':<3}  {verdict.status:<9} {claim.text}{_rests(claim)}"
    yield from (f"      {describe(case, evidence)}" for evidence in verdict.evidence)


def story(case: Case, verdict: Verdict, verbose: bool = False) -> Iterator[str]:
    """Yield the lines of a verdict that confirms nothing, from the claim to the command that replays it."""
    contradicted = case.contradicts(verdict)
    decided = Status.REFUTED if verdict.status.refuted else verdict.status
    deciding = next((e for e in verdict.evidence if e.status is decided), None)
    where = f"{case.name}  {verdict.claim.part}".rstrip()
    claimed = f"{verdict.claim.text}{_rests(verdict.claim)}"
    yield f"{where}  {case.word(verdict)}   {claimed}" + (f"      {_how(deciding)}" if deciding else "")
    text = dict(case.layouts).get(verdict.claim.part)
    if text:
        yield f"  {verdict.claim.part} = {text}"
    if verdict.counterexample is not None:
        yield from _counterexample(verdict)
    elif verdict.reason:
        yield f"  {verdict.reason}"
    rest = [e for e in verdict.evidence if e is not deciding]
    if contradicted or verbose:
        yield from (f"  {describe(case, evidence)}" for evidence in verdict.evidence)
    elif rest:
        yield f"  also {'; '.join(_brief(case, e) for e in rest)}"
    for effect in case.consequences(verdict):
        yield f"  {consequence(effect)}"
        yield from (f"      {describe(case, evidence)}" for evidence in effect.evidence if verbose)


def _counterexample(verdict: Verdict) -> Iterator[str]:
    wrong = verdict.counterexample
    if wrong is None:
        return
    parts = [wrong.statement, wrong.arithmetic, wrong.extent]
    yield "  " + "      ".join(p for p in parts if p)
    if not wrong.reproduced:
        yield "  plain arithmetic does not reproduce this: the fault is in Lanecheck, not in the layout"
    yield from (f"  {line}" for line in wrong.damage)
    if wrong.isa:
        yield from (f"  {'ISA' if i == 0 else '':<8} {line}" for i, line in enumerate(wrong.isa.splitlines()))
    if wrong.repair:
        yield f"  repair   {wrong.repair}"
    if wrong.replay:
        yield f"  replay   {wrong.replay}"


def _how(evidence: Evidence) -> str:
    points = f", {evidence.points} points" if evidence.points > 1 else ""
    return f"{evidence.method}{points}"


def _brief(case: Case, evidence: Evidence) -> str:
    check = case.source(evidence)
    if evidence.status is Status.UNCHECKED:
        return f"{check} UNCHECKED ({evidence.reason})"
    wrong = evidence.counterexample
    return f"{check} {evidence.status} ({evidence.method})" + (f": {wrong.statement}" if wrong else "")


def describe(case: Case, evidence: Evidence, timed: bool = True) -> str:
    """Return one piece of evidence in a line: the check, its status and its method."""
    line = f"{case.source(evidence):<8} {evidence.status:<9} {_how(evidence)}".rstrip()
    if evidence.engine:
        line += f", {evidence.engine}"
    if evidence.seconds and timed:
        line += f", {evidence.seconds * 1e3:.1f} ms"
    if evidence.shared:
        line += f", shared with {evidence.shared}"
    if evidence.reason:
        line += f": {evidence.reason}"
    if evidence.counterexample is not None:
        line += f": {evidence.counterexample.statement}"
    return line
