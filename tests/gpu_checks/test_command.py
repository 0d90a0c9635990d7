# SPDX-License-Identifier: Apache-2.0
"""How the commands print: columns, names first; and when their reader closes the pipe, or the disk is full."""

import io
import os
import shlex
import subprocess
import sys

import pytest

from gpu_checks import command, laws, probe
from gpu_checks.banks import command as banks
from gpu_checks.banks.command import recordings_of_banks
from gpu_checks.model import Unavailable
from gpu_checks.tilings import command as tilings
from gpu_checks.tilings.store import recordings_of_tilings
from tests.messages import STDOUT_CLOSED


@pytest.mark.long
@pytest.mark.parametrize(
    "command",
    ["probe --list", "banks --list", "tilings --kernel", "laws DM --cpu --cases 9"],
)
def test_a_closed_pipe_ends_it_without_a_message(command):
    read, written = os.pipe()
    os.close(read)
    try:
        words = [sys.executable, "-m", *f"gpu_checks.{command}".split()]
        done = subprocess.run(words, stdout=written, stderr=subprocess.PIPE, text=True, check=False)
    finally:
        os.close(written)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_stdout_that_is_closed_is_one_line():
    listed = f"{shlex.quote(sys.executable)} -m gpu_checks.banks --list >&-"
    done = subprocess.run(listed, shell=True, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, f"{STDOUT_CLOSED}\n")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize(
    "command", ["banks", *(pytest.param(name, marks=pytest.mark.slow) for name in ("probe", "tilings"))]
)
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
def test_an_option_without_effect_is_a_usage_error(command, words, said, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stop:
        command.main(words.split())
    out, err = capsys.readouterr()
    assert stop.value.code == 2 and not out and err.endswith(f"error: {said}\n") and not list(tmp_path.iterdir())


@pytest.mark.parametrize(("cpus", "jobs"), [(None, 1), (3, 3), (400, 12)])
def test_a_probe_has_a_process_for_each_cpu_up_to_a_limit(cpus, jobs, monkeypatch):
    monkeypatch.setattr(probe.os, "cpu_count", lambda: cpus)
    assert probe._parser().parse_args([]).jobs == jobs  # seam: the default, without a GPU


def test_options_that_a_list_reads_are_no_error(capsys):
    assert probe.main(["--list", "--family", "dp4a", "dp4a.s32.s32"]) == 0
    assert tilings.main(["--list", "--file", str(tilings.SHIPPED), "mma_f16"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2


class Screen(io.StringIO):
    """A stdout that is a terminal, or is none."""

    def __init__(self, terminal):
        super().__init__()
        self.terminal = terminal

    def isatty(self):
        return self.terminal


RUNS = recordings_of_tilings()[:2]
OBSERVED = recordings_of_banks()[:9]
UNSEEN = Unavailable("not on this GPU, " + "which lacks what it needs, " * 5)
REPORTS = {
    "instructions": (probe, ["--list", "wgmma*", "mma.sp*"], "mma.sp.sync.aligned.m16n8k128"),
    "a check": (probe, ["--check"], "1422 recordings of "),
    "patterns": (banks, ["--list"], "load 32, stride 1\n"),
    "cycles": (banks, [], f"{OBSERVED[0].pattern.name} "),
    "tilings": (tilings, ["--list"], "simt_f32 "),
    "runs": (tilings, ["simt_f32", "simt_f64_vectors", "simt_dp4a"], "simt_f32 "),
    "laws": (laws, ["SWIZZLE_TILE", "--cpu", "--cases", "9"], "SWIZZLE_TILE "),
}


@pytest.mark.parametrize(("terminal", "wanted", "width"), [(True, "", 80), (False, "", 100), (True, "60", 60)])
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name == "a check" else name for name in REPORTS]
)
def test_a_report_fits_and_begins_with_a_name(name, terminal, wanted, width, monkeypatch):
    monkeypatch.setenv("COLUMNS", wanted)
    monkeypatch.setattr(tilings, "run_all", lambda chosen, seed: zip(chosen, [*RUNS, UNSEEN], strict=True))
    monkeypatch.setattr(banks, "measure", lambda chosen, quiet: OBSERVED)
    monkeypatch.setattr(sys, "stdout", shown := Screen(terminal))
    module, argv, first = REPORTS[name]
    assert module.main(argv) == 4 * (name == "runs")  # of which one is UNSEEN
    assert shown.getvalue().startswith(first)
    assert [line for line in shown.getvalue().splitlines() if len(line) > width and " " in line.strip()] == []


def test_a_long_line_goes_on_below_and_loses_no_word(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "none")
    command.show("name  " + "word " * 40 + "x" * 120, "  next  of  it", "")
    lines = capsys.readouterr().out.splitlines()
    assert " ".join(lines).split() == ["name", *["word"] * 40, "x" * 120, "next", "of", "it"]
    assert lines[0].startswith("name  word word") and 95 < len(lines[0]) <= 100
    assert lines[1].startswith("    word") and lines[-2:] == ["  next  of  it", ""]
