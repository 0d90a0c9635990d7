# SPDX-License-Identifier: Apache-2.0
"""Text reports within 80 columns on a terminal and 100 in files: names first, nothing left out."""

import io
import re
import sys
from pathlib import Path

import pytest

from lanecheck.console.columns import wrap_clauses
from verify.atlas import command as atlas
from verify.atom import command as atom
from verify.cli import output
from verify.laws import command as laws
from verify.layout import command as layout
from verify.movement import command as movement
from verify.mutate import command as mutate
from verify.tiling import command as tiling

ROOT = Path(__file__).parents[3]
REPORTS = {
    "atoms": (atom, ["SM80_16x8x16"], "SM80_16x8x16_F16F16F16F16_TN "),
    "one, in detail": (atom, ["SM70_8x8x4_F32F16F16F32_NT", "-v"], "SM70_8x8x4_F32F16F16F32_NT "),
    "a wrong one": (atom, ["--atoms", "tests/museum/wrong.toml", "5:*"], "5: m16n8k16 of a tutorial "),
    "wrong ones": (atom, ["--atoms", "tests/museum/wrong.toml"], "1: SM80_16x8x32_S32S4S4S32_TN "),
    "a wrong tiling": (tiling, ["tests/verify/tiling/wrong.toml", "--only", "museum_12"], "museum_12\n"),
    "tilings": (tiling, ["tests/verify/tiling/wrong.toml"], "museum_12\n"),
    "movements": (movement, ["examples/movement.toml"], ""),
    "atlas": (atlas, ["SM80_16x8x16", "SM61", "--by", "family"], "instruction "),
    "mutants": (mutate, ["SM80_16x8x16_F32F16F16F32_TN"], ""),
    "a law, explained": (laws, ["--explain", "NOCARRY"], "NOCARRY: "),
    "operations": (laws, ["--code", "--list", "--only", "R*"], "R1 "),
    "a tiling, explained": (
        tiling,
        ["--atom", "SM80_16x8x16_F32F16F16F32_TN", "--permutation", "(8,2,2):(1,16,8)", "--explain"],
        "",
    ),
    "layout": (layout, ["((4,8),8):((32,1),8)", "--onto", "8x32"], "((4,8),8):((32,1),8) "),
}
LONG = ("wrong ones", "tilings", "mutants")


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def words(text: str) -> list[str]:
    """The words of a report, without what ends a line of a command that goes on."""
    return [word for word in re.sub(r"\x1b\[[\d;]*m| \\$", "", text, flags=re.M).split() if not word.startswith("-- ")]


@pytest.mark.long
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in REPORTS]
)
def test_a_report_fits_and_loses_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("NO_COLOR", "1")
    command, argv, first = REPORTS[name]
    texts: dict[str, str] = {}
    for where, columns in (("whole", "100000"), ("file", ""), ("terminal", "")):
        monkeypatch.setenv("COLUMNS", columns)
        monkeypatch.setattr(sys, "stdout", Screen() if where == "terminal" else io.StringIO())
        command.main(argv)
        texts[where] = re.sub(r"\d+\.\d ms", "TIME", sys.stdout.getvalue())  # type: ignore[attr-defined]
    assert texts["terminal"].startswith(first)
    for where, width in (("file", 100), ("terminal", 80)):
        assert words(texts[where]) == words(texts["whole"])
        wide = [line for line in texts[where].splitlines() if len(line) > width and " " in line.strip().rstrip(" \\")]
        assert wide == []


def test_a_word_that_is_too_long_stays_whole() -> None:
    name = "x" * 90
    assert (
        wrap_clauses(f"{name}  VERIFIED    21 proved, 3 agree", 80) == f"{name}\n    VERIFIED    21 proved, 3 agree\n"
    )


@pytest.mark.parametrize("start", ["  replay  ", "  then   "])
def test_a_command_that_is_broken_is_still_one_command(start: str) -> None:
    line = f"{start} lanecheck atom --atoms 'my folder/with  blanks.toml' " + " ".join(["--only", "NAME"] * 9)
    reported = wrap_clauses(line, 60)
    assert (
        reported.startswith(f"{start} lanecheck")
        and all(len(part) <= 60 for part in reported.splitlines())
        and "'my folder/with  blanks.toml'" in reported
    )
    assert " ".join(reported.replace("\\\n", " ").split()) == " ".join(line.split())


@pytest.mark.parametrize(("wanted", "width"), [("", 100), ("60", 60), ("nonsense", 100), ("0", 100)])
def test_columns_sets_the_width(wanted: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", wanted)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert output.wrap_report("word " * 50, None) == wrap_clauses("word " * 50, width)
