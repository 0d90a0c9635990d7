# SPDX-License-Identifier: Apache-2.0
"""What numbers of the pages are computed from: layouts, recordings, constants of our files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from layouts import Layout, LayoutError, size
from layouts.atoms import registry

ROOT = Path(__file__).parents[2]
GPU = ROOT / "gpu_checks" / "recordings"


def layout(text: str) -> Layout:
    """A layout of a page."""
    return Layout.parse(text)


def operand(atom: str, name: str) -> Layout:
    """Return the layout of an operand of one of CUTLASS's atoms."""
    return layout(registry()[atom].operands[name])


def load(name: str) -> list[dict[str, object]]:
    """Load the lines of a recording of a GPU."""
    return [json.loads(line) for path in sorted((GPU / name).glob("*.jsonl")) for line in path.open(encoding="utf-8")]


def text(name: str) -> str:
    """Return the text of a file of the repository."""
    return (ROOT / name).read_text(encoding="utf-8")


def constant(name: str, pattern: str) -> int:
    """Return the one number that a file has at a pattern."""
    (number,) = set(re.findall(pattern, text(name), re.MULTILINE))
    return int(eval(number))


def count(report: str) -> int:
    """Return how many elements are wrong, as the script of a report asserts, which a test runs."""
    return constant(f"docs/reports/{report}.md", r"^assert len.*\) == (\d+)$")


def widths() -> list[int]:
    """Return the columns of a report on a terminal, and elsewhere."""
    file = "lanecheck/console/command.py"
    return [constant(file, r"(\d+) if on_terminal"), constant(file, r"on_terminal else (\d+)")]


def rejects(operation: Callable[[], object]) -> bool:
    """Return whether a layout operation rejects its input."""
    try:
        operation()
    except LayoutError:
        return True
    return False


def differing(first: Layout, second: Layout) -> int:
    """At how many indices two layouts differ."""
    return sum(first(i) != second(i) for i in range(size(first)))


def find_unowned(layout: Layout) -> list[int]:
    """The elements that no thread and value holds."""
    return sorted(set(range(size(layout))) - {layout(i) for i in range(size(layout))})
