# SPDX-License-Identifier: Apache-2.0
"""`lanecheck lock`: what was reviewed is accepted in any notation, and any change of a function rejected."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pytest

from tests.verify.atom.test_command import ENTRY, RIGHT_B
from verify.__main__ import main as lanecheck

ROOT = Path(__file__).parents[3]
MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
MAP = f"""
["store"]
ptx     = "{MMA}"
operand = "C"
lang    = "c"
row     = "lane/4 + 8*(i/2)"
col     = "lane%4*2 + i%2"
"""
TILING = """
["tiled"]
atom         = "MINE_0"
atoms_layout = "2,2,1"
tile         = [64, 32, 32]
smem         = { A = "Sw<2,3,3> o (8,32):(32,1)" }
"""


@pytest.fixture
def locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """A folder with an atom, a map and a tiling of the atom, and their lock."""
    monkeypatch.chdir(tmp_path)
    Path("atoms.toml").write_text(ENTRY.format(number=0, B=RIGHT_B), encoding="utf-8")
    Path("maps.toml").write_text(MAP, encoding="utf-8")
    Path("tilings.toml").write_text(TILING, encoding="utf-8")
    assert lanecheck(["lock", "tilings.toml", "atoms.toml", "maps.toml"]) == 0
    assert capsys.readouterr().out == "wrote lanecheck.lock: 8 functions of 3 subjects\n"
    return tmp_path


def change_file(file: str, old: str, new: str) -> None:
    text = Path(file).read_text(encoding="utf-8")
    assert old in text
    Path(file).write_text(text.replace(old, new), encoding="utf-8")


def check(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = lanecheck(["lock", "--check", *words])
    return code, capsys.readouterr().out


def test_what_is_locked_is_accepted_in_any_notation(locked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(capsys) == (0, "3 subjects: 3 as locked, 0 not; exit 0\n")
    before = Path("lanecheck.lock").read_text(encoding="utf-8")
    change_file("maps.toml", "lane/4 + 8*(i/2)", "(lane >> 2) + ((i & 2) << 2)")
    change_file("atoms.toml", RIGHT_B, "Layout<Shape<Shape<_4,_8>,Shape<_2,_2>>,Stride<Stride<_16,_1>,Stride<_8,_64>>>")
    change_file("atoms.toml", '"32:1"', '"(4,8):(1,4)"')
    assert check(capsys)[0] == 0
    assert lanecheck(["lock", "tilings.toml", "atoms.toml", "maps.toml"]) == 0
    assert Path("lanecheck.lock").read_text(encoding="utf-8") == before


@pytest.mark.long
def test_a_changed_function_is_shown_as_layouts_and_as_points(locked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change_file("maps.toml", "8*(i/2)", "8*(i%2)")
    change_file("maps.toml", "2 + i%2", "2 + i/2")
    code, out = check(capsys)
    assert code == 1
    assert out.splitlines()[:6] == [
        "store C  lane 0, value 1: was (m=0, n=1), now (m=8, n=0)   maps.toml:6:1",
        "  64 of 128 points changed",
        "  was ((4,8),(2,2)):((32,1),(16,8))",
        "  now ((4,8),4):((32,1),8)",
        "  lane 0, value 1: was (m=0, n=1), now (m=8, n=0)",
        "  lane 0, value 2: was (m=8, n=0), now (m=0, n=1)",
    ]
    assert "  and 56 more" in out and out.endswith("3 subjects: 2 as locked, 1 not; exit 1\n")
    assert len(check(capsys, "-v")[1].splitlines()) > 64


def test_a_changed_stride_of_an_atom_changes_the_tiling_too(locked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change_file("atoms.toml", RIGHT_B, "((4,8),(2,2)):((8,1),(32,64))")
    code, out = check(capsys)
    assert code == 1 and "MINE_0 B  thread 0, value 1" in out and "tiled B  " in out
    assert "store" not in out and check(capsys, "maps.toml")[0] == 0


@pytest.mark.long
@pytest.mark.parametrize(
    ("file", "old", "new", "shown"),
    [
        ("tilings.toml", "[64, 32, 32]", "[64, 64, 32]", "tiled tile  was 64x32x32, now 64x64x32"),
        ("tilings.toml", "Sw<2,3,3>", "Sw<1,3,3>", "tiled smem A  was Sw<2,3,3> o"),
        ("maps.toml", MMA, "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", f"store ptx  was {MMA}, now mma.sync"),
        ("maps.toml", '["store"]', '["put"]', "put  renamed: the lock has it as store of maps.toml"),
        ("maps.toml", MAP, "", "store  missing: only the lock has it"),
        ("maps.toml", MAP, MAP + MAP.replace("store", "another"), "another  added: the lock has it not"),
    ],
)
def test_what_else_changed_is_rejected(
    file: str, old: str, new: str, shown: str, locked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file without an entry is an error too."""
    change_file(file, old, new)
    code, out = check(capsys)
    assert code == (2 if not new else 1) and shown in " ".join(out.split()).replace(" missing", "  missing").replace(
        " renamed", "  renamed"
    ).replace(" added", "  added").replace(" was", "  was", 1)


