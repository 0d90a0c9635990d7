# SPDX-License-Identifier: Apache-2.0
"""A repair that was verified is a SARIF `fix`: put into the user's file, the command ends with exit code 0."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import pytest

from layouts.toml.changes import write_value
from tests.verify.atom.test_command import ENTRY
from tests.verify.kernel.test_mends import LAUNCH, TURN, without
from tests.verify.report.sarif_schema import needs_schema, official_schema
from verify.__main__ import main as lanecheck

RIGHT = ENTRY.format(number=0, B="((4,8),(2,2)):((16,1),(8,64))")
WRONG = (  # what of a right entry is another text
    ("(8,64)", "(8,32)"),
    ('"((4,8),(2,2)):((16,1),(8,64))"', "'((4,8),(2,2)):((1,16),(8,64))'  # mine"),
    ('D = "f32"', 'D = "f16"'),
    ("\nB ", "\ncopies = { B = 2 }\nB "),
)


def run_sarif(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, Any]:
    """Return the exit code of a command, and the SARIF log that it writes."""
    code = lanecheck([*words, "--format", "sarif"])
    return code, json.loads(capsys.readouterr().out)


def apply_fix(fix: Any) -> None:
    """Change files as an editor does that applies a fix."""
    for change in fix["artifactChanges"]:
        path = Path(unquote(urlparse(change["artifactLocation"]["uri"]).path))
        text = path.read_text(encoding="utf-8")
        starts = [0]
        for line in text.split("\n"):
            starts.append(starts[-1] + len(line) + 1)

        def offset(region: Any, side: str, starts: list[int] = starts) -> int:
            return starts[region[f"{side}Line"] - 1] + int(region[f"{side}Column"]) - 1

        regions = [
            (replacement["deletedRegion"], replacement["insertedContent"]["text"])
            for replacement in change["replacements"]
        ]
        for region, new in sorted(regions, key=lambda pair: -offset(pair[0], "start")):
            text = text[: offset(region, "start")] + new + text[offset(region, "end") :]
        path.write_text(text, encoding="utf-8")


def list_fixes(log: Any) -> list[Any]:
    return [fix for alert in log["runs"][0]["results"] for fix in alert.get("fixes", ())]


@pytest.mark.parametrize(("old", "new"), WRONG)
def test_the_fix_of_an_atom_makes_its_file_right(
    old: str, new: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.toml"
    assert old in RIGHT
    path.write_text(f"# two atoms\n{RIGHT.replace(old, new, 1)}\n{RIGHT.replace('MINE_0', 'MINE_1')}", encoding="utf-8")
    code, log = run_sarif(["atom", str(path), "--checks", "isa"], capsys)
    (fix,) = list_fixes(log)
    assert code == 1 and fix["description"]["text"]
    apply_fix(fix)
    assert lanecheck(["atom", str(path), "--checks", "isa"]) == 0 and path.read_text(encoding="utf-8").startswith(
        "# two atoms\n"
    )
    assert "# mine" in path.read_text(encoding="utf-8") or "# mine" not in new


def test_a_member_of_a_family_has_no_fix(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.toml"
    entry = RIGHT.replace("MINE_0", "MINE_{P}").replace("(8,64)", "(8,{P})")
    path.write_text(f"{entry}params = {{ P = [32, 64] }}\n", encoding="utf-8")
    code, log = run_sarif(["atom", str(path), "--checks", "isa"], capsys)
    assert code == 1 and list_fixes(log) == []


@pytest.mark.parametrize("safety", [[], ["--safety"]])
def test_the_fix_of_a_race_makes_the_kernel_right(
    safety: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ptx, claim = tmp_path / "turn.ptx", tmp_path / "turn.toml"
    ptx.write_text(without("bar.sync", 0, TURN), encoding="utf-8")
    claim.write_text("".join(f"{key} = {write_value(value)}\n" for key, value in LAUNCH.items()), encoding="utf-8")
    words = ["kernel", str(ptx), "--claim", str(claim), "--seed", "1", *safety]
    code, log = run_sarif(words, capsys)
    (fix,) = list_fixes(log)
    assert code == 1 and fix["description"]["text"].startswith("a barrier: with bar.sync 0")
    apply_fix(fix)
    assert lanecheck(words) == 0 and "bar.sync 0; ld.shared.f32 %f3" in ptx.read_text(encoding="utf-8")


def test_a_kernel_that_is_no_file_has_no_fix(tmp_path: Path) -> None:
    from verify.kernel.report import verify_safety

    report = verify_safety(without("bar.sync", 0, TURN), LAUNCH, seed=1)
    (refuted,) = [verdict for case in report.cases for verdict in case.verdicts if verdict.counterexample]
    assert refuted.counterexample is not None and refuted.counterexample.repair and refuted.fixes == ()


@needs_schema
@pytest.mark.slow
def test_a_log_with_fixes_is_what_the_official_schema_takes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is in the test group")
    validator = jsonschema.Draft7Validator(official_schema(), format_checker=jsonschema.FormatChecker())
    path = tmp_path / "mine.toml"
    path.write_text(RIGHT.replace("(8,64)", "(8,32)"), encoding="utf-8")
    log = run_sarif(["atom", str(path), "--checks", "isa"], capsys)[1]
    assert list_fixes(log) and [error.message for error in validator.iter_errors(log)] == []
    del list_fixes(log)[0]["artifactChanges"]
    assert not validator.is_valid(log)
