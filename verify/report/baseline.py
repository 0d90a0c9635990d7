# SPDX-License-Identifier: Apache-2.0
"""A baseline: refutations that were accepted earlier, as a SARIF log of Lanecheck has them. Only others fail a run.

A refutation is the same one if its rule, its subject, its operand, its file and what it says are. Its line may be
another one, its example may not: what is wrong in another way is new. Nothing else is accepted: an UNKNOWN, a gap, a
contradiction and a file that could not be read fail the run as before.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from verify.report import Accepted, Case, Report
from verify.report.alerts import FINGERPRINT, OTHERS, Level, alerts_of

HOW = "write one with --format sarif -o FILE"


@dataclass(frozen=True)
class Baseline:
    """The findings of an earlier run."""

    file: str  # that has them
    findings: frozenset[str]  # their fingerprints


def read_baseline(file: str) -> Baseline:
    """Read the findings of a SARIF log that Lanecheck wrote; a ValueError, in one line, for any other file."""
    try:
        document = json.loads(Path(file).read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"cannot read {file}: {error.strerror}") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"{file}:{error.lineno}:{error.colno}: {error.msg}: a baseline is SARIF; {HOW}") from None
    except ValueError:
        raise ValueError(f"{file} is not UTF-8: a baseline is SARIF; {HOW}") from None
    try:
        runs = [run for run in document["runs"] if run["tool"]["driver"]["name"] == "Lanecheck"]
        results = [result for run in runs for result in run["results"]]
        refuted = (result for result in results if result["ruleId"] not in OTHERS and result["level"] != Level.WARNING)
        findings = frozenset(map(_fingerprint, refuted))
    except (KeyError, TypeError):
        runs, findings = [], frozenset()
    if not runs or None in findings:
        raise ValueError(f"{file} isn't a SARIF log of Lanecheck; {HOW}")
    return Baseline(file, frozenset(filter(None, findings)))


def _fingerprint(result: Any) -> str | None:
    """Return the fingerprint of a result; None if it has none."""
    fingerprint = result["partialFingerprints"].get(FINGERPRINT)
    return fingerprint if isinstance(fingerprint, str) else None


def accept(report: Report, baseline: Baseline) -> Report:
    """Return a report that accepts each case of whose refutations the baseline has all."""
    every = {case.name: _refutations(case, report) for case in report.cases}
    names = frozenset(name for name, refutations in every.items() if refutations and refutations <= baseline.findings)
    gone = len(baseline.findings.difference(*every.values()))
    return replace(report, accepted=Accepted(baseline.file, names, gone))


def _refutations(case: Case, report: Report) -> frozenset[str]:
    """Return the fingerprints of what refutes a case; nothing of one that is a contradiction."""
    if case.contradiction:
        return frozenset()
    refuting = (
        alert for alert in alerts_of(case, report) if alert.rule not in OTHERS and alert.level is not Level.WARNING
    )
    return frozenset(alert.fingerprint for alert in refuting)
