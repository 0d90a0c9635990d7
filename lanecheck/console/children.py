# SPDX-License-Identifier: Apache-2.0
"""The one child process in which users' code runs: their tests, scripts, maps, kernels and compiled programs.

It has a session of its own, no standard input unless it is given some, no core dumps, and limits of time, of memory
and of what it may write; it is ended with everything that it started, daemons too. That contains accidents, not
attacks: it isn't a sandbox, because the code may do what its user may do.

`start_child`   a child, in a block at whose end nothing of it is left
`run_child`     its exit code, once it has ended by itself
`describe_end`  how it ended, in a line
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

MARK = "LANECHECK_CHILD"
"""The variable of the environment by which processes are found that a child has left behind."""
LOOKS = 5
"""How often in a row no such process is seen before there is none: one that starts a program has no environment yet."""
GIB = 1 << 30
MEMORY = 64 * GIB  # bytes that a child may allocate: what it reserves and never writes, as CUDA does, is not counted
WRITTEN = 4 * GIB  # bytes of one file
LAST = 1 << 16  # bytes of the end of its output that are looked at
_PROC = Path("/proc")


@contextmanager
def start_child(
    command: Sequence[str],
    cwd: Path | str,
    environment: Mapping[str, str],
    out: IO[bytes] | int | None = subprocess.DEVNULL,
    errors: IO[bytes] | int | None = subprocess.DEVNULL,
    given: IO[bytes] | int = subprocess.DEVNULL,
    pipes: Sequence[int] = (),
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a child, and end it and everything that it has started when the block ends. Raises OSError."""
    mark = secrets.token_hex(16)
    marks = ":".join(filter(None, (os.environ.get(MARK), mark)))  # of a child's child too
    child = subprocess.Popen(
        command, cwd=cwd, env={**environment, MARK: marks}, stdin=given, stdout=out, stderr=errors, pass_fds=pipes,
        start_new_session=True,
    )  # fmt: skip
    try:
        _limit(child.pid)
        yield child
    finally:
        _end(child, mark)


def run_child(
    command: Sequence[str],
    seconds: float,
    cwd: Path | str,
    environment: Mapping[str, str],
    out: Path,
    errors: Path | None = None,
    given: Path | None = None,
) -> int:
    """Return the exit code of a child that writes to files. Raises OSError, and TimeoutExpired after its time.

    Without a file of its own, what it says on stderr goes where its output goes.
    """
    with (
        out.open("wb") as to,
        (errors or Path(os.devnull)).open("wb") as to_errors,
        (given or Path(os.devnull)).open("rb") as source,
        start_child(command, cwd, environment, to, to_errors if errors else subprocess.STDOUT, source) as child,
    ):
        return child.wait(seconds)


def describe_end(code: int, lines: Sequence[str] = ()) -> str:
    """Return how a child ended, with the last line that it wrote."""
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    return f"its process ended with {how}" + (f": {lines[-1][:300]}" if lines else "")


def read_last_lines(file: Path) -> list[str]:
    """Return the last lines of a file that are not empty."""
    with file.open("rb") as source:
        source.seek(max(0, file.stat().st_size - LAST))
        return [line.strip() for line in source.read().decode(errors="replace").splitlines() if line.strip()]


def _limit(pid: int) -> None:
    """Set the limits of a child, which its own children inherit, where the system can do that."""
    if sys.platform != "linux":
        return
    import resource  # no module of Windows

    limits = ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_DATA, MEMORY), (resource.RLIMIT_FSIZE, WRITTEN))
    for name, most in limits:
        with suppress(OSError):  # it has ended already
            _, hard = resource.prlimit(pid, name)
            limit = most if hard < 0 else min(most, hard)
            resource.prlimit(pid, name, (limit, hard))


def _end(child: subprocess.Popen[Any], mark: str) -> None:
    """End the child, its group, and every process that has its mark."""
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    clean = 0
    while clean < LOOKS:
        left = find_marked(mark)
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        clean = 0 if left else clean + 1
        time.sleep(0.01)  # a killed process is listed until its parent has taken note


def find_marked(mark: str) -> list[int]:
    """Return the running processes whose environment has a mark, where the system has /proc."""
    pids = []
    for folder in _PROC.iterdir() if _PROC.is_dir() else ():
        if folder.name.isdigit():
            with suppress(OSError):
                if _has_mark((folder / "environ").read_bytes(), mark):
                    pids.append(int(folder.name))
    return pids


def _has_mark(environment: bytes, mark: str) -> bool:
    start = f"{MARK}=".encode()
    return any(mark.encode() in variable for variable in environment.split(b"\0") if variable.startswith(start))
