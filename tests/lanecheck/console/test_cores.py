# SPDX-License-Identifier: Apache-2.0
"""How many processes can work at once: no more than the cores of this process, nor than its cgroup grants."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lanecheck.console import cores


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({}, 8),
        ({"a/b": "max 100000"}, 8),
        ({"a/b": "300000 100000"}, 3),
        ({"a/b": "150000 100000"}, 1),
        ({"a/b": "50000 100000"}, 1),
        ({"a": "200000 100000", "a/b": "max 100000"}, 2),
        ({"a": "400000 100000", "a/b": "300000 100000"}, 3),
        ({"": "200000 100000"}, 2),
        ({"a/b": "nonsense"}, 8),
    ],
)
def test_the_smallest_limit_counts(
    limits: dict[str, str], expected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tree/a/b").mkdir(parents=True)
    (tmp_path / "own").write_text("1:name=systemd:/elsewhere\n0::/a/b\n")
    for place, text in limits.items():
        (tmp_path / "tree" / place / "cpu.max").write_text(f"{text}\n")
    monkeypatch.setattr(cores, "CGROUPS", tmp_path / "tree")
    monkeypatch.setattr(cores, "OWN", tmp_path / "own")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    assert cores.cores() == expected


def test_without_cgroups_the_cores_of_the_process_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores, "OWN", tmp_path / "none")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3}, raising=False)
    assert cores.cores() == 1
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    assert cores.cores() == 6
