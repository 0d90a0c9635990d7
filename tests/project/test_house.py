# SPDX-License-Identifier: Apache-2.0
"""Bounds that keep modules and functions readable."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("gpu_checks", "isa_tables", "layouts", "proofs", "verify", "tests", "benchmarks")
SOURCES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_module_is_licensed_and_short(path: Path) -> None:
    text = path.read_text()
    assert text.startswith("# SPDX-License-Identifier: Apache-2.0\n")
    assert len(text.splitlines()) <= 400
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            assert node.end_lineno is not None
            assert node.end_lineno - node.lineno < 40, f"{node.name} is longer than 40 lines"
