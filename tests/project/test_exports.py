# SPDX-License-Identifier: Apache-2.0
"""What the packages export: every name of an `__all__` resolves, and docs/stability.md promises names of it alone."""

import ast
import re
from importlib import import_module
from pathlib import Path

from tests.cases import each

ROOT = Path(__file__).parents[2]
PACKAGES = ("gpu_checks", "isa_tables", "lanecheck", "layouts", "proofs", "verify")


def name_of(path: Path) -> str:
    """The dotted name of a module."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def exports(path: Path) -> set[str]:
    """The public names that a package's `__init__` defines, or imports from its own modules."""
    names = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.ImportFrom) and str(node.module).startswith(f"{name_of(path)}."):
            names |= {alias.asname or alias.name for alias in node.names}
    return {name for name in names if not name.startswith("_")}


INITS = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("__init__.py"))
EXPORTING = INITS + [ROOT / "verify" / f"{name}.py" for name in ("api", "gate")]


@each("path", EXPORTING, ids=name_of)
def test_every_exported_name_is_listed_and_resolves(path: Path) -> None:
    module = import_module(name_of(path))
    listed = module.__all__
    assert len(set(listed)) == len(listed)
    assert exports(path) <= set(listed)
    assert [name for name in listed if not hasattr(module, name)] == []


def test_what_is_promised_to_stay_is_exported() -> None:
    text = (ROOT / "docs" / "stability.md").read_text()
    promised = re.findall(r"`from (\w+) import ([^`]+)`", text)
    assert promised
    for module, names in promised:
        assert set(names.split(", ")) <= set(import_module(module).__all__)
    for module in re.findall(r"`(\w+)\.__init__`", text):
        assert import_module(module).__all__
