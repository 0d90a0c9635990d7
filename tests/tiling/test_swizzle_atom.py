# SPDX-License-Identifier: Apache-2.0
"""The swizzle atom divides the tile: by enumeration, and by the solver from how one copy follows another."""

from __future__ import annotations

import json

import pytest

from layouts import parse_layout
from verify import tiling, tiling_smem

F16 = "SM80_16x8x16_F32F16F16F32_TN"


def judged(capsys: pytest.CaptureFixture[str], atom: str) -> tuple[int, dict]:
    words = ["--atom", F16, "--atoms-layout", "2,1,1", "--tile", "96,48,192", "--smem-a", atom, "--format", "json"]
    code = tiling.main(words)
    verdicts = json.loads(capsys.readouterr().out)["subjects"][0]["verdicts"]
    return code, next(verdict for verdict in verdicts if "swizzle atom" in verdict["claim"])


@pytest.mark.parametrize(
    ("atom", "said"),
    [
        ("Sw<3,3,3> o (8,64):(64,1)", "PROVED"),
        ("(8,8):(1,8)", "PROVED"),
        ("(3,(2,4)):(1,(12,3))", "PROVED"),
        ("(8,8):(9,1)", "UNCHECKED"),  # with holes, into which CuTe may lay the next copy
    ],
)
def test_the_tile_is_one_copy_after_another(atom: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, verdict = judged(capsys, atom)
    assert code == 0 and verdict["status"] == "PROVED"
    assert {e["witness"]: e["status"] for e in verdict["evidence"]} == {"book": "PROVED", "proof": said}


def test_what_does_not_divide_is_refuted_without_the_solver(capsys: pytest.CaptureFixture[str]) -> None:
    code, verdict = judged(capsys, "(8,7):(7,1)")
    assert code == 1 and [e["witness"] for e in verdict["evidence"]] == ["book"]


@pytest.mark.parametrize(
    "whole",
    [
        "((8,12),(64,3)):((64,1536),(1,512))",  # copies along k first
        "((8,12),(64,3)):((64,512),(1,6656))",  # a copy is left out
        "((8,12),(64,3)):((1,512),(8,6144))",  # each copy transposed
    ],
)
def test_a_tile_that_is_made_wrongly_never_stands(
    whole: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each of these has a place for every element, so that enumeration finds nothing wrong."""
    wrong = parse_layout(whole)
    assert len({wrong(i) for i in range(96 * 192)}) == 96 * 192
    monkeypatch.setattr(tiling_smem, "tile_to_shape", lambda atom, extent: wrong)
    code, verdict = judged(capsys, "(8,64):(64,1)")
    assert code == 3 and verdict["contradiction"]
