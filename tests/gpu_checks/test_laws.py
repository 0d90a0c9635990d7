# SPDX-License-Identifier: Apache-2.0
"""The laws' campaigns: they agree on numpy, find a planted error, and run on a GPU where there is one."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu_checks import check, laws
from gpu_checks.laws import Campaign, campaign, recordings_of_laws
from gpu_checks.model import DeviceInfo, Unavailable
from gpu_checks.recordings_io.lines import parse_line
from gpu_checks.statements import ArrayLaw, mutants
from gpu_checks.statements import laws as read_laws
from proofs.laws.decide import list_shipped

LAWS = read_laws()
DIVIDE = ArrayLaw(
    "DIVIDE",
    {"N": 1, "d": 1, "g": 1, "y": 0},
    None,
    {},
    ["i(y) = y // d % N"],
    ["y < N*d*g"],
    ["i(y)*d + y % d + y // d // N*(N*d) == y"],
)
WITHOUT_CASE = {"COMPLEMENT_DISJOINT_ANY", "COMPLEMENT_AXES", "COMPLEMENT_DIAGONAL", "TMMA_INJECTIVE"}
"""With numpy: functions that are tried at random meet their hypotheses too seldom."""
SELDOM = {*WITHOUT_CASE, "PRODUCT_ANY", "RIGHT_INVERSE_MAXIMAL"}
"""Those of which a GPU finds too few cases."""
UNBROKEN = {
    ("COMPLEMENT_DIAGONAL", "not one to one"): "functions that are tried at random meet its hypotheses too seldom",
    ("TMMA_INJECTIVE", "two lanes of the atom hold one element"): "its sixteen variables have two values each",
}


def test_every_law_with_a_proof_is_evaluated() -> None:
    assert LAWS.keys() == {name for name, law in list_shipped().items() if not law.why_open}


@pytest.mark.parametrize("name", LAWS)
def test_law_agrees_with_its_statement_on_numpy(name: str) -> None:
    outcome = campaign(LAWS[name], 2_000, np)
    assert (outcome.failures, outcome.first) == (0, None)
    assert (outcome.cases > 0) == (name not in WITHOUT_CASE)


def test_a_false_law_is_found_with_its_first_point() -> None:
    planted = ArrayLaw("planted", {"M": 1, "x": 0, "y": 0}, None, {}, [], [], ["(x + y) % M == x % M + y % M"])
    outcome = campaign(planted, 100, np)
    assert outcome.failures > 0
    assert outcome.first == {"M": 2, "x": 1, "y": 1}


@pytest.mark.long
@pytest.mark.parametrize(("name", "mutant"), [(name, mutant) for name in LAWS for mutant in mutants(name)])
def test_no_law_is_a_tautology(name: str, mutant: ArrayLaw) -> None:
    """Each mutant of a law, which the catalogue declares false, is false somewhere on a grid."""
    outcome = campaign(mutant, 100_000, np)
    assert bool(outcome.failures) == ((name, mutant.why) not in UNBROKEN)


class Rounding(np.ndarray):
    """An array whose quotients are rounded up, and shifts to the right one too high: a wrong implementation."""

    def __floordiv__(self, other: Any) -> Any:
        return -(-self.view(np.ndarray) // other).view(Rounding)

    def __rshift__(self, other: Any) -> Any:
        return ((self.view(np.ndarray) >> other) + 1).view(Rounding)


@pytest.mark.parametrize("name", ["DIVDEF", "COMPOSE_RANK2", "DIVIDE_EXISTS", "RIGHT_INVERSE_RANK2", "TMMA_ONTO_AXIS"])
def test_a_law_fails_where_quotients_are_wrong(name: str) -> None:
    law = LAWS[name]
    edge = 4
    grid = np.indices((edge,) * len(law.axes), np.int64)
    point = {x: axis + low for axis, (x, (low, _)) in zip(grid, law.bounds(edge).items(), strict=True)}
    applies, holds, _ = law.test(np, point)
    assert applies.any() and not (applies & ~holds).any()
    applies, holds, _ = law.test(np, {x: axis.view(Rounding) for x, axis in point.items()})
    assert (applies & ~holds).any()


def test_what_is_not_in_the_language_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'x\.y' is not in the language of the laws"):
        campaign(replace(DIVIDE, goal=["x.y == 0"]), 1, np)


def test_a_record_is_a_line_for_each_law(tmp_path: Path) -> None:
    file = tmp_path / "laws.jsonl"
    assert laws.main(["DIVIDE_EXISTS", "SWIZZLE_T*", "--cpu", "--cases", "1000", "-o", str(file)]) == 0
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(line["law"], line["failures"], line["gpu"]) for line in lines] == [
        ("DIVIDE_EXISTS", 0, None),
        ("SWIZZLE_TILE", 0, None),
    ]


def test_an_unknown_law_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert laws.main(["divide_exist", "--cpu"]) == 2
    assert "no law is named 'divide_exist'; near it: DIVIDE_EXISTS" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "said"),
    [(["--cases", "0"], "--cases 0: at least 1"), (["--cases", "9", "-o", "/nowhere/x"], "cannot write")],
)
def test_bad_options_are_one_line_and_exit_2(argv: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 1 says that a law fails."""
    assert laws.main(["DM", "--cpu", *argv]) == 2
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
    def stopped(law: ArrayLaw, least: int, xp: Any) -> None:
        raise error

    monkeypatch.setattr(laws, "campaign", stopped)
    assert laws.main(["DM", "--cpu"]) == code
    assert capsys.readouterr().err == f"gpu_checks.laws: {said}\n"


