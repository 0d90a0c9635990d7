# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C in the moments when a command is still loading, or ends: the process ends with 130, without a traceback.

`lanecheck`, `verify`, `gpu_checks` and `proofs` call `end_at_once` before they import anything. While a command runs
(`raising`), Ctrl-C raises KeyboardInterrupt as usual, so that what was found is reported. Before Python itself has
started, nobody can catch it.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # type checkers know the name; `typing` itself takes longer to load than all that is here

if TYPE_CHECKING:
    import signal
    from types import FrameType
else:
    try:
        import _signal as signal  # without the enums of `signal`, for the same reason
    except ImportError:
        import signal

PACKAGES = ("lanecheck", "verify", "gpu_checks", "proofs")
INTERRUPTED = 130


def _end(*_: object) -> None:
    os._exit(INTERRUPTED)


def end_at_once() -> None:
    """Let Ctrl-C end this process at once if it is a command of ours; a program that imports us is left alone."""
    if _is_command() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def _is_command() -> bool:
    """Return whether Python was started as `python -m verify.…` or as the program `lanecheck`."""
    if sys.argv[:1] != ["-m"]:  # the value while Python imports the package of a command
        return os.path.basename(sys.argv[0] if sys.argv else "").partition(".")[0] == "lanecheck"
    words = sys.orig_argv
    at = next((n for n, word in enumerate(words) if n and word[:1] == "-" and word[1:2] != "-" and word[-1] == "m"), 0)
    return bool(at) and words[at + 1 : at + 2] != [] and words[at + 1].partition(".")[0] in PACKAGES


class raising:  # a context manager without `contextlib`, which takes longer to load
    """While it is entered, Ctrl-C raises KeyboardInterrupt, as Python has it; afterwards it ends the process again.

    `arrived` says whether it did: Python loses the exception in a destructor, and Python 3.11 makes another one of it
    while a class is made.
    """

    def __enter__(self) -> raising:
        self._ends, self.arrived = signal.getsignal(signal.SIGINT) is _end, False
        if self._ends:
            signal.signal(signal.SIGINT, self._raise)
        return self

    def _raise(self, number: int, frame: FrameType | None) -> None:
        self.arrived = True
        signal.default_int_handler(number, frame)

    def __exit__(self, kind: object, *_: object) -> None:
        if self._ends:
            signal.signal(signal.SIGINT, _end)
            if kind is KeyboardInterrupt:  # a second one, while the first was reported
                _end()
