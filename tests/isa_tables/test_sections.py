# SPDX-License-Identifier: Apache-2.0
"""Sections of the PTX ISA are cited by the numbers that its table of contents has."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from pathlib import Path

from gpu_checks.order.command import PROBES
from isa_tables import semantics

HERE = Path(__file__)
SECTIONS: dict[str, str] = tomllib.loads((HERE.parent / "ptx_sections.toml").read_text())["sections"]
CODE = sorted((HERE.parents[2] / "verify" / "kernel").glob("*.py"))
NUMBER = re.compile(r'"(\d+\.\d+\.\d+(?:\.\d+)*)"')


def named(row: semantics.Row) -> set[str]:
    """The instructions that a row is of: the first word of its spelling, or its list of them."""
    first = row.spelling.split(".")[0]
    return set(row.words[first[1:-1]]) if first.startswith("{") else {first}


def cites_its_own(row: semantics.Row) -> bool:
    """Whether the sections of a row are those of its instructions, each of one."""
    titles = [set(re.split(r"[\s./,]+", SECTIONS.get(number, ""))) for number in row.section.split(", ")]
    own = {head.split(".")[0] for head in named(row)}
    return own <= set().union(*titles) and all(own & words for words in titles)


def test_a_row_cites_the_sections_of_its_instructions() -> None:
    rows = semantics.rows()
    assert len(rows) > 70
    assert [(row.spelling, row.section) for row in rows if not cites_its_own(row)] == []
    assert not cites_its_own(replace(rows[0], section="9.7.1.1"))


def test_code_cites_sections_that_are_there() -> None:
    cited = {number for path in CODE for number in NUMBER.findall(path.read_text())}
    cited |= {probe.section for probe in PROBES if probe.section}
    assert len(cited) > 10
    assert cited <= SECTIONS.keys()
