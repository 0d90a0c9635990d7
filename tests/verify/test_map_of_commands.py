# SPDX-License-Identifier: Apache-2.0
"""The map of the commands: each stands in one place of the help, and a group's name may stand before it."""

from __future__ import annotations

import sys
from collections import Counter
from types import ModuleType

import pytest

from tests.cases import each
from verify import kinds
from verify.__main__ import COMMANDS, GROUPS, OF_A_KIND, VERBS, main


def test_every_command_is_in_one_place() -> None:
    listed = Counter([*VERBS, *OF_A_KIND, *(name for _, names in GROUPS.values() for name in names)])
    assert listed == Counter(list(COMMANDS))
    assert not GROUPS.keys() & COMMANDS.keys()


def test_the_commands_of_kinds_are_those_that_the_rows_name() -> None:
    """The help names them by hand, since it may load no kind."""
    modules = {kind.command for kind in kinds.KINDS if kind.command}
    assert modules <= {module for module, _ in COMMANDS.values()}
    of_kinds = {name for name, (module, _) in COMMANDS.items() if module in modules}
    assert of_kinds - {*GROUPS["self"][1]} == {*OF_A_KIND}  # laws and campaigns are about Lanecheck itself


@pytest.mark.parametrize(("group", "name"), [(group, name) for group, (_, names) in GROUPS.items() for name in names])
def test_a_group_may_stand_before_its_commands(group: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[list[str]] = []
    made = ModuleType(COMMANDS[name][0])
    made.main = lambda argv: called.append(list(argv)) or 4  # type: ignore[attr-defined, func-returns-value]
    monkeypatch.setitem(sys.modules, made.__name__, made)
    assert main([group, name, "--list"]) == main([name, "--list"]) == 4
    assert called == [["--list"], ["--list"]]


@each("group", GROUPS)
def test_a_group_lists_its_commands(group: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([group, "--help"]) == 0
    listed = capsys.readouterr().out
    assert all(f"\n  {name} " in listed for name in GROUPS[group][1])
    assert main([group]) == 2


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["gpu", "prob"], "no command of gpu is named 'prob'; nearest: probe"),
        (["self", "atom"], "no command of self is named 'atom'"),
        (["gpus"], "no command is named 'gpus'; nearest: gpu"),
    ],
)
def test_what_is_in_no_group_is_one_line(words: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert capsys.readouterr().err.startswith(f"lanecheck: {says}")
