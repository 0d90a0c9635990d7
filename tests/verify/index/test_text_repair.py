# SPDX-License-Identifier: Apache-2.0
"""A repair is the user's own text with one constant, two terms, one basis or two bases changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from verify.index.command import main

MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
ROW, COL = "lane/4 + 8*(i/2)", "lane%4*2 + i%2"
BASES = "register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]]"
TRITON = f"#ttg.linear<{{{BASES}, warp = [], block = []}}>"


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    """The exit code and what is printed."""
    return main(words), capsys.readouterr().out


@pytest.mark.parametrize(
    ("row", "col", "repair"),
    [
        ("lane/4 + 4*(i/2)", COL, f"one constant: row = {ROW}"),
        ("lane/8 + 8*(i/2)", COL, f"one constant: row = {ROW}"),
        (ROW, "lane%4*2 + i%4", f"one constant: col = {COL}"),
        (COL, ROW, f"m and n exchanged: row = {ROW}; col = {COL}"),
        ("i/4 + 8*(lane/2)", COL, f"two terms exchanged: row = {ROW}"),
        ("int g = lane >> 3; g + 8*(i/2)", COL, "one constant: row = int g = lane >> 2; g + 8*(i/2)"),
        ("lane + 3*i", "7", ""),
    ],
)
def test_a_repair_is_in_the_users_own_words(
    row: str, col: str, repair: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, text = run(capsys, "--ptx", MMA, "--operand", "C", "--lang", "c", "--row", row, "--col", col)
    assert code == 1
    assert (f"repair {repair}" in " ".join(text.split())) == bool(repair)


PRINTED = """- register=1 -> (0, 1)
  register=2 -> (8, 0)
- lane=1 -> (0, 2)
  lane=2 -> (0, 4)
  lane=4 -> (1, 0)
  lane=8 -> (2, 0)
  lane=16 -> (4, 0)
- warp is a size 1 dimension"""


@pytest.mark.parametrize(
    ("text", "old", "new", "repair"),
    [
        (TRITON, "[8, 0]]", "[4, 0]]", "one basis: "),
        (TRITON, "[0, 1], [8, 0]", "[8, 0], [0, 1]", "two bases exchanged: "),
        (TRITON, "[0, 2], [0, 4], [1, 0]", "[1, 0], [0, 4], [0, 2]", "two bases exchanged: "),
        (PRINTED, "lane=8 -> (2, 0)", "lane=8 -> (2, 1)", "one basis: "),
        (TRITON, "[0, 2], [0, 4], [1, 0]", "[0, 4], [1, 0], [0, 2]", ""),
        (TRITON, "[0, 1], [8, 0]", "[0, 1]", ""),
    ],
)
def test_bases_are_repaired_in_the_users_own_spelling(
    text: str, old: str, new: str, repair: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert old in text
    code, printed = run(capsys, "--ptx", MMA, "--operand", "C", "--bases", text.replace(old, new))
    assert code == 1
    plain = " ".join(printed.replace("\\\n", "").split())
    assert (f"repair {repair}bases = {' '.join(text.split())} 128 of 128 agree" in plain) == bool(repair)
    assert ("repair" in plain) == bool(repair)


def test_rows_and_columns_of_all_bases_are_exchanged(capsys: pytest.CaptureFixture[str]) -> None:
    turned = "{register = [[1, 0], [0, 8]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]]}"
    code, text = run(capsys, "--ptx", MMA, "--operand", "C", "--bases", turned)
    assert code == 1
    assert f"repair m and n exchanged: bases = {{{BASES}}} 128 of 128 agree" in " ".join(text.split())


@pytest.mark.parametrize(("row", "col"), [("lane/4 + 4*(i/2)", COL), (ROW, "lane%4*2 + i%4"), (COL, ROW)])
def test_the_repaired_expressions_verify(row: str, col: str, capsys: pytest.CaptureFixture[str]) -> None:
    head = ("--ptx", MMA, "--operand", "C", "--lang", "c", "--format", "json")
    _, out = run(capsys, *head, "--row", row, "--col", col)
    wrong = [
        verdict["counterexample"] for verdict in json.loads(out)["subjects"][0]["verdicts"] if verdict["counterexample"]
    ]
    (text,) = [counterexample["repair"] for counterexample in wrong if counterexample["repair"]]
    pairs = (pair.split(" = ") for pair in text.split(": ", 1)[1].split("   ")[0].split("; "))
    repaired = {"row": row, "col": col, **dict(pairs)}
    assert repaired != {"row": row, "col": col}
    assert run(capsys, *head, "--row", repaired["row"], "--col", repaired["col"])[0] == 0


TABLE = {
    "right": lambda lane, i: (lane % 4 * 2 + i % 2 + 8 * (i // 2), lane // 4),
    "wrong": lambda lane, i: (lane % 4 * 2 + i % 2 + 4 * (i // 2), lane // 4),
}  # of B


@pytest.mark.parametrize(
    ("kind", "c", "shown"),
    [
        ("wrong", ROW, 1),
        ("wrong", "lane + 3*i", 0),  # C has no repair, so the entry isn't verified with that of B
        ("right", "lane/4 + 4*(i/2)", 0),
    ],
)
def test_the_whole_entry_is_verified_again_with_a_repair_of_a_table(
    kind: str, c: str, shown: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [(lane, i, *TABLE[kind](lane, i)) for lane in range(32) for i in range(4)]
    (tmp_path / "b.csv").write_text("lane,i,row,col\n" + "".join("{},{},{},{}\n".format(*row) for row in rows))
    path = tmp_path / "own.toml"
    path.write_text(
        f'["own"]\nptx = "{MMA}"\nB = {{ table = "b.csv" }}\nC = {{ row = "{c}", col = "{COL}", lang = "c" }}\n'
    )
    code, text = run(capsys, str(path))
    repair = "repair the ISA's map is k = lane%4*2 + i%2 + i/2*8; n = lane/4"
    assert code == 1 and " ".join(text.split()).count(repair) == shown, text


def test_two_wrong_operands_are_repaired_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "own.toml"
    path.write_text(
        f'["own"]\nptx = "{MMA}"\n'
        'C = { row = "lane/4 + 4*(i/2)", col = "lane%4*2 + i%2", lang = "c" }\n'
        'B = { row = "lane%4*2 + i%2 + 4*(i/2)", col = "lane/4", lang = "c" }\n',
        encoding="utf-8",
    )
    code, text = run(capsys, str(path))
    assert code == 1 and " ".join(text.split()).count("together with the other repairs") == 2
