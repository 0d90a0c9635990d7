# SPDX-License-Identifier: Apache-2.0
"""An option that prints something and stops rejects every option that it does not read."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from types import ModuleType

import pytest

from verify.atom import command as atom
from verify.laws import command as laws
from verify.movement import command as movement
from verify.tiling import command as tiling

ACCESS = ["--shared", "256:1", "--access", "(32,1):(1,0)", "--element", "32"]


TILED = ["--atom", "SM80_16x8x16_F32F16F16F32_TN"]


INFER = ["composition", "--shape", "4", "--by", "2:1"]


ENTRIES = {"files", "only", *movement.KEYS}


TILING = {"files", "only", "atom", "all", "atoms", "atoms_layout", "permutation", "tile", "smem_a", "smem_b"}


CODE = {"code", "module", "path", "only", "rank"}


# (command, the words before the option, the option, the options that it reads: names, and where to write)
STOPS = {
    "atoms": (atom, ["SM80_16x8x16"], "--list", {"names", "arch", "atoms", "all", "output"}),
    "tilings": (tiling, TILED, "--list", {*TILING, "output"}),
    "tilings explained": (tiling, TILED, "--explain", {*TILING, "thread", "output", "quiet", "format"}),
    "movements": (movement, ACCESS, "--list", {*ENTRIES, "output"}),
    "a swizzle": (movement, ACCESS, "--search-swizzle", {*ENTRIES, "output", "format"}),
    "laws": (laws, [], "--list", {"names", "open", "output", *CODE}),
    "a law explained": (laws, [], "--explain=NOCARRY", {"names", "output"}),
    "a condition": (laws, INFER, "--infer", {"shape", "by", "budget", "format", "output", "quiet"}),
}


def words_of(action: argparse.Action) -> list[str]:
    """An option as a command line has it, with a value where it takes one."""
    option = action.option_strings[-1]
    if action.nargs == 0:
        return [option]
    return [option, str(next(iter(action.choices)) if action.choices else "1")]


def write_baseline(folder: Path) -> Path:
    """Write a baseline that accepts nothing; return it."""
    run = {"tool": {"driver": {"name": "Lanecheck"}}, "results": []}
    file = folder / "accepted.sarif"
    file.write_text(json.dumps({"runs": [run]}), encoding="utf-8")
    return file


CASES = [
    (name, action.dest)
    for name, (module, _, stop, read) in STOPS.items()
    for action in module._parser()._actions
    if action.option_strings and action.dest not in {*read, "help", "version", "no_unicode"}
    if not stop.startswith(action.option_strings[-1])
]


@pytest.mark.long
@pytest.mark.parametrize(("name", "option"), CASES)
def test_an_option_that_is_not_read_is_a_usage_error(
    name: str, option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    module, words, stop, _ = STOPS[name]
    action = next(action for action in module._parser()._actions if action.dest == option)
    value = ["json"] if option == "format" else words_of(action)[1:]
    if option == "baseline":
        value = [str(write_baseline(tmp_path.parent))]
    before = [stop, *words] if stop == "--infer" else [*words, stop]
    code = module.main([*before, action.option_strings[-1], *value])
    out, err = capsys.readouterr()
    assert (code, out, err.count("\n"), list(tmp_path.iterdir())) == (2, "", 1, []), err
    assert action.option_strings[-1] in err


@pytest.mark.parametrize(
    ("module", "words"),
    [
        (atom, ["SM80_16x8x16", "--arch", "sm80"]),
        (tiling, [*TILED, "--tile", "64,64,32"]),
        (movement, [*ACCESS, "--width", "32"]),
        (laws, ["NOCARRY"]),
        (laws, ["--code", "--only", "R1", "--rank", "1"]),
    ],
)
def test_an_option_that_selects_names_is_read(
    module: ModuleType, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert module.main([*words, "--list"]) == 0
    assert capsys.readouterr().err == ""


def test_live_with_list_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert atom.main(["SM80_16x8x16", "--live", "--rlimit", "9", "--list"]) == 2
    assert capsys.readouterr().err == "lanecheck: --list reads no --live, --rlimit\n"


def test_thread_goes_with_explain(capsys: pytest.CaptureFixture[str]) -> None:
    assert tiling.main([*TILED, "--thread", "0"]) == 2
    assert capsys.readouterr().err == "lanecheck: --thread needs --explain\n"
