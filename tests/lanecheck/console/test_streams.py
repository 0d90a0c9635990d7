# SPDX-License-Identifier: Apache-2.0
"""A stdout whose reader has gone, and a stderr that is closed, change no exit code: real pipes and descriptors."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.messages import STDOUT_CLOSED

ROOT = Path(__file__).parents[3]
REFUTED = "verify.layout (4,8):(8,1) --onto 4x4"
CALLS = {
    REFUTED: 1,
    "verify.layout (4,8):(8,1) --equals (4,8):(8,1)": 0,
    "verify.atom SM80_16x8x16_F32F16F16F32_TN": 0,
    "verify.atom SM80_16x8x16_F32F16F16F32_TN --format json": 0,
    "verify.atom --list": 0,
    "verify.atom --help": 0,
    "verify.atom --version": 0,
    "verify.atom nonsense": 2,
    "verify": 2,
    "gpu_checks.banks --list": 0,
    "gpu_checks.probe --list": 0,
    "gpu_checks.probe nonsense": 2,
    "gpu_checks.laws SWIZZLE_TILE --cpu --cases 100": 0,
    "gpu_checks.banks --help": 0,
    "proofs.laws.certificates --help": 0,
}


def command(line: str) -> list[str]:
    return [sys.executable, "-m", *line.split()]


@pytest.mark.long
@pytest.mark.parametrize("line", CALLS)
@pytest.mark.parametrize("buffered", [True, False])
def test_a_reader_that_has_gone_changes_no_exit_code(line: str, buffered: bool) -> None:
    read, written = os.pipe()
    os.close(read)
    environment = os.environ | {"PYTHONUNBUFFERED": "" if buffered else "1"}
    try:
        done = subprocess.run(
            command(line), stdout=written, stderr=subprocess.PIPE, text=True, check=False, env=environment, cwd=ROOT
        )
    finally:
        os.close(written)
    assert done.returncode == CALLS[line] and "Traceback" not in done.stderr and "Broken pipe" not in done.stderr
    assert len(done.stderr.splitlines()) == (1 if "nonsense" in line else 0)


@pytest.mark.long
@pytest.mark.parametrize("line", [REFUTED, "verify.atom nonsense", "gpu_checks.probe nonsense", "verify.atom --help"])
@pytest.mark.parametrize("closed", ["2>&-", "2>&- <&-", "2>/dev/full", "2>&1 | true"])
def test_a_stderr_that_cannot_be_written_changes_no_exit_code(line: str, closed: str) -> None:
    words = f"{shlex.join(command(line))} {closed}"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {words}"], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == CALLS[line], done.stdout + done.stderr
    assert "Traceback" not in done.stdout and "internal error, " not in done.stdout and not done.stderr
    assert "|" in closed or "nonsense" in line or done.stdout  # no message of stderr's in the report
    assert "no atom is named" not in done.stdout or "|" in closed


def test_a_pipeline_keeps_the_verdict() -> None:
    words = f"set -o pipefail; {shlex.join(command(REFUTED))} | head -1"
    done = subprocess.run(["bash", "-c", words], capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, len(done.stdout.splitlines())) == (1, 1)


@pytest.mark.long
@pytest.mark.parametrize("closed", ["2>&-", "<&- 2>&-", "<&- >&- 2>&-"])
def test_what_goes_to_a_closed_stream_is_in_no_file(closed: str, tmp_path: Path) -> None:
    """A file that is opened later would get the free descriptor, and what is written to it."""
    file = tmp_path / "report"
    words = f"{shlex.join(command(REFUTED))} -o {file} {closed}"
    done = subprocess.run(["bash", "-c", words], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 1, done.stderr
    assert file.read_text().startswith("(4,8):(8,1)") and file.read_text().endswith("exit 1\n")


@pytest.mark.parametrize("line", [REFUTED, "gpu_checks.banks --list"])
def test_a_stdout_that_is_closed_is_an_error_for_what_it_prints(line: str) -> None:
    done = subprocess.run(
        ["bash", "-c", f"{shlex.join(command(line))} >&-"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2 and done.stderr.endswith(f"{STDOUT_CLOSED}\n")
