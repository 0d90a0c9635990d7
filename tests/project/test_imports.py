# SPDX-License-Identifier: Apache-2.0
"""Which package may import which, read from the sources without import-linter; and its contracts find violations."""

import ast
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cases import each
from tests.project.rooms import import_statements

ROOT = Path(__file__).parents[2]
PACKAGES = ("gpu_checks", "isa_tables", "lanecheck", "layouts", "proofs", "verify")
STANDARD = sys.stdlib_module_names | {"_sha2", "_sha256"}  # of two versions of Python
OUTSIDE = {"numpy": set(PACKAGES) - {"lanecheck"}, "z3": {"proofs"}, "cvc5": {"proofs"}, "cupy": {"gpu_checks"}}
OUTSIDE |= {"rich": {"lanecheck.console"}, "pytest": {"lanecheck"}, "resvg_py": {"verify"}}
OURS = {
    "lanecheck": {"layouts", "verify"},  # its facade, and the plugin
    "lanecheck.console": set(),
    "layouts": set(),
    "isa_tables": set(),
    "proofs": {"lanecheck", "layouts"},
    "gpu_checks": {"lanecheck", "isa_tables"},
    "verify": {"lanecheck", "layouts", "isa_tables", "proofs", "gpu_checks"},
}


def modules() -> list[Path]:
    """Every module but adapters, which run in another project's interpreter and import that project."""
    paths = (path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    return sorted(path for path in paths if path.parent != ROOT / "verify" / "foreign" / "adapters")


def list_imported(path: Path) -> Iterator[str]:
    """Every module that a file imports anywhere, also inside functions."""
    for node in import_statements(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        else:
            assert node.level == 0, f"{path}: a relative import"
            assert node.module is not None
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def is_allowed(name: str, path: Path) -> bool:
    """Whether the file of a package may import a name."""
    parts, top = path.relative_to(ROOT).parts, name.partition(".")[0]
    package = "lanecheck.console" if parts[:2] == ("lanecheck", "console") else parts[0]
    if top == "lanecheck" and package != "lanecheck":
        return name.startswith("lanecheck.console.") and (package == "lanecheck.console" or top in OURS[package])
    if (package, top) == ("gpu_checks", "isa_tables"):
        return name.startswith("isa_tables.signature.")
    if top in PACKAGES:
        return top == package or top in OURS[package]
    if top == "cupy" and path.name != "cuda.py":
        return False
    return top in STANDARD or package in OUTSIDE.get(top, set())


def test_what_a_package_may_not_import() -> None:
    names = ("isa_tables.formula.parse", "verify.api", "cupy.cuda", "requests")
    assert [name for name in names if is_allowed(name, ROOT / "gpu_checks" / "probe.py")] == []
    names = ("lanecheck.Layout", "lanecheck.pytest_plugin.HOME")
    assert [name for name in names if is_allowed(name, ROOT / "gpu_checks" / "probe.py")] == []
    names = ("layouts.Layout", "verify.Report", "lanecheck.verify_atom", "pytest")
    assert [name for name in names if is_allowed(name, ROOT / "lanecheck" / "console" / "exits.py")] == []
    names = ("isa_tables.signature.signature", "gpu_checks.model", "cupy.cuda", "numpy", "os.path")
    assert all(is_allowed(name, ROOT / "gpu_checks" / "device" / "cuda.py") for name in names)


@each("path", modules(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_module_imports_only_what_its_package_may(path: Path) -> None:
    assert [name for name in list_imported(path) if not is_allowed(name, path)] == []


def test_the_plugin_imports_pytest_alone_until_lanecheck_is_asked_for() -> None:
    path = ROOT / "lanecheck/pytest_plugin.py"
    imported = {name.split(".")[0] for name in list_imported(path)} - sys.stdlib_module_names
    assert imported == {"pytest", "verify", "lanecheck"}
    ours = {*PACKAGES} - {"lanecheck"}
    program = f"import sys, lanecheck.pytest_plugin; print(*{ours} & {{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    program = f"""
import sys
import {", ".join(name for name in PACKAGES if name != "proofs")}, layouts.atoms, verify.__main__
print(*sorted({{"z3", "cvc5", "cupy", "rich"}} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


PLANTED = [
    ("layouts/layout.py", "import z3", "layouts knows no ISA and no solver"),
    ("layouts/atoms/reading.py", "import isa_tables", "layouts knows no ISA and no solver"),
    ("isa_tables/signature.py", "from layouts import Layout", "isa_tables imports nothing of ours"),
    ("lanecheck/console/progress.py", "import layouts", "the console knows no check"),
    ("proofs/layout/points.py", "import isa_tables", "proofs sees layouts only"),
    ("gpu_checks/probe.py", "from layouts import Layout", "gpu_checks shares nothing"),
    ("gpu_checks/probe.py", "from isa_tables import instruction", "gpu_checks reads signatures"),
    ("gpu_checks/probe.py", "from isa_tables.formula import parse", "gpu_checks reads signatures"),
    ("gpu_checks/probe.py", "import cupy", "cupy is imported in gpu_checks.device.cuda alone"),
    ("verify/evidence/isa.py", "import z3", "verify uses solvers through proofs only"),
    ("verify/core/digits.py", "from verify.binding import atom", "the rooms of verify import downward"),
    ("verify/tiling/spec.py", "from verify.movement import spec", "the rooms of verify import downward"),
    ("proofs/smt/term.py", "from proofs.layout import modes", "the rooms of proofs import downward"),
    ("gpu_checks/kernels/mma.py", "from gpu_checks import record", "the rooms of gpu_checks import downward"),
    ("isa_tables/nearest.py", "from isa_tables import signature", "no two files import each other"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("module", "line", "contract"), PLANTED, ids=[f"{m}:{line}" for m, line, _ in PLANTED])
def test_a_contract_finds_a_violation(tmp_path: Path, module: str, line: str, contract: str) -> None:
    pytest.importorskip("importlinter", reason="import-linter is in the lint group only")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__", "*.jsonl"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    planted = tmp_path / module
    planted.write_text(f"{planted.read_text()}\n{line}\n")
    linter = "import sys; sys.path.insert(0, ''); from importlinter.cli import lint_imports; sys.exit(lint_imports())"
    done = subprocess.run([sys.executable, "-c", linter], cwd=tmp_path, capture_output=True, text=True, check=False)
    broken = [text for text in done.stdout.split("\n") if " BROKEN" in text]
    assert done.returncode == 1, done.stdout + done.stderr
    assert [text for text in broken if text.startswith(contract)], done.stdout
