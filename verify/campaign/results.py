# SPDX-License-Identifier: Apache-2.0
"""The file of results: a line of JSON for each chunk, appended as soon as it is known.

A run that is killed leaves whole lines and perhaps one torn at the end, which the next run drops. A line of other code
or of another spec has another key: it stays in the file and is not counted. Each line ends with its digest, as those of
recordings do: one that was edited is an error.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gpu_checks.recordings_io.lines import with_digest, without_digest
from verify.campaign.tally import Tally
from verify.core.errors import Exit, UsageError

BEGINNING = b'{"campaign": "'  # of each line


class ResultsError(UsageError):
    """Two lines of a file that give one chunk two results."""

    code = Exit.CONTRADICTION


class Results:
    """The results of chunks by (key, number of the chunk)."""

    def __init__(self, file: Path, descriptor: int) -> None:
        self.file, self._descriptor = file, descriptor
        self.tallies: dict[tuple[str, int], Tally] = {}
        self._end = 0
        self._read_lines()

    def append(self, key: str, chunk: int, tally: Tally) -> None:
        """Add a result, as one whole line. Raises UsageError where it cannot be written; the lines before stay."""
        text = BEGINNING.decode() + f'{key}", "chunk": {chunk}, "found": {json.dumps(tally.as_dict())}}}'
        line = f"{with_digest(text)}\n".encode()
        try:
            left = line
            while left:
                left = left[os.write(self._descriptor, left) :]
        except OSError as error:
            os.ftruncate(self._descriptor, self._end)
            raise UsageError(f"cannot write {self.file}: {error.strerror}") from error
        self._end += len(line)
        self.tallies[key, chunk] = tally

    def _read_lines(self) -> None:
        with open(self._descriptor, "rb", closefd=False) as stream:
            for number, line in enumerate(stream, 1):
                if not line.endswith(b"\n"):
                    self._drop(line, number)
                    return
                self._take(line, number)
                self._end += len(line)

    def _drop(self, line: bytes, number: int) -> None:
        """Drop a torn last line of ours, and nothing else."""
        if not (line.startswith(BEGINNING) or BEGINNING.startswith(line)):
            raise self._reject_line(number)
        os.ftruncate(self._descriptor, self._end)

    def _take(self, line: bytes, number: int) -> None:
        try:
            data = json.loads(without_digest(line.decode().removesuffix("\n")))
            key, chunk, tally = str(data["campaign"]), int(data["chunk"]), Tally.of(data["found"])
        except (ValueError, KeyError, TypeError) as error:
            raise self._reject_line(number) from error
        if self.tallies.setdefault((key, chunk), tally) != tally:
            raise ResultsError(f"{self.file}:{number}: chunk {chunk} has another result above")

    def _reject_line(self, number: int) -> UsageError:
        why = "no result of a campaign, or an edited one: remove the line, or name another file with --results"
        return UsageError(f"{self.file}:{number}: {why}")


@contextmanager
def open_results(file: Path) -> Iterator[Results]:
    """Open the results in a file, which no other run may write to meanwhile. Raises UsageError."""
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot write {file}: {getattr(error, 'strerror', None) or error}") from error
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise UsageError(f"cannot write {file}: not a regular file")
        _lock(descriptor, file)
        yield Results(file, descriptor)
    finally:
        os.close(descriptor)


def _lock(descriptor: int, file: Path) -> None:
    """Lock a file until it is closed; where the system has no such lock, the user sees to it that one run writes."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise UsageError(f"{file}: another run writes its results there") from error
