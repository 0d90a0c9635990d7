# SPDX-License-Identifier: Apache-2.0
"""The swizzle atom divides the tile: by enumeration, and by the solver from how one copy follows another."""

from __future__ import annotations

import json

import pytest

from layouts import parse_layout
from verify.tiling import command as tiling
from verify.tiling import smem_atom

F16 = "SM80_16x8x16_F32F16F16F32_TN"


def verify_swizzle(capsys: pytest.CaptureFixture[str], atom: str) -> tuple[int, dict]:
    words = ["--atom", F16, "--atoms-layout", "2,1,1", "--tile", "96,48,192", "--smem-a", atom, "--format", "json"]
    code = tiling.main(words)
    verdicts = json.loads(capsys.readouterr().out)["subjects"][0]["verdicts"]
    return code, next(verdict for verdict in verdicts if "swizzle atom" in verdict["claim"])


@pytest.mark.long
@pytest.mark.parametrize(
    ("atom", "expected"),
    [
        ("Sw<3,3,3> o (8,64):(64,1)", "PROVED"),
        ("(8,8):(1,8)", "PROVED"),
        ("(3,(2,4)):(1,(12,3))", "PROVED"),
        ("(2,2):(3,5)", "UNCHECKED"),  # interleaved: a copy begins after the last element of another
        ("(8,8):(9,1)", "UNCHECKED"),  # with holes, into which CuTe may lay the next copy
    ],
)
def test_the_tile_is_one_copy_after_another(atom: str, expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, verdict = verify_swizzle(capsys, atom)
    assert code == 0 and verdict["status"] == "PROVED"
    assert {e["check"]: e["status"] for e in verdict["evidence"]} == {"isa": "PROVED", "proof": expected}


@pytest.mark.parametrize(
    ("atom", "expected"),
    [
        ("(8,64):(64,-1)", "(0, 63) is at offset -63, below the first"),
        ("(8,64):(0,1)", "(0, 0) and (1, 0) are both at offset 0"),
        ("(8,16):(8,4)", "(1, 0) and (0, 2) are both at offset 8"),
        ("Sw<1,0,1> o (2,2):(1,5)", "Sw<1,0,1> repeats every 4 elements, the atom has 7: its second copy differs"),
    ],
)
def test_an_atom_that_cannot_be_repeated(atom: str, expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, verdict = verify_swizzle(capsys, atom)
    (evidence,) = verdict["evidence"]
    assert (code, verdict["status"], evidence["counterexample"]["statement"]) == (1, "REFUTED", expected)


def test_an_atom_with_no_layout_of_copies_found_is_unchecked(capsys: pytest.CaptureFixture[str]) -> None:
    """No two sums of these 11 strides are equal (Conway and Guy), so that it is no fault of the atom."""
    strides = [1164 - u for u in (594, 309, 161, 84, 44, 24, 13, 7, 4, 2, 1)]
    rows, columns = ",".join(map(str, strides[:5])), ",".join(map(str, strides[5:]))
    code, verdict = verify_swizzle(capsys, f"((2,2,2,2,2),(2,2,2,2,2,2)):(({rows}),({columns}))")
    assert (code, verdict["status"]) == (4, "UNCHECKED")
    assert "takes more than 65536 steps" in verdict["evidence"][0]["reason"]


def test_a_swizzle_longer_than_the_only_copy_is_no_fault(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--atom", F16, "--tile", "16,64,64", "-q", "--smem-a"]
    assert tiling.main([*words, "Sw<3,10,3> o (16,64):(64,1)"]) == 0
    assert tiling.main([*words, "Sw<3,10,3> o (8,64):(64,1)"]) == 1


def test_what_does_not_divide_is_refuted_without_the_solver(capsys: pytest.CaptureFixture[str]) -> None:
    code, verdict = verify_swizzle(capsys, "(8,7):(7,1)")
    assert code == 1 and [e["check"] for e in verdict["evidence"]] == ["isa"]


@pytest.mark.long
@pytest.mark.parametrize(
    "whole",
    [
        "((8,12),(64,3)):((64,1536),(1,512))",  # copies along k first
        "((8,12),(64,3)):((64,512),(1,6656))",  # a copy is left out
    ],
)
def test_a_tile_that_is_made_wrongly_is_never_verified(
    whole: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each of these has a place for every element, so that enumeration finds nothing wrong."""
    wrong = parse_layout(whole)
    assert len({wrong(i) for i in range(96 * 192)}) == 96 * 192
    monkeypatch.setattr(smem_atom, "tile_to_shape", lambda atom, extent: wrong)
    code, verdict = verify_swizzle(capsys, "(8,64):(64,1)")
    assert code == 3 and verdict["contradiction"]


def test_copies_that_are_not_the_atom_are_found_by_enumeration(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    transposed = parse_layout("((8,12),(64,3)):((1,512),(8,6144))")
    monkeypatch.setattr(smem_atom, "tile_to_shape", lambda atom, extent: transposed)
    code, verdict = verify_swizzle(capsys, "(8,64):(64,1)")
    (evidence,) = verdict["evidence"]
    assert code == 1 and evidence["counterexample"]["statement"] == "(1, 0) is at offset 1, in a copy of the atom at 64"
