# SPDX-License-Identifier: Apache-2.0
"""The laws' campaigns: they agree on numpy, find a planted error, and run on a GPU where there is one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu_checks import laws
from gpu_checks.laws import LAWS, ArrayLaw, Campaign, campaign, recordings_of_laws
from gpu_checks.model import DeviceInfo, Unavailable
from gpu_checks.recordings_io.lines import parse_line


@pytest.mark.parametrize("name", LAWS)
def test_law_agrees_with_its_definition_on_numpy(name: str) -> None:
    found = campaign(name, 20_000, np)
    assert (found.failures, found.first) == (0, None)
    assert found.cases >= 20_000


def test_a_false_law_is_found_with_its_first_point(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(xp: Any, m: Any, x: Any, y: Any, d: Any) -> tuple[Any, Any]:
        return m > 0, (x + y) % m == x % m + y % m

    monkeypatch.setattr(laws, "LAWS", {"planted": ArrayLaw(("M", "x", "y", "d"), (1, 0, 0, 0), wrong)})
    found = campaign("planted", 100, np)
    assert found.failures > 0
    assert found.first == {"M": 2, "x": 1, "y": 1, "d": 0}


class Rounding(np.ndarray):
    """An array whose quotients are rounded up, and shifts to the right one too high: a wrong implementation."""

    def __floordiv__(self, other: Any) -> Any:
        return -(-self.view(np.ndarray) // other).view(Rounding)

    def __rshift__(self, other: Any) -> Any:
        return ((self.view(np.ndarray) >> other) + 1).view(Rounding)


@pytest.mark.parametrize("name", LAWS)
def test_no_law_is_a_tautology(name: str) -> None:
    """Each applies somewhere below 6, holds there, and fails somewhere where quotients are wrong."""
    grid = np.indices((6, 6, 6, 6), np.int64)
    point = [axis + low for axis, low in zip(grid, LAWS[name].lowest, strict=True)]
    applies, holds = LAWS[name].test(np, *point)
    assert applies.any() and not (applies & ~holds).any()
    applies, holds = LAWS[name].test(np, *(axis.view(Rounding) for axis in point))
    assert (applies & ~holds).any()


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
    [(["--cases", "0"], "--cases 0: at least 1"), (["--cases", "9", "-o", "/nowhere/x"], "cannot write")],
)
def test_bad_options_are_one_line_and_exit_2(argv: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 1 says that a law fails."""
    assert laws.main(["carry", "--cpu", *argv]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"gpu_checks.laws: {said}") and err.count("\n") == 1


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


def test_a_missing_gpu_is_reported_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(laws, "device_info", lambda: Unavailable("no CUDA device"))
    assert laws.main([]) == 4
    assert capsys.readouterr().out == "10 laws  UNCHECKED  no CUDA device; --cpu uses numpy\n"


@pytest.mark.parametrize(
    ("argv", "least", "on_gpu"),
    [
        (["--cpu"], 200_000, False),
        ([], 10_000_000, True),
        (["--cpu", "--cases", "7"], 7, False),
        (["--cases", "7"], 7, True),
        (["--cases", "1"], 1, True),
        (["--cases", "20000000"], 20_000_000, True),
    ],
)
def test_the_number_of_cases_is_that_of_the_options(
    argv: list[str], least: int, on_gpu: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a device that is not there: what is computed with is numpy under another name."""
    wanted, meant = [], []

    def counted(name: str, least: int, xp: Any) -> Campaign:
        wanted.append((name, least, xp))
        return Campaign(name, {"x": (0, 3)}, 4, least, 0, None, 0.5)

    monkeypatch.setattr(laws, "device_info", lambda: DeviceInfo("NVIDIA H200", "sm_90a", "580.1", "13.0", "13.0"))
    monkeypatch.setattr(laws, "array_module", lambda on_gpu: meant.append(on_gpu) or np)
    monkeypatch.setattr(laws, "campaign", counted)
    (tmp_path / "kept").mkdir()
    assert laws.main(["swizzle", "carry", *argv, "-o", str(tmp_path / "kept" / "gpu.jsonl")]) == 0
    assert wanted == [("swizzle", least, np), ("carry", least, np)] and meant == [on_gpu]
    lines = [parse_line(line) for line in (tmp_path / "kept" / "gpu.jsonl").read_text().splitlines()]
    gpu = {"gpu": "NVIDIA H200", "sm": "sm_90a", "driver": "580.1"} if on_gpu else {"gpu": None}
    found = {"bounds": {"x": [0, 3]}, "points": 4, "cases": least, "failures": 0, "first": None, "seconds": 0.5}
    for line, name in zip(lines, ("swizzle", "carry"), strict=True):
        date = line.pop("date")
        assert (
            line == {"schema": 1, "arrays": f"numpy {np.__version__}", "law": name, **gpu, **found} and len(date) == 10
        )
    assert [one.law for one in recordings_of_laws(tmp_path / "kept")] == ["swizzle", "carry"]


def count_cases(edge: int) -> int:
    """Points of the grid of that edge at which the law of division applies, counted one by one."""
    digits = range(1, edge + 1)
    return sum(y < n * d * g for n in digits for d in digits for g in digits for y in range(edge))


@pytest.mark.parametrize(
    ("least", "edge"),
    [(1, 4), (count_cases(4), 4), (count_cases(4) + 1, 6), (count_cases(6) + 1, 8), (count_cases(8), 8), (8**4, 11)],
)
def test_the_grid_is_the_first_that_has_as_many_cases(
    least: int, edge: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Grids grow by a quarter and one from the fourth root of the number, from a edge of 4 on."""
    assert laws.main(["divide", "--cpu", "--cases", str(least)]) == 0
    assert capsys.readouterr().out.startswith(f"divide         AGREES   {count_cases(edge)} cases, ")
    found = campaign("divide", least, np)
    assert (found.points, found.cases, found.failures) == (edge**4, count_cases(edge), 0)
    assert found.bounds == {"N": (1, edge), "d": (1, edge), "g": (1, edge), "y": (0, edge - 1)}


def test_a_grid_that_is_walked_in_pieces_is_counted_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laws, "CHUNK", 1000)
    found = campaign("divide", count_cases(8), np)
    assert (found.points, found.cases) == (8**4, count_cases(8))


@pytest.mark.gpu
@pytest.mark.parametrize("name", LAWS)
def test_law_agrees_on_the_gpu(name: str) -> None:
    found = campaign(name, 10_000_000, laws.array_module(on_gpu=True))
    assert found.failures == 0
    assert found.cases >= 10_000_000


def test_the_recorded_campaigns_cover_every_law_with_ten_million_cases() -> None:
    """The campaigns of an H200 have the bounds of today's, so that the record is of the same laws."""
    found = {one.law: one for one in recordings_of_laws()}
    assert list(found) == list(LAWS)
    for name, one in found.items():
        assert one.failures == 0 and one.cases >= 10_000_000
        assert list(one.bounds) == list(LAWS[name].names)
        assert tuple(low for low, _ in one.bounds.values()) == LAWS[name].lowest
