# SPDX-License-Identifier: Apache-2.0
"""`lanecheck movement`: errors in one line, files of movements, the example."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from tests.messages import RANGE_FROM_1, TRACEBACK
from tests.verify.movement.arguments import (
    COLUMN,
    COPIED,
    EXAMPLE,
    F16,
    ROWS,
    S8,
    ST,
    TO_B,
    X2,
    X4,
    access,
    by_property,
    check,
)
from verify.movement import command as movement
from verify.movement.bind import Movement
from verify.movement.properties import MovementChecker
from verify.report import Case


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], "which movement? Give --from with --to, --shared with --access, --descriptor, or a FILE"),
        (["--from", X4], "--from needs --to too"),
        (["--from", X4, "--to", F16, "--width", "8"], "--width does not apply to --from"),
        (["--from", "SM80_16x8x16_F32F16F16F3_TN", "--to", ST], "no atom or instruction is named"),
        (["--from", ST, "--to", F16], "leaves nothing in registers; expected a matrix load"),
        (["--from", F16, "--to", X4], "reads no registers; expected a matrix store"),
        (["--from", X4, "--to", ST], "is a matrix multiplication; one must be"),
        (["--from", X4, "--to", F16, "--tiles", "q=2"], "expected an axis of A and a count such as m=2, found 'q=2'"),
        (["--from", X4, "--to", F16, "--rows", "(8,2"], "--rows: "),
        (
            ["--from", X4, "--to", "SM90_64x64x16_F32F16F16_SS", "--operand", "B"],
            "B is not in registers (smem)",
        ),
        (
            ["--from", X4, "--to", "SM90_64x64x16_F32F16F16_SS"],  # whose instruction has a form with A in registers
            "--to: SM90_64x64x16_F32F16F16_SS: A is not in registers (smem); SM90_64x64x16_F32F16F16_RS "
            "takes it from registers",
        ),
        (
            ["--from", "SM90_64x64x16_F32F16F16_SS", "--to", "SM90_64x8x32_F32E4M3E4M3_SS_TN"],
            "A is not in registers (smem); SM90_64x8x32_F32E4M3E4M3_RS_TN takes it",
        ),
        (["--shared", ROWS, "--access", "32:1", "--element", "16"], "--access: 32:1 has rank 1"),
        (["--shared", ROWS, "--access", COLUMN, "--element", "12"], "expected one of 8, 16, 32, 64 bits, found 12"),
        (access(ROWS, threads="(32,6):(1,64)"), "accesses of 128 bits do not divide 6 values of 16 bits"),
        (access("(8,8):(8,1)"), "--access: (32,8):(1,64) goes up to index 479 of a tile of 64"),
        (["--from", F16, "--to", ST, "--narrow", "16", "--major", "K"], "C has the axes M and N, found 'K'"),
        (["--from", F16, "--to", F16, "--narrow", "8"], "applies to accumulators that are stored"),
        (
            ["--from", "SM80_16x8x16_F16F16F16F16_TN", "--to", ST, "--narrow", "32"],
            "expected one of 8, 16 bits, found 32",
        ),
        (["--from", F16, "--to", F16, "--values", "4:1"], "4:1 has 4 values up to 3; expected 8 values below 8"),
        (
            ["--from", F16, "--to", F16, "--rows", "8:1"],
            "--rows: is the order of rows in memory; this",
        ),
        (
            ["--from", F16, "--to", F16, "--major", "K"],
            "--major: is the order of rows in memory; this",
        ),
        (
            ["--from", F16, "--to", F16, "--operand", "B"],
            "accumulators can become operand A of the",
        ),
        (["--from", X4, "--to", F16, "--rows", "(16,3):(1,128)"], "(16,3):(1,128) has 48 rows"),
        (["--from", X2, *TO_B, "--values", "4:2"], "4:2 has 4 values up to 6; expected 4 values below 4"),
        (["--from", "SM100_SU6_DU8x16_x4_LDSM_N", "--to", S8], "unpacks padded elements"),
        (
            ["--from", "tcgen05.ld.sync.aligned.32x32b.x4.b32", "--to", F16],
            "expected an mma: its accumulators",
        ),
        (["--from", F16, "--to", "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32"], "A is compressed"),
        (
            ["--descriptor", ROWS, "--element", "8", "--major", "MN"],
            "operands of 8 bits in K-major order only",
        ),
        (["--descriptor", ROWS, "--element", "64"], "expected one of 8, 16, 32 bits, found 64"),
        (["--from", X4, "--to", F16, "--major", "N"], "A has the axes M and K, found 'N'"),
        (["--descriptor", ROWS, "--element", "16", "--major", "N"], "expected one of K, MN, found 'N'"),
        (["--descriptor", "64:1", "--element", "16"], "expected 2, rows and columns"),
        (["nowhere.toml"], "nowhere.toml: cannot be read"),
        (["--shared", ROWS, *COPIED[:-3], "16", "--how", "cp.async"], "expected one of 32, 64, 128 bits, found 16"),
        (
            ["--shared", ROWS, "--access", "(12,8):(1,64)", "--element", "16", "--how", "ldmatrix"],
            "has 12 rows",
        ),
        (access("(64,64):(-64,1)"), "(64,64):(-64,1) has a negative stride"),
        (["--descriptor", "Sw<3,3,3> o (64,64):(-64,1)", "--element", "16"], "has a negative stride"),
        (access(f"(64,64):({1 << 62},1)"), f"goes up to {63 * 2**62 + 63}, beyond 2^56"),
        (["--descriptor", f"Sw<3,3,3> o (64,64):(1,{1 << 63})", "--element", "16"], "beyond 2^56"),
        (access(ROWS, "--global", "(8,8):(8,1)"), "goes up to index 479 of 64 in global memory"),
        (["--from", "movmatrix.sync.aligned.m8n8.trans.b16", "--to", F16], "expected a matrix load or store, or"),
        (["--only", "x", "--from", X4, "--to", F16], "--only chooses among the movements of a FILE"),
        (["--from", X4, "--to", F16, "--search-swizzle"], "--search-swizzle needs accesses"),
        (["--from", X4, "--to", F16, "--times", "0"], f"--times: {RANGE_FROM_1} 64, found 0"),
        (
            ["--from", F16, "--to", F16, "--times", "2"],
            "this hand-over has none",
        ),
        (
            access(ROWS, "--search-swizzle", "--format", "junit"),
            "--search-swizzle prints a line: there is no junit of it",
        ),
        (
            ["--from", "zzz", "--to", F16],
            "is named 'zzz'; lanecheck atom --list shows all",
        ),
        (["--from", "UniversalFMA<float,float,float,float>", "--to", F16], "isn't a matrix instruction"),
        (["--from", X4, "--to", F16, "--shared", ROWS], "the tile is 16 x 16 (m, k), found 64 x 64"),
        (["--from", X4, "--to", F16, "--shared", "256:1"], "256:1 has rank 1"),
        (["--from", F16, "--to", F16, "--shared", "(16,16):(16,1)"], "this hand-over has no rows in memory"),
        (access(ROWS, "--base", "-16"), "--base: expected a number of bytes from 0 to 4294967295, found -16"),
        (
            ["--descriptor", "(2,64):(1,64)", "--element", "16", "--sbo", str(1 << 63)],
            f"--sbo: expected a number of bytes from 0 to 4294967295, found {1 << 63}",
        ),
        (["--descriptor", ROWS, "--element", "16", "--sbo", "-1"], "--sbo: expected a number of bytes"),
        (["--from", X4, "--to", F16, "--base", "16"], "applies to a tile in shared memory: give --shared too"),
        (access(ROWS, "--lbo", "16"), "--lbo does not apply to --shared"),
        (access(ROWS, "--arch", "sm_91"), "expected one of sm_70, sm_72"),
        (access(ROWS, "--how", "stmatrix", "--arch", "sm_80"), "sm_80 has no stmatrix"),
        (access(ROWS, "--how", "cp.async", "--arch", "sm_75"), "sm_75 has no cp.async"),
    ],
)
def test_what_cannot_be_read_is_one_line(words: list[str], expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert movement.main(words) == 2
    printed = capsys.readouterr().err
    assert expected in printed and printed.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('["a"]\nfrom = "x"\n', "a.to: missing"),
        (
            '["a"]\nshared = "8:1"\naccess = "8:1"\nelement = 16\nwidht = 8\n',
            "a.widht: unknown key; did you mean 'width'?",
        ),
        ('["a"]\nelement = 16\n', "a: expected one of the keys from, shared, descriptor"),
        ("a = 1\n", "a: expected a table, found an integer"),
        (f'[""]\nfrom = "{X4}"\nto = "{F16}"\n', '"": a movement needs a name'),
        ('["a"]\nfrom = 1\nto = "x"\n', "a.from: expected a text, found an integer"),
        ("[", "is not TOML"),
    ],
)
def test_a_malformed_file_names_the_key(
    text: str, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "bad.toml"
    file.write_text(text)
    assert movement.main([str(file)]) == 2
    printed = capsys.readouterr().err
    assert expected in printed and str(file) in printed and printed.count("lanecheck: ") == 1


def test_a_file_has_several_movements_and_only_chooses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "chain.toml"
    file.write_text(f'["load"]\nfrom = "{X4}"\nto = "{F16}"\n["operand"]\ndescriptor = "{ROWS}"\nelement = 16\n')
    assert movement.main([str(file), "--list"]) == 0
    assert capsys.readouterr().out == "load\noperand\n"
    assert movement.main([str(file), "-q"]) == 1
    assert movement.main([str(file), "-q", "--only", "load"]) == 0
    assert movement.main([str(file), "-q", "--only", "lod"]) == 2
    assert movement.main([str(file), "-q", "--only", "load", "--require", "gpu"]) == 0


def test_an_internal_error_costs_one_movement(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is an internal error of that movement, and exit 3 at the end: the others are verified, in every format."""
    file = tmp_path / "three.toml"
    file.write_text("".join(f'[{name}]\nfrom = "{X4}"\nto = "{F16}"\n' for name in ("first", "broken", "last")))
    right = MovementChecker.case

    def failing(checker: MovementChecker, movement: Movement) -> Case:
        if movement.name == "broken":
            raise IndexError("list index out of range")
        return right(checker, movement)

    monkeypatch.setattr(MovementChecker, "case", failing)
    monkeypatch.delenv("LANECHECK_TRACEBACK", raising=False)
    expected = "lanecheck: internal error, broken was not verified: IndexError: list index out of range"
    assert movement.main([str(file), "--format", "json"]) == 3
    printed = capsys.readouterr()
    document = json.loads(printed.out)
    assert (document["exit"], [subject["name"] for subject in document["subjects"]]) == (3, ["first", "last"])
    assert printed.err == f"{expected} {TRACEBACK}\n"
    assert movement.main([str(file)]) == 3
    assert capsys.readouterr().out.endswith("; exit 3\n")
    assert movement.main([str(file), "--only", "broken"]) == 3
    printed = capsys.readouterr()
    assert (printed.out, printed.err.startswith(expected)) == ("", True)


