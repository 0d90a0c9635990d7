# SPDX-License-Identifier: Apache-2.0
"""`verify.index`: right maps in every form are verified, wrong ones refuted with a repair in the user's words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from layouts import Layout
from tests.messages import TWO_COLONS
from verify import verify_index, verify_map
from verify.core.errors import SpecError, UsageError
from verify.gate import Suite
from verify.index.command import main
from verify.maps.fragment_map import FragmentMap
from verify.maps.map import Axis

MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
VOLTA = "mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16"
WGMMA = "wgmma.mma_async.sync.aligned.m64n24k16.f32.f16.f16"
SPARSE = "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
WMMA = "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32"
ROW, COL = "lane/4 + 8*(i/2)", "lane%4*2 + i%2"
BASES = "register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]]"
TRITON = f"#ttg.linear<{{{BASES}, warp = [], block = []}}>"


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    """The exit code and what is printed, on stdout and stderr."""
    try:
        code = main(words)
    except SystemExit as end:
        code = int(end.code or 0)
    captured = capsys.readouterr()
    return code, captured.out + captured.err


@pytest.mark.parametrize(
    "words",
    [
        ["--lang", "c", "--operand", "C", "--row", ROW, "--col", COL],
        ["--lang", "c", "--operand", "D", "--type", "unsigned", "--row", "threadIdx.x / 4 + 8*(i/2)", "--col", COL],
        ["--lang", "python", "--operand", "C", "--row", "laneid//4 + 8*(i//2)", "--col", "tid%4*2 + i%2"],
        ["--operand", "C", "--row", "(lane >> 2) + 8*(i >> 1)", "--col", "(lane & 3)*2 + (i & 1)"],
        ["--lang", "c", "--operand", "C", "--values", "i=2, j=2", "--row", "lane/4 + 8*i", "--col", "lane%4*2 + j"],
        ["--lang", "c", "--operand", "C", "--let", "g=lane/4", "--row", "g + 8*(i/2)", "--col", COL],
        ["--lang", "c", "--operand", "A", "--row", "lane/4 + 8*(i/2%2)", "--col", "lane%4*2 + i%2 + 8*(i/4)"],
        ["--lang", "c", "--operand", "B", "--row", "lane%4*2 + i%2 + 8*(i/2)", "--col", "lane/4"],
        ["--lang", "c", "--operand", "C", "--lane", "row%8*4 + col/2", "--value", "row/8*2 + n%2"],
        ["--operand", "C", "--bases", TRITON],
    ],
)
def test_a_right_map_is_verified(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code, text = run(capsys, "--ptx", MMA, *words)
    assert code == 0, text
    assert "1 verified; claims: 4 proved" in text


@pytest.mark.parametrize(
    ("row", "type_", "code"),
    [
        ("abs(threadIdx.x/4 - 8) + 8 + 8*(i/2)", "int", 1),  # abs of an unsigned value is that of an int
        ("abs(-(lane/4)) + 8*(i/2)", "unsigned", 0),
        ("abs(-(lane/4)) + 8*(i/2)", "int", 0),
    ],
)
def test_abs_takes_an_int_as_in_c_and_warns_of_cuda(
    row: str, type_: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--ptx", MMA, "--lang", "c", "--operand", "C", "--type", type_, "--row", row, "--col", COL)
    ended, text = run(capsys, *words)
    assert ended == code, text
    warned = "warning: C: abs(" in text and "the argument is unsigned; C's abs converts it to int, CUDA C++" in text
    assert warned == ("threadIdx" in row or type_ == "unsigned")


def test_enumeration_is_the_proof_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    code, text = run(capsys, "--ptx", MMA, "--operand", "C", "--lang", "c", "--row", ROW, "--col", COL, "-v")
    assert code == 0
    assert text.count("isa      PROVED    by enumeration, 128 points, plain integers") == 4


@pytest.mark.long
def test_a_warpgroup_has_threads_and_warps(capsys: pytest.CaptureFixture[str]) -> None:
    row, col = "warp*16 + lane/4 + 8*(i/2%2)", "lane%4*2 + i%2 + 8*(i/4)"
    words = ["--lang", "c", "--ptx", WGMMA, "--operand", "D"]
    assert run(capsys, *words, "--row", row, "--col", col)[0] == 0
    row = "threadIdx.x/32*16 + threadIdx.x%32/4 + 8*(i/2%2)"
    assert run(capsys, *words, "--row", row, "--col", col)[0] == 0
    code, text = run(capsys, *words, "--row", row.replace("%32/4", "/4%4"), "--col", col, "-v")
    assert code == 1
    assert "gives every thread and value one element" in text
    assert "thread 16, value 0: map (m=0, n=0), ISA (m=4, n=0); (m=0, n=0) belongs to thread 0, value 0" in text
    code, text = run(capsys, *words, "--row", "1/(threadIdx.x - 40)", "--col", col)
    assert (code, text) == (2, "lanecheck: --row: thread 40, value 0: division by zero in 1/(threadIdx.x - 40)\n")
    code, text = run(capsys, "--lang", "c", "--ptx", MMA, "--operand", "C", "--row", "warp", "--col", "0")
    assert code == 2
    assert "unknown name 'warp': only a warpgroup has several warps at column 1" in text


def test_a_text_may_begin_with_a_minus(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--ptx", MMA, "--operand", "C", "--lang", "c", "--col", COL]
    assert run(capsys, *words, "--row", "-1+1+lane/4+8*(i/2)")[0] == 0
    assert run(capsys, *words, "--type", "int", "--row", "-lane")[0] == 1
    code, text = run(capsys, *words, "--row", "--lane", "5")
    assert code == 2
    assert "argument --row: expected one argument" in text


def test_lanes_that_do_not_contribute_are_not_compared(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--ptx", SPARSE, "--operand", "E", "--select", "F=2", "--lang", "c", "--row", "lane/4 + 8*(i/16)"]
    assert run(capsys, *words, "--col", "lane%4 == 2 ? i%16 : 99")[0] == 0
    assert run(capsys, *words, "--col", "lane%4 == 2 ? i%16 : 0")[0] == 0
    code, text = run(capsys, *words, "--col", "lane%4 == 1 ? i%16 : 0")
    assert code == 1
    assert "lane 2, value 1: map (m=0, bit=0), ISA (m=0, bit=1)" in text


def test_replicated_maps_are_compared_in_both_directions() -> None:
    wanted = FragmentMap.from_operand(__import__("isa_tables").instruction(VOLTA).operands["A"])
    assert verify_map(wanted, VOLTA, "A").exit().name == "OK"
    assert verify_map(wanted.inverse(), VOLTA, "A").exit().name == "OK"
    first = FragmentMap.from_pairs(
        wanted.outputs, wanted.inputs, [(element, wanted.owners(element)[0]) for element in wanted.inverse().domain]
    )
    assert verify_map(first, VOLTA, "A").exit().name == "REFUTED"


def test_a_refutation_has_the_point_the_owner_and_a_repair(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--ptx", MMA, "--operand", "C", "--lang", "c", "--row", "lane/4 + 8*(i%2)", "--col", "lane%4*2 + i/2"]
    code, text = run(capsys, *words)
    plain = " ".join(text.split())
    assert code == 1
    assert "lane 0, value 1: map (m=8, n=0), ISA (m=0, n=1); (m=8, n=0) belongs to lane 0, value 2" in plain
    assert "m: 0/4 + 8*(1%2) = 8, n: 0%4*2 + 1/2 = 0" in plain
    assert "64 of 128 points disagree" in plain
    assert f"repair two terms exchanged: row = {ROW}; col = {COL} 128 of 128 agree (now 64)" in plain
    assert "replay lanecheck index --ptx" in plain


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ([], "which map? Give --ptx, --operand, --row and --col, or a FILE"),
        (["--ptx", MMA], "--operand: missing"),
        (["--ptx", MMA, "--operand", "C"], "--row: missing: give row and col, or lane and value, or table, bases"),
        (["--ptx", MMA, "--operand", "C", "--row", "0"], "--col: missing: row is given"),
        (["--ptx", MMA, "--operand", "C", "--row", "0", "--col", "0", "--bases", "x"], "--bases: row and col give"),
        (["--ptx", MMA, "--operand", "C", "--bases", "x", "--lang", "c"], "--lang: is for expressions; bases has none"),
        (["--ptx", MMA, "--operand", "c", "--bases", "x"], "--operand: expected an operand such as A, B, C"),
        (["--ptx", MMA, "--operand", "E", "--bases", "x"], f"--operand: {MMA} has no operand E: it has D, A, B, C"),
        (["--ptx", "mma", "--operand", "C", "--bases", "x"], "--ptx: "),
        (
            ["--ptx", WGMMA, "--operand", "B", "--row", "0", "--col", "0"],
            "--memory: missing swizzle: B is in shared memory",
        ),
        (["--ptx", MMA, "--operand", "C", "--row", "lane//4", "--col", "0"], "C gives 1, Python 0: state the language"),
        (
            ["--ptx", MMA, "--operand", "C", "--lang", "c", "--row", "4/lane", "--col", "0"],
            "--row: lane 0, value 0: div",
        ),
        (
            ["--ptx", MMA, "--operand", "C", "--lang", "java", "--row", "0", "--col", "0"],
            "--lang: expected one of c, py",
        ),
        (["--ptx", MMA, "--operand", "C", "--lang", "c", "--row", "0", "--col", "(("], "--col: expected a name"),
        (["--ptx", MMA, "--operand", "C", "--lang", "c", "--let", "g=lane/", "--row", "g", "--col", "0"], "--let: exp"),
        (["--ptx", MMA, "--operand", "C", "--let", "g", "--row", "g", "--col", "0"], "--let: expected NAME=EXPRESSION"),
        (["--ptx", MMA, "--operand", "C", "--lang", "c", "--row", "j", "--col", "0"], 'values = "i=2, j=2"'),
        (["--ptx", MMA, "--operand", "C", "--values", "i=2,j=3", "--row", "j", "--col", "0"], "i=2,j=3 are 6 values"),
        (["--ptx", MMA, "--operand", "C", "--values", "i=2,j", "--row", "j", "--col", "0"], "expected loops such as"),
        (
            ["--ptx", MMA, "--operand", "C", "--table", "nowhere.csv"],
            "--table: cannot be read: No such file",
        ),
        (["--ptx", MMA, "--operand", "C", "--bases", "{lane = []}"], "--bases: no bases: expected register and lane"),
        (
            ["--ptx", MMA, "--operand", "C", "--function", "mine.py:c"],
            f"--function: mine.py:c: {TWO_COLONS} mine.py::c",
        ),
        (["--ptx", MMA, "--operand", "C", "--inverse", "mine.py::c()"], "--inverse: expected FILE.py::function"),
        (["nowhere.toml"], "nowhere.toml: cannot be read"),
        (["--only", "x", "--ptx", MMA], "--only chooses among the maps of a FILE"),
        (["x.toml", "--ptx", MMA], "--ptx: a FILE has whole entries"),
    ],
)
def test_what_is_wrong_is_one_line(words: list[str], problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = run(capsys, *words)
    assert code == 2
    assert problem in text
    assert text.startswith("lanecheck: ")
    assert text.count("\n") == 1


def test_what_the_isa_leaves_open_is_unchecked(capsys: pytest.CaptureFixture[str]) -> None:
    code, text = run(capsys, "--ptx", WMMA, "--operand", "D", "--lang", "c", "--row", "lane/2", "--col", "lane%2*8 + i")
    assert code == 4
    assert "leaves D unspecified" in " ".join(text.split())


FILE = f"""
["accumulators"]
ptx     = "{MMA}"
lang    = "c"
operand = "C"
row     = "{ROW}"
col     = "{COL}"

