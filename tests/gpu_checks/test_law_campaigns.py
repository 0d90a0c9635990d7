# SPDX-License-Identifier: Apache-2.0
"""The laws' campaigns: they agree on numpy, find a planted error, and run on a GPU where there is one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu_checks import laws
from gpu_checks.laws import LAWS, Law, campaign
from gpu_checks.values import Unavailable


@pytest.mark.parametrize("name", LAWS)
def test_law_agrees_with_its_definition_on_numpy(name: str) -> None:
    found = campaign(name, 20_000, np)
    assert (found.failures, found.first) == (0, None)
    assert found.cases >= 20_000


def test_a_false_law_is_found_with_its_first_point(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(xp: Any, m: Any, x: Any, y: Any, d: Any) -> tuple[Any, Any]:
        return m > 0, (x + y) % m == x % m + y % m

    monkeypatch.setattr(laws, "LAWS", {"planted": Law(("M", "x", "y", "d"), (1, 0, 0, 0), wrong)})
    found = campaign("planted", 100, np)
    assert found.failures > 0
    assert found.first == {"M": 2, "x": 1, "y": 1, "d": 0}


def test_a_record_is_a_line_for_each_law(tmp_path: Path) -> None:
    file = tmp_path / "laws.jsonl"
    assert laws.main(["divide", "swizzle", "--cpu", "--cases", "1000", "-o", str(file)]) == 0
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(line["law"], line["failures"], line["gpu"]) for line in lines] == [
        ("divide", 0, None),
        ("swizzle", 0, None),
    ]


def test_an_unknown_law_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert laws.main(["divid", "--cpu"]) == 2
    assert "divide" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "said"),
    [(["--cases", "0"], "--cases 0: at least 1"), (["--cases", "9", "-o", "/nowhere/x"], "[Errno 2] No such file")],
)
def test_bad_options_are_one_line_and_exit_2(argv: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 1 says that a law fails."""
    assert laws.main(["carry", "--cpu", *argv]) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"gpu_checks.laws: {said}") and told.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (KeyboardInterrupt(), 130, "interrupted: 1 of 1 not done"),
        (RuntimeError("an illegal access\nthere"), 3, "an illegal access"),
    ],
)
def test_what_stops_a_campaign_is_one_line_and_an_exit_code(
    error: BaseException, code: int, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(name: str, least: int, xp: Any) -> None:
        raise error

    monkeypatch.setattr(laws, "campaign", stopped)
    assert laws.main(["carry", "--cpu"]) == code
    assert capsys.readouterr().err == f"gpu_checks.laws: {said}\n"


def test_a_gpu_that_is_not_there_is_told_in_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(laws, "device", lambda: Unavailable("no CUDA device"))
    assert laws.main([]) == 2
    assert capsys.readouterr().err == "gpu_checks.laws: no CUDA device; --cpu uses numpy\n"


@pytest.mark.gpu
@pytest.mark.parametrize("name", LAWS)
def test_law_agrees_on_the_gpu(name: str) -> None:
    found = campaign(name, 10_000_000, laws.array_module(on_gpu=True))
    assert found.failures == 0
    assert found.cases >= 10_000_000


def test_the_recorded_campaigns_cover_every_law_with_ten_million_cases() -> None:
    """What an H200 evaluated; its bounds are those of today's campaigns, so the record speaks of the same laws."""
    recorded = Path(laws.__file__).parent / "recordings" / "laws" / "nvidia_h200.jsonl"
    lines = {line["law"]: line for line in map(json.loads, recorded.read_text(encoding="utf-8").splitlines())}
    assert list(lines) == list(LAWS)
    for name, line in lines.items():
        assert line["schema"] == 1 and line["gpu"] and line["failures"] == 0 and line["cases"] >= 10_000_000
        assert list(line["bounds"]) == list(LAWS[name].names)
