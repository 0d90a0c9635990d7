# SPDX-License-Identifier: Apache-2.0
"""A project that misbehaves costs the map at which it does, and leaves nothing running."""

from __future__ import annotations

import sys
import time

import pytest

from lanecheck.console import children
from tests.verify.adapters import HOSTILE, RIGHT, write
from verify.maps import isolation
from verify.maps.answers import ForeignMap, MissingMap, read_answer

MISSING = {
    "exits": "SystemExit: 0",
    "exits at once": "its process ended with exit code 0 before it answered",
    "aborts": "its process ended with signal 6 (Aborted) before it answered",
    "hangs": "no answer within 1.0 s",
    "huge number": "ValueError: a number of more than 62 bits",
    "nan": "TypeError: 'float' object cannot be interpreted as an integer",
    "huge answer": "an answer of 5",
    "huge map": "ValueError: more than 1048576 points",
    "nested": "RecursionError: maximum recursion depth exceeded",
    "recursion": "RecursionError: maximum recursion depth exceeded",
    "no map": "TypeError: 'int' object is not a mapping",
    "unknown key": "the answer has an unknown key 'verdict'",
}


@pytest.fixture
def marks(monkeypatch):
    """The marks by which the processes of each child are found."""
    tokens = []
    monkeypatch.setattr(
        children.secrets, "token_hex", lambda size: tokens.append(f"test-{time.time_ns()}") or tokens[-1]
    )
    return tokens


@pytest.mark.long
def test_each_hostile_map_is_missing_alone_and_nothing_is_left_running(tmp_path, marks):
    path = write(tmp_path, HOSTILE)
    head, *answered = isolation.answers(path, sys.executable, 1.0, 60.0)
    maps = [read_answer(answer) for answer in answered]
    assert [m.name for m in maps] == head["maps"] and len(maps) == 21
    missing = {m.name: m.why for m in maps if isinstance(m, MissingMap)}
    assert missing.keys() == MISSING.keys()
    for name, why in MISSING.items():
        assert why in missing[name], name
    [liar] = [m for m in maps if m.name == "liar"]
    assert isinstance(liar, ForeignMap) and set(liar.map.images.values()) == {((1, 1),)}
    rights = {"first", "prints", "daemon", "child of a child", "last"}
    assert all(isinstance(m, ForeignMap) and len(m.map) == 128 for m in maps if m.name in rights)
    assert not children.find_marked(marks[0])


@pytest.mark.long
@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("import no_such_package_here", "no_such_package_here isn't installed here"),
        ("raise SystemExit('no GPU')", "SystemExit: no GPU"),
        ("def maps(): return 5", "TypeError: 'int' object is not iterable"),
    ],
)
def test_a_project_that_cannot_be_imported_is_missing_with_its_reason(tmp_path, line, why):
    assert list(isolation.answers(write(tmp_path, RIGHT + line), sys.executable, 1.0, 60.0)) == [{"missing": why}]


@pytest.mark.long
@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("import os; os.abort()", "its process ended with signal 6"),
        ("import os; os._exit(3)", "its process ended with exit code 3"),
        (
            "import sys, os; print('out of memory', file=sys.stderr); sys.stderr.flush(); os._exit(1)",
            "1: out of memory",
        ),
        ("import time; time.sleep(60)", "its process does not answer"),
    ],
)
def test_a_project_that_ends_its_process_is_missing_with_its_last_words(tmp_path, line, why):
    with pytest.raises(isolation.NoAnswer, match=why):
        list(isolation.answers(write(tmp_path, RIGHT + line), sys.executable, 1.0, 1.0))


def test_an_interpreter_that_is_not_there_is_missing(tmp_path):
    with pytest.raises(isolation.NoAnswer, match="/no/python cannot be started: No such file"):
        list(isolation.answers(write(tmp_path, RIGHT), "/no/python", 1.0, 1.0))


def test_the_child_has_a_home_and_an_environment_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv("SECRET", "1")
    text = (
        RIGHT
        + """
import os
def maps():
    known = "SECRET" in os.environ or os.environ["HOME"] != os.getcwd()
    yield str(known), fragment
"""
    )
    head, _ = isolation.answers(write(tmp_path, text), sys.executable, 1.0, 60.0)
    assert head["maps"] == ["False"]


def test_a_child_that_is_no_longer_read_is_ended_with_all_that_it_started(tmp_path, marks):
    text = HOSTILE.replace('    yield "first", fragment\n', '    yield "first", fragment\n    daemon()\n')
    answers = isolation.answers(write(tmp_path, text), sys.executable, 1.0, 60.0)
    next(answers)
    assert children.find_marked(marks[0])
    answers.close()
    assert not children.find_marked(marks[0])
