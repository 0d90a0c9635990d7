# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C while a command loads, or as it ends: 130 and no traceback; a program that imports us keeps its handler."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
# A command in which an import of a module raises the signal; `sys.meta_path` sees each module before it is loaded.
PLANTED = """
import os, runpy, signal, sys
class Finder:
    def find_spec(self, name, *rest):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
sys.orig_argv = [sys.executable, "-m", *{words!r}]
sys.argv = ["-m", *{words!r}[1:]]
import importlib
importlib.import_module({package!r})
runpy.run_module({words!r}[0], run_name="__main__", alter_sys=True)
"""
MODULES = {
    "verify.layout": ("typing", "lanecheck.console.installation", "verify.core.errors", "verify.cli.output"),
    "verify.atom": ("verify.cli.ending", "verify.atom.command", "layouts"),
    "lanecheck": ("verify", "verify.__main__", "verify.atom.command", "layouts"),
    "gpu_checks.banks": ("gpu_checks.banks.command", "lanecheck.console.installation"),
    "gpu_checks.probe": ("gpu_checks.worker",),
    "proofs.laws.certificates": ("proofs.laws.decide",),
}


WORDS = {
    "verify.layout": ["4:1", "--onto", "4"],
    "verify.atom": ["SM61_DP4A", "-q"],
    "lanecheck": ["atom", "SM61_DP4A", "-q"],
}


@pytest.mark.long
@pytest.mark.parametrize(("command", "module"), [(name, module) for name, all_ in MODULES.items() for module in all_])
def test_ctrl_c_while_a_command_loads_is_130_without_a_traceback(command: str, module: str) -> None:
    words = [
        command,
        *WORDS.get(command, ["--help"]),
    ]
    planted = PLANTED.format(module=module, words=words, package=command.partition(".")[0])
    done = subprocess.run(
        [sys.executable, "-S", "-c", PATH + planted], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert (done.returncode, done.stderr) in ((130, ""), (130, "lanecheck: interrupted\n")), done.stdout + done.stderr


PATH = f"import sys; sys.path[:0] = {[str(ROOT), *(p for p in sys.path if 'site-packages' in p)]!r}\n"


@pytest.mark.long
@pytest.mark.parametrize("command", ["verify.atom", "gpu_checks.probe", "lanecheck"])
def test_ctrl_c_at_any_time_prints_no_line_of_our_code(command: str) -> None:
    """A real signal at ten moments. Before our first lines have run, which set the handler, Python prints its own."""
    first = [
        f"{command.partition('.')[0]}/__init__.py",
        "lanecheck/console/__init__.py",
        "lanecheck/console/interrupts.py",
    ]
    for moment in range(10):
        words = [sys.executable, "-m", command, *WORDS.get(command, ["--list"])]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT) as running:
            try:
                running.communicate(timeout=0.02 + 0.03 * moment)
            except subprocess.TimeoutExpired:
                running.send_signal(signal.SIGINT)
            errors = running.communicate()[1]
        ours = re.findall(rf'File "{ROOT}/(?!\.venv)([^"]*)"', errors)
        assert not {*ours} - {*first}, errors
        assert running.returncode in (0, 130) or "Traceback" in errors or running.returncode == -signal.SIGINT


def test_a_program_that_imports_the_packages_keeps_its_handler() -> None:
    code = "import signal, verify, gpu_checks, proofs; assert signal.getsignal(2) is signal.default_int_handler"
    for words in (["-c", code], ["-m", "timeit", "-n1", "-r1", code]):
        done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False, cwd=ROOT)
        assert done.returncode == 0, done.stderr


def test_a_signal_that_is_ignored_stays_ignored() -> None:
    code = "import signal, sys; sys.argv = ['lanecheck']; signal.signal(2, signal.SIG_IGN); import verify"
    code += "; print(signal.getsignal(2) is signal.SIG_IGN)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.stdout == "True\n", done.stderr


LOST = """
import signal
from lanecheck.console import frame, interrupts

class Named:
    def __set_name__(self, *_):
        signal.raise_signal(signal.SIGINT)

def in_a_class():
    class Owner:
        named = Named()
    return 0

def in_a_destructor():
    class Owner:
        def __del__(self):
            signal.raise_signal(signal.SIGINT)
    Owner()
    return 4

signal.signal(signal.SIGINT, interrupts._end)
raise SystemExit(frame.run_guarded(HOW, lambda error: 130 if isinstance(error, KeyboardInterrupt) else 3))
"""


@pytest.mark.parametrize("how", ["in_a_class", "in_a_destructor", "lambda: 4"])
def test_ctrl_c_that_python_loses_is_an_interruption(how: str) -> None:
    words = [sys.executable, "-c", LOST.replace("HOW", how)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == (4 if how == "lambda: 4" else 130), done.stderr
