# SPDX-License-Identifier: Apache-2.0
"""Alerts: how much each weighs, and that a run has some just where its exit code is not 0."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.verify.atom.test_command import ENTRY, RIGHT_B, user_file
from verify.__main__ import main as lanecheck
from verify.api import verify_atom
from verify.core.verdict import Place
from verify.report import Case, Report
from verify.report.alerts import alerts

MUSEUM = Path(__file__).parents[2] / "museum"


def test_what_is_not_checked_is_a_warning_unless_it_is_accepted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "\n".join(row for row in ENTRY.format(number=0, B=RIGHT_B).split("\n") if not row.startswith("ptx"))
    path = user_file(tmp_path, text=text)
    levels = []
    for words in ([], ["--allow-unchecked"]):
        lanecheck(["atom", path, "--format", "github", *words])
        levels.append({line.split()[0] for line in capsys.readouterr().out.splitlines() if line.startswith("::")})
    assert levels == [{"::warning"}, {"::notice"}]


def test_a_subject_without_evidence_is_an_alert_too() -> None:
    (alert,) = alerts(Report((Case("mine", (), place=Place("a.toml", 3)),)))
    assert (alert.rule, alert.level, str(alert.place)) == ("checked", "warning", "a.toml:3:1")


@pytest.mark.slow
def test_a_run_has_alerts_just_where_it_fails() -> None:
    wrong, right = (verify_atom(MUSEUM / f"{name}.toml") for name in ("wrong", "right"))
    assert {case.name for case in wrong.cases if case.status != "VERIFIED"} == {
        alert.subject for alert in alerts(wrong)
    }
    assert right.exit() == 0 and alerts(right) == []
