# SPDX-License-Identifier: Apache-2.0
"""Tilings of atoms with instructions that were not compared: they are UNCHECKED, whatever their layouts."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from layouts.atoms import Atom, registry
from tests.messages import NO_INSTRUCTION
from tests.verify.tiling.command import run
from verify.binding.atom import prepare
from verify.tiling.instruction import open_questions

K16 = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
K8 = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"
BF16 = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"
TF32 = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"
NONE = "mma.sync.aligned.m16n8k17.row.col.f32.f16.f16.f32"
ATOM = """
["mine"]
{ptx}
shape = [16, 8, 16]
thr = "32:1"
types = {{ D = "f32", A = "f16", B = "f16", C = "f32" }}
A = "((4,8),(2,2,2)):((32,1),(16,8,128))"
B = "((4,8),(2,2)):((16,1),(8,64))"
C = "((4,8),(2,2)):((32,1),(16,8))"
"""
SMALLER = f"A of {K8} is 32 threads x 4 values, the atom's 32 threads x 8 values"


def verify_instruction(folder: Path, capsys: pytest.CaptureFixture[str], ptx: str) -> tuple[int, dict[str, object]]:
    (folder / "mine.toml").write_text(ATOM.format(ptx=ptx))
    words = ["--atoms", str(folder / "mine.toml"), "--atom", "mine", "--atoms-layout", "2,2,1", "--format", "json"]
    code, out, err = run(capsys, *words)
    (subject,) = json.loads(out)["subjects"]
    assert err == ""
    return code, subject


@pytest.mark.long
@pytest.mark.parametrize(
    ("ptx", "reason"),
    [
        (f'ptx = ["{K16}", "hmma.magic"]', "hmma is not in the tables"),
        ('ptx = "hmma.magic"', "hmma is not in the tables"),
        (f'ptx = ["{K16}", "{NONE}"]', "the ISA has no such mma.sync instruction"),
        (f'ptx = ["{K16}", "{K8}"]', SMALLER),
        (f'ptx = ["{K8}", "{K16}"]', SMALLER),
        (f'ptx = "{K8}"', f"{SMALLER}"),
        (f'ptx = ["{K16}", "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"]', "does not give E"),
        ("", NO_INSTRUCTION),
    ],
)
def test_a_tiling_is_unchecked_unless_each_instruction_was_compared(
    ptx: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, subject = verify_instruction(tmp_path, capsys, ptx)
    assert (code, subject["status"]) == (4, "UNCHECKED")
    assert reason in json.dumps(subject["verdicts"])


@pytest.mark.long
@pytest.mark.parametrize(
    ("ptx", "expected"),
    [
        (f'ptx = "{BF16}"', f"by {BF16}: A is f16, the instruction's is bf16"),
        (f'ptx = ["{K16}", "{BF16}"]', f"by {BF16}: A is f16, the instruction's is bf16"),
        (f'ptx = [["{BF16}", "{K16}"]]', f"by {BF16}: A is f16, the instruction's is bf16"),
        (f'ptx = ["{BF16}", "hmma.magic"]', f"by {BF16}: A is f16, the instruction's is bf16"),
        (f'ptx = ["{K16}", "dp4a.s32.s32"]', "by dp4a.s32.s32: D is f32, the instruction's is s32"),
        (f'ptx = "{TF32}"', f"by {TF32}: A is f16, the instruction's is tf32"),
    ],
)
def test_a_tiling_of_an_atom_whose_types_are_not_its_instructions_is_refuted(
    ptx: str, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As the atom is: an atom of f16 that issues bf16 does not multiply f16."""
    code, subject = verify_instruction(tmp_path, capsys, ptx)
    assert (code, subject["status"]) == (1, "REFUTED")
    assert expected in json.dumps(subject["verdicts"]) and "B is f16, the instruction's is" in json.dumps(
        subject["verdicts"]
    )


@pytest.mark.parametrize("ptx", [f'ptx = "{K16}"', f'ptx = [["{K16}"]]', "ptx = []"])
def test_a_tiling_is_verified_where_instructions_distribute_alike_or_none_is_issued(
    ptx: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, subject = verify_instruction(tmp_path, capsys, ptx)
    assert (code, subject["status"]) == (0, "VERIFIED")


def test_an_instruction_of_fewer_lanes_is_an_open_question() -> None:
    atom = registry()["SM90_64x8x16_F32F16F16_SS"]
    assert isinstance(atom, Atom)
    questions = list(open_questions(prepare(replace(atom, ptx=(*(atom.ptx or ()), K16)))))
    assert "128:1 numbers 128 threads up to lane 127, there are lanes 0..31" in questions


def test_what_is_known_of_an_instruction_is_expected_of_its_tilings(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--atom", "SM61_DP2A")
    assert (code, "SM61_DP2A  UNCHECKED" in out, "1 as expected" in out) == (0, True, True)
