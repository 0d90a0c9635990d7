# SPDX-License-Identifier: Apache-2.0
"""A command as a process: its output and exit code are whole although Python does not end in the usual way."""

from __future__ import annotations

import contextlib
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from verify.__main__ import main
from verify.cli.arguments import Parser

RIGHT = ("verify.layout", "(4,8):(8,1)", "--onto", "4x8")


def ran(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)


@pytest.mark.long
@pytest.mark.parametrize(("tile", "code"), [("4x8", 0), ("4x4", 1), ("0x4", 2)])
def test_a_process_writes_everything_and_has_the_exit_code_of_its_command(tile: str, code: int) -> None:
    done = ran("-m", *RIGHT[:-1], tile)
    assert done.returncode == code
    assert (done.stdout.rstrip().endswith(f"exit {code}"), bool(done.stderr)) == (code < 2, code == 2)


@pytest.mark.long
def test_a_profiler_still_writes_when_python_ends() -> None:
    assert "function calls" in ran("-m", "cProfile", "-m", *RIGHT).stdout
    assert "function calls" not in ran("-m", *RIGHT).stdout


@pytest.mark.skipif(sys.version_info < (3, 12), reason="no sys.monitoring before Python 3.12")
@pytest.mark.parametrize(("watch", "printed"), [("sys.monitoring.use_tool_id(1, 'coverage')", "ended\n"), ("0", "")])
def test_a_measurement_by_sys_monitoring_still_writes_when_python_ends(watch: str, printed: str) -> None:
    ends = "from verify.cli.ending import as_process; as_process(lambda: 3)"
    done = ran("-c", f"import atexit, sys; {watch}; atexit.register(print, 'ended'); {ends}")
    assert (done.returncode, done.stdout) == (3, printed)


@pytest.mark.parametrize(
    "words",
    [
        ["layout", "--rlimi", "x", "4:1", "--format", "junit", "-o"],
        ["check", "x.py:f", "--format=sarif", "-o"],
        ["check", "--format", "junit", "4:1", "--onto", "x", "--output"],
    ],
)
def test_the_report_of_a_failure_goes_where_an_argument_says_wherever_it_stands(
    words: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "report"
    with contextlib.suppress(SystemExit):
        main([*words, str(file)])
    assert "lanecheck" in file.read_text()


def test_arguments_are_parsed_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    parsed: list[object] = []
    parse = Parser.parse_known_args
    monkeypatch.setattr(Parser, "parse_known_args", lambda *given: parsed.append(given) or parse(*given))
    assert main(["layout", "(4,8", "--onto", "4x8", "--format", "junit", "-o", str(tmp_path / "report")]) == 2
    assert len(parsed) == 1 and (tmp_path / "report").is_file()


FAULTS = """
import resource
import numpy as np
from verify.cli.ending import as_process

def work():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        [np.ones(1 << 16) for _ in range(4)]
    print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
    return 0

"""


@pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="other allocators keep what is freed by rules of their own"
)
def test_memory_of_freed_arrays_is_not_mapped_again() -> None:
    plain, ours = (
        int(subprocess.run([sys.executable, "-c", FAULTS + end], capture_output=True, text=True, check=True).stdout)
        for end in ("work()", "as_process(work)")
    )
    assert ours < plain / 4
