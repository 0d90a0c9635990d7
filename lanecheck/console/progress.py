# SPDX-License-Identifier: Apache-2.0
"""The progress of a long run, shown on stderr: how much is done, how fast, how much time is left."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Protocol, TypeVar

S = TypeVar("S")
T = TypeVar("T")
SHOWN_AFTER = 2.0  # seconds: a shorter run shows nothing
REDRAWN = 0.2  # seconds between two states of the line on a terminal
IN_A_LOG = 10.0  # seconds between two lines in a pipe or a file


class Progress:
    """A context manager that shows the progress of a run over `total` items; SIGTERM interrupts the run like Ctrl-C."""

    def __init__(self, total: int, what: str, quiet: bool = False) -> None:
        """Count items; `what` names them, in the plural; `quiet` shows nothing."""
        self.total, self.what = total, what
        self.done, self.name = 0, ""
        self._quiet = quiet
        self._ended = threading.Event()
        self._lock = threading.RLock()
        self._display: _Display | None = None

    def __enter__(self) -> Progress:
        self._started = time.monotonic()
        self._handler = _interrupting()
        self._thread = threading.Thread(target=self._show, args=(_display(),), daemon=True)
        if not self._quiet:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._thread.ident is not None:
            self._thread.join()
        if self._handler is not None:
            signal.signal(signal.SIGTERM, self._handler)

    def begin(self, name: str) -> None:
        """Set the name of the item that is worked on."""
        self.name = name

    def step(self, name: str = "", count: int = 1) -> None:
        """Count more items as done; several threads may do so."""
        with self._lock:
            self.done += count
            self.name = name or self.name

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Clear the progress line while a block prints something."""
        with self._lock:
            if self._display is not None:
                self._display.clear()
            yield

    def line(self) -> str:
        """Return the state of the run in words."""
        with self._lock:
            done, name = self.done, self.name
        seconds = time.monotonic() - self._started
        state = f"{done} of {self.total} {self.what}, "
        if 0 < done < self.total:
            state += f"{_rate(done / seconds)}, {_duration(seconds / done * (self.total - done))} left"
        else:
            state += _duration(seconds)
        return f"{state}: {name}" if name else state

    def _show(self, display: _Display) -> None:
        wait = display.first
        with suppress(OSError, ValueError):  # a stderr that was closed: the run goes on
            while not self._ended.wait(wait):
                with self._lock:
                    self._display = display
                    display.draw(self.line(), self.done, self.total)
                wait = display.every
            display.clear()


class _Display(Protocol):
    """A way to show one line."""

    first: float
    every: float

    def draw(self, line: str, done: int, total: int) -> None: ...

    def clear(self) -> None: ...


class _Log:
    """A pipe or a file, where nothing can be overwritten: one line every IN_A_LOG seconds."""

    first = every = IN_A_LOG

    def __init__(self) -> None:
        self._stream = sys.stderr

    def draw(self, line: str, _done: int, _total: int) -> None:
        print(line, file=self._stream, flush=True)

    def clear(self) -> None:
        """Nothing: a log keeps its lines."""


class _Line(_Log):
    """A terminal without rich: one line that is overwritten."""

    first, every = SHOWN_AFTER, REDRAWN
    _shown = False

    def draw(self, line: str, _done: int, _total: int) -> None:
        print(f"\r\x1b[K{cut_to_width(line, 1)}", end="", file=self._stream, flush=True)
        self._shown = True

    def clear(self) -> None:
        if self._shown:
            print("\r\x1b[K", end="", file=self._stream, flush=True)
        self._shown = False


class _Bar(_Log):
    """A terminal with rich: a bar before the line."""

    first, every = SHOWN_AFTER, REDRAWN
    WIDTH = 20

    def __init__(self) -> None:
        super().__init__()
        self._bar: Any = None

    def draw(self, line: str, done: int, total: int) -> None:
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn

            columns = BarColumn(self.WIDTH), TextColumn("{task.description}", markup=False)
            self._bar = Progress(
                *columns, console=Console(file=self._stream), transient=True, auto_refresh=False,
                redirect_stdout=False, redirect_stderr=False,
            )  # fmt: skip
            self._bar.start()
            self._bar.add_task("", total=total)
        self._bar.update(
            self._bar.task_ids[0], completed=done, total=total, description=cut_to_width(line, self.WIDTH + 2)
        )
        self._bar.refresh()

    def clear(self) -> None:
        if self._bar is not None:
            self._bar.stop()
        self._bar = None


def _display() -> _Display:
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        return _Log()
    return _Bar() if importlib.util.find_spec("rich") else _Line()


def cut_to_width(line: str, taken: int) -> str:
    """Return the line cut to the width of the terminal less `taken` columns; an ellipsis shows that it was cut."""
    room = shutil.get_terminal_size().columns - taken
    return line if len(line) <= room else line[: max(room - 1, 0)] + "…"


def _rate(a_second: float) -> str:
    return f"{a_second:.3g}/s" if a_second >= 1 else f"{_duration(1 / a_second)} each"


def _duration(seconds: float) -> str:
    """Return a time in its two largest units.

    >>> [_duration(seconds) for seconds in (9.6, 75, 7265)]
    ['10 s', '1 min 15 s', '2 h 1 min']
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min {whole % 60} s" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60} min"


def _interrupting() -> Any:
    """Let SIGTERM raise KeyboardInterrupt. Returns the previous handler, None when it was left as it is."""
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        return None

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    return signal.signal(signal.SIGTERM, stop)


def each(
    items: Sequence[S], work: Callable[[S, Progress], T], what: str, name: Callable[[S], str], quiet: bool = False
) -> tuple[list[T], int]:
    """Return the result of `work` for each item, and how many items an interruption left without a result."""
    results: list[T] = []
    try:
        with Progress(len(items), what, quiet) as shown:
            for item in items:
                shown.begin(name(item))
                results.append(work(item, shown))
                shown.step()
    except KeyboardInterrupt:
        return results, len(items) - len(results)
    return results, 0
