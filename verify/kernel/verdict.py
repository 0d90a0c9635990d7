# SPDX-License-Identifier: Apache-2.0
"""The outcomes of a check as a report: one claim for each thing that can go wrong, each with its evidence.

Main declarations: `PROPERTIES` (the claims), `JudgedKernel` (their subject), `case` (of an outcome), `spell_finding`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from isa_tables.targets import known_targets
from verify.core.verdict import (
    Check,
    Counterexample,
    Evidence,
    FurtherCause,
    Place,
    Property,
    Statement,
    Status,
    WrongProduct,
)
from verify.evidence.run import Run
from verify.kernel.check import LaunchOutcome
from verify.kernel.consequences import name_consequences
from verify.kernel.general import leave_out_example
from verify.kernel.mends import Mending, mend, propose
from verify.kernel.quotes import find_operand_column, find_source, quote_line, quote_source
from verify.kernel.state.findings import (
    CAUSE,
    GUARD_LOST,
    NOWHERE,
    WARNINGS,
    Finding,
    Severity,
    fold_findings,
    group_findings,
    mask_numbers,
    tell_once,
)
from verify.report import Case

if TYPE_CHECKING:
    from verify.pictures.picture import Picture, Window

KERNEL = "kernel"  # the sort of subject, in `Property.says`
LISTED = 8  # findings of one claim that are printed
SEVERITIES: Mapping[str, tuple[Severity, ...]] = {  # of the findings that are evidence on a property
    "values": (Severity.VALUE, Severity.UNKNOWN),
    "memory": (Severity.MEMORY,),
    "order": (Severity.RACE,),
    "progress": (Severity.STUCK,),
    "precision": (Severity.PRECISION,),
    "letter": (Severity.LETTER, Severity.EQUAL),
}


# An undefined access, a race or a deadlock makes the run that was interpreted one of several: until these three are
# confirmed, nothing else is known of the others. A narrowing is looked for in right elements alone.
EXECUTION = frozenset({"memory", "order", "progress"})
PREMISES = {key: EXECUTION | ({"values"} if key == "precision" else set()) for key in SEVERITIES}

# (kind, section) of a finding -> the probe of `gpu_checks.order` that leaves out what it asks for
PROBES = {
    ("no proxy fence", "9.7.15.4"): "wgmma, no proxy fence",
    ("read after write by a part of a warpgroup", "9.7.13.1"): "wgmma, no barrier",
    ("write after read by a part of a warpgroup", "9.7.15.7.3"): "wgmma, overwritten after wait_group, no barrier",
}


@dataclass(frozen=True)
class JudgedKernel:
    """A kernel after one launch of it was interpreted: the subject that its properties are about."""

    outcome: LaunchOutcome  # of the launch
    text: str  # of the claim
    strict: bool  # whether what breaks the letter of the ISA is refuted
    replay: str  # the command that finds a counterexample again
    file: str = ""  # which has the kernel, or the function that was compiled
    compiled: str = ""  # how it was compiled, if it was here
    first: str = "values"  # the property that says why an interpretation ended early
    mending: Mending | None = None  # how what a race may lack is tried

    @property
    def name(self) -> str:
        """Return the kernel's name with the sizes of the launch."""
        return self.outcome.kernel + "".join(f" {key}={value}" for key, value in self.outcome.sizes.items())

    def of(self, key: str) -> list[Finding]:
        """Return the findings that are evidence on a property, in the order of time."""
        return [finding for finding in self.outcome.findings if finding.severity in SEVERITIES[key]]

    def quote(self, finding: Finding) -> tuple[str, ...]:
        """Return the line of a finding and a caret below it: of its source, or of the PTX if that names no source."""
        place = find_source(finding, self.file)
        if place is not None or finding.source or self.mending is None:
            return quote_source(place)
        return quote_line(self.mending.ptx.split("\n"), finding.line, self.find_column(finding))

    def find_column(self, finding: Finding) -> int:
        """Return the column of a finding in its line of the PTX: the register of a wrong operand, else the first."""
        lines = self.mending.ptx.split("\n") if self.mending is not None else []
        return find_operand_column(lines[finding.line - 1], finding.text) if 0 < finding.line <= len(lines) else 1

    def name_causes(
        self, groups: Sequence[Sequence[Finding]]
    ) -> tuple[tuple[str, ...], tuple[FurtherCause, ...]]:  # fmt: skip
        """Return what the first cause is, whatever the sizes, and the others; what follows from it belongs to it."""
        first, *rest = groups
        follows = [each for each in rest if _follows(each[0], first[0])]
        further = tuple(self._as_cause(each) for each in rest if each not in follows)
        return self._name_cause([finding for each in (first, *follows) for finding in each]), further

    def name_wrong(self, findings: Sequence[Finding]) -> tuple[str, ...]:
        """Return what is wrong with values: in the words of the first finding, with its example; others by their kinds.

        Another example may be another fault, and what else is found of values mostly follows from the first.
        """
        first, *rest = (finding for finding in findings if finding.severity is not Severity.UNKNOWN)
        words = re.sub(r"\b(lines?|PTX lines?) [\d, ]*\d", r"\1 #", re.sub(r"(?<=\w:)\d+", "#", first.text))
        return (f"{first.kind}: {words}", *sorted({f"{finding.kind}: {self._read_line(finding)}" for finding in rest}))

    def _name_cause(self, findings: Sequence[Finding]) -> tuple[str, ...]:
        """Return findings by their kinds, their words without numbers, and their lines."""
        return tuple(
            sorted(
                {f"{finding.kind}: {mask_numbers(finding.text)}: {self._read_line(finding)}" for finding in findings}
            )
        )

    def _read_line(self, finding: Finding) -> str:
        """Return the text of a finding's line in its source, or in the PTX without the names of registers."""
        lines = quote_source(find_source(finding, self.file))
        if not lines and self.mending is not None:
            lines = quote_line(self.mending.ptx.split("\n"), finding.line, 1)
        text = lines[0].partition(" | ")[2] if lines else ""
        return re.sub(r"%\w+", "%", text)

    @property
    def warnings(self) -> tuple[FurtherCause, ...]:
        """Return what breaks the letter of the ISA, which refutes only if strict."""
        groups = group_findings(
            finding for finding in self.outcome.findings if finding.severity in WARNINGS and not self.strict
        )
        return tuple(self._as_cause(each) for each in groups)

    def _as_cause(self, each: Sequence[Finding]) -> FurtherCause:
        place, causes = _place(self, each), self._name_cause(each)
        return FurtherCause(spell_finding(tell_once(each)), place, causes, spell_general(each[0]))

    @cached_property
    def evidence(self) -> Mapping[str, Evidence]:
        """Return the evidence on each property: UNCHECKED where it confirms but rests on a premise that doesn't.

        Of a part of the launch nothing is confirmed.
        """
        by_property = {key: _evidence(self, key) for key in SEVERITIES}
        by_property = _withhold(_withhold(by_property, EXECUTION), {"values"})
        part = self.outcome.part
        if part is None:
            return by_property
        why = f"{part[0]:,} of {part[1]:,} CTAs were interpreted, and nothing is wrong there"
        return {
            key: evidence._replace(status=Status.UNCHECKED, reason=why) if evidence.status.confirmed else evidence
            for key, evidence in by_property.items()
        }


