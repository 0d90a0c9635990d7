# SPDX-License-Identifier: Apache-2.0
"""A child in a project's interpreter, whose answers come line by line: `verify.maps.child` is its program.

It is the child of `lanecheck.console.children`, with a folder and a home of its own, which are removed, and a clean
environment.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from lanecheck.console.children import describe_end, read_last_lines, start_child

MOST = 4 << 20
"""Bytes of one answer."""
TASK = "LANECHECK_TASK"
"""The variable of the environment that has what an adapter is to call."""
_CHILD = Path(__file__).with_name("child.py")


class NoAnswer(Exception):
    """The child has ended, or says nothing, or answers what isn't an answer: the rest of its answers is missing."""


def answers(
    adapter: Path, python: str, seconds: float, start: float, only: Sequence[str] = (), task: str = ""
) -> Iterator[Any]:
    """Yield the JSON values that the child writes for one adapter, as they come; `only`: names and globs of maps.

    `task` is in the variable TASK of its environment.

    The first must come within `start` seconds, which the import of the project takes; each other within `seconds`.
    Raises NoAnswer with the reason where one does not come.
    """
    with tempfile.TemporaryDirectory(prefix="lanecheck-", ignore_cleanup_errors=True) as home, ExitStack() as until_end:
        source, sink = os.pipe()
        until_end.callback(os.close, source)
        errors = Path(home, "stderr")
        command = [python, "-I", "-B", str(_CHILD), str(adapter.resolve()), str(sink), str(seconds), *only]
        environment = {"PATH": os.defpath, "HOME": home, "TMPDIR": home, "LC_ALL": "C.UTF-8", TASK: task}
        try:
            with errors.open("wb") as stderr:
                started = start_child(command, home, environment, errors=stderr, pipes=(sink,))
                child = until_end.enter_context(started)
        except OSError as error:
            raise NoAnswer(f"{python} cannot be started: {error.strerror}") from error
        finally:
            os.close(sink)
        yield from _values(source, child, errors, seconds, start)


def _values(source: int, child: subprocess.Popen[bytes], errors: Path, seconds: float, start: float) -> Iterator[Any]:
    """Yield the values of whole lines; a line must come in its time and be no longer than an answer may be."""
    content, deadline = b"", time.monotonic() + start
    while True:
        if not select.select([source], [], [], max(0.0, deadline - time.monotonic()))[0]:
            raise NoAnswer("its process does not answer")
        part = os.read(source, 1 << 16)
        if not part:
            if child.wait():
                raise NoAnswer(describe_end(child.returncode, read_last_lines(errors)))
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
        raise NoAnswer("an answer that isn't JSON") from error


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} isn't an integer")
