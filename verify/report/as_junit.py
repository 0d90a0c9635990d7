# SPDX-License-Identifier: Apache-2.0
"""Verdicts for continuous integration: a test case is a claim, its class the subject, its properties the evidence."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from verify.report import Report
from verify.verdict import Status, Verdict

NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0 section 2.2
OUTCOME = {
    Status.REFUTED: "failure",
    Status.UNKNOWN: "error",
    Status.VACUOUS: "error",
    Status.UNCHECKED: "skipped",
}


def render(report: Report) -> str:
    """JUnit XML. UNCHECKED is skipped, UNKNOWN, VACUOUS and a contradiction are errors; none of them is a pass."""
    verdicts = list(report.verdicts())
    outcomes = [_outcome(v) for v in verdicts]
    root = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(
        root,
        "testsuite",
        name="lanecheck",
        tests=str(len(verdicts)),
        failures=str(outcomes.count("failure")),
        errors=str(outcomes.count("error")),
        skipped=str(outcomes.count("skipped")),
    )
    for verdict, outcome in zip(verdicts, outcomes, strict=True):
        _testcase(suite, verdict, outcome)
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return '<?xml version="1.0" encoding="utf-8"?>\n' + NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text) + "\n"


def _outcome(verdict: Verdict) -> str:
    return "error" if verdict.contradiction else OUTCOME.get(verdict.status, "")


def _testcase(suite: ElementTree.Element, verdict: Verdict, outcome: str) -> None:
    claim = verdict.claim
    name = f"{claim.part} {claim.kind.label}".strip()
    case = ElementTree.SubElement(suite, "testcase", classname=claim.subject, name=name)
    properties = ElementTree.SubElement(case, "properties")
    if claim.provenance:
        ElementTree.SubElement(properties, "property", name="provenance", value=claim.provenance)
    for evidence in verdict.evidence:
        shared = f"shared with {evidence.shared}" if evidence.shared else ""
        value = " ".join(filter(None, (evidence.status, evidence.method, shared, evidence.reason)))
        ElementTree.SubElement(properties, "property", name=evidence.witness.value, value=value)
    if outcome:
        wrong = verdict.counterexample
        message = wrong.statement if wrong is not None else verdict.reason
        node = ElementTree.SubElement(case, outcome, message=f"{claim.text}: {message}")
        if wrong is not None:
            node.text = "\n".join([wrong.arithmetic, *wrong.damage, wrong.repair, wrong.replay]).strip()
