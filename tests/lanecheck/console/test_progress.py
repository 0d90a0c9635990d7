# SPDX-License-Identifier: Apache-2.0
"""The progress line of a long run, the places where it is shown, and the results after an interruption."""

import inspect
import io
import os
import signal
import sys
import threading
from pathlib import Path

import pytest

from lanecheck.console import progress
from lanecheck.console.progress import Progress, each

ROOT = Path(__file__).parents[3]


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(progress, "time", made)
    return made


def test_rate_and_time_left_are_shown(clock: Clock) -> None:
    with Progress(40, "atoms", quiet=True) as shown:
        clock.now += 3
        assert shown.line() == "0 of 40 atoms, 3 s"
        shown.begin("SM80")
        for _ in range(30):
            shown.step()
        clock.now += 3
        assert shown.line() == "30 of 40 atoms, 5/s, 2 s left: SM80"
        clock.now += 14
        assert shown.line() == "30 of 40 atoms, 1.5/s, 7 s left: SM80"
        clock.now += 10
        assert shown.line() == "30 of 40 atoms, 1/s, 10 s left: SM80"
        clock.now += 210
        assert shown.line() == "30 of 40 atoms, 8 s each, 1 min 20 s left: SM80"


class Watched(io.StringIO):
    """A stream with an event that is set when something is written to it."""

    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self.terminal, self.written = terminal, threading.Event()

    def isatty(self) -> bool:
        return self.terminal

    def write(self, text: str) -> int:
        length = super().write(text)
        if text.strip():
            self.written.set()
        return length


def shown_on(stream: Watched, monkeypatch: pytest.MonkeyPatch, quiet: bool = False) -> str:
    """The output of a run that ends when something is written, or at once when it is quiet."""
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    for display in ("_Log", "_Line", "_Bar"):
        monkeypatch.setattr(getattr(progress, display), "first", 0.0)
    with Progress(7, "laws", quiet) as run:
        run.begin("MONO")
        quiet or stream.written.wait()
        with run.aside():
            print("a message", file=stream)
    return stream.getvalue()


def test_a_log_gets_whole_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    output = shown_on(Watched(terminal=False), monkeypatch)
    first, *rest = output.splitlines()
    assert first.startswith("0 of 7 laws, 0 s") and "a message" in rest
    assert "\r" not in output and "\x1b" not in output
    assert progress.IN_A_LOG == progress._Log.every == 10  # seam: a display


def test_a_terminal_without_rich_gets_one_line_that_is_cleared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress.importlib.util, "find_spec", lambda name: None)
    output = shown_on(Watched(terminal=True), monkeypatch)
    assert output.startswith("\r\x1b[K0 of 7 laws, 0 s")
    assert "\r\x1b[Ka message\n" in output
    assert progress.SHOWN_AFTER == 2


def test_a_terminal_with_rich_gets_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rich")
    output = shown_on(Watched(terminal=True), monkeypatch)
    assert "━" in output and "0 of 7 laws" in output and "a message\n" in output
    assert "rich" in sys.modules


def test_a_quiet_run_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown_on(Watched(terminal=True), monkeypatch, quiet=True) == "a message\n"


def test_a_run_is_shown_by_default() -> None:
    for shown in (Progress, each):
        assert inspect.signature(shown).parameters["quiet"].default is False


def test_a_narrow_terminal_gets_a_shortened_line_with_an_ellipsis(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    assert progress.cut_to_width("12 of 340 atoms, 8/s, 41 s left", 1) == "12 of 340 atoms, 8…"


@pytest.mark.parametrize("stop", ["raise", signal.SIGTERM])
def test_an_interruption_keeps_the_results_so_far(stop: object) -> None:
    def work(item: int, _: Progress) -> int:
        if item == 3:
            if stop == "raise":
                raise KeyboardInterrupt
            os.kill(os.getpid(), signal.SIGTERM)
            threading.Event().wait()  # for the handler
        return item * item

    before = signal.getsignal(signal.SIGTERM)
    assert each(range(10), work, "numbers", str) == ([0, 1, 4], 7)
    assert signal.getsignal(signal.SIGTERM) == before


def test_another_handler_is_not_replaced() -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with Progress(1, "things", quiet=True):
            assert signal.getsignal(signal.SIGTERM) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_stderr_that_breaks_stops_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = threading.Event()

    class Broken(io.StringIO):
        def write(self, text: str) -> int:
            broken.set()
            raise BrokenPipeError

    def work(item: int, _: Progress) -> int:
        broken.wait()
        return item

    monkeypatch.setattr(sys, "stderr", Broken())
    monkeypatch.setattr(progress._Log, "first", 0.0)  # seam: a display
    assert each([1, 2], work, "numbers", str) == ([1, 2], 0)
