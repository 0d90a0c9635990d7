# SPDX-License-Identifier: Apache-2.0
"""Shipped entries with one thing changed, each of which once ended in an internal error or a false contradiction."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

import layouts.atoms
from tests.verify.test_copy_soundness import toml
from verify.atom import command as atom

SHIPPED = Path(layouts.atoms.__file__).parent


def entry(name: str, **changes: object) -> dict[str, object]:
    """A shipped entry as in its file, with other values; None removes a key."""
    for file in sorted(SHIPPED.glob("*.toml")):
        text = file.read_text(encoding="utf-8")
        if f'["{name}"]' in text:
            table = {key: value for key, value in tomllib.loads(text)[name].items() if key != "known_defect"}
            return {key: value for key, value in {**table, **changes}.items() if value is not None}
    raise KeyError(name)


def verify_table(table: dict[str, object], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    name = "_".join(["X", *(f"{{{parameter}}}" for parameter in table.get("params", {}))])  # type: ignore[attr-defined]
    file = tmp_path / "atoms.toml"
    file.write_text(re.sub(r"^\[.*\]$", json.dumps([name]), toml(table), count=1, flags=re.M), encoding="utf-8")
    code = atom.main(["--atoms", str(file)])
    captured = capsys.readouterr()
    return code, captured.out + captured.err


SCALED = "SM120::BLOCKSCALED::SM120_16x8x32_TN_VS<float_{A}_t, float_{B}_t, float, float_ue8m0_t, 32>"
SPARSE = "SM90::GMMA::SPARSE::GMMA_64x{N}x64_F32E5M2E4M3_RS_TN"
REFUTED = {
    "a tile that the formula leaves along its second axis": (
        entry(SCALED, params={"A": ["e2m1"], "B": ["e5m2"]}, shape=[16, 1, 16]),
        "shape is 16x1x16, the instruction's is 16x8x32",
    ),
    "copies that are not the instruction's, of one that makes four products": (
        entry("SM70_8x8x4_F16F16F16F16_NN", copies={"B": 4}),
        "each element of B has 4 owners, in the instruction one owner",
    ),
    "a number with a leading zero": (
        entry("SM100_TMEM_STORE_16dp256b{N}x_16b", params={"N": [2]}, Ref="(32,{4096*N}):(03,1)"),
        "Ref is neither Src nor Dst, as a function",
    ),
    "a tile too small for an element of metadata": (
        entry(SPARSE, params={"N": [256]}, shape=[64, "{N}", 1]),
        "shape is 64x256x1, the instruction's is 64x256x",
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("case", REFUTED)
def test_it_is_refuted_and_the_fault_is_named(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, words = REFUTED[case]
    code, said = verify_table(table, tmp_path, capsys)
    assert code == 1 and words in said and "CONTRADICTION" not in said


def test_a_sparse_atom_without_its_metadata_is_not_refuted_for_what_it_does_not_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = verify_table(entry(SPARSE, params={"N": [256]}, E=None), tmp_path, capsys)
    assert code != 1 and "  UNCHECKED " in said.splitlines()[0]


@pytest.mark.long
def test_a_family_that_fails_beyond_its_list_is_verified_where_it_is_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With N = 8 alone the last mode has one element, whose stride is nothing; for N = 16 it is wrong."""
    for sizes, code in (([8], 0), ([8, 16], 1)):
        changes = {"params": {"N": sizes}, "C": "((4,8,4),(2,2,{N//8})):((128,1,16),(64,8,1))"}
        table = entry("SM90_64x{N}x32_S32U8S8_SS_TN_SATURATE", **changes)
        assert verify_table(table, tmp_path, capsys)[0] == code


def test_more_threads_than_work_together_are_rejected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = verify_table(entry("SM80_8x8x4_F64F64F64F64_TN", thr="(128,(64,64)):(0,(1,64))"), tmp_path, capsys)
    assert code == 2 and "X.thr: (128,(64,64)):(0,(1,64)) numbers 524288 threads, at most 65536" in said
    assert len(said.splitlines()) == 3  # the place, the line and a caret
