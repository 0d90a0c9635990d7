# SPDX-License-Identifier: Apache-2.0
"""The targets of the table are those that the assembler of its version takes."""

import re
import subprocess

import pytest

from isa_tables.targets import known_targets
from tests.isa_tables.test_ptxas import release


@pytest.mark.skipif(release() != (13, 0), reason="needs ptxas 13.0, whose targets the table lists")
def test_the_targets_are_those_of_ptxas() -> None:
    said = subprocess.run(["ptxas", "--help"], capture_output=True, text=True, check=True).stdout
    assert sorted(set(re.findall(r"'(sm_\w+)'", said))) == sorted(known_targets())
