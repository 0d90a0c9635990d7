# SPDX-License-Identifier: Apache-2.0
"""An installed wheel is complete: it works in another folder, with its data and without our tests."""

import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = {"lanecheck", "verify", "layouts", "isa_tables", "proofs", "gpu_checks"}
META = "lanecheck-0.1.0.dist-info"

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("wheel")]  # one wheel is made for all


def run(*command: str | Path, cwd: Path, site: Path | None = None) -> str:
    """What a command prints, in a folder, with the installed copy in front of anything else."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    if site is not None:
        environment["PYTHONPATH"] = str(site)
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder, cwd=ROOT)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    run(*pip, "install", "--no-deps", "--no-index", "--target", folder, wheel, cwd=folder)
    return folder


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def member(wheel: Path, name: str) -> str:
    with zipfile.ZipFile(wheel) as archive:
        return archive.read(name).decode()


def test_the_wheel_holds_our_packages_and_nothing_else(wheel: Path) -> None:
    assert {name.split("/")[0] for name in names(wheel)} == PACKAGES | {META}


def test_the_wheel_holds_every_module_and_every_data_file(wheel: Path) -> None:
    ours = {
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and not any(p == "__pycache__" or p.startswith(".") for p in path.relative_to(ROOT).parts)
    }
    assert {name for name in names(wheel) if not name.startswith(META)} == ours
    assert {f"{package}/py.typed" for package in PACKAGES} <= ours
    assert {"layouts/atoms/sm80.toml", "isa_tables/ptx/mma_m16n8k16_16b.toml", "gpu_checks/kernels/mma.cu"} <= ours


def test_the_sources_hold_what_the_wheel_is_made_of(tmp_path: Path) -> None:
    run(sys.executable, "-m", "hatchling", "build", "--target", "sdist", "--directory", tmp_path, cwd=ROOT)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        packed = {name.partition("/")[2] for name in opened.getnames()}
    assert {f"{package}/py.typed" for package in PACKAGES} <= packed
    assert {"tests/project/test_wheel.py", "docs/pytest.md", "examples/my_atoms.toml", "pyproject.toml"} <= packed


def test_the_metadata_says_what_is_needed(wheel: Path) -> None:
    metadata = Parser().parsestr(member(wheel, f"{META}/METADATA"))
    required = metadata.get_all("Requires-Dist") or []
    assert sorted(line for line in required if "extra ==" not in line) == ["numpy<3,>=2.0", "z3-solver<6,>=4.15"]
    assert {"cluster", "cuda12", "cuda13", "png", "rich", "recheck", "test"} == set(
        metadata.get_all("Provides-Extra") or []
    )
    assert (metadata["Requires-Python"], metadata["License-Expression"]) == (">=3.11", "Apache-2.0")
    assert "BSD-3-Clause" in member(wheel, f"{META}/licenses/NOTICE")
    assert "Apache License" in member(wheel, f"{META}/licenses/LICENSE")


def test_pytest_and_the_shell_find_their_entry_points(wheel: Path) -> None:
    lines = member(wheel, f"{META}/entry_points.txt").split("\n")
    assert "lanecheck = verify.__main__:lanecheck" in lines
    assert "lanecheck = lanecheck.pytest_plugin" in lines


def test_the_installed_copy_reads_its_own_data(site: Path, tmp_path: Path) -> None:
    program = """
import gpu_checks, isa_tables, layouts.atoms, proofs, verify
for module in (gpu_checks, isa_tables, layouts, proofs, verify):
    print(module.__file__)
print(len(layouts.atoms.registry()), len(isa_tables.mnemonics()) > 90, len(gpu_checks.recordings()) > 0)
"""
    *files, counts = run(sys.executable, "-c", program, cwd=tmp_path, site=site).split("\n")[:-1]
    assert all(Path(file).is_relative_to(site) for file in files), files
    assert counts == "2743 True True"


def test_the_installed_command_verifies_an_atom(site: Path, tmp_path: Path) -> None:
    """Its exit status is 0, which `run` asserts: every claim is verified."""
    out = run(site / "bin" / "lanecheck", "atom", "SM80_16x8x8_F32TF32TF32F32_TN", cwd=tmp_path, site=site)
    assert "SM80_16x8x8_F32TF32TF32F32_TN" in out


def test_the_extra_and_the_group_for_tests_are_one_list() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["optional-dependencies"]["test"] == project["dependency-groups"]["test"]
