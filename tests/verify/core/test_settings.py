# SPDX-License-Identifier: Apache-2.0
"""`[tool.lanecheck]`: the nearest one counts, every key has a meaning, and what is wrong has its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from verify.core.errors import UsageError
from verify.core.settings import Settings, find_settings

WHOLE = """[project]
name = "mine"

[tool.lanecheck]
files = ["maps", "extra/*.toml"]
target = "sm_80"
seed = 7
strict = true
require = ["isa", "proof"]
"""


def write(folder: Path, text: str) -> Path:
    """Write a pyproject.toml; return it."""
    file = folder / "pyproject.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_every_key_is_read(tmp_path: Path) -> None:
    file = write(tmp_path, WHOLE)
    assert find_settings(tmp_path) == Settings(
        file=file, files=("maps", "extra/*.toml"), target="sm_80", seed=7, strict=True, require=("isa", "proof")
    )


def test_the_nearest_table_counts_and_a_file_without_one_is_passed_over(tmp_path: Path) -> None:
    file = write(tmp_path, WHOLE)
    inner = tmp_path / "inner"
    inner.mkdir()
    write(inner, '[project]\nname = "lanecheck-user"\n')
    settings = find_settings(inner)
    assert settings is not None and settings.file == file
    write(inner, "[tool.lanecheck]\nseed = 1\n")
    settings = find_settings(inner)
    assert settings is not None and (settings.seed, settings.files) == (1, ())


def test_files_are_relative_to_the_project(tmp_path: Path) -> None:
    write(tmp_path, WHOLE)
    for name in ("maps/b.toml", "maps/a.toml", "maps/.hidden.toml", "maps/a.txt", "extra/c.toml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("", encoding="utf-8")
    settings = find_settings(tmp_path / "maps")
    assert settings is not None
    assert [str(path.relative_to(tmp_path)) for path in settings.list_files()] == [
        "maps/a.toml",
        "maps/b.toml",
        "extra/c.toml",
    ]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (
            "file = []",
            "5:1: tool.lanecheck.file: there is no such key; the keys are files, target, seed, strict, require",
        ),
        ('files = "maps"', "5:1: tool.lanecheck.files: expected a list of names of files, found 'maps'"),
        ("files = []", "5:1: tool.lanecheck.files: expected a list of names of files"),
        ("seed = -1", "5:1: tool.lanecheck.seed: expected a number from 0"),
        ("seed = true", "5:1: tool.lanecheck.seed: expected a number from 0"),
        ("strict = 1", "5:1: tool.lanecheck.strict: expected true or false, found 1"),
        ('require = ["speed"]', "5:1: tool.lanecheck.require: expected one of isa, proof, gpu, found 'speed'"),
        ("target = 80", "5:1: tool.lanecheck.target: expected a text"),
        ("files = [", "pyproject.toml"),
    ],
)
def test_what_is_wrong_has_its_line(line: str, problem: str, tmp_path: Path) -> None:
    write(tmp_path, f'[project]\nname = "mine"\n\n[tool.lanecheck]\n{line}\n')
    with pytest.raises(UsageError, match=r".") as caught:
        find_settings(tmp_path)
    assert problem in str(caught.value) and "\n" not in str(caught.value)


def test_a_word_that_means_no_file_is_named(tmp_path: Path) -> None:
    write(tmp_path, '[tool.lanecheck]\nfiles = ["nothing/*.toml"]\n')
    settings = find_settings(tmp_path)
    assert settings is not None
    with pytest.raises(UsageError, match=r"tool\.lanecheck\.files: nothing/\*\.toml: no such file in "):
        settings.list_files()
