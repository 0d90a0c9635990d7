# SPDX-License-Identifier: Apache-2.0
"""How the code speaks gets better, never worse: four counts over the packages, each with the most that it may be.

Each import inside a function is of a module for which `language.toml` has the reason. Lower a number there if you have
mended what it counts. Raising one needs a reason in the review.
"""

from __future__ import annotations

import ast
import subprocess
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("language")]  # all modules are parsed once a run

ROOT = Path(__file__).parents[2]
PRODUCT = ("lanecheck", "verify", "layouts", "isa_tables", "proofs", "gpu_checks")
LIMITS = tomllib.loads((Path(__file__).parent / "language.toml").read_text())
LATE: dict[str, list[str]] = LIMITS.pop("late")
# Participles that do not end in -ed, and words that name nothing: `found(...)` returns what, of what?
BARE = frozenset(
    "begun bound built chosen cut done drawn fed found given gone grown held hidden hit kept known laid left lent lost "
    "made met often one other put read run said seen sent set shown spent spread taken thrown to told won written item"
    .split()
)  # fmt: skip

# Variables that name nothing: a reader has to find out what was found, and what the other one is.
EMPTY = frozenset(("found", "one", "ones", "other", "others"))


@cache
def modules() -> tuple[tuple[Path, ast.Module], ...]:
    paths = [path for name in PRODUCT for path in (sorted((ROOT / name).rglob("*.py")) or [ROOT / name])]
    return tuple((path, ast.parse(path.read_text(encoding="utf-8"))) for path in paths)


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all below it but expressions, which are most of a tree and hold no statement."""
    yield node
    for part in ast.iter_child_nodes(node):
        if not isinstance(part, ast.expr):
            yield from statements(part)


def classes_that_stand_twice() -> list[str]:
    """Names of classes at the top of more than one module."""
    names = Counter(node.name for _, tree in modules() for node in tree.body if isinstance(node, ast.ClassDef))
    return sorted(name for name, count in names.items() if count > 1)


def is_bare(name: str) -> bool:
    """Whether a function's name is one participle.

    >>> [name for name in ("found", "_bounded", "find_bound", "feed", "read_claim") if is_bare(name)]
    ['found', '_bounded']
    """
    word = name.strip("_")
    return word in BARE or ("_" not in word and word.endswith("ed") and word not in ("feed", "need", "seed", "speed"))


def functions_named_by_a_participle() -> list[str]:
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [
        f"{file}:{node.lineno} {node.name}"
        for file, tree in modules()
        for node in statements(tree)
        if isinstance(node, functions) and is_bare(node.name)
    ]


def imports_inside_functions() -> list[str]:
    return [f"{file}:{node.lineno}" for file, node in late_imports()]


def late_imports() -> Iterator[tuple[Path, ast.Import | ast.ImportFrom]]:
    """Those of a `kind.py` aside: every command loads every row, so what a row needs is imported when it is called."""
    for file, tree in modules():
        for function in statements(tree) if file.name != "kind.py" else ():
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                yield from (
                    (file, node) for node in statements(function) if isinstance(node, ast.Import | ast.ImportFrom)
                )


def variables_that_name_nothing() -> list[str]:
    return [f"{file}:{line} {name}" for file, tree in modules() for line, name in list_variables(tree) if name in EMPTY]


def list_variables(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the line and the name of each variable and parameter where it is bound.

    The parameters of a method such as `__eq__` are left out: Python itself calls the other operand `other`.

    >>> source = "class C:\\n    def __eq__(self, other): ...\\n    def absorb(self, row):\\n        one = row"
    >>> list(list_variables(ast.parse(source)))
    [(3, 'self'), (3, 'row'), (4, 'one')]
    """
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    operands = {arg for node in functions if node.name.startswith("__") for arg in node.args.args}
    for node in ast.walk(tree):
        if isinstance(node, ast.arg) and node not in operands:
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id


COUNTS: dict[str, Callable[[], list[str]]] = {
    "classes": classes_that_stand_twice,
    "names": functions_named_by_a_participle,
    "imports": imports_inside_functions,
    "variables": variables_that_name_nothing,
}


@pytest.mark.parametrize("what", COUNTS)
def test_the_count_does_not_rise(what: str) -> None:
    places = COUNTS[what]()
    assert len(places) <= LIMITS[what], f"{len(places)} {what}, at most {LIMITS[what]}: {of_this_change(places)}"


def of_this_change(places: list[str]) -> list[str]:
    """Return what stands in files that were not committed yet, or that the last commit changed: one of them is new."""
    asked = ["status", "--porcelain", "-uall", "--no-renames"], ["show", "--name-only", "--format=", "HEAD"]
    answers = [
        subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False) for words in asked
    ]
    changed = [line.split()[-1] for line in (answers[0].stdout or answers[1].stdout).splitlines()]
    return [place for place in places if any(f"{name}:" in place for name in changed)] or places[-20:]


def test_every_count_has_its_limit() -> None:
    assert LIMITS.keys() == COUNTS.keys()


def test_every_import_inside_a_function_has_its_reason_and_every_reason_an_import() -> None:
    named = [name for names in LATE.values() for name in names]
    assert len(named) == len(set(named))
    targets = {
        (file, name)
        for file, node in late_imports()
        for name in ([node.module] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names])
    }
    assert [f"{file} imports {name}" for file, name in sorted(targets, key=str) if name not in named] == []
    assert set(named) - {name for _, name in targets} == set()
