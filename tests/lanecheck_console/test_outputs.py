# SPDX-License-Identifier: Apache-2.0
"""Whether a file can be written is found before a run, and nothing is made or emptied by that."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lanecheck_console.outputs import Unwritable, output, unwritable

NAMELESS = "''"


@pytest.mark.parametrize(
    ("path", "folder", "why"),
    [
        ("new.txt", False, ""),
        ("old.txt", False, ""),
        ("link", False, ""),
        ("dangling", False, ""),
        (os.devnull, False, ""),
        ("there", True, ""),
        ("there/new/newer", True, ""),
        ("-", False, "expected a file, and - is stdout; ./- is a file of that name"),
        ("-", True, "expected a folder, and - is stdout; ./- is a folder of that name"),
        ("./-", False, ""),
        ("", False, "it is the name of no file"),
        ("", True, "it is the name of no folder"),
        ("none/x.txt", False, "No such file or directory"),
        ("far", False, "No such file or directory"),
        ("new/", False, "Is a directory"),
        ("there", False, "Is a directory"),
        ("old.txt/x.txt", False, "Not a directory"),
        ("old.txt", True, "Not a directory"),
        ("old.txt/x", True, "Not a directory"),
        ("x" * 300, False, "File name too long"),
        ("x\0", False, "embedded null byte"),
    ],
)
def test_what_can_be_written(
    path: str, folder: bool, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("old.txt").write_text("kept")
    Path("there").mkdir()
    Path("link").symlink_to("old.txt")
    Path("dangling").symlink_to("there/new.txt")
    Path("far").symlink_to("none/new.txt")
    before = sorted(tmp_path.rglob("*"))
    assert unwritable(path, folder) == (f"cannot write {path or NAMELESS}: {why}" if why else "")
    assert sorted(tmp_path.rglob("*")) == before and Path("old.txt").read_text() == "kept"


def test_a_report_goes_to_stdout_or_to_a_file_that_can_be_written(tmp_path: Path) -> None:
    assert output("-") is None
    assert output(f"{tmp_path}/new.txt") == tmp_path / "new.txt"
    with pytest.raises(Unwritable, match=r"^cannot write .*: Is a directory$"):
        output(str(tmp_path))


@pytest.mark.parametrize(("path", "denied", "folder"), [("old", "old", 0), ("x", ".", 0), ("d/e", ".", 1)])
def test_what_may_not_be_written(
    path: str, denied: str, folder: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For root too, whom no mode of a file stops."""
    monkeypatch.chdir(tmp_path)
    Path("old").touch()
    asked = os.path.realpath(denied)
    monkeypatch.setattr(os, "access", lambda one, _: os.path.realpath(one) != asked)
    assert unwritable(path, bool(folder)) == f"cannot write {path}: Permission denied"