def case(
    outcome: LaunchOutcome, text: str, strict: bool, replay: str, file: str = "", compiled: str = "",
    mending: Mending | None = None,
) -> Case:  # fmt: skip
    """Return the case of an outcome; `text` is the claim, `replay` the command that finds it again.

    `file` has the kernel, and `compiled` says how it was compiled, if it was here from a function in `file`. `mending`
    tries what a race may lack.
    """
    judged = JudgedKernel(outcome, text, strict, replay, file, compiled, mending=mending)
    verdicts = mend(KernelChecker(frozenset({Check.ISA})).verdicts(PROPERTIES, judged), mending)
    verdicts = name_consequences(verdicts, judged.of)
    first = {
        key: outcome.findings.index(judged.of(key)[0])
        for key, evidence in judged.evidence.items()
        if evidence.status.refuted
    }
    # the first cause first
    verdicts.sort(key=lambda verdict: first.get(verdict.claim.prop.key, len(outcome.findings)))
    notes = ((f"compiled {compiled}",) if compiled else ()) + list_notes(outcome, strict)
    wrong = outcome.cause and outcome.cause._replace(
        text=next(spell_finding(finding) for finding in outcome.findings if finding.kind == CAUSE)
    )
    return Case(
        judged.name, tuple(verdicts), place=Place(file, 1) if file else None, notes=notes, wrong_product=wrong,
        warnings=judged.warnings,
        picture=partial(_draw, judged.name, wrong), drawn_by=f"{replay} --format html", family=outcome.kernel,
    )  # fmt: skip


