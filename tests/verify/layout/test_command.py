# SPDX-License-Identifier: Apache-2.0
"""`lanecheck layout LAYOUT --onto MxN`."""

import html
import json
import re

import numpy as np
import pytest

from layouts.batched import Batch
from verify import verify_layout
from verify.core.errors import UsageError
from verify.core.verdict import Check
from verify.layout import command as layout
from verify.layout import reading
from verify.layout.reading import read_tile
from verify.pictures.picture import WHOLE

MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
VOLTA = "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32"
RIGHT, SWAPPED = "((4,8),(2,2)):((32,1),(16,8))", "((4,8),(2,2)):((32,1),(8,16))"
ALONE = "a bijection onto 16x8; not compared with an instruction: add --ptx … --operand C"


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
def test_a_layout_onto_a_tile_ends_with_the_exit_code_of_its_verdict(text: str, onto: str, code: int) -> None:
    assert layout.main([text, "--onto", onto]) == code


@pytest.mark.parametrize(
    ("text", "onto", "copies"), [("(4,(2,2)):(0,(4,4))", "8", 10), ("(4,(4,4)):(1,(0,100))", "16", 12)]
)
def test_collisions_are_owners_too_many_within_the_tile_however_a_layout_is_written(
    text: str, onto: str, copies: int, capsys: pytest.CaptureFixture[str]
) -> None:
    for written in (text, f"Sw<0,0,0> o {text}"):
        assert layout.main([written, "--onto", onto]) == 1
        assert f"smallest of {copies} collisions" in capsys.readouterr().out, written


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("((4,8),8):((32,1),8)", "--onto 8x32"),
        ("(3,5):(1,3)", "--onto 4x4"),
        ("(32,4):(1,33)", "--onto 16x8"),
        ("(32,4):(1,33)", "--onto 128"),
        ("(4,2):(1,4)", "--equals (4,2):(2,1)"),
        ("(4,2):(1,4)", "--equals (2,4):(2,1)"),
    ],
)
def test_one_finding_has_one_wording_however_a_layout_is_written(text: str, option: str) -> None:
    """And an element is named by its coordinates."""
    wordings = []
    for written in (text, f"Sw<0,0,0> o {text}"):
        key, value = option.split()
        report = layout.compare(written, value) if "equals" in key else layout.onto_tile(written, read_tile(value))
        of_isa = [verdict.evidence[0].counterexample for verdict in report.cases[0].verdicts]
        wordings.append(
            [
                wrong and wrong._replace(arithmetic="", statement=wrong.statement.replace(written, "L"))
                for wrong in of_isa
            ]
        )
    assert wordings[0] == wordings[1] and any(wordings[0])
    assert not {"element", "map"} & {word for wording in wordings[0] if wording for word in wording.inputs}


def test_an_element_without_an_owner_is_named_alike_by_every_check(capsys: pytest.CaptureFixture[str]) -> None:
    assert layout.main(["(3,5):(1,3)", "--onto", "4x4"]) == 1
    out = capsys.readouterr().out
    assert "  (m=3, n=3) has no owner, 1 wanted" in out
    assert "  also proof REFUTED (counting): (m=3, n=3) has no owner" in out


def test_of_a_wrong_table_nothing_follows_even_without_a_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    """The layout takes each element 64 times or never; a table that says otherwise is an error of ours."""
    wrong = np.arange(1 << 12).reshape(64, 64)
    monkeypatch.setattr(Batch, "values", lambda _, start, stop: wrong.reshape(-1)[start:stop])
    report = layout.onto_tile("(64,64):(1,1)", (64, 64), {Check.ISA})
    assert report.exit() == 3
    monkeypatch.undo()
    assert layout.onto_tile("(64,64):(1,1)", (64, 64), {Check.ISA}).exit() == 1


