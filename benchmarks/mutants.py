# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.mutants`: change one token of a package at a time, and see whether a test notices.

A mutant is one token of the product code exchanged for another: an operator, a number, a truth value. Each is written
into a copy of the tracked files and run against the tests that execute its line, the cheapest first, until one fails.
Coverage, measured once, gives these tests. A mutant on which no test fails survives: a new test must kill it, or
`equivalent.toml` lists it with the reason: it computes the same, or a slow test kills it.

Main declarations: `Mutant` and `mutants`, the mutants of a file; `executed`, the tests that execute each line;
`decide`, the `Fate` of one mutant; `campaign`, the fates of many; `main`, the command.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
import tokenize
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from queue import SimpleQueue

from gpu_checks.command import guard_exit
from lanecheck.console import command

ROOT = Path(__file__).parent.parent
WORK = ROOT / "build" / "mutants"
TIMES = "times.xml"
PACKAGES = ("lanecheck", "verify", "layouts", "isa_tables", "proofs", "gpu_checks")
EXCHANGED = {
    **{"+": "-", "-": "+", "*": "+", "/": "*", "//": "%", "%": "//", "**": "*"},
    **{"<<": ">>", ">>": "<<", "&": "|", "|": "&", "^": "|"},
    **{"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="},
    **{"+=": "-=", "-=": "+=", "*=": "+=", "//=": "*=", "|=": "&=", "&=": "|="},
    **{"and": "or", "or": "and", "not": "", "True": "False", "False": "True"},
    **{"min": "max", "max": "min", "any": "all", "all": "any", "break": "continue", "continue": "break"},
}
UNNOTICED = ("survived", "unexecuted")  # outcomes
GRACE = 20.0  # seconds that a run may take beyond ten times what its tests took without the mutant
Position = tuple[int, int]  # line from 1, column from 0


@dataclass(frozen=True, slots=True)
class Mutant:
    """One token exchanged for another."""

    file: str  # its path from the root of the repository
    line: int  # from 1
    column: int  # from 0
    old: str  # the token
    new: str  # what replaces it
    code: str  # its line without the indent

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Its identity in `equivalent.toml`, where line numbers would become outdated."""
        return self.file, self.code, self.old, self.new

    def applied(self, text: str) -> str:
        """The file's text with the token exchanged."""
        lines = text.splitlines(keepends=True)
        line, end = lines[self.line - 1], self.column + len(self.old)
        lines[self.line - 1] = line[: self.column] + self.new + line[end:]
        return "".join(lines)

    def compiles(self, text: str) -> bool:
        """Whether the file with the token exchanged is valid Python."""
        try:
            compile(self.applied(text), self.file, "exec")
        except SyntaxError:
            return False
        return True


@dataclass(frozen=True, slots=True)
class Fate:
    """The outcome of a mutant: killed, timed out, survived, or unexecuted; with the number of tests that ran."""

    mutant: Mutant
    outcome: str
    tests: int
    killer: str = ""


def mutants(file: str, text: str) -> Iterator[Mutant]:
    """Every exchange of a token of a file, in order; a few do not compile.

    Tokens that change no result are left out: annotations, imports for type checkers alone, the size of a cache, and
    whether a dataclass is frozen.

    >>> [m.new for m in mutants("f.py", "def f(a: int | None) -> int:\\n    return a + 1\\n")]
    ['-', '2']
    """
    lines, quiet = text.splitlines(), _unevaluated(ast.parse(text))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        new = _exchanged(token)
        if new is None or any(start <= token.start < end for start, end in quiet):
            continue
        yield Mutant(file, *token.start, token.string, new, lines[token.start[0] - 1].strip())


def _exchanged(token: tokenize.TokenInfo) -> str | None:
    if token.type == tokenize.NUMBER and token.string.isdecimal():
        return str(int(token.string) + 1)
    return EXCHANGED.get(token.string) if token.type in (tokenize.OP, tokenize.NAME) else None


