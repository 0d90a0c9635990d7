# SPDX-License-Identifier: Apache-2.0
"""`lanecheck tiling`: exit codes, errors in one line, files, formats, snapshots."""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.messages import RANGE_FROM_1
from tests.verify.tiling.command import F16, FMA, run
from verify.tiling import spec

HERE = Path(__file__).parent
WRONG = str(HERE / "wrong.toml")


def test_one_rejected_table_does_not_stop_the_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is an error of one line; the others are verified, and the exit code is that of the error."""
    path = tmp_path / "three.toml"
    tables = {"first": "[32, 32, 32]", "wrong": "[24, 32, 32]", "last": "[64, 32, 32]"}
    path.write_text("".join(f'[{name}]\natom = "{F16}"\ntile = {tile}\n' for name, tile in tables.items()))
    code, out, err = run(capsys, str(path), "--format", "json")
    assert (code, [subject["name"] for subject in json.loads(out)["subjects"]]) == (2, ["first", "last"])
    why = f"M = 24 is not a multiple of 16, what one tiled MMA of {F16} covers: 16 or 32 would do"
    assert err == f"lanecheck: {path}: wrong.tile: {why}\n"
    assert run(capsys, str(path))[1].endswith("; exit 2\n")
    code, out, _ = run(capsys, str(path), "--explain")
    assert (code, [line for line in out.splitlines() if line[:1].strip()]) == (
        2,
        [f"{name}: 1x1x1 atom of 16x8x16, 32 threads" for name in ("first", "last")],
    )
    code, out, err = run(capsys, str(path), "--only", "wrong")
    assert (code, out, err.count("\n")) == (2, "", 1)


@pytest.mark.long
@pytest.mark.parametrize(
    ("short", "whole"),
    [
        (["--atoms-layout", "2,2"], ["--atoms-layout", "2,2,1"]),
        (["--atoms-layout", "2"], ["--atoms-layout", "2,1,1"]),
        (["--atoms-layout", "(2,2):(2,1)"], ["--atoms-layout", "(2,2,1):(2,1,0)"]),
        (["--permutation", "32,(8,2):(1,8)"], ["--permutation", "32,(8,2):(1,8),_"]),
        (["--permutation", "32"], ["--permutation", "32,_,_"]),
    ],
)
def test_axes_that_are_left_out_are_as_in_cute(
    short: list[str], whole: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """CuTe appends atoms of 1 and permutations of _ up to three modes: so both are verified and derived alike."""
    for more in ([], ["--explain"]):
        assert run(capsys, "--atom", F16, *short, *more) == run(capsys, "--atom", F16, *whole, *more)
    assert spec.atoms_layout([2, 2]) == spec.atoms_layout([2, 2, 1])


FILES = {
    'x = 3': "x: expected a table, found an integer",
    '["x"]\natoms_layout = [2, 2, 1]': "x.atom: missing",
    '["x"]\natom = 3': "x.atom: expected a string, found an integer",
    f'["x"]\natom = "{F16}"\ntiel = [1, 2, 3]': "x.tiel: unknown key; did you mean 'tile'?",
    f'["x"]\natom = "{F16}"\ntile = [128, 128]': "x.tile: [128, 128]: expected three extents for M, N, K, found 2",
    f'["x"]\natom = "{F16}"\ntile = [128, 128, 1.5]': (
        "x.tile: expected a text or a list of numbers and texts, found an array"
    ),
    f'["x"]\natom = "{F16}"\ntile = [128, 128, -1]': (
        f"x.tile: [128, 128, -1]: {RANGE_FROM_1} 65536, found '-1'"
    ),
    f'["x"]\natom = "{F16}"\ntile = "128,128,8"': (
        f"x.tile: K = 8 is not a multiple of 16, what one tiled MMA of {F16} covers: 16 would do"
    ),
    f'["x"]\natom = "{F16}"\natoms_layout = "(2,1,1,2):(1,0,0,2)"': (
        "x.atoms_layout: (2,1,1,2):(1,0,0,2) has rank 4: expected at most 3, for M, N, K"
    ),
    f'["x"]\natom = "{F16}"\npermutation = [32, "(8,2:(1,8)", "_"]': (
        "x.permutation: cannot read '(8,2:(1,8)': expected ',' or ')', found ':' at column 5"
    ),
    f'["x"]\natom = "{F16}"\nsmem = {{ C = "8:1" }}': "x.smem.C: unknown key; known are A, B",
    f'["x"]\natom = "{F16}"\nsmem = {{ A = "64:1" }}': (
        "x.smem.A: 64:1 has rank 1: expected 2, rows and columns"
    ),
    f'["x"]\natom = "{F16}"\nC = "(4"': "x.C: cannot read '(4': expected ',' or ')', found the end at column 3",
    '[x': "is not TOML: Expected ']' at the end of a table declaration (at end of document)",
    '[""]\natom = "a"': '"": a tiling needs a name',
}  # fmt: skip


def test_an_unknown_atom_is_an_error_with_the_nearest_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = F16.replace("_TN", "_NT")
    code, out, error = run(capsys, "--atom", wrong)
    assert (code, out) == (2, "")
    assert error.startswith(f"lanecheck: no atom is named {wrong!r}; nearest: {F16}, ")
    path = tmp_path / "tilings.toml"
    path.write_text(f'["x"]\natom = "{wrong}"', encoding="utf-8")
    code, out, error = run(capsys, str(path))
    assert (code, out) == (2, "")
    assert error.startswith(f"lanecheck: {path}: x.atom: no atom is named {wrong!r}; nearest: {F16}, ")
    assert error.count("\n") == 1


@pytest.mark.parametrize("text", FILES)
def test_what_is_wrong_with_a_file_is_one_line(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "tilings.toml"
    path.write_text(text, encoding="utf-8")
    code, out, error = run(capsys, str(path))
    assert (code, out) == (2, "")
    line = error.splitlines()[0]
    assert re.sub(r":\d+:\d+: ", ": ", line) == f"lanecheck: {path}: {FILES[text]}"
    assert error.count("lanecheck: ") == 1


def test_files_beyond_the_bounds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "large.toml"
    path.write_text("#" * (1 << 20) + "\n", encoding="utf-8")
    assert run(capsys, str(path)) == (2, "", f"lanecheck: {path}: is over 1 MiB\n")
    path.write_text(f"x = {'[' * 70}{']' * 70}", encoding="utf-8")
    assert run(capsys, str(path))[2] == f"lanecheck: {path}: nested deeper than 64\n"
    assert run(capsys, str(tmp_path / "none.toml"))[2].endswith("cannot be read: No such file or directory\n")


@pytest.mark.long
def test_each_exit_code_has_its_cause(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty = tmp_path / "empty.toml"
    empty.write_text("", encoding="utf-8")
    assert run(capsys, "--atom", F16, "-q")[0] == 0
    assert run(capsys, WRONG, "-q")[0] == 1
    assert run(capsys, "--atom", F16, "--rlimit", "50", "-q")[0] == 4
    assert run(capsys, str(empty), "-q")[0] == 2
    known = "SM80_16x8x128_S32U1U1S32_TN_XORPOPC"
    assert run(capsys, "--atom", known, "-q")[0] == 1
    assert run(capsys, "--atom", known, "--expect-known", "-q")[0] == 0


def test_too_small_a_budget_is_reported_and_verifies_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--atom", F16, "--rlimit", "50")
    assert code == 4
    assert "UNKNOWN" in out and "rlimit 50 exhausted" in out
    assert "VERIFIED" not in out


@pytest.mark.long
def test_the_right_twins_of_the_wrong_file_are_verified(capsys: pytest.CaptureFixture[str]) -> None:
    listed = run(capsys, WRONG, "--list")[1].split()
    assert listed == ["museum_12", "museum_12_right", "museum_21", "museum_21_right", "museum_25", "museum_25_right"]
    assert run(capsys, WRONG, "--only", "*_right", "-q")[0] == 0
    for name in ("museum_12", "museum_21", "museum_25"):
        code, out, _ = run(capsys, WRONG, "--only", name)
        heads = [line for line in out.splitlines() if line.startswith(f"{name}  ") and "  REFUTED   " in line]
        assert code == 1 and heads
        assert f"replay   lanecheck tiling {WRONG} --only {name}\n" in out


def test_a_replay_line_gives_the_refutation_again(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--atom", F16, "--atoms-layout", "2,1,1", "--tile", "64,64,32", "--smem-a", "Sw<3,3,3> o (8,64):(64,1)"]
    code, out, _ = run(capsys, *words)
    line = next(line for line in out.splitlines() if line.startswith("  replay"))
    again = shlex.split(line.partition("lanecheck tiling ")[2])
    assert (code, run(capsys, *again)) == (1, (1, out, ""))


@pytest.mark.long
def test_atoms_of_your_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    atoms, tilings = tmp_path / "atoms.toml", tmp_path / "tilings.toml"
    atoms.write_text(
        '["mine"]\nptx = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"\n'
        'shape = [16, 8, 8]\nthr = "32:1"\ntypes = { D = "f32", A = "f16", B = "f16", C = "f32" }\n'
        'A = "((4,8),(2,2)):((32,1),(16,8))"\nB = "((4,8),2):((16,1),8)"\nC = "((4,8),(2,2)):((32,1),(16,8))"\n'
        'source = "mine"\n',
        encoding="utf-8",
    )
    tilings.write_text(f'["a"]\natom = "mine"\natoms_layout = [2, 2, 1]\n["b"]\natom = "{F16}"\n', encoding="utf-8")
    assert run(capsys, "--atoms", str(atoms), "--atom", "mine", "--atoms-layout", "2,2,1", "-q")[0] == 0
    assert run(capsys, str(tilings), "--atoms", str(atoms), "-q")[0] == 0
    assert "no atom is named 'mine'" in run(capsys, str(tilings))[2]
    atoms.write_text(atoms.read_text(encoding="utf-8").replace('(16,8))"\nB', '(16,4))"\nB'), encoding="utf-8")
    code, out, _ = run(capsys, "--atoms", str(atoms), "--atom", "mine", "--atoms-layout", "2,2,1")
    assert code == 1
    assert f"replay   lanecheck tiling --atoms {atoms} --atom mine --atoms-layout 2,2,1" in out


def test_a_prefix_means_every_atom_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    names = run(capsys, "--atom", "SM80_16x8x16", "--list")[1].split()
    assert len(names) > 5 and all(name.startswith("SM80_16x8x16_") for name in names)
    globbed = run(capsys, "--atom", "SM75_*", "--list")[1].split()
    assert "SM75_8x8x16_S32S8S8S32_TN" in globbed and not any("LDSM" in name for name in globbed)


@pytest.mark.slow
def test_every_format_has_the_verdicts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "report"
    code, out, _ = run(capsys, WRONG, "--format", "json", "-o", str(path))
    document = json.loads(path.read_text(encoding="utf-8"))
    assert (code, out, document["schema"], document["exit"]) == (1, "", 2, 1)
    assert [subject["status"] for subject in document["subjects"]] == ["REFUTED", "VERIFIED"] * 3
    run(capsys, WRONG, "--format", "junit", "-o", str(path))
    assert len(ElementTree.parse(path).findall(".//failure")) == document["claims"]["REFUTED"]
    assert run(capsys, WRONG, "--format", "html")[1].startswith("<!DOCTYPE html>")


def test_the_five_steps_are_the_pictures(capsys: pytest.CaptureFixture[str]) -> None:
    """The SIMT picture: thread 0's fragment (1,(4,2),(4,2)):(0,(128,8192),(1,64)), by way of these layouts."""
    words = ["--atom", FMA, "--atoms-layout", "16,16,1", "--permutation", "(16,4):(4,1),(16,4):(4,1),_"]
    out = run(capsys, *words, "--tile", "128,128,8", "--explain")[1]
    c = out[out.index("  C 128x128") :]
    assert [line.strip() for line in c.splitlines()[2:13:2]] == [
        "(128,128):(128,1)",
        "(((16,4),2),((16,4),2)):(((512,128),8192),((4,1),64))",
        "((1,1),((16,4,2),(16,4,2))):((0,0),((512,128,8192),(4,1,64)))",
        "((1,1),((16,4,2),(16,4,2))):((0,0),((512,128,8192),(4,1,64)))",
        "((1,(16,16)),(1,((4,2),(4,2)))):((0,(512,4)),(0,((128,8192),(1,64))))",
        "(1,(4,2),(4,2)):(0,(128,8192),(1,64))",
    ]


