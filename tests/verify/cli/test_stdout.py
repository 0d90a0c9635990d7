# SPDX-License-Identifier: Apache-2.0
"""Where reports go: an encoding that lacks letters, and a device that is full."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ATOM = """["É"]
shape  = [8, 8, 4]
thr    = "32:1"
types  = { D = "f32", A = "f32", B = "f32", C = "f32" }
A      = "(32,1):(1,0)"
B      = "(32,1):(1,0)"
C      = "(32,2):(1,32)"
source = "a test"
"""


def run(*words: str, encoding: str = "utf-8", stdout: object = subprocess.PIPE) -> "subprocess.CompletedProcess[str]":
    environment = os.environ | {"PYTHONIOENCODING": encoding, "PYTHONUNBUFFERED": ""}
    command = [sys.executable, "-m", *words]
    return subprocess.run(command, env=environment, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False)


def test_letters_that_the_encoding_lacks_are_escaped(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(ATOM, encoding="utf-8")
    done = run("verify.atom", "--atoms", str(file), encoding="ascii")
    assert (done.returncode, done.stderr) == (4, "")
    assert done.stdout.startswith("\\xc9  UNCHECKED ")


def test_the_help_needs_no_letters() -> None:
    done = run("verify", "--help", encoding="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert "usage: lanecheck COMMAND" in done.stdout


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize("words", [("verify.atom", "--list"), ("verify.layout", "8:1", "--onto", "8")], ids="|".join)
def test_a_full_device_is_one_line(words: tuple[str, ...]) -> None:
    with open("/dev/full", "w") as full:
        done = run(*words, stdout=full)
    assert (done.returncode, done.stderr) == (2, "lanecheck: cannot write to stdout: No space left on device\n")
