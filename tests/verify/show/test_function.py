# SPDX-License-Identifier: Apache-2.0
"""The function draws what the command draws, and rejects what it does not read."""

from __future__ import annotations

import pytest

import lanecheck
from tests.cases import each
from verify.core.errors import UsageError
from verify.show import command
from verify.show.function import PictureText

LAYOUT = "((4,8),(2,2)):((32,1),(16,8))"


@each("form", command.TEXTS)
def test_it_is_what_the_command_writes(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    command.main([LAYOUT, "--onto", "16x8", "--rows", "0:4", "--format", form])
    assert lanecheck.show(LAYOUT, format=form, onto=(16, 8), rows=(0, 4)) == capsys.readouterr().out


def test_a_notebook_draws_svg_and_html_alone() -> None:
    drawn = {form: lanecheck.show(LAYOUT, format=form, onto="16x8") for form in command.TEXTS}
    assert {form for form, text in drawn.items() if text._repr_svg_()} == {"svg"}
    assert {form for form, text in drawn.items() if text._repr_html_()} == {"html"}
    assert all(isinstance(text, PictureText) for text in drawn.values())


@each(
    ("options", "problem"),
    [
        ({"format": "pdf"}, "format='pdf': expected text, svg, html or latex"),
        ({"row": 3}, "show: row= is not an option: expected allow_exec, atoms, banks"),
        ({"output": "file"}, "show: output= is not an option"),
        ({"rows": 3}, r"show: rows=3: expected two numbers, such as \(0, 64\)"),
        ({"thread": 3}, "--thread is not read for a layout"),
    ],
)
def test_what_it_does_not_read_is_rejected(options: dict[str, object], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        lanecheck.show(LAYOUT, **options)
