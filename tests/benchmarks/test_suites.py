# SPDX-License-Identifier: Apache-2.0
"""The runner of others' test suites: a checkout that isn't there, its journal, and the table that is made of it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import suites
from benchmarks.suites import count_launches, list_scripts, read_report, read_suites, summarise, write_table

ROOT = Path(__file__).parents[2]
REPORT = """<testsuites><testsuite>
<testcase name="test_dot[1][launch 1: values]"><properties><property name="lanecheck" value="compared"/></properties>
</testcase>
<testcase name="test_dot[2][launch 1: values]"><properties><property name="lanecheck" value="undecided"/>
<property name="lanecheck-reason" value="UNKNOWN: line 12: no meaning for frob (test_core.py:3); c = a"/></properties>
</testcase>
<testcase name="test_dot[3][skipped]"><skipped message="UNCHECKED: needs two GPUs"/></testcase>
</testsuite></testsuites>"""


def test_a_checkout_without_the_files_is_not_measured(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.suites", str(tmp_path), "--journal", str(tmp_path / "journal")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 4
    assert done.stdout.count("not measured") == 5


def test_a_report_is_read_and_counted() -> None:
    launches = list(read_report(REPORT))
    assert [launch["kind"] for launch in launches] == ["compared", "undecided", "skipped"]
    made = summarise([{"file": "unit/test_core.py", "test": "test_dot", "launches": launches}])
    assert made["files"]["unit/test_core.py"] == {
        "tests": 1, "compared": 1, "refuted": 0, "partial": 0, "undecided": 1, "safety only": 0, "not captured": 0,
        "skipped": 1,
    }  # fmt: skip
    assert made["reasons"] == [["undecided", "UNKNOWN: line N: no meaning for frob", 1]]
    table = write_table({"source": "a fork", **made})
    assert "Measured on a fork." in table
    assert "| test_core.py | 1 | 1 | 0 | 0 | 1 | 0 | 0 | 1 |" in table
    assert "| 1 | undecided | UNKNOWN: line N: no meaning for frob |" in table


def test_a_script_is_copied_with_other_sizes(tmp_path: Path) -> None:
    suite = read_suites()["triton"]
    for script in suite["scripts"]:
        file = tmp_path / script["file"]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join([*suite["names"], *script["sizes"]]))
    home = tmp_path / "home"
    home.mkdir()
    made = list(list_scripts(suite, tmp_path, home))
    names = "\n".join(suite["names"].values())
    assert [copy.read_text().removeprefix(f"{names}\n") for _, _, copy in made] == [
        "(256, 256)", "(512, 512)", "[256, 256]", "[512, 512]",
        "validate(256, 256, 256,\nvalidate(512, 512, 512,\nreps=1, warmup_reps=0",
    ]  # fmt: skip
    assert len({name for _, name, _ in made}) == 5


def test_a_run_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "test_x.py").write_text("")
    suite = {"folder": ".", "files": ["test_x.py"], "scripts": [], "select": {}, "target": "sm_90a", "tag": "v1"}
    asked: list[str] = []

    def measure(tests: list[str], *_: object) -> list[dict[str, str]]:
        asked.extend(tests)
        return [
            {"item": f"{test.rpartition('::')[2]}[launch 1: values]", "kind": "compared", "why": ""} for test in tests
        ]

    monkeypatch.setattr(suites, "list_tests", lambda *_: ["test_x.py::test_a", "test_x.py::test_b[1]"])
    monkeypatch.setattr(suites, "measure", measure)
    journal = tmp_path / "journal"
    journal.write_text(json.dumps({"file": "test_x.py", "test": "test_x.py::test_a", "launches": []}) + "\n")
    suites.run_suite(suite, tmp_path, journal)
    suites.run_suite(suite, tmp_path, journal)
    assert asked == ["test_x.py::test_b[1]"]
    assert len(journal.read_text().splitlines()) == 2


def test_shares_have_each_test_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for file in ("test_x.py", "test_y.py"):
        (tmp_path / file).write_text("")
    suite = {
        "folder": ".",
        "files": ["test_x.py", "test_y.py"],
        "scripts": [],
        "select": {},
        "target": "sm_90a",
        "tag": "",
    }
    tests = {file: [f"{file}::test_a[{number}]" for number in range(9)] for file in suite["files"]}
    monkeypatch.setattr(suites, "list_tests", lambda folder, file, *_: tests[file])
    monkeypatch.setattr(suites, "measure", lambda *_: [])
    journals = [tmp_path / f"{number}.jsonl" for number in range(3)]
    for number, journal in enumerate(journals):
        suites.run_suite(suite, tmp_path, journal, (number, 3))
    lines = [json.loads(line)["test"] for journal in journals for line in journal.read_text().splitlines()]
    assert sorted(lines) == sorted(tests["test_x.py"] + tests["test_y.py"])


def test_nothing_is_begun_late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "test_x.py").write_text("")
    suite = {"folder": ".", "files": ["test_x.py"], "scripts": [], "select": {}, "target": "sm_90a", "tag": ""}
    monkeypatch.setattr(suites, "list_tests", lambda *_: ["test_x.py::test_a"])
    suites.run_suite(suite, tmp_path, tmp_path / "journal", seconds=0)
    assert not (tmp_path / "journal").exists()


def test_a_summary_is_counted() -> None:
    text = "1 compared in a line of the test\n4 compared, 2 undecided, 1 safety only, 7 not captured; for sm_90a\n"
    assert count_launches(text) == {"compared": 4, "undecided": 2, "safety only": 1, "not captured": 7}
