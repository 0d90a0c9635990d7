# SPDX-License-Identifier: Apache-2.0
"""`python -m verify.layout LAYOUT --onto MxN`."""

import pytest

from verify import layout


@pytest.mark.parametrize(
    ("text", "onto", "code"),
    [
        ("((4,8),(2,2)):((32,1),(16,8))", "16x8", 0),
        ("((4,8),8):((64,1),8)", "8x32", 0),
        ("((4,8),8):((32,1),8)", "8x32", 1),
        ("((4,8),8):((64,1),8)", "8,32", 0),
        ("(3,5):(5,1)", "15", 0),
        ("(3,5):(1,3)", "4x4", 1),
        ("12:1", "12", 0),
        ("(2,3,2):(6,1,3)", "12", 0),
        ("(2,3,2):(6,1,4)", "12", 1),
        ("1:0", "1", 0),
        ("(4,8):((1,2),4)", "32", 1),
    ],
)
def test_verdicts(text: str, onto: str, code: int) -> None:
    assert layout.main([text, "--onto", onto]) == code


def test_the_story_of_a_collision(capsys: pytest.CaptureFixture[str]) -> None:
    layout.main(["((4,8),8):((32,1),8)", "--onto", "8x32"])
    output = capsys.readouterr().out
    assert "T0 V4 and T1 V0 both hold (m=0, n=4)" in output
    assert "0*32 + 0*1 + 4*8 = 32 = 1*32 + 0*1 + 0*8" in output
    assert "96 of 256 elements have no owner: n = 20..31, every m" in output


def test_layouts_are_compared_up_to_the_largest_that_is_enumerated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "LARGEST", 32)
    assert layout.main(["32:1", "--equals", "(32,1):(1,0)"]) == layout.main(["2:31", "--equals", "(2,1):(31,0)"]) == 0
    assert layout.main(["33:1", "--equals", "33:1"]) == layout.main(["2:32", "--equals", "2:32"]) == 2
    assert layout.main(["32:1", "--onto", "32"]) == 0 and layout.main(["33:1", "--onto", "33"]) == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["((4,8),8):((32,1)", "--onto", "8x32"], "column"),
        (["4:1", "--onto", "0x4"], "two positive extents"),
        (["4:1", "--onto", "4by1"], "two positive extents"),
        (["4:1", "--onto", "4x1x1"], "two positive extents"),
        (["4:1", "--onto", "99999x99999"], "too many"),
        (["99999999:1", "--onto", "4"], "too many"),
        ([], "which layout? Give LAYOUT, quoted, with --onto MxN or --equals OTHER"),
        (["(4,8):(8,1)"], "(4,8):(8,1): verify what? Give --onto MxN, the tile, or --equals OTHER, another layout"),
        (["(4,8):(8,1"], "cannot read '(4,8):(8,1'"),
        (["examples/my_atoms.toml"], "this is a file of atoms: python -m verify.atom examples/my_atoms.toml"),
        (["examples/tilings.toml"], "this is a file of tilings: python -m verify.tiling examples/tilings.toml"),
        (["README.md"], "README.md is no layout: "),
        (["4:1", "--onto", "4", "--equals", "4:1"], "--onto and --equals: give one of them"),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert layout.main(arguments) == 2
    output = capsys.readouterr().err
    assert len(output.splitlines()) == 1 and output.startswith("lanecheck: ") and words in output
