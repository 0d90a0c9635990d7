# SPDX-License-Identifier: Apache-2.0
"""What the commands print, word for word; `LANECHECK_SNAPSHOTS=update pytest …` writes the snapshots anew."""

import os
import re
from pathlib import Path

import pytest

from verify.__main__ import main as lanecheck
from verify.atom import command as atom
from verify.kernel import command as kernel
from verify.layout import command as layout
from verify.mutate import command as mutate

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = {
    "main_job.txt": (atom.main, ["SM80_16x8x16"]),
    "one_atom_verbose.txt": (atom.main, ["SM70_8x8x4_F32F16F16F32_NT", "-v"]),
    "museum.txt": (atom.main, ["--atoms", "tests/museum/wrong.toml"]),
    "museum_quiet.txt": (atom.main, ["--atoms", "tests/museum/wrong.toml", "-q"]),
    "refuted.json": (atom.main, ["SM61_DP2A", "--format", "json"]),
    "verified.junit.xml": (atom.main, ["SM89_16x8x32_F32E4M3E5M2F32_TN", "--format", "junit"]),
    "known_defects.txt": (atom.main, ["SM61", "SM80_16x8x128", "--expect-known"]),
    "wrong_kernel.txt": (
        kernel.main,
        ["examples/kernel/wrong.ptx", "--claim", "examples/kernel/matmul.toml", "--seed", "1"],
    ),
    "collision.txt": (layout.main, ["((4,8),8):((32,1),8)", "--onto", "8x32"]),
    "mutants.txt": (mutate.main, ["SM80_16x8x16_F32F16F16F32_TN"]),
    "help.txt": (lanecheck, ["--help"]),
}


def steady(text: str) -> str:
    """Times and the solver's version come and go."""
    return re.sub(r"z3 \d+(\.\d+)+", "z3 VERSION", re.sub(r", \d+\.\d ms", ", TIME", text))


@pytest.mark.long
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name == "mutants.txt" else name for name in COMMANDS]
)
def test_the_output_of_a_command_is_that_of_its_snapshot(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("COLUMNS")
    command, arguments = COMMANDS[name]
    command(arguments)
    output = steady(capsys.readouterr().out)
    kept = HERE / "snapshots" / name
    if os.environ.get("LANECHECK_SNAPSHOTS") == "update":
        kept.write_text(output, encoding="utf-8")
    assert output == kept.read_text(encoding="utf-8")


def test_every_snapshot_has_its_command() -> None:
    assert {path.name for path in (HERE / "snapshots").iterdir()} == set(COMMANDS)


def test_the_readme_shows_what_is_printed() -> None:
    """The main job as a whole, and of a wrong kernel all causes."""
    assert (HERE / "snapshots" / "main_job.txt").read_text(encoding="utf-8") in README
    refuted = (HERE / "snapshots" / "wrong_kernel.txt").read_text(encoding="utf-8").partition("  replay")[0]
    assert refuted.count("wrong") > 3 and refuted in README
