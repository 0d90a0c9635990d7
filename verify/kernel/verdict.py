# SPDX-License-Identifier: Apache-2.0
"""The outcomes of a check as a report: one claim for each thing that can go wrong, each with its evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from isa_tables.targets import known_targets
from verify.core.verdict import (
    Check,
    Claim,
    Counterexample,
    Evidence,
    Place,
    Property,
    Status,
    Verdict,
    WrongProduct,
    join,
)
from verify.kernel.check import Outcome
from verify.kernel.explain import CAUSE
from verify.kernel.state.findings import GUARD_LOST, WARNINGS, Finding, Severity, folded
from verify.report import Case

if TYPE_CHECKING:
    from verify.pictures.picture import Picture, Window

LISTED = 8  # findings of one claim that are printed
PROPERTIES: tuple[tuple[str, str, tuple[Severity, ...]], ...] = (
    ("values", "{claim}", (Severity.VALUE, Severity.UNKNOWN)),
    ("memory", "every access lies in its array, is aligned, and reads what was written", (Severity.MEMORY,)),
    ("order", "no two accesses race", (Severity.RACE,)),
    ("progress", "every thread comes to its end", (Severity.STUCK,)),
    ("precision", "a value is narrowed only where the claim allows it", (Severity.PRECISION,)),
    ("letter", "the rules of the ISA's text are kept", (Severity.LETTER, Severity.EQUAL)),
)


# An undefined access, a race or a deadlock makes the run that was interpreted one of several: until these three are
# confirmed, nothing else is known of the others. A narrowing is looked for in right elements alone.
EXECUTION = frozenset({"memory", "order", "progress"})
PREMISES = {key: EXECUTION | ({"values"} if key == "precision" else set()) for key, _, _ in PROPERTIES}

# (kind, section) of a finding -> the probe of `gpu_checks.order` that leaves out what it asks for
PROBES = {
    ("no proxy fence", "9.7.15.4"): "wgmma, no proxy fence",
    ("read after write by a part of a warpgroup", "9.7.13.1"): "wgmma, no barrier",
    ("write after read by a part of a warpgroup", "9.7.15.7.3"): "wgmma, overwritten after wait_group, no barrier",
}


def case(outcome: Outcome, text: str, strict: bool, replay: str, file: str = "", compiled: str = "") -> Case:
    """The case of an outcome; `text` is the claim, `replay` the command that finds it again, `file` has the kernel.

    `compiled` says how the kernel was compiled, where it was here from a function in `file`.
    """
    name = outcome.kernel + "".join(f" {key}={value}" for key, value in outcome.sizes.items())
    ended = next((one for one in outcome.findings if one.severity is Severity.UNKNOWN), None)
    verdicts: list[Verdict] = []
    when: dict[str, int] = {}  # property -> the place of its first finding in the order of time
    for key, words, severities in PROPERTIES:
        claim = Claim(name, "", Property(key, scope="operation"), words.format(claim=text))
        found = [one for one in outcome.findings if one.severity in severities]
        verdict = join(claim, [_evidence(outcome, key, found, ended, strict, replay)])
        verdicts.append(verdict._replace(place=_place(file, found, bool(compiled))))
        if verdict.status is Status.REFUTED:
            when[key] = outcome.findings.index(found[0])
    verdicts = _withhold(_withhold(verdicts, EXECUTION), {"values"})
    verdicts.sort(key=lambda one: when.get(one.claim.prop.key, len(outcome.findings)))  # the first cause first
    notes = ((f"compiled {compiled}",) if compiled else ()) + _notes(outcome, strict)
    wrong = outcome.cause and outcome.cause._replace(
        text=next(said(one) for one in outcome.findings if one.kind == CAUSE)
    )
    return Case(
        name, tuple(verdicts), place=Place(file, 1) if file else None, notes=notes, wrong_product=wrong,
        picture=partial(_drawn, name, wrong), drawn_by=f"{replay} --format html",
    )  # fmt: skip


def _withhold(verdicts: Sequence[Verdict], premises: Iterable[str]) -> list[Verdict]:
    """Return the verdicts with UNCHECKED for each PROVED one that rests on a premise that is not confirmed."""
    status = {one.claim.prop.key: one.status for one in verdicts if one.claim.prop.key in premises}
    return [_rest_on(one, {key: found for key, found in status.items() if not found.confirmed}) for one in verdicts]


def _rest_on(verdict: Verdict, open_: Mapping[str, Status]) -> Verdict:
    key = verdict.claim.prop.key
    rests = [f"{name} is {status}" for name, status in open_.items() if name in PREMISES[key] - {key}]
    if not rests or not verdict.status.confirmed:
        return verdict
    why = f"its premise is not verified: {', '.join(rests)}"
    evidence = [one._replace(status=Status.UNCHECKED, reason=why) for one in verdict.evidence]
    return join(verdict.claim, evidence)._replace(place=verdict.place)


def _drawn(name: str, wrong: WrongProduct | None, window: Window) -> Picture:
    """The picture of the operands that are wrong."""
    from verify.pictures.picture import Picture
    from verify.pictures.products import of_product

    if wrong is None:
        return Picture(name, (), notes=("no operand of a matrix product was found to be wrong",))
    return of_product(name, wrong, window=window)


def _place(file: str, found: Sequence[Finding], compiled: bool) -> Place | None:
    """Where the first finding is that has a line: in the PTX, or in the source that was compiled."""
    for one in sorted(found, key=lambda one: one.kind != CAUSE):
        name, _, line = one.source.rpartition(":")
        if compiled and name == Path(file).name:
            return Place(file, int(line))
        if one.line and file and not compiled:
            return Place(file, one.line)
    return None


def _evidence(
    outcome: Outcome, key: str, found: Sequence[Finding], ended: Finding | None, strict: bool,
    replay: str,
) -> Evidence:  # fmt: skip
    method = "every thread interpreted"
    if key == "values":
        method = f"every thread interpreted on unknowns; a wrong element unnoticed: below {outcome.bound:.0e}"
    certain = folded(one for one in found if one.severity is not Severity.UNKNOWN)
    if key == "letter" and certain and not strict:
        places = f"{len(certain)} place{'s' * (len(certain) > 1)}"
        return Evidence(Check.ISA, Status.UNCHECKED, "", reason=f"broken in {places}, a warning", applies=False)
    if certain:
        rest = tuple(said(one) for one in certain[1:LISTED])
        more = (f"and {len(certain) - LISTED} more",) if len(certain) > LISTED else ()
        wrong = Counterexample({"line": certain[0].line}, said(certain[0]), damage=rest + more, replay=replay)
        return Evidence(Check.ISA, Status.REFUTED, method, counterexample=wrong)
    if ended is not None and (key == "values" or not outcome.ended):
        listed = [said(one) for one in folded(outcome.findings) if one.severity is Severity.UNKNOWN]
        reason = "; ".join(listed[:LISTED]) + (f"; and {len(listed) - LISTED} more" if len(listed) > LISTED else "")
        return Evidence(Check.ISA, Status.UNKNOWN, method, reason=reason)
    if key == "values" and outcome.compared < outcome.elements:
        open_ = f"{outcome.elements - outcome.compared} of {outcome.elements} elements"
        reason = f'{open_} were not compared, because their values rest on what "memory" refutes'
        return Evidence(Check.ISA, Status.UNCHECKED, method, points=outcome.compared, reason=reason)
    return Evidence(Check.ISA, Status.PROVED, method, points=outcome.compared if key == "values" else 0)


def said(one: Finding) -> str:
    """A finding in a line."""
    source = f" ({one.source})" if one.source else ""
    where = f"line {one.line}{source}: " if one.line else ""
    section = f" (ISA {one.section}{_observed(one)})" if one.section else ""
    return f"{where}{one.kind}: {one.text}{section}"


@cache
def _observations() -> Mapping[str, str]:
    """What was recorded of each probe that leaves out a rule, in words."""
    from gpu_checks.order.command import recordings_of_order

    found: dict[str, str] = {}
    recorded = recordings_of_order()
    for name, gpu in {(one.name, one.device.gpu): None for one in recorded}:
        runs = [one for one in recorded if (one.name, one.device.gpu) == (name, gpu)]
        wrong, results = sum(sum(one.wrong) for one in runs), sum(one.results for one in runs)
        words = (
            f"{gpu}: {wrong} of {results:,} results wrong, one warp up to {max(one.delay for one in runs)} cycles late"
        )
        found[name] = f"{found[name]}; {words}" if name in found else words
    return found


@cache
def _recorded() -> str:
    """Return the GPUs and drivers of which the bits of opcodes were recorded, in words."""
    from gpu_checks.opcodes.recording import recordings_of_opcodes

    return ", ".join(f"{one.device.gpu} with driver {one.device.driver}" for one in recordings_of_opcodes())


def _observed(one: Finding) -> str:
    """What a GPU showed of kernels that break the rule of a finding; empty where no probe does."""
    if one.kind == GUARD_LOST:
        return f"; seen on {_recorded()}"
    probe = PROBES.get((one.kind, one.section))
    return f"; {_observations()[probe]}" if probe is not None and probe in _observations() else ""


def _notes(outcome: Outcome, strict: bool) -> tuple[str, ...]:
    """What a verdict speaks of, and what it does not."""
    notes = [f"domain   {outcome.domain}", f"seed     {outcome.seed}; {outcome.steps} instructions executed"]
    if outcome.compared:
        notes.insert(1, f"chance   that a wrong element went unnoticed: below {outcome.bound:.0e}")
    if outcome.loops:
        listed = ", ".join(f"line {line}: {trips} trips" for line, trips in outcome.loops[:LISTED])
        notes.append(f"loops    {listed}{', …' * (len(outcome.loops) > LISTED)}")
    if outcome.never_ran:
        first = ", ".join(map(str, outcome.never_ran[:6])) + (", …" if len(outcome.never_ran) > 6 else "")
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
    notes += [f"hidden   {one}" for one in outcome.hidden]
    if outcome.target not in known_targets():
        named = f"the target {outcome.target} is in no table" if outcome.target else "the PTX names no .target"
        notes.append(f"target   {named}, so what its instructions do there is taken from other targets")
    letters = [one for one in folded(outcome.findings) if one.severity in WARNINGS]
    notes += [f"warning  {said(one)}" for one in letters[:LISTED] if not strict]
    return tuple(notes)
