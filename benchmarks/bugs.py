# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.bugs`: one token of a Triton kernel exchanged; does `pytest --lanecheck-kernels` refute it?

The kernels and their tests are those that `tests/lanecheck` records. The operators are those of the
campaign of mutants (`benchmarks.mutants`); which tokens are exchanged is drawn with a seed. Each bug is run against
the tests of its kernel that pass without it, and a line of the log says what became of it, so that a campaign goes on
where it was. torch and Triton are needed, no GPU is.

| fate | means |
|---|---|
| refuted | a launch is refuted |
| stopped | no launch was captured: the compiler or the test itself rejects the kernel, with the reason |
| undecided | a launch is UNKNOWN or UNCHECKED, with the reason |
| survived | every launch is verified: it computes the same, or Lanecheck is wrong |
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.mutants import Mutant, mutants
from benchmarks.suites import count_launches

ROOT = Path(__file__).parent.parent
FILE = ROOT / "tests" / "lanecheck" / "recorded_tests.py.txt"
SECONDS = 900


def list_tests(text: str) -> dict[str, list[str]]:
    """Return for each kernel the tests that launch it, through helpers too, and of which all launches are compared."""
    functions = {function.name: function for function in ast.parse(text).body if isinstance(function, ast.FunctionDef)}
    names = {key: {leaf.id for leaf in ast.walk(node) if isinstance(leaf, ast.Name)} for key, node in functions.items()}
    kernels = [key for key, node in functions.items() if "triton.jit" in map(ast.unparse, node.decorator_list)]
    right = set(re.findall(r"^def (test_\w+)\(.*\):  # (?:safety )*(?:compared ?)+$", text, re.MULTILINE))
    launching: dict[str, list[str]] = {kernel: [] for kernel in kernels}
    for test in (name for name in functions if name in right):
        reached, rest = set[str](), [test]
        while rest:
            fresh = (names[rest.pop()] & functions.keys()) - reached
            reached |= fresh
            rest += fresh
        for kernel in reached & set(kernels):
            launching[kernel].append(test)
    return launching


def draw_bugs(text: str, count: int, seed: int) -> list[tuple[str, Mutant]]:
    """Return (kernel, bug) of some exchanged tokens that compile, in the bodies of kernels that have a test."""
    tests = list_tests(text)
    spans = {
        function.name: range(function.body[0].lineno, (function.end_lineno or 0) + 1)
        for function in ast.parse(text).body
        if isinstance(function, ast.FunctionDef) and tests.get(function.name)
    }
    every = [(name, bug) for bug in mutants(FILE.name, text) for name, lines in spans.items() if bug.line in lines]
    random.Random(seed).shuffle(every)
    return list(islice((pair for pair in every if pair[1].compiles(text)), count))


def run_bug(text: str, kernel: str, bug: Mutant) -> dict[str, Any]:
    """Return what becomes of one bug."""
    chosen = " or ".join(list_tests(text)[kernel])
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "test_kernels.py"
        file.write_text(bug.applied(text), encoding="utf-8")
        words = ["-p", "no:cacheprovider", "-q", "--lanecheck-kernels", "--lanecheck-seed", "1", "-k", chosen]
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *words, str(file)], cwd=folder, capture_output=True, text=True,
            check=False, timeout=SECONDS, env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
    if not count_launches(done.stdout):  # no fate of a bug: the log would keep it
        last = (done.stdout + done.stderr).strip().splitlines()[-1:]
        raise SystemExit(f"pytest --lanecheck-kernels gave no summary: {' '.join(last)}; is Lanecheck installed there?")
    return {"kernel": kernel, "line": bug.code, "old": bug.old, "new": bug.new, **name_fate(done.stdout)}


def name_fate(output: str) -> dict[str, str]:
    """Return the fate of a bug, and its reason, from the output of a run.

    >>> name_fate("3 compared, 0 safety only, 1 not captured; for sm_90a\\n  1 UNCHECKED: stops in capture: no")
    {'fate': 'stopped', 'why': 'stops in capture: no'}
    """
    counts = count_launches(output)
    reasons = [line.partition("UNCHECKED: ")[2] for line in output.splitlines() if re.match(r"  \d+ UNCHECKED: ", line)]
    why = next((reason for reason in reasons if "compares nothing" not in reason), "")
    if counts["refuted"]:
        return {"fate": "refuted", "why": ""}
    if counts["not captured"] or not counts["compared"]:
        return {"fate": "stopped", "why": why}
    return {"fate": "undecided" if why else "survived", "why": why}


def read_log(log: Path) -> list[Mapping[str, Any]]:
    """Return what a campaign has decided so far."""
    return [json.loads(line) for line in log.read_text("utf-8").splitlines()] if log.exists() else []


def run_campaign(count: int, seed: int, log: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the fate of each bug, those of the log first."""
    text = FILE.read_text("utf-8")
    known = {(line["kernel"], line["line"], line["old"], line["new"], line["column"]): line for line in read_log(log)}
    for kernel, bug in draw_bugs(text, count, seed):
        key = (kernel, bug.code, bug.old, bug.new, bug.column)
        if key not in known:
            made = {**run_bug(text, kernel, bug), "column": bug.column}
            with log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(made) + "\n")
            known[key] = made
        yield known[key]


def main(argv: Sequence[str] | None = None) -> int:
    """Run a campaign; returns 1 if a bug survived, for which a reason must be found by hand."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bugs", description=__doc__.partition("\n\n")[0])
    parser.add_argument("--count", type=int, default=30, help="bugs (30)")
    parser.add_argument("--seed", type=int, default=2411, help="which tokens are exchanged (2411)")
    parser.add_argument("--log", type=Path, default=Path("build/bugs.jsonl"), help="a line for each bug")
    options = parser.parse_args(argv)
    options.log.parent.mkdir(parents=True, exist_ok=True)
    fates: Counter[str] = Counter()
    for number, fate in enumerate(run_campaign(options.count, options.seed, options.log), 1):
        fates[fate["fate"]] += 1
        what = f"{fate['old']} -> {fate['new'] or 'nothing'} in {fate['line'][:70]}"
        print(
            f"{number} of {options.count}  {fate['fate']:9}  {fate['kernel']}: {what}  {fate['why'][:120]}", flush=True
        )
    print(", ".join(f"{many} {fate}" for fate, many in fates.most_common()))
    return int(bool(fates["survived"]))


if __name__ == "__main__":
    sys.exit(main())
