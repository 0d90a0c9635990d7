# SPDX-License-Identifier: Apache-2.0
"""docs/kernel.md names every key and function of a claim, and no other."""

from __future__ import annotations

import re
from pathlib import Path

from verify.kernel.claims import claim, compiled, launch
from verify.kernel.claims.expression import BASES, FREE, FUNCTIONS, REDUCED

PAGE = (Path(__file__).parents[3] / "docs" / "kernel.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("## Write a claim")[2].partition("\n## ")[0]


def keys(before: str) -> set[str]:
    """The keys in the first column of the first table behind some words."""
    assert SECTION.count(before) == 1, before
    table = SECTION.partition(before)[2].lstrip("\n").partition("\n\n")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    return {key.strip("[]") for row in rows for key in re.findall(r"`([^`]+)`", row)}


def test_every_key_of_a_claim_is_on_the_page() -> None:
    tables = re.split(r"\n\|---", SECTION)
    assert len(tables) == 5
    assert keys("An array:\n") == set(claim.ARRAY_KEYS)
    assert keys("or a\ntable:\n") == set(launch.PARAM_KEYS)
    assert keys("an interpreter that has Triton:\n") == set(compiled.KEYS)
    first = "\n| key" + SECTION.split("| key", 1)[1].partition("\n\n")[0]
    documented = {
        key.strip("[]") for line in first.splitlines()[2:] for key in re.findall(r"`([^`]+)`", line.split("|")[1])
    }
    assert documented == {*claim.KEYS, "triton"}


def test_every_function_of_a_claim_is_on_the_page() -> None:
    (row,) = [line for line in SECTION.splitlines() if line.startswith("| `claim`")]
    assert set(re.findall(r"`(\w+)(?:\(.*?\))?`", row)) - {"claim", "sum_k"} == {
        *FUNCTIONS, *FREE, *BASES, *(f"{name}_n" for name in REDUCED)
    }  # fmt: skip


def test_every_type_on_the_page_is_one() -> None:
    (row,) = [line for line in SECTION.splitlines() if line.startswith("| `type` |")]
    assert set(re.findall(r"`(\w+)`", row)) - {"type"} <= set(claim.SIZE)
