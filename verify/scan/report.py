# SPDX-License-Identifier: Apache-2.0
"""The report of a scan as text: what is refuted with its place and repair, what could not be read, the share read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from verify.core.verdict import Status
from verify.report import Case, Report, as_text
from verify.scan.checkout import Checkout
from verify.scan.properties import VAL_ID

OPEN = (Status.REFUTED, Status.RELABELLED, Status.VACUOUS, Status.UNKNOWN)
ARCHITECTURE = re.compile(r"_sm(\d+)")


def render(report: Report, read: Checkout, quiet: bool, verbose: bool) -> str:
    """Return the whole report; `quiet` leaves the last line only, `verbose` lists every definition."""
    lines: list[str] = []
    for case in () if quiet else report.cases:
        lines += _case(case, verbose)
    if not quiet:
        lines += share(read)
        left = sum(VAL_ID in case.expects.unchecked for case in report.cases)
        lines += [f"not compared: ValID of {left} copies within memory (-v lists them)"] if left else []
    return "\n".join([*lines, as_text.summary(report)]) + "\n"


def _case(case: Case, verbose: bool) -> Iterator[str]:
    wrong = [verdict for verdict in case.verdicts if case.contradicts(verdict) or verdict.status in OPEN]
    for verdict in (verdict for verdict in wrong if not verdict.cause):
        yield f"{verdict.place or case.place}:"
        yield from as_text.story(case, verdict, verbose)
    if wrong and case.expects.known_defect:
        yield f"  known defect: {case.expects.known_defect}"
    if not wrong and case.status == Status.UNCHECKED and not case.expects.excuse:
        yield f"{case.place}: {case.name}: {case.gap}"
    elif not wrong and verbose:
        excuse = f"   {case.gap}" if case.gap else f"   then: {case.adapter}" if case.adapter else ""
        yield f"{case.place}: {case.name}  {case.headline}{excuse}"


def share(read: Checkout) -> list[str]:
    """How many definitions are read: of all, and of the architectures sm61 to sm90.

    A header that cannot be read is counted as a line of its own: what is in it is not known.
    """
    every = read.definitions
    older = [definition for definition in every if 61 <= architecture(definition.place.file) <= 90]
    lines = [f"read: {_share(every, 'definitions')}; {_share(older, 'of sm61 to sm90')}" if older else ""]
    lines = lines if older else [f"read: {_share(every, 'definitions')}"]
    instances = sum(len(definition.instances) for definition in every)
    templates = sum(bool(definition.item.params) for definition in every)
    lines[0] += f"; {templates} templates; {instances} instances"
    if read.problems:
        lines[0] += f"; {len(read.problems)} headers cannot be read"
    return lines


def _share(definitions: Sequence[object], what: str) -> str:
    good = sum(not getattr(definition, "problem", "") for definition in definitions)
    percent = 100 * good / len(definitions) if definitions else 0.0
    return f"{good} of {len(definitions)} {what} ({percent:.1f} %)"


def architecture(file: str) -> int:
    """Return the number in a header's name: 90 of mma_traits_sm90_gmma.hpp; 0 where there is none."""
    match = ARCHITECTURE.search(PurePath(file).name)
    return int(match[1]) if match else 0
