# SPDX-License-Identifier: Apache-2.0
"""The report of a campaign: for each part its status, its counts and its smallest counterexample."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict

from lanecheck.console.counts import join_counts
from verify.campaign.run import CountedPart
from verify.core.errors import Exit
from verify.report import Failure
from verify.report.as_json import of_failures


def status(counted: CountedPart) -> str:
    """Return the status of a part, in the words of all reports."""
    if counted.tally.refuted:
        return "REFUTED"
    if counted.stopped:
        return "UNCHECKED"
    if (
        counted.done < len(counted.part.tasks)
        or counted.tally.cases != counted.part.cases
        or not counted.tally.confirmed
    ):
        return "UNKNOWN"
    return "UNCHECKED" if counted.part.gap and counted.tally.rejected else "VERIFIED"


def why(counted: CountedPart) -> str:
    """Why a part is neither verified nor refuted, or what its counts leave out; empty where nothing is."""
    if counted.stopped:
        return counted.stopped
    if counted.done < len(counted.part.tasks):
        return f"{counted.done} of {len(counted.part.tasks)} chunks are done"
    if counted.tally.cases != counted.part.cases:
        return f"{counted.tally.cases} of {counted.part.cases} cases are counted"
    if not counted.tally.confirmed and not counted.tally.refuted:
        return "the law applies to none of the cases"
    return "no evidence on some" if counted.part.gap and counted.tally.rejected else ""


def code(known: Sequence[CountedPart], allow_unchecked: bool) -> Exit:
    """Return the exit code of a run that has ended by itself."""
    if not any(counted.part.tasks for counted in known):
        return Exit.EMPTY
    statuses = {status(counted) for counted in known}
    if "REFUTED" in statuses:
        return Exit.REFUTED
    if "UNKNOWN" in statuses or ("UNCHECKED" in statuses and not allow_unchecked):
        return Exit.UNDECIDED
    return Exit.OK


def as_text(known: Sequence[CountedPart], name: str, quiet: bool) -> str:
    """Return the report as text; its last line alone when quiet."""
    lines = []
    for counted in known:
        part, tally = counted.part, counted.tally
        lines.append(f"{part.entry}: {part.name}  {status(counted)}")
        lines += [f"  {part.claim}", f"  {part.domain}"]
        counts = join_counts({word: getattr(tally, key) for key, word in part.words.items()})
        lines.append(f"  {tally.cases} of {part.cases} cases: {counts}")
        lines += [f"  {why(counted)}"] * bool(why(counted))
        if tally.smallest is not None:
            lines.append(f"  smallest counterexample: {tally.smallest.case} {tally.smallest.fault}")
    each = Counter(map(status, known))
    counts = join_counts({word.lower(): each[word] for word in ("VERIFIED", "REFUTED", "UNKNOWN", "UNCHECKED")})
    last = f"{name}: {counts}" if any(counted.part.tasks for counted in known) else "nothing selected"
    return "\n".join([last] if quiet else [*lines, last]) + "\n"


def as_json(known: Sequence[CountedPart], name: str, failures: Iterable[Failure]) -> str:
    """Return the report as JSON, the same for the same results: it has no times and no names of machines.

    `failures` are the errors of campaigns that could not be read.
    """
    entries = [
        {
            "campaign": counted.part.entry,
            "checked": counted.part.name,
            "claim": counted.part.claim,
            "domain": counted.part.domain,
            "status": status(counted),
            "reason": why(counted),
            **asdict(counted.tally),
            "of": counted.part.cases,
        }
        for counted in known
    ]
    document = {"schema": 2, "implementation": name, "failures": of_failures(failures), "parts": entries}
    return json.dumps(document, indent=1) + "\n"
