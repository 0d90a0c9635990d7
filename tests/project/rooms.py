# SPDX-License-Identifier: Apache-2.0
"""The picture of the rooms in docs/architecture.md, from the imports: `python -m tests.project.rooms --write`.

A room is a folder of a package, or a file beside its folders. It is one floor above the highest room that it
imports, so every arrow points down.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "architecture.md"
BEGIN, END = "<!-- rooms -->\n", "<!-- end of rooms -->\n"
PACKAGES = ("verify", "gpu_checks", "proofs", "layouts", "isa_tables", "lanecheck")


def room(module: str) -> str:
    """The room of a module: its package and the folder or file below it.

    >>> room("verify.atom.checker"), room("layouts.layout")
    ('verify.atom', 'layouts.layout')
    """
    return ".".join(module.split(".")[:2])


def modules() -> Mapping[str, Path]:
    """Every module of our packages, by its dotted name."""
    paths = (path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py")))
    return {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in paths}


@lru_cache(maxsize=1)
def imports() -> Mapping[str, set[str]]:
    """By room the other rooms that it imports, at any place of its files."""
    known = modules()
    arrows: dict[str, set[str]] = {room(name): set() for name in known}
    for name, path in known.items():
        for target in _list_imported(path, known):
            if room(target) != room(name):
                arrows[room(name)].add(room(target))
    return arrows


def _list_imported(path: Path, known: Mapping[str, Path]) -> Iterator[str]:
    for node in import_statements(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                if inner in known or node.module in known:
                    yield inner if inner in known else node.module


def import_statements(path: Path) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports of a file, those inside functions too; expressions, which are most of a tree, hold none."""
    inside: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while inside:
        node = inside.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        else:
            inside += (part for part in ast.iter_child_nodes(node) if not isinstance(part, ast.expr))


def floors(package: str, arrows: Mapping[str, set[str]]) -> list[list[str]]:
    """The rooms of a package, the highest floor first."""
    height: dict[str, int] = {}

    def of(name: str) -> int:
        if name not in height:
            below = (target for target in arrows[name] if target.startswith(f"{package}.") and target != package)
            height[name] = 1 + max(map(of, below), default=-1)
        return height[name]

    rooms = [name for name in arrows if name.startswith(f"{package}.")]
    return [[name for name in rooms if of(name) == h] for h in sorted(set(map(of, rooms)), reverse=True)]


def picture() -> str:
    """Each package with its rooms, floor by floor, and the packages that it imports."""
    arrows = imports()
    lines = []
    for package in PACKAGES:
        imported = {
            target.split(".")[0]
            for name, targets in arrows.items()
            if name.split(".")[0] == package
            for target in targets
        }
        lines.append(f"{package}   imports {', '.join(sorted(imported - {package})) or 'none of ours'}")
        for row in floors(package, arrows):
            lines.append("    " + "  ".join(name.partition(".")[2] for name in row))
    return "```\n" + "\n".join(lines) + "\n```\n"


def page(text: str) -> str:
    """The page with the picture of today in it."""
    before, _, rest = text.partition(BEGIN)
    return before + BEGIN + picture() + END + rest.partition(END)[2]


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    else:
        print(picture(), end="")
