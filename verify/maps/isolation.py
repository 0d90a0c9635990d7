# SPDX-License-Identifier: Apache-2.0
"""A child process in a project's interpreter, whose answers come line by line: `verify.maps.child` is its program.

It has a folder and a home of its own, which are removed, a clean environment, limits of memory and time, and no
standard input; it is ended with everything that it started. That isolates accidents: crashes, hangs, prints and
daemons. It is no sandbox: the code may do what its user may do.
"""

from __future__ import annotations

import json
import os
import secrets
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

MOST = 4 << 20
"""Bytes of one answer."""
MARK = "LANECHECK_FOREIGN"
"""The variable of the environment by which processes are found that the child has left behind."""
LOOKS = 5
"""How often in a row no such process is seen before there is none: one that starts a program has no environment yet."""
TASK = "LANECHECK_TASK"
"""The variable of the environment that has what an adapter is to call."""
_CHILD = Path(__file__).with_name("child.py")
_PROC = Path("/proc")


class NoAnswer(Exception):
    """The child has ended, or says nothing, or answers what is no answer: the rest of its answers is missing."""


def answers(
    adapter: Path, python: str, seconds: float, start: float, only: Sequence[str] = (), task: str = ""
) -> Iterator[Any]:
    """The JSON values that the child writes for one adapter, as they come; `only`: names and globs of maps.

    `task` is in the variable TASK of its environment.

    The first must come within `start` seconds, which the import of the project takes; each other within `seconds`.
    Raises NoAnswer with the reason where one does not come.
    """
    mark = secrets.token_hex(16)
    with tempfile.TemporaryDirectory(prefix="lanecheck-", ignore_cleanup_errors=True) as home:
        source, sink = os.pipe()
        errors = Path(home, "stderr")
        try:
            with errors.open("wb") as stderr:
                child = subprocess.Popen(
                    [python, "-I", "-B", str(_CHILD), str(adapter.resolve()), str(sink), str(seconds), *only],
                    cwd=home,
                    env={"PATH": os.defpath, "HOME": home, "TMPDIR": home, "LC_ALL": "C.UTF-8", MARK: mark, TASK: task},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=stderr,
                    pass_fds=(sink,),
                    start_new_session=True,
                )
        except OSError as error:
            os.close(source)
            raise NoAnswer(f"{python} cannot be started: {error.strerror}") from error
        finally:
            os.close(sink)
        try:
            yield from _values(source, child, errors, seconds, start)
        finally:
            os.close(source)
            _end(child, mark)


def _values(source: int, child: subprocess.Popen[bytes], errors: Path, seconds: float, start: float) -> Iterator[Any]:
    """The values of whole lines; a line must come in its time and be no longer than an answer may be."""
    content, deadline = b"", time.monotonic() + start
    while True:
        if not select.select([source], [], [], max(0.0, deadline - time.monotonic()))[0]:
            raise NoAnswer("its process does not answer")
        part = os.read(source, 1 << 16)
        if not part:
            if child.wait():
                raise NoAnswer(_last_words(child.returncode, errors))
            return
        *lines, content = (content + part).split(b"\n")
        for line in lines:
            yield _value(line)
            deadline = time.monotonic() + seconds + 10  # it ends a map that hangs by itself, and answers
        if len(content) > MOST:
            raise NoAnswer(f"an answer of more than {MOST} bytes")


def _value(line: bytes) -> Any:
    try:
        return json.loads(line, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise NoAnswer("an answer that is no JSON") from error


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no whole number")


def _last_words(code: int, errors: Path) -> str:
    """How the process ended, with the last line that it wrote."""
    with errors.open("rb") as file:
        file.seek(max(0, errors.stat().st_size - 4096))
        lines = file.read().decode(errors="replace").splitlines()
    said = f": {lines[-1].strip()[:300]}" if lines else ""
    return f"its process ended with {f'signal {-code}' if code < 0 else f'exit code {code}'}{said}"


def _end(child: subprocess.Popen[bytes], mark: str) -> None:
    """End the child, its group, and every process that has its mark."""
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    clean = 0
    while clean < LOOKS:
        left = marked(mark)
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        clean = 0 if left else clean + 1
        time.sleep(0.01)  # a killed process is listed until its parent has taken note


def marked(mark: str) -> list[int]:
    """The running processes whose environment has a mark, where the system has /proc."""
    wanted, found = f"{MARK}={mark}".encode(), []
    for folder in _PROC.iterdir() if _PROC.is_dir() else ():
        if folder.name.isdigit():
            with suppress(OSError):
                if wanted in (folder / "environ").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
    return found
