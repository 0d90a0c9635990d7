# SPDX-License-Identifier: Apache-2.0
"""Reports as JUnit: one test case for each claim, and failures just where the exit code is one."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.verify.atom.test_command import ENTRY, RIGHT_B, user_file
from tests.verify.core.test_verdict import report_taken
from verify.atom import command as atom
from verify.report import as_html, as_junit

MUSEUM = Path(__file__).parents[2] / "museum"


@pytest.mark.long
def test_junit_counts_what_does_not_pass(tmp_path: Path) -> None:
    target = tmp_path / "out.xml"
    assert atom.main(["--atoms", str(MUSEUM / "wrong.toml"), "--format", "junit", "-o", str(target)]) == 1
    suite = ElementTree.parse(target).getroot()[0]
    assert int(suite.attrib["failures"]) == len(suite.findall(".//failure")) > 8
    assert int(suite.attrib["skipped"]) == len(suite.findall(".//skipped"))
    assert int(suite.attrib["tests"]) == len(suite.findall("testcase"))


def outcomes(path: Path, *words: str) -> tuple[int, Counter[str], list[str]]:
    """The exit code, the outcomes of the test cases, and the name of each that failed, of a JUnit report."""
    target = path.with_suffix(".xml")
    code = atom.main(["--atoms", str(path), *words, "--format", "junit", "-o", str(target)])
    suite = ElementTree.parse(target).getroot()[0]
    assert int(suite.attrib["tests"]) == len(suite.findall("testcase"))
    counts = Counter(node.tag for case in suite for node in case if node.tag != "properties")
    assert all(int(suite.attrib[f"{tag}s"]) == counts[tag] for tag in ("failure", "error"))
    failed = [f"{c.attrib['classname']} {c.attrib['name']}" for c in suite if c.find("failure") is not None]
    return code, counts, failed + [f"{c.attrib['classname']} {c.attrib['name']}" for c in suite.findall("*[error]")]


@pytest.mark.long
def test_junit_fails_just_where_the_exit_code_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A required check that was not made, a known defect that is gone, and one that is as expected."""
    text = ENTRY.format(number=0, B=RIGHT_B)
    bare = Path(user_file(tmp_path, text="\n".join(row for row in text.split("\n") if not row.startswith("ptx"))))
    assert outcomes(bare)[::2] == (4, ["MINE_0 checked"])
    assert outcomes(bare, "--allow-unchecked")[::2] == (0, [])
    assert outcomes(bare, "--require", "isa")[::2] == (4, ["MINE_0 checked", "MINE_0 required isa"])
    gone = Path(user_file(tmp_path, text=text + 'known_defect = "B: it was wrong"\n'))
    assert outcomes(gone, "--expect-known")[::2] == (1, ["MINE_0 known defect"])
    assert atom.main(["--atoms", str(gone), "--expect-known", "-q"]) == 1
    assert "entries not as expected: 1; exit 1" in capsys.readouterr().out
    assert atom.main(["--atoms", str(gone), "--expect-known", "--format", "json"]) == 1
    assert json.loads(capsys.readouterr().out)["surprises"] == ["MINE_0"]
    b = ENTRY.format(number=0, B="((4,8),(2,2)):((8,1),(16,64))")
    half = Path(user_file(tmp_path, text=b + 'known_defect = "B, C, ptx: wrong"\n'))  # C is right
    assert outcomes(half, "--expect-known")[0] == 1
    wrong = b + 'known_defect = "B, ptx: wrong"\n'
    known = Path(user_file(tmp_path, text=wrong))
    rejected, before, _ = outcomes(known)
    code, after, failed = outcomes(known, "--expect-known")
    assert (rejected, code, failed) == (1, 0, []) and before["failure"] > 0
    assert after["skipped"] == before["failure"] + before["skipped"]


def test_what_is_taken_is_no_pass_in_junit_and_named_in_html() -> None:
    suite = ElementTree.fromstring(as_junit.render(report_taken())).find("testsuite")
    assert suite is not None and (suite.get("tests"), suite.get("skipped")) == ("2", "1")
    assert '<span class="status TAKEN">TAKEN</span>' in as_html.render(report_taken())
