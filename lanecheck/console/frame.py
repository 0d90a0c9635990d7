# SPDX-License-Identifier: Apache-2.0
"""The frame of every command: Ctrl-C, streams that nobody reads, and one line for whatever ends a command.

`run_guarded` is the frame. `guarded_printing` is that of commands which print as they go, and end in few ways.
"""

from __future__ import annotations

import errno
import gc
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from lanecheck.console import interrupts
from lanecheck.console.exits import Exit
from lanecheck.console.streams import tolerant


def run_guarded(body: Callable[[], int], end: Callable[[BaseException], int | None]) -> int:
    """Return the exit code of a command, or the one that `end` gives for what it raises; None: that goes on.

    If Ctrl-C arrived, the command was interrupted, whatever became of the exception.
    """
    with interrupts.raising() as ctrl_c, tolerant():
        try:
            code = int(body())
            if ctrl_c.arrived and code != Exit.INTERRUPTED:
                raise KeyboardInterrupt
            return code
        except BaseException as error:
            lost = ctrl_c.arrived and not isinstance(error, KeyboardInterrupt)
            if (ended := end(KeyboardInterrupt() if lost else error)) is None:
                raise
            return int(ended)


def collect_rarely() -> None:
    """Have Python look for cycles rarely: imports and a run make many objects and few cycles.

    Else all atoms take a ninth more time, and the laws of a campaign a seventh; one look at 100,000 objects, which a
    kernel makes, takes a twentieth of its run.
    """
    gc.set_threshold(1_000_000)


def guarded_printing(name: str, body: Callable[[], int], defect: Callable[[BaseException], str] = lambda _: "") -> int:
    """Run a command that prints as it goes; `defect` is the line of an error that its user did not make, else empty."""

    def until_end() -> int:
        with until_closed():
            return body()

    def end(error: BaseException) -> int | None:
        if line := defect(error):
            code = Exit.CONTRADICTION
        elif isinstance(error, KeyboardInterrupt):
            line, code = str(error) or "interrupted", Exit.INTERRUPTED
        elif isinstance(error, ValueError | OSError):  # an unknown name, a malformed file, an unwritable folder
            line, code = str(error), Exit.USAGE
        else:
            return None
        print(f"{name}: {line}", file=sys.stderr)
        return code

    return run_guarded(until_end, end)


@contextmanager
def until_closed() -> Iterator[None]:
    """Exit with code 2 and a message if stdout is closed or on a full disk; a reader that has gone isn't an error."""
    if sys.stdout is None:
        print("cannot write to stdout: it is closed", file=sys.stderr)
        raise SystemExit(Exit.USAGE)
    try:
        try:
            yield
        finally:
            sys.stdout.flush()  # also where argparse has printed its help and ends with SystemExit
    except OSError as error:
        if error.filename or error.errno != errno.ENOSPC:
            raise
        print(f"cannot write: {error.strerror}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(Exit.USAGE) from None
