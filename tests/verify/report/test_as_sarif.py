# SPDX-License-Identifier: Apache-2.0
"""Reports as SARIF: what the standard's schema takes, a result for each alert, at the line of the file."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest

from tests.verify.atom.test_command import ENTRY, user_file
from tests.verify.report.sarif_schema import needs_schema, official_schema
from verify.__main__ import main as lanecheck

jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is in the test group")
ROOT = Path(__file__).parents[3]
KERNELS, SOFTMAX = ROOT / "examples/kernel", ROOT / "tests/kernels/compiled/softmax"
WRONG_B = "((4,8),(2,2)):((16,1),(8,32))"
MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
TILING = (
    '["mine"]\natom = "SM80_16x8x16_F32F16F16F32_TN"\ntile = [32, 16, 16]\nA = "((4,8),(2,2,2)):((32,1),(16,8,9))"\n'
)
MOVEMENT = '["mine"]\nshared = "(32,32):(32,1)"\naccess = "(32,32):(1,32)"\nelement = 32\n'


def sarif(line: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, Any]:
    """The exit code and the only run of the log that a command writes."""
    code = lanecheck([*line, "--format", "sarif"])
    document = json.loads(capsys.readouterr().out)
    (run,) = document["runs"]
    assert [run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] for result in run["results"]] == [
        result["ruleId"] for result in run["results"]
    ]
    return code, run


def lines(run: Any) -> list[int]:
    regions = [result["locations"][0]["physicalLocation"] for result in run["results"]]
    return [region["region"]["startLine"] for region in regions]


def test_a_wrong_operand_has_the_line_of_its_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = user_file(tmp_path, WRONG_B)
    code, run = sarif(["atom", path], capsys)
    text = Path(path).read_text(encoding="utf-8").splitlines()
    wrong = next(result for result in run["results"] if result["ruleId"] == "equals_isa")
    place = wrong["locations"][0]["physicalLocation"]
    assert code == run["invocations"][0]["exitCode"] == 1 and wrong["level"] == "error"
    assert text[place["region"]["startLine"] - 1].startswith("B ")
    assert place["artifactLocation"]["uri"] == Path(path).as_uri()
    assert "repair: one stride: ((4,8),(2,2)):((16,1),(8,64))" in wrong["message"]["text"]
    assert len(run["results"]) == 1 and "\nso too REFUTED gives each element" in wrong["message"]["text"]


def test_fingerprints_stay_when_lines_move(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = Path(user_file(tmp_path, WRONG_B))
    fingerprints = []
    for above in ("", "\n\n"):
        path.write_text(above + ENTRY.format(number=0, B=WRONG_B), encoding="utf-8")
        run = sarif(["atom", str(path)], capsys)[1]
        fingerprints.append([result["partialFingerprints"]["subject/v1"] for result in run["results"]])
    assert fingerprints[0] == fingerprints[1] and len(set(fingerprints[0])) == len(fingerprints[0])


def test_what_is_right_has_no_result(capsys: pytest.CaptureFixture[str]) -> None:
    code, run = sarif(["atom", "SM80_16x8x8_F32F16F16F32_TN"], capsys)
    assert code == 0 and run["results"] == [] and run["tool"]["driver"]["version"] == "0.1.0"


def test_a_known_defect_that_is_expected_is_suppressed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = user_file(tmp_path, text=ENTRY.format(number=0, B=WRONG_B) + 'known_defect = "B, ptx: wrong"\n')
    code, run = sarif(["atom", path, "--expect-known"], capsys)
    assert code == 0 and {result["level"] for result in run["results"]} == {"note"}
    assert run["results"][0]["suppressions"] == [{"kind": "external", "justification": "known defect: B, ptx: wrong"}]


@pytest.mark.parametrize(("command", "text", "line"), [("tiling", TILING, 4), ("movement", MOVEMENT, 1)])
def test_tilings_and_movements_have_lines_too(
    command: str, text: str, line: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    code, run = sarif([command, str(path)], capsys)
    assert code == 1 and line in lines(run)


def test_an_entry_that_cannot_be_read_is_a_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = user_file(tmp_path, text=ENTRY.format(number=0, B="((4,8"))
    code, run = sarif(["index", path], capsys)
    assert code == 2 and run["results"][0]["ruleId"] == "readable"
    assert not run["invocations"][0]["executionSuccessful"]
    broken = tmp_path / "broken.toml"
    broken.write_text("[a]\nx = \n", encoding="utf-8")
    code, run = sarif(["atom", str(broken)], capsys)
    assert code == 2 and lines(run) == [2]


def test_an_expression_of_a_review_has_the_line_that_is_given(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["index", "--ptx", MMA, "--operand", "C", "--lang", "c", "--at", "src/kernel.cu:120"]
    code, run = sarif([*words, "--row", "lane/4 + 8*(i%2)", "--col", "lane%4*2 + i/2"], capsys)
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert code == 1 and place["artifactLocation"]["uri"] == "src/kernel.cu" and place["region"]["startLine"] == 120
    assert "repair: two terms exchanged" in run["results"][0]["message"]["text"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--at", "kernel.cu"], "expected FILE:LINE, such as kernel.cu:120, found 'kernel.cu'"),
        (["--at", "kernel.cu:0"], "expected FILE:LINE"),
        ([str(ROOT / "examples/maps.toml"), "--at", "kernel.cu:1"], "--at is for a map of the command line"),
    ],
)
def test_a_line_that_is_none_is_rejected(words: list[str], why: str, capsys: pytest.CaptureFixture[str]) -> None:
    with contextlib.suppress(SystemExit):
        assert lanecheck(["index", *words, "--format", "sarif"]) == 2
    (result,) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    assert why in result["message"]["text"] and result["ruleId"] == "readable"


@needs_schema
@pytest.mark.slow
def test_every_log_is_what_the_official_schema_takes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    validator = jsonschema.Draft7Validator(official_schema(), format_checker=jsonschema.FormatChecker())
    broken = tmp_path / "broken.toml"
    broken.write_text("[a]\nx = \n", encoding="utf-8")
    commands = [
        ["atom", str(ROOT / "tests/museum/wrong.toml")],
        ["atom", str(ROOT / "tests/museum/wrong.toml"), "--expect-known", "--require", "gpu"],
        ["atom", "SM100_128x128x16_F32F16F16_SS"],
        ["index", str(ROOT / "examples/guest/broken/layouts/index.toml")],
        ["index", "--ptx", MMA, "--operand", "C", "--row", "lane", "--col", "i", "--at", "a b.cu:1"],
        ["layout", "(4,8):(8,1)", "--onto", "4x4"],
        ["tiling", str(ROOT / "examples/tilings.toml")],
        ["movement", str(ROOT / "examples/movement.toml")],
        ["scan", str(ROOT / "examples/headers")],
        ["laws", "R1", "--solver", "z3"],
        ["kernel", str(KERNELS / "fragment.ptx"), "--claim", str(KERNELS / "fragment.toml")],
        ["kernel", str(KERNELS / "fragment.ptx"), "--claim", str(KERNELS / "fragment.toml"), "--safety", "--strict"],
        ["kernel", str(KERNELS / "none.ptx"), "--claim", str(KERNELS / "fragment.toml")],
        ["kernel", str(SOFTMAX) + ".ptx", "--claim", str(SOFTMAX) + ".toml", "--safety"],  # it warns
        ["atom", str(broken)],
        ["atom", "nonsense"],
    ]
    for words in commands:
        lanecheck([*words, "--format", "sarif"])
        document = json.loads(capsys.readouterr().out)
        assert [error.message for error in validator.iter_errors(document)] == [], words
    document["runs"][0]["results"][0]["level"] = "fatal"
    assert not validator.is_valid(document)