@pytest.mark.long
@pytest.mark.parametrize("second", ["(512,512):(512,1)", "(512,512):(512,2)"])
def test_the_picture_of_a_large_comparison_has_the_counterexample(second: str) -> None:
    """Behind this swizzle the first 255 threads are alike in the one, all but a value 0 unlike in the other."""
    (case,) = layout.compare("Sw<1,14,3> o (512,512):(512,1)", second).cases
    wrong = case.verdicts[0].counterexample
    assert wrong is not None and case.picture is not None
    (panel,) = case.picture(WHOLE).panels
    at = wrong.inputs["thread"] - panel.first[0], wrong.inputs["value"] - panel.first[1]
    assert min(at) >= 0 and panel.cells[at[0]][at[1]].expected
    (chosen,) = case.picture((range(3, 5), None)).panels
    assert (chosen.first, len(chosen.cells)) == ((3, 0), 2)


def test_numbers_beyond_64_bits_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert layout.main(["Sw<3,3,3> o (4096,4096):(4611686018427387904,1)", "--onto", "128x128"]) == 2
    assert "numbers that do not fit 64 bits" in capsys.readouterr().err
    assert layout.main(["Sw<3,3,3> o (4,4):(4611686018427387904,1)", "--onto", "4x4"]) == 1
    assert "T1 V0 holds (m=0, n=1152921504606846976), outside 4x4" in capsys.readouterr().out


def test_a_collision_is_told_with_both_owners_and_the_elements_without_one(capsys: pytest.CaptureFixture[str]) -> None:
    layout.main(["((4,8),8):((32,1),8)", "--onto", "8x32"])
    output = capsys.readouterr().out
    assert "T0 V4 and T1 V0 both hold (m=0, n=4)" in output
    assert "0*32 + 0*1 + 4*8 = 32 = 1*32 + 0*1 + 0*8" in output
    assert "96 of 256 elements have no owner: n = 20..31, every m" in output


def test_layouts_are_compared_up_to_the_largest_that_is_enumerated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LARGEST", 32)
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
        (["Sw<1,0,4> o (4096,4097):(1,4096)", "--onto", "4"], "(1,4096)': more than 2^24 points or values, too many"),
        (["(4096,4097):(1@0,1@1)", "--equals", "4:1"], "(1@0,1@1)': more than 2^24 points or values, too many"),
        ([], "which layout? Give LAYOUT, quoted, with --onto MxN or --equals OTHER"),
        (["(4,8):(8,1)"], "(4,8):(8,1): nothing to check yet: add --onto MxN (the tile), --ptx MNEMONIC --operand X"),
        (["(4,8):(8,1)", "--ptx", MMA], "--ptx and --operand: give both"),
        (["(4,8):(8,1)", "--operand", "C"], "--ptx and --operand: give both"),
        (["(4,8):(8,1)", "--ptx", "mma.none", "--operand", "C"], "--ptx: 'mma.none'"),
        (["(4,8):(8,1)", "--ptx", MMA, "--operand", "Q"], "--operand: 'Q': expected A, B, C"),
        (["(4,8):(8,1)", "--ptx", MMA, "--operand", "SFA"], f"--operand: {MMA} has no operand SFA"),
        (["(4,8):(8,1)", "--ptx", MMA, "--operand", "C", "--onto", "8x8"], "--onto 8x8: C of this instruction is 16x8"),
        (["4:1", "--equals", "4:1", "--ptx", MMA, "--operand", "C"], "--equals and --ptx: give one of them"),
        (["(4,8):(8,1"], "cannot read '(4,8):(8,1'"),
        (["examples/my_atoms.toml"], "this is a file of atoms: lanecheck check examples/my_atoms.toml"),
        (["examples/tilings.toml"], "this is a file of tilings: lanecheck check examples/tilings.toml"),
        (["README.md"], "README.md isn't a layout: "),
        (["4:1", "--onto", "4", "--equals", "4:1"], "--onto and --equals: give one of them"),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert layout.main(arguments) == 2
    output = capsys.readouterr().err
    assert len(output.splitlines()) == 1 and output.startswith("lanecheck: ") and words in output


