# SPDX-License-Identifier: Apache-2.0
"""The lines of the files in which subjects are written, for the formats that name them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from layouts.toml.changes import change_keys
from layouts.toml.document import Document, read_document
from verify.core.verdict import Edit, Fix, Place, Scope, Verdict
from verify.report import Case, Report
from verify.report.loaded import SubjectSource

_PLACE = re.compile(r"(?P<file>[^\s:]+)(?:::\w+)?:(?:(?P<line>\d+):(?:(?P<column>\d+):)?)? ")  # before a message
OF_ONE_OPERAND = ("row", "lane", "table", "bases")  # keys of a map whose table has no key for its only operand


def place_subjects(report: Report, sources: Mapping[str, SubjectSource]) -> Report:
    """Return the report with the line of each subject whose source is known, and of each operand with a key there."""
    if not sources:
        return report
    document = cache(lambda file: read_document(Path(file)))
    cases = []
    for case in report.cases:
        source = sources.get(case.name)
        cases.append(locate_operands(case, document(source.file), source.table) if source else case)
    return replace(report, cases=tuple(cases))


def locate_operands(case: Case, document: Document, table: str) -> Case:
    """Return the case with the line of its table in a document, and of each operand that has a key there."""

    def place(*keys: str) -> Place:
        return Place(document.file, *document.place(table, *keys))

    def at_its_key(verdict: Verdict) -> Verdict:
        part = verdict.claim.part
        keys = (part, *OF_ONE_OPERAND) if part else ("ptx",) if verdict.claim.prop.scope == Scope.INSTRUCTION else ()
        return verdict._replace(place=verdict.place or place(*keys), fixes=tuple(map(in_file, verdict.fixes)))

    def in_file(fix: Fix) -> Fix:
        own = fix.keys if case.name == table else {}  # a member of a family shares its table with the others
        changes = change_keys(document, table, own) if own else ()
        edits = (
            Edit(Place(document.file, *change.begin), Place(document.file, *change.end), change.text)
            for change in changes
        )
        return fix._replace(edits=fix.edits or tuple(edits))

    return replace(case, place=case.place or place(), verdicts=tuple(map(at_its_key, case.verdicts)))


def read_place(message: str) -> Place | None:
    """Return where a message says that it is: FILE:LINE:COLUMN, FILE:LINE, or FILE or FILE::NAME alone.

    >>> read_place("pyproject.toml:3:1: no such key"), read_place("none: it isn't there")
    (Place(file='pyproject.toml', line=3, column=1), None)
    """
    match = _PLACE.match(message)
    if match is None or not Path(match["file"]).is_file():
        return None
    return Place(match["file"], int(match["line"] or 1), int(match["column"] or 1))
