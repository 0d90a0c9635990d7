# SPDX-License-Identifier: Apache-2.0
"""Tests that share a fixture are run by one process, as those of a file are; some versions of pytest do not do it."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

CONFTEST = Path(__file__).parents[1] / "conftest.py"
MODULE = """
import os, pytest

@pytest.mark.parametrize("number", range(8))
def test_of_a_file(number):
    with open("FILE", "a") as file:
        file.write(f"{os.getpid()}\\n")
"""


@pytest.mark.slow
def test_a_group_and_a_file_are_run_by_one_process(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(CONFTEST.read_text())
    of_group = MODULE.replace("FILE", "group") + '\npytestmark = pytest.mark.xdist_group("one")\n'
    pytester.makepyfile(test_a=of_group, test_b=of_group, test_c=MODULE.replace("FILE", "file"))
    done = pytester.runpytest_subprocess("-n", "2", "--dist", "loadgroup", "-p", "no:lanecheck")
    done.assert_outcomes(passed=24)
    for name, count in (("group", 16), ("file", 8)):
        processes = (pytester.path / name).read_text().split()
        assert len(processes) == count and len({*processes}) == 1
