# SPDX-License-Identifier: Apache-2.0
"""docs/tiling.md shows what is printed, and its file is verified."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from verify.tiling import command as tiling

HERE = Path(__file__).parent
TEXT = (HERE.parents[2] / "docs" / "tiling.md").read_text(encoding="utf-8")


def block(start: str) -> str:
    """The fenced block that begins with a text."""
    return next(fenced for fenced in re.findall(r"```\w*\n(.*?)```", TEXT, re.DOTALL) if fenced.startswith(start))


def test_the_refutation_is_what_is_printed() -> None:
    assert block("museum_25") in (HERE / "snapshots" / "wrong.txt").read_text(encoding="utf-8")


def test_the_file_is_verified(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "tilings.toml"
    path.write_text(block('["my_tiling"]'), encoding="utf-8")
    assert tiling.main([str(path), "-q"]) == 0
    assert "1 subject: 1 verified" in capsys.readouterr().out
