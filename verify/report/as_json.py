# SPDX-License-Identifier: Apache-2.0
"""A report as JSON for programs: stable and diffable, `"schema": 2`, without times unless requested."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from verify.core.verdict import Counterexample, Evidence, ProductOperand, Status, Verdict, WrongProduct
from verify.report import Accepted, Case, Failure, Report

SCHEMA = 2


def render(report: Report, verbose: bool = False) -> str:
    """Return the report as one JSON document; `verbose` adds the seconds of each piece of evidence."""
    counts, failing = report.counts(), report.gaps
    document = {
        "schema": SCHEMA,
        "exit": int(report.exit()),
        "complete": report.complete,
        "missing": report.missing,
        "claims": {status.value: counts[status] for status in Status},
        "failures": of_failures(report.failures),
        "surprises": list(report.surprises),
        **({"accepted": _as_accepted(report.accepted)} if report.accepted else {}),
        "required_but_missing": [{"name": name, "reason": reason} for name, reason in report.unmet()],
        "unchecked": [
            {"name": case.name, "reason": case.gap, "excuse": case.expects.excuse or None, "fails": case in failing}
            for case in report.unchecked_cases
        ],
        "subjects": [_case(case, verbose) for case in report.cases],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _as_accepted(accepted: Accepted) -> dict[str, Any]:
    return {"file": accepted.file, "subjects": sorted(accepted.names), "gone": accepted.gone}


def of_failures(failures: Iterable[Failure]) -> list[dict[str, Any]]:
    """Say what could not be verified: its name, why, and where a file is wrong."""
    return [
        {
            "name": failure.name,
            "message": failure.message,
            **({"place": failure.place._asdict()} if failure.place else {}),
        }
        for failure in failures
    ]


def _case(case: Case, verbose: bool) -> dict[str, Any]:
    return {
        "name": case.name,
        "status": case.status,
        "observed": case.is_only_observed,
        **({"headline": case.headline} if case.alone and case.headline != case.status else {}),
        "contradictions": case.contradictions,
        "known_defect": case.expects.known_defect or None,
        "layouts": dict(case.layouts),
        **({"adapter": case.adapter} if case.adapter else {}),
        **({"place": case.place._asdict()} if case.place else {}),
        **({"notes": list(case.notes)} if case.notes else {}),
        **({"drawn_by": case.drawn_by} if case.drawn_by else {}),
        **({"wrong_product": _product(case.wrong_product)} if case.wrong_product else {}),
        **({"all_sizes": dict(case.all_sizes)} if case.all_sizes is not None else {}),
        "verdicts": [_verdict(case, verdict, verbose) for verdict in case.verdicts],
    }


def _product(wrong: WrongProduct) -> dict[str, Any]:
    return {
        "line": wrong.line,
        "instruction": wrong.instruction,
        "text": wrong.text,
        "decided": wrong.decided,
        "operands": [_product_operand(operand) for operand in wrong.operands],
    }


def _product_operand(operand: ProductOperand) -> dict[str, Any]:
    """Return an operand with a line for each row: its slots are separated by blanks, a - is a slot of nothing known."""
    fields = {
        "name": operand.name,
        "holds": [" ".join(element or "-" for element in row) for row in operand.holds],
        "wants": [" ".join(element or "-" for element in row) for row in operand.wants],
    }
    if not operand.slots:
        return {**fields, "elsewhere": operand.elsewhere}
    slots = [" ".join(f"{lane}.{value}" if lane >= 0 else "-" for lane, value in row) for row in operand.slots]
    return {**fields, "slots": slots, "bits": operand.bits}


def _verdict(case: Case, verdict: Verdict, verbose: bool) -> dict[str, Any]:
    return {
        "part": verdict.claim.part,
        "property": verdict.claim.prop.key,
        "claim": verdict.claim.text,
        "provenance": verdict.claim.provenance or None,
        "status": verdict.status.value,
        "contradiction": case.contradicts(verdict),
        "reason": verdict.reason or None,
        **({"cause": verdict.cause} if verdict.cause else {}),
        **({"cause_part": verdict.cause_part} if verdict.cause_part is not None else {}),
        "evidence": [_evidence(e, verbose) for e in verdict.evidence],
        "counterexample": _counterexample(verdict.counterexample),
        **({"place": verdict.place._asdict()} if verdict.place else {}),
    }


def _evidence(evidence: Evidence, verbose: bool) -> dict[str, Any]:
    fields = {
        "check": evidence.check.value,
        "status": evidence.status.value,
        "method": evidence.method,
        "points": evidence.points,
        "engine": evidence.engine,
        "shared": evidence.shared or None,
        "reason": evidence.reason or None,
        "counterexample": _counterexample(evidence.counterexample),
    }
    return fields | ({"seconds": round(evidence.seconds, 6)} if verbose else {})


def _counterexample(wrong: Counterexample | None) -> dict[str, Any] | None:
    if wrong is None:
        return None
    return {
        "inputs": dict(wrong.inputs),
        "statement": wrong.statement,
        "arithmetic": wrong.arithmetic or None,
        "extent": wrong.extent or None,
        "damage": list(wrong.damage),
        "repair": wrong.repair or None,
        "replay": wrong.replay or None,
        "unique": wrong.unique,
        "reproduced": wrong.reproduced,
    }
