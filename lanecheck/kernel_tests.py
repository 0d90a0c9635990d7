# SPDX-License-Identifier: Apache-2.0
"""`pytest --lanecheck-kernels`: each launch of a kernel in the user's own tests becomes an item, decided without a GPU.

The tests themselves run in a child process per file, `lanecheck.kernel_recording`; their own outcomes are never
reported as passed. An item passes if its launch is verified to compute what the test compares it with.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from lanecheck.console.children import describe_end, read_last_lines, run_child
from lanecheck.kernel_recording import TASK
from verify.capture.decisions import Judge
from verify.capture.recording.device import TargetGpu, UnknownTarget
from verify.capture.session import KernelSession

PACKAGES = {"torch": "torch", "triton": "triton"}
DROPPED = tuple(
    "--lanecheck --junitxml --junit-xml -n --numprocesses --dist --tx --cov --pdb --lf --ff --last-failed "
    "--failed-first -x --exitfirst --maxfail --durations --collect-only --co".split()
)
VALUED = ("-n", "--numprocesses", "--dist", "--tx", "--junitxml", "--junit-xml", "--maxfail", "--durations",
          "--lanecheck", "--lanecheck-require", "--lanecheck-target", "--lanecheck-configs", "--lanecheck-budget",
          "--lanecheck-seed", "--lanecheck-seconds")  # fmt: skip
UNDECIDED = 4
SUFFIX = re.compile(r"\[(?:launch \d|no launch|skipped)[^\]]*\]$")  # what an item's name has behind its test's
SIZED = re.compile(r"\[sizes [^\]]*\]$")  # what a test's name has if it is run at other sizes
SAID = (
    "compared",
    "claimed",
    "refuted",
    "partial",
    "undecided",
    "safety only",
    "not captured",
)  # in the summary, in order


def missing_packages() -> str:
    """Return what to install, in a line; empty if torch and Triton are there."""
    absent = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if not absent:
        return ""
    what = " and ".join(absent)
    command = "pip install torch --index-url https://download.pytorch.org/whl/cpu; pip install triton"
    return f"--lanecheck-kernels needs {what}, which isn't installed for {sys.executable}: {command} (no GPU is needed)"


class KernelTests:
    """The plugin of one run."""

    def __init__(self, config: pytest.Config) -> None:
        line = missing_packages()
        if line:
            raise pytest.UsageError(line)
        try:
            TargetGpu(config.getoption("--lanecheck-target"))
        except UnknownTarget as problem:
            raise pytest.UsageError(f"--lanecheck-target: {problem}") from None
        self.config = config
        given = getattr(config, "workerinput", {}).get("lanecheck")
        self.worker = given is not None
        seed = config.getoption("--lanecheck-seed")
        self.task: dict[str, Any] = given or {
            "folder": tempfile.mkdtemp(prefix="lanecheck-"),
            "seed": random.SystemRandom().getrandbits(32) if seed is None else seed,
            "arguments": keep_arguments(config),
        }
        self.folder = Path(self.task["folder"])
        self.session: KernelSession | None = None
        self.counts: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.notes: list[str] = []
        self.exitstatus = 0
        self.exact = select_items(config)

    @property
    def seed(self) -> int:
        """Return the seed of points, primes and chosen configurations."""
        return int(self.task["seed"])

    # ---- collection

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Give a worker of pytest-xdist the folder of recordings, the seed and the arguments."""
        node.workerinput["lanecheck"] = self.task

    @pytest.hookimpl(tryfirst=True)
    def pytest_pycollect_makemodule(self, module_path: Path, parent: pytest.Collector) -> pytest.Collector:
        """Collect a test file as the launches that it makes."""
        file: KernelFile = KernelFile.from_parent(parent, path=module_path)
        return file

    def records(self, path: Path) -> list[Mapping[str, Any]]:
        """Return what a file's tests did, recorded once for all processes of a run."""
        home = self.folder / hashlib.sha256(str(path).encode()).hexdigest()[:16]
        done = home / "done"
        with suppress(FileExistsError):
            home.mkdir(parents=True)
            record_file(path, home, self.config, self.task)
            done.touch()
        while not done.exists():
            time.sleep(0.1)
        lines = (home / "records.jsonl").read_text("utf-8").splitlines() if (home / "records.jsonl").exists() else []
        records = [{**json.loads(line), "home": str(home)} for line in lines]
        ended = (home / "ended").read_text("utf-8") if (home / "ended").exists() else ""
        return [*records, *([{"error": ended, "test": path.name}] if ended else [])]

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> Iterator[None]:
        """Keep the items of files that could not be recorded: a selection by name doesn't hide them."""
        errors = [item for item in items if isinstance(item, KernelItem) and "error" in item.record]
        tests = {(path, SUFFIX.sub("", name)) for path, name in self.exact}
        for item in list(items) if self.exact else ():
            name = item.nodeid.partition("::")[2]
            if (item.path, SUFFIX.sub("", name)) in tests and (item.path, name) not in self.exact:
                items.remove(item)
        yield
        items += [item for item in errors if item not in items]

    def judge(self, record: Mapping[str, Any]) -> Judge:
        """Return the judge of a recorded test."""
        if self.session is None:
            self.session = KernelSession(self.seed, float(self.config.getoption("--lanecheck-budget")))
        return Judge(self.session, record, Path(record["home"]))

    # ---- the end

    def count(self, report: pytest.TestReport) -> None:
        """Count what an item says in the summary."""
        for key, value in report.user_properties:
            if key == "lanecheck":
                self.counts[str(value)] += 1
            elif key == "lanecheck-reason":
                self.reasons[str(value)] += 1
            elif key == "lanecheck-note":
                self.notes.append(f"{report.nodeid.partition('::')[2]}: {value}")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count the items of all processes."""
        if report.when == "call":
            self.count(report)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Let a run in which nothing was captured, or something stayed undecided, not end with 0."""
        if self.worker or session.config.option.collectonly:
            return
        launches = sum(self.counts[outcome] for outcome in self.counts if outcome != "not captured")
        if exitstatus in (0, 5) and not launches:
            session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED
        elif exitstatus == 0 and (self.counts["partial"] or self.counts["undecided"]):
            session.exitstatus = UNDECIDED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print how many launches were compared, and why others were not."""
        if self.config.option.collectonly:
            return
        terminalreporter.section("lanecheck: kernels")
        always = ("compared", "safety only", "not captured")
        words = [f"{self.counts[outcome]} {outcome}" for outcome in SAID if self.counts[outcome] or outcome in always]
        target = self.config.getoption("--lanecheck-target")
        terminalreporter.write_line(f"{', '.join(words)}; for {target}, without a GPU; seed {self.seed}")
        for reason, many in self.reasons.most_common(10):
            terminalreporter.write_line(f"  {many} UNCHECKED: {reason}")
        for note in self.notes:
            terminalreporter.write_line(f"  note: {note}")

    def pytest_unconfigure(self) -> None:
        """Remove the recordings."""
        if not self.worker:
            shutil.rmtree(self.folder, ignore_errors=True)


def keep_arguments(config: pytest.Config) -> list[str]:
    """Return the arguments of this run that its children get too: all but files, and options of ours and of xdist."""
    words, files = list(config.invocation_params.args), list(config.known_args_namespace.file_or_dir or ())
    for file in files:
        for at in range(len(words) - 1, -1, -1):
            if words[at] == str(file):
                del words[at]
                break
    kept, rest = [], iter(map(str, words))
    for word in rest:
        if word in VALUED:
            next(rest, None)
        elif not word.startswith(DROPPED) or (word.startswith("-n") and word[2:3].isalpha()):
            kept.append(word)
    return kept


def select_items(config: pytest.Config) -> set[tuple[Path, str]]:
    """Return the items that arguments name, and let the arguments name their tests, as which pytest finds them."""
    selected = set()
    for at, word in enumerate(config.args):
        name, _, rest = word.partition("::")
        if SUFFIX.search(rest):
            selected.add(((config.invocation_params.dir / name).resolve(), rest))
            config.args[at] = SUFFIX.sub("", word)
    return selected


def select_nodes(path: Path, config: pytest.Config) -> list[str]:
    """Return the arguments of the run that name this file or tests in it; the file itself if none does."""
    nodes = []
    for word in config.args:
        name, _, rest = word.partition("::")
        if (config.invocation_params.dir / name).resolve() == path.resolve():
            node = SIZED.sub("", SUFFIX.sub("", rest))
            nodes.append(f"{path}::{node}" if rest else str(path))
    return nodes or [str(path)]


def record_file(path: Path, home: Path, config: pytest.Config, task: Mapping[str, Any]) -> None:
    """Run the tests of a file in a child, which records; it is ended with all that it started after its time."""
    option = config.getoption
    request = {
        "folder": str(home),
        "target": option("--lanecheck-target"),
        "configs": option("--lanecheck-configs"),
        "seed": task["seed"],
        "script": option("--lanecheck-scripts"),
    }
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "lanecheck.kernel_recording",
        *task["arguments"],
        "-p",
        "no:cacheprovider",
    ]
    command += ["-n0"] if config.pluginmanager.hasplugin("xdist") else []
    environment = {
        **os.environ,
        TASK: json.dumps(request),
        "PYTHONPATH": os.pathsep.join(filter(None, [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])),
    }
    environment.pop("PYTEST_XDIST_WORKER", None)
    seconds = float(option("--lanecheck-seconds"))
    output, tests = home / "output", select_nodes(path, config)
    try:
        code = run_child([*command, *tests], seconds, config.invocation_params.dir, environment, output)
        failed = code == 1 and (home / "records.jsonl").exists()  # tests, and not what ran them
        ended = "" if failed or code in (0, 5) else describe_end(code, find_last_error(output))
    except subprocess.TimeoutExpired:
        ended = f"its tests did not end within {seconds:g} s (--lanecheck-seconds)"
    if ended:
        (home / "ended").write_text(ended, "utf-8")


def find_last_error(file: Path) -> list[str]:
    """Return the last line of pytest's output that names an error, or else the last of all."""
    lines = read_last_lines(file)
    return [line for line in lines if "ERROR" in line or line.startswith("E ")][-1:] or lines[-1:]


