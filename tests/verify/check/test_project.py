# SPDX-License-Identifier: Apache-2.0
"""`lanecheck check` alone verifies the files that the project lists, each by its kind."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.verify.atom.test_command import ENTRY
from verify.__main__ import main as lanecheck

EXAMPLES = Path(__file__).parents[3] / "examples"
RIGHT_B, WRONG_B = "((4,8),(2,2)):((16,1),(8,64))", "((4,8),(2,2)):((16,1),(8,32))"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with an atom and a kernel with its claim."""
    maps = tmp_path / "maps"
    maps.mkdir()
    (maps / "atoms.toml").write_text(ENTRY.format(number=0, B=RIGHT_B), encoding="utf-8")
    for name in ("fragment.ptx", "fragment.toml"):
        shutil.copy(EXAMPLES / "kernel" / name, maps)
    claim = maps / "fragment.toml"
    claim.write_text(f'ptx = "fragment.ptx"\n{claim.read_text(encoding="utf-8")}', encoding="utf-8")
    monkeypatch.chdir(maps)
    settle(tmp_path, "")
    return tmp_path


def settle(folder: Path, more: str) -> None:
    """Write the settings."""
    (folder / "pyproject.toml").write_text(f'[tool.lanecheck]\nfiles = ["maps"]\n{more}', encoding="utf-8")


def test_every_file_is_verified_by_its_kind(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settle(project, "seed = 5\n")
    assert lanecheck(["check"]) == 1
    text = capsys.readouterr().out
    assert re.search(r"MINE_0 +VERIFIED", text) and "REFUTED" in text and "--seed 5" in text
    assert text.endswith("exit 1\n")


def test_a_wrong_entry_has_its_file_and_line(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "maps/fragment.toml").unlink()
    (project / "maps/atoms.toml").write_text("\n" + ENTRY.format(number=0, B=WRONG_B), encoding="utf-8")
    assert lanecheck(["check", "--format", "sarif"]) == 1
    (result,) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("atoms.toml", 3)


@pytest.mark.long
def test_the_command_line_goes_before_the_settings(project: Path) -> None:
    (project / "maps/fragment.toml").unlink()
    settle(project, 'require = ["isa"]\n')
    assert lanecheck(["check", "-q"]) == 0
    settle(project, 'require = ["gpu"]\n')
    assert lanecheck(["check", "-q"]) == 0
    assert lanecheck(["check", "-q", "--require", "proof"]) == 0
    shutil.copy(EXAMPLES / "movement.toml", project / "maps")
    assert lanecheck(["check", "-q"]) == 4  # no GPU says anything about it
    assert lanecheck(["check", "-q", "--require", "isa"]) == 0


@pytest.mark.long
def test_the_seed_of_the_command_line_goes_before_that_of_the_settings(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settle(project, "seed = 5\n")
    assert lanecheck(["check", "--seed", "6", "--strict", "--target", "sm_90a"]) == 1
    text = capsys.readouterr().out
    assert "--seed 6" in text and "--seed 5" not in text


def test_a_file_that_cannot_be_read_fails_beside_the_others(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "maps/fragment.toml").write_text("[", encoding="utf-8")
    assert lanecheck(["check"]) == 2
    assert re.search(r"MINE_0 +VERIFIED", capsys.readouterr().out)


def test_without_settings_one_line_says_what_to_give(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for words in ([], ["-q"]):
        assert lanecheck(["check", *words]) == 2
        assert capsys.readouterr().err.startswith("lanecheck: check what? Give a file,")
