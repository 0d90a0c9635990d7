# SPDX-License-Identifier: Apache-2.0
"""`import lanecheck` offers what a user calls, and loads it when it is asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

import lanecheck
import layouts
import verify
from tests.cases import each

HERE = {"Layout", "check", "claim", "show"}  # `verify.check` and `verify.show` are commands


@each("name", sorted({*lanecheck.__all__} - HERE))
def test_a_name_is_the_one_of_verify(name: str) -> None:
    assert getattr(lanecheck, name) is getattr(verify, name)
    assert lanecheck.Layout is layouts.Layout


def test_all_that_verify_offers_is_here() -> None:
    assert {*verify.__all__} | HERE == {*lanecheck.__all__} <= {*dir(lanecheck)}


def test_what_is_not_offered_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'lanecheck' has no attribute 'verify_all'"):
        _ = lanecheck.verify_all


def test_the_package_alone_loads_nothing_else() -> None:
    program = "import sys, lanecheck; dir(lanecheck); print(*{'verify', 'layouts', 'numpy', 'z3'} & {*sys.modules})"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "\n"


def test_the_command_runs_as_a_module() -> None:
    done = subprocess.run([sys.executable, "-m", "lanecheck", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("lanecheck ")