class KernelFile(pytest.File):
    """A file of tests, as what they launch."""

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        """Yield the items of each test, under the names of the test and its classes."""
        plugin = find_plugin(self.config)
        nodes: dict[tuple[str, ...], KernelNode] = {}
        for record in plugin.records(self.path):
            if "error" in record:
                yield KernelItem.from_parent(self, name=f"{self.path.name}[not captured]", record=record, entry=None)
                continue
            names = split_name(record["test"])
            parent: Any = self
            for depth in range(1, len(names) + 1):
                if names[:depth] not in nodes:
                    nodes[names[:depth]] = KernelNode.from_parent(parent, name=names[depth - 1], records=[])
                    if depth == 1:
                        parent = nodes[names[:depth]]
                    else:
                        parent.nodes.append(nodes[names[:depth]])
                parent = nodes[names[:depth]]
            parent.records.append(record)
        yield from (node for names, node in nodes.items() if len(names) == 1)


def split_name(nodeid: str) -> tuple[str, ...]:
    """Return the names of a test and its classes; a parameter may have colons."""
    head, bracket, rest = nodeid.partition("[")
    names = head.split("::")[1:]
    return (*names[:-1], names[-1] + bracket + rest)


class KernelNode(pytest.Collector):
    """A test or a class of tests."""

    def __init__(self, *, records: list[Mapping[str, Any]], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.records, self.nodes = records, list[pytest.Collector]()

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        """Yield an item for each launch and comparison; one that says why there is none."""
        yield from self.nodes
        for record in self.records:
            entries = list(find_plugin(self.config).judge(record).plan()) if record["outcome"] != "skipped" else []
            for entry in entries or (None,):
                words = entry[0] if entry else "skipped" if record["outcome"] == "skipped" else "no launch"
                yield KernelItem.from_parent(
                    self, name=f"{self.name}[{words}]", nodeid=f"{self.nodeid}[{words}]", record=record, entry=entry
                )


class KernelItem(pytest.Item):
    """One launch of a test."""

    def __init__(self, *, record: Mapping[str, Any], entry: tuple[str, int, int, Any] | None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.record, self.entry = record, entry

    def runtest(self) -> None:
        """Pass if the launch is verified, fail if it is refuted; anything else is skipped with its reason."""
        record = self.record
        if self.entry is None:
            why = record.get("error") or record["why"] or "the test launches no kernel of Triton"
            self._leave("not captured", f"stops in capture: {why}" if record.get("outcome") == "failed" else why)
        assert self.entry is not None
        if record["outcome"] in ("failed", "xfail"):
            why = record["why"]
            if record["outcome"] == "failed":
                absent = find_plugin(self.config).judge(record).explain_absent()
                why = f"stops in capture: {why}" + (f"; {absent}" if absent else "")
            self._leave("not captured", why)
        verdict = find_plugin(self.config).judge(record).decide(*self.entry)
        if verdict.note:
            self.user_properties.append(("lanecheck-note", verdict.note))
        if verdict.status == "REFUTED":
            self._count("refuted")
            raise KernelRefuted(verdict.report())
        if verdict.status == "VERIFIED":
            self._count("claimed" if verdict.claimed else "compared")
            self.add_report_section("call", "lanecheck", verdict.report())
            return
        kinds = {"UNKNOWN": "undecided", "PARTIAL": "partial"}
        self._leave(kinds.get(verdict.status, "safety only" if verdict.safe else "not captured"), verdict.report())

    def _count(self, kind: str) -> None:
        self.user_properties.append(("lanecheck", kind))

    def _leave(self, kind: str, reason: str) -> None:
        """End the item without a pass; a run that requires values fails."""
        self._count(kind)
        self.user_properties.append(("lanecheck-reason", reason.partition("\n")[0]))
        if "values" in self.config.getoption("--lanecheck-require"):
            raise KernelRefuted(f"UNCHECKED: {reason}")
        raise pytest.skip.Exception(f"UNCHECKED: {reason.partition(chr(10))[0]}", _use_item_location=True)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the report of a launch that is refuted, and no code of ours."""
        return str(excinfo.value) if isinstance(excinfo.value, KernelRefuted) else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the file and the line of the test."""
        return self.path, self.record.get("line", 1) - 1, self.name


class KernelRefuted(AssertionError):
    """The failure of a launch, whose message is its report."""


def find_plugin(config: pytest.Config) -> KernelTests:
    """Return the plugin of this run."""
    plugin = config.pluginmanager.get_plugin("lanecheck-kernels")
    assert isinstance(plugin, KernelTests)
    return plugin
