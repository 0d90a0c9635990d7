# SPDX-License-Identifier: Apache-2.0
"""All errors of all files are reported, in the order of their lines, and cost no other entry."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.verify.test_user_files import FULL, MINIMAL, MMA, MOVEMENT, TILING, run
from verify.atom import command as atom
from verify.lock import command as lock
from verify.movement import command as movement
from verify.show import command as show
from verify.tiling import command as tiling

ERRORS = [
    (MINIMAL.replace("A =", "a ="), ["F:3:1: MIN.a: unknown key; did you mean 'A'?"]),
    (MINIMAL.replace("B =", "BLayout ="), ["F:4:1: MIN.BLayout: unknown key; did you mean 'B'?"]),
    (MINIMAL.replace("ptx =", "PTX ="), ["F:2:1: MIN.PTX: unknown key; did you mean 'ptx'?"]),
    (MINIMAL.replace("A =", "a =").replace("C =", "q ="), ["F:1:2: MIN.C: missing", "F:3:1: MIN.a:", "F:5:1: MIN.q:"]),
    (MINIMAL + 'ThrID = "32:1"', ["F:6:1: MIN.ThrID: unknown key; did you mean 'thr'?"]),
    (MINIMAL + 'D = "32:1"', ["F:6:1: MIN.D: unknown key; D has the layout of C: state C alone"]),
    (MINIMAL.replace('["MIN"]', "[SM80.x]"), ['F:1:2: SM80: a name with a dot needs quotes: ["SM80.x"]']),
    (MINIMAL.replace('["MIN"]', "[my.atom]"), ['F:1:2: my: a name with a dot needs quotes: ["my.atom"]']),
    (MINIMAL.replace('["MIN"]\n', ""), ['F:1:1: ptx: ptx, A, B, C are in no table: a line ["NAME"] belongs above']),
    (MINIMAL.replace("(16,8))", "(16,8)"), ["F:5:34: MIN.C: cannot read"]),
    (MINIMAL + "shape = [16, 8]\nthr = 32", ["F:6:1: MIN.shape: expected", "F:7:1: MIN.thr: expected a string"]),
    (MINIMAL + 'types = { A = "f16", X = "f16" }', ["F:6:22: MIN.types.X: unknown key"]),
    (MINIMAL + "x = [", ["F:6:5: is not TOML: "]),
    (
        MINIMAL.replace('["MIN"]\n', "").replace("A =", "ALayout ="),
        ["F:1:1: ptx: ptx, ALayout, B, C are in no table"],
    ),
    (MINIMAL.replace(MMA, "hmma.magic"), ["F:2:1: MIN.ptx: 'hmma.magic': hmma is not in the tables"]),
    (MINIMAL.replace(".aligned", ""), [f"nearest: {MMA}, "]),
]


@pytest.mark.long
@pytest.mark.parametrize(("text", "said"), ERRORS, ids=map(str, range(len(ERRORS))))
def test_every_error_is_reported_with_its_line_and_costs_no_other_atom(
    text: str, said: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, tmp_path, text)
    output = [line for line in err.splitlines() if line.startswith("lanecheck: ")]
    assert (code, out) == (2, "")
    assert len(output) == len(said) and all(part in line for part, line in zip(said, output, strict=True))
    assert err.count("^") == len(said)
    if "no table" not in said[0]:
        right = FULL.replace("MIN", "OTHER")
        code, out, err = run(capsys, tmp_path, f"{text}\n{right}", "--checks", "isa")
        assert (
            code == 2
            and out.count("OTHER") == out.count("VERIFIED") == 1
            and "exit 2" in out
            and all(part in err for part in said)
        )
        assert run(capsys, tmp_path, f"{text}\n{right}", "--list")[:2] == (2, "OTHER\n")
        junit = run(capsys, tmp_path, f"{text}\n{right}", "--checks", "isa", "--format", "junit")[1]
        assert junit.count("<error") == len(said)


def test_errors_are_reported_in_the_order_of_their_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What the instruction cannot say is found after all that the file alone shows."""
    gap = MINIMAL.replace(f'"{MMA}"', '"tcgen05.mma.cta_group::1.kind::f16"')
    code, _, err = run(capsys, tmp_path, gap + MINIMAL.replace("MIN", "LATER").replace("A =", "q ="))
    output = [int(line.split(":")[2]) for line in err.splitlines() if line.startswith("lanecheck: ")]
    assert code == 2 and len(output) == 4 and output == sorted(output)


@pytest.mark.long
def test_every_error_of_tilings_and_movements_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.toml"
    for main, good, bad in (
        (
            tiling.main,
            TILING,
            TILING.replace('"t"', '"u"') + 'tile = [1]\natoms_layout = "():()"\nsmem = { A = "8:1" }\n',
        ),
        (
            movement.main,
            MOVEMENT,
            MOVEMENT.replace('"m"', '"n"') + "widht = 1\n" + MOVEMENT.replace('"m"', '"o"') + "how = 1\n",
        ),
    ):
        path.write_text(good + bad, encoding="utf-8")
        code = main([str(path)])
        captured = capsys.readouterr()
        assert code == 2 and captured.out.endswith("; exit 2\n") and captured.err.count("lanecheck: ") == 2
        assert captured.err.count(f"{path}:") == 2 and captured.err.count("^") == 2
        assert main([str(path), "--format", "json"]) == 2
        document = json.loads(capsys.readouterr().out)
        files = [failure["place"]["file"] for failure in document["failures"]]
        assert len(document["subjects"]) == 1 and files == [str(path)] * 2


def test_an_empty_name_is_no_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert tiling.main([""]) == movement.main([""]) == 2
    assert capsys.readouterr().err == "lanecheck: '' is the name of no file\n" * 2


def test_a_file_without_an_entry_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Alone and beside others, which are verified all the same."""
    bare, mine, mma = tmp_path / "bare.toml", tmp_path / "mine.toml", tmp_path / "mma.toml"
    bare.write_text("# nothing yet\n", encoding="utf-8")
    mine.write_text(TILING, encoding="utf-8")
    mma.write_text(MINIMAL, encoding="utf-8")
    line = f"lanecheck: {bare}: there is no table in it\n"
    for main, right in ((tiling.main, mine), (atom.main, mma)):
        assert main([str(bare)]) == main([str(bare), str(right), "-q"]) == 2
        captured = capsys.readouterr()
        assert captured.err == 2 * line
        assert captured.out.startswith("1 subject: 1 verified") and captured.out.endswith("exit 2\n")
    assert tiling.main(["--atoms", str(bare), str(mine), "-q"]) == show.main([str(bare), str(mma)]) == 2
    assert capsys.readouterr().err == 2 * line
    locked = str(tmp_path / "l.lock")
    for words in ([], ["--check"]):
        assert lock.main([str(mma), "--lock", locked]) == 0
        assert lock.main([*words, "--lock", locked, str(bare), str(mma)]) == 2
        assert "bare.toml: there is no table in it\n" in capsys.readouterr().err
