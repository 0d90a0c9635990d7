# SPDX-License-Identifier: Apache-2.0
"""The campaign of bugs in Triton kernels: which are drawn, what a run's output means, and how a log goes on."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks import bugs

TEXT = bugs.FILE.read_text("utf-8")


@pytest.mark.long
def test_bugs_are_in_kernels_and_repeat_with_their_seed() -> None:
    drawn = bugs.draw_bugs(TEXT, 30, 2411)
    assert drawn == bugs.draw_bugs(TEXT, 30, 2411) != bugs.draw_bugs(TEXT, 30, 7)
    assert len({bug for _, bug in drawn}) == 30
    tests = bugs.list_tests(TEXT)
    assert all(tests[kernel] and bug.applied(TEXT) != TEXT for kernel, bug in drawn)
    assert "test_matmul" in tests["matmul_kernel"] and "test_matmul_wrong" not in tests["matmul_kernel"]


@pytest.mark.parametrize(
    ("summary", "fate"),
    [
        ("2 compared, 1 refuted, 0 safety only, 0 not captured; x", "refuted"),
        ("2 compared, 0 safety only, 0 not captured; x", "survived"),
        ("2 compared, 1 safety only, 0 not captured; x\n  1 UNCHECKED: the test compares nothing that y", "survived"),
        ("1 compared, 1 safety only, 0 not captured; x\n  1 UNCHECKED: rounds", "undecided"),
        ("0 compared, 0 safety only, 3 not captured; x\n  3 UNCHECKED: stops in capture: no", "stopped"),
    ],
)
def test_a_summary_is_a_fate(summary: str, fate: str) -> None:
    assert bugs.name_fate(summary)["fate"] == fate


def test_a_run_without_a_summary_is_no_fate(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, bug = bugs.draw_bugs(TEXT, 1, 2411)[0]
    done = SimpleNamespace(stdout="", stderr="error: unrecognized arguments: --lanecheck-kernels")
    monkeypatch.setattr(bugs.subprocess, "run", lambda *_, **__: done)
    with pytest.raises(SystemExit, match="gave no summary: error: unrecognized"):
        bugs.run_bug(TEXT, kernel, bug)


def test_a_campaign_goes_on_where_its_log_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = []

    def run_bug(text: str, kernel: str, bug: Any) -> dict[str, Any]:
        runs.append(bug)
        return {"kernel": kernel, "line": bug.code, "old": bug.old, "new": bug.new, "fate": "refuted", "why": ""}

    monkeypatch.setattr(bugs, "run_bug", run_bug)
    log = tmp_path / "log.jsonl"
    assert bugs.main(["--count", "3", "--log", str(log)]) == 0
    assert bugs.main(["--count", "5", "--log", str(log)]) == 0
    assert len(runs) == len(set(runs)) == 5
    assert [json.loads(line)["fate"] for line in log.read_text().splitlines()] == ["refuted"] * 5