def _unevaluated(tree: ast.Module) -> list[tuple[Position, Position]]:
    """The spans of a module that no run evaluates, or whose value changes no result."""
    spans: list[ast.AST] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None:
            spans.append(node.annotation)
        elif isinstance(node, ast.FunctionDef) and node.returns is not None:
            spans.append(node.returns)
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            spans += node.body
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("lru_cache", "dataclass"):
            spans.append(node)
    return [((n.lineno, n.col_offset), (n.end_lineno or 0, n.end_col_offset or 0)) for n in spans]  # type: ignore[attr-defined]


def first_line(text: str, line: int) -> int:
    """Return the first line of the innermost statement that a line is in, or the line itself if it is in none.

    >>> first_line("def f():\\n    return (\\n        1, 2,\\n    )\\n", 3)
    2
    """
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)]
    return max((node.lineno for node in nodes if node.lineno <= line <= (node.end_lineno or 0)), default=line)


def sample(count: int, seed: int, only: str) -> list[Mutant]:
    """`count` mutants that compile, drawn with a seed, from the files whose path begins with `only`."""
    paths = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    texts = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}
    every = [mutant for file, text in texts.items() if file.startswith(only) for mutant in mutants(file, text)]
    random.Random(seed).shuffle(every)
    return list(islice((mutant for mutant in every if mutant.compiles(texts[mutant.file])), count))


def unnoticed(log: Path) -> tuple[list[Mutant], int]:
    """The unnoticed mutants of an earlier campaign that the present code still has, and the number of the others.

    A mutant is found by its column and the text of its line, on the nearest line of that text; one whose line has
    changed, or its indentation, is gone.
    """
    entries = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    before = [Mutant(**entry["mutant"]) for entry in entries if entry["outcome"] in UNNOTICED]
    today: dict[tuple[object, ...], list[Mutant]] = {}
    for file in sorted({mutant.file for mutant in before if (ROOT / mutant.file).is_file()}):
        for mutant in mutants(file, (ROOT / file).read_text(encoding="utf-8")):
            today.setdefault((*mutant.key, mutant.column), []).append(mutant)
    moved = []
    for old in before:
        if same := today.get((*old.key, old.column)):
            moved.append(min(same, key=lambda new: abs(new.line - old.line)))
            same.remove(moved[-1])
    return moved, len(before) - len(moved)


def copy(name: str) -> Path:
    """A fresh copy of the tracked files, as they are in the working tree."""
    where = WORK / name
    shutil.rmtree(where, ignore_errors=True)
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for file in filter(None, listed.split("\0")):
        if (ROOT / file).is_file():
            target = where / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, target)
    return where


