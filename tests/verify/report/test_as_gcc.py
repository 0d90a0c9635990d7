# SPDX-License-Identifier: Apache-2.0
"""Reports as compilers print theirs."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.verify.report.test_alike import WRONG
from verify.__main__ import main as lanecheck_main
from verify.atom.command import main as verify_atom
from verify.kernel.command import main

ROOT = Path(__file__).parents[3]


@pytest.mark.long
def test_an_editor_can_jump_to_the_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*WRONG, "--seed", "1", "--format", "gcc"]) == 1
    first, *rest = capsys.readouterr().out.splitlines()
    assert any(line.startswith("    replay: lanecheck kernel") and line.endswith(" --seed 1") for line in rest)
    assert first.endswith("matmul.py:23:17: error: matmul  REFUTED: C[m,n] = sum_k A[m,k]*B[k,n] [values]")


def tasks() -> dict[str, Any]:
    """Return the task of VS Code that the page on CI shows."""
    (text,) = re.findall(r'```json\n(\{\n  "version": "2.0.0".*?)```', (ROOT / "docs/ci.md").read_text(), re.DOTALL)
    task: dict[str, Any] = json.loads(text)["tasks"][0]
    return task


def matcher() -> dict[str, Any]:
    """Return the problem matcher of that task."""
    described: dict[str, Any] = tasks()["problemMatcher"]
    return described


def test_the_task_of_the_page_marks_the_lines_of_a_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`lanecheck check` reads `[tool.lanecheck]`; a kernel's finding is at the line of its PTX."""
    for name in ("fragment.ptx", "fragment.toml"):
        shutil.copy(ROOT / "examples" / "kernel" / name, tmp_path)
    claim = tmp_path / "fragment.toml"
    claim.write_text('ptx = "fragment.ptx"\n' + claim.read_text(encoding="utf-8"), encoding="utf-8")
    shutil.copy(ROOT / "tests" / "museum" / "wrong.toml", tmp_path)
    settings = '[tool.lanecheck]\nfiles = ["wrong.toml", "fragment.toml"]\nseed = 1\nrequire = ["isa"]\n'
    (tmp_path / "pyproject.toml").write_text(settings, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert lanecheck_main(tasks()["args"]) == 1
    lines = [line for line in capsys.readouterr().out.splitlines() if not line.startswith(" ")]
    matches = [re.fullmatch(matcher()["pattern"]["regexp"][1:-1], line) for line in lines[:-1]]
    places = {(match[1], int(match[2])) for match in matches if match}
    assert None not in matches and {("fragment.ptx", 27), ("wrong.toml", 4)} <= places


def test_the_problem_matcher_of_the_page_reads_every_finding(capsys: pytest.CaptureFixture[str]) -> None:
    pattern = matcher()["pattern"]
    museum = ROOT / "tests" / "museum" / "wrong.toml"
    assert verify_atom(["--atoms", str(museum), "--checks", "isa", "--format", "gcc", "--", "1:*", "2:*"]) == 1
    lines = [line for line in capsys.readouterr().out.splitlines() if not line.startswith(" ")]
    findings = [re.fullmatch(pattern["regexp"][1:-1], line) for line in lines[:-1]]
    assert findings and None not in findings
    entries = museum.read_text(encoding="utf-8").splitlines()
    for match in filter(None, findings):
        assert match[pattern["file"]] == str(museum) and match[pattern["severity"]] in ("error", "warning", "note")
        assert entries[int(match[pattern["line"]]) - 1].strip()
        assert re.fullmatch("[a-z_]+", match[pattern["code"]])
