# SPDX-License-Identifier: Apache-2.0
"""A report as JUnit XML: a test case is a claim, its class name the subject, its properties the evidence."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from verify.core.verdict import Status, Verdict
from verify.report import Case, Report, cut_short
from verify.report.expectation import write_surprise

NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0 section 2.2
OUTCOME = {
    Status.REFUTED: "failure",
    Status.RELABELLED: "failure",
    Status.UNKNOWN: "error",
    Status.VACUOUS: "error",
    Status.UNCHECKED: "skipped",
    Status.TAKEN: "skipped",
}


def render(report: Report) -> str:
    """Return the report as JUnit XML. UNCHECKED and TAKEN are skipped; UNKNOWN, VACUOUS and a contradiction are errors.

    Whatever else fails the run is a test case too: a known defect that is not as expected, a required check that was
    not made, a subject that is UNCHECKED, was rejected or met an internal error, an interruption. A known defect that
    was expected is skipped, and so is what a baseline accepts.
    """
    root = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(root, "testsuite", name="lanecheck")
    for case in report.cases:
        for verdict in case.verdicts:
            _testcase(suite, case, verdict, report.why_accepted(case))
    for name, how in report.surprises.items():
        _extra(suite, name, "known defect", "failure", write_surprise(name, how))
    for case in report.gaps:
        _extra(suite, case.name, "checked", "error", case.gap)
    for name, reason in report.unmet():
        _extra(suite, name, f"required {reason.partition(':')[0]}", "error", reason)
    for failure in report.failures:
        _extra(suite, failure.name, "verified", "error", failure.message)
    if not report.complete:
        _extra(suite, "lanecheck", "complete", "error", cut_short(report.missing))
    suite.set("tests", str(len(suite)))
    for attribute, outcome in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(len(suite.findall(f"testcase/{outcome}"))))
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return '<?xml version="1.0" encoding="utf-8"?>\n' + NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text) + "\n"


def _outcome(case: Case, verdict: Verdict, known: str) -> str:
    if case.contradicts(verdict):
        return "error"
    return "skipped" if known and verdict.status.refuted else OUTCOME.get(verdict.status, "")


def _extra(suite: ElementTree.Element, subject: str, name: str, outcome: str, message: str) -> None:
    case = ElementTree.SubElement(suite, "testcase", classname=subject, name=name)
    ElementTree.SubElement(case, outcome, message=message)


def _testcase(suite: ElementTree.Element, case: Case, verdict: Verdict, known: str) -> None:
    claim = verdict.claim
    name = f"{claim.part} {claim.prop.key}".strip()
    node = ElementTree.SubElement(suite, "testcase", classname=claim.subject, name=name)
    properties = ElementTree.SubElement(node, "properties")
    if claim.provenance:
        ElementTree.SubElement(properties, "property", name="provenance", value=claim.provenance)
    for evidence in verdict.evidence:
        shared = f"shared with {evidence.shared}" if evidence.shared else ""
        value = " ".join(filter(None, (evidence.status, evidence.method, shared, evidence.reason)))
        ElementTree.SubElement(properties, "property", name=case.source(evidence), value=value)
    outcome = _outcome(case, verdict, known)
    if outcome:
        wrong = verdict.counterexample
        message = wrong.statement if wrong is not None else verdict.reason
        if case.contradicts(verdict):
            message = "; ".join([message, *case.contradictions])
        elif case.all_sizes is not None:
            message = f"{case.word(verdict)}: {message}"
        why = f"{known}: " if outcome == "skipped" and wrong is not None else ""
        outcome_node = ElementTree.SubElement(node, outcome, message=f"{why}{claim.text}: {message}")
        if wrong is not None:
            outcome_node.text = "\n".join([wrong.arithmetic, *wrong.damage, wrong.repair, wrong.replay]).strip()
