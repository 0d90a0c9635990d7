# SPDX-License-Identifier: Apache-2.0
"""`lanecheck kernel`: what it prints, in which format, and with which exit code."""

import json
from pathlib import Path

import pytest

from verify.kernel.command import main

PTX = """.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 pa, .param .u64 pc)
{
.reg .b32 %r<3>; .reg .f32 %f<3>; .reg .b64 %d<6>;
ld.param.u64 %d1, [pa];
ld.param.u64 %d2, [pc];
mov.u32 %r1, %tid.x;
mul.wide.u32 %d3, %r1, 4;
add.s64 %d4, %d1, %d3;
add.s64 %d5, %d2, %d3;
ld.global.f32 %f1, [%d4];
add.f32 %f2, %f1, %f1;
st.global.f32 [%d5], %f2;
ret;
}
"""
CLAIM = """grid = 1
block = 64
sizes = { I = 64 }
claim = "C[i] = 2 * A[i]"
params = ["A", "C"]
[arrays]
A = { dims = "i", type = "f32" }
C = { dims = "i", type = "f32", out = true }
"""


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    (tmp_path / "k.ptx").write_text(PTX)
    (tmp_path / "k.toml").write_text(CLAIM)
    return [str(tmp_path / "k.ptx"), "--claim", str(tmp_path / "k.toml")]


def test_a_verdict_names_its_domain_and_its_seed(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*files, "--seed", "5"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "k I=64 VERIFIED" in text and "seed 5;" in text and "not rounding, not SASS" in text


def test_a_refutation_has_the_line_and_the_command_that_replays_it(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path(files[0]).write_text(PTX.replace("add.f32 %f2, %f1, %f1", "mul.f32 %f2, %f1, 0f40400000"))
    assert main([*files, "--seed", "5", "--format", "json"]) == 1
    (subject,) = json.loads(capsys.readouterr().out)["subjects"]
    (wrong,) = [verdict for verdict in subject["verdicts"] if verdict["status"] == "REFUTED"]
    assert wrong["property"] == "values" and wrong["counterexample"]["replay"].endswith("--seed 5")
    assert any(note.startswith("domain") for note in subject["notes"])


def test_what_has_no_meaning_is_undecided(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    Path(files[0]).write_text(PTX.replace("add.f32 %f2", "frob.f32 %f2"))
    assert main(files) == 4
    assert "line 14" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["junit", "html"])
def test_every_format_is_written(files: list[str], name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*files, "--format", name]) == 0
    assert "k I=64" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("place", "text"),
    [(0, "\0"), (0, "{"), (2, "grid = ["), (2, "grid = 1"), (2, CLAIM.replace('"A", "C"', '"A", "Q"'))],
)
def test_bad_input_is_one_line(files: list[str], place: int, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path(files[place]).write_text(text)
    assert main(files) == 2
    written = capsys.readouterr().err
    assert written.startswith("lanecheck: ") and written.count("\n") == 1
    assert main(["absent.ptx", *files[1:]]) == 2


@pytest.mark.parametrize(
    ("right", "wrong", "place"),
    [
        ("2 * A[i]", "2 * Q[i]", "4:21: claim: no array is named 'Q'; there are A, C"),
        ("2 * A[i]", "beta * A[i]", "4:17: claim: no scalar is named 'beta'"),
        ("2 * A[i]", "2 * A[i", "4:24: claim: expected ']', found 'the end'"),
        ("2 * A[i]", "2 * A[i,j]", "4:21: claim: A has 1 indices, the claim gives 2"),
        ('A = { dims = "i"', 'A = { dims = "k"', "7:7: arrays.A.dims: no size is named 'k' or 'K'"),
        ('A = { dims = "i"', 'A = { dims = ["32"]', "4:21: claim: index i has 64 values, and 32 in A"),
        ('dims = "i", type = "f32" }', 'dims = "i", type = "f33" }', "7:19: arrays.A.type: expected one of"),
        ('"A", "C"', '"A", "Q"', "5:16: params[1]: 'Q': no size is named 'Q'"),
        ('"A", "C"]', '"A"]', "5:1: params[1]: line 8 reads bytes 0 to 7, which the claim does not give"),
        ("block = 64", "block = 2048", "1:1: grid: 2048 threads; at most"),
        ("block = 64", "blok = 64", "2:1: blok: unknown key; nearest: block"),
        ("block = 64", "block = [", "3:1: is not TOML"),
    ],
)
def test_an_error_of_a_claim_has_its_line_and_column(
    right: str, wrong: str, place: str, files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert right in CLAIM
    Path(files[2]).write_text(CLAIM.replace(right, wrong))
    assert main(files) == 2
    written = capsys.readouterr().err
    assert written.startswith(f"lanecheck: {files[2]}:{place}") and written.count("\n") == 1


def test_a_refutation_is_an_annotation_at_the_line_of_the_ptx(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path(files[0]).write_text(PTX.replace("st.global.f32 [%d5]", "st.global.f32 [%d5+256]"))
    assert main([*files, "--format", "github"]) == 1
    assert f"::error file={files[0]},line=15,col=1,title=k%3A memory" in capsys.readouterr().out


def test_ptx_that_cannot_be_read_is_named_with_its_line(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    Path(files[0]).write_text(PTX.replace("ret;\n}", "ret"))
    assert main(files) == 2
    assert capsys.readouterr().err.splitlines()[-1].startswith(f"lanecheck: {files[0]}:16: the kernel ends within")
