# SPDX-License-Identifier: Apache-2.0
"""Bounds that keep modules and functions readable, and explanations where much is in one place."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cases import each

ROOT = Path(__file__).parents[2]
FOLDERS = ("gpu_checks", "isa_tables", "lanecheck", "layouts", "proofs", "verify", "tests", "benchmarks")
RECORD = re.compile("dataclass|NamedTuple")
PACKAGES = ("gpu_checks", "isa_tables", "lanecheck", "layouts", "proofs", "verify")
BIGGEST = sorted(
    (path for package in PACKAGES for path in (ROOT / package).rglob("*.py") if path.name != "__init__.py"),
    key=lambda path: (-len(path.read_text().splitlines()), path),
)[:12]
SOURCES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))


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


def test_no_module_is_beside_the_packages() -> None:
    assert list(ROOT.glob("*.py")) == []
    assert {path.parent.name for path in ROOT.glob("*/__init__.py")} == {*FOLDERS} - {"tests"}


def heads(node: ast.ClassDef) -> list[ast.expr]:
    """The decorators and the bases of a class."""
    return [*node.decorator_list, *node.bases]


def list_unexplained(text: str) -> Iterator[str]:
    """The fields without an explanation, in dataclasses and named tuples of more than five fields.

    A field is explained by a comment on its lines or above, a text below it, a line of the class's docstring that
    begins with its name, or, where users state it, by the help of its `key`.
    """
    lines = text.splitlines()
    if not RECORD.search(text):
        return
    for node in ast.walk(ast.parse(text)):
        if not (isinstance(node, ast.ClassDef) and any(map(RECORD.search, map(ast.unparse, heads(node))))):
            continue
        below = [*node.body[1:], ast.Pass()]
        fields = [pair for pair in zip(node.body, below, strict=True) if isinstance(pair[0], ast.AnnAssign)]
        if len(fields) <= 5:
            continue
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        comments = {token.start[0] for token in tokens if token.type == tokenize.COMMENT}
        table = re.findall(r"^(\w+)  +\S", ast.get_docstring(node) or "", re.MULTILINE)
        for field, after in fields:
            assert isinstance(field, ast.AnnAssign)
            name, first = ast.unparse(field.target), field.lineno - 1
            if not (
                name in table
                or comments.intersection(range(field.lineno, (field.end_lineno or 0) + 1))
                or (first in comments and lines[first - 1].lstrip().startswith("#"))
                or (isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant))
                or (isinstance(field.value, ast.Call) and ast.unparse(field.value.func) in ("key", "require"))
            ):
                yield f"{node.name}.{name}"


@pytest.mark.long
@each("path", [path for path in SOURCES if path.relative_to(ROOT).parts[0] in PACKAGES], ids=str)
def test_every_field_of_a_large_dataclass_is_explained(path: Path) -> None:
    assert list(list_unexplained(path.read_text())) == []


def test_a_field_without_explanation_is_found() -> None:
    plain = [f"    {name}: int\n" for name in "abcdef"]
    assert list(list_unexplained("@dataclass\nclass K:\n" + "".join(plain[:5]))) == []
    plain[0], plain[1], plain[2] = "    a: int  # lanes\n", "    # rows\n    b: int\n", '    c: int\n    "bits"\n'
    plain[3] = '    d: int = key("bytes", number)\n'
    text = '@dataclass(frozen=True)\nclass K:\n    """A.\n\n    e  the columns\n    """\n'
    assert list(list_unexplained(text + "".join(plain))) == ["K.f"]


@each("path", BIGGEST, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_big_module_names_its_main_declarations(path: Path) -> None:
    tree = ast.parse(path.read_text())
    named = set(re.findall(r"`(\w+)", ast.get_docstring(tree) or ""))
    declared = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        declared |= {target.id for target in targets if isinstance(target, ast.Name)}
    public = {name for name in declared if not name.startswith("_")}
    assert len(public & named) >= min(3, len(public))  # a module may be one class


def test_the_readme_is_short() -> None:
    """What needs more room has a page of its own in docs/."""
    assert len((ROOT / "README.md").read_text().splitlines()) <= 130


PROCESS = re.compile(r"(?:ending\.)?as_process\(|lanecheck\(\)")  # how a command of verify is a process
CHILDREN = {"verify/kernel/claims/triton_child.py", "verify/maps/child.py", "verify/identify/catalogue.py"}  # none is


def ends(path: Path) -> str:
    """What a module does where it is run: the last statement, and of `if __name__ == "__main__"` what is inside."""
    text = path.read_text()
    if "__main__" not in text and path.name != "__main__.py":  # hundreds of modules need not be parsed again
        return ""
    last = ast.parse(text).body[-1]
    if isinstance(last, ast.If) and ast.unparse(last.test) == "__name__ == '__main__'":
        return ast.unparse(last.body[-1])
    return ast.unparse(last) if path.name == "__main__.py" else ""


def test_a_command_is_run_in_one_way() -> None:
    """The module that is named: a folder by its `__main__.py` alone, as a process of ours in verify and lanecheck."""
    run = {path.relative_to(ROOT).as_posix(): ends(path) for path in SOURCES if path.parts[-2] != "adapters"}
    run = {name: how for name, how in run.items() if how and name.startswith(PACKAGES)}
    assert len(run) > 20
    assert [name for name in run if name.endswith("command.py")] == []
    run = {name: how for name, how in run.items() if name not in CHILDREN}
    ours = {name: how for name, how in run.items() if name.startswith(("verify/", "lanecheck/"))}
    assert [name for name, how in ours.items() if not PROCESS.match(how)] == []
    assert {run[name] for name in run.keys() - ours.keys()} == {"raise SystemExit(main())"}


def writes(text: str) -> list[int]:
    """The lines on which an attribute of `options` is set: what a command finds out is returned, not left there."""
    lines = []
    for node in ast.walk(ast.parse(text)) if "options" in text else ():
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        of = [target.value for target in targets if isinstance(target, ast.Attribute)]
        of += node.args[:1] if isinstance(node, ast.Call) and ast.unparse(node.func) == "setattr" else []
        lines += [node.lineno for value in of if isinstance(value, ast.Name) and value.id == "options"]
    return sorted(lines)


@pytest.mark.long
def test_no_command_writes_to_its_options() -> None:
    every = {str(path.relative_to(ROOT)): writes(path.read_text()) for path in SOURCES if "tests" not in path.parts}
    assert {name: lines for name, lines in every.items() if lines} == {}
    assert writes("options.x = 1\nsetattr(options, 'y', 2)\noptions = 3\noptions.z += 1") == [1, 2, 4]
