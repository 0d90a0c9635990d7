# SPDX-License-Identifier: Apache-2.0
"""What probes take on a GPU, recorded for docs/performance.md: on an imagined GPU, whose probes end at once."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

import gpu_checks
from benchmarks import __main__ as gates
from benchmarks import gpu
from benchmarks.performance import page
from benchmarks.programs import Observed, ProgramFailed

H200 = gpu_checks.DeviceInfo("NVIDIA H200", "sm_90a", "580.1", "13.0", "13.0")
SECONDS = [18.0, 7.0, 15.04, 6.5, 16.0, 6.6]  # nothing compiled, kernels kept, in turns


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[dict[str, str]]]:
    """A function that makes a GPU of this name, on which probes take these seconds and print this."""

    def made(name: str, seconds: list[float], output: str = "1459 recorded, 9 pairs\n") -> list[dict[str, str]]:
        places: list[dict[str, str]] = []
        left = iter(seconds)

        def observed(*_: str, **variables: str) -> Observed:
            places.append(variables)
            wall = next(left)
            return Observed(10 * wall, wall, 100.0, output)

        monkeypatch.setattr(gpu_checks, "device_info", lambda: H200._replace(gpu=name))
        monkeypatch.setattr(gpu, "observed", observed)
        monkeypatch.setattr(gpu, "domains", lambda: iter(()))
        return places

    return made


def test_every_round_begins_without_compiled_kernels_and_then_has_them(machine: Callable[..., object]) -> None:
    places = machine("NVIDIA H200", SECONDS)
    compiling, kept = gpu.figures()
    assert isinstance(places, list) and [place.keys() for place in places] == [{*gpu.KEPT}] * 6
    folders = [folder for place in places for folder in {*place.values()}]
    assert folders[::2] == folders[1::2] and len({*folders}) == 3
    assert (compiling.samples, kept.samples) == ((18.0, 15.04, 16.0), (7.0, 6.5, 6.6))  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("name", "seconds", "code", "last"),
    [
        ("NVIDIA H200", SECONDS, 0, "2 of 2 targets met"),
        ("NVIDIA H200", [30.0, 7.0, 15.0, 11.0, 16.0, 12.0], 1, "1 of 2 targets met"),
        ("NVIDIA L4", [99.0] * 6, 0, "0 of 0 targets met; without a target on this machine: 2"),
    ],
)
def test_seconds_have_a_target_on_the_named_gpu_alone(
    name: str, seconds: list[float], code: int, last: str, machine: Callable[..., object],
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    machine(name, seconds)
    assert gates.main(["gpu"]) == code
    *figures, summary = capsys.readouterr().out.splitlines()
    assert summary == last and len(figures) == 2
    assert all(line.startswith(f"{name}: probe --all, ") for line in figures)
    assert [line.endswith("(no target here)") for line in figures] == [name != "NVIDIA H200"] * 2


def test_a_record_says_where_when_and_of_which_code_and_the_page_shows_it(
    machine: Callable[..., object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "recorded.toml"
    file.write_bytes(gates.RECORDED.read_bytes())
    for name in ("RECORDED", "PAGE"):
        monkeypatch.setattr(page, name, file if name == "RECORDED" else tmp_path / "performance.md")
    monkeypatch.setattr(gates, "RECORDED", file)
    before = tomllib.loads(file.read_text())
    machine("NVIDIA H200", SECONDS)
    assert gates.main(["gpu", "--record", str(file)]) == 0
    *earlier, last = tomllib.loads(file.read_text())["run"]
    assert earlier == before["run"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", last.pop("date")) and re.match("[0-9a-f]{12}", last.pop("commit"))
    assert last.pop("cores") >= 1
    assert last == {
        "gpu": "NVIDIA H200", "driver": "580.1", "cuda": "13.0", "nvrtc": "13.0", "instructions": 1459,
        "compiling_wall": [18.0, 15.0, 16.0], "kept_wall": [7.0, 6.5, 6.6],
    }  # fmt: skip
    assert "| 15.0 to 18.0 s | 6.5 to 7.0 s | - |" in page.PAGE.read_text()


def test_a_new_file_may_be_named(machine: Callable[..., object], tmp_path: Path) -> None:
    machine("NVIDIA H200", SECONDS)
    assert gates.main(["gpu", "--record", str(tmp_path / "new.toml")]) == 0
    assert len(tomllib.loads((tmp_path / "new.toml").read_text())["run"]) == 1


def test_seconds_of_another_gpu_are_not_recorded(
    machine: Callable[..., object], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    machine("NVIDIA L4", SECONDS)
    assert gates.main(["gpu", "--record", str(tmp_path / "new.toml")]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == (
        "benchmarks: seconds are recorded of an NVIDIA H200 alone; the GPU of this machine is NVIDIA L4"
    )
    assert not (tmp_path / "new.toml").exists()


def test_a_probe_that_records_nothing_is_not_fast(
    machine: Callable[..., object], capsys: pytest.CaptureFixture[str]
) -> None:
    machine("NVIDIA H200", SECONDS, "0 recorded, 0 pairs, 1459 unchecked\n")
    assert gates.main(["gpu"]) == 3
    assert capsys.readouterr().err.splitlines()[-1] == "benchmarks: the probe has recorded no instruction"


def test_a_record_is_of_the_suite_with_the_gpu(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--record"], ["laws", "gpu", "--record"], ["--write", "--record"]):
        with pytest.raises(SystemExit, match="2"):
            gates.main(words)
    assert "python -m benchmarks gpu --record" in capsys.readouterr().err


def test_a_copy_without_history_has_the_commit_that_a_ci_names(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: str) -> Callable[[], None]:
        raise ProgramFailed("no git")

    monkeypatch.setattr(gpu, "program", failing)
    monkeypatch.setenv("GITHUB_SHA", "feed")
    assert gpu.commit() == "feed"
