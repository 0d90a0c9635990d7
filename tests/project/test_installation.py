# SPDX-License-Identifier: Apache-2.0
"""Every command reports in one line that another file or package is in the place of ours."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("wheel")]  # one wheel is made for all

ROOT = Path(__file__).parents[2]
PACKAGES = ("verify", "layouts", "isa_tables", "proofs", "gpu_checks")
OF_VERIFY = ["verify", "verify.atom", "verify.tiling", "verify.movement", "verify.laws"]
OF_VERIFY += ["verify.layout", "verify.atlas", "verify.mutate"]
OF_GPU = ["gpu_checks.probe", "gpu_checks.banks", "gpu_checks.laws", "gpu_checks.order", "gpu_checks.tilings"]
OF_PROOFS = ["proofs.symbolic.campaign", "proofs.laws.certificates"]


def read_last_line(module: str, folder: Path, root: Path = ROOT) -> str:
    """The one line that `python -m MODULE` ends with."""
    environment = {**os.environ, "PYTHONPATH": str(root)}
    words = [
        sys.executable,
        "-S",
        "-m",
        module,
        "--list",
    ]  # without the packages of this environment, which are not needed
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stdout == "", done.stdout + done.stderr
    (line,) = done.stderr.splitlines()
    return line


@pytest.mark.parametrize("module", [*OF_VERIFY, *OF_GPU, *OF_PROOFS])
def test_a_file_that_hides_ours_is_named(module: str, tmp_path: Path) -> None:
    hidden = "isa_tables" if module in OF_GPU else "layouts"
    (tmp_path / f"{hidden}.py").touch()
    assert read_last_line(module, tmp_path).startswith(
        f"lanecheck: `{hidden}` is {tmp_path / hidden}.py, not Lanecheck's own"
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Our packages as pip lays them out, in a folder that may be spoiled."""
    folder = tmp_path_factory.mktemp("site")
    for package in ("lanecheck", *PACKAGES):
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__", "*.jsonl"))
    return folder


@pytest.mark.parametrize("module", ["verify", "verify.layout", "gpu_checks.banks", "proofs.laws.certificates"])
def test_a_package_of_our_name_that_pip_put_into_our_folder_is_named(module: str, site: Path, tmp_path: Path) -> None:
    """PyPI has a `verify`."""
    stray = site / "verify-1.1.1.dist-info"
    stray.mkdir()
    line = read_last_line(module, tmp_path, site)
    stray.rmdir()
    assert "another package `verify` (verify-1.1.1.dist-info)" in line and "`pip uninstall verify`" in line


@pytest.mark.parametrize("text", ['"""Another verify."""\n__version__ = "1.1.1"\n', None], ids=["over ours", "missing"])
def test_another_package_over_ours_is_reported(text: str | None, site: Path, tmp_path: Path) -> None:
    ours = site / "verify" / "__init__.py"
    kept = ours.read_text(encoding="utf-8")
    ours.unlink()
    if text is not None:
        ours.write_text(text, encoding="utf-8")
    line = read_last_line("verify.layout", tmp_path, site)
    ours.write_text(kept, encoding="utf-8")
    assert "another package's __init__.py, or none, is in the folder of Lanecheck's own" in line


def test_a_whole_installation_is_no_fault(site: Path, tmp_path: Path) -> None:
    program = "import verify, lanecheck.console.installation as i; print([i.fault()], i.ROOT)"
    environment = {**os.environ, "PYTHONPATH": str(site)}
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == f"[''] {site}\n"
