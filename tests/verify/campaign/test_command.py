# SPDX-License-Identifier: Apache-2.0
"""The command: the count first, the report in text and JSON, exit codes, and errors in one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import layouts
from layouts import Layout
from verify.campaign import command, run, tasks
from verify.campaign.executors import InProcess

SMALL = """
["small pairs"]
kind    = "laws"
laws    = ["composition", "coalesce"]
rank    = 2
size    = 4
extents = [2, 4]
strides = [0, 1, 2]
"""
LARGE = (
    SMALL.replace("rank    = 2", "rank = 6")
    .replace("= 4", "= 4096")
    .replace("[2, 4]", "[2, 3]")
    .replace("[0, 1, 2]", "[0, 1, 2, 3, 4]")
)
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def launch(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)

    def launched(text: str, *options: str) -> tuple[int, str, str]:
        file = tmp_path / "campaign.toml"
        file.write_text(text)
        jobs = () if {"--count", "--scheduler"} & {*options} else ("--jobs", "1")
        code = command.main([str(file), *jobs, *options])
        out, err = capsys.readouterr()
        return int(code), out, err.replace(str(tmp_path), "DIR")

    return launched


def test_the_count_comes_first_and_then_the_report(launch: Run, tmp_path: Path) -> None:
    code, out, err = launch(SMALL)
    assert code == 0 and (tmp_path / "campaign.results.jsonl").exists()
    assert err.splitlines() == [
        "small pairs: composition         225 cases in 1 chunk",
        "small pairs: coalesce             15 cases in 1 chunk",
        "in all                           240 cases in 2 chunks",
    ]
    assert out.splitlines()[:4] == [
        "small pairs: composition  VERIFIED",
        "  R(c) = A(B(c)), compatible(B, R)",
        "  all pairs of layouts: rank at most 2; at most 4 points; strides 0, 1, 2; extents 2, 4",
        "  225 of 225 cases: 167 confirmed, 7 rejected, 51 outside the law",
    ]
    assert out.splitlines()[-1] == "layouts: 2 verified"


def test_count_prints_the_number_of_cases_and_runs_none(launch: Run, tmp_path: Path) -> None:
    code, out, err = launch(SMALL, "--count")
    assert (code, err, out.splitlines()[-1]) == (0, "", "in all                           240 cases in 2 chunks")
    assert not (tmp_path / "campaign.results.jsonl").exists()
    assert launch(SMALL, "--count", "--yes")[0] == 2


def test_json_is_the_same_after_a_second_start(launch: Run, tmp_path: Path) -> None:
    code, out, _ = launch(SMALL, "--format", "json")
    document = json.loads(out)
    assert code == 0 and document["schema"] == 2 and document["implementation"] == "layouts"
    part = document["parts"][0]
    assert part["cases"] == part["of"] == 225 == sum(part[k] for k in ("confirmed", "refuted", "rejected", "unmet"))
    assert (part["checked"], part["status"], part["smallest"]) == ("composition", "VERIFIED", None)
    lines = (tmp_path / "campaign.results.jsonl").read_bytes()
    assert launch(SMALL, "--format", "json")[1] == out
    assert (tmp_path / "campaign.results.jsonl").read_bytes() == lines


def test_a_planted_wrong_stride_is_refuted(launch: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    right = layouts.composition

    def planted(a: Layout, b: Layout) -> Any:
        return Layout(2, 2) if (a, b) == (Layout(4, 1), Layout(2, 1)) else right(a, b)

    monkeypatch.setattr(layouts, "composition", planted)
    code, out, _ = launch(SMALL)
    assert code == 1
    assert "225 of 225 cases: 166 confirmed, 1 refuted, 7 rejected, 51 outside the law" in out
    assert "  smallest counterexample: composition(4:1, 2:1) -> 2:2: R(1) = 2, A(B(1)) = A(1) = 1\n" in out
    assert out.endswith("layouts: 1 verified, 1 refuted\n")


def test_what_takes_more_than_a_minute_needs_yes(launch: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(run, "MINUTE", 0.0)
    monkeypatch.setattr(run, "MEASURED", 0.0)
    monkeypatch.setattr(tasks, "SIDE", 2)
    code, out, err = launch(SMALL)
    assert code == 2 and out == ""
    assert err.splitlines()[-1].endswith(": --yes runs them all")
    kept = (tmp_path / "campaign.results.jsonl").read_bytes().splitlines()
    assert 0 < len(kept) < 65
    assert launch(SMALL, "--yes")[0] == 0


def test_an_interruption_reports_what_was_found(launch: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "SIDE", 4)
    submit, calls = InProcess.submit, iter(range(100))

    def interrupted(*given: Any) -> Any:
        if next(calls) == 7:
            raise KeyboardInterrupt
        return submit(*given)

    monkeypatch.setattr(InProcess, "submit", interrupted)
    code, out, err = launch(SMALL)
    assert code == 130
    assert "small pairs: composition  UNKNOWN" in out and " of 16 chunks are done" in out
    assert err.splitlines()[-1].startswith("lanecheck: interrupted (")
    assert err.splitlines()[-1].endswith(" chunks are kept in campaign.results.jsonl)")
    monkeypatch.setattr(InProcess, "submit", submit)
    assert launch(SMALL)[0] == 0


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (SMALL.replace('"laws"\n', '"law"\n'), "3:1: small pairs.kind: expected one of laws, mutants, found 'law'"),
        (SMALL.replace('kind    = "laws"', ""), "small pairs.kind: expected one of laws, mutants"),
        (SMALL.replace("rank    = 2", ""), "small pairs.rank: missing"),
        (SMALL.replace("rank", "rnak"), "small pairs.rnak: unknown key; did you mean 'rank'?"),
        (SMALL.replace("[0, 1, 2]", "[0, -1]"), "strides: expected a number from 0 to 65536, found -1"),
        (SMALL.replace("[0, 1, 2]", "[0, 1, 1]"), "strides: 1 is in the list twice"),
        (SMALL.replace("[0, 1, 2]", "[]"), "strides: expected a list of one value or more, found []"),
        (SMALL.replace("[2, 4]", "4"), "extents: expected a list of one value or more, found 4"),
        (SMALL.replace('"coalesce"', '"coalesc"'), "laws: expected one of coalesce, composition"),
        (LARGE, "small pairs: composition has 1234565432100 cases, which no machine tries: name a smaller bound"),
        (LARGE.replace("extents", "#"), "small pairs.extents: there are more than 65536 shapes"),
        ('["m"]\nkind = "mutants"\natoms = [3]\n', "atoms: expected a text, found "),
        ('["m"]\nkind = "mutants"\natoms = ["SM80_nothing"]\n', "no atom is named 'SM80_nothing'"),
        ('["m"]\natom = "SM80_16x8x16_F32F16F16F32_TN"\n', "this is a file of tilings"),
    ],
)
def test_what_is_wrong_with_a_spec_is_a_line(launch: Run, text: str, problem: str) -> None:
    code, out, err = launch(text)
    assert (code, out) == (2, "") and problem in err and "Traceback" not in err


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--path", "x"], "--path says where a --module is"),
        (["--budget", "3"], "--budget is for a --module"),
        (["--scheduler", "tcp://x", "--jobs", "2"], "--jobs is for this machine"),
        (["--resources", "GPU=1"], "--resources chooses among the workers"),
        *(
            (["--scheduler", "tcp://x", "--resources", wrong], f"--resources {wrong!r}: expected NAME=NUMBER, such as")
            for wrong in ("GPU", "=1", ",", "GPU=0", "GPU=-1", "GPU=nan", "GPU=1e999", "GPU=1,GPU=2", "GPU=1,")
        ),
        (["--scheduler", ""], "--scheduler: its value is empty"),
        (["--results", ""], "--results: its value is empty"),
        (["--only", "large pairs"], "no campaign is named 'large pairs'; nearest: small pairs"),
        (["--only", "zzz"], "no campaign is named 'zzz'; --count shows all"),
        (["--results", "DIR/none/x"], "cannot write DIR/none/x: No such file or directory"),
        (["--results", "-"], "cannot write -: expected a file, and - is stdout; ./- is a file of that name"),
        (["--module", "pycute.py"], "--module pycute.py"),
    ],
)
def test_options_without_effect_are_rejected(launch: Run, options: list[str], problem: str, tmp_path: Path) -> None:
    if options == ["--module", "pycute.py"]:
        (tmp_path / "pycute.py").write_text("")
        options = ["--module", str(tmp_path / "pycute.py")]
        problem = "a file: give its name alone, its folder by --path"
    code, out, err = launch(SMALL, *options)
    assert (code, out) == (2, "") and problem in err.splitlines()[-1]


def test_an_implementation_is_checked_against_laws_only(launch: Run) -> None:
    code, _, err = launch('["m"]\nkind = "mutants"\n', "--module", "pycute")
    assert code == 2 and "--module is checked against laws" in err


def test_the_same_question_twice_is_run_once(launch: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, again, results = (tmp_path / name for name in ("campaign.toml", "again.toml", "campaign.results.jsonl"))
    once = launch(SMALL)[1]
    chunks = sorted(results.read_bytes().splitlines())
    again.write_text(SMALL.replace("small pairs", "the same"))
    for files, verified in ((2 * [file], 2), ([file, again], 4)):
        results.unlink()
        assert command.main([*map(str, files), "--jobs", "1"]) == 0
        out = capsys.readouterr().out
        assert out.endswith(f"layouts: {verified} verified\n")
        assert sorted(results.read_bytes().splitlines()) == chunks
        assert verified > 2 or out == once
    assert command.main([str(file), str(again), "--count"]) == 0
    counts = capsys.readouterr().out.splitlines()
    assert len(counts) == 5 and counts[-1].split()[2:] == [str(15**2 + 15), "cases", "in", "2", "chunks"]


def test_a_domain_without_a_case_is_empty(launch: Run) -> None:
    code, out, _ = launch(SMALL.replace("[2, 4]", "[8]"))
    assert code == 5 and out.endswith("nothing selected\n")


def test_a_campaign_that_cannot_be_read_is_exit_2(launch: Run) -> None:
    """Whatever the others are: the last one is not verified."""
    wrong = '\n["wrong"]\nkind = "laws"\n'
    nowhere = SMALL.replace('["composition", "coalesce"]', '["left_inverse"]').replace("[0, 1, 2]", "[0]")
    for text in (SMALL, SMALL.replace("[2, 4]", "[8]"), nowhere):
        for options in ((), ("--count",)):
            code, out, err = launch(text + wrong, *options)
            assert code == 2 and out and "wrong.rank: missing" in err
    code, out, _ = launch(SMALL + wrong, "--format", "json")
    document = json.loads(out)
    assert code == 2 and [part["status"] for part in document["parts"]] == ["VERIFIED", "VERIFIED"]
    assert {(failure["place"]["line"], "missing" in failure["message"]) for failure in document["failures"]} == {
        (10, True)
    }


def test_a_spec_without_a_campaign_leaves_no_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    spec = tmp_path / "bare.toml"
    spec.write_text("", encoding="utf-8")
    assert command.main([str(spec)]) == 2
    assert "there is no table in it" in capsys.readouterr().err and [*tmp_path.iterdir()] == [spec]


def test_a_law_that_applies_nowhere_is_no_pass(launch: Run) -> None:
    text = SMALL.replace('["composition", "coalesce"]', '["left_inverse"]').replace("[0, 1, 2]", "[0]")
    code, out, _ = launch(text)
    assert code == 4 and "the law applies to none of the cases" in out


@pytest.mark.long
def test_mutants_are_refuted_or_the_same_function(launch: Run) -> None:
    text = '["m"]\nkind = "mutants"\natoms = ["SM80_8x8x4_F64F64F64F64_TN"]\n'
    code, out, _ = launch(text)
    assert code == 0 and "every one-edit mutant of SM80_8x8x4_F64F64F64F64_TN" in out
    assert out.endswith("layouts: 1 verified\n")


def test_mutants_without_evidence_are_no_pass(launch: Run) -> None:
    """The solver gives up at once, within a budget of one unit."""
    text = '["m"]\nkind = "mutants"\natoms = ["SM80_8x8x4_F64F64F64F64_TN"]\nrlimit = 1\n'
    code, out, _ = launch(text, "--format", "json")
    part = json.loads(out)["parts"][0]
    assert (code, part["status"], part["reason"]) == (4, "UNCHECKED", "no evidence on some")
    assert 0 < part["rejected"] < part["cases"] and part["refuted"] == 0
    code, out, _ = launch(text, "--allow-unchecked")
    assert code == 0 and out.endswith("layouts: 1 unchecked\n")


def test_a_mutant_that_survives_is_refuted(launch: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("verify.maps.search.locate_difference", lambda *_: None)  # seam: a planted bug
    code, out, _ = launch('["m"]\nkind = "mutants"\natoms = ["SM80_8x8x4_F64F64F64F64_TN"]\n')
    assert code == 1
    assert "  smallest counterexample: SM80_8x8x4_F64F64F64F64_TN A SURVIVES isa: stride 8 (mode 0) halved" in out
