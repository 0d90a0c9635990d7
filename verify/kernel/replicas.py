# SPDX-License-Identifier: Apache-2.0
"""What replicas do, threads that compute the same as others: a second run decides whether it matters.

Two writes that nothing orders may be equal in exact arithmetic, and rounded to a narrower format on the way. In a run
in which each rounding is a function of its own they are equal only if they were rounded alike, and then their bits are.

A replica may load what another thread overwrites, and use it for nothing, because its own store is masked. In a run in
which such loads give no value all else must be right: then the race breaks the letter of the ISA, and no result.
"""

from __future__ import annotations

from collections.abc import Sequence

from verify.kernel.data.equal_values import NEARLY
from verify.kernel.data.rounding import RoundingValues
from verify.kernel.interpretation import Interpretation, Missing
from verify.kernel.state.findings import WARNINGS, Finding, Severity, Unclear
from verify.kernel.state.meetings import READ_LATE, WRITTEN_LATE, Numbers

MET = frozenset({READ_LATE, WRITTEN_LATE})
OPEN = (Severity.UNKNOWN, Severity.PRECISION)  # what says nothing of memory and order
ATOMIC = frozenset({"atom", "red"})
RACES = "8.7.1"  # of the PTX ISA: data races


def is_rounded(findings: Sequence[Finding]) -> bool:
    """Return whether nothing is wrong but that two writes may differ, because of how their values were rounded."""
    there = {finding.severity for finding in findings}
    return any(finding.kind == f"race: {NEARLY}" for finding in findings) and there <= {*WARNINGS, *OPEN}


def list_open(findings: Sequence[Finding]) -> set[int]:
    """Return the lines of writes of which a run can't tell whether they are equal."""
    return {
        finding.line
        for finding in findings
        if finding.severity is Severity.UNKNOWN and finding.kind.startswith("race: write of")
    }


def find_owners(run: Interpretation, findings: Sequence[Finding]) -> dict[int, Numbers]:
    """Return who writes the bytes on which reads and writes met, if nothing else is wrong; empty if that can't be told.

    It is known for bytes that plain writes of one thread write.
    """
    wrong = [finding for finding in findings if finding.severity not in WARNINGS]
    heads = {instruction.words[0] for instruction in run.kernel.instructions}
    if not wrong or not all(finding.kind in MET for finding in wrong) or heads & ATOMIC:
        return {}
    return run.memory.meetings.list_owners(run.regions) or {}


def warn_unused(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return the findings, those of reads and writes that met as ones that break the letter of the ISA."""
    said = "; what is read so is used for nothing, so no result rests on it"
    return tuple(
        finding._replace(severity=Severity.LETTER, text=f"{finding.text}{said}", section=RACES)
        if finding.kind in MET
        else finding
        for finding in findings
    )


def settle_rounded(run: Interpretation, seed: int, budget: int, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Return the findings, two writes of values that were rounded alike as ones of equal values.

    The second run has found what must come after all of the writes that are equal, so its findings count too.
    """
    values = RoundingValues(seed, len(run.values.pairs) or 3, exponents=bool(run.values.pairs))
    again = Interpretation(run.kernel, run.launch, values, budget, {})
    again.machine.ticked, again.paced = run.machine.ticked, run.paced
    try:
        again.interpret()
    except (Missing, Unclear):
        return findings
    known = [*again.findings.reported.values()]
    equal = {finding.line for finding in known if finding.severity is Severity.EQUAL}
    equal -= list_open(known) | {finding.line for finding in known if finding.severity is Severity.RACE}
    kept = [finding for finding in findings if finding.kind != f"race: {NEARLY}" or finding.line not in equal]
    there = {(finding.kind, finding.line) for finding in kept}
    more = [
        finding
        for finding in known
        if finding.severity is not Severity.PRECISION and (finding.kind, finding.line) not in there
    ]
    return (*kept, *more)
