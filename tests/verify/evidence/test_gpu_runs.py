# SPDX-License-Identifier: Apache-2.0
"""Recorded runs of tilings: a damaged one is one line."""

from __future__ import annotations

from pathlib import Path

import pytest

import gpu_checks.tilings
from gpu_checks.tilings import store as tilings
from verify.evidence import gpu_runs
from verify.tiling import command as tiling


def test_a_damaged_recording_of_ours_is_one_line_and_exit_2(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (tilings.RECORDINGS / "nvidia_h200.jsonl").read_text()
    (tmp_path / "cut.jsonl").write_text(text[:-1000])
    monkeypatch.setattr(gpu_checks.tilings, "recordings_of_tilings", lambda: tilings.recordings_of_tilings(tmp_path))
    gpu_runs.runs.cache_clear()
    assert tiling.main(["examples/tilings.toml"]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"lanecheck: {tmp_path / 'cut.jsonl'}:31: the last line does not end: it was cut")
    assert err.count("\n") == 1
