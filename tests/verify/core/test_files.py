# SPDX-License-Identifier: Apache-2.0
"""Files of users: which command one is for, and the lines of its errors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import isa_tables
from layouts.toml.errors import AtomFileError
from tests.verify.test_user_files import FULL, MOVEMENT, TILING
from verify.atlas import command as atlas
from verify.atom import command as atom
from verify.check import command as check
from verify.cli import ending
from verify.laws import command as laws
from verify.layout import command as layout
from verify.movement import command as movement
from verify.mutate import command as mutate
from verify.show import command as show
from verify.tiling import command as tiling

INSTRUCTION = Path(__file__).parents[3] / "isa_tables/ptx/mma_m16n8k4_tf32.toml"
CLAIM = (Path(__file__).parents[3] / "examples/kernel/matmul.toml").read_text(encoding="utf-8")


OTHERS = [
    (atom.main, TILING, "this is a file of tilings: lanecheck check"),
    (atom.main, MOVEMENT, "this is a file of movements: lanecheck check"),
    (atlas.main, TILING, "this is a file of tilings: lanecheck check"),
    (tiling.main, FULL, "this is a file of atoms: lanecheck check"),
    (tiling.main, MOVEMENT, "this is a file of movements: lanecheck check"),
    (movement.main, TILING, "this is a file of tilings: lanecheck check"),
    (movement.main, FULL, "this is a file of atoms: lanecheck check"),
    (atom.main, INSTRUCTION.read_text(encoding="utf-8"), "the table of an instruction"),
    (tiling.main, CLAIM, "this is the claim of a kernel: lanecheck check KERNEL.ptx"),
    (movement.main, CLAIM, "this is the claim of a kernel: lanecheck check KERNEL.ptx"),
    (show.main, CLAIM, "this is the claim of a kernel: lanecheck check KERNEL.ptx"),
    (check.main, INSTRUCTION.read_text(encoding="utf-8"), "the table of an instruction"),
    (show.main, INSTRUCTION.read_text(encoding="utf-8"), "the table of an instruction"),
    (movement.main, '{"schema": 1, "name": "load 32"}\n', "as recordings are"),
]


@pytest.mark.parametrize(("main", "text", "said"), OTHERS, ids=map(str, range(len(OTHERS))))
def test_a_file_for_another_command_is_recognized_by_its_keys(
    main: object, text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    assert callable(main) and main([str(path)]) == 2
    err = capsys.readouterr().err
    assert said in err and err.count("lanecheck: ") == 1


def test_an_error_of_an_instruction_s_table_has_its_line(tmp_path: Path) -> None:
    from isa_tables import TableError
    from verify.core.files import in_table

    path = tmp_path / INSTRUCTION.name
    path.write_text(INSTRUCTION.read_text(encoding="utf-8"), encoding="utf-8")
    (error,) = in_table(TableError(str(path), "C.row", "wrong", "groupID if i == 0 or", 3))
    assert error.place is not None
    line = path.read_text(encoding="utf-8").splitlines()[error.place[0] - 1]
    assert line.startswith("row") and line[error.place[1] - 1 :].startswith("oupID if i == 0 or i")
    (error,) = in_table(TableError(str(path), "form[0].nothing", "wrong"))
    assert error.place is None and isinstance(error, AtomFileError)


@pytest.mark.parametrize(
    ("main", "options"),
    [
        (layout.main, ["--onto", "8x8"]),
        (mutate.main, []),
        (laws.main, []),
        (tiling.main, ["--atom"]),
        (laws.main, ["--module"]),
        (atom.main, ["SM75_8x8x16", "--recordings"]),
    ],
)
def test_a_file_in_place_of_a_name_or_a_layout_is_recognized_by_its_keys(
    main: Callable[[list[str]], int], options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(MOVEMENT, encoding="utf-8")
    arguments = [*options, str(path)] if options and options[-1] != "8x8" else [str(path), *options]
    assert main(arguments) == 2
    assert f"this is a file of movements: lanecheck check {path}" in capsys.readouterr().err


def test_every_error_of_an_instruction_s_table_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / INSTRUCTION.name
    text = (
        INSTRUCTION.read_text(encoding="utf-8")
        .replace("lanes   = 32", 'lanes   = "32"')
        .replace("regs   = 2", "rges   = 2")
    )
    path.write_text(text, encoding="utf-8")
    mnemonic = "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32"
    assert ending.run_guarded(lambda _: bool(isa_tables.instruction(mnemonic, tmp_path)), None) == 2
    output = [line for line in capsys.readouterr().err.splitlines() if line.startswith("lanecheck: ")]
    lines = text.splitlines()
    assert [int(line.split(":")[2]) for line in output] == [
        next(number for number, line in enumerate(lines, 1) if line.startswith(start)) for start in ("lanes", "rges")
    ]
