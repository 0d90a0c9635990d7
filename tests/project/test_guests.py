# SPDX-License-Identifier: Apache-2.0
"""The wheel, installed beside other people's repositories: those that do not use it, and those that do."""

import os
import subprocess
import sys
import venv
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
NEEDED = ("numpy", "z3-solver", "pytest", "pytest-xdist")
ATOMS = (ROOT / "examples" / "my_atoms.toml").read_text(encoding="utf-8")

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("wheel")]  # one wheel is made for all


def list_required(names: tuple[str, ...]) -> Iterator[str]:
    """The distributions of this environment that some need, themselves included."""
    for name in names:
        yield name
        for line in distribution(name).requires or []:
            needs = Requirement(line)
            if needs.marker is None or needs.marker.evaluate():
                yield from list_required((needs.name,))


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh virtual environment with our wheel; its dependencies are links to the packages installed here."""
    folder = tmp_path_factory.mktemp("guests")
    venv.create(folder / "venv")
    python = folder / "venv" / "bin" / "python"
    (site,) = (folder / "venv" / "lib").glob("python3*/site-packages")
    for name in set(list_required(NEEDED)):
        installed = distribution(name)
        for part in {Path(str(file)).parts[0] for file in installed.files or ()} - {"..", "__pycache__"}:
            (site / part).symlink_to(Path(str(installed.locate_file(part))))
    shell(sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder, cwd=ROOT)
    (wheel,) = folder.glob("*.whl")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "--python", python]
    shell(*pip, "install", "--no-deps", "--no-index", wheel, cwd=folder)
    return python


def shell(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(params=[(), ("-n", "2")], ids=["alone", "xdist"])
def run_pytest(request: pytest.FixtureRequest, environment: Path, tmp_path: Path) -> object:
    """pytest in a repository, alone or with workers: the exit status and the output."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST_", "PYTHON"))}

    def run(*arguments: str) -> tuple[int, str]:
        words = [environment, "-m", "pytest", "-p", "no:cacheprovider", "-W", "error", *request.param, *arguments]
        done = subprocess.run(words, cwd=tmp_path, env=clean, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    return run


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


OWN = "def ours():\n    assert True\n    return __file__\n"
TEST = """
import sys
from pathlib import Path

import {name}

HERE = Path(__file__).parents[1]

def test_our_module_is_ours():
    assert HERE in Path({name}.ours()).parents
    assert type({name}.__loader__).__name__ == "SourceFileLoader", "pytest rewrote a module for its name alone"

def test_nothing_of_lanecheck_is_loaded():
    named = ("verify", "layouts", "isa_tables", "proofs", "gpu_checks", "z3", "numpy")
    assert [name for name in named if name in sys.modules] == ["{name}"]
    assert "lanecheck.pytest_plugin" in sys.modules
"""
SRC = {"pyproject.toml": '[tool.pytest]\npythonpath = ["src"]\n'}
PLACES = {
    "src/verify": SRC | {"src/verify/__init__.py": OWN},
    "verify.py": {"verify.py": OWN, "conftest.py": ""},
    "tests/verify.py": {"tests/verify.py": OWN},
    "proofs": SRC | {"src/proofs/__init__.py": OWN},
    "layouts": SRC | {"src/layouts/__init__.py": OWN},
}
NAMES = {place: Path(place).stem for place in PLACES}
GUESTS = {place: files | {"tests/test_it.py": TEST.format(name=NAMES[place])} for place, files in PLACES.items()}


@pytest.mark.parametrize("guest", GUESTS)
def test_a_repository_with_a_module_named_as_ours_is_not_affected(
    guest: str, run_pytest: object, tmp_path: Path
) -> None:
    write(tmp_path, GUESTS[guest])
    code, out = run_pytest()  # type: ignore[operator]
    assert code == 0 and "2 passed" in out, out


def test_a_repository_may_register_the_rewriting_of_its_own(run_pytest: object, tmp_path: Path) -> None:
    conftest = "import pytest\npytest.register_assert_rewrite('verify')\n"
    test = "import verify\ndef test_it():\n    assert type(verify.__loader__).__name__ == 'AssertionRewritingHook'\n"
    write(tmp_path, {"verify.py": OWN, "conftest.py": conftest, "test_it.py": test})
    code, out = run_pytest()  # type: ignore[operator]
    assert code == 0 and "1 passed" in out, out


def test_a_plugin_of_its_own_with_a_package_named_as_ours_is_rewritten_as_before(
    run_pytest: object, tmp_path: Path
) -> None:
    test = "import verify\ndef test_it():\n    assert type(verify.__loader__).__name__ == 'AssertionRewritingHook'\n"
    record = "own_plugin.py,,\nverify/__init__.py,,\nown-1.0.dist-info/RECORD,,\n"
    info = {"METADATA": "Metadata-Version: 2.1\nName: own\nVersion: 1.0\n", "RECORD": record}
    info["entry_points.txt"] = "[pytest11]\nown = own_plugin\n"
    files = {f"own-1.0.dist-info/{name}": text for name, text in info.items()}
    write(tmp_path, files | {"own_plugin.py": "", "verify/__init__.py": OWN, "test_it.py": test})
    code, out = run_pytest()  # type: ignore[operator]
    assert code == 0 and "1 passed" in out, out


def test_a_repository_that_names_a_file(run_pytest: object, tmp_path: Path) -> None:
    write(tmp_path, {"atoms/mine.toml": ATOMS, "test_it.py": "def test_it(): pass\n"})
    code, out = run_pytest("--lanecheck", "atoms/mine.toml")  # type: ignore[operator]
    assert code == 0 and "2 passed" in out, out


def test_a_repository_that_names_a_file_once_and_runs_another_test(run_pytest: object, tmp_path: Path) -> None:
    """Nothing of ours is loaded: `verify` is its own."""
    once = {"pytest.ini": "[pytest]\nlanecheck = atoms.toml\npythonpath = src\n", "atoms.toml": ATOMS}
    write(tmp_path, GUESTS["src/verify"] | once)
    code, out = run_pytest("tests/test_it.py")  # type: ignore[operator]
    assert code == 0 and "2 passed" in out, out


def test_a_repository_that_uses_the_fixture(run_pytest: object, tmp_path: Path) -> None:
    test = "def test_it(verify_atom):\n    verify_atom('SM80_16x8x8_F32F16F16F32_TN', require='isa')\n"
    wrong = "def test_wrong(verify_atom):\n    verify_atom('SM99')\n"
    write(tmp_path, {"test_it.py": test + wrong})
    code, out = run_pytest()  # type: ignore[operator]
    assert code == 1 and "1 failed, 1 passed" in out and "no atom is named 'SM99'" in out, out


@pytest.mark.parametrize("guest", GUESTS)
def test_a_module_that_hides_ours_is_reported_in_one_line(guest: str, run_pytest: object, tmp_path: Path) -> None:
    """Wherever it is, and whether it is imported before or after the file of atoms."""
    write(tmp_path, GUESTS[guest] | {"atoms.toml": ATOMS})
    code, out = run_pytest("--lanecheck", "atoms.toml")  # type: ignore[operator]
    lines = [line for line in out.splitlines() if f"lanecheck: `{NAMES[guest]}` is {tmp_path}" in line]
    assert code != 0 and lines and "Traceback" not in out, out
