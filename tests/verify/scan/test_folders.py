# SPDX-License-Identifier: Apache-2.0
"""Folders that are no tidy checkout: more headers than are read, links in a circle, files that vanish."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from verify.scan import checkout
from verify.scan.command import main
from verify.scan.program import Program
from verify.scan.text import Header

HEADERS = Path(__file__).parents[3] / "examples" / "headers"
NAMED = {"one.hpp": "int", "other.hpp": "float"}  # header -> its type


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """A folder with four checkouts of three headers."""
    for name in ("a", "b", "c", "d"):
        shutil.copytree(HEADERS, tmp_path / name)
    return tmp_path


def read_printed(capsys: pytest.CaptureFixture[str]) -> str:
    captured = capsys.readouterr()
    assert "internal error" not in captured.err and "Traceback" not in captured.err
    return " ".join(captured.out.split())


def test_a_folder_with_more_headers_than_are_read_says_so_and_is_no_pass(
    many: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(many / "a"), "--max-files", "3"]) == 0
    assert "stopped" not in read_printed(capsys)
    for options in ((), ("--only", "own::LOAD_X4")):
        assert main([str(many), "--max-files", "3", *options]) == 4
        text = read_printed(capsys)
        assert (
            text.count("stopped after 3 headers, there are more: raise --max-files 3") == 2
        )  # its line, the last line
        assert "1 subjects: 1 verified" not in text
    assert main([str(many), "--max-files", "12"]) == 0
    assert main([str(many / "a"), str(many / "b"), "--max-files", "5"]) == 4
    assert "stopped after 5 headers" in read_printed(capsys)


def test_files_that_are_no_headers_are_counted_too(
    many: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkout, "LOOKED_AT", 5)
    for number in range(100):
        (many / "b" / f"{number}.txt").write_text("")
    assert main([str(many), "--max-files", "12"]) == 4
    assert "stopped after 3 headers" in read_printed(capsys)
    assert main([str(many / "b"), "--max-files", "12"]) == 2
    assert "no header is there among its first 60 files: raise --max-files 12" in capsys.readouterr().err


def test_a_folder_of_toml_files_says_how_they_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 2
    assert capsys.readouterr().err.endswith("no header is there\n")
    (tmp_path / "atoms.toml").write_text("", encoding="utf-8")
    assert main([str(tmp_path)]) == 2
    assert capsys.readouterr().err.endswith(f"no header is there; its TOML files are read as {tmp_path / '*.toml'}\n")


def test_changes_of_a_part_are_refused(many: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--diff", str(many / "a"), str(many), "--max-files", "3"]) == 2
    assert "stopped after 3 headers, there are more: raise --max-files 3" in capsys.readouterr().err


def test_links_in_a_circle_are_one_line_each(many: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (many / "a" / "atom" / "again").symlink_to(many)
    assert main([str(many / "a")]) == 0
    (many / "a" / "atom" / "mma_traits_x.hpp").symlink_to(many / "a" / "atom" / "mma_traits_y.hpp")
    (many / "a" / "atom" / "mma_traits_y.hpp").symlink_to(many / "a" / "atom" / "mma_traits_x.hpp")
    capsys.readouterr()
    assert main([str(many / "a")]) == 4
    text = read_printed(capsys)
    assert text.count("it can't be read: a link in a circle, or to nothing") == 3  # two lines, and the last one
    assert main([str(many / "a" / "atom" / "mma_traits_x.hpp")]) == 2
    assert "there is no such file or folder" in capsys.readouterr().err


def test_a_header_that_vanishes_after_the_walk_is_one_line(
    many: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    walk = checkout.walk

    def walked(folder: Path, problems: list) -> Iterator[Path]:
        yield from walk(folder, problems)
        (many / "a" / "atom" / "copy_traits_own.hpp").unlink()

    monkeypatch.setattr(checkout, "walk", walked)
    assert main([str(many / "a")]) == 4
    text = read_printed(capsys)
    assert "copy_traits_own.hpp:1:1: " in text and "it can't be read: No such file or directory" in text


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every folder")
def test_a_folder_that_cannot_be_listed_is_one_line(many: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (many / "a" / "atom").chmod(0)
    try:
        assert main([str(many)]) == 4
    finally:
        (many / "a" / "atom").chmod(0o755)
    assert "it can't be read: Permission denied" in read_printed(capsys)


def test_of_two_aliases_of_one_name_that_of_the_own_header_is_meant_and_of_structs_all_are() -> None:
    texts = {name: f"namespace own {{ using T = {kind}; struct S<{kind}> {{}}; }}" for name, kind in NAMED.items()}
    program, headers = Program(), [Header(name, text) for name, text in texts.items()]
    for header in headers:
        program.add(header)
    for header in headers:
        space = program.root.inner["own"]
        (aliases, _), (structs, _) = program.find("T", space, header), program.find("S", space, header)
        assert [alias.header for alias in aliases] == [header]
        assert [struct.header for struct in structs] == headers