def _withhold(by_property: Mapping[str, Evidence], premises: Iterable[str]) -> dict[str, Evidence]:
    """Return the evidence, UNCHECKED where it confirms but rests on a premise that is not confirmed."""
    open_ = {
        key: by_property[key].status for key in SEVERITIES if key in premises and not by_property[key].status.confirmed
    }
    return {
        key: _rest_on(evidence, {name: open_[name] for name in open_ if name in PREMISES[key] - {key}})
        for key, evidence in by_property.items()
    }


def _rest_on(evidence: Evidence, open_: Mapping[str, Status]) -> Evidence:
    if not open_ or not evidence.status.confirmed:
        return evidence
    why = f"its premise is not verified: {', '.join(f'{name} is {status}' for name, status in open_.items())}"
    return evidence._replace(status=Status.UNCHECKED, reason=why)


def _draw(name: str, wrong: WrongProduct | None, window: Window) -> Picture:
    """Return the picture of the operands that are wrong."""
    from verify.pictures.picture import Picture
    from verify.pictures.products import of_product

    if wrong is None:
        return Picture(name, (), notes=("no operand of a matrix product was found to be wrong",))
    return of_product(name, wrong, window=window)


def _place(judged: JudgedKernel, findings: Sequence[Finding]) -> Place | None:
    """Return where the first finding with a line is, in the PTX or in its source; of wrong values their first store."""
    for finding in sorted(findings, key=lambda finding: finding.kind != CAUSE):
        name, _, line = finding.source.rpartition(":")
        if judged.compiled and name == Path(judged.file).name:
            return Place(judged.file, int(line))
        if (there := find_source(finding, judged.file)) is not None:
            return there
        if finding.line and judged.file and not judged.compiled:
            return Place(judged.file, finding.line, judged.find_column(finding))
    store = judged.outcome.store
    wrong = findings and findings[0].severity is Severity.VALUE and store is not None and store not in findings
    return _place(judged, [store]) if wrong and store is not None else None


def _evidence(judged: JudgedKernel, key: str) -> Evidence:
    """Return what the findings are evidence of, whatever they rest on."""
    outcome, findings = judged.outcome, judged.of(key)
    ended = next((finding for finding in outcome.findings if finding.severity is Severity.UNKNOWN), None)
    method = "every thread interpreted"
    if key == "values":
        method += " on unknowns" + (f"; a wrong element unnoticed: {_chance(outcome)}" if outcome.compared else "")
    groups = group_findings(finding for finding in findings if finding.severity is not Severity.UNKNOWN)
    certain = [tell_once(each) for each in groups]
    if key == "letter" and certain and not judged.strict:
        places = f"{len(certain)} place{'s' * (len(certain) > 1)}"
        return Evidence(Check.ISA, Status.UNCHECKED, "", reason=f"broken in {places}, a warning", applies=False)
    if certain:
        rest = (*judged.quote(certain[0]), *(_spell_next(finding, certain[0]) for finding in certain[1:LISTED]))
        more = (f"and {len(certain) - LISTED} more",) if len(certain) > LISTED else ()
        causes, further = (judged.name_wrong(findings), ()) if key == "values" else judged.name_causes(groups)
        wrong = Counterexample(
            {"line": certain[0].line}, spell_finding(certain[0]), damage=rest + more, replay=judged.replay,
            proposals=propose(
                [certain[0], *(finding for finding in findings if finding.line != certain[0].line)], judged.mending
            ),
            causes=causes, further=further, general=_generalize(judged, groups, {cause.text for cause in further}),
        )  # fmt: skip
        return Evidence(Check.ISA, Status.REFUTED, method, counterexample=wrong)
    if ended is not None and (key == "values" or not outcome.ended):
        listed = [
            spell_finding(finding)
            for finding in fold_findings(outcome.findings)
            if finding.severity is Severity.UNKNOWN
        ]
        if key != judged.first:
            reason = f"the interpretation ended at line {ended.line}" if ended.line else "nothing was interpreted"
            return Evidence(Check.ISA, Status.UNCHECKED, method, reason=f"{reason}: see {judged.first}")
        reason = "; ".join(listed[:LISTED]) + (f"; and {len(listed) - LISTED} more" if len(listed) > LISTED else "")
        return Evidence(Check.ISA, Status.UNKNOWN, method, reason=reason)
    if key == "values" and outcome.compared < outcome.elements:
        open_ = f"{outcome.elements - outcome.compared} of {outcome.elements} elements"
        reason = f'{open_} were not compared, because their values rest on what "memory" refutes'
        return Evidence(Check.ISA, Status.UNCHECKED, method, points=outcome.compared, reason=reason)
    status = Status.PROVED if outcome.proved or key != "values" else Status.AGREES
    return Evidence(Check.ISA, status, method, points=outcome.compared if key == "values" else 0)


