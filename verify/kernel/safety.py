# SPDX-License-Identifier: Apache-2.0
"""Is a kernel safe to run, whatever it computes? `check_safety(ptx, launches)` interprets it on opaque data.

No claim is needed: races, barriers, deadlock, bounds, alignment, reads of memory that nobody wrote, and what the ISA's
text says of asynchronous instructions do not depend on what the data are. Where a kernel lets data decide an address
or a branch, their interval must show that every choice is safe; otherwise the verdict is UNKNOWN.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from verify.core.verdict import Check, Place
from verify.kernel.check import BUDGET, LaunchOutcome, elections, locate_finding, name_elections
from verify.kernel.claims.claim import KernelClaim
from verify.kernel.claims.launch import Array, Launch
from verify.kernel.consequences import name_consequences
from verify.kernel.data.intervals import fill_ones
from verify.kernel.data.opaque import OpaqueValues
from verify.kernel.data.points import Points
from verify.kernel.data.rounding import RoundingValues
from verify.kernel.data.values import LIMITS
from verify.kernel.interpretation import Interpretation, Missing
from verify.kernel.mends import Mending, mend
from verify.kernel.ptx.libdevice import replace_functions
from verify.kernel.ptx.parse import parse_kernel
from verify.kernel.ptx.source import Kernel
from verify.kernel.replicas import find_owners, list_open, warn_unused
from verify.kernel.state.findings import WARNINGS, Finding, Severity, Unclear
from verify.kernel.verdict import PROPERTIES, JudgedKernel, KernelChecker, list_notes
from verify.report import Alone, Case

SAFE = "SAFE"
TWICE = {  # findings of two writes that nothing orders -> those of two that write the same value
    "race: write after write": "race: write of equal values",
    "race: two writes in global memory": "equal values written twice",
}
PARTS = 1 << 32  # of the range of an integer that is drawn
KEYS = ("memory", "order", "progress", "letter")  # of the properties that no claim is needed for
SAFETY = tuple(prop for prop in PROPERTIES if prop.key in KEYS)


def check_safety(
    ptx: str,
    claim: KernelClaim,
    *,
    seed: int | None = None,
    budget: int = BUDGET,
    strict: bool = False,
    ticked: Callable[[int], None] = lambda steps: None,
) -> list[LaunchOutcome]:
    """Return one outcome for each launch; its status is SAFE, REFUTED or UNKNOWN.

    Raises PtxError for PTX that cannot be read, SpecError for a launch that does not fit it.
    """
    kernel = parse_kernel(ptx, claim.kernel)
    seed = int.from_bytes(os.urandom(8)) if seed is None else seed
    outcomes = []
    for launch in claim.launches:
        first = _interpret(kernel, launch, seed, budget, strict, ticked)
        if first.status == SAFE and launch.elected == "any" and (lines := elections(kernel, launch)):
            opposite = _interpret(kernel, launch.elect_opposite(), seed, budget, strict, ticked)
            first = first if opposite.status == SAFE else name_elections(opposite, lines)
        outcomes.append(first)
    return outcomes


def _interpret(
    kernel: Kernel, launch: Launch, seed: int, budget: int, strict: bool, ticked: Callable[[int], None]
) -> LaunchOutcome:
    run = Interpretation(kernel, launch, OpaqueValues(seed), budget, {})
    machine = run.machine
    machine.ticked = ticked
    extra: list[Finding] = []
    try:
        run.interpret()
    except Missing as missing:
        extra += missing.findings
    except Unclear as error:
        extra.append(Finding("no meaning", Severity.UNKNOWN, error.line, error.problem))
    raw = _settle_reached(
        run, seed, budget, _settle_twice(run, seed, budget, [*run.findings.reported.values(), *extra])
    )
    raw = _settle_unused(run, seed, budget, raw)
    findings = tuple(locate_finding(_as_safety(finding), kernel) for finding in raw)
    severities = {finding.severity for finding in findings}
    refuted = severities - {Severity.UNKNOWN, *WARNINGS} or (strict and severities & WARNINGS)
    status = "REFUTED" if refuted else "UNKNOWN" if Severity.UNKNOWN in severities else SAFE
    return LaunchOutcome(
        status=status, findings=findings, kernel=kernel.name, sizes=launch.sizes, seed=seed, bound=0.0,
        premise="", proved=True,
        steps=machine.steps, ended=Severity.UNKNOWN not in severities, target=kernel.target,
        never_ran=tuple(instruction.line for instruction, done in zip(kernel.instructions, machine.ran, strict=True)
                        if not done),
        domain=_domain(launch), offsets=tuple(sorted(machine.offsets_read)),
        loops=tuple((kernel.instructions[number].line, trips) for number, trips in sorted(machine.trips.items())),
    )  # fmt: skip


def _settle_twice(run: Interpretation, seed: int, budget: int, findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings, those of two writes that nothing orders as warnings if both write the same value.

    One datum can't be told from another here, so a second run, on values, says which are equal: all rounded alike. If
    that run can't go on, whether they are equal is unknown.
    """
    twice = [finding for finding in findings if finding.kind in TWICE and finding.severity is Severity.RACE]
    if not twice:
        return list(findings)
    kernel = replace(run.kernel, instructions=[*run.kernel.instructions])
    replace_functions(kernel)  # which branch on data, instruction by instruction
    again = Interpretation(kernel, run.launch, RoundingValues(seed, exponents=True), budget, {})
    ended = True
    try:
        again.interpret()
    except (Missing, Unclear):
        ended = False
    known, settled = again.findings.reported, list[Finding]()
    open_ = list_open([*known.values()])
    for finding in findings:
        equal = known.get((TWICE[finding.kind], finding.line)) if finding in twice else None
        if finding not in twice or (finding.kind, finding.line) in known or (equal is None and ended):
            settled.append(finding)
        elif ended and equal is not None and finding.line not in open_:
            settled.append(equal)
        else:
            text = f"{finding.text}; whether both write the same value is not known"
            settled.append(finding._replace(severity=Severity.UNKNOWN, text=text))
    return settled


