# SPDX-License-Identifier: Apache-2.0
"""An unchanged test file of Triton kernels on a machine without a GPU: what becomes of each of its tests."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = Path(__file__).with_name("recorded_tests.py.txt")
ABSENT = [name for name in ("torch", "triton") if importlib.util.find_spec(name) is None]

pytestmark = pytest.mark.skipif(
    bool(ABSENT),
    reason=f"{' and '.join(ABSENT)} not installed: pip install torch==2.13.0 triton==3.9.0 (no GPU is needed)",
)


def read_expected() -> dict[str, list[str]]:
    """What the comment behind each test says."""
    comments = re.findall(r"^ *def (test_\w+)\(.*\):  # (.*)$", SOURCE.read_text(encoding="utf-8"), re.MULTILINE)
    return {name: words.split() for name, words in comments}


def kind(outcome: str, reason: str) -> str:
    """Which of the words an outcome of pytest is."""
    if outcome != "SKIPPED":
        return {"PASSED": "compared", "FAILED": "refuted"}[outcome]
    if "launches no kernel" in reason:
        return "none"
    return "stops" if "stops in" in reason or "expected to fail" in reason else "safety"


def test_each_test_becomes_what_its_comment_says(tmp_path: Path) -> None:
    file = tmp_path / "test_kernels.py"
    file.write_text(SOURCE.read_text(encoding="utf-8"), encoding="utf-8")
    before = file.read_bytes()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PY_COLORS": "0", "COLUMNS": "300"}
    report = tmp_path / "report.xml"
    options = [
        "-p",
        "no:cacheprovider",
        "--lanecheck-kernels",
        "--lanecheck-seed",
        "1",
        "-q",
        "--junitxml",
        str(report),
    ]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(file)],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    text = done.stdout + done.stderr
    assert report.exists(), text
    outcomes: dict[str, list[str]] = {}
    for name, inner in re.findall(
        r'<testcase [^>]*name="(\w+)[^>]*?(?:/>|>(.*?)</testcase>)', report.read_text(), re.DOTALL
    ):
        outcome = "FAILED" if "<failure" in inner else "SKIPPED" if "<skipped" in inner else "PASSED"
        outcomes.setdefault(name, []).append(kind(outcome, inner))
    wanted = read_expected()
    wanted["test_matmul"] *= 2
    assert outcomes == wanted, text
    assert "UNCHECKED: stops in capture: test_kernels.py:" in report.read_text()
    assert "torch_mode.py" not in text
    assert done.returncode == 1
    assert file.read_bytes() == before
