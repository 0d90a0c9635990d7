# SPDX-License-Identifier: Apache-2.0
"""The atlas: every atom is counted once, by the outcome of each check; the tables of two pages are made here."""

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
from verify.atlas.rows import Atlas, Outcome, Row, instruction, joined, tabulate
from verify.atlas.without_atom import without_atom
from verify.atom import command as atom
from verify.atom.checker import AtomChecker
from verify.core.verdict import Check

pytestmark = pytest.mark.xdist_group("atlas")  # its fixtures are made once a run

ROOT = Path(__file__).parents[3]
MUSEUM = Path(__file__).parents[2] / "museum"
FEW = ["SM80_16x8x16", "SM61", "SM90_64x24x16_F32F16F16_SS", "SM100_U8x8_LDSM_T", "UniversalFMA"]


@pytest.fixture(scope="module")
def whole() -> Atlas:
    return tabulate(registry().values(), AtomChecker(), without_atom(registry().values()))


GROUPS = {  # what the README's rows are called, and how the mnemonics in them begin
    "`mma.sync`, `dp2a`, `dp4a`": ("mma.sync", "dp2a", "dp4a"),
    "`mma.sp`": ("mma.sp",),
    "`wgmma`": ("wgmma",),
    "`tcgen05.mma`": ("tcgen05.mma",),
    "copies, and atoms without an instruction": ("",),
}


def overview(atlas: Atlas) -> str:
    """The README's table: the rows of the atlas in five groups, each row in the first that its mnemonic fits."""
    grouped: dict[str, list[Row]] = {group: [] for group in GROUPS}
    for row in atlas.rows:
        grouped[next(group for group, starts in GROUPS.items() if row.family.startswith(starts))].append(row)
    lines = ["| instructions | atoms | verdict | recorded on a GPU |", "| --- | --- | --- | --- |"]
    for row in (*(joined(group, rows) for group, rows in grouped.items()), joined("**total**", atlas.rows)):
        recorded = row.atoms - row.outcomes[Check.GPU][Outcome.UNCHECKED]
        lines.append(f"| {row.instruction} | {row.atoms} | {report.verdicts(row)} | {recorded} |")
    return "\n".join(lines) + "\n"


@pytest.mark.slow
@pytest.mark.parametrize("page", ["README.md", "docs/atlas.md"])
def test_the_pages_show_the_tables(whole: Atlas, page: str) -> None:
    path = ROOT / page
    text = path.read_text(encoding="utf-8")
    start, end = (text.index(mark) for mark in ("<!-- atlas -->\n", "<!-- /atlas -->"))
    start += len("<!-- atlas -->\n")
    made = overview(whole) if page == "README.md" else report.table(whole.by_family())
    if os.environ.get("LANECHECK_SNAPSHOTS") == "update":
        path.write_text(text[:start] + made + text[end:], encoding="utf-8")
        text = path.read_text(encoding="utf-8")
    assert text[start:].startswith(f"{made}<!-- /atlas -->")


@pytest.mark.slow
def test_every_atom_is_counted_once(whole: Atlas) -> None:
    """Against a plain count of the names, and against the verdicts of the rows."""
    assert Counter({row.instruction: row.atoms for row in whole.rows}) == Counter(
        instruction(atom)[1] for atom in registry().values()
    )
    for atlas in (whole, whole.by_family()):
        for row in (*atlas.rows, atlas.total()):
            assert sum(row.verdicts.values()) == row.atoms
            assert all(sum(counts.values()) == row.atoms for counts in row.outcomes.values())
    assert whole.total().atoms == whole.by_family().total().atoms == len(registry())


@pytest.mark.slow
def test_known_defects_and_only_they_are_refuted(whole: Atlas) -> None:
    refuted = {wrong.name for row in whole.rows for wrong in row.refuted}
    assert refuted == {name for name, atom in registry().items() if atom.known_defect}
    assert whole.exit == 0


@pytest.mark.slow
def test_missing_evidence_is_counted_and_has_a_reason(whole: Atlas) -> None:
    for row in whole.rows:
        for check, counts in row.outcomes.items():
            missing = counts[Outcome.UNCHECKED] + counts[Outcome.PART]
            assert missing <= sum(row.reasons.get(check, Counter()).values())
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
        outcomes = [{word: row["checks"][check][word] for word in Outcome} for row in listed]
        assert all(sum(counts.values()) == row[counted] for counts, row in zip(outcomes, listed, strict=True))
        assert {word: sums["checks"][check][word] for word in Outcome} == {
            word: sum(counts[word] for counts in outcomes) for word in Outcome
        }


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert command.main([*FEW, *words]) == 0
    return capsys.readouterr().out


