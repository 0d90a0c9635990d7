# SPDX-License-Identifier: Apache-2.0
"""`python -m tests.project.compare_outputs REV`: does every command still print, byte for byte, what it printed at REV?

The command lines of tests/spec, right, wrong and malformed, run in the working tree and in a checkout of REV:
stdout, stderr, exit code and every file written are compared, after a change that must not change any output. No result
is kept between runs.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.spec.observe import lines_of, load_lines, words_of

ROOT = Path(__file__).parents[2]
VARYING = (  # text that differs from run to run
    (r"\b\d+(\.\d+)? ?(ms|s|ns|us)\b", "TIME"),
    (r'("?seconds"?:?) ?[\d.e-]+', r"\1 TIME"),
    (r'\btime="[\d.]+"', 'time="TIME"'),
    (r"z3 \d+(\.\d+)+", "z3 VERSION"),
    (r"\d+(\.\d+)?/s\b", "RATE"),
)


@dataclass(frozen=True, slots=True)
class Printed:
    """The result of one command line: its exit code, its two streams and the files that it wrote."""

    text: str

    @classmethod
    def by(cls, line: str, tree: Path, files: dict[str, str]) -> Printed:
        """Run a command line in a tree, its input files beside each other in a fresh folder."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                (Path(folder) / name).write_bytes(text.encode("utf-8", "surrogateescape"))
            run = subprocess.run(
                [sys.executable, "-m", *words_of(line, folder)],
                cwd=tree,
                capture_output=True,
                stdin=subprocess.DEVNULL,
                timeout=600,
                env={**os.environ, "COLUMNS": "80", "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"},
                check=False,
            )
            written = [p for p in sorted(Path(folder).rglob("*")) if p.is_file() and p.name not in files]
            parts = [f"exit {run.returncode}", run.stdout.decode(errors="replace"), run.stderr.decode(errors="replace")]
            parts += [f"--- {p.relative_to(folder)}\n{p.read_text(encoding='utf-8')}" for p in written]
        text = "\n".join(parts).replace(folder, "@").replace(str(tree), "TREE")
        for pattern, steady in VARYING:
            text = re.sub(pattern, steady, text)
        return cls(text)


def differences(lines: Sequence[str], before: Path, files: dict[str, str], jobs: int) -> list[str]:
    """A unified diff for every command line that prints something else in the working tree."""

    def compare_line(line: str) -> str:
        old, new = (Printed.by(line, tree, files).text for tree in (before, ROOT))
        diff = difflib.unified_diff(old.splitlines(), new.splitlines(), "before", "now", lineterm="", n=1)
        return "" if old == new else f"$ python -m {line}\n" + "\n".join(list(diff)[:40])

    with ThreadPoolExecutor(jobs) as pool:
        return [text for text in pool.map(compare_line, lines) if text]


def main() -> int:
    """Print the differences; 0 when there is none."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("rev", help="the commit to compare with")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="command lines that contain this")
    options = parser.parse_args()
    listed = load_lines()
    lines = [line for command in listed["lines"] for line in lines_of(command) if options.only in line]
    with tempfile.TemporaryDirectory() as folder:
        before = Path(folder) / "before"
        subprocess.run(["git", "worktree", "add", "--detach", "-q", str(before), options.rev], cwd=ROOT, check=True)
        try:
            texts = differences(lines, before, listed["files"], options.jobs)
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(before)], cwd=ROOT, check=True)
    print("\n\n".join(texts))
    print(f"{len(lines)} command lines: {len(lines) - len(texts)} print the same, {len(texts)} do not")
    return 1 if texts else 0


if __name__ == "__main__":
    raise SystemExit(main())
