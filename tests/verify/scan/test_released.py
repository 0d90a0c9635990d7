# SPDX-License-Identifier: Apache-2.0
"""Released versions of CUTLASS: what is wrong in each, and how much of it is read.

The variable CUTLASS names a git checkout with the tags of CUTLASS, whose files are read by `git archive`.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from verify.scan.command import main

CHECKOUT = os.environ.get("CUTLASS", "")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CHECKOUT, reason="the variable CUTLASS names no git checkout of CUTLASS"),
]
B1 = {("SM80_16x8x256_S32U1U1S32_TN_XORPOPC", "A"), ("SM80_16x8x256_S32U1U1S32_TN_XORPOPC", "B")}
S4 = {
    (f"SM80_16x8x32_S32{types}S32_TN{end}", "B")
    for types in ("S4S4", "S4U4", "U4S4", "U4U4")
    for end in ("", "_SATURATE")
}
FORM = {(f"SM80_16x8x128_S32U1U1S32_TN_{how}POPC", "A") for how in ("XOR", "AND")}
DP2A = {("SM61_DP2A", "")}
MOVM = {("SM75_U32x1_MOVM_T", "Dst")}
PAIR = {("SM100_MMA_MXF4NVF4_2x1SM_SS_SPARSE", "")}  # M = 128, which the ISA does not have for a pair of CTAs
ROWS = {("SM75_16x8x8_F32F16F16F32_TN", "A"), ("SM75_16x8x8_F32F16F16F32_TN", "C")}
WRONG = {
    "v3.0.0": DP2A | B1 | ROWS,
    "v3.1.0": DP2A | B1 | ROWS,
    "v3.2.0": DP2A | B1 | ROWS,
    "v3.2.2": DP2A | B1,
    "v3.3.0": DP2A | B1,
    "v3.5.1": DP2A | B1,
    "v3.6.0": DP2A | S4 | FORM,
    "v3.9.2": DP2A | S4 | FORM | PAIR,
    "v4.4.0": DP2A | S4 | FORM | PAIR | MOVM,
    "v4.7.0": DP2A | FORM | PAIR | MOVM,
}


@pytest.fixture(scope="module")
def extracted(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    folder = tmp_path_factory.mktemp("cutlass")

    @cache
    def extract(tag: str) -> Path:
        where = folder / tag
        where.mkdir()
        packed = subprocess.run(
            ["git", "-C", CHECKOUT, "archive", tag, "include/cute"], check=True, capture_output=True
        ).stdout
        subprocess.run(["tar", "x", "-C", str(where)], input=packed, check=True)
        return where

    return extract


def scan_folder(where: Path, *options: str) -> tuple[int, dict]:
    report = where / "report.json"
    code = main([str(where), "--format", "json", "-q", "-o", str(report), *options])
    return code, json.loads(report.read_text())


@pytest.mark.parametrize("tag", WRONG)
def test_what_is_wrong_in_a_version_is_found_and_nothing_else(tag: str, extracted: Callable[[str], Path]) -> None:
    code, document = scan_folder(extracted(tag))
    wrong = {
        (case["name"].partition("<")[0], verdict["part"]): verdict
        for case in document["subjects"]
        for verdict in case["verdicts"]
        if verdict["status"] in ("REFUTED", "RELABELLED")
    }
    assert code == 1 and wrong.keys() == WRONG[tag]
    assert {key for key, verdict in wrong.items() if verdict["status"] == "RELABELLED"} == wrong.keys() & ROWS
    assert all(
        "using " in wrong[key]["counterexample"]["repair"] for key in (B1 | S4 | FORM | ROWS | MOVM) & wrong.keys()
    )
    assert all(verdict["place"]["line"] > 1 for verdict in wrong.values())
    assert not [case for case in document["unchecked"] if not case["excuse"]]


def test_everything_in_the_newest_version_is_read(
    extracted: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(extracted("v4.7.0")), "--expect-known"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "read: 2486 of 2486 definitions (100.0 %); 2238 of 2238 of sm61 to sm90 (100.0 %); 1915 templates" in printed


def test_the_difference_of_two_versions_is_the_maps_that_were_mended(
    extracted: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = map(str, map(extracted, ("v4.4.0", "v4.7.0")))
    assert main(["--diff", old, new, "--format", "json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert {(change["name"], change["part"]) for change in document["changed"]} == S4
    assert all(change["lines"][0] == "192 of 256 points changed" for change in document["changed"])
