# SPDX-License-Identifier: Apache-2.0
"""Run test suites of others without a GPU: `python -m benchmarks.suites CHECKOUT`, for the suites of `suites.toml`.

What `pytest --lanecheck-kernels` says of each test is a line of a journal: a run that was ended goes on where it was.
`--write` makes `suites.json` of it, of which the table in docs/pytest.md is made. Exit code 1 if a launch is refuted
or too few are compared, 4 if nothing of a suite could be measured.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from math import inf
from pathlib import Path
from typing import Any, TypeAlias
from xml.etree import ElementTree

from lanecheck.kernel_recording import TASK

ROOT = Path(__file__).parent.parent
SUITES, DATA = Path(__file__).with_name("suites.toml"), Path(__file__).with_name("suites.json")
COUNT = re.compile(r"(\d+) (compared|claimed|refuted|partial|undecided|safety only|not captured)")
KINDS = ("compared", "refuted", "partial", "undecided", "safety only", "not captured", "skipped")
TOGETHER = 6  # tests of one process
SEED = 2411  # of their order: what a run that was ended has measured is a sample
SECONDS = 3600
BLOCK = "<!-- suites -->", "<!-- /suites -->"  # of docs/pytest.md
REASONS = 12  # of a page
PLACE = re.compile(r" ?\(?\b[\w-]+\.py:\d+\)?:?")  # in a reason: the same reason elsewhere is the same
NUMBERS = re.compile(r"\d+")
Share: TypeAlias = tuple[int, int]  # the number of a share, from 0, and how many there are


def read_suites() -> dict[str, Any]:
    """Return the suites by name."""
    return tomllib.loads(SUITES.read_text("utf-8"))


def count_launches(text: str) -> Counter[str]:
    """Return how many launches the summary of a run counts, by what became of them.

    >>> count_launches("... \\n3 compared, 1 refuted, 0 safety only, 2 not captured; for sm_90a")["compared"]
    3
    """
    lines = [line for line in text.splitlines() if "compared" in line and "not captured" in line]
    return Counter({kind: int(number) for number, kind in COUNT.findall(lines[-1])} if lines else {})


def list_tests(folder: Path, file: str, chosen: str, target: str) -> list[str]:
    """Return the tests of a file, as they are collected where a GPU seems to be; the error of a file that isn't."""
    with tempfile.TemporaryDirectory() as home:
        task = {"folder": home, "target": target, "configs": "first", "seed": 1, "script": False}
        words = ["-p", "lanecheck.kernel_recording", "-p", "no:cacheprovider", "--collect-only", "-q"]
        done = run_pytest([*words, *(["-k", chosen] if chosen else []), file], folder, {TASK: json.dumps(task)})
    tests = [line for line in done.stdout.splitlines() if line.startswith(file + "::")]
    errors = [line for line in done.stdout.splitlines() if line.startswith(("E ", "ERROR"))]
    return tests or [f"{file}: not collected: {(errors or ['no test is chosen'])[0].removeprefix('E ').strip()}"]


