# SPDX-License-Identifier: Apache-2.0
"""Reports as workflow commands of GitHub: a line for each alert, from which no text breaks out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.verify.atom.test_command import ENTRY, user_file
from tests.verify.report.test_as_sarif import WRONG_B
from verify.__main__ import main as lanecheck

COMMAND = re.compile(r"::(error|warning|notice) (?:file=([^,:]+),line=(\d+),col=\d+,)?title=[^,:]*::\S.*")


def test_each_alert_is_a_line_of_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = user_file(tmp_path, WRONG_B)
    assert lanecheck(["atom", path, "--format", "github"]) == 1
    *alerts, last = capsys.readouterr().out.splitlines()
    matches = [COMMAND.fullmatch(line) for line in alerts]
    assert len(alerts) == 1 and all(match and match[1] == "error" and match[2] == path for match in matches)
    assert "%0Aso too REFUTED gives each element" in alerts[0]  # one mistake, one line
    assert last.endswith("; exit 1")


def test_no_text_breaks_out_of_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = ENTRY.format(number=0, B=WRONG_B).replace('["MINE_0"]', '["a,b::c%0A"]')
    assert lanecheck(["atom", user_file(tmp_path, text=text), "--format", "github"]) == 1
    *alerts, _ = capsys.readouterr().out.splitlines()
    assert alerts and all(COMMAND.fullmatch(line) for line in alerts)
    assert "title=a%2Cb%3A%3Ac%250A%3A " in alerts[0]


def test_a_rejected_argument_is_an_annotation_of_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert lanecheck(["atom", "nonsense", "--format", "github"]) == 2
    assert capsys.readouterr().out.startswith("::error title=lanecheck%3A can be read::no atom is named 'nonsense'")