@pytest.mark.long
@pytest.mark.parametrize("name", ["plain", "k's tile", "-x", "of [a] *"])
def test_a_refuted_movement_of_a_file_is_replayed_whatever_its_name(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "of a tile.toml"
    file.write_text(f'["{name}"]\ndescriptor = "{ROWS}"\nelement = 16\n["other"]\nfrom = "{X4}"\nto = "{F16}"\n')
    _, report = check(capsys, str(file))
    verdicts = report["subjects"][0]["verdicts"]
    (replay,) = {v["counterexample"]["replay"] for v in verdicts if v["status"] == "REFUTED"}
    assert movement.main([*shlex.split(replay)[2:], "-q"]) == 1
    assert capsys.readouterr().out.startswith("1 subject: 1 refuted")


def test_the_movements_of_the_example_are_verified(capsys: pytest.CaptureFixture[str]) -> None:
    code, report = check(capsys, str(EXAMPLE))
    assert code == 0 and len(report["subjects"]) == 8
    assert {subject["status"] for subject in report["subjects"]} == {"VERIFIED"}


def test_a_solver_without_a_budget_verifies_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    code, report = check(capsys, *access(f"Sw<3,3,3> o {ROWS}"), "--rlimit", "1")
    verdicts = by_property(report)
    assert (verdicts["whole_accesses"]["status"], verdicts["free_of_bank_conflicts"]["status"]) == (
        "UNKNOWN",
        "UNCHECKED",
    )
    assert code == 4


@pytest.mark.parametrize(
    ("words", "origins", "headline"),
    [
        (["--from", X4, "--to", F16], ["derived", "ISA text"], "A ISA text and derived"),
        (["--from", F16, "--to", F16, "--tiles", "n=2"], ["ISA text"], ""),
        (["--from", "SM80_16x8x16_F16F16F16F16_TN", "--to", ST], ["derived", "ISA text"], "C ISA text and derived"),
    ],
)
def test_a_hand_over_names_the_provenance_of_its_formulas(
    words: list[str], origins: list[str], headline: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The map of matrix loads and stores is derived; in text, JSON and HTML."""
    assert movement.main(words) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first.partition("isa: ")[2].partition("   ")[0] == headline
    movement.main([*words, "--format", "json"])
    claims = [claim for subject in json.loads(capsys.readouterr().out)["subjects"] for claim in subject["verdicts"]]
    provenance = next(claim["provenance"] for claim in claims if " every lane " in claim["claim"])
    assert [part.partition(":")[0] for part in provenance.split(" | ")] == origins
    movement.main([*words, "--format", "html", "-v"])
    assert provenance in capsys.readouterr().out


def test_a_refuted_hand_over_names_it_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert movement.main(["--from", F16, "--to", ST]) == 1
    (expected,) = (line for line in capsys.readouterr().out.splitlines() if "  REFUTED   " in line)
    assert "(derived: figures; CUTLASS; the text gives four lanes to each row | ISA text)" in expected


@pytest.mark.parametrize("key", ["shared", "descriptor"])
def test_a_swizzle_beyond_63_bits_is_rejected_in_movements(key: str, capsys: pytest.CaptureFixture[str]) -> None:
    access = ["--access", "(32,8):(1,64)"] if key == "shared" else []
    code = movement.main([f"--{key}", "Sw<40,3,40> o (64,64):(64,1)", *access, "--element", "16"])
    assert (code, "bits + base + |shift| <= 63" in capsys.readouterr().err) == (2, True)


def test_shared_memory_ends_at_two_to_the_32(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["--shared", "(32,8):(8,1)", "--access", "(32,8):(1,32)", "--element", "16", "--base"]
    assert movement.main([*line, str(2**32)]) == 2
    assert f"expected a number of bytes from 0 to {2**32 - 1}, found {2**32}" in capsys.readouterr().err
    assert movement.main([*line, str(2**32 - 16)]) != 2 and "expected a number" not in capsys.readouterr().err
