# SPDX-License-Identifier: Apache-2.0
"""FILE.py::function is a map; one that misbehaves costs one line and leaves nothing running."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

import isa_tables
from lanecheck.console import children
from verify.maps import called
from verify.maps.fragment_map import FragmentMap
from verify.maps.map import MapError

C = FragmentMap.from_operand(isa_tables.instruction("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32").operands["C"])
FUNCTIONS = """
import os, random, signal, subprocess, sys, time
import beside

def c(lane, i):
    print("noise"); sys.stderr.write("noise")
    return lane // 4 + i // 2 * 8, lane % 4 * 2 + i % 2

def back(row, col):
    return [row % 8 * 4 + col // 2, row // 8 * 2 + col % 2]

def daemon(lane, i):
    if not beside.started:
        beside.started.append(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"],
                                               start_new_session=True))
    return c(lane, i)

class Inside:
    c = staticmethod(c)

class Array:
    def __init__(self, *numbers): self.numbers = numbers
    def tolist(self): return list(self.numbers)

def arrays(lane, i): return Array(*c(lane, i))
def raises(lane, i): return 1 // (lane - 3), 0
def exits(lane, i): sys.exit(0)
def exits_at_once(lane, i): os._exit(0)
def aborts(lane, i): os.abort()
def hangs(lane, i): time.sleep(600)
def recursion(*_): return recursion()
def huge(lane, i): return 2**70, 0
def nan(lane, i): return float("nan"), 0
def text(lane, i): return "row"
def three(lane, i): return 1, 2, 3
def changes(lane, i): return random.getrandbits(60), 0
def takes_one(lane): return lane, 0
value = 5
"""
PROBLEMS = {
    "raises": "ZeroDivisionError: integer division or modulo by zero at lane 3, value 0, line 26 of mine.py",
    "exits": "SystemExit: 0",
    "exits_at_once": "its process ended with exit code 0 before it answered",
    "aborts": "its process ended with signal 6 (Aborted) before it answered",
    "hangs": "no answer within 0.5 s",
    "recursion": "RecursionError: maximum recursion depth exceeded",
    "huge": "ValueError: a number of more than 62 bits",
    "nan": "TypeError: 'float' object cannot be interpreted as an integer at lane 0, value 0",
    "text": "ValueError: it returns 'row', expected (m, n) at lane 0, value 0",
    "three": "ValueError: it returns (1, 2, 3), expected (m, n)",
    "changes": "ValueError: called twice it returns",
    "takes_one": "TypeError: takes_one() takes 1 positional argument but 2 were given at lane 0, value 0",
    "value": "TypeError: 'int' object is not callable",
    "absent": "mine.py has no 'absent'",
}


SLOW = pytest.mark.slow


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(FUNCTIONS, encoding="utf-8")
    (tmp_path / "beside.py").write_text("started = []", encoding="utf-8")
    return tmp_path


def call_map(text: str, folder: Path, python: str = "") -> FragmentMap:
    return called.of_function(text, C.inputs, C.outputs, folder, python)


@pytest.mark.long
def test_a_function_is_a_map_in_either_direction_and_its_file_may_import_its_neighbours(folder: Path) -> None:
    for name in ("c", "Inside.c", "arrays"):
        assert call_map(f"mine.py::{name}", folder) == C
    assert called.of_function("mine.py::back", C.outputs, C.inputs, folder, sys.executable) == C.inverse()
    assert str(call_map("mine.py::c", folder).origin) == "mine.py::c"


FAST = ("raises", "aborts", "hangs", "changes")


@pytest.mark.long
@pytest.mark.parametrize("name", [name if name in FAST else pytest.param(name, marks=SLOW) for name in PROBLEMS])
def test_a_function_that_misbehaves_is_one_line(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(called, "SECONDS", 0.5)
    with pytest.raises(MapError) as raised:
        call_map(f"mine.py::{name}", folder)
    assert str(raised.value).startswith(f"mine.py::{name}: {PROBLEMS[name]}")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("raise SystemExit('no GPU')", "mine.py::c: SystemExit: no GPU"),
        pytest.param("import absent_\ndef c(): 0", "mine.py::c: absent_ isn't installed here", marks=SLOW),
        pytest.param("def c(:", "mine.py::c: SyntaxError: ", marks=SLOW),
        pytest.param("import os; os._exit(3)", "mine.py::c: its process ended with exit code 3", marks=SLOW),
    ],
)
def test_a_file_that_cannot_be_imported_is_one_line(text: str, problem: str, folder: Path) -> None:
    (folder / "mine.py").write_text(text, encoding="utf-8")
    with pytest.raises(MapError) as raised:
        call_map("mine.py::c", folder)
    assert str(raised.value).startswith(problem)


def test_what_is_not_there_is_one_line(folder: Path) -> None:
    with pytest.raises(MapError, match=r"absent\.py: there is no such file"):
        call_map("absent.py::c", folder)
    with pytest.raises(MapError, match="no/python isn't a program that can be run"):
        call_map("mine.py::c", folder, "no/python")
    with pytest.raises(MapError, match=r"mine\.py::c: its process answered nothing"):
        call_map("mine.py::c", folder, "true")


def test_nothing_is_left_running(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    marks = [f"test-{time.time_ns()}"]
    monkeypatch.setattr(children.secrets, "token_hex", lambda size: marks[0])
    assert call_map("mine.py::daemon", folder) == C
    assert not children.find_marked(marks[0])