@pytest.mark.slow
def test_the_formats_have_the_same_content(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    document = json.loads(printed(capsys, "--format", "json"))
    rows = {row["instruction"]: row for row in document["instructions"]}
    assert document["schema"] == 2 and document["total"]["atoms"] == sum(row["atoms"] for row in rows.values()) == 20
    assert rows["mma.sync m16n8k16"]["checks"]["isa"]["verified"] == 11
    assert rows["dp2a"]["refuted"][0]["known"] is True
    assert rows["wgmma.mma_async.sync m64nNk16"]["provenance"]["C"][0].startswith("derived: ")
    text, markdown = printed(capsys), printed(capsys, "--format", "markdown")
    for name, row in rows.items():
        assert f"| `{name}` | {row['atoms']} |" in markdown
        assert any(
            line.startswith(name) and line[len(name) :].split()[0] == str(row["atoms"]) for line in text.split("\n")
        )
    assert printed(capsys, "--write", str(tmp_path)) == text
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
    ("words", "message"),
    [
        (["--arch", "sm91"], "--arch: no atom is of the architecture sm91; there are: sm50, sm61"),
        (["--arch", "hopper"], "--arch: no atom is of the architecture hopper"),
        (["SM90_64x12x16_F32F16F16_SS"], "N = 12 is not one of 8, 16, 24"),
        (["no_such_atom"], "no atom is named 'no_such_atom'"),
        (["--checks", "oracle", "SM61"], "--checks: expected some of isa, proof, gpu, found oracle"),
        (["--write", "/dev/null/atlas", "SM61"], "--write /dev/null/atlas: Not a directory"),
    ],
)
def test_bad_input_is_one_line(
    main: Callable[[list[str]], int], words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    captured = capsys.readouterr()
    assert message in captured.err and len(captured.err.splitlines()) == 1 and captured.out == ""


def test_a_known_defect_that_is_gone_is_reported(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """It fails the run, so every format says which atom it was."""
    example = Path(__file__).parents[3] / "examples" / "my_atoms.toml"
    path = tmp_path / "mine.toml"
    path.write_text(example.read_text(encoding="utf-8") + 'known_defect = "A: it was once wrong"\n', encoding="utf-8")
    for form in command.FORMATS:
        assert command.main(["--atoms", str(path), "--format", form]) == 1
        out = capsys.readouterr().out
        if form == "json":
            assert json.loads(out)["total"]["surprises"] == ["MY_16x8x16_F32F16F16F32"]
        else:
            assert "MY_16x8x16_F32F16F16F32  SURPRISE: it is not refuted in just the parts" in out
    assert command.main(["no_such_atom"]) == 2
    assert "python -m verify.atom --list shows all" in capsys.readouterr().err


def test_a_check_that_is_left_out_has_no_column(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["SM61_DP4A", "--checks", "isa", "--format", "markdown"]) == 0
    assert "| instruction | atoms | isa | verdict | provenance |" in capsys.readouterr().out
    assert tabulate([registry()["SM61_DP4A"]], AtomChecker(frozenset({Check.ISA}))).checks == (Check.ISA,)


def test_an_atom_that_nothing_was_compared_with_is_undecided_unless_that_is_allowed() -> None:
    bare = replace(registry()["SM80_8x8x4_F64F64F64F64_TN"], ptx=None)
    assert tabulate([bare], AtomChecker()).exit == 4 and tabulate([bare], AtomChecker(), allow_unchecked=True).exit == 0


def test_provenance_is_of_operands_alone() -> None:
    """The product has none, which depends on all operands, nor have claims without a formula."""
    (row,) = tabulate([registry()["SM90_64x16x16_F32F16F16_SS"]], AtomChecker()).rows
    isa_text, derived = "ISA text", "derived: a figure; CUTLASS; the rule of all fragments"
    assert row.provenance == {"A": {isa_text: None}, "B": {isa_text: None}, "C": {derived: None}}


def test_a_letter_of_another_script_is_written_as_it_is() -> None:
    found = tabulate([registry()["SM61_DP4A"]], AtomChecker())
    named = replace(found, rows=tuple(replace(row, instruction="dp4a·µ") for row in found.rows))
    assert '"instruction": "dp4a·µ"' in report.as_json(named)


def test_a_wrong_table_is_a_contradiction(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where isa refutes every layout, the other two checks contradict it."""
    from verify.core.verdict import Counterexample

    monkeypatch.setattr("verify.evidence.isa._compare", lambda *_: Counterexample({}, "planted"))  # seam: a planted bug
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
