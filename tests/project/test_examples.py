# SPDX-License-Identifier: Apache-2.0
"""Every file in examples/ is verified by the command that it names; the repository examples/guest has its own test."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from verify.__main__ import main as lanecheck

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = [
    pytest.param(path, marks=pytest.mark.slow) if path.name == "campaign.toml" else path
    for path in sorted((ROOT / "examples").iterdir())
    if path.is_file()
]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_is_verified(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    match = re.search(r"^#     lanecheck (\S+) (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert match is not None and path.name in match[2]
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)  # a campaign writes its results there
    assert lanecheck([match[1], *shlex.split(match[2])]) == 0
    out = capsys.readouterr().out
    last = out.rstrip().splitlines()[-1]  # of a campaign: mutants above it are refuted
    assert "verified" in out and not re.search(r"\b[1-9]\d* (?:refuted|unknown)\b", last)
