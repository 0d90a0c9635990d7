# SPDX-License-Identifier: Apache-2.0
"""Stdout and stderr of a command: a reader that has gone, or a stderr that is closed, changes no exit code.

`lanecheck atom mine.toml | head -1` ends with the code that its verdict has, as it would without `head`.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO


@contextmanager
def tolerant() -> Iterator[None]:
    """Drop what nobody reads: on stdout after its reader has gone, on stderr whatever the system refuses to write.

    Streams that were put in the place of the process's own are left as they are.
    """
    _occupy()
    before = sys.stdout, sys.stderr
    if sys.stdout is sys.__stdout__:
        sys.stdout = _wrap(sys.stdout, (BrokenPipeError,))
    if sys.stderr is None:  # closed: `print(…, file=None)` would print to stdout
        sys.stderr = open(2, "w", closefd=False)
    elif sys.stderr is sys.__stderr__:
        sys.stderr = _wrap(sys.stderr, (OSError,))
    try:
        yield
    finally:
        for stream, own in zip((sys.stdout, sys.stderr), before, strict=True):
            if stream is not own:
                with suppress(OSError, ValueError):
                    stream.flush()
        sys.stdout, sys.stderr = before


def _occupy() -> None:
    """Open /dev/null in the place of each standard stream that is closed: else the next file gets its number."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest number that is free: this one


class _Tolerant(io.FileIO):
    """A file that forgets what it cannot write for one of some reasons, and everything after."""

    forgiven: tuple[type[OSError], ...] = ()

    def write(self, data: Any, /) -> int:
        """Write some bytes; returns how many are done with."""
        try:
            return super().write(data)
        except self.forgiven:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, self.fileno())
            os.close(null)
            return memoryview(data).nbytes


def _wrap(stream: TextIO | None, forgiven: tuple[type[OSError], ...]) -> Any:
    """Return the same stream with a tolerant file under it; the stream itself if it isn't a plain file."""
    raw = getattr(getattr(stream, "buffer", None), "raw", getattr(stream, "buffer", None))
    if not isinstance(stream, io.TextIOWrapper) or type(raw) is not io.FileIO:
        return stream
    with suppress(OSError):  # what is refused now is refused again, under the tolerant file
        stream.flush()
    file = _Tolerant(raw.fileno(), "w", closefd=False)
    file.forgiven = forgiven
    return io.TextIOWrapper(
        io.BufferedWriter(file), stream.encoding, stream.errors,
        line_buffering=stream.line_buffering, write_through=stream.write_through,
    )  # fmt: skip
