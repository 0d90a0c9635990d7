# SPDX-License-Identifier: Apache-2.0
"""Copies, families and operands in memory, right in all but one respect: none is verified, none fails internally."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from verify.atom import command as atom

LDMATRIX = {
    "ptx": ["ldmatrix.sync.aligned.m8n8.x4.shared.b16"],
    "thr": "32:1",
    "Src": "(32,128):(128,1)",
    "Dst": "(32,(32,4)):(32,(1,1024))",
    "Ref": "(32,128):(128,1)",
    "space": {"Src": "smem", "Dst": "reg"},
    "source": "a test",
}
TMEM = LDMATRIX | {
    "ptx": ["tcgen05.ld.sync.aligned.32x32b.x4.b32"],
    "Src": "(32,4096):(0,1)",
    "Dst": "(32,128):(128,1)",
    "Ref": "(32,128):(128,1)",
    "space": {"Src": "tmem", "Dst": "reg"},
    "copies": {"Src": 32},
}
ASYNC = {
    "ptx": ["cp.async.ca.shared.global"],
    "thr": "1:0",
    **dict.fromkeys(("Src", "Dst", "Ref"), "(1,64):(0,1)"),
    "space": {"Src": "gmem", "Dst": "smem"},
    "source": "a test",
}
WGMMA = {
    "params": {"N": [8, 16]},
    "ptx": ["wgmma.mma_async.sync.aligned.m64n{N}k16.f32.f16.f16"],
    "shape": [64, "{N}", 16],
    "thr": "128:1",
    "types": {"D": "f32", "A": "f16", "B": "f16", "C": "f32"},
    "A": "(128,(64,16)):(0,(1,64))",
    "B": "(128,({N},16)):(0,(1,{N}))",
    "C": "((4,8,4),(2,2,{N//8})):((128,1,16),(64,8,512))",
    "space": {"A": "smem", "B": "smem"},
    "source": "a test",
}


def toml(table: dict[str, object]) -> str:
    def text(value: object) -> str:
        if isinstance(value, dict):
            return "{ " + ", ".join(f"{k} = {text(v)}" for k, v in value.items()) + " }"
        return json.dumps(value)

    name = "_".join(["X", *(f"{{{parameter}}}" for parameter in table.get("params", ()))])  # type: ignore[attr-defined]
    return f"[{json.dumps(name)}]\n" + "".join(f"{key} = {text(value)}\n" for key, value in table.items())


def verify_table(
    table: dict[str, object], tmp_path: Path, capsys: pytest.CaptureFixture[str], *words: str
) -> tuple[int, str]:
    file = tmp_path / "atoms.toml"
    file.write_text(toml(table), encoding="utf-8")
    code = atom.main(["--atoms", str(file), *words])
    return code, "".join(capsys.readouterr())


UMMA = {
    "ptx": ["tcgen05.mma.cta_group::2.kind::f16"],
    "shape": [256, 64, 16],
    "thr": "2:1",
    "types": {"D": "f32", "A": "bf16", "B": "bf16", "C": "f32"},
    "A": "(2,(128,16)):(128,(1,256))",
    "B": "(2,(32,16)):(32,(1,64))",
    "C": "(2,(128,64)):(128,(1,256))",
    "space": {"A": "smem", "B": "smem", "C": "tmem"},
    "source": "a test",
}
RIGHT = {"ldmatrix": LDMATRIX, "tcgen05.ld": TMEM, "wgmma": WGMMA, "cp.async": ASYNC, "tcgen05.mma": UMMA}


@pytest.mark.parametrize("table", RIGHT.values(), ids=RIGHT)
def test_the_entries_before_the_change_are_verified(table, tmp_path, capsys) -> None:
    code, said = verify_table(table, tmp_path, capsys)
    assert code == 0 and "VERIFIED" in said


def test_a_tile_whose_extent_is_no_product_is_proved_member_by_member(tmp_path, capsys) -> None:
    """B and C of the family, whose n is a quotient of parameters; m and k of A are numbers."""
    table = WGMMA | {"params": {"N": [8, 16], "M": [4]}, "shape": [64, "{N*M//M}", 16]}
    code, said = verify_table(table, tmp_path, capsys, "-v")
    assert code == 0 and said.count("VERIFIED") == 2 and "for every N" not in said
    assert "for every N > 0 divisible by 8" in verify_table(WGMMA, tmp_path, capsys, "-v")[1]


WRONG = {
    "a source that is a register": (
        LDMATRIX | {"space": {"Src": "reg", "Dst": "reg"}},
        "Src is in reg, the instruction has it in smem",
    ),
    "global for shared memory": (
        LDMATRIX | {"space": {"Src": "gmem", "Dst": "reg"}},
        "Src is in gmem, the instruction has it in smem",
    ),
    "a store for a load": (
        LDMATRIX | {"ptx": ["stmatrix.sync.aligned.m8n8.x4.shared.b16"]},
        "Dst is in reg, the instruction has it in smem",
    ),
    "a Tensor Memory store for a load": (
        TMEM | {"ptx": ["tcgen05.st.sync.aligned.32x32b.x4.b32"]},
        "Dst is in reg, the instruction has it in tmem",
    ),
    "global for Tensor Memory": (
        TMEM | {"space": {"Src": "gmem", "Dst": "reg"}},
        "Src is in gmem, the instruction has it in tmem",
    ),
    "a second instruction that moves otherwise": (
        TMEM | {"ptx": [*TMEM["ptx"], "tcgen05.ld.sync.aligned.16x256b.x1.b32"]},
        "by tcgen05.ld.sync.aligned.16x256b.x1.b32: T0 V64",
    ),
    "a second instruction whose recording differs": (
        LDMATRIX | {"ptx": [*LDMATRIX["ptx"], "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16"]},
        "Dst calls byte 2 of lane 0",
    ),
    "a permutation of more bytes than the instruction leaves": (
        LDMATRIX
        | {
            "ptx": ["ldmatrix.sync.aligned.m8n8.x1.shared.b16"],
            "adapter": {"name": "halves swapped", "bytes": [4, 5, 6, 7, 0, 1, 2, 3]},
        },
        "the instruction leaves 32 bits in a thread, halves swapped permutes groups of 8 bytes",
    ),
    "a product named as a copy": (
        LDMATRIX | {"ptx": ["mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"]},
        "multiplies matrices: it copies nothing",
    ),
    "half of B in a family": (WGMMA | {"B": "(128,({N},8)):(0,(1,{N}))"}, "the layout has 128 x 64 points"),
    "an N that there is not": (WGMMA | {"params": {"N": [8, 264]}}, "the ISA has no such wgmma.mma_async.sync"),
    "bytes of an asynchronous copy in another order": (
        ASYNC | {"Dst": "(1,(8,2,4)):(0,(1,32,8))"},
        "T0 V8: layout bit 32, ISA (bit=8)",
    ),
    "an asynchronous copy of two bytes": (
        ASYNC | dict.fromkeys(("Src", "Dst", "Ref"), "(1,16):(0,1)"),
        "the layout has 1 threads x 16 values, the ISA 1 x 32",
    ),
    "an asynchronous copy to global memory": (
        ASYNC | {"space": {"Src": "smem", "Dst": "gmem"}},
        "Dst is in gmem, the instruction has it in smem",
    ),
    "rows of A distributed by turns": (
        UMMA | {"A": "(2,(128,16)):(1,(2,256))"},
        "T0 V1: layout (m=2, k=0), ISA (m=1, k=0)",
    ),
    "B in the first CTA alone": (UMMA | {"B": "(2,(64,16)):(0,(1,64))"}, "the layout has 2 threads x 1024 values"),
    "the same half of A in both CTAs, as a family": (
        UMMA
        | {
            "params": {"M": [256]},
            "shape": ["{M}", 64, 16],
            "A": "(2,({M//2},16)):(0,(1,{M//2}))",
            "C": "(2,({M//2},64)):({M//2},(1,{M}))",
        },
        "both hold (m=0, k=0)",
    ),
    "half of k": (
        UMMA | {"shape": [256, 64, 8], "A": "(2,(128,8)):(128,(1,256))", "B": "(2,(32,8)):(32,(1,64))"},
        "shape is 256x64x8, the instruction's is 256x64x16",
    ),
    "integers of a kind of floats": (
        UMMA | {"types": {"D": "f32", "A": "s8", "B": "s8", "C": "f32"}},
        "A is s8, the instruction's is f16 or bf16",
    ),
    "A in registers": (UMMA | {"space": {"B": "smem", "C": "tmem"}}, "A is in reg, the instruction's is in smem"),
    "B in another space": (WGMMA | {"space": {"A": "smem", "B": "reg"}}, "B is in reg, the instruction's is in smem"),
}


@pytest.mark.long
@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_one_is_refuted_and_the_fault_is_named(case: str, tmp_path, capsys) -> None:
    table, output = WRONG[case]
    code, said = verify_table(table, tmp_path, capsys)
    assert code == 1 and output in said and "CONTRADICTION" not in said


def test_the_family_proof_counts_what_is_in_memory(tmp_path, capsys) -> None:
    """Half of the tile in order is not the tile: the solver alone must not confirm it."""
    code, said = verify_table(WRONG["half of B in a family"][0], tmp_path, capsys, "--checks", "proof", "-v")
    heads = re.findall(r"^(?:X_\d+)? +B +(\w+) +equals", said, re.MULTILINE)
    assert code == 1 and heads == ["REFUTED"] * len(heads) and len(heads) > 1


def test_the_company_of_a_right_atom_changes_no_verdict(tmp_path, capsys) -> None:
    """Evidence is shared between equal questions alone: where an operand lies is part of the question."""
    right, wrong = toml(WGMMA), toml(WRONG["B in another space"][0]).replace("X_", "Y_")
    file = tmp_path / "both.toml"
    file.write_text(right + wrong, encoding="utf-8")
    assert atom.main(["--atoms", str(file), "--format", "json"]) == 1
    subjects = json.loads(capsys.readouterr().out)["subjects"]
    for subject in subjects:
        gpu = [e["status"] for v in subject["verdicts"] for e in v["evidence"] if e["check"] == "gpu"]
        assert ("AGREES" in gpu[:1]) == subject["name"].startswith("X_")
