# SPDX-License-Identifier: Apache-2.0
"""`pytest --lanecheck-kernels` in a repository of a user's own, with a recording that was written by hand."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lanecheck.kernel_recording import find_error
from lanecheck.kernel_tests import record_file
from tests.messages import OUT_OF_BOUNDS
from tests.verify.capture.logs import ADD, Log

ROOT = Path(__file__).parents[2]
CONFTEST = """
import shutil
from pathlib import Path
import lanecheck.kernel_tests as kernel_tests

def record_file(path, home, config, task):
    source = Path(__file__).parent / "recorded"
    for file in source.iterdir():
        shutil.copy(file, home / file.name)
    (Path(__file__).parent / "runs").open("a").write("one\\n")

kernel_tests.record_file = record_file
kernel_tests.missing_packages = lambda: ""
"""


class Guest:
    """A repository with one test file and its recording."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.records = folder, list[dict[str, object]]()
        (folder / "recorded").mkdir()
        (folder / "conftest.py").write_text(CONFTEST)
        (folder / "test_x.py").write_text("def test_add(): pass\n")

    def log(self, ptx: str = ADD) -> Log:
        return Log(self.folder / "recorded", ptx)

    def run(self, *options: str) -> tuple[int, str]:
        lines = "".join(json.dumps(record) + "\n" for record in self.records)
        (self.folder / "recorded" / "records.jsonl").write_text(lines)
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PY_COLORS": "0", "COLUMNS": "200"}
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--lanecheck-kernels", "--lanecheck-seed", "1",
             "-rA", *options], cwd=self.folder, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr


@pytest.fixture
def guest(tmp_path: Path) -> Guest:
    return Guest(tmp_path)


def compare(log: Log, name: str = "torch.Tensor.add") -> None:
    x, y, out = log.draw(), log.draw(), log.op("torch.empty")
    written = log.launch([x, y, out])[2]
    log.compare(written, log.op(name, log.operand(x), log.operand(y)))


@pytest.mark.long
def test_every_outcome_is_reported(guest: Guest) -> None:
    def keep(test: str, operation: str = "torch.Tensor.add", **more: object) -> None:
        log = guest.log()
        compare(log, operation)
        guest.records.append({**log.record(), "test": f"test_x.py::{test}", **more})

    keep("test_right")
    keep("test_wrong", "torch.Tensor.sub")
    keep("test_stops", outcome="failed", why="test_x.py:3: ValueError: no")
    log = guest.log()
    log.use(log.launch([log.draw(), log.draw(), log.op("torch.empty")])[2], "tolist")
    guest.records.append({**log.record(), "test": "test_x.py::test_reads", "outcome": "failed", "why": "x.py:4: no"})
    keep("test_later", outcome="xfail", why="the test is expected to fail: soon")
    keep("test_other", outcome="skipped", why="needs two GPUs")
    log = guest.log()
    log.launch([log.draw(), log.draw(), log.op("torch.empty")])
    guest.records.append({**log.record(), "test": "test_x.py::test_alone"})
    guest.records.append({**guest.log().record(), "test": "test_x.py::test_nothing"})
    (guest.folder / "recorded" / "ended").write_text("its process ended with signal 11: it says nothing")
    code, text = guest.run()
    assert code == 1, text
    assert "PASSED test_x.py::test_right[launch 1: values]" in text
    assert text.count("PASSED") == 1
    assert "wrong element: out[i=" in text
    assert "Traceback" not in text and "kernel_tests.py" not in text
    for reason in (
        "stops in capture: test_x.py:3: ValueError: no",
        "stops in capture: x.py:4: no; tolist (test_x.py:10) reads a number that isn't there: launch 1 writes out, "
        "and no kernel runs here",
        "the test is expected to fail: soon",
        "needs two GPUs",
        "the test compares nothing that this launch wrote",
        "the test launches no kernel of Triton",
        "its process ended with signal 11",
    ):
        assert f"UNCHECKED: {reason}" in text
    assert "1 compared, 1 refuted, 1 safety only, 6 not captured; for sm_90a, without a GPU; seed 1" in text


@pytest.mark.long
def test_what_is_wrong_at_other_sizes_is_a_note_and_the_item_passes(guest: Guest) -> None:
    log = guest.log()
    log.add_whole_blocks()
    guest.records.append(log.record())
    code, text = guest.run("--junitxml=junit.xml")
    assert code == 0, text
    words = f"at i = 80 (grid 3), which nothing launches, this kernel would be wrong: line 22: {OUT_OF_BOUNDS}"
    assert f"  note: test_add[launch 1: values]: {words}" in text
    assert f'name="lanecheck-note" value="{words}' in (guest.folder / "junit.xml").read_text()


@pytest.mark.long
def test_safety_alone_fails_if_values_are_required(guest: Guest) -> None:
    log = guest.log()
    log.launch([log.draw(), log.draw(), log.op("torch.empty")])
    guest.records.append(log.record())
    code, text = guest.run("--lanecheck-require", "values")
    assert code == 1
    assert "UNCHECKED: the test compares nothing that this launch wrote" in text


@pytest.mark.long
def test_nothing_that_is_captured_is_exit_5(guest: Guest) -> None:
    guest.records.append(guest.log().record())
    assert guest.run()[0] == 5


