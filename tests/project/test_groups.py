# SPDX-License-Identifier: Apache-2.0
"""Tests that share an expensive fixture are run by one process; of some versions of pytest they are not."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]

MODULE = """
import os, pytest

pytestmark = pytest.mark.xdist_group("one")

@pytest.mark.parametrize("number", range(8))
def test_of_a_group(number):
    with open("processes", "a") as file:
        file.write(f"{os.getpid()}\\n")
"""


@pytest.mark.slow
def test_a_group_is_run_by_one_process(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_a=MODULE, test_b=MODULE)
    done = pytester.runpytest_subprocess("-n", "2", "--dist", "loadgroup", "-p", "no:lanecheck")
    done.assert_outcomes(passed=16)
    assert len({*(pytester.path / "processes").read_text().split()}) == 1
