# SPDX-License-Identifier: Apache-2.0
"""Sizes that nothing launches: a kernel without masks gets a note, one with masks none, and a guess is no note."""

from pathlib import Path
from typing import Any

import pytest

from tests.verify.capture.logs import ADD, BARE, Log
from verify.capture.decisions import Judge
from verify.capture.neighbours import list_neighbours
from verify.capture.session import KernelSession


def make_table(n: int = 64, grid: int = 2, given: Any = None, claim: str = "out[i] = x[i] + y[i]") -> dict[str, Any]:
    array = {"dims": ["i"], "type": "f32", "strides": [1], "out": True, "offset": 64}
    arrays = {name: dict(array) for name in ("x", "y", "out")}
    params = ["x", "y", "out", n if given is None else given]
    return {"kernel": "add", "grid": [grid, 1, 1], "block": 32, "smem": 0, "sizes": {"i": n}, "params": params,
            "arrays": arrays, "claim": claim}  # fmt: skip


def note(folder: Path, ptx: str, table: dict[str, Any], constants: dict[str, int]) -> str:
    (folder / "add.ptx").write_text(ptx)
    variant = {"file": "add.py", "name": "add", "ptx": "add.ptx", "constants": constants}
    session = KernelSession(1)
    text = session.note_neighbours(folder, variant, table)
    assert not session.note_neighbours(folder, variant, table) or not session.beside  # once for each kernel
    return text


@pytest.mark.parametrize("claim", ["out[i] = x[i] + y[i]", "out[i] = (x[i] + y[i]) / 1"])
def test_a_kernel_without_masks_gets_a_note_with_its_line(tmp_path: Path, claim: str) -> None:
    text = note(tmp_path, BARE, make_table(claim=claim), {"BLOCK": 32})
    assert text.startswith("at i = 80 (grid 3), which nothing launches, this kernel would be wrong: line ")
    assert "out of bounds" in text


def test_a_kernel_with_masks_gets_none(tmp_path: Path) -> None:
    assert not note(tmp_path, ADD, make_table(), {"BLOCK": 32})


@pytest.mark.parametrize(
    ("table", "constants"),
    [
        (make_table(32, 1), {"BLOCK": 32}),  # the block may have been made of the size
        (make_table(70, 3), {"BLOCK": 32}),  # no integer of blocks: another code is compiled for its neighbour
        (make_table(), {"BLOCK": 32, "EVEN_N": True}),  # the code is for whole blocks
        (make_table(given=7), {"BLOCK": 32}),  # a number that no size explains
        (make_table(64, 5), {"BLOCK": 32}),  # a grid that no size explains
        (make_table(64, 1, given="x"), {"RANK": 2}),  # nothing tells the kernel another size
    ],
)
def test_what_is_not_known_is_no_note(tmp_path: Path, table: dict[str, Any], constants: dict[str, int]) -> None:
    assert not note(tmp_path, BARE, table, constants)


def test_all_sizes_are_changed_at_once_and_then_each_alone() -> None:
    table = make_table(256, 12, claim="out[i] = x[i] + y[j]")
    table["sizes"]["j"] = 192
    table["arrays"]["y"]["dims"] = ["j"]
    neighbours = list(list_neighbours(table, {"BI": 64, "BJ": 64}))
    assert [(dict(neighbour.changed), neighbour.table["grid"][0], neighbour.alone) for neighbour in neighbours] == [
        ({"i": 272, "j": 208}, 20, False),
        ({"j": 208}, 16, True),
        ({"i": 272}, 15, True),
    ]


def test_one_number_for_two_things_that_differ_is_no_neighbour() -> None:
    """A stride of 128 beside an extent of 128, of which one alone would change, is either."""
    table = make_table(128, 2, claim="out[i] = x[i] + y[m,n]")
    table["sizes"] |= {"m": 4, "n": 32}
    table["arrays"]["y"] |= {"dims": ["m", "n"], "strides": [32, 1]}
    assert not list(list_neighbours(table, {"BLOCK": 64}))


def test_a_launch_stays_verified_and_its_report_has_the_note(tmp_path: Path) -> None:
    log = Log(tmp_path)
    log.add_whole_blocks()
    judge = Judge(KernelSession(1), log.record(), tmp_path)
    (decision,) = [judge.decide(*entry) for entry in judge.plan()]
    assert decision.status == "VERIFIED"
    assert (
        "note: at i = 80 (grid 3), which nothing launches, this kernel would be wrong: line 22: " in decision.report()
    )