def run_pytest(words: Sequence[str], folder: Path, more: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run pytest in a folder of the checkout."""
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    environment = {**os.environ, "COLUMNS": "300", **more, "PYTHONPATH": paths}
    command = [sys.executable, "-m", "pytest", *words]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=SECONDS
    )


def measure(tests: Sequence[str], folder: Path, target: str, more: Sequence[str] = ()) -> list[dict[str, str]]:
    """Return what became of each launch of some tests."""
    with tempfile.TemporaryDirectory() as home:
        report = Path(home) / "report.xml"
        words = ["-p", "no:cacheprovider", "-q", "--lanecheck-kernels", "--lanecheck-target", target,
                 "--lanecheck-seed", "1", "--lanecheck-seconds", str(SECONDS - 600)]  # fmt: skip
        done = run_pytest([*words, f"--junitxml={report}", *more, *tests], folder, {})
        if not report.exists():
            last = (done.stdout + done.stderr).strip().splitlines()[-1:]
            return [{"item": tests[0], "kind": "not captured", "why": " ".join(last)}]
        return list(read_report(report.read_text("utf-8")))


def read_report(text: str) -> Iterator[dict[str, str]]:
    """Yield what became of each item of a JUnit report: its kind, and the reason."""
    for case in ElementTree.fromstring(text).iter("testcase"):
        given = {field.get("name", ""): field.get("value", "") for field in case.iter("property")}
        skipped = case.find("skipped")
        why = given.get("lanecheck-reason", "" if skipped is None else skipped.get("message", ""))
        kind = given.get("lanecheck", "not captured")
        yield {
            "item": case.get("name", ""),
            "kind": "skipped" if "[skipped]" in case.get("name", "") else kind,
            "why": why,
        }


def list_scripts(suite: Mapping[str, Any], checkout: Path, home: Path) -> Iterator[tuple[str, str, Path]]:
    """Yield (file, name, copy) of each script: once with all of its sizes, or once with each."""
    for script in suite["scripts"]:
        source = checkout / script["file"]
        if not source.is_file():
            print(f"{script['file']}: not measured, {source} isn't there (a checkout of {suite['tag']})")
            continue
        old, new = script["sizes"], script["by"]
        for at, pairs in enumerate(
            [list(zip(old, new, strict=True))] if len(old) > 1 else [[(old[0], by)] for by in new]
        ):
            text = source.read_text("utf-8")
            for before, after in (*suite["names"].items(), *pairs):
                text = text.replace(before, after)
            copy = home / f"{at}_{source.name}"
            copy.write_text(text, encoding="utf-8")
            yield script["file"], f"{script['file']} with {' and '.join(after for _, after in pairs)}", copy


def read_journal(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a journal."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def run_suite(
    suite: Mapping[str, Any], checkout: Path, journal: Path, share: Share = (0, 1), seconds: float = inf
) -> None:
    """Measure what the journal of a suite lacks, of one share of the tests; begin nothing after so many seconds."""
    done, late = {line["test"] for line in read_journal(journal)}, time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as home:
        scripts = list(list_scripts(suite, checkout, Path(home)))
        for file, name, copy in scripts[share[0] :: share[1]]:
            if name not in done and time.monotonic() < late:
                keep_line(
                    journal, file, name, measure([copy.name], Path(home), suite["target"], ["--lanecheck-scripts"])
                )

    folder = checkout / suite["folder"]
    chunks: list[list[tuple[str, Sequence[str]]]] = []
    for file in suite["files"]:
        if not (folder / file).is_file():
            print(f"{file}: not measured, {folder / file} isn't there (a checkout of {suite['tag']})")
            continue
        tests = list_tests(folder, file, suite["select"].get(file, ""), suite["target"])
        for test in (missed for missed in tests if ": not collected: " in missed and missed not in done):
            keep_line(journal, file, test, [{"item": file, "kind": "not captured", "why": test.partition(": ")[2]}])
        mine = take_turns([test for test in tests if ": not collected: " not in test])[share[0] :: share[1]]
        rest = [test for test in mine if test not in done]
        print(f"{file}: {len(rest)} of {len(mine)} tests are left", flush=True)
        chunks.append([(file, rest[at : at + TOGETHER]) for at in range(0, len(rest), TOGETHER)])
    for file, chunk in filter(None, chain.from_iterable(zip_longest(*chunks))):  # a sample has some of each file
        if time.monotonic() >= late:
            break
        launches = measure(chunk, folder, suite["target"])
        for test in chunk:
            name = test.rpartition("::")[2]
            keep_line(journal, file, test, [launch for launch in launches if launch["item"].startswith(f"{name}[")])


def keep_line(journal: Path, file: str, test: str, launches: Sequence[Mapping[str, str]]) -> None:
    """Write what became of a test into the journal."""
    with journal.open("a", encoding="utf-8") as out:
        out.write(json.dumps({"file": file, "test": test, "launches": launches}) + "\n")
    print(f"{test}: {', '.join(launch['kind'] for launch in launches)}", flush=True)


def read_share(text: str) -> Share:
    """Return (number, of how many) of a share.

    >>> read_share("2/14")
    (1, 14)
    """
    number, _, total = text.partition("/")
    if not (number.isdecimal() and total.isdecimal() and 1 <= int(number) <= int(total)):
        raise argparse.ArgumentTypeError(f"expected a share such as 2/14, found {text!r}")
    return int(number) - 1, int(total)


def take_turns(tests: Sequence[str]) -> list[str]:
    """Return tests in an order that the seed draws, one of each function in turn.

    >>> [one.partition("[")[0] for one in take_turns(["a[1]", "a[2]", "b[1]"])][-1]
    'a'
    """
    drawn, seen = random.Random(SEED).sample(list(tests), len(tests)), Counter[str]()
    turns = {}
    for test in drawn:
        function = test.partition("[")[0]
        turns[test] = seen[function]
        seen[function] += 1
    return sorted(drawn, key=turns.__getitem__)


def summarise(journal: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the counts of a journal: for each file its tests and launches by kind, and reasons."""
    files: dict[str, dict[str, int]] = {}
    reasons: Counter[tuple[str, str]] = Counter()
    for line in journal:
        counts = files.setdefault(line["file"], {"tests": 0, **dict.fromkeys(KINDS, 0)})
        counts["tests"] += 1
        for launch in line["launches"]:
            counts[launch["kind"]] += 1
            if launch["why"] and launch["kind"] != "skipped":
                reasons[launch["kind"], shorten(launch["why"])] += 1
    return {"files": files, "reasons": [[kind, why, many] for (kind, why), many in reasons.most_common()]}


def shorten(why: str) -> str:
    """Return a reason without what differs from test to test.

    >>> shorten("UNKNOWN: line 12: no meaning for frob (test_core.py:33); c[m,n] = a[m,n]")
    'UNKNOWN: line N: no meaning for frob'
    """
    return NUMBERS.sub("N", PLACE.sub("", why).partition("; ")[0])[:140]


def write_table(data: Mapping[str, Any]) -> str:
    """Return the Markdown of the counts."""
    lines = [f"| file | tests | {' | '.join(KINDS)} |", "|---" * (len(KINDS) + 2) + "|"]
    for file, counts in data["files"].items():
        lines.append(
            f"| {file.rpartition('/')[2]} | {counts['tests']} | {' | '.join(str(counts[kind]) for kind in KINDS)} |"
        )
    lines += ["", "| launches | kind | reason |", "|---|---|---|"]
    lines += [f"| {many} | {kind} | {why.replace('|', '/')} |" for kind, why, many in data["reasons"][:REASONS]]
    return "\n".join([f"Measured on {data['source']}.", "", *lines]) + "\n"


def renew(page: str) -> str:
    """Return a page with today's table in it."""
    head, _, rest = page.partition(BLOCK[0])
    table = write_table(json.loads(DATA.read_text("utf-8")))
    return f"{head}{BLOCK[0]}\n{table}{BLOCK[1]}{rest.partition(BLOCK[1])[2]}"


def main(argv: Sequence[str] | None = None) -> int:
    """Measure every suite on a checkout; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.suites", description=__doc__)
    parser.add_argument("checkout", type=Path, help="a checkout of the suite's tag")
    parser.add_argument("--journal", type=Path, default=Path("build/suites.jsonl"), help="a line for each test")
    parser.add_argument(
        "--with", dest="more", nargs="*", default=[], type=Path, help="journals of other shares, to count"
    )
    parser.add_argument("--share", type=read_share, default=(0, 1), help="the tests of one of several runs, as 2/14")
    parser.add_argument("--seconds", type=float, default=inf, help="begin no test after these; 0 counts the journals")
    parser.add_argument("--write", metavar="SOURCE", help="write suites.json; SOURCE says what the checkout is")
    options = parser.parse_args(argv)
    options.journal.parent.mkdir(parents=True, exist_ok=True)
    totals: Counter[str] = Counter()
    least = 0
    for suite in read_suites().values():
        if options.seconds > 0:
            run_suite(suite, options.checkout, options.journal, options.share, options.seconds)
        least += suite["least"]
    made = summarise([line for journal in (options.journal, *options.more) for line in read_journal(journal)])
    for counts in made["files"].values():
        totals += Counter(counts)
    print(", ".join(f"{totals[kind]} {kind}" for kind in ("tests", *KINDS)))
    if options.write:
        DATA.write_text(json.dumps({"source": options.write, **made}, indent=1) + "\n", encoding="utf-8")
    if not sum(totals[kind] for kind in KINDS if kind != "skipped"):
        return 4
    return int(bool(totals["refuted"]) or totals["compared"] < least)


if __name__ == "__main__":
    sys.exit(main())
