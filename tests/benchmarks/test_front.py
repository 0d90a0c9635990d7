# SPDX-License-Identifier: Apache-2.0
"""The figures of README and home are those of the record, and the record is of today's examples."""

from __future__ import annotations

import pytest

from benchmarks import front


def test_both_pages_have_the_figures_of_the_record() -> None:
    for page in front.PAGES:
        text = page.read_text(encoding="utf-8")
        assert len(front.SENTENCE.findall(text)) == 1
        assert front.fill(text) == text


def test_a_page_with_another_figure_is_filled_anew() -> None:
    seconds = [front.load()[name]["seconds"] for name in front.COMMANDS]
    wrong = "finds the wrong line\nbelow in 99 s, an atom in 98 s of a CPU"
    assert front.fill(wrong) == f"finds the wrong line\nbelow in {seconds[0]:g} s, an atom in {seconds[1]:g} s of a CPU"


@pytest.mark.long
@pytest.mark.parametrize("name", front.COMMANDS)
def test_the_record_is_of_what_the_command_reads_and_prints_today(name: str) -> None:
    _, printed = front.run(name)
    recorded = front.load()[name]
    assert recorded["of"] == front.digests(name, printed), "older than its example: python -m benchmarks.front"
    assert front.digests(name, printed + " ") != recorded["of"]