def _settle_unused(run: Interpretation, seed: int, budget: int, findings: list[Finding]) -> list[Finding]:
    """Return the findings, those of reads that race as warnings if nothing more is wrong where they give no value."""
    owners = find_owners(run, findings)
    if not owners or _reaches(run):
        return findings
    again = Interpretation(run.kernel, run.launch, OpaqueValues(seed), budget, {})
    again.memory.meetings.owners = owners
    try:
        again.interpret()
    except (Missing, Unclear):
        return findings
    known = {(finding.kind, finding.line) for finding in findings}
    more = [finding for finding in again.findings.reported.values() if (finding.kind, finding.line) not in known]
    return findings if more or again.memory.meetings.several else [*warn_unused(findings)]


def _settle_reached(run: Interpretation, seed: int, budget: int, findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings, races as unknown that no drawn data show, if spans of bytes stood for addresses.

    A span has every address that a thread may choose, whatever the others choose: they may never choose the same.
    """
    if not any(finding.severity is Severity.RACE for finding in findings) or not _reaches(run):
        return list(findings)
    shown: set[int] = set()
    for arrays in _draw_data(run.launch, run.values.points):
        again = Interpretation(run.kernel, run.launch._replace(arrays=arrays), OpaqueValues(seed), budget, {})
        with suppress(Missing, Unclear):
            again.interpret()
        if not _reaches(again):
            settled = _settle_twice(again, seed, budget, [*again.findings.reported.values()])
            shown |= {finding.line for finding in settled if finding.severity is Severity.RACE}
    return [
        finding._replace(
            severity=Severity.UNKNOWN, text=f"{finding.text}; no drawn data show that two threads meet there"
        )
        if finding.severity is Severity.RACE and finding.line not in shown else finding
        for finding in findings
    ]  # fmt: skip


def _reaches(run: Interpretation) -> bool:
    return isinstance(run.values, OpaqueValues) and run.values.reached


def _draw_data(launch: Launch, points: Points) -> Iterator[tuple[Array, ...]]:
    """Yield the arrays of a launch twice with known integers in its inputs: drawn, and the least of each."""
    for parts in (PARTS, 1):
        yield tuple(_with_content(array, points.draw(parts, array.shape) / PARTS) for array in launch.arrays)


def _with_content(array: Array, drawn: NDArray[np.float64]) -> Array:
    """Return an input of integers with known ones, the least of them at 0, the greatest at 1; others as they are."""
    if array.kind not in LIMITS or array.content is not None or array.out or array.scratch or array.zero:
        return array
    low, high = map(int, array.limits or LIMITS[array.kind])
    most = min(high, low + fill_ones(62))
    return array._replace(content=np.minimum(low + (drawn * (most - low + 1)).astype(np.int64), most))


def _as_safety(finding: Finding) -> Finding:
    """Return a finding with a severity that a property of safety has: a thread that traps does not come to its end."""
    return finding._replace(severity=Severity.STUCK) if finding.severity is Severity.VALUE else finding


def _domain(launch: Launch) -> str:
    """Return what one verdict speaks of."""
    sizes = "".join(f"{name} = {value}, " for name, value in launch.sizes.items())
    block = "x".join(map(str, (extent for extent in launch.block if extent > 1))) or "1"
    arrays = ", ".join(f"{array.name} of {'x'.join(map(str, array.shape))} {array.kind}" for array in launch.arrays)
    limits = "".join(
        f"; {array.name} from {array.limits[0]} to {array.limits[1]}" for array in launch.arrays if array.limits
    )
    given = ", ".join(array.name for array in launch.arrays if array.content is not None)
    limits += f"; the numbers of {given} as they are given" if given else ""
    what = f"{sizes.removesuffix(', ')}; " if sizes else ""
    what += f"grid {'x'.join(map(str, launch.grid))} of {block} threads"
    return (
        "; ".join(filter(None, (what, arrays)))
        + f"; all {'other ' * bool(given)}data{limits}; not the values, not SASS"
    )


def safety_case(
    outcome: LaunchOutcome,
    strict: bool,
    replay: str,
    file: str = "",
    compiled: str = "",
    mending: Mending | None = None,
) -> Case:
    """Return the case of an outcome: SAFE where no property of safety is refuted or unknown."""
    judged = JudgedKernel(outcome, "", strict, replay, file, compiled, "memory", mending)
    verdicts = mend(KernelChecker(frozenset({Check.ISA})).verdicts(SAFETY, judged), mending)
    verdicts = name_consequences(verdicts, judged.of)
    notes = ((f"compiled {compiled}",) if compiled else ()) + list_notes(outcome, strict)
    return Case(
        judged.name, tuple(verdicts), place=Place(file, 1) if file else None, notes=notes,
        alone=Alone(SAFE, "", missing=""), family=outcome.kernel, warnings=judged.warnings,
    )  # fmt: skip
