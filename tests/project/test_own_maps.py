# SPDX-License-Identifier: Apache-2.0
"""docs/own-maps and the repository examples/guest: each command of the pages, each gate with its broken variant."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from verify.__main__ import main

ROOT = Path(__file__).parents[2]
GUEST = ROOT / "examples" / "guest"
FORMS = {path.stem: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs" / "own-maps").glob("*.md"))}
STORES = "foreign examples/guest/layouts/stores.py --python venv/bin/python"  # of docs/foreign.md
COMMANDS = [*re.findall(r"^lanecheck (.+)$", "".join(FORMS.values()), re.MULTILINE), STORES]
TRITON = os.environ.get("TRITON_PYTHON", sys.executable)
GATES = {
    "atoms.toml": ["atom", "--atoms", "layouts/atoms.toml"],
    "index.toml": ["index", "layouts/index.toml", "--allow-exec"],
    "accumulators.py": ["index", "layouts/index.toml", "--allow-exec"],
    "stores.py": ["foreign", "layouts/stores.py", "--allow-exec", "--python", TRITON],
}


@pytest.fixture
def guest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the repository, in which the test runs."""
    shutil.copytree(GUEST, tmp_path / "guest")
    monkeypatch.chdir(tmp_path / "guest")
    return tmp_path / "guest"


def spoil(guest: Path, file: str) -> None:
    """Put the broken variant of a file in its place."""
    shutil.copy(guest / "broken" / "layouts" / file, guest / "layouts" / file)


def needs_triton() -> None:
    """Skip the test where the interpreter has no Triton."""
    if subprocess.run([TRITON, "-c", "import triton"], capture_output=True, check=False).returncode:
        pytest.skip(f"{TRITON} has no triton; the variable TRITON_PYTHON names another interpreter")


@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_of_the_page_verifies(
    words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("CI", raising=False)
    given = shlex.split(words)
    if given[0] == "foreign":
        needs_triton()
        given = [TRITON if word == "venv/bin/python" else word for word in [*given, "--allow-exec"]]
    assert main(given) == 0
    assert capsys.readouterr().out.endswith("exit 0\n")


def test_each_form_has_a_page_with_a_command() -> None:
    overview = (ROOT / "docs" / "own-maps.md").read_text(encoding="utf-8")
    assert [form for form, text in FORMS.items() if "\nlanecheck " not in text] == []
    assert [form for form in FORMS if f"(own-maps/{form}.md)" not in overview] == []
    assert len(FORMS) == 5 and len(COMMANDS) == 15
    assert STORES in (ROOT / "docs" / "foreign.md").read_text(encoding="utf-8")


def test_the_python_of_the_page_runs() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", FORMS["functions"], re.DOTALL)
    names: dict[str, object] = {}
    exec(compile(code, "functions.md", "exec"), names)
    assert "verify_map" in names and ".check()" in code


@pytest.mark.long
@pytest.mark.parametrize("file", GATES)
def test_a_gate_of_the_guest_fails_for_its_broken_variant(
    file: str, guest: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if file == "stores.py":
        needs_triton()
    assert main(GATES[file]) == 0
    spoil(guest, file)
    capsys.readouterr()
    assert main(GATES[file]) == 1
    assert "1 refuted" in capsys.readouterr().out


def test_each_file_that_the_guest_gates_has_a_broken_variant() -> None:
    assert sorted(GATES) == sorted(path.name for path in (GUEST / "broken" / "layouts").iterdir())
    text = (GUEST / "README.md").read_text(encoding="utf-8")
    assert [file for file in GATES if f"cp broken/layouts/{file} layouts/" not in text] == []


@pytest.mark.slow
@pytest.mark.parametrize("file", ["", *GATES])
def test_make_check_of_the_guest_fails_exactly_if_a_file_is_wrong(file: str, guest: Path) -> None:
    if file == "stores.py":
        needs_triton()
    if file:
        spoil(guest, file)
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST_", "PYTHON"))}
    command = ["make", "check", f"PYTHON={sys.executable}", f"TRITON_PYTHON={TRITON}"]
    done = subprocess.run(command, cwd=guest, env=clean, capture_output=True, text=True, check=False)
    assert (done.returncode != 0) is bool(file), done.stdout + done.stderr
    assert not file or "REFUTED" in done.stdout
