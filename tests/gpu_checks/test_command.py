# SPDX-License-Identifier: Apache-2.0
"""What the commands do when their reader closes the pipe, or the device is full."""

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


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize("command", ["probe", "banks", "tilings"])
def test_a_full_device_is_one_line(command):
    listed = [sys.executable, "-m", f"gpu_checks.{command}", "--list"]
    buffered = os.environ | {"PYTHONUNBUFFERED": ""}
    with open("/dev/full", "w") as full:
        done = subprocess.run(listed, stdout=full, stderr=subprocess.PIPE, env=buffered, check=False)
    assert (done.returncode, done.stderr) == (2, b"cannot write: No space left on device\n")
