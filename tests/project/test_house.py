# SPDX-License-Identifier: Apache-2.0
"""Bounds that keep modules and functions readable."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.cases import each

ROOT = Path(__file__).parents[2]
FOLDERS = ("gpu_checks", "isa_tables", "layouts", "proofs", "verify", "tests", "benchmarks")
PLUGIN = ROOT / "lanecheck_pytest.py"
SOURCES = sorted([PLUGIN, *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))])


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The lines of a function, its docstring not counted."""
    assert function.end_lineno is not None
    lines = function.end_lineno - function.lineno + 1
    first = function.body[0]
    if ast.get_docstring(function) is not None and first.end_lineno is not None:
        lines -= first.end_lineno - first.lineno + 1
    return lines


def functions(node: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions of a module or a statement, and those inside: expressions, which are most of a tree, hold none."""
    for part in ast.iter_child_nodes(node):
        if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield part
        if not isinstance(part, ast.expr):
            yield from functions(part)


@each("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_module_is_licensed_and_short(path: Path) -> None:
    text = path.read_text()
    assert text.startswith("# SPDX-License-Identifier: Apache-2.0\n")
    assert len(text.splitlines()) <= 450
    assert [f.name for f in functions(ast.parse(text)) if length(f) > 60] == []


def test_one_module_stands_beside_the_packages() -> None:
    """The pytest plugin: every repository of an environment imports it, so its name is nobody else's."""
    assert list(ROOT.glob("*.py")) == [PLUGIN]
    assert {path.parent.name for path in ROOT.glob("*/__init__.py")} == {*FOLDERS} - {"tests"}
