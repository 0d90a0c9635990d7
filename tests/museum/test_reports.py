# SPDX-License-Identifier: Apache-2.0
"""Maps that users reported: each wrong one is refuted by the command that docs/museum.md prints, each twin verified."""

from __future__ import annotations

import re
import shlex

import pytest

from tests.museum.page import PAGE, REPORTS, Report, page
from verify.__main__ import main

REFUTED = [report for report in REPORTS if report.refuted]


def run(words: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The exit code of a command, and what it prints, as one line."""
    code = main(shlex.split(words))
    return code, " ".join(capsys.readouterr().out.split())


@pytest.mark.long
@pytest.mark.parametrize("report", REFUTED, ids=lambda report: report.where)
def test_a_wrong_map_is_refuted_with_its_counterexample(report: Report, capsys: pytest.CaptureFixture[str]) -> None:
    code, printed = run(report.refuted, capsys)
    assert code == 1 and "CONTRADICTION" not in printed
    assert report.says in printed


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.where)
def test_a_repaired_map_is_verified(report: Report, capsys: pytest.CaptureFixture[str]) -> None:
    code, printed = run(report.verified, capsys)
    assert code == 0 and ("1 subject: 1 verified" in printed or " alone; claims: " in printed)


def test_every_report_has_a_repository_with_its_number_and_a_number_of_its_own() -> None:
    assert len(REFUTED) >= 10 and len({report.number for report in REPORTS}) == len(REPORTS)
    assert [report.where for report in REPORTS if not re.fullmatch(r"[\w.-]+/[\w.-]+#\d+(, #\d+)*", report.where)] == []


def test_the_page_is_the_one_of_the_reports() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m tests.museum.page --write"
