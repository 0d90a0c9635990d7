# SPDX-License-Identifier: Apache-2.0
"""The pool of processes: it ends with its block, and with its parent."""

import ast
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from lanecheck.console.processes import ignore_interruption, processes

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
ROOT = Path(__file__).parents[3]
POOLS = {  # other pools, and why they are no pool of processes of ours
    "gpu_checks/device/gpu.py": "threads, each of which waits for a compiler",
    "gpu_checks/device/sass.py": "threads, each of which waits for a disassembler",
    "gpu_checks/probe.py": "threads, each of which waits for a worker",
    "gpu_checks/tilings/runner.py": "threads, each of which waits for a compiler",
}


def test_every_other_pool_has_a_reason() -> None:
    pools = {"ProcessPoolExecutor", "ThreadPoolExecutor", "Pool"}
    files = set()
    for package in ("lanecheck", "verify", "proofs", "gpu_checks", "layouts", "isa_tables"):
        for path in (ROOT / package).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            for node in ast.walk(ast.parse(text)) if "Pool" in text else ():
                if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in pools:
                    files.add(path.relative_to(ROOT).as_posix())
    assert files == {"lanecheck/console/processes.py", *POOLS}


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # pytest's own threads
def test_an_exception_ends_the_processes_at_once() -> None:
    started = time.monotonic()
    with pytest.raises(RuntimeError, match="planted"), processes(1, begin=partial(time.sleep, 0)) as pool:
        pool.submit(time.sleep, 60)
        raise RuntimeError("planted")
    assert not multiprocessing.active_children()
    assert time.monotonic() - started < 30


def test_a_process_ends_with_its_parent() -> None:
    """The parent is killed, so that nothing of its own can end the child."""
    lines = (
        "import os, time",
        "from lanecheck.console.processes import processes",
        "with processes(1, begin=lambda: None) as pool:",
        "    print(pool.submit(os.getpid).result(), flush=True)",
        "    time.sleep(60)",
    )
    with subprocess.Popen([sys.executable, "-c", "\n".join(lines)], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.kill()
    deadline = time.monotonic() + 30
    while Path(f"/proc/{child}").exists() and " Z " not in Path(f"/proc/{child}/stat").read_text():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_an_interruption_is_ignored_within_the_block_alone() -> None:
    before = signal.getsignal(signal.SIGINT)
    with ignore_interruption():
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    assert signal.getsignal(signal.SIGINT) is before