SNAPSHOTS = {
    "verified.txt": ["--atom", F16, "--atoms-layout", "2,2,1", "--permutation", "32,32,16", "--tile", "128,128,32"],
    "verbose.txt": ["--atom", "SM90_64x128x16_F32F16F16_RS", "--atoms-layout", "2,1,1", "--tile", "128,128,64", "-v"],
    "wrong.txt": ["tests/verify/tiling/wrong.toml"],
    "explain.txt": ["--atom", F16, "--atoms-layout", "2,2,1", "--tile", "128,128,32", "--explain", "--thread", "37"],
}


def steady(text: str) -> str:
    """The text without times, versions of solver and driver, and the number of recordings."""
    text = re.sub(r"driver [\d.]+", "driver VERSION", re.sub(r"\d+ of others", "N of others", text))
    return re.sub(r"z3 \d+(\.\d+)+", "z3 VERSION", re.sub(r", \d+\.\d ms", ", TIME", text))


@pytest.mark.long
@pytest.mark.parametrize("name", SNAPSHOTS)
def test_the_output_is_that_of_its_snapshot(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Word for word; `LANECHECK_SNAPSHOTS=update pytest …` writes the snapshots anew."""
    monkeypatch.chdir(HERE.parents[2])
    monkeypatch.delenv("COLUMNS")
    printed = steady(run(capsys, *SNAPSHOTS[name])[1])
    kept = HERE / "snapshots" / name
    if os.environ.get("LANECHECK_SNAPSHOTS") == "update":
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(printed, encoding="utf-8")
    assert printed == kept.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, "--atom A"),
        ("1,1,1", "--atom A"),
        ("2,2,1", "--atom A --atoms-layout 2,2,1"),
        ("(2,2,1):(1,2,0)", "--atom A --atoms-layout 2,2,1"),
        ("(2,2,1):(2,1,0)", "--atom A --atoms-layout (2,2,1):(2,1,0)"),
        ("((2,2),2,1):((1,2),4,0)", "--atom A --atoms-layout ((2,2),2,1):((1,2),4,0)"),
    ],
)
def test_a_replay_names_the_atoms_as_briefly_as_they_can_be_read_back(text: str | None, expected: str) -> None:
    layout = spec.atoms_layout("1" if text is None else text)
    words = spec.arguments(spec.TilingSpec("x", "A", atoms_layout=layout))
    assert " ".join(words) == expected
    if len(words) > 2:
        assert spec.atoms_layout(words[-1]) == layout
