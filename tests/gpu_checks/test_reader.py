# SPDX-License-Identifier: Apache-2.0
"""What the commands do when their reader closes the pipe."""

import os
import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "command",
    ["probe --list", "banks --list", "tilings --kernel", "laws --cpu --cases 100"],
)
def test_a_closed_pipe_ends_it_without_a_word(command):
    read, written = os.pipe()
    os.close(read)
    try:
        words = [sys.executable, "-m", *f"gpu_checks.{command}".split()]
        done = subprocess.run(words, stdout=written, stderr=subprocess.PIPE, text=True, check=False)
    finally:
        os.close(written)
    assert (done.returncode, done.stderr) == (2, "")
