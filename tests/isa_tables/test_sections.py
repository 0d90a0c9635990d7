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
CODE = sorted((HERE.parents[2] / "verify" / "kernel").rglob("*.py"))
NUMBER = re.compile(r'"(\d+\.\d+\.\d+(?:\.\d+)*)"')


def opcodes(row: semantics.Row) -> set[str]:
    """How the opcodes of a row begin: its spelling up to what it leaves open, with its list of instructions put in."""
    first, _, rest = row.spelling.partition(".")
    heads = row.words[first[1:-1]] if first.startswith("{") else (first,)
    return {re.split(r"[.?]*[{*]", f"{head}.{rest}")[0].rstrip(".?") for head in heads}


def is_of(opcode: str, section: str) -> bool:
    """Whether a section is that of an opcode: its title names the opcode, or how it begins."""
    words = re.split(r"[\s/,]+", SECTIONS.get(section, ""))
    return any(f"{opcode}.".startswith(f"{word}.") or f"{word}.".startswith(f"{opcode}.") for word in words)


def cites_its_own(row: semantics.Row) -> bool:
    """Whether the sections of a row are those of its instructions, each of one."""
    sections = row.section.split(", ")
    return all(any(is_of(opcode, section) for section in sections) for opcode in opcodes(row)) and all(
        any(is_of(opcode, section) for opcode in opcodes(row)) for section in sections
    )


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
