# SPDX-License-Identifier: Apache-2.0
"""A report as SARIF 2.1.0, which code scanning and editors read: a result for each alert, a rule for each property.

Defined by the OASIS standard "Static Analysis Results Interchange Format (SARIF) Version 2.1.0", whose sections are
named here. What is confirmed has no result. Files are named as they were given; an absolute path is a file URI. Rules
have no `helpUri` (3.49.12), because the project's pages have no address yet.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

from lanecheck.console import installation
from verify.core.verdict import Fix, Place
from verify.report import Report
from verify.report.alerts import FINGERPRINT, Alert, alerts
from verify.report.findings import read_findings

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def render(report: Report) -> str:
    """Return the report as one SARIF log with one run."""
    listed = alerts(report)
    rules = {alert.rule: alert.words for alert in listed}
    run = {
        "tool": {
            "driver": {
                "name": "Lanecheck",
                "version": installation.version().split()[-1],
                "rules": [_rule(rule, words) for rule, words in rules.items()],
            }
        },
        "columnKind": "unicodeCodePoints",  # 3.14.17
        "invocations": [
            {"executionSuccessful": report.complete and not report.failures, "exitCode": int(report.exit())}
        ],
        "results": [_result(alert, list(rules).index(alert.rule)) for alert in listed],
    }
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _rule(rule: str, words: str) -> dict[str, Any]:
    """Return a rule, 3.49, with what its findings mean and how to fix them if that is known."""
    described = {"id": rule, "shortDescription": {"text": words}}
    if (finding := read_findings().get(rule)) is None:
        return described
    text = f"{finding['means']}\nExample: {finding['example']}\nFix: {finding['fix']}"
    markdown = f"{finding['means']}\n\n- **Example.** {finding['example']}\n- **Fix.** {finding['fix']}"
    return {**described, "fullDescription": {"text": finding["means"]}, "help": {"text": text, "markdown": markdown}}


def _result(alert: Alert, rule: int) -> dict[str, Any]:
    """Return a result: 3.27. The fingerprints stay the same when lines move."""
    return {
        "ruleId": alert.rule,
        "ruleIndex": rule,
        "level": alert.level.value,
        "message": {"text": alert.text},
        **({"locations": [{"physicalLocation": _location(alert.place)}]} if alert.place else {}),
        **({"relatedLocations": [*map(_related_location, alert.related)]} if alert.related else {}),  # 3.27.22
        **({"fixes": [*map(_fix, alert.fixes)]} if alert.fixes else {}),  # 3.27.30
        "partialFingerprints": {"subject/v1": alert.claim_fingerprint, FINGERPRINT: alert.fingerprint},
        **({"suppressions": [{"kind": "external", "justification": alert.known}]} if alert.known else {}),
        "properties": {"subject": alert.subject, "part": alert.part},
    }


def _related_location(consequence: tuple[str, Place]) -> dict[str, Any]:
    text, place = consequence
    return {"physicalLocation": _location(place), "message": {"text": text}}


def _fix(fix: Fix) -> dict[str, Any]:
    """Return a repair: 3.55. All that changes in a file is in one artifactChange, 3.56."""
    files: dict[str, list[dict[str, Any]]] = {}
    for edit in fix.edits:
        end = {"endLine": edit.end.line, "endColumn": edit.end.column}
        region = {**_region(edit.begin), **end}  # behind the last character: 3.30.8
        change = {"deletedRegion": region, "insertedContent": {"text": edit.text}}
        files.setdefault(edit.begin.file, []).append(change)
    changes = [
        {"artifactLocation": _artifact(file), "replacements": replacements} for file, replacements in files.items()
    ]
    return {"description": {"text": fix.words}, "artifactChanges": changes}


def _location(place: Place) -> dict[str, Any]:
    return {"artifactLocation": _artifact(place.file), "region": _region(place)}


def _artifact(file: str) -> dict[str, str]:
    path = Path(file)
    return {"uri": path.as_uri() if path.is_absolute() else quote(path.as_posix())}


def _region(place: Place) -> dict[str, int]:
    return {"startLine": place.line, "startColumn": place.column}
