# SPDX-License-Identifier: Apache-2.0
"""Which refutations of a kernel follow from another one: a report tells these below their cause, as one alert.

A consequence may hide a fault of its own: it is told on its own as soon as the cause is mended.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from verify.core.verdict import Status, Verdict
from verify.kernel.state.findings import CAUSE, NOWHERE, Finding

_UNWRITTEN = "element not written"  # the only fault of values that threads leave which never come to their stores
_LOST = frozenset({"race: two writes in global memory", "global memory out of bounds"})  # of writes: what is there?


def name_consequences(verdicts: Sequence[Verdict], findings: Callable[[str], Sequence[Finding]]) -> list[Verdict]:
    """Return the verdicts; a refutation that follows from another one names it as its cause."""
    refuted = [verdict.claim.prop.key for verdict in verdicts if verdict.status is Status.REFUTED and not verdict.cause]
    causes: dict[str, str] = {}
    for key in refuted:
        own = findings(key)
        for earlier in refuted:
            if earlier not in {key, *causes} and _follows(key, own, earlier, findings(earlier)):
                causes[key] = earlier
                break
    named = []
    for verdict in verdicts:
        cause = causes.get(verdict.claim.prop.key, "")
        while cause in causes:
            cause = causes[cause]
        named.append(verdict._replace(cause=cause, cause_part=None) if cause and not verdict.cause else verdict)
    return named


def _follows(key: str, own: Sequence[Finding], earlier: str, first: Sequence[Finding]) -> bool:
    """Return whether findings of one property follow from those of another: of the same instructions, or what they do.

    Values follow if threads never came to the stores, or if a store went to an address that is wrong.
    """
    kinds, lines = {finding.kind for finding in own}, {finding.line for finding in own}
    stray = [finding for finding in first if finding.kind in _LOST and " writes " in finding.text]
    if key == "values":
        return kinds == {_UNWRITTEN} if earlier == "progress" else bool(stray) and CAUSE not in kinds
    if (key, earlier) == ("order", "memory"):
        return kinds <= _LOST and {_place(finding) for finding in own} <= {_place(finding) for finding in stray}
    same = lines <= {finding.line for finding in first}
    return same and earlier == "order" and (key == "progress" or (key == "memory" and kinds == {NOWHERE}))


def _place(finding: Finding) -> tuple[str, int]:
    """Return where a finding is: in its source, or in the PTX without one."""
    return (finding.source, finding.column) if finding.source else ("", finding.line)