def _generalize(judged: JudgedKernel, groups: Sequence[Sequence[Finding]], apart: Collection[str]) -> tuple[str, ...]:
    """Return what is told of findings, whatever the sizes are, without those that have an alert of their own."""
    (first, *_), *rest = groups
    told = (each[0] for each in rest if spell_finding(tell_once(each)) not in apart)
    spelled = (f"{'so: ' * _follows(finding, first)}{spell_general(finding)}" for finding in told)
    return tuple(dict.fromkeys((spell_general(first), *judged.quote(first), *spelled)))


def _spell_next(finding: Finding, first: Finding) -> str:
    """Return a finding that is told below the first one: what is written with a lost value follows from its cause."""
    return f"{'so: ' * _follows(finding, first)}{spell_finding(finding)}"


def _follows(finding: Finding, first: Finding) -> bool:
    """Return whether a finding is a consequence of the first one."""
    return finding.kind == NOWHERE != first.kind


def _chance(outcome: LaunchOutcome) -> str:
    """Return how likely a wrong element is not seen, in words."""
    if not outcome.proved:
        return "no proved bound for logarithms, or for exponents with constants or several factors; measured 4/q a pair"
    return f"below {outcome.bound:.0e}" + (f", if {outcome.premise}" if outcome.premise else "")


def spell_finding(finding: Finding) -> str:
    """Return a finding in a line: where in the source, and in the PTX; without a source the PTX alone."""
    where = (
        f"{finding.source} (PTX line {finding.line}): "
        if finding.source
        else f"line {finding.line}: "
        if finding.line
        else ""
    )
    section = f" (ISA {finding.section}{_describe_observation(finding)})" if finding.section else ""
    kind = "" if finding.text.startswith(finding.kind) else f"{finding.kind}: "
    return f"{where}{kind}{finding.text}{section}"


def spell_general(finding: Finding) -> str:
    """Return a finding in a line, without its example."""
    return spell_finding(finding._replace(text=leave_out_example(finding.text)))


@cache
def _observations() -> Mapping[str, str]:
    """Say what was recorded of each probe that leaves out a rule, in words."""
    from gpu_checks.order.command import recordings_of_order

    observations: dict[str, str] = {}
    recorded = recordings_of_order()
    for name, gpu in {(recording.name, recording.device.gpu): None for recording in recorded}:
        runs = [recording for recording in recorded if (recording.name, recording.device.gpu) == (name, gpu)]
        wrong, results = sum(sum(run.wrong) for run in runs), sum(run.results for run in runs)
        words = (
            f"{gpu}: {wrong} of {results:,} results wrong, one warp up to {max(run.delay for run in runs)} cycles late"
        )
        observations[name] = f"{observations[name]}; {words}" if name in observations else words
    return observations


