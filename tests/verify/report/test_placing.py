# SPDX-License-Identifier: Apache-2.0
"""Places: the line of each subject and of its operands, also of the members of a family."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.verify.atom.test_command import ENTRY, RIGHT_B, user_file
from verify.__main__ import main as lanecheck

MAP = """["one"]
ptx     = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
operand = "C"
row     = "lane/4 + 8*(i/2)"
col     = "lane%4*2 + i%2"
lang    = "c"
"""


def places(line: list[str], capsys: pytest.CaptureFixture[str]) -> list[tuple[str, int, dict[str, int]]]:
    """Name, line, and the line of each part, of each subject in JSON."""
    assert lanecheck([*line, "--format", "json"]) == 0
    subjects = json.loads(capsys.readouterr().out)["subjects"]
    return [(s["name"], s["place"]["line"], {v["part"]: v["place"]["line"] for v in s["verdicts"]}) for s in subjects]


def test_a_member_of_a_family_has_the_lines_of_the_family(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = ENTRY.format(number="{X}", B=RIGHT_B).lstrip() + "params = { X = [1, 2] }\n"
    placed = places(["atom", user_file(tmp_path, text=text)], capsys)
    assert [(name, line) for name, line, _ in placed] == [("MINE_1", 1), ("MINE_2", 1)]
    assert all(parts["A"] == 6 and parts["C"] == 8 for _, _, parts in placed)


def test_a_map_of_one_operand_has_the_line_of_its_first_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "map.toml"
    path.write_text(MAP, encoding="utf-8")
    assert places(["index", str(path)], capsys) == [("one", 1, {"C": 4})]
