# SPDX-License-Identifier: Apache-2.0
"""Calls of code of others, which may exit, hang, print or raise: the caller gets a result or a reason."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from types import FrameType
from typing import TypeVar

from proofs.symbolic.symbolic_int import Unfollowed

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Stopped:
    """The reason why a call has no result."""

    why: str


class _TimeOver(BaseException):
    """The time limit of a call is over; not an Exception, which the called code could catch."""


def attempt(call: Callable[[], T], seconds: float) -> T | Stopped:
    """Return the result of a call, or the reason why there is none; its output goes to stderr.

    >>> attempt(lambda: 2 + 2, 1), attempt(lambda: [][0], 1).why
    (4, 'IndexError: list index out of range')
    """
    try:
        with _limit_time(seconds), redirect_stdout(sys.stderr):
            return call()
    except _TimeOver:
        return Stopped(f"not done after {seconds:g} s (--budget)")
    except SystemExit as error:
        return Stopped(f"it ends the process: SystemExit({error.code!r})")
    except Unfollowed as error:
        return Stopped(f"it cannot be followed: {error}")
    except Exception as error:
        return Stopped(f"{type(error).__name__}: {error}".splitlines()[0])


@contextmanager
def _limit_time(seconds: float) -> Iterator[None]:
    """Raise _TimeOver in a block after ``seconds``, then every second; no limit without such an alarm."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def over(number: int, frame: FrameType | None) -> None:
        raise _TimeOver

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
