# SPDX-License-Identifier: Apache-2.0
"""Recording again on the GPU of the shipped recordings writes the same bytes, but for the day and its digest."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import gpu_checks
from gpu_checks import DeviceInfo, probe
from gpu_checks.recordings_io.lines import with_digest, without_digest
from gpu_checks.recordings_io.reader import SHIPPED

HOST = ("gpu", "sm", "driver", "cuda", "nvrtc")
DAY = re.compile(r'"date": "[0-9-]{10}"')


def timeless(file: Path) -> list[str]:
    """The lines of a file without the day, each with its new digest."""
    return [with_digest(DAY.sub('"date": ""', without_digest(line))) for line in file.read_text("utf-8").splitlines()]


def differing(again: Path, shipped: Path) -> list[str]:
    """The differences: the start of each line that is in one file only."""
    alone = set(timeless(again)) ^ set(timeless(shipped))
    return sorted(line[:90] for line in alone)


def head(file: Path) -> dict[str, object]:
    with file.open(encoding="utf-8") as lines:
        return dict(json.loads(next(lines)))


def test_another_day_is_no_difference_and_another_value_is(tmp_path):
    shipped = SHIPPED / "nvidia_h200_movmatrix_sync.jsonl"
    again = tmp_path / shipped.name
    lines = [without_digest(line) for line in shipped.read_text().splitlines()]
    again.write_text("".join(with_digest(DAY.sub('"date": "2031-01-31"', line)) + "\n" for line in lines))
    assert again.read_bytes() != shipped.read_bytes() and differing(again, shipped) == []
    again.write_text("".join(with_digest(line.replace('"trials": 8', '"trials": 9')) + "\n" for line in lines))
    assert len(differing(again, shipped)) == 2
    again.write_text("".join(with_digest(line) + "\n" for line in lines))
    assert again.read_bytes() == shipped.read_bytes()


@pytest.mark.gpu
@pytest.mark.slow
def test_every_instruction_is_recorded_again_as_it_is_shipped(tmp_path):
    info, files = gpu_checks.device_info(), sorted(SHIPPED.glob("*.jsonl"))
    assert isinstance(info, DeviceInfo)
    known = head(files[0])
    differences = [
        f"{key} {getattr(info, key)} instead of {known[key]}" for key in HOST if getattr(info, key) != known[key]
    ]
    if differences:
        pytest.skip(f"gpu: the shipped recordings are of another machine: {', '.join(differences)}")
    assert probe.main(["--all", "-q", "--allow-unchecked", "-o", str(tmp_path)]) == 0
    assert sorted(file.name for file in tmp_path.glob("*.jsonl")) == [file.name for file in files]
    assert {file.name: differing(tmp_path / file.name, file) for file in files} == {file.name: [] for file in files}
    assert probe.main(["--check", str(tmp_path)]) == 0
