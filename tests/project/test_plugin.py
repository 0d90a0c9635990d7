# SPDX-License-Identifier: Apache-2.0
"""The plugin in a repository of a user's own: atoms as tests, and the fixture."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

MUSEUM = Path(__file__).parents[1] / "museum"


def pytest_in(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "lanecheck_pytest", *arguments]
    environment = {"PYTHONPATH": str(Path(__file__).parents[2]), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_each_atom_of_a_file_is_a_test(tmp_path: Path) -> None:
    done = pytest_in(tmp_path, "--lanecheck", str(MUSEUM / "wrong.toml"))
    assert done.returncode == 1 and "8 failed" in done.stdout
    assert "T0 V4 and T1 V0 both own (n=0, k=4)" in done.stdout and "Traceback" not in done.stdout
    done = pytest_in(tmp_path, "--lanecheck", str(MUSEUM / "right.toml"))
    assert done.returncode == 0 and "8 passed" in done.stdout


def test_a_required_witness_must_have_spoken(tmp_path: Path) -> None:
    text = (MUSEUM / "right.toml").read_text(encoding="utf-8")
    entry = text[text.index('["1:') : text.index('["2:')]
    unread = "\n".join(line for line in entry.splitlines() if not line.startswith("ptx"))
    (tmp_path / "unread.toml").write_text(unread, encoding="utf-8")
    assert pytest_in(tmp_path, "--lanecheck", "unread.toml").returncode == 0
    assert pytest_in(tmp_path, "--lanecheck", "unread.toml", "--lanecheck-require", "book").returncode == 1


def test_what_is_no_file_of_atoms_is_said_in_one_line(tmp_path: Path) -> None:
    done = pytest_in(tmp_path, "--lanecheck", "nowhere.toml")
    assert done.returncode == 4 and "--lanecheck nowhere.toml: no such file" in done.stderr
    (tmp_path / "bad.toml").write_text("not toml", encoding="utf-8")
    done = pytest_in(tmp_path, "--lanecheck", "bad.toml")
    assert done.returncode != 0 and "bad.toml" in done.stdout and "Traceback" not in done.stdout


def test_an_operand_that_the_instruction_has_not_is_said_in_one_line(tmp_path: Path) -> None:
    """It shows when the atom is judged, not when the file is read."""
    text = (Path(__file__).parents[2] / "examples" / "my_atoms.toml").read_text(encoding="utf-8")
    (tmp_path / "mine.toml").write_text(text + 'E = "(32,8):(1,32)"\n', encoding="utf-8")
    (tmp_path / "test_mine.py").write_text("def test_it(verify_atom): verify_atom(file='mine.toml')", encoding="utf-8")
    done = pytest_in(tmp_path, "--lanecheck", "mine.toml", "test_mine.py", "mine.toml")
    assert "2 failed" in done.stdout and done.stdout.count("has no operand E\n") >= 2
    assert "AtomFileError" not in done.stdout.split("short test summary")[0]


def test_the_fixture_finds_the_file_beside_the_test(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "atoms.toml").write_bytes((MUSEUM / "wrong.toml").read_bytes())
    (tmp_path / "inner" / "test_ours.py").write_text(
        "def test_shipped(verify_atom):\n    verify_atom('SM75_16x8x8')\n"
        "def test_ours(verify_atom):\n    verify_atom('24: SM75*', file='atoms.toml')\n"
        "def test_unknown(verify_atom):\n    verify_atom('SM99')\n",
        encoding="utf-8",
    )
    done = pytest_in(tmp_path)
    assert "1 passed" in done.stdout and "2 failed" in done.stdout
    assert "equals PTX ISA 9.7.14.5.7" in done.stdout and "no atom is named 'SM99'" in done.stdout


COPY = """
["{name}"]
ptx    = ["ldmatrix.sync.aligned.m8n8.x1.shared.b16"]
thr    = "32:1"
Src    = "((8,4),128):((128,0),1)"
Dst    = "{dst}"
Ref    = "{dst}"
space  = {{ Src = "smem", Dst = "reg" }}
bits   = {{ Src = 16, Dst = 16 }}
copies = {{ Src = 4 }}
source = "a test"
"""


def test_copy_atoms_are_tests_too(tmp_path: Path) -> None:
    text = COPY.format(name="right", dst="(32,32):(32,1)") + COPY.format(name="wrong", dst="((4,8),32):((256,32),1)")
    (tmp_path / "copies.toml").write_text(text, encoding="utf-8")
    done = pytest_in(tmp_path, "--lanecheck", "copies.toml", "--lanecheck-require", "silicon")
    assert "1 passed" in done.stdout and "1 failed" in done.stdout and "Traceback" not in done.stdout
    assert (
        "Dst calls byte 0 of lane 1 bits 256..263; it is byte 4 of lane 0, which Src calls bits 32..39" in done.stdout
    )
    (tmp_path / "test_ours.py").write_text(
        "def test_copies(verify_atom):\n    verify_atom('SM75_U32x4_LDSM_N', require=('book', 'silicon'))\n"
    )
    done = pytest_in(tmp_path, "test_ours.py")
    assert done.returncode == 0 and "1 passed" in done.stdout
