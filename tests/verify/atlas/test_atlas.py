# SPDX-License-Identifier: Apache-2.0
"""The atlas: every atom counted once, by what each witness said; the README's table is made by it."""

import gc
import json
import os
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from layouts.atoms import load, registry
from verify.atlas import command, report
from verify.atlas.rows import Atlas, Told, instruction, tabulate
from verify.atlas.unclaimed import unclaimed
from verify.atom import command as atom
from verify.atom.checker import AtomChecker
from verify.core.verdict import Check

pytestmark = pytest.mark.xdist_group("atlas")  # its fixtures are made once a run

README = Path(__file__).parents[3] / "README.md"
MUSEUM = Path(__file__).parents[2] / "museum"
FEW = ["SM80_16x8x16", "SM61", "SM90_64x24x16_F32F16F16_SS", "SM100_U8x8_LDSM_T", "UniversalFMA"]


@pytest.fixture(scope="module")
def whole() -> Atlas:
    return tabulate(registry().values(), AtomChecker(), unclaimed(registry().values()))


@pytest.mark.slow
def test_the_readme_shows_the_table(whole: Atlas) -> None:
    text = README.read_text(encoding="utf-8")
    start, end = (text.index(mark) for mark in ("<!-- atlas -->\n", "<!-- /atlas -->"))
    start += len("<!-- atlas -->\n")
    made = report.table(whole.by_family())
    if os.environ.get("LANECHECK_SNAPSHOTS") == "update":
        README.write_text(text[:start] + made + text[end:], encoding="utf-8")
    assert made in README.read_text(encoding="utf-8")


@pytest.mark.slow
def test_every_atom_is_counted_once(whole: Atlas) -> None:
    """Against a plain count of the names, and against the verdicts of the rows."""
    assert Counter({row.instruction: row.atoms for row in whole.rows}) == Counter(
        instruction(atom)[1] for atom in registry().values()
    )
    for atlas in (whole, whole.by_family()):
        for row in (*atlas.rows, atlas.total()):
            assert sum(row.verdicts.values()) == row.atoms
            assert all(sum(counts.values()) == row.atoms for counts in row.told.values())
    assert whole.total().atoms == whole.by_family().total().atoms == len(registry())


@pytest.mark.slow
def test_known_defects_and_only_they_are_refuted(whole: Atlas) -> None:
    refuted = {wrong.name for row in whole.rows for wrong in row.refuted}
    assert refuted == {name for name, atom in registry().items() if atom.known_defect}
    assert whole.exit == 0


@pytest.mark.slow
def test_silence_is_counted_and_has_a_reason(whole: Atlas) -> None:
    for row in whole.rows:
        for check, counts in row.told.items():
            silent = counts[Told.UNCHECKED] + counts[Told.PART]
            assert silent <= sum(row.reasons.get(check, Counter()).values())
            assert all(reason.strip() for reason in row.reasons.get(check, ()))


@pytest.mark.slow
def test_evidence_is_shared_among_equal_operands(whole: Atlas) -> None:
    wgmma = next(row for row in whole.rows if row.instruction == "wgmma.mma_async.sync m64nNk16")
    assert 0.75 * wgmma.evidence < wgmma.shared < wgmma.evidence


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "whole_of", "counted"),
    [("instructions", "total", "atoms"), ("without_atom", "total_without_atom", "instructions")],
)
def test_the_sums_are_those_of_the_rows(whole: Atlas, rows: str, whole_of: str, counted: str) -> None:
    document = json.loads(report.as_json(whole))
    listed, sums = document[rows], document[whole_of]
    assert sums[counted] == sum(row[counted] for row in listed) == sum(sums["verdicts"].values())
    for key in ("verdicts", "claims"):
        assert Counter(sums[key]) == sum((Counter(row[key]) for row in listed), Counter())
    for check in Check:
        said = [{word: row["witnesses"][check][word] for word in Told} for row in listed]
        assert all(sum(counts.values()) == row[counted] for counts, row in zip(said, listed, strict=True))
        assert {word: sums["witnesses"][check][word] for word in Told} == {
            word: sum(counts[word] for counts in said) for word in Told
        }


