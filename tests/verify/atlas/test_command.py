# SPDX-License-Identifier: Apache-2.0
"""`lanecheck atlas`: its formats have the same content, bad input is one line."""

import gc
import json
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

from layouts.atoms import load, registry
from verify.atlas import command
from verify.atlas.rows import tabulate
from verify.atom import command as atom
from verify.atom.checker import AtomChecker
from verify.core.verdict import Check

MUSEUM = Path(__file__).parents[2] / "museum"


FEW = ["SM80_16x8x16", "SM61", "SM90_64x24x16_F32F16F16_SS", "SM100_U8x8_LDSM_T", "UniversalFMA"]


def read_printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert command.main([*FEW, *words]) == 0
    return capsys.readouterr().out


@pytest.mark.slow
def test_the_formats_have_the_same_content(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    document = json.loads(read_printed(capsys, "--format", "json"))
    rows = {row["instruction"]: row for row in document["instructions"]}
    assert document["schema"] == 2 and document["total"]["atoms"] == sum(row["atoms"] for row in rows.values()) == 20
    assert rows["mma.sync m16n8k16"]["checks"]["isa"]["verified"] == 11
    assert rows["dp2a"]["refuted"][0]["known"] is True
    assert rows["wgmma.mma_async.sync m64nNk16"]["provenance"]["C"][0].startswith("derived: ")
    text, markdown = read_printed(capsys), read_printed(capsys, "--format", "markdown")
    for name, row in rows.items():
        assert f"| `{name}` | {row['atoms']} |" in markdown
        assert any(
            line.startswith(name) and line[len(name) :].split()[0] == str(row["atoms"]) for line in text.split("\n")
        )
    assert read_printed(capsys, "--write", str(tmp_path)) == text
    assert (tmp_path / "atlas.md").read_text(encoding="utf-8") == markdown
    assert json.loads((tmp_path / "atlas.json").read_text(encoding="utf-8")) == document
    seen: list[str] = []
    parser = HTMLParser()
    parser.handle_data = seen.append  # type: ignore[method-assign]
    parser.feed((tmp_path / "atlas.html").read_text(encoding="utf-8"))
    assert set(rows) <= set(seen)


@pytest.mark.long
def test_one_architecture_or_some_atoms_or_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--arch", "sm89", "-q"]) == 0
    assert capsys.readouterr().out.startswith("8 atoms of 1 instructions: 8 VERIFIED")
    assert command.main(["--atoms", str(MUSEUM / "wrong.toml"), "--by", "family"]) == 1
    out = capsys.readouterr().out
    assert (
        "1: SM80_16x8x32_S32S4S4S32_TN B  REFUTED   gives each element" in out
        and f"{len(load(MUSEUM / 'wrong.toml'))} atoms of" in out
    )


@pytest.mark.long
@pytest.mark.parametrize("main", [command.main])
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--arch", "sm91"], "--arch: no atom is of the architecture sm91; there are: sm50, sm61"),
        (["--arch", "hopper"], "--arch: no atom is of the architecture hopper"),
        (["SM90_64x12x16_F32F16F16_SS"], "N = 12 is not one of 8, 16, 24"),
        (["no_such_atom"], "no atom is named 'no_such_atom'"),
        (["--checks", "oracle", "SM61"], "--checks: expected some of isa, proof, gpu, found oracle"),
        (["--write", "/dev/null/atlas", "SM61"], "cannot write /dev/null/atlas: Not a directory"),
    ],
)
def test_bad_input_is_one_line(
    main: Callable[[list[str]], int], words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    captured = capsys.readouterr()
    assert message in captured.err and len(captured.err.splitlines()) == 1 and captured.out == ""


def test_a_known_defect_that_is_gone_is_reported(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """It fails the run, so every format says which atom it was."""
    example = Path(__file__).parents[3] / "examples" / "my_atoms.toml"
    path = tmp_path / "mine.toml"
    path.write_text(example.read_text(encoding="utf-8") + 'known_defect = "A: it was once wrong"\n', encoding="utf-8")
    for form in command.FORMATS:
        assert command.main(["--atoms", str(path), "--format", form]) == 1
        out = capsys.readouterr().out
        if form == "json":
            assert json.loads(out)["total"]["surprises"] == ["MY_16x8x16_F32F16F16F32"]
        else:
            assert "MY_16x8x16_F32F16F16F32  SURPRISE: it is not refuted in just the parts" in out
    assert command.main(["no_such_atom"]) == 2
    assert "lanecheck atom --list shows all" in capsys.readouterr().err


def test_a_check_that_is_left_out_has_no_column(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["SM61_DP4A", "--checks", "isa", "--format", "markdown"]) == 0
    assert "| instruction | atoms | isa | verdict | provenance |" in capsys.readouterr().out
    assert tabulate([registry()["SM61_DP4A"]], AtomChecker(frozenset({Check.ISA}))).checks == (Check.ISA,)


def test_the_collector_is_as_it_was_after_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    """Also after one that fails."""
    for names, code in ((["SM61_DP4A"], 0), (["SM61_DP4A", "no_such_atom"], 2)):
        for on in (True, False):
            (gc.enable if on else gc.disable)()
            assert (command.main(names), atom.main(names), gc.isenabled()) == (code, code, on)
    gc.enable()
    capsys.readouterr()