@cache
def _name_recorded_gpus() -> str:
    """Return the GPUs and drivers of which the bits of opcodes were recorded, in words."""
    from gpu_checks.opcodes.recording import recordings_of_opcodes

    return ", ".join(
        f"{recording.device.gpu} with driver {recording.device.driver}" for recording in recordings_of_opcodes()
    )


def _describe_observation(finding: Finding) -> str:
    """Say what a GPU showed of kernels that break the rule of a finding; empty where no probe does."""
    if finding.kind == GUARD_LOST:
        return f"; seen on {_name_recorded_gpus()}"
    probe = PROBES.get((finding.kind, finding.section))
    return f"; {_observations()[probe]}" if probe is not None and probe in _observations() else ""


def list_notes(outcome: LaunchOutcome, strict: bool) -> tuple[str, ...]:
    """Say what a verdict speaks of, and what it does not."""
    notes = [f"domain   {outcome.domain}", f"seed     {outcome.seed}; {outcome.steps} instructions executed"]
    if outcome.compared:
        notes.insert(1, f"chance   that a wrong element went unnoticed: {_chance(outcome)}")
    if outcome.loops:
        listed = ", ".join(f"line {line}: {trips} trips" for line, trips in outcome.loops[:LISTED])
        notes.append(f"loops    {listed}{', …' * (len(outcome.loops) > LISTED)}")
    if outcome.never_ran:
        distinct = list(dict.fromkeys(outcome.never_ran))  # a line may have several
        first = ", ".join(map(str, distinct[:6])) + (", …" if len(distinct) > 6 else "")
        notes.append(f"not run  {len(outcome.never_ran)} instructions, lines {first}")
    if outcome.offsets:
        by: dict[int, list[int]] = {}
        for number, first_byte, _ in outcome.offsets:
            by.setdefault(number, []).append(first_byte)
        listed = ", ".join(str(number) + (f" at {places}" if places != [0] else "") for number, places in by.items())
        notes.append(f"reads    parameters {listed}")
    for text, lines in outcome.notes:
        listed = ", ".join(map(str, lines[:6])) + (", …" if len(lines) > 6 else "")
        notes.append(f"assumed  {text}" + (f": line{'s' * (len(lines) > 1)} {listed}" if lines != (0,) else ""))
    notes += [f"hidden   {hidden}" for hidden in outcome.hidden]
    if any(finding.line and not finding.source for finding in outcome.findings) and not any(
        finding.source for finding in outcome.findings
    ):
        notes.append("source   the PTX has no lines of its source; -lineinfo of nvcc puts them there")
    if outcome.target not in known_targets():
        named = f"the target {outcome.target} is in no table" if outcome.target else "the PTX names no .target"
        notes.append(f"target   {named}, so what its instructions do there is taken from other targets")
    letters = [finding for finding in fold_findings(outcome.findings) if finding.severity in WARNINGS]
    notes += [f"warning  {spell_finding(finding)}" for finding in letters[:LISTED] if not strict]
    return tuple(notes)


def _row(key: str, words: str, states: str = "") -> Property:
    """Return the row of a property: `words` are in the docs, `states` in a report."""
    return Property(
        key,
        scope="operation",
        says={KERNEL: words},
        states=lambda judged, _: Statement("", states.format(claim=judged.text) or words),
        place=lambda judged, _: _place(judged, judged.of(key)),
        isa=lambda _, judged, __: [judged.evidence[key]],
        how=("every thread interpreted", "", ""),
    )


PROPERTIES = (
    _row("values", "every element of the output is what the claim says", "{claim}"),
    _row("memory", "every access lies in its array, is aligned, and reads what was written"),
    _row("order", "no two accesses race"),
    _row("progress", "every thread comes to its end"),
    _row("precision", "a value is narrowed only where the claim allows it"),
    _row("letter", "the rules of the ISA's text are kept"),
)


class KernelChecker(Run):
    """One run over the properties of kernels, whose evidence is their interpretation."""

    def units(self, subject: JudgedKernel, scope: str) -> Sequence[None]:
        """Return the only unit: the launch."""
        return (None,)
