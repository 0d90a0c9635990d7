# SPDX-License-Identifier: Apache-2.0
"""The Makefile sets itself up once and after changes, and reports what is missing. A script replaces Python."""

import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GROUPS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]

# Notes its arguments and makes `.venv/bin/python` a copy of itself; $TOO_OLD and $NO_VENV make it fail.
STUB = """#!/bin/sh
case "$*" in
  *version_info*) exit ${TOO_OLD:-0} ;;
  -c*) exit 0 ;;
esac
echo "$*" >> "$NOTES"
case "$*" in
  "-m venv --clear "*)
    test -z "$NO_VENV" || exit 1
    rm -rf .venv && mkdir -p .venv/bin && cp "$0" .venv/bin/python
    printf '#!/bin/sh\\necho lint-imports >> "$NOTES"\\n' > .venv/bin/lint-imports
    chmod +x .venv/bin/lint-imports ;;
esac
"""


class Checkout:
    """A folder with the Makefile, and a note of what was run by it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python = folder.parent / "python"
        self.notes = folder.parent / "notes"

    def make(self, *words: str, status: int = 0, **variables: str) -> tuple[list[str], str]:
        """(notes, output): the commands that one run of make executed, and what it printed."""
        self.notes.write_text("")
        command = ["make", f"PYTHON={self.python}", *words]
        outside = {key: value for key, value in os.environ.items() if not key.startswith("MAKE") and key != "ARGS"}
        environment = {**outside, "NOTES": str(self.notes), **variables}
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == status, done.stdout + done.stderr
        return self.notes.read_text().splitlines(), done.stdout + done.stderr


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    folder = tmp_path / "checkout"
    folder.mkdir()
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, folder)
    made = Checkout(folder)
    made.python.write_text(STUB)
    made.python.chmod(0o755)
    return made


def steps(notes: list[str]) -> list[str]:
    """The runs of make's tools by one word each."""
    words = {"venv": "venv", "pip": "install", "verify.atom": "verify", "pytest": "pytest", "lint-imports": "imports"}
    return [next((step for word, step in words.items() if word in line), line) for line in notes]


def test_verify_sets_up_once_and_verifies(checkout: Checkout) -> None:
    notes, _ = checkout.make("verify", "ATOM=SM80_16x8x16")
    assert steps(notes) == ["venv", "install", "install", "verify"]
    assert notes[-1] == "-m verify.atom SM80_16x8x16"
    notes, _ = checkout.make("verify", "ATOM=SM70_8x8x4")
    assert notes == ["-m verify.atom SM70_8x8x4"]


def test_names_arrive_at_the_command_as_they_were_written(checkout: Checkout) -> None:
    (checkout.folder / "SM80_file").touch()
    notes, _ = checkout.make("verify", "ATOM=UniversalFMA<float,float,float,float> SM80_*", "ARGS=-v --require gpu")
    assert notes[-1] == "-m verify.atom UniversalFMA<float,float,float,float> SM80_* -v --require gpu"


@pytest.mark.parametrize(("target", "filtered"), [("check", " -m not slow and not long"), ("test", " -m ")])
def test_every_check_is_run_in_one_order(checkout: Checkout, target: str, filtered: str) -> None:
    """`-m ''` removes the filter of slow tests that pyproject.toml sets; `check` leaves out those that are long too."""
    notes, _ = checkout.make(target)
    tests = f"-m pytest -n 2 --dist loadgroup{filtered}".rstrip()
    checks = ["-m ruff check .", "-m ruff format --check .", "-m mypy", "lint-imports", tests]
    assert [line.rstrip() for line in notes[-5:]] == checks
    assert any("--group dev" in line for line in notes)
    again, _ = checkout.make(target)
    assert [line.rstrip() for line in again] == checks
    assert steps(checkout.make("verify")[0]) == ["verify"]


def test_a_changed_project_is_installed_again(checkout: Checkout) -> None:
    checkout.make("verify")
    later = time.time() + 10
    os.utime(checkout.folder / "pyproject.toml", (later, later))
    assert steps(checkout.make("verify")[0]) == ["install", "verify"]


