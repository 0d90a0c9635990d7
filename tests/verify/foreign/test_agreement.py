# SPDX-License-Identifier: Apache-2.0
"""The page of agreement, as it is made and as it is committed; the reports beside it."""

from __future__ import annotations

import re

import pytest

from tests.verify.adapters import HOSTILE, RIGHT, write
from verify.foreign.command import ADAPTERS, list_shipped, main


@pytest.mark.long
def test_the_page_of_agreement_has_wrong_maps_first_and_counts_what_was_not_compared(tmp_path):
    page = tmp_path / "agreement.md"
    assert main([str(write(tmp_path, HOSTILE)), "--seconds", "1", "-q", "--agreement", str(page)]) == 1
    lines = page.read_text().splitlines()
    assert "21 maps: 6 right, 3 wrong, 12 not compared." in lines
    rows = [line for line in lines if line.startswith("| `")]
    assert [row.split("`")[1] for row in rows[:3]] == ["liar", "wrong", "wrong inverse"]
    assert "**wrong**, against the ISA: lane" in rows[1] and "**wrong**, against its own inverse: " in rows[2]
    assert rows[2].split("; repair: ")[1].startswith("the inverse of the other is lane = row%8\\*4 + col/2")
    assert all(row.endswith("| equal |") for row in rows[3:])
    assert "All projects: 21 maps: 6 right, 0 relabelled, 3 wrong, 12 not compared." in lines


def test_a_relabelled_map_and_reasons_of_both_kinds_have_rows_of_their_own(tmp_path):
    text = (
        RIGHT
        + """
def maps():
    yield "C", fragment
    yield "exchanged", lambda: fragment(of=lambda lane, i: (lane // 4 + i // 2 * 8, lane % 4 + i % 2 * 4))
    yield "no such", lambda: fragment(ptx="mma.sync.aligned.m16n8k99.row.col.f32.f16.f16.f32")
    yield "not here", lambda: fragment(ptx="fma.rn.f32")
"""
    )
    page = tmp_path / "agreement.md"
    assert main([str(write(tmp_path, text)), "-q", "--agreement", str(page)]) == 1
    lines = page.read_text().splitlines()
    assert "4 maps: 1 right, 1 relabelled, 2 not compared." in lines
    (row,) = [line for line in lines if line.startswith("| `exchanged`")]
    assert "| **relabelled**: where the ISA has n, it has n' = (2,4):(4,1) (96 of 128 points disagree) |" in row
    assert (
        "- 1 map not compared with the ISA: the ISA has no 'mma.sync.aligned.m16n8k99.row.col.f32.f16.f16.f32'" in lines
    )
    assert "- 1 map not compared with the ISA: the ISA tables have no 'fma.rn.f32'" in lines


def test_the_committed_page_names_every_adapter_with_its_version():
    page = (ADAPTERS.parents[2] / "docs" / "agreement.md").read_text()
    projects = [line.split()[1] for line in page.splitlines() if line.startswith("## ")]
    named = {
        re.search(r'^(?:DISTRIBUTION|PROJECT) = "(.+)"', (ADAPTERS / f"{name}.py").read_text(), re.M)[1]
        for name in list_shipped()
    }
    assert set(projects) == named


@pytest.mark.parametrize(
    "path", sorted((ADAPTERS.parents[2] / "docs" / "reports").glob("*.md")), ids=lambda path: path.stem
)
def test_what_a_report_computes_without_us_is_so(path):
    """Each script of a report asserts what the report says."""
    texts = re.findall(r"```python\n(.+?)```", path.read_text(), re.S)
    for text in texts:
        exec(text, {})
    assert path.stem == "README" or any("assert " in text for text in texts)
