# SPDX-License-Identifier: Apache-2.0
"""Every number in the prose of a page is computed by a test, recorded, or the name of something."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.ledger import ledger
from tests.site import numbers
from tests.site.computed import RECORDED, ROWS, Row

ROOT = Path(__file__).parents[2]
# Made of data by a command, and compared with that by the test beside it.
MADE = {
    "docs/findings.md": "tests/verify/explain/test_command.py",
    "docs/museum.md": "tests/museum/test_reports.py",
    "docs/performance.md": "tests/benchmarks/test_performance.py",
    "docs/safety-score.md": "tests/benchmarks/test_verifiers.py",
    **{f"docs/{name}": "tests/ledger/test_ledger.py" for name in ledger.pages(ledger.load())},
}
PAGES = [
    name
    for path in sorted([*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")])
    if (name := path.relative_to(ROOT).as_posix()) not in MADE
]


def spans(text: str, row: Row) -> list[range]:
    """Where the numbers of a row are in a text, each time that its sentence occurs; a space of it may be a new line."""
    template, *values = row
    assert template.count("{}") == len(values), template
    parts = [re.escape(part).replace(r"\ ", r"\s+") for part in template.split("{}")]
    shown = [f"({re.escape(str(value))})" for value in values]
    pattern = "".join(part for pair in zip(parts, [*shown, ""], strict=True) for part in pair)
    matches = list(re.finditer(rf"(?<!\d){pattern}(?!\d)", text))
    return [range(*match.span(group)) for match in matches for group in range(1, len(values) + 1)]


def list_uncovered(name: str, text: str) -> list[str]:
    """What is wrong with the numbers of a page, each with its line."""
    covered = {*numbers.names(text), *numbers.blocks(text), *numbers.sums(text)}
    wrong = []
    for places, holds in numbers.equations(text):
        wrong += [] if holds else [f"{name}: is not so: {text[places.start : places.stop]}"]
        covered.update(places)
    for row in ROWS[name]() if name in ROWS else ():
        spanned = spans(text, row)
        wrong += [] if spanned else [f"{name}: has no: {row[0].format(*row[1:])}"]
        covered.update(*spanned)
    for phrase in RECORDED.get(name, ()):
        again = [range(*match.span()) for match in re.finditer(re.escape(phrase).replace(r"\ ", r"\s+"), text)]
        wrong += [] if again else [f"{name}: has no longer: {phrase}"]
        covered.update(*again)
    for at, number in numbers.numbers(text).items():
        if at not in covered:
            line = text.count("\n", 0, at)
            wrong.append(f"{name}:{line + 1}: nothing computes {number} in: {text.splitlines()[line]}")
    return wrong


@pytest.mark.long
@pytest.mark.parametrize("name", PAGES)
def test_every_number_is_computed_or_recorded(name: str) -> None:
    assert list_uncovered(name, (ROOT / name).read_text(encoding="utf-8")) == []


def test_a_row_is_about_a_page() -> None:
    assert {*ROWS, *RECORDED} <= {*PAGES} and all((ROOT / test).is_file() for test in MADE.values())


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("README.md", "96 of 256 elements are in no", "95 of 256 elements are in no"),
        ("docs/tv-layouts.md", "57 % 16 = 9", "57 % 16 = 8"),
        ("docs/tutorial/fragments.md", "wrong at 112 of 128", "wrong at 113 of 128"),
        ("docs/mutants.md", "| all | 300 | 197 |", "| all | 300 | 198 |"),
        ("docs/movement.md", "for 261 patterns", "for 262 patterns"),
        ("docs/checks.md", "## When one is not enough", "## When 7 are not enough"),
        ("docs/stability.md", "| 4 | `UNDECIDED`", "| 3 | `UNDECIDED`"),
    ],
)
def test_a_wrong_number_is_noticed(name: str, right: str, wrong: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert text.count(right) == 1
    assert list_uncovered(name, text.replace(right, wrong)) != []
