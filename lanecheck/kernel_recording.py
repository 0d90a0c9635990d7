# SPDX-License-Identifier: Apache-2.0
"""The pytest plugin of a child process that records what tests launch: `pytest --lanecheck-kernels` starts it.

Each test runs once with comparisons that say "equal", and once more for each comparison, which then says "different":
only if the test fails then does it rest on that comparison. At last it runs unchanged again, and must pass. So a
comparison that is negated, discarded, caught or expected to fail is never taken for a claim. All of that is done again
with each table of sizes that the test's module names as `lanecheck_sizes`.
"""

from __future__ import annotations

import importlib
import json
import os
import runpy
import sys
import sysconfig
import traceback
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from lanecheck.kernel_sizes import NAME, NamedSizes, place_sizes, set_sizes
from verify.capture.marking import list_claims
from verify.capture.recording.install import install

TASK = "LANECHECK_RECORD"  # the variable of the environment that says what to record, as JSON
MOST = 24  # comparisons of a test that are made to differ
PLACES = 3  # elements that differ, one at a time, if a comparison is one of elements: a part of them isn't a claim
STATE: dict[str, Any] = {}


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests() -> None:
    """Install the recorder before any module of the user's is imported."""
    task = json.loads(os.environ[TASK])
    folder = Path(task["folder"])
    STATE["file"] = (folder / "records.jsonl").open("a", encoding="utf-8")
    STATE["sizes"] = NamedSizes()
    STATE["recorder"] = install(task["target"], folder, task["configs"], task["seed"])


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a file as a script, if that is what is to be run."""
    if not json.loads(os.environ[TASK]).get("script"):
        return None
    script: ScriptFile = ScriptFile.from_parent(parent, path=module_path)
    return script


class ScriptFile(pytest.File):
    """A script, as one test."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the only item."""
        yield ScriptItem.from_parent(self, name="script")


class ScriptItem(pytest.Item):
    """The run of a script; it fails where the script does."""

    def runtest(self) -> None:
        """Run the script from its folder, as Python would: without arguments."""
        sys.path.insert(0, str(self.path.parent))
        arguments, sys.argv = sys.argv, [str(self.path)]
        try:
            left = runpy.run_path(str(self.path), run_name="__main__")
            assert NAME not in left, f"{NAME} is for tests, and a script runs once"
        except SystemExit as end:
            assert not end.code, f"the script ends with exit code {end.code}"
        finally:
            sys.argv = arguments
            sys.path.remove(str(self.path.parent))

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the file, its first line, and its name."""
        return self.path, 0, self.path.name


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    """Run a test, and again for each of its comparisons and for all sizes that its module names."""
    record_test(item, nextitem, {})
    for number, table in enumerate(STATE["sizes"].read_tables(item)):
        if place_sizes(item, table):
            STATE["sizes"].place(item, number)
            with set_sizes(item, table):
                record_test(item, nextitem, table)
    return True


@pytest.hookimpl(trylast=True)
def pytest_deselected() -> None:
    """Note that some tests of a module were left out."""
    STATE["sizes"].chosen = True


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Note whether the arguments name some tests alone."""
    STATE["sizes"].chosen |= any("::" in word for word in session.config.args)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    """Record which sizes no test was run at."""
    for test, why in STATE["sizes"].complain() if "sizes" in STATE else ():
        keep({"error": why, "test": test})


def record_test(item: pytest.Item, nextitem: pytest.Item | None, sizes: Mapping[str, int]) -> None:
    """Record a test with its own sizes, or with others that its module names."""
    recorder = STATE["recorder"]
    recorder.test += 1
    reports = run_test(item, nextitem, -1)
    name = item.nodeid + (f"[sizes {', '.join(f'{key}={value}' for key, value in sizes.items())}]" if sizes else "")
    record = {"test": name, "line": (item.location[1] or 0) + 1, **_outcome(reports), **recorder.log()}
    record["claims"] = list_claims(getattr(item, "function", None))
    made, asserted = recorder.comparisons, []
    if record["outcome"] == "passed":
        each = {event["number"] for event in record["events"] if event.get("each")}
        for number in range(min(made, MOST)):
            places = range(PLACES if number in each else 1)
            if all(fails_if_different(item, nextitem, number, place) for place in places):
                asserted.append(number)
        if asserted and _outcome(run_test(item, nextitem, -1))["outcome"] != "passed":
            asserted = []  # it fails whenever it runs again, whatever its comparisons say
    keep({**record, "asserted": asserted})


