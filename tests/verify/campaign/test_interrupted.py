# SPDX-License-Identifier: Apache-2.0
"""Campaigns in processes that are killed, interrupted, or run out of disk: what was found is kept."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from verify.campaign import tasks
from verify.campaign.results import open_results
from verify.campaign.tally import Tally

ROOT = Path(__file__).parents[3]
SPEC = """
["layouts"]
kind    = "laws"
laws    = ["coalesce"]
rank    = 3
size    = 24
extents = [1, 2, 3, 4, 6]
strides = [0, 1, 2, 3, 4, 6, 8, 12]
"""
LOGGING = """
import os, time
from layouts import Layout, coalesce as right
pause = float(os.environ.get("PAUSE", 0))
log = os.open(os.environ["CALLS"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
def coalesce(a):
    os.write(log, f"{a}\\n".encode())
    time.sleep(pause)
    return right(a)
"""
JOBS = 2
IN_FLIGHT = 2 * JOBS  # chunks, by docs/campaign.md: two for each worker


class Campaign:
    """A campaign of a module that logs its calls, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder, self.results, self.calls = folder, folder / "r.jsonl", folder / "calls"
        (folder / "campaign.toml").write_text(SPEC)
        (folder / "logging_layouts.py").write_text(LOGGING)

    def command(self) -> list[str]:
        """The command, but for the file of results."""
        options = ["--module", "logging_layouts", "--path", str(self.folder), "--jobs", str(JOBS), "--format", "json"]
        process = [sys.executable, "-m", "verify.campaign", str(self.folder / "campaign.toml")]
        return [*process, "--yes", "--allow-exec", *options]

    def environment(self, pause: float = 0) -> dict[str, str]:
        """The environment in which the module logs its calls, and waits some seconds in each."""
        # half of a .pyc, as a full disk leaves it, would end every later import
        return {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "CALLS": str(self.calls), "PAUSE": str(pause)}

    def started(self, pause: float = 0, **more: Any) -> subprocess.Popen[str]:
        """The campaign as a process whose module waits some seconds in every call."""
        return subprocess.Popen(
            [*self.command(), "--results", str(self.results)],
            env=self.environment(pause),
            cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more,
        )  # fmt: skip

    def finished(self, **more: Any) -> tuple[int, str, str]:
        process = self.started(**more)
        out, err = process.communicate(timeout=300)
        return process.returncode, out, err

    def chunks(self) -> list[int]:
        """The chunks with a whole line."""
        lines = self.results.read_bytes().splitlines(keepends=True) if self.results.exists() else []
        return [json.loads(line)["chunk"] for line in lines if line.endswith(b"\n")]

    def wait_for(self, chunks: int, process: subprocess.Popen[str]) -> None:
        """Wait until some more chunks are done, or the process has ended."""
        while len(self.chunks()) < chunks and process.poll() is None:
            time.sleep(0.01)


def list_children(pid: int) -> list[int]:
    listed = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(word) for word in listed.read_text().split()] if listed.exists() else []


def gone(pid: int) -> bool:
    """Whether a process has ended, reaped or not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def twice(calls: Path) -> int:
    """How many calls were made more than once, counted as often."""
    return sum(n - 1 for n in Counter(calls.read_text().splitlines()).values())


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, str]:
    """The exit code and the report of a run that nothing interrupts."""
    campaign = Campaign(tmp_path_factory.mktemp("whole") / "campaign")
    code, out, err = campaign.finished()
    assert code == 0, err
    assert twice(campaign.calls) <= 2 * len(campaign.chunks())  # the confirmed case that is decided again
    return code, out


pytestmark = [pytest.mark.slow, pytest.mark.skipif(not Path("/proc").exists(), reason="children are found in /proc")]


def test_a_run_killed_at_random_times_goes_on_and_counts_nothing_twice(tmp_path: Path, whole: tuple[int, str]) -> None:
    campaign, source, kills = Campaign(tmp_path / "c"), Random(time.time_ns()), 0
    while True:
        process = campaign.started()
        campaign.wait_for(len(campaign.chunks()) + 3, process)
        time.sleep(source.random() * 0.1)
        workers = list_children(process.pid)
        if process.poll() is not None:
            break
        process.kill()
        process.communicate()
        kills += 1
        begun = time.monotonic()
        while not all(map(gone, workers)):  # nothing goes on without the process that counts
            assert time.monotonic() - begun < 30
            time.sleep(0.05)
        campaign.results.write_bytes(campaign.results.read_bytes() + b'{"campaign": "torn')
    out, _ = process.communicate()
    assert (process.returncode, out) == whole
    assert kills > 0 and sorted(campaign.chunks()) == list(range(len(campaign.chunks())))
    most = tasks.ROW + 2  # calls of a chunk, with those that are decided again
    assert twice(campaign.calls) <= kills * IN_FLIGHT * most + 2 * len(campaign.chunks())


def test_ctrl_c_keeps_the_results(tmp_path: Path, whole: tuple[int, str]) -> None:
    campaign = Campaign(tmp_path / "c")
    process = campaign.started(pause=0.001)  # it is not done before the signal comes
    campaign.wait_for(2, process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130 and "Traceback" not in err
    kept = len(campaign.chunks())
    assert err.splitlines()[-1] == f"lanecheck: interrupted ({kept} chunks are kept in {campaign.results})"
    part = json.loads(out)["parts"][0]
    assert 0 < part["cases"] < part["of"] and part["status"] == "UNKNOWN"
    assert campaign.finished()[:2] == whole


def test_a_worker_that_is_killed_is_a_line_and_the_results_are_kept(tmp_path: Path, whole: tuple[int, str]) -> None:
    campaign = Campaign(tmp_path / "c")
    process = campaign.started(pause=0.001)  # it is not done before the signal comes
    campaign.wait_for(2, process)
    os.kill(list_children(process.pid)[-1], signal.SIGKILL)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 4 and "Traceback" not in err
    assert "the workers have gone (BrokenProcessPool); the same command goes on from here" in err.splitlines()[-1]
    assert campaign.finished()[:2] == whole


def test_a_full_disk_is_a_line_and_the_results_are_kept(tmp_path: Path, whole: tuple[int, str]) -> None:
    campaign = Campaign(tmp_path / "c")
    limit = 1500  # bytes: some lines, and not the next one

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    (campaign.folder / "logging_layouts.py").write_text("from layouts import Layout, coalesce\n")
    code, out, err = campaign.finished(preexec_fn=limited)
    kept = campaign.chunks()
    assert code == 2 and 0 < len(kept) and campaign.results.read_bytes().endswith(b"\n")
    why = f"cannot write {campaign.results}: File too large"
    assert err.splitlines()[-1] == f"lanecheck: {why} ({len(kept)} chunks are kept in {campaign.results})"
    assert json.loads(out)["parts"][0]["status"] == "UNKNOWN"
    code, out, _ = campaign.finished()
    assert (code, json.loads(out)["parts"]) == (0, json.loads(whole[1])["parts"])


def test_a_file_system_without_room_is_a_line_and_the_results_are_kept(tmp_path: Path, whole: tuple[int, str]) -> None:
    """A file system of one page of memory, which other results have filled but for some lines."""
    campaign, disk = Campaign(tmp_path / "c"), tmp_path / "disk"
    disk.mkdir()
    with open_results(campaign.results) as results:
        for chunk in range(18):
            results.append("another campaign", chunk, Tally(3, 3))
    before = campaign.results.read_bytes()
    assert 2900 < len(before) < 3400  # of 4096
    mounted = 'mount -t tmpfs -o size=4k none "$0" && cp "$1" "$0"'
    alone = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    given = [str(disk), str(campaign.results)]
    if (
        not shutil.which("unshare")
        or subprocess.run([*alone, mounted, *given], capture_output=True, check=False).returncode
    ):
        pytest.skip("this system lets nobody but root mount a file system")
    call = [*campaign.command(), "--results", str(disk / "r.jsonl")]
    script = f'{mounted} && {{ shift; "$@"; code=$?; cp "$0/r.jsonl" "$0.kept"; exit $code; }}'
    process = [*alone, script, *given, *call]
    done = subprocess.run(process, env=campaign.environment(), cwd=ROOT, capture_output=True, text=True, check=False)
    kept = (tmp_path / "disk.kept").read_bytes()
    assert done.returncode == 2 and kept.startswith(before) and kept.endswith(b"\n") and len(kept) > len(before)
    chunks = len(kept.splitlines()) - len(before.splitlines())
    why = f"cannot write {disk}/r.jsonl: No space left on device"
    assert done.stderr.splitlines()[-1] == f"lanecheck: {why} ({chunks} chunks are kept in {disk}/r.jsonl)"
    campaign.results.write_bytes(kept)
    assert campaign.finished()[:2] == whole


PLANTED = """
from layouts import Layout, coalesce as right
def coalesce(a):
    return Layout(6, 2) if a == Layout((2, 3), (1, 2)) else right(a)
"""
FAILING = {
    "hangs": ("import time\n", "time.sleep(1000)", "UNCHECKED", "not done after 1 s (--budget)"),
    "exits": ("", "raise SystemExit(3)", "REFUTED", ""),
    "dies": ("import os\n", "os._exit(3)", "UNKNOWN", ""),
}


def test_one_planted_wrong_stride_is_refuted(tmp_path: Path, whole: tuple[int, str]) -> None:
    campaign = Campaign(tmp_path / "c")
    (campaign.folder / "logging_layouts.py").write_text(PLANTED)
    code, out, _ = campaign.finished()
    part, right = json.loads(out)["parts"][0], json.loads(whole[1])["parts"][0]
    assert code == 1 and part["refuted"] == 1 and part["confirmed"] == right["confirmed"] - 1
    assert part["smallest"]["case"] == "coalesce((2,3):(1,2))"
    assert part["smallest"]["fault"] == "-> 6:2: R(1) = 2, L(1) = 1"


@pytest.mark.parametrize("how", FAILING)
def test_an_implementation_that_fails_is_no_pass(tmp_path: Path, how: str) -> None:
    campaign = Campaign(tmp_path / "c")
    first, call, status, why = FAILING[how]
    text = f"{first}from layouts import Layout\ndef coalesce(a):\n    {call}\n"
    (campaign.folder / "logging_layouts.py").write_text(text)
    process = [sys.executable, "-m", "verify.campaign", str(campaign.folder / "campaign.toml"), "--jobs", "2"]
    options = ["--module", "logging_layouts", "--path", str(campaign.folder), "--budget", "1"]
    done = subprocess.run([*process, *options], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == (1 if status == "REFUTED" else 4) and "Traceback" not in done.stderr
    assert f"layouts: coalesce  {status}" in done.stdout or "the workers have gone" in done.stderr
    assert why in done.stdout


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path: Path) -> Iterator[None]:
    yield
    assert not list(tmp_path.rglob("__pycache__"))
