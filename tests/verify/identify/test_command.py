# SPDX-License-Identifier: Apache-2.0
"""`verify.identify`: maps in every form are found, a changed one is not, and other forms of a map are the same map."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from verify import verify_identify
from verify.core.errors import UsageError
from verify.identify.catalogue import read_catalogue
from verify.identify.command import main
from verify.identify.matches import Relation, matches
from verify.identify.query import of_text

C = "((4,8),(2,2)):((32,1),(16,8))"  # of m16n8k16
B = "((4,8),(2,2)):((16,1),(8,64))"
MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
ROW, COL = "lane/4 + 8*(i/2)", "lane%4*2 + i%2"
BASES = "{register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []}"


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    """The exit code and what is printed, on stdout and stderr."""
    try:
        code = main(words)
    except SystemExit as end:
        code = int(end.code or 0)
    captured = capsys.readouterr()
    return code, captured.out + captured.err


def document(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    _, text = run(capsys, *words, "--format", "json")
    parsed = json.loads(text)
    assert isinstance(parsed, dict)
    return parsed


def list_related(answer: dict[str, Any], relation: str, operand: str, mnemonic: str = MMA) -> list[dict[str, Any]]:
    """The matches with an operand of an instruction."""
    return [
        match
        for match in answer["matches"]
        if match["relation"] == relation
        and any(row["operand"] == operand and mnemonic in row["mnemonics"] for row in match["operands"])
    ]


INVERSE = ["--lang", "c", "--lane", "row%8*4 + col/2", "--value", "row/8*2 + col%2"]


def test_an_inverse_map_is_its_operand(capsys: pytest.CaptureFixture[str]) -> None:
    answer = document(capsys, *INVERSE, "--tile", "16x8")
    assert list_related(answer, "equals", "C")
    assert (answer["lanes"], answer["values"]) == (32, 4)
    for words, problem in (
        (INVERSE, "--tile: missing: which rows and columns has the inverse map? Give --tile 16x8"),
        ([*INVERSE, "--tile", "16x4"], "the map has not one element for each of 30 lanes and 4 values: lane 2, value"),
        ([*INVERSE[:4], "--tile", "16x8"], "--value: missing: lane is given"),
        ([*INVERSE[:4], "--value", "-row", "--type", "int", "--tile", "16x8"], "has not one element"),
        ([*INVERSE, "--tile", "1000x1000"], "--tile: more than 131072 elements"),
        ([*INVERSE[:4], "--value", "row << 20", "--tile", "16x8"], "more than 131072 points"),
    ):
        code, text = run(capsys, *words)
        assert code == 2, words
        assert problem in text
        assert text.count("\n") == 1


def test_a_map_of_tensor_memory_is_its_operands(capsys: pytest.CaptureFixture[str]) -> None:
    mma = "tcgen05.mma.cta_group::1.kind::f16"
    words = ["--lang", "c", "--lane", "row", "--column", "col", "--tile", "128x64"]
    answer = document(capsys, *words)
    assert list_related(answer, "equals", "D", mma)
    assert (answer["lanes"], answer["values"]) == (128, 64)
    code, text = run(capsys, *words[:5], "(col + 1)%64", *words[6:])
    assert code == 0
    assert "relabels n of, by n' = " in text
    code, text = run(capsys, *words[:3], "row ^ (col == 5)", *words[4:])
    assert code == 1
    assert "8064 of 8192 points agree; TMEM lane 0, TMEM column 5: map (m=1, n=5), ISA (m=0, n=5)" in text
    assert run(capsys, *words[:7], "9x64")[0] == 1
    assert "--as: a map of tensor memory has no other form" in run(capsys, *words, "--as", "c")[1]


def test_a_table_that_is_none_is_one_line_with_its_name_once(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    table = tmp_path / "c.csv"
    points = [f"{lane},{i},{lane // 4 + i // 2 * 8},{lane % 4 * 2 + i % 2}" for lane in range(32) for i in range(4)]
    for text, problem in (
        ("", "a line of names (lane, value, row, col) and at least one of numbers are expected"),
        (
            "\n".join(["lane,i,row,col", *points[:18], *points[19:]]),
            "the map has not one element for each of 32 lanes and 4 values: lane 4, value 2 has no image",
        ),
    ):
        table.write_text(text, encoding="utf-8")
        assert run(capsys, str(table)) == (2, f"lanecheck: {table}: {problem}\n")


def test_every_form_of_a_map_is_the_same_operand(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    table = tmp_path / "c.csv"
    points = [f"{lane},{i},{lane // 4 + i // 2 * 8},{lane % 4 * 2 + i % 2}" for lane in range(32) for i in range(4)]
    table.write_text("\n".join(["lane,i,row,col", *points]), encoding="utf-8")
    for words in (
        [C],
        ["Layout<Shape<Shape<_4,_8>,Shape<_2,_2>>,Stride<Stride<_32,_1>,Stride<_16,_8>>>"],
        ["((4,8),(2,2)):((2@1,1@0),(1@1,8@0))"],
        [BASES],
        [str(table)],
        ["SM80_16x8x16_F32F16F16F32_TN:C"],
        ["--lang", "c", "--row", ROW, "--col", COL, "--values", "4"],
        ["--lang", "c", "--row", "lane/4 + 8*i", "--col", "lane%4*2 + j", "--values", "i=2, j=2"],
    ):
        answer = document(capsys, *words)
        assert answer["exit"] == 0, words
        (match,) = list_related(answer, "equals", "C")
        assert match["agree"] == match["points"] == 128
        assert list_related(answer, "equals", "D")


def test_b_is_counted_from_n_by_layouts_and_from_k_by_expressions(capsys: pytest.CaptureFixture[str]) -> None:
    assert list_related(document(capsys, B), "equals", "B")
    words = ["--lang", "c", "--row", "lane%4*2 + i%2 + 8*(i/2)", "--col", "lane/4", "--values", "4"]
    assert list_related(document(capsys, *words), "equals", "B")
    exchanged = ["--lang", "c", "--col", words[3], "--row", words[5], "--values", "4"]
    answer = document(capsys, *exchanged)
    assert not list_related(answer, "equals", "B")
    assert list_related(answer, "transpose", "B")


def test_a_row_major_layout_is_the_transpose(capsys: pytest.CaptureFixture[str]) -> None:
    answer = document(capsys, "((4,8),(2,2)):((2,8),(1,64))")  # 8*row + col
    assert answer["exit"] == 0
    assert list_related(answer, "transpose", "C")
    assert not list_related(answer, "equals", "C")


def test_one_permutation_of_an_axis_is_a_relabelling(capsys: pytest.CaptureFixture[str]) -> None:
    rows = ["--lang", "c", "--row", "(lane/4*2)%8 + lane/16 + 8*(i/2)", "--col", COL, "--values", "4"]
    (match,) = list_related(document(capsys, *rows), "relabels", "C")
    assert match["axis"] == 0
    assert (match["agree"], match["points"]) == (32, 128)  # rows 0, 7, 8 and 15
    assert match["layout"] == "(4,2,2):(2,1,8)"
    assert match["permutation"] == [0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15]
    code, text = run(capsys, *rows)
    assert code == 0
    assert "relabels m of, by m' = (4,2,2):(2,1,8)" in text
    by_lane = ["--lang", "c", "--row", "lane/4 + 8*(i/2)", "--col", "(lane%4*2 + i%2 + lane/4)%8", "--values", "4"]
    assert list_related(document(capsys, *by_lane), "relabels", "C") == []  # no one permutation for all rows


def test_what_equals_nothing_is_nearest_to_something(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--lang", "c", "--row", f"{ROW} + 128*(lane == 5)*(i == 3)", "--col", COL, "--values", "4"]
    code, text = run(capsys, *words)
    assert code == 1
    assert "127 of 128 points agree; lane 5, value 3: map (m=137, n=3), ISA (m=9, n=3)" in " ".join(text.split())
    assert document(capsys, *words)["exit"] == 1
    code, text = run(capsys, "(32,5):(1,32)")
    assert code == 1
    assert "no operand in registers of 32 lanes has 5 values: there are 1, 2, 4," in text
    assert run(capsys, "(3,4):(1,3)", "-q")[0] == 1


def test_lists_are_groups_and_verbose_has_all(capsys: pytest.CaptureFixture[str]) -> None:
    code, text = run(capsys, C)
    assert code == 0
    assert "C, D (m,n) 16x8" in text
    assert text.count("\n") < 60
    assert MMA not in text
    assert MMA in run(capsys, C, "-v")[1]


def test_lanes_that_do_not_contribute_are_not_compared(capsys: pytest.CaptureFixture[str]) -> None:
    """Scales of B: of the four lanes with one column, the one that is chosen contributes."""

    def chosen(col: str) -> list[int]:
        answer = document(capsys, "--lang", "c", "--row", "0", "--col", col, "--values", "1")
        equal = [match for match in answer["matches"] if match["relation"] == "equals" and match["points"] == 8]
        assert all(match["agree"] == 8 for match in equal)
        named = [row for match in equal for row in match["operands"] if row["operand"] == "SFB"]
        return sorted({member["select"]["thread_id_b"] for member in named})

    assert chosen("lane/4") == [0, 1, 2, 3]
    assert chosen("lane%4 == 1 ? lane/4 : 7") == [1]
    assert chosen("lane/4 + (lane == 5)") == [0, 2, 3]
    query = of_text("((4,8),1):((8,1),0)")
    (scales,) = [group for group in read_catalogue().of_size(32, 1) if ("thread_id_b", 1) in group.members[0].select]
    (match,) = matches(query, [scales])
    assert (match.relation, match.agree, match.points) == (Relation.NEAREST, 0, 8)
    assert match.first == (1, 0, 0, 1, 0, 0)  # lane 1, value 0 has (0, 1), the ISA (0, 0)


def test_the_nearer_orientation_of_a_map_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    col = f"{ROW} + 128*(lane == 5)*(i == 3)"
    code, text = run(capsys, "--lang", "c", "--row", COL, "--col", col, "--values", "4")
    assert code == 1
    line = "127 of 128 points agree read as its transpose; lane 5, value 3: map (m=137, n=3), ISA (m=9, n=3)"
    assert line in " ".join(text.split())


def test_replicas_of_a_quad_pair_are_one_warp(capsys: pytest.CaptureFixture[str]) -> None:
    volta = "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32"
    assert list_related(document(capsys, "SM70_8x8x4_F32F16F16F32_TN:A"), "equals", "A", volta)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ([], "which map? Give MAP, or --row, --col and --values"),
        ([C, "--row", "i"], "--row: ((4,8),(2,2)):((32,1),(16,8)) is a map already; give one or the other"),
        (["(4,8"], "expected a layout, F2 bases, a .csv or .json table, or an operand of an atom"),
        (["(4,8,2):(1,4,32)"], "has rank 3, a (thread, value) layout has 2"),
        (["(1024,1024):(1,1024)"], "more than 131072 points"),
        (["NOBODY:A"], "no atom is named 'NOBODY'"),
        (["SM80_16x8x16_F32F16F16F32_TN:E"], "has no matrix E: it has A, B, C"),
        (["absent.csv"], "lanecheck: cannot be read: No such file or directory: absent.csv"),
        (["--row", "i", "--col", "lane"], "--values: missing"),
        (
            ["--row", "i", "--col", "lane", "--values", "none"],
            "--values: expected a number, or loops such as i=2, j=2, found 'none'",
        ),
        (["--row", "i", "--col", "lane", "--values", "9999999"], "expected 1 to 131072 points"),
        ([C, "--tile", "16"], "it should be two positive extents such as 16x8"),
        (["--row", "i", "--col", "lane", "--values", "4", "--tile", "16x8"], "--tile: is for a layout"),
        (["--row", "lane/4 +", "--col", "lane", "--values", "4"], "--row:"),
        (["--row", "i"], "--col: missing: row is given"),
    ],
)
def test_bad_input_is_one_line(words: list[str], line: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = run(capsys, *words)
    assert code == 2
    assert line in text
    assert text.count("\n") == 1


def test_other_forms_are_written(capsys: pytest.CaptureFixture[str]) -> None:
    code, text = run(capsys, "--lang", "c", "--row", ROW, "--col", COL, "--values", "4", "--as", "all")
    assert code == 0
    assert f"  layout  {C}" in text
    assert "  c       row = lane/4 + i/2*8; col = lane%4*2 + i%2" in text
    assert f"  bases   {BASES}" in text
    code, text = run(capsys, B, "--tile", "8x16", "--as", "c")
    assert "  c       row = lane%4*2 + i%2 + i/2*8; col = lane/4" in text  # row is k, as the ISA counts
    assert f"  layout  {B}" in run(capsys, "--lang", "c", "--row", "lane%4*2 + i%2 + i/2*8", "--col", "lane/4",
                                    "--values", "4", "--as", "layout")[1]  # fmt: skip


def test_the_commands_of_the_page_run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (Path(__file__).parents[3] / "docs" / "identify.md").read_text(encoding="utf-8")
    lines = [line for line in page.splitlines() if line.startswith("lanecheck identify")]
    assert len(lines) == 8
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CI", raising=False)
    (tmp_path / "examples").symlink_to(Path(__file__).parents[3] / "examples")
    Path("c.csv").write_text("lane,i,row,col\n0,0,0,0\n1,0,0,1\n", encoding="utf-8")
    for line in lines:
        words = shlex.split(line, comments=True)[2:]
        assert run(capsys, *words)[0] == int(words == ["c.csv"]), line


def test_the_command_is_a_function() -> None:
    identified = verify_identify(B, tile=(8, 16), forms=["layout"])
    assert identified.exit() == 0
    assert identified.forms[0].text == B
    assert {member.operand for match in identified.matches[:1] for member in match.group.members} == {"B"}
    with pytest.raises(UsageError, match="no atom is named 'NOBODY'"):
        verify_identify("NOBODY:A")
