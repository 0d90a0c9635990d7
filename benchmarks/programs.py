# SPDX-License-Identifier: Apache-2.0
"""Fresh interpreters as users start them: run, or run and observed: CPU seconds, seconds by the clock, memory."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from resource import RUSAGE_CHILDREN, getrusage
from threading import Event, Thread
from typing import NamedTuple

OFTEN = 0.02  # seconds from one sample of memory to the next
Ended = subprocess.CompletedProcess[str]


class ProgramFailed(RuntimeError):
    """A program that was to be measured ended with another exit code than 0, or its memory cannot be read."""


class Observed(NamedTuple):
    """What a program took, with the processes that it starts."""

    cpu: float  # seconds of all processes together
    wall: float  # seconds by the clock
    memory: float  # MiB, the most at any sample: PSS of all processes together, so that shared pages count once
    output: str


def process(*words: str) -> Callable[[], Ended]:
    """A function that runs a fresh interpreter with these arguments; it raises ProgramFailed."""
    return program(sys.executable, *words)


def program(*words: str) -> Callable[[], Ended]:
    """A function that runs a program; it raises ProgramFailed."""
    return lambda: _ended(_started(words, {}), words)


def observed(*arguments: str, **variables: str) -> Observed:
    """Run a fresh interpreter with these arguments and variables, and observe it. Raises ProgramFailed."""
    words = (sys.executable, *arguments)
    most, done = 0.0, Event()

    def watch() -> None:
        nonlocal most
        pause = OFTEN / 16  # a short program has samples too
        while not done.is_set():
            most = max(most, sum(map(_pss, _tree(running.pid))))
            done.wait(pause)
            pause = min(2 * pause, OFTEN)

    before, started = cpu_seconds(), time.perf_counter()
    running = _started(words, variables)
    watcher = Thread(target=watch)
    watcher.start()
    try:
        ended = _ended(running, words)
        wall = time.perf_counter() - started
    finally:
        done.set()
        watcher.join()
    if not most:
        raise ProgramFailed("memory cannot be read: this system has no /proc/PID/smaps_rollup")
    return Observed(cpu_seconds() - before, wall, most, ended.stdout)


def cpu_seconds() -> float:
    """The CPU seconds that the processes took which this one has started and waited for, with theirs."""
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _started(words: tuple[str, ...], variables: dict[str, str]) -> subprocess.Popen[str]:
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", **variables}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # it may keep its bytecode, as a user's does
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def _ended(running: subprocess.Popen[str], words: tuple[str, ...]) -> Ended:
    """What a process leaves; it is killed where this one is interrupted."""
    with running:
        try:
            out, err = running.communicate()
        except BaseException:
            running.kill()
            raise
    if running.returncode:
        last = (err.strip() or out.strip()).rpartition("\n")[2]
        raise ProgramFailed(f"{' '.join(words)[:80]} ended with exit code {running.returncode}: {last}")
    return Ended(words, 0, out, err)


def _tree(number: int) -> Iterator[int]:
    """A process and all that it has started, as far as they are still there."""
    yield number
    with suppress(OSError):
        for task in os.listdir(f"/proc/{number}/task"):
            with open(f"/proc/{number}/task/{task}/children") as file:
                children = file.read().split()
            for child in children:
                yield from _tree(int(child))


def _pss(number: int) -> float:
    """The MiB of a process, a page that several share divided among them; 0 once it has ended."""
    with suppress(OSError), open(f"/proc/{number}/smaps_rollup") as file:
        return sum(int(line.split()[1]) for line in file if line.startswith("Pss:")) / 1024
    return 0.0
