# SPDX-License-Identifier: Apache-2.0
"""Sizes that have one cause are one block and one alert, at the line of the source."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from verify.kernel.command import main

ROOT = Path(__file__).parents[3]
WRONG = [str(ROOT / "examples/kernel/wrong.ptx"), "--claim", str(ROOT / "examples/kernel/matmul.toml")]


@pytest.mark.long
def test_sizes_that_fail_alike_are_one_block(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*WRONG, "--seed", "1"]) == 1
    said = capsys.readouterr().out
    assert said.count("REFUTED") == 1 and "\n  so too   M=100 N=80 K=48\n" in said
    assert "\n  23 | total = tl.dot(x, y, total)\n     |         ^\n" in said
    assert main([*WRONG, "--seed", "1", "--verbose"]) == 1
    assert capsys.readouterr().out.count("wrong operand") > 1


def run_sarif(capsys: pytest.CaptureFixture[str], *options: str) -> Any:
    """The only run of a SARIF log."""
    main([*WRONG, *options, "--format", "sarif"])
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    return run


@pytest.mark.long
def test_one_alert_says_no_seed_and_no_size_and_explains_its_rule(capsys: pytest.CaptureFixture[str]) -> None:
    runs = [run_sarif(capsys, "--seed", seed) for seed in ("1", "2")]
    ((alert,), (again,)) = (run["results"] for run in runs)
    place = alert["locations"][0]["physicalLocation"]
    assert Path(place["artifactLocation"]["uri"]).name == "matmul.py"
    assert place["region"] == {"startLine": 23, "startColumn": 17}
    text = alert["message"]["text"]
    assert text.startswith("matmul  REFUTED: C[m,n] = ") and "--seed" not in text
    assert alert["partialFingerprints"] == again["partialFingerprints"]
    (rule,) = runs[0]["tool"]["driver"]["rules"]
    assert rule["fullDescription"]["text"] and "Fix:" in rule["help"]["text"] and "**Fix.**" in rule["help"]["markdown"]


@pytest.mark.long
def test_the_seed_is_the_same_in_ci(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("CI", "true")
    seeds = set()
    for _ in range(2):
        main([WRONG[0], *WRONG[1:], "--safety", "--format", "json"])
        notes = json.loads(capsys.readouterr().out)["subjects"][0]["notes"]
        seeds |= {note for note in notes if note.startswith("seed")}
    assert len(seeds) == 1
