# SPDX-License-Identifier: Apache-2.0
"""`lanecheck show --png`: the same picture by resvg, which is an extra."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import pytest

from verify.show.command import main

LAYOUT = ["((2,2),2):((4,1),2)", "--onto", "4x2"]


def test_a_png_has_the_size_and_the_colours_of_the_picture(tmp_path: Path) -> None:
    pytest.importorskip("resvg_py", reason="resvg-py is not installed (the extra png has it)")
    path, drawn = tmp_path / "one.png", tmp_path / "one.svg"
    assert main([*LAYOUT, "--png", "-o", str(path)]) == main([*LAYOUT, "--svg", "-o", str(drawn)]) == 0
    data, text = path.read_bytes(), drawn.read_text(encoding="utf-8")
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", data[16:24])
    assert f'width="{width}' in text and f'height="{height}' in text
    assert len(data) > 4000  # without its style every cell would be black


def test_without_resvg_a_message_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    assert main([*LAYOUT, "--png", "-o", str(tmp_path / "one.png")]) == 2
    assert "--png needs resvg: pip install 'lanecheck[png]', or draw with --svg" in capsys.readouterr().err
    assert not (tmp_path / "one.png").exists()


def test_a_png_needs_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*LAYOUT, "--png"]) == 2
    assert "a PNG is written to a file: add -o FILE.png" in capsys.readouterr().err
