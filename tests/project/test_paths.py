# SPDX-License-Identifier: Apache-2.0
"""Every path of ours that a text names exists: a file that moved is named where it is now."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = tuple("benchmarks docs gpu_checks isa_tables lanecheck layouts proofs tests verify".split())
READERS = {"tests/test_gemm.py"}  # of the repository of a reader
NAMED = re.compile(rf"(?<![\w./-])(?:{'|'.join(PACKAGES)})(?:/\w[\w.-]*)*/\w+\.(?:py|toml|md|json|cu)\b")
TEXTS = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
CODE = [path for package in PACKAGES if package != "tests" for path in (ROOT / package).rglob("*.py")]


def list_missing(text: str) -> list[str]:
    """The paths in a text that do not exist."""
    return [name for name in NAMED.findall(text) if name not in READERS and not (ROOT / name).exists()]


def test_every_path_that_is_named_exists() -> None:
    missing = {
        path.relative_to(ROOT).as_posix(): list_missing(path.read_text(encoding="utf-8")) for path in TEXTS + CODE
    }
    assert {name: wrong for name, wrong in missing.items() if wrong} == {}


def test_a_path_that_does_not_exist_is_found() -> None:
    assert list_missing("`verify/atom.py` became `verify/atom/checker.py`") == ["verify/atom.py"]