def test_a_moved_folder_gets_a_new_environment(checkout: Checkout) -> None:
    checkout.make("verify")
    checkout.folder = checkout.folder.rename(checkout.folder.with_name("moved"))
    assert steps(checkout.make("verify")[0]) == ["venv", "install", "install", "verify"]


def test_an_environment_whose_python_is_gone_is_made_anew(checkout: Checkout) -> None:
    checkout.make("verify")
    (checkout.folder / ".venv" / "bin" / "python").unlink()
    assert steps(checkout.make("verify")[0]) == ["venv", "install", "install", "verify"]


def test_too_old_a_python_is_named(checkout: Checkout) -> None:
    notes, out = checkout.make("verify", status=2, TOO_OLD="1")
    assert f"lanecheck needs Python 3.11 or newer; {checkout.python} is not" in out
    assert notes == []


def test_no_python_at_all_is_reported(checkout: Checkout) -> None:
    _, out = checkout.make("verify", "PYTHON=", status=2)
    assert "lanecheck needs Python 3.11 or newer: none was found" in out


def test_a_python_that_makes_no_environments_is_reported_and_leaves_nothing(checkout: Checkout) -> None:
    _, out = checkout.make("test", status=2, NO_VENV="1")
    assert "apt install python3-venv" in out
    assert not (checkout.folder / ".venv").exists()


def test_gpu_tests_may_not_be_skipped(checkout: Checkout) -> None:
    notes, _ = checkout.make("gpu", "CUDA=12")
    assert notes[-2].endswith("install --editable .[cuda12]")
    assert notes[-1].rstrip() == "-m pytest -m gpu --require-gpu"


def test_the_gates_have_the_library_that_they_are_compared_with(checkout: Checkout) -> None:
    """The rest of its wheel, which needs other packages, is not used."""
    notes, _ = checkout.make("bench", "ARGS=algebra")
    assert any("--group dev" in line for line in notes)
    assert notes[-2].endswith("install --no-deps --group bench")
    (pinned,) = GROUPS["bench"]
    assert pinned.startswith("nvidia-cutlass==")
    assert notes[-1] == "-m benchmarks algebra"
    assert checkout.make("bench")[0] == ["-m benchmarks"]


def test_a_group_that_is_installed_by_name_is_there() -> None:
    """In the Makefile, in messages of our commands and on pages."""
    files = [ROOT / "Makefile", *(ROOT / "docs").rglob("*.md"), *(ROOT / "benchmarks").rglob("*.py")]
    named = {name for file in files for name in re.findall(r"--group ([a-z]+)", file.read_text(encoding="utf-8"))}
    assert named == {"bench", "dev", "mutants"} and named <= GROUPS.keys()


def test_help_names_every_target(checkout: Checkout) -> None:
    _, out = checkout.make()
    phony = [line.split()[1] for line in (ROOT / "Makefile").read_text().splitlines() if line.startswith(".PHONY: ")]
    targets = {name for name in phony if not name.startswith("$")}
    assert targets - {"help", "lint"} == {line.split()[1] for line in out.splitlines()}


@pytest.mark.long
def test_slow_tests_are_left_out_by_default_and_run_by_make_test() -> None:
    command = [sys.executable, *"-m pytest --collect-only -q --noconftest -p no:cacheprovider".split()]
    bare, whole = (
        subprocess.run(
            [*command, "tests/project/test_gpu_marker.py", *words],
            cwd=ROOT,
            env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
            capture_output=True,
            text=True,
            check=False,
        ).stdout
        for words in ([], ["-m", ""])
    )
    assert "::" not in bare and "deselected" in bare
    assert "::" in whole and "deselected" not in whole


def test_the_gate_is_make_test() -> None:
    gate = ROOT / ".ci" / "run"
    assert os.access(gate, os.X_OK)
    assert gate.read_text().splitlines()[-1] == "exec make --no-print-directory test </dev/null"
