# SPDX-License-Identifier: Apache-2.0
"""Tests use public names of the packages; a private one only where a comment on or above its line names the seam."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("gpu_checks", "isa_tables", "lanecheck", "layouts", "proofs", "verify")
DOTTED = re.compile(rf"({'|'.join(PACKAGES)})(\.\w+)*\._[a-z]\w*")
PRIVATE = re.compile(r"_[A-Za-z]\w*")
SEAM = re.compile(r"# seam: \w+")


def root(node: ast.expr) -> str:
    """The name that an expression like `a.b(c).d` begins with."""
    while isinstance(node, ast.Attribute | ast.Call):
        node = node.value if isinstance(node, ast.Attribute) else node.func
    return node.id if isinstance(node, ast.Name) else ""


def private(text: str) -> Iterator[str]:
    """The places of a file that use a private name of a package and name no seam, as "line: name"."""
    if not re.search(r"\b_[A-Za-z]", text):
        return  # found sooner than the file is parsed
    tree, lines, ours = ast.parse(text), text.splitlines(), set()
    used: list[tuple[ast.AST, str]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in PACKAGES:
            ours |= {alias.asname or alias.name for alias in node.names}
            used += [(node, alias.name) for alias in node.names if PRIVATE.fullmatch(alias.name)]
        elif isinstance(node, ast.Import):
            ours |= {alias.asname or alias.name.split(".")[0] for alias in node.names} & {*PACKAGES}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and PRIVATE.fullmatch(node.attr) and root(node.value) in ours:
            used.append((node, node.attr))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and DOTTED.fullmatch(node.value):
            used.append((node, node.value))
        elif isinstance(node, ast.Call) and len(node.args) > 1 and root(node.args[0]) in ours:
            name = getattr(node.args[1], "value", None)
            if root(node.func) in {"monkeypatch", "patch", "getattr", "setattr"} and PRIVATE.fullmatch(str(name)):
                used.append((node, str(name)))
    for node, name in used:
        above = lines[node.lineno - 2].strip() if node.lineno > 1 else ""
        if not SEAM.search(lines[node.lineno - 1]) and not SEAM.match(above):
            yield f"{node.lineno}: {name}"


@pytest.mark.long
def test_no_test_uses_a_private_name_without_a_seam() -> None:
    paths = sorted((ROOT / "tests").rglob("*.py"))
    assert len(paths) > 150
    assert [f"{p.relative_to(ROOT)}:{use}" for p in paths for use in private(p.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize(
    "line",
    [
        "from lanecheck.console.progress import _cut",
        "progress._cut('', 1)",
        "progress.shown()._line",
        "monkeypatch.setattr(progress, '_cut', None)",
        "monkeypatch.setattr('lanecheck.console.progress._cut', None)",
    ],
)
def test_a_private_name_is_found_and_a_seam_excuses_it(line: str) -> None:
    text = f"from lanecheck.console import progress\n{line}"
    assert [use.partition(":")[0] for use in private(text)] == ["2"]
    assert list(private(f"{text}  # seam: the width of a terminal")) == []


def test_public_names_and_those_of_others_are_free() -> None:
    uses = "os._exit(1), self._x, progress.each, f.__name__"
    assert list(private(f"import os\nfrom lanecheck.console import progress\n{uses}")) == []
