# SPDX-License-Identifier: Apache-2.0
"""The tables of the atlas: two pages have them, and their sums are those of the rows."""

import json
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from layouts.atoms import registry
from verify.atlas import report
from verify.atlas.rows import Atlas, AtlasRow, CheckOutcome, join_rows, tabulate
from verify.atom.checker import AtomChecker
from verify.core.verdict import Check

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.xdist_group("atlas")  # `whole` is made once a run


GROUPS = {  # what the README's rows are called, and how the mnemonics in them begin
    "`mma.sync`, `dp2a`, `dp4a`": ("mma.sync", "dp2a", "dp4a"),
    "`mma.sp`": ("mma.sp",),
    "`wgmma`": ("wgmma",),
    "`tcgen05.mma`": ("tcgen05.mma",),
    "copies, and atoms without an instruction": ("",),
}


def overview(atlas: Atlas) -> str:
    """The README's table: the rows of the atlas in five groups, each row in the first that its mnemonic fits."""
    grouped: dict[str, list[AtlasRow]] = {group: [] for group in GROUPS}
    for row in atlas.rows:
        grouped[next(group for group, starts in GROUPS.items() if row.family.startswith(starts))].append(row)
    lines = ["| instructions | atoms | verdict | recorded on a GPU |", "| --- | --- | --- | --- |"]
    for row in (*(join_rows(group, rows) for group, rows in grouped.items()), join_rows("**total**", atlas.rows)):
        recorded = row.atoms - row.outcomes[Check.GPU][CheckOutcome.UNCHECKED]
        lines.append(f"| {row.instruction} | {row.atoms} | {report.verdicts(row)} | {recorded} |")
    return "\n".join(lines) + "\n"


@pytest.mark.slow
@pytest.mark.parametrize("page", ["README.md", "docs/atlas.md"])
def test_the_pages_show_the_tables(whole: Atlas, page: str) -> None:
    path = ROOT / page
    text = path.read_text(encoding="utf-8")
    start, end = (text.index(mark) for mark in ("<!-- atlas -->\n", "<!-- /atlas -->"))
    start += len("<!-- atlas -->\n")
    made = overview(whole) if page == "README.md" else report.table(whole.by_family())
    if os.environ.get("LANECHECK_SNAPSHOTS") == "update":
        path.write_text(text[:start] + made + text[end:], encoding="utf-8")
        text = path.read_text(encoding="utf-8")
    assert text[start:].startswith(f"{made}<!-- /atlas -->")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "whole_of", "counted"),
    [("instructions", "total", "atoms"), ("without_atom", "total_without_atom", "instructions")],
)
def test_the_sums_are_those_of_the_rows(whole: Atlas, rows: str, whole_of: str, counted: str) -> None:
    document = json.loads(report.as_json(whole))
    listed, sums = document[rows], document[whole_of]
    assert sums[counted] == sum(row[counted] for row in listed) == sum(sums["verdicts"].values())
    for key in ("verdicts", "claims"):
        assert Counter(sums[key]) == sum((Counter(row[key]) for row in listed), Counter())
    for check in Check:
        outcomes = [{word: row["checks"][check][word] for word in CheckOutcome} for row in listed]
        assert all(sum(counts.values()) == row[counted] for counts, row in zip(outcomes, listed, strict=True))
        assert {word: sums["checks"][check][word] for word in CheckOutcome} == {
            word: sum(counts[word] for counts in outcomes) for word in CheckOutcome
        }


def test_a_letter_of_another_script_is_written_as_it_is() -> None:
    atlas = tabulate([registry()["SM61_DP4A"]], AtomChecker())
    named = replace(atlas, rows=tuple(replace(row, instruction="dp4a·µ") for row in atlas.rows))
    assert '"instruction": "dp4a·µ"' in report.as_json(named)
