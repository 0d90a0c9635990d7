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


def status(one: CountedPart) -> str:
    """Return the status of a part, in the words of all reports."""
    if one.found.refuted:
        return "REFUTED"
    if one.stopped:
        return "UNCHECKED"
    if one.done < len(one.part.tasks) or one.found.cases != one.part.cases or not one.found.confirmed:
        return "UNKNOWN"
    return "UNCHECKED" if one.part.gap and one.found.rejected else "VERIFIED"


def why(one: CountedPart) -> str:
    """Why a part is neither verified nor refuted, or what its counts leave out; empty where nothing is."""
    if one.stopped:
        return one.stopped
    if one.done < len(one.part.tasks):
        return f"{one.done} of {len(one.part.tasks)} chunks are done"
    if one.found.cases != one.part.cases:
        return f"{one.found.cases} of {one.part.cases} cases are counted"
    if not one.found.confirmed and not one.found.refuted:
        return "the law applies to none of the cases"
    return "no evidence on some" if one.part.gap and one.found.rejected else ""


def code(known: Sequence[CountedPart], allow_unchecked: bool) -> Exit:
    """Return the exit code of a run that has ended by itself."""
    if not any(one.part.tasks for one in known):
        return Exit.EMPTY
    found = {status(one) for one in known}
    if "REFUTED" in found:
        return Exit.REFUTED
    if "UNKNOWN" in found or ("UNCHECKED" in found and not allow_unchecked):
        return Exit.UNDECIDED
    return Exit.OK


def as_text(known: Sequence[CountedPart], name: str, quiet: bool) -> str:
    """Return the report as text; its last line alone when quiet."""
    lines = []
    for one in known:
        part, found = one.part, one.found
        lines.append(f"{part.entry}: {part.name}  {status(one)}")
        lines += [f"  {part.claim}", f"  {part.domain}"]
        counts = join_counts({word: getattr(found, key) for key, word in part.words.items()})
        lines.append(f"  {found.cases} of {part.cases} cases: {counts}")
        lines += [f"  {why(one)}"] * bool(why(one))
        if found.smallest is not None:
            lines.append(f"  smallest counterexample: {found.smallest.case} {found.smallest.fault}")
    each = Counter(map(status, known))
    counts = join_counts({word.lower(): each[word] for word in ("VERIFIED", "REFUTED", "UNKNOWN", "UNCHECKED")})
    last = f"{name}: {counts}" if any(one.part.tasks for one in known) else "nothing selected"
    return "\n".join([last] if quiet else [*lines, last]) + "\n"


def as_json(known: Sequence[CountedPart], name: str, failures: Iterable[Failure]) -> str:
    """Return the report as JSON, the same for the same results: it has no times and no names of machines.

    `failures` are the errors of campaigns that could not be read.
    """
    entries = [
        {
            "campaign": one.part.entry,
            "checked": one.part.name,
            "claim": one.part.claim,
            "domain": one.part.domain,
            "status": status(one),
            "reason": why(one),
            **asdict(one.found),
            "of": one.part.cases,
        }
        for one in known
    ]
    document = {"schema": 2, "implementation": name, "failures": of_failures(failures), "parts": entries}
    return json.dumps(document, indent=1) + "\n"
