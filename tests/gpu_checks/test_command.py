# SPDX-License-Identifier: Apache-2.0
"""What the commands do when their reader closes the pipe, or the device is full."""

import os
import subprocess
import sys

import pytest

from gpu_checks import banks, probe
from gpu_checks.tilings import __main__ as tilings


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


@pytest.mark.parametrize(
    ("command", "words", "said"),
    [
        (probe, "--list -o there --trials 3", "--list reads no --output, --trials"),
        (probe, "--list --all --require", "--list reads no --require"),
        (probe, "--check --all", "--check reads no --all"),
        (probe, "dp4a.s32.s32 --check --list", "--check reads no MNEMONIC, --list"),
        (banks, "--list --record there", "--list reads no --record"),
        (banks, "--list --require", "--list reads no --require"),
        (tilings, "--list --seed 3", "--list reads no --seed"),
        (tilings, "--kernel mma_f16 --record there", "--kernel reads no --record"),
        (tilings, "--list --kernel", "--list reads no --kernel"),
    ],
)
def test_an_option_that_nobody_would_read_is_a_usage_error(command, words, said, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stop:
        command.main(words.split())
    out, err = capsys.readouterr()
    assert stop.value.code == 2 and not out and err.endswith(f"error: {said}\n") and not list(tmp_path.iterdir())


def test_options_that_a_list_reads_are_no_error(capsys):
    assert probe.main(["--list", "--family", "dp4a", "dp4a.s32.s32"]) == 0
    assert tilings.main(["--list", "--file", str(tilings.SHIPPED), "mma_f16"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
