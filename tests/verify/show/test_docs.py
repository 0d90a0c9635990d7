# SPDX-License-Identifier: Apache-2.0
"""docs/show.md: its pictures are what its commands draw. `LANECHECK_SNAPSHOTS=update` draws them anew."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest

from verify.kernel.command import main as verify_kernel
from verify.show.command import main

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs" / "show.md").read_text(encoding="utf-8")
(REPORT,) = [shlex.split(line) for line in re.findall(r"^lanecheck kernel (.*)$", TEXT, re.MULTILINE)]
COMMANDS = [shlex.split(line) for line in re.findall(r"^lanecheck show (.*)$", TEXT, re.MULTILINE)]


@pytest.mark.long
@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: Path(words[-1]).stem)
def test_a_picture_is_what_its_command_draws(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    if words[0] == REPORT[-1]:
        words = [str(tmp_path / REPORT[-1]), *words[1:]]
        assert verify_kernel([*REPORT[:-1], words[0]]) == 1
    picture = ROOT / words[-1]
    update = os.environ.get("LANECHECK_SNAPSHOTS") == "update"
    drawn = picture if update else tmp_path / "drawn.svg"
    assert main([*words[:-1], str(drawn)]) in (0, 1)
    assert drawn.read_bytes() == picture.read_bytes()


def test_every_picture_is_shown_and_drawn_by_a_command() -> None:
    drawn = {Path(words[-1]).name for words in COMMANDS}
    assert drawn == {path.name for path in (ROOT / "docs" / "pictures").iterdir()} and len(drawn) > 4
    pages = TEXT + (ROOT / "README.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"pictures/([\w-]+\.svg)\)", pages)) | set(re.findall(r"pictures/([\w-]+\.svg)\"", pages))
    assert shown == drawn
