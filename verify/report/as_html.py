# SPDX-License-Identifier: Apache-2.0
"""A report as one HTML page that needs no other file: one row per claim; what is not verified is unfolded."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from verify.core.verdict import Status, Verdict
from verify.report import Case, Report
from verify.report.as_text import describe, story, summary

PAGE = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Lanecheck</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2rem; color: #222; }}
table {{ border-collapse: collapse; margin: .5rem 0 1rem; }}
th, td {{ border: 1px solid #ccc; padding: .2rem .6rem; text-align: left; vertical-align: top; }}
summary {{ cursor: pointer; font-family: ui-monospace, monospace; }}
pre {{ background: #f6f6f6; padding: .6rem; overflow-x: auto; }}
.VERIFIED, .PROVED, .AGREES {{ color: #17692d; }}
.REFUTED, .RELABELLED, .VACUOUS, .CONTRADICTION {{ color: #b3261e; font-weight: bold; }}
.TAKEN {{ color: #555; }}
.UNKNOWN, .UNCHECKED {{ color: #7a5a00; }}
</style>
<h1>Lanecheck</h1>
<p>{summary}</p>
{cases}
</html>
"""


def render(report: Report, verbose: bool = False) -> str:
    """The report as an HTML page that fetches and runs nothing; `verbose` adds times."""
    cases = "\n".join("\n".join(_case(case, verbose)) for case in report.cases)
    return PAGE.format(summary=escape(summary(report)), cases=cases)


def _case(case: Case, verbose: bool) -> Iterator[str]:
    opened = "" if case.status == "VERIFIED" else " open"
    yield f"<details{opened}><summary>{_status(case.status, case.headline)} {escape(case.name)}</summary>"
    yield from (
        f"<p>{escape(line)}</p>"
        for line in [case.gap * (case.status == Status.UNCHECKED), *case.contradictions]
        if line
    )
    if case.known_defect:
        yield f"<p>known defect: {escape(case.known_defect)}</p>"
    yield "<table><tr><th>part<th>claim<th>verdict<th>evidence</tr>"
    for verdict in case.verdicts:
        yield from _row(case, verdict, verbose)
    yield "</table></details>"


def _row(case: Case, verdict: Verdict, verbose: bool) -> Iterator[str]:
    status = "CONTRADICTION" if case.contradicts(verdict) else verdict.status.value
    evidence = "<br>".join(escape(" ".join(describe(e, verbose).split())) for e in verdict.evidence)
    claim = verdict.claim
    rests = f" ({claim.provenance})" if claim.provenance and claim.provenance not in claim.text else ""
    yield f"<tr><td>{escape(claim.part)}<td>{escape(claim.text + rests)}<td>{_status(status)}<td>{evidence}</tr>"
    if verdict.counterexample is not None:
        lines = "\n".join(story(case, verdict))
        yield f"<tr><td colspan=4><pre>{escape(lines)}</pre></tr>"


def _status(status: str, shown: str = "") -> str:
    return f'<span class="{status}">{shown or status}</span>'
