# SPDX-License-Identifier: Apache-2.0
"""A badly written table among the shipped ones, whatever the command: one line with file and key, exit 2."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from isa_tables import tables
from tests.isa_tables.planting import plant_table
from verify.atlas import command as atlas
from verify.atom import command as atom
from verify.movement import command as movement
from verify.mutate import command as mutate
from verify.tiling import command as tiling

pytestmark = pytest.mark.slow

NAME = "mma_m16n8k16_new.toml"
SHIPPED = "mma_m16n8k16_16b.toml"
TEXT = (tables.SHIPPED / SHIPPED).read_text()
ATOM = "SM80_16x8x16_F32F16F16F32_TN"
TILING = ["--atom", ATOM, "--atoms-layout", "1,1,1", "--permutation", "_,_,_", "--tile", "16,8,16"]
BAD = {
    "no TOML": ("schema = [", "not TOML"),
    "a number too long": (f"schema = {'9' * 5000}", "not TOML"),
    "a bad key": (TEXT.replace("lanes ", "lane "), "lane: unknown key"),
    "twice": (TEXT, "mnemonic: mma.sync.aligned.m16n8k16.row.col"),
}
COMMANDS: dict[str, tuple[Callable[[Sequence[str] | None], int], list[str]]] = {
    "atom": (atom.main, [ATOM]),
    "atlas": (atlas.main, [ATOM, "-q"]),
    "mutate": (mutate.main, [ATOM]),
    "tiling": (tiling.main, TILING),
    "movement": (movement.main, ["--from", "ldmatrix.sync.aligned.m8n8.x4.shared.b16", "--to", ATOM]),
}


@pytest.fixture(autouse=True)
def one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process has only the shipped tables."""
    monkeypatch.setattr("verify.atom.selection.MANY", 1 << 30)


def in_a_line(output: str) -> str:
    """The first line; below each line may follow, indented, the line of the file with a caret."""
    lines = [line for line in output.splitlines() if not line.startswith("    ") and " left: " not in line]
    assert lines and all(line.startswith("lanecheck: ") for line in lines), output
    return lines[0]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("bad", BAD)
def test_a_bad_table_is_one_line_and_exit_2(
    command: str, bad: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, words = BAD[bad]
    main, argv = COMMANDS[command]
    with plant_table(tmp_path / NAME, text) as path:
        assert main(argv) == 2
    output = in_a_line(capsys.readouterr().err)
    assert str(path) in output
    assert words in output


@pytest.mark.parametrize("command", COMMANDS)
def test_a_bad_formula_is_one_line_too(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In Python the error message has the formula below it, with a caret."""
    text = TEXT.replace('row    = "groupID', 'row    = "groupID / 2')
    main, argv = COMMANDS[command]
    with plant_table(tmp_path / NAME, text, instead=SHIPPED) as path:
        code = main(argv)
    output = in_a_line(capsys.readouterr().err)
    assert code == 2
    assert str(path) in output
    assert "write '//'" in output