["all of them"]
ptx  = "{MMA}"
lang = "python"
let  = {{ g = "lane >> 2", t = "lane & 3" }}
A = {{ row = "g + 8*(i >> 1 & 1)", col = "t*2 + (i & 1) + 8*(i >> 2)" }}
B = {{ table = "b.csv" }}
C = {{ bases = "{{register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]]}}" }}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of two entries, and the table that it names."""
    rows = [f"{lane},{i},{lane % 4 * 2 + i % 2 + i // 2 * 8},{lane // 4}" for lane in range(32) for i in range(4)]
    (tmp_path / "b.csv").write_text("lane,i,k,n\n" + "\n".join(rows) + "\n", encoding="utf-8")
    path = tmp_path / "maps.toml"
    path.write_text(FILE, encoding="utf-8")
    return path


def test_a_file_of_several_maps_is_listed_verified_and_selected_by_name(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, str(file), "--list") == (0, "accumulators\nall of them\n")
    code, text = run(capsys, str(file), "--format", "json")
    report = json.loads(text)
    assert code == 0
    assert [subject["name"] for subject in report["subjects"]] == ["accumulators", "all of them"]
    assert {subject["status"] for subject in report["subjects"]} == {"VERIFIED"}
    code, text = run(capsys, str(file), "--only", "accumulators", "--format", "junit")
    assert code == 0
    assert 'name="accumulators' in text or "accumulators" in text
    claims = [verdict["property"] for verdict in report["subjects"][1]["verdicts"] if not verdict["part"]]
    assert claims == ["product", "relation", "equals_absolute"]
    assert verify_index(file).exit().name == "OK"
    assert [case.name for case in verify_index("all of them", file).cases] == ["all of them"]


@pytest.mark.long
def test_a_relabelled_product_agrees_with_the_recording(file: Path) -> None:
    """One permutation of k in A and B: every product is right, the absolute coordinates are not."""
    text = file.read_text(encoding="utf-8").replace("t*2 + (i & 1) + 8*(i >> 2)", "(t*2 + (i & 1) + 8*(i >> 2)) ^ 1")
    file.write_text(text.replace('B = { table = "b.csv" }', 'B = { row = "(t*2 + i%2 + 8*(i//2)) ^ 1", col = "g" }'))
    (case,) = verify_index("all of them", file).cases
    statuses = {(verdict.claim.part, verdict.claim.prop.key): verdict.status.value for verdict in case.verdicts}
    assert statuses["A", "equals_isa"] == statuses["B", "equals_isa"] == statuses["", "equals_absolute"] == "RELABELLED"
    assert statuses["", "product"] == statuses["", "relation"] == "AGREES"


def test_a_wrong_line_of_a_table_is_named(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = file.parent / "b.csv"
    table.write_text(table.read_text().replace("5,2,10,1\n", "5,2,11,1\n"), encoding="utf-8")
    code, text = run(capsys, str(file), "--only", "all of them")
    assert code == 1
    assert f"{table}:24" in text.replace("\n      ", "")
    assert "lane 5, value 2: map (k=11, n=1), ISA (k=10, n=1)" in text


def test_all_errors_of_a_file_are_reported_with_their_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "maps.toml"
    path.write_text(
        '["a"]\nptx = "mma"\noperand = "C"\nrow = "0"\ncol = "0"\n["b"]\nlang = "java"\nrow = 3\n'
        f'["c"]\nptx = "{MMA}"\nA = {{ row = "lane/", col = "0", lang = "c" }}\nC = 3\n'
        f'["d"]\nptx = "{MMA}"\nlang = "c"\noperand = "A"\nrow = "lane/"\ncolumn = "0"\n',
        encoding="utf-8",
    )
    code, text = run(capsys, str(path))
    assert code == 2
    for line in (":2:", ":7:", ":8:", ":12:", ":18:"):
        assert f"maps.toml{line}" in text, line
    assert "Traceback" not in text


def test_the_functions_of_the_package() -> None:
    assert verify_index(ptx=MMA, operand="C", lang="c", row=ROW, col=COL).exit().name == "OK"
    assert verify_index(ptx=MMA, operand="C", lang="c", row="g + 8*(i/2)", col=COL, let={"g": "lane/4"}).exit() == 0
    assert verify_map(lambda lane, i: (lane // 4 + i // 2 * 8, lane % 4 * 2 + i % 2), MMA, "C").exit().name == "OK"
    assert verify_map(lambda lane, i: (lane // 4 + i % 2 * 8, 0), MMA, "C").exit().name == "REFUTED"
    assert verify_map("((4,8),(2,2)):((32,1),(16,8))", MMA, "C").exit().name == "OK"
    assert verify_map("((4,8),(2,2)):((2@1,1@0),(1@1,8@0))", MMA, "C").exit().name == "OK"
    assert verify_map(Layout.parse("((4,8),(2,2)):((16,1),(8,64))"), MMA, "B").exit().name == "OK"
    assert verify_map("((4,8),(2,2)):((16,1),(64,8))", MMA, "B").exit().name == "REFUTED"
    with pytest.raises(SpecError, match="found 'laid'"):
        verify_map("laid out", MMA, "C")
    with pytest.raises(SpecError, match="expected integers"):
        verify_map(lambda lane, i: (0.5, 0), MMA, "C")
    with pytest.raises(SpecError, match="expected a map"):
        verify_map(FragmentMap.tabulate(lambda i: i, [Axis("i", 2)], [Axis("m", 2)]), MMA, "C")


CODE = """
def element(lane, i):
    open("called", "a").write("x")
    return lane // 4 + i // 2 * 8, lane % 4 * 2 + i % 2

