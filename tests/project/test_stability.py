# SPDX-License-Identifier: Apache-2.0
"""docs/stability.md names the commands, exit codes and JSON keys that there are, and no others."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from verify import verify_layout
from verify.__main__ import COMMANDS, main
from verify.campaign import report as campaign
from verify.core.errors import Exit
from verify.core.verdict import ProductOperand, Status, WrongProduct
from verify.report import as_json

TEXT = (Path(__file__).parents[2] / "docs" / "stability.md").read_text(encoding="utf-8")
FREE = {"claims", "layouts", "inputs"}  # objects whose keys are statuses, operands and variables


def keys(data: Any) -> Iterator[str]:
    """The keys of a document, those of objects of free keys left out."""
    for name, inside in data.items() if isinstance(data, dict) else ():
        yield name
        yield from () if name in FREE else keys(inside)
    for inside in data if isinstance(data, list) else ():
        yield from keys(inside)


def test_the_commands_are_those_that_there_are() -> None:
    listed = re.search(r"`lanecheck COMMAND` for ([^;]*);", TEXT)
    assert listed and re.findall(r"\w+", listed[1]) == sorted(COMMANDS)


def test_the_exit_codes_are_those_that_there_are() -> None:
    listed = {name: int(code) for code, name in re.findall(r"^\| (\d+) \| `(\w+)` \|", TEXT, re.MULTILINE)}
    assert listed == {code.name: int(code) for code in Exit if code is not Exit.INTERRUPTED}
    assert f"| {int(Exit.INTERRUPTED)} | | interrupted" in TEXT


def test_the_fields_of_a_report_are_in_the_table_and_no_others() -> None:
    rows = [line.split("|") for line in TEXT[TEXT.index("**JSON**") :].splitlines() if line.startswith("| `")]
    fields = {part for row in rows for name in re.findall(r"`([^`]+)`", row[1]) for part in re.findall(r"\w+", name)}
    words = fields | {name for row in rows for name in re.findall(r"`(\w+)`", " ".join(row))}
    report = verify_layout("(4,8):(8,1)", onto=(4, 4))
    in_memory, in_registers = (ProductOperand("A", (("",),), (("",),), slots) for slots in ((), (((0, 0),),)))
    kernel = replace(report.cases[0], wrong_product=WrongProduct(1, "mma", (in_registers, in_memory), True))
    refuted = json.loads(as_json.render(replace(report, cases=(kernel,)), verbose=True))
    assert any(verdict["counterexample"] for verdict in refuted["subjects"][0]["verdicts"])
    assert set(keys(refuted)) - words == set()
    assert fields - set(keys(refuted)) == {
        "adapter",
        "place",
        "notes",
        "headline",
        "cause",
        "cause_part",
    }  # of other subjects
    statuses = re.search(r"each status: ([A-Z, ]+)", TEXT)
    assert statuses and statuses[1].strip().split(", ") == [status.value for status in Status]


@pytest.mark.long
@pytest.mark.parametrize(
    "line",
    [
        "layout (4,8):(8,1) --onto 4x8",
        "atlas SM80_16x8x16_F32F16F16F32_TN --checks isa",
        "identify (4,8):(8,1)",
    ],
)
def test_the_json_of_every_command_has_the_number_of_the_table(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    main([*line.split(), "--format", "json"])
    assert json.loads(capsys.readouterr().out)["schema"] == as_json.SCHEMA


def test_the_json_of_a_campaign_has_the_same_schema() -> None:
    assert json.loads(campaign.as_json([], "layouts", []))["schema"] == as_json.SCHEMA
