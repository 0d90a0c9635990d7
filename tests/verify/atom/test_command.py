# SPDX-License-Identifier: Apache-2.0
"""`lanecheck atom` as a user sees it: what it prints, its exit codes, its errors in one line each."""

import subprocess
import sys
from pathlib import Path

import pytest

from verify.__main__ import main as lanecheck
from verify.atom import command as atom

ENTRY = """
["MINE_{number}"]
ptx    = ["mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"]
shape  = [16, 8, 16]
thr    = "32:1"
types  = {{ D = "f32", A = "f16", B = "f16", C = "f32" }}
A      = "((4,8),(2,2,2)):((32,1),(16,8,128))"
B      = "{B}"
C      = "((4,8),(2,2)):((32,1),(16,8))"
source = "a test"
"""


RIGHT_B = "((4,8),(2,2)):((16,1),(8,64))"


def user_file(folder: Path, *b: str, text: str = "") -> str:
    path = folder / "mine.toml"
    path.write_text(text or "".join(ENTRY.format(number=i, B=layout) for i, layout in enumerate(b)), encoding="utf-8")
    return str(path)


def test_the_main_job_is_verified(capsys: pytest.CaptureFixture[str]) -> None:
    assert atom.main(["SM80_16x8x16"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in out[:3]] == [
        "SM80_16x8x16_F16F16F16F16_TN",
        "SM80_16x8x16_F32F16F16F32_TN",
        "SM80_16x8x16_F32BF16BF16F32_TN",
    ]
    assert all(line.split()[1] == "VERIFIED" for line in out[:11]) and len(out) == 13
    assert out[11].startswith("gpu: recording of ")
    assert out[-1].startswith("11 subjects: 11 verified; claims: ") and out[-1].endswith("exit 0")


def test_all_are_listed_and_known_defects_expected(capsys: pytest.CaptureFixture[str]) -> None:
    """That of all atoms just the known ones are refuted, test_atlas shows."""
    assert atom.main(["--all", "--list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2743
    assert atom.main(["--arch", "sm75", "--expect-known", "-q"]) == 0
    assert "10 subjects: 9 verified, 1 refuted; claims: " in capsys.readouterr().out
    assert atom.main(["SM80_16x8x128", "-q"]) == 1


def test_arch_selects_the_atoms_of_one_architecture(capsys: pytest.CaptureFixture[str]) -> None:
    assert atom.main(["--arch", "sm_90a", "*_C64*", "--list"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert listed == [f"SM90_{shape}_C64C64C64C64_TN" for shape in ("16x8x4", "16x8x8", "16x8x16")]
    assert atom.main(["--arch", "sm90", "SM80_16x8x16", "-q"]) == 5
    capsys.readouterr()
    assert atom.main(["--arch", "sm91"]) == 2
    printed = capsys.readouterr().err
    assert "--arch: no atom is of the architecture sm91; there are: sm50, sm61" in printed and printed.count("\n") == 1


def test_a_users_atoms_take_the_same_path(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert atom.main(["--atoms", user_file(tmp_path, RIGHT_B)]) == 0
    wrong = user_file(tmp_path, RIGHT_B, "((4,8),(2,2)):((8,1),(16,64))")
    assert atom.main(["--atoms", wrong]) == 1
    printed = capsys.readouterr().out
    assert "repair   two strides swapped: ((4,8),(2,2)):((16,1),(8,64))" in printed
    assert "replay   lanecheck atom --atoms" in printed and "MINE_1" in printed


def test_an_atom_without_an_instruction_is_unchecked_by_the_isa_and_by_gpus(tmp_path: Path) -> None:
    text = ENTRY.format(number=0, B=RIGHT_B).replace(
        'ptx    = ["mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"]\n', ""
    )
    path = user_file(tmp_path, text=text)
    assert atom.main(["--atoms", path]) == 4
    assert atom.main(["--atoms", path, "--allow-unchecked"]) == 0
    assert atom.main(["--atoms", path, "--allow-unchecked", "--require", "gpu"]) == 4


def test_an_instruction_the_isa_does_not_have_is_refuted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = ENTRY.format(number=0, B=RIGHT_B).replace("m16n8k16.row.col", "m16n8k24.row.col")
    assert atom.main(["--atoms", user_file(tmp_path, text=text)]) == 1
    assert "m16n8k16" in capsys.readouterr().out


def test_an_instruction_family_that_the_tables_lack_is_unchecked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = ENTRY.format(number=0, B=RIGHT_B).replace("mma.sync.aligned", "tcgen99.mma")
    assert atom.main(["--atoms", user_file(tmp_path, text=text), "-v"]) == 4
    assert "tcgen99" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "which atom?"),
        (["SM80_16x8x17"], "no atom is named 'SM80_16x8x17'; nearest: SM80_16x8x16"),
        (["--checks", "isa,oracle", "--all"], "oracle"),
        (["--checks", "isa", "--require", "gpu", "--all"], "--require: gpu is not among the checks isa"),
        (["--rlimit", "0", "--all"], "budget must be positive"),
        (["--atoms", "/nowhere/atoms.toml"], "/nowhere/atoms.toml"),
        (["--atoms", "."], "."),
        (["SM75", "-o", "/nowhere/report.txt"], "cannot write /nowhere/report.txt"),
        (["SM75", "--emit-smt", "README.md"], "cannot write README.md: Not a directory"),
        (["SM75", "--recordings", "/nowhere"], "/nowhere"),
        (["SM75", "--recordings", "README.md"], "README.md:1: the line does not end with its digest"),
        (["SM75", "--recordings", "examples"], "examples: no recordings (*.jsonl) are in this folder"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert atom.main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and len(printed.err.splitlines()) == 1 and words in printed.err


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("shape  = [16, 8, 16]", "shape  = 16"), "shape"),
        (("shape  = [16, 8, 16]", 'shape  = "16by8by16"'), "shape"),
        (('thr    = "32:1"', 'thr    = "32:"'), "thr"),
        (('C      = "((4,8)', 'C      = "((4,8'), "C"),
        (('source = "a test"', 'source = "a test"\ncolour = "red"'), "colour"),
        (('source = "a test"', "source = "), "mine.toml"),
        (("32:1", "(" * 70 + "32" + ")" * 70 + ":" + "(" * 70 + "1" + ")" * 70), "thr"),
    ],
)
def test_malformed_files_name_file_and_key(
    change: tuple[str, str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = ENTRY.format(number=0, B=RIGHT_B)
    assert change[0] in text
    assert atom.main(["--atoms", user_file(tmp_path, text=text.replace(*change))]) == 2
    printed = capsys.readouterr().err
    assert printed.count("lanecheck: ") == 1 and "mine.toml" in printed and words in printed


def test_a_file_of_10_megabytes_is_rejected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert atom.main(["--atoms", user_file(tmp_path, text="# " + "x" * 10_000_000)]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_smt_problems_are_written(tmp_path: Path) -> None:
    assert atom.main(["SM80_16x8x16_F32F16F16F32_TN", "--emit-smt", str(tmp_path / "smt"), "-q"]) == 0
    written = {p.name for p in (tmp_path / "smt").iterdir()}
    assert "SM80_16x8x16_F32F16F16F32_TN.A.equals_isa.smt2" in written
    assert all("(check-sat)" in p.read_text() for p in (tmp_path / "smt").iterdir())


def test_a_tiny_budget_is_unknown_and_exit_4(capsys: pytest.CaptureFixture[str]) -> None:
    assert atom.main(["SM80_16x8x16_F32F16F16F32_TN", "--rlimit", "1"]) == 4
    assert "UNKNOWN" in capsys.readouterr().out


def test_list_prints_the_names_and_help_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert atom.main(["--list", "SM89"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 8
    with pytest.raises(SystemExit) as stop:
        atom.main(["--help"])
    assert stop.value.code == 0 and "exit codes" in capsys.readouterr().out
    assert lanecheck([]) == 2 and lanecheck(["--help"]) == 0 and lanecheck(["atoms"]) == 2


def test_a_shadowing_file_is_named_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "layouts.py").write_text("raise RuntimeError('not ours')\n")
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-m", "verify.atom", "SM75"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(root), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2 and done.stdout == ""
    assert len(done.stderr.splitlines()) == 1 and "layouts.py" in done.stderr


@pytest.mark.long
def test_a_closed_pipe_is_no_traceback() -> None:
    root = Path(__file__).parents[3]
    done = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m verify.atom --list | true"],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