def test_a_missing_gpu_is_reported_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(laws, "device_info", lambda: Unavailable("no CUDA device"))
    assert laws.main([]) == 4
    assert capsys.readouterr().out == f"{len(LAWS)} laws  UNCHECKED  no CUDA device; --cpu uses numpy\n"


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

    def counted(law: ArrayLaw, least: int, xp: Any) -> Campaign:
        wanted.append((law.name, least, xp))
        return Campaign(law.name, law.digest, {"x": (0, 3)}, 4, least, 0, None, 0.5)

    monkeypatch.setattr(laws, "device_info", lambda: DeviceInfo("NVIDIA H200", "sm_90a", "580.1", "13.0", "13.0"))
    monkeypatch.setattr(laws, "array_module", lambda on_gpu: meant.append(on_gpu) or np)
    monkeypatch.setattr(laws, "campaign", counted)
    (tmp_path / "kept").mkdir()
    assert laws.main(["DM", "MONO", *argv, "-o", str(tmp_path / "kept" / "gpu.jsonl")]) == 0
    assert wanted == [("DM", least, np), ("MONO", least, np)] and meant == [on_gpu]
    lines = [parse_line(line) for line in (tmp_path / "kept" / "gpu.jsonl").read_text().splitlines()]
    gpu = {"gpu": "NVIDIA H200", "sm": "sm_90a", "driver": "580.1"} if on_gpu else {"gpu": None}
    counts = {"bounds": {"x": [0, 3]}, "points": 4, "cases": least, "failures": 0, "first": None, "seconds": 0.5}
    for line, name in zip(lines, ("DM", "MONO"), strict=True):
        date = line.pop("date")
        assert line.pop("text") == LAWS[name].digest
        assert (
            line
            == {
                "schema": 2,
                "arrays": f"numpy {np.__version__}",
                "law": name,
                **gpu,
                **counts,
            }
            and len(date) == 10
        )
    assert [recorded.law for recorded in recordings_of_laws(tmp_path / "kept")] == ["DM", "MONO"]


def count_cases(edge: int) -> int:
    """Points of the grid of that edge at which the law of division applies, counted one by one."""
    digits = range(1, edge + 1)
    return sum(y < n * d * g for n in digits for d in digits for g in digits for y in range(edge))


@pytest.mark.parametrize(
    ("least", "edge"),
    [(1, 2), (count_cases(4), 4), (count_cases(4) + 1, 6), (count_cases(6) + 1, 8), (count_cases(8), 8), (8**4, 11)],
)
def test_the_grid_is_the_first_that_has_as_many_cases(least: int, edge: int) -> None:
    """Grids grow by a quarter and one from the fourth root of the number, from an edge of 2 on."""
    outcome = campaign(DIVIDE, least, np)
    assert (outcome.points, outcome.cases, outcome.failures) == (edge**4, count_cases(edge), 0)
    assert outcome.bounds == {"N": (1, edge), "d": (1, edge), "g": (1, edge), "y": (0, edge - 1)}


def test_a_grid_that_is_walked_in_pieces_is_counted_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laws, "CHUNK", 1000)
    outcome = campaign(DIVIDE, count_cases(8), np)
    assert (outcome.points, outcome.cases) == (8**4, count_cases(8))


def test_a_law_that_applies_nowhere_is_unchecked(capsys: pytest.CaptureFixture[str]) -> None:
    """Its grid has at most 64 points for each case that is wanted."""
    assert laws.main(["TMMA_INJECTIVE", "--cpu", "--cases", "9"]) == 4
    assert "UNCHECKED 0 cases" in capsys.readouterr().out


@pytest.mark.gpu
@pytest.mark.parametrize("name", LAWS)
def test_law_agrees_on_the_gpu(name: str) -> None:
    outcome = campaign(LAWS[name], 1_000_000, laws.array_module(on_gpu=True))
    assert outcome.failures == 0


def test_the_recorded_campaigns_are_of_todays_statements() -> None:
    by_law = {recorded.law: recorded for recorded in recordings_of_laws()}
    assert list(by_law) == list(LAWS) == list(laws.read_shipped())
    for name, recorded in by_law.items():
        assert recorded.failures == 0 and list(recorded.bounds) == list(LAWS[name].axes)
        assert (recorded.cases < laws.MANY) == (name in SELDOM)
    assert sum(recorded.cases >= 10_000_000 for recorded in by_law.values()) > 50


def test_a_record_of_another_statement_is_stale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changed = {name: replace(law, goal=["1 == 1"]) if name == "DM" else law for name, law in LAWS.items()}
    monkeypatch.setattr(laws, "laws", lambda: changed)
    laws.read_shipped.cache_clear()
    assert "DM" not in laws.read_shipped() and "MONO" in laws.read_shipped()
    laws.read_shipped.cache_clear()
    monkeypatch.setattr(check.statements, "laws", lambda: changed)
    content = check._laws(laws.RECORDINGS / "nvidia_h200.jsonl")  # seam: what is stale of one kind of recording
    assert content.stale == ["DM"]