def told(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert command.main([*FEW, *words]) == 0
    return capsys.readouterr().out


@pytest.mark.slow
def test_the_formats_tell_the_same(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    document = json.loads(told(capsys, "--format", "json"))
    rows = {row["instruction"]: row for row in document["instructions"]}
    assert document["schema"] == 1 and document["total"]["atoms"] == sum(row["atoms"] for row in rows.values()) == 20
    assert rows["mma.sync m16n8k16"]["witnesses"]["isa"]["stands"] == 11
    assert rows["dp2a"]["refuted"][0]["known"] is True
    assert rows["wgmma.mma_async.sync m64nNk16"]["provenance"]["C"][0].startswith("derived: ")
    text, markdown = told(capsys), told(capsys, "--format", "markdown")
    for name, row in rows.items():
        assert f"| `{name}` | {row['atoms']} |" in markdown
        assert any(
            line.startswith(name) and line[len(name) :].split()[0] == str(row["atoms"]) for line in text.split("\n")
        )
    assert told(capsys, "--write", str(tmp_path)) == text
    assert (tmp_path / "atlas.md").read_text(encoding="utf-8") == markdown
    assert json.loads((tmp_path / "atlas.json").read_text(encoding="utf-8")) == document
    seen: list[str] = []
    parser = HTMLParser()
    parser.handle_data = seen.append  # type: ignore[method-assign]
    parser.feed((tmp_path / "atlas.html").read_text(encoding="utf-8"))
    assert set(rows) <= set(seen)


def test_one_architecture_or_some_atoms_or_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--arch", "sm89", "-q"]) == 0
    assert capsys.readouterr().out.startswith("8 atoms of 1 instructions: 8 VERIFIED")
    assert command.main(["--atoms", str(MUSEUM / "wrong.toml"), "--by", "family"]) == 1
    out = capsys.readouterr().out
    assert (
        "1: SM80_16x8x32_S32S4S4S32_TN B  REFUTED   gives each element" in out
        and f"{len(load(MUSEUM / 'wrong.toml'))} atoms of" in out
    )


@pytest.mark.parametrize("main", [command.main])
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--arch", "sm91"], "--arch sm91: no atom is of that architecture; there are: sm50, sm61"),
        (["--arch", "hopper"], "--arch hopper: no atom"),
        (["SM90_64x12x16_F32F16F16_SS"], "N = 12 is not one of 8, 16, 24"),
        (["no_such_atom"], "no atom is named 'no_such_atom'"),
        (["--checks", "oracle", "SM61"], "--checks oracle"),
        (["--write", "/dev/null/atlas", "SM61"], "--write /dev/null/atlas: Not a directory"),
    ],
)
def test_bad_input_is_one_line(
    main: Callable[[list[str]], int], words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    captured = capsys.readouterr()
    assert said in captured.err and len(captured.err.splitlines()) == 1 and captured.out == ""


def test_a_known_defect_that_is_gone_is_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """It fails the run, so every format says which atom it was."""
    example = Path(__file__).parents[3] / "examples" / "my_atoms.toml"
    path = tmp_path / "mine.toml"
    path.write_text(example.read_text(encoding="utf-8") + 'known_defect = "A: it was once wrong"\n', encoding="utf-8")
    for form in command.FORMATS:
        assert command.main(["--atoms", str(path), "--format", form]) == 1
        told = capsys.readouterr().out
        if form == "json":
            assert json.loads(told)["total"]["surprises"] == ["MY_16x8x16_F32F16F16F32"]
        else:
            assert "MY_16x8x16_F32F16F16F32  SURPRISE: it is not refuted in just the parts" in told
    assert command.main(["no_such_atom"]) == 2
    assert "python -m verify.atom --list shows all" in capsys.readouterr().err


def test_a_witness_that_is_not_asked_has_no_column(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["SM61_DP4A", "--checks", "isa", "--format", "markdown"]) == 0
    assert "| instruction | atoms | isa | verdict | provenance |" in capsys.readouterr().out
    assert tabulate([registry()["SM61_DP4A"]], AtomChecker(frozenset({Check.ISA}))).checks == (Check.ISA,)


def test_an_atom_that_nothing_was_compared_with_is_undecided_unless_that_is_allowed() -> None:
    bare = replace(registry()["SM80_8x8x4_F64F64F64F64_TN"], ptx=None)
    assert tabulate([bare], AtomChecker()).exit == 4 and tabulate([bare], AtomChecker(), allow_unchecked=True).exit == 0


def test_provenance_is_told_of_operands_alone() -> None:
    """Not of the product, which rests on all of them, nor of claims that rest on no formula."""
    (row,) = tabulate([registry()["SM90_64x16x16_F32F16F16_SS"]], AtomChecker()).rows
    stated, derived = "ISA text", "derived: a figure; CUTLASS; the rule of all fragments"
    assert row.provenance == {"A": {stated: None}, "B": {stated: None}, "C": {derived: None}}


def test_a_letter_of_another_script_is_written_as_it_is() -> None:
    found = tabulate([registry()["SM61_DP4A"]], AtomChecker())
    named = replace(found, rows=tuple(replace(row, instruction="dp4a·µ") for row in found.rows))
    assert '"instruction": "dp4a·µ"' in report.as_json(named)


def test_a_wrong_book_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a book that refutes everything the table cannot stand."""
    from verify.core.verdict import Counterexample

    monkeypatch.setattr("verify.evidence.isa._compare", lambda *_: Counterexample({}, "planted"))
    found = tabulate([registry()["SM80_16x8x16_F32F16F16F32_TN"]], AtomChecker())
    assert found.exit == 3 and found.rows[0].verdicts["CONTRADICTION"] == 1


def test_the_collector_is_as_it_was_after_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    """Also after one that fails."""
    for names, code in ((["SM61_DP4A"], 0), (["SM61_DP4A", "no_such_atom"], 2)):
        for on in (True, False):
            (gc.enable if on else gc.disable)()
            assert (command.main(names), atom.main(names), gc.isenabled()) == (code, code, on)
    gc.enable()
    capsys.readouterr()
