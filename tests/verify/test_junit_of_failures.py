# SPDX-License-Identifier: Apache-2.0
"""--format junit leaves a file whatever happens: what could not be verified is a test case with an error."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from verify.atom import command as atom
from verify.atom.checker import AtomChecker
from verify.laws import command as laws
from verify.layout import command as layout
from verify.movement import command as movement
from verify.tiling import command as tiling

MINE = (Path(__file__).parents[2] / "examples" / "my_atoms.toml").read_text(encoding="utf-8")
COMMANDS = {
    "atom": (atom.main, ["--atoms", "bad.toml"]),
    "tiling": (tiling.main, ["bad.toml"]),
    "movement": (movement.main, ["bad.toml"]),
    "layout": (layout.main, ["(4,8):(1,2)", "--onto", "abc"]),
    "laws": (laws.main, ["no-such-law"]),
}


def errors(path: Path) -> list[tuple[str, str]]:
    """The test cases of a file that are errors, with their messages."""
    (suite,) = ElementTree.parse(path).getroot()
    cases = [(case.get("classname", ""), error.get("message", "")) for case in suite for error in case.iter("error")]
    assert suite.get("errors") == str(len(cases))
    return cases


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.toml").write_text('["A"]\nshape = [16, 8\n', encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("name", COMMANDS)
def test_what_cannot_be_read_is_an_error_with_its_message(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command, arguments = COMMANDS[name]
    assert command([*arguments, "--format", "junit", "-o", "out.xml"]) == 2
    output = errors(folder / "out.xml")
    assert output and f"lanecheck: {output[0][1]}" in capsys.readouterr().err.splitlines()


def test_arguments_that_are_turned_down_are_an_error_with_the_message(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        atom.main(["SM75_8x8x16", "--require", "bok", "--format", "junit", "-o", "out.xml"])
    ((_, output),) = errors(folder / "out.xml")
    assert end.value.code == 2 and "invalid choice: 'bok'" in output and output in capsys.readouterr().err
    with pytest.raises(SystemExit):
        atom.main(["SM75_8x8x16", "-o", "alone.xml", "--format"])
    err = capsys.readouterr().err
    assert err.count("usage: ") == 1 and not (folder / "alone.xml").exists()


def test_one_tiling_that_is_none_is_an_error_beside_the_verdicts_on_the_others(folder: Path) -> None:
    right = '["RIGHT"]\natom = "SM80_16x8x16_F32F16F16F32_TN"\n'
    (folder / "mine.toml").write_text(right + '["NONE"]\natom = "SM99"\n', encoding="utf-8")
    assert tiling.main(["mine.toml", "--format", "junit", "-o", "out.xml"]) == 2
    assert [name for name, message in errors(folder / "out.xml") if "SM99" in message] == ["NONE"]
    suite = ElementTree.parse(folder / "out.xml").getroot()[0]
    assert sum(case.get("classname") == "RIGHT" for case in suite) > 5
    (folder / "mine.toml").write_text('["NONE"]\natom = "SM99"\n', encoding="utf-8")
    assert tiling.main(["mine.toml", "--format", "junit", "-o", "alone.xml"]) == 2
    assert [name for name, _ in errors(folder / "alone.xml")] == ["NONE"]


@pytest.mark.parametrize(("failing", "code"), [(RuntimeError("planted"), 3), (KeyboardInterrupt(), 130)])
def test_a_failure_of_ours_and_an_interruption_are_errors(
    failing: BaseException, code: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise failing

    monkeypatch.setattr(AtomChecker, "verify", fail)
    (folder / "mine.toml").write_text(MINE, encoding="utf-8")
    assert atom.main(["--atoms", "mine.toml", "--format=junit", "--output=out.xml"]) == code
    assert errors(folder / "out.xml")


def test_without_a_file_it_is_printed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert atom.main(["SM99", "--format", "junit"]) == 2
    printed = capsys.readouterr().out
    assert "<error message=\"no atom is named 'SM99'" in printed


def test_a_file_that_cannot_be_written_is_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert atom.main(["SM80_16x8x16_F32F16F16F32_TN", "--format", "junit", "-o", "no/out.xml"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "cannot write no/out.xml" in line
