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
    wrong = "the wrong line\nbelow in 99 s, an atom in 98 s of a CPU (measured 1 April 2020)"
    right = (
        f"the wrong line\nbelow in {seconds[0]:.1f} s, an atom in {seconds[1]:.1f} s of a CPU (measured {front.day()})"
    )
    assert front.fill(wrong) == right


@pytest.mark.long
@pytest.mark.parametrize("name", front.COMMANDS)
def test_the_record_is_of_what_the_command_reads_prints_and_calls_today(name: str) -> None:
    calls, printed = front.profile(name)
    recorded = front.load()[name]
    assert front.stale(recorded, name, calls, printed) == [], "the record is older: python -m benchmarks.front"
    assert front.stale(recorded, name, calls, printed + " ") == ["stdout"]
    for changed in (calls // 2, calls * 2):
        (why,) = front.stale(recorded, name, changed, printed)
        assert why.endswith(f"{changed:,} today")