def fails_if_different(item: pytest.Item, nextitem: pytest.Item | None, number: int, place: int) -> bool:
    """Return whether a test fails if one of its comparisons differs, at one place if elements are compared."""
    failed = _outcome(run_test(item, nextitem, number, place))["outcome"] == "failed"
    return failed and bool(STATE["recorder"].comparisons > number)


def keep(record: Mapping[str, Any]) -> None:
    """Write one record."""
    STATE["file"].write(json.dumps(record) + "\n")
    STATE["file"].flush()


def run_test(
    item: pytest.Item, nextitem: pytest.Item | None, flipped: int, place: int = 0
) -> Sequence[pytest.TestReport]:
    """Return the reports of one run, in which a comparison may differ."""
    if hasattr(item, "_initrequest"):
        item._initrequest()
    STATE["recorder"].start(flipped, place)
    STATE["parts"] = []
    runner = importlib.import_module("_pytest.runner")  # it has no public name
    reports: Sequence[pytest.TestReport] = runner.runtestprotocol(item, log=False, nextitem=nextitem)
    return [*STATE["parts"], *reports]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keep what a part of a test reports, as `subTest` does: a test whose part fails fails."""
    if report.failed:
        STATE["parts"].append(report)


def _outcome(reports: Sequence[pytest.TestReport]) -> dict[str, str]:
    """Return how a run ended, and why it did not pass."""
    for report in reports:
        if hasattr(report, "wasxfail"):
            return {"outcome": "xfail", "why": f"the test is expected to fail: {report.wasxfail or 'xfail'}"}
        if report.outcome == "skipped":
            why = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            return {"outcome": "skipped", "why": why.removeprefix("Skipped: ")}
        if report.outcome == "failed":
            crash = getattr(report.longrepr, "reprcrash", None)
            first = say_error(str(crash.message)) if crash else find_error(str(report.longrepr))
            place = f"{find_place(report.longrepr)}: " if crash else ""
            return {"outcome": "failed", "why": f"{place}{first}"[:400]}
    return {"outcome": "passed", "why": ""}


def say_error(text: str) -> str:
    r"""Return the first line of an error's message, and the last one if the first only leads to it.

    >>> say_error("CompilationError: at 3:8:\ndef f():\n  ^\nno such name")
    'CompilationError: at 3:8: no such name'
    """
    lines = text.strip().splitlines() or [""]
    return f"{lines[0]} {lines[-1]}" if lines[0].endswith(":") and len(lines) > 1 else lines[0]


def find_place(shown: Any) -> str:
    """Return `file:line` of the innermost code that is the program's own, or else of the innermost."""
    places = [shown.reprcrash]
    for entry in getattr(getattr(shown, "reprtraceback", None), "reprentries", ()):
        place = getattr(entry, "reprfileloc", None)
        if place is not None and not is_package(Path(place.path).resolve()):
            places.append(place)
    return f"{Path(places[-1].path).name}:{places[-1].lineno}"


def is_package(file: Path) -> bool:
    """Return whether a file is of Python's own packages, of one that is installed, or of ours."""
    ours = Path(__file__).resolve().parents[1]
    folders = (Path(sysconfig.get_path("stdlib")).resolve(), ours / "verify", ours / "lanecheck")
    return bool({"site-packages", "dist-packages"} & {*file.parts} or {*folders} & {*file.parents})


def find_error(text: str) -> str:
    """Return the first line of a report that says what is wrong: pytest marks it with an E."""
    lines = text.strip().splitlines() or [""]
    return next((line for line in lines if line.startswith("E ")), lines[0]).removeprefix("E ").strip()


@pytest.hookimpl(trylast=True)
def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Record a file that cannot be collected."""
    if report.failed:
        lines = str(report.longrepr).strip().splitlines() or [traceback.format_exc()]
        errors = [line for line in lines if line.startswith("E ")]
        why = (errors or lines)[-1].removeprefix("E ").strip()[:400]
        keep({"error": why, "test": report.nodeid})
