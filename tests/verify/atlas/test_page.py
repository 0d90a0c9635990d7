# SPDX-License-Identifier: Apache-2.0
"""The atlas's page from a report in JSON: the page of the run itself; another file is one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from verify.atlas import command
from verify.atlas.page import page

FEW = ["SM61", "SM80_16x8x8", "UniversalFMA"]
HOSTILE = "</code><script>alert(1)</script>"


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "atlas.json"
    command.main([*FEW, "--checks", "isa", "--format", "json", "-o", str(path)])
    return path


def test_the_page_of_a_report_is_the_page_of_the_run(report: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = command.main([*FEW, "--checks", "isa", "--format", "html"])
    anew = capsys.readouterr().out
    assert command.main(["--from", str(report), "--format", "html"]) == code
    assert capsys.readouterr().out == anew
    assert "SM61_DP2A ptx REFUTED (known)" in anew and 'id="atoms/mma.sync_m16n8k8"' in anew


def test_a_name_is_text(report: Path) -> None:
    document = json.loads(report.read_text(encoding="utf-8"))
    document["instructions"][0]["instruction"] = HOSTILE
    text = page(document)
    assert text.count("<script>") == 1 and "&lt;/code&gt;&lt;script&gt;alert(1)" in text


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"schema": 1}', '{"schema": 2, "instructions": 3}', "[" * 99999, "null", "\ufeff{"]
)
def test_another_file_is_one_line(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "other.json"
    path.write_text(text, encoding="utf-8")
    assert command.main(["--from", str(path), "--format", "html"]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and len(captured.err.splitlines()) == 1
    assert "it should be what `lanecheck atlas --format json` writes" in captured.err


def test_options_without_effect_are_rejected(report: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--from", str(report)]) == 2
    assert "say --format html" in capsys.readouterr().err
    assert command.main(["--from", str(report), "--format", "html", "--arch", "sm80"]) == 2
    assert "reads no" in capsys.readouterr().err
