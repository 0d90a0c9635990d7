# SPDX-License-Identifier: Apache-2.0
"""Campaigns on a local Dask cluster whose workers and scheduler are killed."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from verify.campaign import command, executors
from verify.core.errors import UsageError

ROOT = Path(__file__).parents[3]
SPEC = """
["pairs"]
kind    = "laws"
laws    = ["composition", "right_inverse"]
rank    = 2
size    = 16
extents = [2, 4, 8]
strides = [0, 1, 2, 4, 6, 8, 12, 16]
"""
pytestmark = pytest.mark.slow
pytest.importorskip("distributed", reason="distributed is in the extra cluster")


class Cluster:
    """A scheduler and workers, a process each."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "scheduler.json"
        options = ["--port", "0", "--host", "127.0.0.1", "--scheduler-file", str(self.file), "--no-dashboard"]
        self.scheduler = self._started("dask_scheduler", *options)
        self.workers: list[subprocess.Popen[bytes]] = []
        begun = time.monotonic()
        while not self.file.exists() or not self.file.read_text().endswith("}"):
            assert time.monotonic() - begun < 60
            time.sleep(0.1)
        self.address: str = json.loads(self.file.read_text())["address"]

    def worker(self, *options: str) -> None:
        """Add a worker of one thread."""
        fixed = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1"]
        self.workers.append(self._started("dask_worker", self.address, *fixed, *options))

    def wait_for_workers(self, workers: int) -> None:
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:  # type: ignore[no-untyped-call]
            client.wait_for_workers(workers, timeout=60)  # type: ignore[no-untyped-call]

    def close(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()

    @staticmethod
    def _started(name: str, *options: str) -> subprocess.Popen[bytes]:
        call = [sys.executable, "-m", f"distributed.cli.{name}", *options]
        return subprocess.Popen(call, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    found = Cluster(tmp_path)
    try:
        for _ in range(2):
            found.worker()
        found.worker("--resources", "GPU=1")
        found.wait_for_workers(3)
        yield found
    finally:
        found.close()


def started(folder: Path, *options: str) -> subprocess.Popen[str]:
    (folder / "campaign.toml").write_text(SPEC)
    call = [sys.executable, "-m", "verify.campaign", str(folder / "campaign.toml"), "--format", "json", "--yes"]
    return subprocess.Popen([*call, *options], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def chunks(folder: Path) -> list[tuple[str, int]]:
    file = folder / "campaign.results.jsonl"
    lines = file.read_bytes().splitlines(keepends=True) if file.exists() else []
    found = [json.loads(line) for line in lines if line.endswith(b"\n")]
    return [(one["campaign"], one["chunk"]) for one in found]


def wait_for(folder: Path, number: int, process: subprocess.Popen[str]) -> None:
    while len(chunks(folder)) < number and process.poll() is None:
        time.sleep(0.02)
    assert process.poll() is None


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> str:
    process = started(tmp_path_factory.mktemp("whole"), "--jobs", "1")
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return out


def test_a_worker_killed_mid_way_changes_nothing(cluster: Cluster, tmp_path: Path, whole: str) -> None:
    process = started(tmp_path, "--scheduler", cluster.address)
    wait_for(tmp_path, 3, process)
    cluster.workers[0].kill()
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out) == (0, whole), err
    assert len(set(chunks(tmp_path))) == len(chunks(tmp_path)) > 10
    assert "Traceback" not in err


def test_a_scheduler_that_has_gone_is_a_line_and_the_results_are_kept(
    cluster: Cluster, tmp_path: Path, whole: str
) -> None:
    process = started(tmp_path, "--scheduler", cluster.address)
    wait_for(tmp_path, 3, process)
    cluster.scheduler.kill()
    _, err = process.communicate(timeout=120)
    kept = chunks(tmp_path)
    assert process.returncode == 4 and len(set(kept)) == len(kept) >= 3
    lines = [line for line in err.splitlines() if " cases" not in line]
    assert len(lines) == 1 and lines[0].startswith("lanecheck: the workers have gone (")
    assert f"({len(kept)} chunks are kept in " in lines[0]
    process = started(tmp_path, "--jobs", "1")
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out) == (0, whole), err


def test_chunks_go_to_workers_with_a_resource(cluster: Cluster, tmp_path: Path, whole: str) -> None:
    with pytest.raises(UsageError, match=r"it has no workers with GPU=2"):
        with executors.cluster(cluster.address, {"GPU": 2}):
            pass
    cluster.workers[0].kill()
    process = started(tmp_path, "--scheduler", cluster.address, "--resources", "GPU=1")
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out) == (0, whole), err


def test_a_scheduler_that_is_not_there_is_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(executors, "CONNECTING", 1)
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "campaign.toml"
    file.write_text(SPEC)
    assert command.main([str(file), "-q", "--scheduler", "tcp://127.0.0.1:9"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and len(err.splitlines()) == 1
    assert err.startswith("lanecheck: --scheduler tcp://127.0.0.1:9: does not answer (")
    assert command.main([str(file), "-q", "--scheduler", "nonsense://"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    process = started(tmp_path, "-q", "--scheduler", "foo")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, len(err.splitlines())) == (2, "", 1), err