def place(row, col):
    return row % 8 * 4 + col // 2, row // 8 * 2 + col % 2

def wrong(lane, i):
    return lane // 4 + i % 2 * 8, lane % 4 * 2 + i // 2

def raises(lane, i):
    return {}[lane]
"""
CALLS = f"""
["right"]
ptx = "{MMA}"
operand = "C"
function = "mine.py::element"
["inverse"]
ptx = "{MMA}"
C = {{ inverse = "mine.py::place" }}
A = {{ row = "lane/4 + 8*(i/2%2)", col = "lane%4*2 + i%2 + 8*(i/4)", lang = "c" }}
["wrong"]
ptx = "{MMA}"
operand = "C"
function = "mine.py::wrong"
["raises"]
ptx = "{MMA}"
operand = "C"
function = "mine.py::raises"
"""


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of functions that are called, relative to it."""
    monkeypatch.delenv("CI", raising=False)
    (tmp_path / "maps").mkdir()
    (tmp_path / "maps/mine.py").write_text(CODE, encoding="utf-8")
    path = tmp_path / "maps/maps.toml"
    path.write_text(CALLS, encoding="utf-8")
    return path


@pytest.mark.long
def test_a_function_of_a_file_is_a_map(calls: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--ptx", MMA, "--operand", "C"]
    mine = calls.parent / "mine.py"
    assert run(capsys, *words, "--function", f"{mine}::element")[0] == 0
    assert run(capsys, *words, "--inverse", f"{mine}::place")[0] == 0
    code, text = run(capsys, *words, "--function", f"{mine}::wrong")
    assert code == 1
    assert "lane 0, value 1: map (m=8, n=0), ISA (m=0, n=1); (m=8, n=0) belongs to lane 0, value 2" in text
    code, text = run(capsys, *words, "--function", f"{mine}::raises")
    assert (code, text) == (
        2,
        f"lanecheck: --function: {mine}::raises: KeyError: 0 at lane 0, value 0, line 13 of mine.py\n",
    )
    assert run(capsys, *words, "--bases", TRITON, "--python", "python")[1].startswith("lanecheck: --python: is for a")


@pytest.mark.long
def test_functions_in_a_file_are_called_where_they_are_verified_alone(
    calls: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, str(calls), "--list") == (0, "right\ninverse\nwrong\nraises\n")
    assert run(capsys, str(calls), "--only", "inverse")[0] == 0
    code, text = run(capsys, str(calls))
    assert code == 2  # of the one that raises; the others are verified
    assert "lanecheck: --function: mine.py::raises: KeyError: 0 at lane 0, value 0, line 13 of mine.py" in text
    assert "3 subjects: 2 verified, 1 refuted" in text
    entries, problem = Suite().read_entries(calls)
    assert not problem
    assert entries[2].case().status == "REFUTED"


@pytest.mark.long
def test_in_ci_functions_are_called_only_where_that_is_said(
    calls: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    words = [str(calls), "--only", "right", "-q"]
    assert run(capsys, *words) == (2, "lanecheck: this runs third-party code; in CI, allow that with --allow-exec\n")
    assert run(capsys, *words, "--allow-exec")[0] == 0
    with pytest.raises(UsageError, match="allow_exec=True"):
        verify_index("right", calls)
    assert verify_index("right", calls, allow_exec=True).exit() == 0
    entries, _ = Suite(how="--lanecheck-allow-exec").read_entries(calls)
    assert "allow that with --lanecheck-allow-exec" in Suite().verify(entries[:1]).failure


def test_a_raising_function_is_an_error_with_its_point() -> None:
    with pytest.raises(SpecError, match="at lane 3, value 0: ZeroDivisionError: integer division or modulo by zero"):
        verify_map(lambda lane, i: (1 // (lane - 3), 0), MMA, "C")


OPERAND = b'["a"]\nptx = "' + MMA.encode() + b'"\noperand = "C"\n'


def test_the_gate_reads_the_same_file(file: Path) -> None:
    entries, problem = Suite().read_entries(file)
    assert (problem, [(entry.name, entry.line) for entry in entries]) == ("", [("accumulators", 2), ("all of them", 9)])
    assert [entry.case().status for entry in entries] == ["VERIFIED", "VERIFIED"]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"\x00\xff\xfe" * 100, "is not UTF-8"),
        (b"[a]\n" * (1 << 19), "is over 1 MiB"),
        (b'["a"]\nptx = "x"\nA = ' + b"[" * 5000, "nested deeper"),
        (OPERAND + b'row = "' + b"(" * 5000 + b'"\ncol = "0"\n', "nested deeper"),
        (OPERAND + b'row = "' + b"9" * 5000 + b'"\ncol = "0"\n', "20 digits"),
        (OPERAND + b'table = "' + b"x" * 5000 + b'"\n', "cannot be read"),
        (b'["a"]\nA = "1:0"\nB = "1:0"\nC = "1:0"\n', "this is a file of atoms: lanecheck check"),
    ],
    ids=range(7),
)
def test_a_hostile_file_is_a_line(
    content: bytes, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "hostile.toml"
    path.write_bytes(content)
    code, text = run(capsys, str(path))
    assert code == 2
    assert problem in text
    assert "Traceback" not in text
