# SPDX-License-Identifier: Apache-2.0
"""The runner of others' test suites, on a checkout that isn't there, and the summaries that it reads."""

import subprocess
import sys
from pathlib import Path

from benchmarks.suites import command, count_launches, read_suites

ROOT = Path(__file__).parents[2]


def test_a_checkout_without_the_files_is_not_measured(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.suites", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 4
    assert done.stdout.count("not measured") == 5


def test_each_key_of_the_list_is_in_a_command() -> None:
    suite = read_suites()["triton"]
    assert set(suite["select"]) <= set(suite["files"])
    words = command(suite, "unit/language/test_core.py", ["-x"])
    assert words[-3:] == ["-k", "dot", "unit/language/test_core.py"]
    assert {"--lanecheck-kernels", "sm_90a", "-x"} <= set(words)


def test_a_summary_is_counted() -> None:
    text = "1 compared in a line of the test\n4 compared, 2 undecided, 1 safety only, 7 not captured; for sm_90a\n"
    assert count_launches(text) == {"compared": 4, "undecided": 2, "safety only": 1, "not captured": 7}
