# SPDX-License-Identifier: Apache-2.0
"""Campaigns on a local Dask cluster whose workers and scheduler are killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from layouts import Layout
from verify.campaign import command, executors
from verify.campaign.results import open_results
from verify.campaign.run import list_left
from verify.campaign.spec import read_campaigns
from verify.campaign.tasks import Implementation, LawTask, domain_of, parts
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

    def __init__(self, folder: Path, **settings: str) -> None:
        self.settings = settings  # of Dask, as variables of the environment
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

    def chunks_done(self) -> list[tuple[dict[str, float], int]]:
        """The resources of each worker, and how many calls it has made."""
        from distributed import Client

        def done(dask_worker: Any) -> tuple[dict[str, float], int]:
            return dict(dask_worker.state.total_resources), int(dask_worker.state.executed_count)

        with Client(self.address, set_as_default=False) as client:  # type: ignore[no-untyped-call]
            return list(client.run(done).values())  # type: ignore[no-untyped-call]

    def close(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()

    def _started(self, name: str, *options: str) -> subprocess.Popen[bytes]:
        call, env = [sys.executable, "-m", f"distributed.cli.{name}", *options], {**os.environ, **self.settings}
        return subprocess.Popen(call, cwd=ROOT, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    started = Cluster(tmp_path)
    try:
        for _ in range(2):
            started.worker()
        started.worker("--resources", "GPU=1")
        started.wait_for_workers(3)
        yield started
    finally:
        started.close()


def start_campaign(folder: Path, *options: str) -> subprocess.Popen[str]:
    (folder / "campaign.toml").write_text(SPEC)
    call = [sys.executable, "-m", "verify.campaign", str(folder / "campaign.toml"), "--format", "json", "--yes"]
    return subprocess.Popen([*call, *options], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def chunks(folder: Path) -> list[tuple[str, int]]:
    file = folder / "campaign.results.jsonl"
    lines = file.read_bytes().splitlines(keepends=True) if file.exists() else []
    entries = [json.loads(line) for line in lines if line.endswith(b"\n")]
    return [(entry["campaign"], entry["chunk"]) for entry in entries]


def wait_for(folder: Path, number: int, process: subprocess.Popen[str]) -> None:
    while len(chunks(folder)) < number and process.poll() is None:
        time.sleep(0.02)
    assert process.poll() is None


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> str:
    process = start_campaign(tmp_path_factory.mktemp("whole"), "--jobs", "1")
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return out


def test_a_worker_killed_mid_way_changes_nothing(cluster: Cluster, tmp_path: Path, whole: str) -> None:
    process = start_campaign(tmp_path, "--scheduler", cluster.address)
    wait_for(tmp_path, 3, process)
    cluster.workers[0].kill()
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out) == (0, whole), err
    assert len(set(chunks(tmp_path))) == len(chunks(tmp_path)) > 10
    assert "Traceback" not in err


def test_a_scheduler_that_has_gone_is_a_line_and_the_results_are_kept(
    cluster: Cluster, tmp_path: Path, whole: str
) -> None:
    process = start_campaign(tmp_path, "--scheduler", cluster.address)
    wait_for(tmp_path, 3, process)
    cluster.scheduler.kill()
    _, err = process.communicate(timeout=120)
    kept = chunks(tmp_path)
    assert process.returncode == 4 and len(set(kept)) == len(kept) >= 3
    lines = [line for line in err.splitlines() if " cases" not in line]
    assert len(lines) == 1 and lines[0].startswith("lanecheck: the workers have gone (")
    assert f"({len(kept)} chunks are kept in " in lines[0]
    process = start_campaign(tmp_path, "--jobs", "1")
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out) == (0, whole), err


def test_chunks_go_to_workers_with_a_resource(cluster: Cluster, tmp_path: Path, whole: str) -> None:
    with pytest.raises(UsageError, match=r"it has no workers with GPU=2"):
        with executors.cluster(cluster.address, {"GPU": 2}):
            pass
    process = start_campaign(tmp_path, "--scheduler", cluster.address, "--resources", "GPU=1")
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out) == (0, whole), err
    done = sorted(cluster.chunks_done(), key=lambda worker: worker[1])
    assert done == [({}, 0), ({}, 0), ({"GPU": 1.0}, len(chunks(tmp_path)))]


FATAL = """
import os
from pathlib import Path
from layouts import Layout, right_inverse
from layouts import composition as right
def composition(a, b):
    if os.path.exists(os.path.join(os.path.dirname(__file__), "kill")) and str((a, b)) == {pair!r}:
        os._exit(3)
    return right(a, b)
"""


def last_pair(folder: Path) -> str:
    """The first pair of the last chunk of pairs, in the order of a run."""
    specs = read_campaigns(folder / "campaign.toml").whole()
    listed = parts(specs[0], Implementation())
    with open_results(folder / "none.jsonl") as results:
        task = next(listed[p].tasks[n] for p, n in reversed(list_left(listed, results)) if not p)
    assert isinstance(task, LawTask) and isinstance(task.seconds, range)
    domain = domain_of(task.spec)
    return str((Layout(*domain[task.firsts[0]]), Layout(*domain[task.seconds[0]])))


def test_a_chunk_that_ends_every_worker_is_a_line_and_the_results_are_kept(tmp_path: Path) -> None:
    """Dask gives it to one other worker here, and to no third: KilledWorker."""
    (tmp_path / "campaign.toml").write_text(SPEC)
    (tmp_path / "fatal.py").write_text(FATAL.format(pair=last_pair(tmp_path)))
    (tmp_path / "kill").touch()
    cluster = Cluster(tmp_path, DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="1")
    options = ["--module", "fatal", "--path", str(tmp_path), "--allow-exec"]
    try:
        for _ in range(4):
            cluster.worker()
        cluster.wait_for_workers(4)
        process = start_campaign(tmp_path, *options, "--scheduler", cluster.address)
        _, err = process.communicate(timeout=120)
        ended = [worker.poll() for worker in cluster.workers]
    finally:
        cluster.close()
    assert sorted(ended, key=str) == [3, 3, None, None]
    kept = chunks(tmp_path)
    assert process.returncode == 4 and len(set(kept)) == len(kept) > 0
    lines = [line for line in err.splitlines() if " cases" not in line]
    assert lines == [
        "lanecheck: the workers have gone (KilledWorker); the same command goes on from here "
        f"({len(kept)} chunks are kept in campaign.results.jsonl)"
    ]
    (tmp_path / "kill").unlink()
    process = start_campaign(tmp_path, *options, "--jobs", "1")
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0 and set(kept) < set(chunks(tmp_path)), err


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
    process = start_campaign(tmp_path, "-q", "--scheduler", "foo")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, len(err.splitlines())) == (2, "", 1), err
