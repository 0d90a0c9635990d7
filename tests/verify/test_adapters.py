# SPDX-License-Identifier: Apache-2.0
"""Copies that permute bytes after the instruction: each check by itself separates right ones from wrong ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.verify.test_copy_soundness import LDMATRIX, toml
from verify.atom import command as atom

PAIRS = [0, 1, 4, 5, 2, 3, 6, 7]  # of two registers the upper half of the one and the lower half of the other exchanged


LOWER_FIRST = [0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15]  # of four registers: no involution


HALVES = [2, 3, 0, 1]


# Digits of the 16-bit halves of a lane: 0 the half of a register, 1 of two registers, 2 of two pairs of registers.
RIGHT = {"pairs": (PAIRS, (1, 0, 2)), "lower first": (LOWER_FIRST, (1, 2, 0)), "none": (None, (0, 1, 2))}


WRONG = {
    "as the instruction leaves them": (PAIRS, (0, 1, 2)),
    "permuted, but not said": (None, (1, 0, 2)),
    "the inverse": (LOWER_FIRST, (2, 0, 1)),
    "another permutation": (PAIRS, (0, 2, 1)),
    "its second group alone": ([*range(8), *(8 + byte for byte in PAIRS)], (1, 0, 2)),
    "halves that no layout with this order has": (HALVES, (0, 1, 2)),
}


def ldmatrix(turned: bool, permutation: list[int] | None, order: tuple[int, int, int]) -> dict[str, object]:
    """ldmatrix .x4 whose Dst counts the digits of a lane's halves in that order.

    Lane l, register r, half h has of matrix r the row l // 4, columns 2 (l % 4) + h; transposed, the row of that
    number and the column l // 4. A row is what one lane's address gives: 128 bits.
    """
    threads, half = ("(4,8)", 128) if turned else ("32", 16)
    across = "(256,16)" if turned else "32"
    steps = ",".join(str((half, 1024, 2048)[digit]) for digit in order)
    entry = LDMATRIX | {
        "ptx": [f"ldmatrix.sync.aligned.m8n8.x4{'.trans' if turned else ''}.shared.b16"],
        "Dst": f"({threads},(16,2,2,2)):({across},(1,{steps}))",
    }
    return entry | ({"adapter": {"name": "halves in another order", "bytes": permutation}} if permutation else {})


def verify_entry(entry: dict[str, object], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, set[str]]:
    """The statuses that each check finds for the names of Dst's bits."""
    file = tmp_path / "atoms.toml"
    file.write_text(toml(entry), encoding="utf-8")
    atom.main(["--atoms", str(file), "--format", "json"])
    (subject,) = json.loads(capsys.readouterr().out)["subjects"]
    statuses: dict[str, set[str]] = {}
    for verdict in subject["verdicts"]:
        for evidence in verdict["evidence"]:
            if evidence["check"] == "gpu" or ("Dst", "equals_isa") == (verdict["part"], verdict["property"]):
                statuses.setdefault(evidence["check"], set()).add(evidence["status"])
    return statuses


@pytest.mark.parametrize("turned", [False, True], ids=["plain", "transposed"])
@pytest.mark.parametrize("case", RIGHT)
def test_a_permutation_and_the_layout_that_it_leaves_are_verified_by_each_check(turned, case, tmp_path, capsys) -> None:
    statuses = verify_entry(ldmatrix(turned, *RIGHT[case]), tmp_path, capsys)
    assert statuses == {"isa": {"PROVED"}, "proof": {"PROVED"}, "gpu": {"AGREES"}}


@pytest.mark.long
@pytest.mark.parametrize(
    ("case", "turned"),
    [
        *((case, number == 0) for number, case in enumerate(WRONG)),
        *(pytest.param(case, number > 0, marks=pytest.mark.slow) for number, case in enumerate(WRONG)),
    ],
)
def test_another_permutation_than_the_layouts_is_refuted_by_each_check(turned, case, tmp_path, capsys) -> None:
    statuses = verify_entry(ldmatrix(turned, *WRONG[case]), tmp_path, capsys)
    assert statuses == {"isa": {"REFUTED"}, "proof": {"REFUTED"}, "gpu": {"REFUTED"}}
