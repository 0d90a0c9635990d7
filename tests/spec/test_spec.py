# SPDX-License-Identifier: Apache-2.0
"""Command lines of every command, right, wrong and malformed: exit code, structure and verdicts are as recorded.

After a change on purpose, `python -m tests.spec --write` records the results; its commit lists each change and why.
"""

from __future__ import annotations

import pytest

from tests.spec.observe import RECORDED, compare, lines_of, load_lines, load_results, observe
from verify.__main__ import COMMANDS

MODULES = {
    "gpu_checks.laws",
    "gpu_checks.recordings_io.manifest",
    "proofs.laws.certificates",
    "proofs.symbolic.campaign",
}
LINES = {command: lines_of(command) for command in load_lines()["lines"]}


@pytest.mark.slow
@pytest.mark.parametrize("command", LINES)
def test_every_line_does_what_is_recorded(command: str) -> None:
    kept = load_results(command)
    changed = [text for line in LINES[command] if (text := compare(line, observe(line), kept.get(line)))]
    again = f"on purpose? `python -m tests.spec --write {command}` records it"
    assert not changed, "\n\n".join(["", *changed, again])


def test_what_is_recorded_are_the_lines() -> None:
    assert {path.stem for path in RECORDED.glob("*.json")} == LINES.keys()
    assert {command: list(load_results(command)) for command in LINES} == LINES


def test_every_command_is_there_with_right_and_wrong_lines() -> None:
    assert LINES.keys() == {"lanecheck", *COMMANDS, *MODULES}
    for command, lines in LINES.items():
        codes = {result["exit"] for result in load_results(command).values()}
        assert {0, 2} <= codes, (command, codes)
        assert f"{command} --help" in lines or command == "lanecheck"


def test_a_usage_error_is_a_line_on_stderr() -> None:
    """Or one for each error of a file. argparse's usage is not counted; `lanecheck` alone prints the help."""
    results = {
        line: result for command in LINES for line, result in load_results(command).items() if line != "lanecheck"
    }
    wrong = {line for line, result in results.items() if result["exit"] == 2 and not result.get("stderr")}
    assert sorted(wrong) == []