def digest() -> str:
    """A digest of all files that tests read, which shows whether a measured coverage is current."""
    tree = subprocess.run(["git", "stash", "create"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    command = ["git", "rev-parse", f"{tree.strip() or 'HEAD'}^{{tree}}"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def _named(*parts: str) -> str:
    """A short name of a result that depends on some texts."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


def pytest(where: Path, *arguments: str, limit: float | None = None) -> subprocess.CompletedProcess[str]:
    """One run of pytest in a copy, without its cache and without bytecode."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "CI": "1"}
    return subprocess.run(
        command, cwd=where, capture_output=True, text=True, timeout=limit, env=environment, check=False
    )


@dataclass(frozen=True, slots=True)
class Executed:
    """The tests that execute each line of each file, and the seconds of each test."""

    lines: dict[str, dict[int, list[str]]]
    seconds: dict[str, float]

    def tests(self, mutant: Mutant) -> list[str]:
        """The tests that execute a mutant's line, cheapest first; of a line run at import, those that use its file."""
        by_line = self.lines.get(mutant.file, {})
        executing = set(by_line.get(mutant.line, ()))
        if mutant.line not in by_line:  # a constant of several lines is executed at its first
            text = (ROOT / mutant.file).read_text(encoding="utf-8")
            executing = set(by_line.get(first_line(text, mutant.line), ()))
        if executing == {""}:
            executing = {test for tests in by_line.values() for test in tests}
        return sorted(executing - {""}, key=lambda test: (self.seconds.get(test, 0.0), test))


def executed(jobs: int, tests: Sequence[str] = ()) -> Executed:
    """The lines that each of some tests, or of the gate, executes: measured, or read from an earlier measurement."""
    kept = WORK / f"executed-{_named(digest(), *tests)}.json"
    if not kept.is_file():
        if find_spec("pytest_cov") is None:
            raise ValueError("pytest-cov is not installed: python -m pip install --group mutants")
        which = " ".join(tests) or "the whole gate"
        print(f"measuring which tests execute which lines: {which}, once", file=sys.stderr, flush=True)
        _measure(copy("measured"), jobs, kept, tests)
    measurement = json.loads(kept.read_text(encoding="utf-8"))
    names = measurement["tests"]
    lines = {f: {int(n): [names[t] for t in ts] for n, ts in by.items()} for f, by in measurement["lines"].items()}
    return Executed(lines, measurement["seconds"])


def _measure(where: Path, jobs: int, kept: Path, tests: Sequence[str]) -> None:
    """Run tests, by default the gate, under coverage; one that fails without any mutant is left out."""
    packages = [f"--cov={package}" for package in PACKAGES]
    timed = [f"--junit-xml={TIMES}", "-o", "junit_family=xunit1", "-o", "junit_duration_report=total"]
    run = pytest(
        where, "-n", str(jobs), "--dist", "loadgroup", "--cov-context=test", "--cov-report=", *packages, *timed, *tests
    )
    if run.returncode not in (0, 1):
        raise SystemExit(f"the tests do not run:\n{run.stdout[-3000:]}{run.stderr[-2000:]}")
    _keep(where, kept)


def _keep(where: Path, kept: Path) -> None:
    """Write the coverage and the durations of a run in a copy to a file."""
    import coverage

    data = coverage.CoverageData(str(where / ".coverage"))
    data.read()
    seconds, failed = _seconds(where / TIMES)
    names: dict[str, int] = {}
    lines: dict[str, dict[int, list[int]]] = {}
    for file in data.measured_files():
        lines[Path(file).relative_to(where).as_posix()] = {
            line: sorted({names.setdefault(_node(test), len(names)) for test in tests if _node(test) not in failed})
            for line, tests in data.contexts_by_lineno(file).items()
        }
    measurement = {"tests": list(names), "lines": lines, "seconds": seconds}
    kept.write_text(json.dumps(measurement), encoding="utf-8")


def _node(context: str) -> str:
    """The node id, without its group, of the test of a coverage context; empty for a line run at import."""
    return re.sub(r"@\w+$", "", context.rpartition("|")[0])


def _seconds(report: Path) -> tuple[dict[str, float], set[str]]:
    """The seconds of each test by its node id, and the tests that failed, from pytest's JUnit report."""
    from xml.etree import ElementTree

    seconds, failed = {}, set()
    for case in ElementTree.parse(report).iter("testcase"):
        file, classname, name = (case.get(key, "") for key in ("file", "classname", "name"))
        inner = classname.removeprefix(file.removesuffix(".py").replace("/", ".")).strip(".").replace(".", "::")
        test = re.sub(r"@\w+$", "", "::".join(filter(None, (file, inner, name))))
        seconds[test] = float(case.get("time", 0))
        if case.find("failure") is not None or case.find("error") is not None:
            failed.add(test)
    return seconds, failed


def decide(mutant: Mutant, where: Path, run: Executed, most: float) -> Fate:
    """Run the tests of a mutant in a copy, cheapest first, and restore the file."""
    tests = run.tests(mutant)
    if not tests:
        return Fate(mutant, "unexecuted", 0)
    chosen, spent = [], 0.0
    for test in tests:
        spent += run.seconds.get(test, 0.1)
        if chosen and spent > most:
            break
        chosen.append(test)
    path, listed = where / mutant.file, where / "tests.txt"
    text = path.read_text(encoding="utf-8")
    listed.write_text("\n".join(chosen), encoding="utf-8")
    try:
        path.write_text(mutant.applied(text), encoding="utf-8")
        ran = pytest(where, "-x", "--no-header", "--tb=no", f"@{listed}", limit=10 * spent + GRACE)
    except subprocess.TimeoutExpired:
        return Fate(mutant, "timed out", len(chosen))
    finally:
        path.write_text(text, encoding="utf-8")
    if ran.returncode == 0:
        return Fate(mutant, "survived", len(chosen), f"{len(tests) - len(chosen)} tests too slow to run")
    failed = next((line for line in ran.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))), "collection")
    return Fate(mutant, "killed", len(chosen), failed.partition(" - ")[0].partition(" ")[2])


def listed() -> dict[tuple[str, str, str, str], str]:
    """The mutants that no test of the gate has to kill, each with the reason."""
    text = (Path(__file__).parent / "equivalent.toml").read_text(encoding="utf-8")
    entries = tomllib.loads(text).get("mutant", [])
    return {(entry["file"], entry["code"], entry["old"], entry["new"]): entry["reason"] for entry in entries}


def campaign(chosen: Sequence[Mutant], run: Executed, jobs: int, most: float, log: Path) -> Iterator[Fate]:
    """The fate of each mutant: from the log if it is there, else run and appended."""
    known = {}
    if log.is_file():
        for line in log.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            known[Mutant(**entry["mutant"])] = Fate(**{**entry, "mutant": Mutant(**entry["mutant"])})
    yield from (known[mutant] for mutant in chosen if mutant in known)
    copies: SimpleQueue[Path] = SimpleQueue()
    for number in range(jobs):
        copies.put(copy(f"copy-{number}"))

    def try_mutant(mutant: Mutant) -> Fate:
        where = copies.get()
        try:
            return decide(mutant, where, run, most)
        finally:
            copies.put(where)

    with ThreadPoolExecutor(jobs) as pool, log.open("a", encoding="utf-8") as written:
        for fate in pool.map(try_mutant, [mutant for mutant in chosen if mutant not in known]):
            written.write(json.dumps(asdict(fate)) + "\n")
            written.flush()
            yield fate


def main(argv: Sequence[str] | None = None) -> int:
    """Run a campaign; 0 when a test notices every mutant or it is listed, 1 when one is neither."""
    parser = command.parser("python -m benchmarks.mutants", (__doc__ or "").split("\n\n")[1], "verify/core --count 20")
    parser.add_argument("only", nargs="?", default="", metavar="PATH", help="only files whose path begins so")
    parser.add_argument("--count", type=int, default=300, metavar="N", help="how many mutants (300)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="which ones (0)")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="how many at once (2)")
    parser.add_argument("--again", type=Path, metavar="LOG", help="those that no test noticed in the campaign of a log")
    parser.add_argument("--tests", nargs="+", default=[], metavar="PATH", help="only these tests (the whole gate)")
    parser.add_argument("--most", type=float, default=60.0, metavar="S", help="seconds of tests for one mutant (60)")
    return guard_exit("benchmarks.mutants", lambda: _run(parser.parse_args(argv)))


def _run(options: argparse.Namespace) -> int:
    again = options.again is not None
    chosen, gone = unnoticed(options.again) if again else (sample(options.count, options.seed, options.only), 0)
    WORK.mkdir(parents=True, exist_ok=True)
    run, reasons = executed(options.jobs, options.tests), listed()
    log = WORK / f"{_named(digest(), *options.tests)}.jsonl"
    outcomes = {"gone": gone} if gone else {}
    started, left = time.monotonic(), 0
    for done, fate in enumerate(campaign(chosen, run, options.jobs, options.most, log), 1):
        reason = reasons.get(fate.mutant.key, "") if fate.outcome in UNNOTICED else ""
        outcome = "listed" if reason else fate.outcome
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
        if outcome in UNNOTICED:
            left += 1
            m = fate.mutant
            print(f"{outcome:10} {m.file}:{m.line}:{m.column + 1}  {m.old} -> {m.new or '(nothing)'}  in  {m.code}")
        rate = (time.monotonic() - started) / done
        print(f"\r{done}/{len(chosen)}, {rate * (len(chosen) - done):.0f} s left ", end="", file=sys.stderr, flush=True)
    counted = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
    print(f"\n{options.again or f'seed {options.seed}'}: {len(chosen) + gone} mutants: {counted}")
    return 1 if left else 0


if __name__ == "__main__":
    raise SystemExit(main())
