# SPDX-License-Identifier: Apache-2.0
"""docs/maps.md: each of its commands does what the page says, its file and its Python too."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from verify import verify_index
from verify.__main__ import main

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs" / "maps.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^python -m verify\.(.+)$", TEXT, re.MULTILINE)


@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_of_the_page_verifies(
    words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    assert len(COMMANDS) == 10
    assert main(shlex.split(words)) == 0
    assert capsys.readouterr().out.endswith("exit 0\n")


def test_the_refutation_of_the_page_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    block = TEXT.partition("$ python -m verify.")[2].partition("```")[0]
    command, *lines = block.strip().splitlines()
    assert main(shlex.split(command)) == 1
    printed = " ".join(capsys.readouterr().out.split())
    assert len(lines) == 4
    assert all(" ".join(line.split()) in printed for line in lines)


def test_the_message_of_the_page_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    mma = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
    assert main(["index", "--ptx", mma, "--operand", "C", "--row", "lane//4", "--col", "i % 4"]) == 2
    message = next(line for line in TEXT.splitlines() if line.startswith("    lanecheck: "))
    assert capsys.readouterr().err == f"{message.strip()}\n"


def test_the_file_of_the_page_is_verified(tmp_path: Path) -> None:
    path = tmp_path / "maps.toml"
    path.write_text(re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)[0], encoding="utf-8")
    report = verify_index(path)
    assert [case.status for case in report.cases] == ["VERIFIED", "VERIFIED"]


def test_the_python_of_the_page_runs() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    names: dict[str, object] = {}
    exec(compile(code.replace("verify_index(ptx", "found = verify_index(ptx"), "maps.md", "exec"), names)
    assert str(names["found"]) == "0"
