# SPDX-License-Identifier: Apache-2.0
"""What a command line does, run in this process: exit code, stdout, stderr and the files that it writes, all reduced.

`lines.toml` has the command lines and the files that they read; `recorded` has a file of results for each command.
"""

from __future__ import annotations

import difflib
import io
import json
import os
import re
import shlex
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest import mock

from tests.spec.reduce import reduce
from verify.__main__ import main as lanecheck

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
RECORDED = HERE / "recorded"
WIDTH = 140
SILENT = re.compile(
    r"usage:| |\d+ of \d+ "
)  # of stderr: usage, excerpts of files, and progress, which a slow machine shows
# COLUMNS: no line is broken. CUDA_VISIBLE_DEVICES: a machine with a GPU gives what one without it gives.
ENVIRONMENT = {"COLUMNS": "1000", "CUDA_VISIBLE_DEVICES": "", "NO_COLOR": "1"}


@cache
def load_lines() -> Mapping[str, Any]:
    """The content of `lines.toml`."""
    return tomllib.loads((HERE / "lines.toml").read_text(encoding="utf-8"))


def lines_of(command: str) -> list[str]:
    """The command lines of one command."""
    return [line for line in load_lines()["lines"][command].splitlines() if line and not line.startswith("#")]


def words_of(line: str, folder: str) -> list[str]:
    """The arguments of `python -m` for a command line, with its files in a folder."""
    words = [word.replace("@", f"{folder}/") for word in shlex.split(line.removeprefix("lanecheck"))]
    return words if words and "." in words[0] else ["verify", *words]


def observe(line: str) -> dict[str, Any]:
    """Run a command line as `lanecheck …`, or as `python -m …` if a dotted module is first; reduce what it did."""
    given = load_lines()["files"]
    with tempfile.TemporaryDirectory() as folder:
        for name, text in given.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        code, out, err = _run(*words_of(line, folder))
        paths = [path for path in sorted(Path(folder).rglob("*")) if path.is_file()]
        written = {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in paths}
        texts = {name: text for name, text in written.items() if text != given.get(name)}
        files = {name: reduce(_anywhere(text, folder), name) for name, text in texts.items()}
        shown = reduce(_anywhere(out, folder)) if out.strip() else None
    said = [row for row in err.splitlines() if row.strip() and not SILENT.match(row)]
    parts = {"exit": code, "stderr": len(said), "stdout": shown, "files": files}
    return {name: part for name, part in parts.items() if part or name == "exit"}


def _anywhere(text: str, folder: str) -> str:
    """Name the folder of a line's files, and the way from there to ours, as they are called on any machine."""
    return text.replace(f"{folder}/", "@").replace(f"{os.path.relpath(ROOT, folder)}/", "")


def _run(module: str, *words: str) -> tuple[int, str, str]:
    main = lanecheck if module == "verify" else import_module(module).main
    out, err = io.StringIO(), io.StringIO()
    with _steady(), redirect_stdout(out), redirect_stderr(err):
        try:
            code = main(words)
        except SystemExit as end:
            code = end.code
    return int(code or 0), out.getvalue(), err.getvalue()


@contextmanager
def _steady() -> Iterator[None]:
    """Run in the root, outside CI, with the same environment everywhere."""
    before = Path.cwd()
    with mock.patch.dict(os.environ, ENVIRONMENT), mock.patch("sys.stdin", io.StringIO()):
        os.environ.pop("CI", None)
        os.chdir(ROOT)
        try:
            yield
        finally:
            os.chdir(before)


def format_json(value: Any, indent: int = 0) -> str:
    """JSON with what fits on a line on one line, so that a difference shows the entry in which it is.

    >>> print(format_json({"exit": 1, "stdout": {"text": ["A REFUTED"]}}))
    {"exit": 1, "stdout": {"text": ["A REFUTED"]}}
    """
    short = json.dumps(value, ensure_ascii=False)
    if len(short) + indent <= WIDTH or not isinstance(value, dict | list) or not value:
        return short
    inside = " " * (indent + 1)
    if isinstance(value, dict):
        parts = [
            f"{json.dumps(name, ensure_ascii=False)}: {format_json(part, indent + 1)}" for name, part in value.items()
        ]
    else:
        parts = [format_json(part, indent + 1) for part in value]
    body = ",\n".join(inside + part for part in parts)
    first, last = "{}" if isinstance(value, dict) else "[]"
    return f"{first}\n{body}\n{' ' * indent}{last}"


def load_results(command: str) -> dict[str, Any]:
    """The results of a command's lines as they are committed; none of a file in which a merge left both sides."""
    path = RECORDED / f"{command}.json"
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        return {}


def write_results(command: str, results: Mapping[str, Any]) -> None:
    """Commit to the results of a command's lines."""
    (RECORDED / f"{command}.json").write_text(format_json(dict(results)) + "\n", encoding="utf-8")


def compare(line: str, now: Any, before: Any) -> str:
    """A unified diff of two results, under the command line; empty if they are equal."""
    now = json.loads(json.dumps(now))
    if now == before:
        return ""
    texts = ([] if result is None else format_json(result).splitlines() for result in (before, now))
    shown = [*difflib.unified_diff(*texts, "recorded", "now", lineterm="", n=1)]
    more = [f"… and {len(shown) - 40} more lines"] if len(shown) > 40 else []
    return "\n".join([f"$ {line}", *shown[:40], *more])
