# SPDX-License-Identifier: Apache-2.0
"""What a user may mean by a Python file or a function of one, and which names there are: the file is only parsed."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

PLAIN = (ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign, ast.Import, ast.ImportFrom)
"""The statements of a module whose names are plain to see: others may bind one that only running them shows."""

ONE_COLON = re.compile(r"(.+\.py):(\w[\w.]*)")


def find_colon(text: str) -> str:
    """Say that a function of a file has two colons if a text has one; empty for another text."""
    match = ONE_COLON.fullmatch(text)
    return f"{text}: a function of a file has two colons: {match[1]}::{match[2]}" if match else ""


def find_fault(text: str, folder: Path | None = None) -> str:
    """Say where FILE.py, in a folder, or a function of it is misspelled or isn't there; empty for another text."""
    if fault := find_colon(text):
        return fault
    file, colons, name = text.partition("::")
    if not file.endswith(".py"):
        return ""
    path = Path(file) if folder is None else folder / file
    if not path.is_file():
        return f"{file}: there is no such file"
    body = _statements(path)
    functions = [statement.name for statement in body if isinstance(statement, ast.FunctionDef)]
    if not colons:
        several = ", ".join(f"{file}::{function}" for function in (functions or ["NAME"])[:8])
        return f"{file}: name a function of it: {several}"
    bound = [name for statement in body for name in _names(statement)]
    unseen = {name.partition(".")[0], "*", "__getattr__"}  # the last two give names that the text has not
    if all(map(_is_plain, body)) and not unseen & {*bound}:
        close = difflib.get_close_matches(name, functions, n=3, cutoff=0.5)
        hint = f"; nearest: {', '.join(close)}" if close else f"; it has {', '.join(functions)}" if functions else ""
        return f"{text}: {file} has no {name!r}{hint}"
    return ""


def imports_module(path: Path, module: str) -> bool:
    """Return whether a Python file imports a module, or a part of it, anywhere; not if it can't be read."""
    try:
        nodes = list(ast.walk(ast.parse(path.read_bytes())))
    except (OSError, SyntaxError, ValueError):
        return False
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom) and not node.level]
    return any(name.partition(".")[0] == module for name in names)


def _statements(path: Path) -> Sequence[ast.stmt]:
    """Return the statements of a file; one of a syntax error, which whoever runs the file reports, has `pass`."""
    with suppress(SyntaxError, ValueError):
        return ast.parse(path.read_text(encoding="utf-8")).body
    return [ast.Pass()]


def _is_plain(statement: ast.stmt) -> bool:
    """Return whether the names that a statement binds are in its text; a call such as `exec(…)` may bind any."""
    docstring = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return docstring or isinstance(statement, PLAIN)


def _names(statement: ast.stmt) -> list[str]:
    """Return the names that a statement of a module binds; `*` for those of an import that names none."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return [statement.name]
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return [alias.asname or alias.name.partition(".")[0] for alias in statement.names]
    return [node.id for node in ast.walk(statement) if isinstance(node, ast.Name)]
