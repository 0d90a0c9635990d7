# SPDX-License-Identifier: Apache-2.0
"""Where a report goes: in colour on a terminal only, in an encoding that lacks letters, to a device that is full."""

from __future__ import annotations

import html
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from verify.atom import command as atom
from verify.cli import output


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("terminal", "environment", "painted"),
    [
        (True, {}, True),
        (False, {}, False),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"NO_COLOR": ""}, True),
        (False, {"FORCE_COLOR": "1"}, True),
        (True, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (True, {"TERM": "dumb"}, False),
    ],
)
def test_colour_is_used_on_a_terminal_unless_the_environment_forbids_it(
    terminal: bool, environment: dict[str, str], painted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    screen = Screen() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setitem(sys.modules, "rich", None)  # it would be an ImportError
    output.write("SM80 VERIFIED, UNVERIFIED REFUTED\n", None)
    coloured = "SM80 \x1b[32mVERIFIED\x1b[0m, UNVERIFIED \x1b[1;31mREFUTED\x1b[0m\n"
    assert screen.getvalue() == (coloured if painted else "SM80 VERIFIED, UNVERIFIED REFUTED\n")


@pytest.mark.parametrize("words", [["SM75_8x8x16_S32S8S8S32_TN", "-q"], ["none", "--format", "junit"]])
def test_a_minus_is_stdout(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    runs = [(atom.main([*words, *option]), capsys.readouterr().out) for option in ([], ["-o", "-"])]
    assert runs[0] == runs[1] and runs[0][1] and not list(tmp_path.iterdir())


def test_a_file_is_never_in_colour(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    output.write("VERIFIED\n", str(tmp_path / "report"))
    assert (tmp_path / "report").read_text() == "VERIFIED\n"


ATOM = """["É"]
shape  = [8, 8, 4]
thr    = "32:1"
types  = { D = "f32", A = "f32", B = "f32", C = "f32" }
A      = "(32,1):(1,0)"
B      = "(32,1):(1,0)"
C      = "(32,2):(1,32)"
source = "a test"
"""


def run(*words: str, encoding: str = "utf-8", stdout: object = subprocess.PIPE) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONIOENCODING": encoding, "PYTHONUNBUFFERED": ""}
    command = [sys.executable, "-m", *words]
    return subprocess.run(command, env=environment, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False)


@pytest.mark.long
def test_letters_that_the_encoding_lacks_are_escaped(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(ATOM, encoding="utf-8")
    done = run("verify.atom", "--atoms", str(file), encoding="ascii")
    assert (done.returncode, done.stderr) == (4, "")
    assert done.stdout.startswith("\\xc9  UNCHECKED ")


def test_the_help_needs_no_letters() -> None:
    done = run("verify", "--help", encoding="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert "usage: lanecheck COMMAND" in done.stdout


@pytest.mark.long
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize("words", [("verify.atom", "--list"), ("verify.layout", "8:1", "--onto", "8")], ids="|".join)
def test_a_full_device_is_one_line(words: tuple[str, ...]) -> None:
    with open("/dev/full", "w") as full:
        done = run(*words, stdout=full)
    assert (done.returncode, done.stderr) == (2, "lanecheck: cannot write to stdout: No space left on device\n")


@pytest.mark.parametrize(
    "words", [["-q"], [], ["--format", "json"], ["--format", "html"], ["--format", "junit"], ["--list"]]
)
def test_no_unicode_writes_ascii_alone(words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    example = Path(__file__).parents[3] / "examples" / "my_atoms.toml"
    path = tmp_path / "mine.toml"
    path.write_text(example.read_text(encoding="utf-8").replace("MY_", "MEÎN→"), encoding="utf-8")
    for given in (["--atoms", str(path)], ["é"]):
        atom.main(
            [*given, *words, "--checks", "isa", "--no-unicode"]
            if words != ["--list"]
            else [*given, *words, "--no-unicode"]
        )
        captured = capsys.readouterr()
        assert captured.out.isascii() and captured.err.isascii() and captured.out + captured.err
    atom.main(["--atoms", str(path), "--list"])
    assert "MEÎN→" in capsys.readouterr().out  # the next command writes as before


def test_ascii_is_lossless_where_a_program_reads_it() -> None:
    name = "é × 𝄞"
    assert json.loads(output.in_ascii(json.dumps({"name": name}, ensure_ascii=False))) == {"name": name}
    assert html.unescape(output.in_ascii(f"<b>{name}</b>")) == f"<b>{name}</b>"
    assert output.in_ascii(f"a {name}") == "a \\u00e9 x \\ud834\\udd1e"


def test_a_sign_that_is_wider_in_ascii_is_replaced_before_lines_are_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    signs = output.ONLY_ASCII.set(True)
    try:
        lines = output.wrap_report(f"  {'a… ' * 30}\n", None).splitlines()
    finally:
        output.ONLY_ASCII.reset(signs)
    assert len(lines) > 3 and max(map(len, lines)) <= 40 and "..." in lines[0]