def test_a_map_without_a_layout_is_locked_point_by_point(locked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change_file("maps.toml", "lane%4*2 + i%2", "(lane*lane + 3*i) % 8")
    assert lanecheck(["lock", "maps.toml", "--lock", "other.lock"]) == 0
    assert 'points = [\n  "0,0 0,3 8,6 8,1",\n' in Path("other.lock").read_text(encoding="utf-8")
    capsys.readouterr()
    assert check(capsys, "--lock", "other.lock")[0] == 0
    change_file("maps.toml", "3*i", "5*i")
    assert check(capsys, "--lock", "other.lock")[0] == 1


@pytest.mark.long
def test_the_traits_of_a_header_are_locked(locked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(ROOT / "examples" / "headers", "include")
    header = "include/atom/mma_traits_own.hpp"
    assert lanecheck(["lock", header, "include/atom/copy_traits_own.hpp", "--lock", "h.lock"]) == 0
    capsys.readouterr()
    assert check(capsys, "--lock", "h.lock") == (0, "2 subjects: 2 as locked, 0 not; exit 0\n")
    change_file(header, "Stride<_8, _64>", "Stride<_8, _32>")
    code, out = check(capsys, "--lock", "h.lock")
    assert code == 1 and f"now (element=32)   {header}:" in " ".join(out.split()).replace(" include", "   include")
    assert "was ((4,8),(2,2)):((16,1),(8,64))" in out and "now ((4,8),(2,2)):((16,1),(8,32))" in out
    change_file(header, "Stride<_8, _32>", "Stride<Stride<_8>, _64>")
    assert check(capsys, "--lock", "h.lock")[0] == 1


def test_reports_have_the_line_of_the_change(locked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change_file("atoms.toml", RIGHT_B, "((4,8),(2,2)):((8,1),(32,64))")
    lines = Path("atoms.toml").read_text(encoding="utf-8").splitlines()
    code, out = check(capsys, "--format", "sarif", "atoms.toml")
    (result,) = json.loads(out)["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert code == 1 and result["ruleId"] == "locked" and place["artifactLocation"]["uri"] == "atoms.toml"
    assert lines[place["region"]["startLine"] - 1].startswith("B ")
    assert check(capsys, "--format", "github", "atoms.toml")[1].startswith("::error file=atoms.toml,line=8,")


def test_a_lock_may_be_in_another_folder(locked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("ci").mkdir()
    assert lanecheck(["lock", "maps.toml", "--lock", "ci/maps.lock"]) == 0
    assert '["../maps.toml"."store"]' in Path("ci/maps.lock").read_text(encoding="utf-8")
    capsys.readouterr()
    assert check(capsys, "--lock", "ci/maps.lock")[0] == 0


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("lock", "which maps? Give FILEs"),
        ("lock --check --lock none.lock", "cannot be read: No such file or directory: write it first"),
        ("lock maps.toml --format json", "--format and --output are of --check"),
        ("lock maps.toml --lock no/such/folder.lock", "cannot write no"),
        ("lock none.toml", "cannot be read"),
        (f"lock {ROOT}/examples/movement.toml", "atoms, tilings and maps can be locked; this is a file of movements"),
    ],
)
def test_what_cannot_be_locked_is_one_line(
    line: str, why: str, locked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert lanecheck(line.split()) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert why in said


def test_an_entry_with_an_error_leaves_the_lock_as_it_was(locked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = Path("lanecheck.lock").read_text(encoding="utf-8")
    Path("maps.toml").write_text(MAP + MAP.replace("store", "bad").replace("i%2", "i%"), encoding="utf-8")
    assert lanecheck(["lock", "maps.toml"]) == 2
    assert "maps.toml:14:" in capsys.readouterr().err
    assert Path("lanecheck.lock").read_text(encoding="utf-8") == before
    assert check(capsys, "maps.toml")[0] == 2


@pytest.mark.slow
def test_a_function_of_python_needs_leave_in_ci(locked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("mine.py").write_text("def c(lane, i):\n    return lane // 4 + 8 * (i // 2), lane % 4 * 2 + i % 2\n")
    Path("called.toml").write_text(f'["c"]\nptx = "{MMA}"\noperand = "C"\nfunction = "mine.py::c"\n')
    monkeypatch.setenv("CI", "true")
    assert lanecheck(["lock", "called.toml", "--lock", "c.lock"]) == 2
    assert lanecheck(["lock", "called.toml", "--lock", "c.lock", "--allow-exec"]) == 0
    assert lanecheck(["lock", "--check", "--lock", "c.lock"]) == 2
    assert lanecheck(["lock", "--check", "--lock", "c.lock", "--allow-exec"]) == 0


@pytest.mark.slow
def test_a_changed_lock_ends_in_a_difference_or_a_line(locked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, lot = Path("lanecheck.lock").read_text(encoding="utf-8"), random.Random(5)
    for _ in range(200):
        at = lot.randrange(text.index("schema"), len(text))
        spoiled = text[:at] + lot.choice(['"', "[", "9", ",", "\n", "}", "é", ""]) + text[at + lot.randrange(3) :]
        Path("lanecheck.lock").write_text(spoiled, encoding="utf-8")
        code = lanecheck(["lock", "--check"])
        err = capsys.readouterr().err
        assert code in (0, 1, 2) and len(err.splitlines()) <= 2 * (code == 2), (spoiled, err)
        assert "internal error" not in err, err