@pytest.mark.parametrize(
    ("words", "code", "line"),
    [
        (["Layout<Shape<Shape<_4,_8>,_8>,Stride<Stride<_32,_1>,_8>>", "--onto", "8x32"], 1, "no owner"),
        (["make_layout(make_shape(32, 4), LayoutLeft{})", "--onto", "16x8"], 0, "3 proved"),
        (["Sw<1,0,4> o (32,4):(1,32)", "--onto", "16x8"], 0, "3 proved"),
        (["Sw<1,0,4> o 128:1", "--onto", "128"], 0, "3 proved"),
        (["Sw<1,0,4> o (32,4):(1,33)", "--onto", "16x8"], 1, "T29 V3 holds (m=0, n=8), outside 16x8"),
        (["((4,8),(2,2)):((2@1,1@0),(1@1,8@0))", "--onto", "16x8"], 0, "3 proved"),
        (["Sw<1,0,4> o (32,4):(1,32)", "--equals", "(32,4):(1,32)"], 1, "T16 V0: layout element 17"),
        (["Sw<0,0,0> o (32,4):(1,32)", "--equals", "Layout((32,4),(1,32))"], 0, "1 proved"),
        (["((4,8),(2,2)):((2@1,1@0),(1@1,8@0))", "--equals", "(32,4):(1,32)"], 2, "its values are coordinates"),
        (["make_identity_layout((16,8))", "--equals", "(16,(2,4)):(1@0,(1@1,2@1))"], 0, "1 proved"),
        (["make_identity_layout((16,8))", "--equals", "(16,8):(1@0,2@1)"], 1, "T0 V1: layout (@0=0, @1=1)"),
        (["Sw<1,0,3> o 0 o Sw<1,1,3> o 16 o (4,2,2):(2,1,8)", "--onto", "32"], 1, "16 of 32 elements have no owner"),
        (["Sw<1,0,3> o 0 o Sw<1,0,3> o 16:1", "--equals", "16:1"], 0, "1 proved"),
        (["Sw<2,0,2> o -3 o 16:1", "--onto", "16"], 2, "the offset of a swizzle must be a natural number, found -3"),
        (["Sw<2,0,2> o 2 o (16,8):(-1,16)", "--onto", "16x8"], 2, "Sw<2,0,2> needs natural numbers, got -13"),
        (["Sw<2,0,2> o 15 o (16,8):(-1,16)", "--onto", "16x8"], 0, "3 proved"),
        (["Sw<1,0,3> o smem_ptr[16b](unset) o 16:1", "--onto", "16"], 2, "write the layout of elements"),
    ],
)
def test_every_spelling_is_read(words: list[str], code: int, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert layout.main(words) == code
    captured = capsys.readouterr()
    assert line in " ".join((captured.out + captured.err).split())


@pytest.mark.parametrize("text", ["(32,4):(1,33)", "Sw<1,0,4> o (32,4):(1,33)", "(32,(2,2)):(1,2)"])
def test_the_picture_names_no_operand_of_an_instruction(text: str) -> None:
    (case,) = layout.onto_tile(text, (16, 8)).cases
    assert case.picture is not None
    notes = case.picture(WHOLE).notes
    assert notes and not [note for note in notes if note.startswith(("C", " ", "="))]
    beyond = [note for note in notes if note.startswith("outside the tile, in no cell: T29 V3 at (m=0, n=8)")]
    assert bool(beyond) == (":(1,33)" in text)


class Theirs:
    """An object of another library: a shape and a stride, or only a text."""

    def __init__(self, text: str, **attributes: object) -> None:
        self.text = text
        self.__dict__ |= attributes

    def __str__(self) -> str:
        return self.text


def test_objects_of_other_libraries_are_verified() -> None:
    theirs = Theirs("?", shape=((4, 8), (2, 2)), stride=((32, 1), (16, 8)))
    assert verify_layout(theirs, onto=(16, 8)).exit().name == "OK"
    assert verify_layout(theirs, equals=Theirs("Layout<Shape<_128>>")).exit().name == "REFUTED"
    identity = Theirs("((4,8),(2,2)):((2@1,1@0),(1@1,8@0))", shape=((4, 8), (2, 2)), stride=(("2@1", "1@0"), ()))
    assert verify_layout(identity, onto=(16, 8)).exit().name == "OK"
    with pytest.raises(UsageError, match="expected an object with shape and stride"):
        verify_layout(Theirs("?"), onto=(16, 8))


@pytest.mark.parametrize("text", [RIGHT, SWAPPED])
@pytest.mark.parametrize("form", ["text", "html", "json", "junit", "sarif", "github"])
def test_no_report_of_a_layout_alone_says_verified_or_names_the_isa(
    text: str, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert layout.main([text, "--onto", "16x8", "--format", form, *(["-v"] if form == "text" else [])]) == 0
    out = " ".join(html.unescape(capsys.readouterr().out).split())
    shown = re.sub("<svg.*?</svg>", "", out.partition('<main id="main">')[2]) if form == "html" else out
    if form in ("text", "html"):
        assert ALONE in out and "VERIFIED" not in shown
        assert re.search(r"\bpoints +PROVED +exhaustive, 128 points", shown), shown
    if form == "json":
        (subject,) = json.loads(out)["subjects"]
        assert subject["headline"] == ALONE
    if form == "junit":
        assert 'name="points" value="PROVED exhaustive"' in out
    if form not in ("json", "sarif"):
        assert "compared with its tile alone" in out or form == "junit"
    if form != "json":  # whose names of checks are stable
        assert not re.search(r"\bisa\b", shown)
    assert "1 verified" not in out


def test_another_layout_is_all_that_equality_compares(capsys: pytest.CaptureFixture[str]) -> None:
    assert layout.main([RIGHT, "--equals", RIGHT, "-v"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert f"{RIGHT} the same function as {RIGHT}; not compared with an instruction" in out
    assert "points PROVED exhaustive, 128 points" in out and "1 compared with another layout alone" in out


@pytest.mark.parametrize(
    ("text", "operand", "code"),
    [
        (RIGHT, "C", 0),
        (SWAPPED, "C", 1),
        (f"Sw<0,0,0> o {RIGHT}", "C", 0),
        (f"Sw<0,0,0> o {SWAPPED}", "C", 1),
        ("((4,8),(2,2,2)):((32,1),(16,8,128))", "A", 0),
        ("((4,8),(2,2,2)):((32,1),(16,128,8))", "A", 1),
        ("((4,8),(2,2)):((16,1),(8,64))", "B", 0),
        ("((4,8),(2,2)):((16,1),(64,8))", "B", 1),
        ("(32,4):(1,33)", "C", 1),
        ("(16,8):(1,16)", "C", 1),
    ],
)
def test_a_layout_is_compared_with_the_operand_that_is_named(
    text: str, operand: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [text, "--ptx", MMA, "--operand", operand]
    assert layout.main([*words, "-v"]) == code
    out = " ".join(capsys.readouterr().out.split())
    assert ("VERIFIED" in out) == (code == 0) and "not compared" not in out
    assert "isa" in out and "ISA 9.7.14.5.8" in out
    assert verify_layout(text, ptx=MMA, operand=operand).exit() == code


def test_the_tile_may_be_named_beside_the_operand_and_a_refutation_has_its_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert layout.main([RIGHT, "--onto", "16x8", "--ptx", MMA, "--operand", "C"]) == 0
    assert "VERIFIED  5 proved" in capsys.readouterr().out
    assert layout.main([SWAPPED, "--ptx", MMA, "--operand", "C"]) == 1
    out = " ".join(capsys.readouterr().out.split())
    assert f"lanecheck layout '{SWAPPED}' --ptx {MMA}" in out.replace("\\ ", "")
    assert f"one stride: {RIGHT}" in out or f"strides: {RIGHT}" in out or RIGHT in out


def test_an_instruction_of_eight_threads_is_compared_by_those(capsys: pytest.CaptureFixture[str]) -> None:
    right = "((2,2,2),(2,2,2)):((1,16,4),(8,2,32))"
    assert layout.main([right, "--ptx", VOLTA, "--operand", "C", "-v"]) == 0, capsys.readouterr().out


def test_an_operand_that_the_isa_leaves_open_is_unchecked(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--ptx", "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", "--operand", "B"]
    assert layout.main(["(128,1):(1,0)", *words]) in (1, 4)
    assert "VERIFIED" not in capsys.readouterr().out
