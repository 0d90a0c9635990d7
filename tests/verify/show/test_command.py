# SPDX-License-Identifier: Apache-2.0
"""`verify.show` draws every sort of argument; its exit code is that of the check `isa`, and errors are one line."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from verify.atom.command import main as verify_atom
from verify.layout import command as layout
from verify.movement import command as movement
from verify.show import subjects
from verify.show.command import main, parser

ATOM = "SM80_16x8x16_F32F16F16F32_TN"
MUSEUM = str(Path(__file__).parents[2] / "museum" / "wrong.toml")
ROWS = "ldmatrix reads rows of A: sixteen rows, then the same rows eight elements on"
DESCRIPTOR = "wgmma reads B by a descriptor"
INVERSE = "which lane and register has an element, in Python"
DEFECT = "1: SM80_16x8x32_S32S4S4S32_TN"
RELABELLED = """["MINE"]
ptx = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
A   = "((4,8),(2,2,2)):((64,1),(16,8,32))"
B   = "((4,8),(2,2)):((32,1),(8,16))"
C   = "((4,8),(2,2)):((32,1),(16,8))"
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "code", "expected"),
    [
        ([ATOM, "--operand", "C"], 0, "9    T4 V2   T4 V3   T5 V2   T5 V3 "),
        ([MUSEUM, "--only", DEFECT, "--operand", "B"], 1, "▶×T0 V4"),
        (["((4,8),(2,2)):((32,1),(16,8))", "--onto", "16x8"], 0, "9    T4 V2   T4 V3   T5 V2   T5 V3 "),
        (["((4,8),8):((32,1),8)", "--onto", "8x32"], 1, "96 of 256 elements have no owner"),
        ([ATOM, "--table", "--operand", "C", "--rows", "5:6"], 0, "5             1,2  1,3  9,2  9,3\n"),
        (["(4096,512):(1,4096)", "--onto", "4096x512", "--rows", "4094:4095"], 0, "\n4094  T4094 V0    T4094 V1 "),
        (["(2048,512):(0,0)", "--onto", "2048x512"], 1, "×T0-2047 V511\n"),
        (["(2048,513):(0,0)", "--onto", "2048x513"], 1, "too large to draw: 1050624 points in this window, more than"),
        (["(4,2):(1@0,-1@1)", "--onto", "4x2"], 1, "in no cell: T0 V1 at (m=0, n=-1), T1 V1 at (m=1, n=-1), T2 V1 "),
        (["(4,2):(2,1)"], 0, "3           6  7\n"),
        (["(4,2):(2,1)", "--table"], 0, "3             6  7\n"),
        (["(2,2):(1@0,1@1)"], 0, "1             1,0  1,1\n"),
        (["Sw<2,0,2> o (4,4):(4,-1)", "--columns", "0:1"], 0, "\n3           15\n"),
        (["Sw<2,0,2> o (4,4):(4,-1)", "--columns", "0:1", "--table"], 0, "\n3             15\n"),
        (["Sw<2,0,2> o (64,64):(64,-1)", "--columns", "0:32", "--rows", "1:64"], 0, "after"),
        (["Sw<1,0,1> o (2,2):(2,1)"], 0, "1           3  2\n"),
        (["(2,64):(64,1)", "--banks", "16", "--rows", "1:2", "--columns", "62:64"], 0, "126 b31"),
        (["mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "--operand", "D"], 0, "T5 V3"),
        (["examples/movement.toml", "--only", ROWS, "--operand", "before 0"], 0, "4 wavefronts"),
        (["examples/movement.toml", "--only", ROWS, "--operand", "after 3"], 0, "1 wavefront\n"),
        (["examples/movement.toml", "--only", "ldmatrix fills A", "--operand", "to"], 0, "T4 V2   T4 V3 "),
        (["examples/movement.toml", "--only", DESCRIPTOR, "--operand", "descriptor"], 0, "sbo          32-45  64\n"),
        (["examples/tilings.toml", "--only", "two warps that share k and add their sums", "-q"], 0, "VERIFIED (isa)"),
        (["examples/maps.toml", "--only", INVERSE], 0, "9    T4 V2   T4 V3   T5 V2   T5 V3 "),
        (["SM80_16x8x16_F32F16*", "-q"], 0, f"{ATOM}: VERIFIED (isa)\n"),
    ],
)  # fmt: skip
def test_a_subject_is_drawn_with_the_expected_cells_and_exit_code(
    words: list[str], code: int, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == code
    assert expected in capsys.readouterr().out.replace("  \n", "\n")


def test_a_descriptor_of_columns_has_eight_rows_in_a_cell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """MN-major: element (mn, k) lies at byte 128 k + 2 mn, of which bits 4-6 are exchanged by bits 7-9."""
    file = tmp_path / "columns.toml"
    file.write_text('["columns"]\ndescriptor = "Sw<3,3,3> o (64,64):(1,64)"\nelement = 16\nmajor = "MN"\n')
    assert main([str(file), "--operand", "bytes", "--columns", "0:4"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    cells = {line[0]: line[1:] for line in lines if line and line[0].isdecimal()}
    expected = {mn: [128 * k + (2 * mn ^ 16 * (k % 8)) for k in range(4)] for mn in range(0, 64, 8)}
    assert cells == {str(mn): [*map(str, row)] for mn, row in expected.items()}


@pytest.mark.long
@pytest.mark.parametrize(
    ("file", "wrong"),
    [("my_atoms.toml", "A"), ("tilings.toml", "atom"), ("movement.toml", "access"), ("maps.toml", "row")],
)
def test_an_entry_that_cannot_be_read_is_exit_2(
    file: str, wrong: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others are drawn all the same."""
    monkeypatch.delenv("CI", raising=False)
    examples = Path(__file__).parents[3] / "examples"
    path = tmp_path / file
    text = (examples / file).read_text(encoding="utf-8")
    path.write_text(text + f'\n["broken"]\n{wrong} = 3\n', encoding="utf-8")
    assert main([str(path), "--no-unicode"]) == 2
    captured = capsys.readouterr()
    assert "broken" in captured.err and captured.out.count("\n") > 20


def test_an_access_that_is_not_aligned_has_no_banks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "movement.toml"
    path.write_text("""["odd"]
shared  = "(64,64):(68,1)"
access  = "((16,2),8):((1,512),64)"
element = 16
how     = "ldmatrix"
""")
    assert main([str(path)]) == 1
    assert "the banks are not drawn: lane 1 accesses byte 136" in capsys.readouterr().out


def test_a_wrong_map_is_outlined_and_marked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "maps.toml"
    text = Path("examples/maps.toml").read_text().partition('["A of the same')[0].replace("8*(i/2)", "8*(i%2)")
    path.write_text(text)
    assert main([str(path), "--no-unicode"]) == 1
    out = capsys.readouterr().out
    assert ">!T0 V0" in out and "#T0 V1" in out and "64 of 128 points disagree" in out


def test_a_relabelling_is_drawn_as_the_permutation_that_it_is(tmp_path: Path) -> None:
    path = tmp_path / "atoms.toml"
    path.write_text(RELABELLED)
    (picture,) = subjects.draw_arguments(parser().parse_args([str(path)])).pictures
    (panel,) = [panel for panel in picture.panels if panel.name == "k'"]
    numbers = [int(cell.text) for cell in panel.every()]
    assert picture.status == "RELABELLED (isa)" and sorted(numbers) == list(range(16)) and numbers != sorted(numbers)


def test_a_function_is_drawn_in_ci_only_where_that_is_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    words = ["examples/guest/layouts/index.toml", "--only", "C, as it is computed"]
    assert main(words) == 2
    assert "--allow-exec" in capsys.readouterr().err
    assert main([*words, "--allow-exec"]) == 0
    assert "9    T4 V2   T4 V3   T5 V2   T5 V3 " in capsys.readouterr().out


@pytest.mark.long
def test_an_operand_in_memory_is_drawn_with_the_places_of_its_elements(tmp_path: Path) -> None:
    path = tmp_path / "maps.toml"
    path.write_text("""["d"]
ptx = "tcgen05.mma.cta_group::1.kind::f16"
operand = "D"
select = { N = 16 }
lane = "m ^ 1"
column = "n"
lang = "c"

["a"]
ptx = "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16"
operand = "A"
memory = { swizzle = "128B", major = "K", sbo = 1024 }
row = "byte/1024*8 + byte%1024/128"
col = "(byte ^ (byte/128%8 << 4))%128/2"
lang = "c"

["scales"]
ptx = "tcgen05.mma.cta_group::1.kind::mxf4.block_scale"
operand = "SFA"
lane = "row%32"
column = "row%128/32"
byte = "col"
lang = "c"
""")
    d, a, scales = (picture.panels[0] for picture in subjects.draw_arguments(parser().parse_args([str(path)])).pictures)
    assert (d.cells[5][3].lines, d.cells[5][3].expected, d.cells[5][3].shade) == (("L4", "c3"), "L5 c3", 4)
    assert a.cells[3][8].lines == ("b416",) and not any(cell.fault or cell.expected for cell in a.every())
    assert a.cells[3][8].shade == 416 // 16 % 8
    assert scales.cells[40][1].fault == "missing" and scales.cells[40][1].expected.count("c1 b1") == 4


def test_every_word_of_a_conflict_is_marked_and_none_after_the_swizzle() -> None:
    (picture,) = subjects.draw_arguments(parser().parse_args(["examples/movement.toml", "--only", ROWS])).pictures
    faults = {panel.name: sum(bool(cell.fault) for cell in panel.every()) for panel in picture.panels}
    assert faults == {**{f"before {i}": 32 for i in range(4)}, **{f"after {i}": 0 for i in range(4)}}
    for panel in picture.panels:  # each lane's 16 bytes are four words
        assert sorted(cell.text for cell in panel.every() if cell.lines) == sorted(
            f"T{lane}" for lane in range(8 * int(panel.name[-1]), 8 * int(panel.name[-1]) + 8) for _ in range(4)
        )


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["nonsense"], "no atom is named 'nonsense'"),
        (["docs"], "docs is a folder: name a FILE in it"),
        (["(4,2):(2,1)", "--operand", "A"], "--operand: (4,2):(2,1) has no panels with names: leave the option out"),
        ([ATOM, "--operand", ""], f"--operand: {ATOM} has A, B, C, not ''"),
        (["(2,2:1"], "cannot read '(2,2:1': expected ',' or ')', found ':' at column 5"),
        ([ATOM, "--operand", "D"], f"--operand: {ATOM} has A, B, C, not D"),
        ([ATOM, "--rows", "16:18"], "--rows: A 16x16 (m,k) has 16 rows and 16 columns"),
        (["none.json"], "cannot read none.json: No such file or directory"),
        (["mma.sync.nothing"], "mma.sync.nothing"),
        (["(4,2):(2,1)", "--onto", "0x2"], "it should be two positive extents"),
        (["none.toml"], "none.toml"),
        (["(4,4):(4,1)", "--rows", "6:8", "--columns", "0:9"], "--rows: (4,4):(4,1) has 4 rows and 4 columns"),
        (["Sw<2,0,2> o (4,4):(4,-1)"], "is not drawn: Sw<2,0,2> needs natural numbers, got -1"),
        (["Sw<2,0,2> o (4,4):(4,-1)", "--columns", "2:3"], "is not drawn: Sw<2,0,2> needs natural numbers, got -2"),
        (["Sw<2,0,2> o (4,4):(4,-1)", "--table"], "is not drawn: Sw<2,0,2> needs natural numbers, got -1"),
        (
            ["Sw<2,0,2> o (4,4):(4,-1)", "--onto", "4x4"],
            "Sw<2,0,2> o (4,4):(4,-1) is not drawn: Sw<2,0,2> needs natural numbers, got -3",
        ),
        (["(2,2):(1@0,1@2)", "--onto", "2x2"], "(2,2):(1@0,1@2) is not drawn: 2:1@2: the coordinate 1@2 is beyond"),
        (
            ["(5000,5000):(1@0,1@1)", "--onto", "4x4"],
            "'(5000,5000):(1@0,1@1)': more than 2^24 points or values, too many",
        ),
        (["(4,(4,4)):(4,-1)"], "(4,(4,4)):(4,-1) isn't a layout: shape (4,(4,4)) and stride (4,-1) differ in profile"),
    ],
)
def test_errors_are_one_line(words: list[str], problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == "" and problem in err and len(err.splitlines()) == 1


def test_a_report_is_drawn_with_its_verdicts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = tmp_path / "report.json"
    arguments = ["--atoms", MUSEUM, DEFECT, "--checks", "isa", "--format", "json", "-o", str(report)]
    assert verify_atom(arguments) == 1
    assert main([str(report), "--atoms", MUSEUM, "--operand", "B"]) == 1
    with_entry = capsys.readouterr().out
    assert "▶×T0 V4" in with_entry and "≠T1 V0" in with_entry
    assert main([str(report), "--operand", "B"]) == 1  # without the entry: its layouts alone
    alone = capsys.readouterr().out
    assert "▶×T0 V4" in alone and "≠T1 V0" not in alone


def test_a_report_on_tilings_is_drawn_with_as_many_owners_as_it_claims(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    claims = ["gives each element of 2x1 (m,n) 2 owners", "gives each element of 2x1 (m,n) one owner"]
    for claim, marked in zip(claims, (False, True), strict=True):
        verdict = {"part": "C", "property": "ownership", "claim": claim, "status": "PROVED", "counterexample": None}
        subject = {"name": "x", "status": "", "verdicts": [verdict]}
        subject["layouts"] = {"C": "((2,2),1):((1,0),0)", "smem A": "swizzled"}
        path = tmp_path / "report.json"
        path.write_text(json.dumps({"schema": 2, "exit": 0, "subjects": [subject]}))
        assert main([str(path)]) == 0
        out = capsys.readouterr().out
        assert ("several owners" in out) == marked and "T2 V0" in out and "smem A = swizzled is not drawn" in out


def test_a_report_on_a_layout_is_drawn_and_of_a_movement_it_names_what_draws_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "report.json")
    write = ["--format", "json", "-q", "-o", path]
    assert layout.main(["((4,8),8):((32,1),8)", "--onto", "8x32", *write]) == main([path]) == 1
    assert "▶×T0 V4" in capsys.readouterr().out
    assert layout.main(["(4,2):(2,1)", "--equals", "(4,2):(1,4)", *write]) == main([path]) == 1
    assert "≠4" in capsys.readouterr().out
    assert movement.main(["examples/movement.toml", "--only", DESCRIPTOR, *write]) == main([path]) == 0
    command = f"`lanecheck show examples/movement.toml '--only={DESCRIPTOR}'` draws it"
    assert command in " ".join(capsys.readouterr().out.replace("--\n    ", "--").split())


@pytest.mark.parametrize("options", [[], ["--atoms"]], ids=["alone", "with its entry"])
def test_a_report_on_a_relabelled_atom_has_the_permutation(
    options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    atoms, report = tmp_path / "atoms.toml", tmp_path / "report.json"
    atoms.write_text(RELABELLED)
    words = ["--atoms", str(atoms), "--checks", "isa", "-q"]
    assert verify_atom([*words, "--format", "json", "-o", str(report)]) == 1
    assert main([str(report), *(word for option in options for word in (option, str(atoms)))]) == 1
    assert "k' = (2,4,2):(1,4,2) of k\n" in capsys.readouterr().out


@pytest.mark.parametrize("change", ["schema", "verdicts", "counterexample", "exit"])
def test_a_changed_report_is_an_error(change: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    verdict = {"part": "A", "property": "size", "claim": "", "status": "PROVED", "counterexample": None}
    subject = {"name": "x", "layouts": {"A": "4:1"}, "status": "VERIFIED", "verdicts": [verdict]}
    document = {"schema": 2, "exit": 0, "subjects": [subject]}
    if change in ("schema", "exit"):
        document[change] = 77
    elif change == "verdicts":
        subject["verdicts"] = [1]
    else:
        verdict["counterexample"] = {"inputs": {"thread": "x"}}
    path = tmp_path / "report.json"
    path.write_text(json.dumps(document))
    assert main([str(path)]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("3:1", "'3:1' chooses none: A:B is A to B-1, so B should be larger than A"),
        ("3:3", "'3:3' chooses none"),
        ("0:9999999999", "expected two numbers of at most nine digits, such as 0:64, found '0:9999999999'"),
        ("\u0663:\u0665", "expected two numbers"),
        ("", "expected two numbers of at most nine digits, such as 0:64, found ''"),
    ],
)
def test_what_is_no_window(text: str, problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["(8,8):(8,1)", "--rows", text])
    assert end.value.code == 2 and f"error: argument --rows: {problem}" in capsys.readouterr().err


HUGE = 10**20


@pytest.mark.parametrize("options", [[], ["--table"], ["--svg"], ["--html"], ["--latex"]], ids=" ".join)
@pytest.mark.parametrize("text", [f"({HUGE},9):(1,{HUGE})", f"(9,{HUGE}):(1,{HUGE})", f"(9,{HUGE}):(1@0,1@1)"])
def test_a_layout_of_any_size_is_drawn_in_a_window(
    text: str, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([text, *options, "--rows", "7:9", "--columns", "4:6"]) == 0
    assert ("8,5" if "@" in text else str(8 + 5 * HUGE)) in capsys.readouterr().out


def test_of_a_huge_layout_the_first_cells_are_drawn() -> None:
    (picture,) = subjects.draw_arguments(parser().parse_args([f"(9,{HUGE}):(1,9)"])).pictures
    assert picture.panels[0].window == f"shown: row 0..0 of 0..8, column 0..65535 of 0..{HUGE - 1}"
    assert picture.panels[0].cells[0][-1].text == str(65535 * 9)


FORMATS = [(["--svg"], "<svg"), (["--html"], "<!DOCTYPE html>"), (["--latex"], r"\documentclass")]


@pytest.mark.long
@pytest.mark.parametrize(("words", "begins"), [*FORMATS, (["--format", "svg"], "<svg")])
def test_formats_are_written_to_stdout_or_a_file(
    words: list[str], begins: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([ATOM, *words]) == 0
    text = capsys.readouterr().out
    assert text.startswith(begins)
    assert main([ATOM, *words, "-o", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out").read_text(encoding="utf-8") == text
    if begins == "<svg":
        ElementTree.fromstring(text)