@pytest.mark.long
def test_a_file_that_cannot_be_recorded_is_not_hidden_by_a_selection(guest: Guest) -> None:
    (guest.folder / "recorded" / "ended").write_text("its process ended with exit code 2: ImportError: no such name")
    code, text = guest.run("-k", "test_other")
    assert code == 5, text
    assert "UNCHECKED: its process ended with exit code 2: ImportError: no such name" in text
    assert "0 compared, 0 safety only, 1 not captured" in text


@pytest.mark.long
def test_what_stays_undecided_is_exit_4_in_several_processes_too(guest: Guest) -> None:
    log = guest.log(ADD.replace("add.f32 %f3, %f1, %f2", "frob.f32 %f3, %f1, %f2"))
    compare(log)
    guest.records.append(log.record())
    code, text = guest.run("-n", "2")
    assert code == 4, text
    assert (guest.folder / "runs").read_text() == "one\n"
    assert "0 compared, 1 undecided, 0 safety only, 0 not captured" in text


@pytest.mark.long
def test_a_part_of_a_launch_is_exit_4_and_no_pass(guest: Guest) -> None:
    log = guest.log()
    compare(log)
    guest.records.append(log.record())
    code, text = guest.run("--lanecheck-budget", "0")
    assert code == 4, text
    assert "UNCHECKED: PARTIAL: 1 of 3 CTAs; out[i] = (x[i] + y[i])" in text
    assert "0 compared, 1 partial, 0 safety only, 0 not captured" in text


@pytest.mark.long
def test_tests_are_selected_by_name(guest: Guest) -> None:
    for name in ("test_add[1]", "test_add[a::b]", "TestIt::test_it"):
        log = guest.log()
        compare(log)
        guest.records.append({**log.record(), "test": f"test_x.py::{name}"})
    code, text = guest.run("test_x.py::TestIt::test_it", "test_x.py::test_add[1]")
    assert (code, text.count("PASSED")) == (0, 2)
    assert "PASSED test_x.py::TestIt::test_it[launch 1: values]" in text
    code, text = guest.run("test_x.py::test_add[a::b][launch 1: values]")
    assert (code, text.count("PASSED")) == (0, 1), text
    code, text = guest.run("test_x.py::test_add[a::b][launch 2: values]")
    assert (code, text.count("PASSED")) == (5, 0), text


def test_what_is_missing_is_said_in_a_line(guest: Guest) -> None:
    (guest.folder / "conftest.py").write_text(
        "import lanecheck.kernel_tests as kernel_tests\nkernel_tests.PACKAGES = {'no_such_package': ''}\n"
    )
    code, text = guest.run()
    assert code == 4
    assert "--lanecheck-kernels needs no_such_package, which isn't installed for" in text
    assert "Traceback" not in text


def test_a_target_that_nobody_knows_is_said_in_a_line(guest: Guest) -> None:
    """The recording process ended with a traceback and exit code 1, and the run had no tests, as if it had none."""
    code, text = guest.run("--lanecheck-target=sm_99x")
    assert code == 4
    assert "--lanecheck-target: no GPU is known for the target 'sm_99x': there are sm_" in text
    assert "Traceback" not in text


@pytest.mark.parametrize(
    ("report", "line"),
    [
        ("file x.py, line 3\n  def test_x(gpu): pass\nE       fixture 'gpu' not found", "fixture 'gpu' not found"),
        ("", ""),
    ],
)
def test_a_fixture_that_is_not_there_is_named(report: str, line: str) -> None:
    assert find_error(report) == line


def make_config(folder: Path, seconds: float = 60) -> Any:
    """Return what a recording reads of pytest's configuration."""
    options = {"--lanecheck-target": "sm_90a", "--lanecheck-configs": "first", "--lanecheck-seconds": seconds}
    return SimpleNamespace(
        getoption=options.get, args=[], pluginmanager=SimpleNamespace(hasplugin=lambda _: False),
        invocation_params=SimpleNamespace(dir=folder),
    )  # fmt: skip


def test_a_child_that_ends_otherwise_says_why(tmp_path: Path) -> None:
    """The tests of a file run in the supervised child; pytest's own line on what is wrong is kept."""
    config = make_config(tmp_path)
    record_file(tmp_path / "test_x.py", tmp_path, config, {"seed": 1, "arguments": ["--rootdir=no_such_folder"]})
    ended = (tmp_path / "ended").read_text("utf-8")
    assert ended.startswith("its process ended with exit code 4: ") and "no_such_folder" in ended
    config = make_config(tmp_path, 0.01)
    record_file(tmp_path / "test_x.py", tmp_path, config, {"seed": 1, "arguments": []})
    assert (tmp_path / "ended").read_text("utf-8") == "its tests did not end within 0.01 s (--lanecheck-seconds)"


def test_a_child_that_ends_with_exit_code_1_and_has_run_no_test_says_why(tmp_path: Path) -> None:
    """As Python does where a plugin of the user's raises an error before pytest begins."""
    config = make_config(tmp_path)
    (tmp_path / "torn_plugin.py").write_text("raise ValueError('torn')\n")
    record_file(tmp_path / "test_x.py", tmp_path, config, {"seed": 1, "arguments": ["-p", "torn_plugin"]})
    ended = (tmp_path / "ended").read_text("utf-8")
    assert ended.startswith("its process ended with exit code 1: ") and "torn" in ended
