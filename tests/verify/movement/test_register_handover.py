# SPDX-License-Identifier: Apache-2.0
"""`lanecheck movement --from X --to Y`: hand-overs in registers, and their rows in memory."""

from __future__ import annotations

import shlex

import numpy as np
import pytest

from tests.verify.movement.arguments import F16, ROWS, S8, ST, SW128, TF32, TO_B, X2, X4, by_property, check
from verify.movement import bind, spec
from verify.movement import command as movement

WIDE = "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16"

VERIFIED = {
    "ldmatrix.x4 to A": (["--from", X4, "--to", F16, "--major", "K"], "(16,2):(1,128) of the tile, its elements 8:16"),
    "ldmatrix.x2 to B": (["--from", X2, *TO_B, "--major", "K"], "(8,2):(1,64)"),
    "ldmatrix.x2.trans to B": (
        ["--from", X2.replace(".shared", ".trans.shared"), *TO_B, "--major", "MN"],
        "16:8 of the tile, its elements 8:1 along n",
    ),
    "ldmatrix.x4 to two tiles of B": (["--from", X4, *TO_B, "--tiles", "n=2"], "(8,2,2):(1,128,8)"),
    "ldmatrix.x4 to two steps of B": (["--from", X4, *TO_B, "--tiles", "k=2"], "(8,4):(1,64)"),
    "ldmatrix.x4 to A of 32 bits": (["--from", X4, "--to", TF32, "--major", "K"], "counted in 16 bits"),
    "ldmatrix.x4 to A of 8 bits": (["--from", X4, "--to", S8, "--major", "K"], "16:16 along k"),
    "accumulators to stmatrix": (["--from", F16, "--to", ST, "--narrow", "16"], "(16,2):(1,128)"),
    "wgmma's accumulators to stmatrix": (
        ["--from", "SM90_64x16x16_F32F16F16_SS", "--to", ST, "--narrow", "16"],
        "(16,2,4):(1,512,16)",
    ),
    "accumulators to the next A": (["--from", F16, "--to", F16], "value 8:1"),
    "wgmma's accumulators to the next A": (
        ["--from", "SM90_64x64x16_F32F16F16_SS", "--to", "SM90_64x64x16_F32F16F16_RS"],
        "value 32:1",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", VERIFIED)
def test_a_hand_over_is_verified(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    words, expected = VERIFIED[case]
    code, report = check(capsys, *words)
    hand_over = by_property(report)["hand_over"]
    assert code == 0 and report["subjects"][0]["status"] == "VERIFIED"
    assert expected in hand_over["claim"]
    assert {e["check"]: e["status"] for e in hand_over["evidence"]}.items() >= {
        "isa": "PROVED",
        "proof": "PROVED",
    }.items()


def test_counts_are_compared_once(capsys: pytest.CaptureFixture[str]) -> None:
    _, report = check(capsys, "--from", X4, "--to", F16, "--major", "K")
    (counted,) = (e for v in report["subjects"][0]["verdicts"] for e in v["evidence"] if e["method"] == "counted")
    assert (counted["check"], counted["points"]) == ("isa", 1)


REFUTED = {
    # museum 19: stmatrix of 16-bit rows on accumulators that were never narrowed, in the order of narrowed ones
    "values out of order": (
        ["--from", F16, "--to", ST, "--narrow", "16", "--rows", "(8,2,2):(1,128,8)"],
        "T0 V2 wants (m=8, n=0) and gets (m=0, n=8)",
    ),
    # museum 18: the row's number divided by the wrong extent: the second matrix starts further along k, not m
    "row addresses of ldmatrix": (
        ["--from", X2, "--to", "SM80_16x8x8_F32F16F16F32_TN", "--rows", "(8,2):(1,64)"],
        "T0 V2 wants (m=8, k=0) and gets (m=0, k=4)",
    ),
    "tf32 accumulators to A": (["--from", TF32, "--to", TF32], "no order of the values brings it here"),
    "a transposed load of 32 bits": (["--from", X4.replace(".shared", ".trans.shared"), "--to", TF32], "T4 V0 wants"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUTED)
def test_a_wrong_hand_over_is_refuted(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    words, expected = REFUTED[case]
    code, report = check(capsys, *words)
    hand_over = by_property(report)["hand_over"]
    assert code == 1 and expected in hand_over["counterexample"]["statement"]
    assert {e["check"]: e["status"] for e in hand_over["evidence"]}.items() >= {
        "isa": "REFUTED",
        "proof": "REFUTED",
    }.items()
    assert hand_over["counterexample"]["reproduced"] and not hand_over["contradiction"]
    smallest = [e["counterexample"]["inputs"] for e in hand_over["evidence"] if e["counterexample"]]
    assert (smallest[0]["lane"], smallest[0]["value"]) == (smallest[1]["lane"], smallest[1]["value"])
    replay = shlex.split(hand_over["counterexample"]["replay"])
    assert movement.main(replay[2:]) == 1


@pytest.mark.parametrize(("trans", "major"), [("", "MN"), (".trans", "K")])
def test_rows_across_the_memory_s_axis_are_refuted(trans: str, major: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, report = check(capsys, "--from", X4.replace(".shared", f"{trans}.shared"), "--to", F16, "--major", major)
    verdicts = by_property(report)
    assert code == 1 and verdicts["hand_over"]["status"] == "PROVED" and verdicts["major"]["status"] == "REFUTED"
    assert verdicts["major"]["counterexample"]["repair"] == f"ldmatrix {'without' if trans else 'with'} .trans"


@pytest.mark.parametrize(
    ("words", "repair"),
    [
        (["--from", X4, "--to", S8, "--major", "M"], ""),  # .trans moves pairs of bytes
        (["--from", X4, "--to", TF32, "--major", "M"], ""),  # and halves of words
        (["--from", X4, "--to", F16, "--major", "M", "--rows", "(16,2):(1,128)"], "rows (8,2,2):(16,8,128)"),
        (["--from", X4, *TO_B, "--tiles", "n=2", "--major", "N"], "rows (16,2):(16,8)"),
        (["--from", F16, "--to", ST, "--narrow", "16", "--tiles", "n=2", "--major", "M"], "rows (8,2,2):(16,8,128)"),
    ],
)
def test_the_repair_turns_the_rows(words: list[str], repair: str, capsys: pytest.CaptureFixture[str]) -> None:
    """No repair where .trans moves parts of elements; else the command with the repair is verified."""
    code, report = check(capsys, *words)
    printed = by_property(report)["major"]["counterexample"]["repair"] or ""
    assert code == 1 and printed.endswith(repair) and bool(printed) == bool(repair)
    if repair:
        repaired = [word.replace(".x4.", ".x4.trans.") for word in words]
        repaired = repaired[: repaired.index("--rows")] if "--rows" in repaired else repaired
        assert check(capsys, *repaired, "--major", words[words.index("--major") + 1], *f"--{repair}".split())[0] == 0


SWAPPED = "(2,2,2):(4,1,2)"  # values of A in another order, which needs rows of both halves of m


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--values", SWAPPED], "the first row is (m=0, k=0), (m=8, k=0), (m=0, k=2)"),
        (["--values", SWAPPED, "--major", "K"], "the rows run along no axis"),
        (["--values", SWAPPED, "--shared", "(16,16):(16,1)"], "T0 V1 lies at element 128, V0 at 0"),
        (["--shared", "(16,16):(1,16)"], "T0 V1 lies at element 16, V0 at 0: expected 1 further on"),
        (["--shared", "(16,16):(20,1)"], "T1 V0 lies at element 20, which isn't a multiple of 8"),
        (["--shared", "(16,16):(64,1)"], "T0 and T1 access words 0 and 32 of bank 0 in access 0"),
    ],
)
def test_a_row_is_sixteen_bytes_of_memory(words: list[str], expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, report = check(capsys, "--from", X4, "--to", F16, *words)
    verdicts = report["subjects"][0]["verdicts"]
    wrong = [v["counterexample"]["statement"] for v in verdicts if v["status"] == "REFUTED"]
    assert code == 1 and len(wrong) == 1 and expected in wrong[0]
    assert by_property(report)["hand_over"]["status"] == "PROVED"


@pytest.mark.parametrize(
    "words",
    [
        ["--shared", "Sw<3,3,3> o (16,16):(64,1)"],
        [
            "--values",
            SWAPPED,
            "--shared",
            "Sw<1,3,3> o ((8,2),(2,8)):((16,1),(8,2))",
        ],  # memory that has such rows side by side
    ],
)
def test_rows_that_memory_has_side_by_side_are_verified(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code, report = check(capsys, "--from", X4, "--to", F16, *words)
    assert code == 0, [v["counterexample"] for v in report["subjects"][0]["verdicts"]]
    assert by_property(report)["whole_accesses"]["status"] == "PROVED"


def test_halves_of_wide_elements_stay_neighbours_in_a_placed_tile(capsys: pytest.CaptureFixture[str]) -> None:
    for shared, code in (("Sw<2,2,3> o (16,8):(16,1)", 0), ("(16,8):(1,16)", 1)):
        exit_code, report = check(capsys, "--from", X4, "--to", TF32, "--shared", shared)
        assert exit_code == code and by_property(report)["whole_accesses"]["status"] == (
            "REFUTED" if code else "PROVED"
        )


def test_stored_elements_have_different_places(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--from", F16, "--to", ST, "--narrow", "16"]
    for shared, status in (("(16,16):(16,1)", "PROVED"), ("(16,16):(0,1)", "REFUTED")):
        _, report = check(capsys, *words, "--shared", shared)
        disjoint = by_property(report)["disjoint"]
        assert [e["status"] for e in disjoint["evidence"]] == [status, status]
    assert movement.main([*words, "--shared", "(16,16):(16,1)", "--arch", "sm_80"]) == 2
    assert "sm_80 has no stmatrix" in capsys.readouterr().err


def test_too_few_values_are_counted_first(capsys: pytest.CaptureFixture[str]) -> None:
    code, report = check(capsys, "--from", X2, "--to", F16)
    verdicts = by_property(report)
    assert code == 1 and verdicts["hand_over"]["status"] == "UNCHECKED"
    wrong = verdicts["count"]["counterexample"]
    assert "has 4 values of 16 bits in each lane, A of" in wrong["statement"]
    assert wrong["repair"] == "issue it 2 times as often (--times)"


@pytest.mark.parametrize(("n", "times"), [(16, 1), (64, 4), (96, 6), (256, 16)])
def test_stores_of_a_wide_accumulator_are_issued_as_often_as_it_takes(n: int, times: int) -> None:
    """Row r of matrix j of warp w's store t is row 16w + 8(j % 2) + r of the tile, from column 16t + 8(j / 2) on."""
    given = {"from": f"wgmma.mma_async.sync.aligned.m64n{n}k16.f32.f16.f16", "to": ST, "narrow": 16, "times": times}
    hand_over = bind.bind(spec.of_options(given)).over
    assert hand_over is not None and not hand_over.miscount
    for t, w, j, r in np.ndindex(times, 4, 4, 8):
        row, column = 16 * w + 8 * (j % 2) + r, 16 * t + 8 * (j // 2)
        assert hand_over.rows(r + 8 * j + 32 * w + 128 * t) == row + 64 * column
    assert [hand_over.columns(c) for c in range(8)] == [64 * c for c in range(8)]


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--from", WIDE, "--to", ST, "--narrow", "16", "--times", "4"], 0),
        (["--from", WIDE, "--to", ST, "--narrow", "16", "--times", "4", "--shared", SW128], 0),
        (["--from", WIDE, "--to", ST, "--narrow", "16", "--times", "4", "--shared", ROWS], 1),
        (["--from", WIDE, "--to", ST, "--narrow", "16", "--times", "3"], 1),
        (["--from", WIDE, "--to", ST, "--narrow", "16", "--times", "8"], 0),  # of two tiles side by side
        (["--from", X2, "--to", F16, "--times", "2", "--major", "K"], 0),
        (["--from", X2, "--to", F16, "--times", "3"], 1),
        (["--from", X4, "--to", F16, "--operand", "B", "--times", "2", "--major", "K"], 0),
    ],
)
def test_loads_and_stores_are_issued_several_times(words: list[str], code: int) -> None:
    assert movement.main([*words, "-q"]) == code


def test_recorded_kernels_are_evidence_where_the_placement_is_derived(capsys: pytest.CaptureFixture[str]) -> None:
    for words, status in (
        (["--from", X4, "--to", F16], "AGREES"),
        (["--from", F16, "--to", F16], "AGREES"),
        (["--from", X4, "--to", F16, "--rows", "(16,2):(1,128)"], "UNCHECKED"),
        (["--from", X2, "--to", "SM80_16x8x8_F32F16F16F32_TN"], "UNCHECKED"),
    ):
        _, report = check(capsys, *words)
        by_check = {e["check"]: e for e in by_property(report)["hand_over"]["evidence"]}
        assert by_check["gpu"]["status"] == status, words
