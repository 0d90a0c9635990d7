# SPDX-License-Identifier: Apache-2.0
"""The pytest plugin: the atoms, tilings, movements and index maps of your files as tests of your own repository.

pytest imports this module in every repository of an environment that has Lanecheck, so it imports nothing of ours
before Lanecheck is used: `--lanecheck FILE`, the ini option `lanecheck`, or the fixture `verify_atom`.
"""

from __future__ import annotations

import fnmatch
import glob
import importlib.util
import os
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from importlib.machinery import PathFinder
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from verify.core.settings import Settings
    from verify.gate import GateEntry, Suite
    from verify.report import Report

OURS = frozenset({"verify", "layouts", "isa_tables", "proofs", "gpu_checks"})
HOME = Path(__file__).resolve().parents[1]  # the folder of our packages
CHECKS = ("isa", "proof", "gpu")
VALUES = "values"  # of kernels: what a launch writes was compared
RECORDING = "LANECHECK_RECORD"  # the variable that a child has which records the launches of tests
ELSEWHERE = "run the command `lanecheck` in another folder"

NAMED = pytest.StashKey[frozenset[Path]]()  # the files that options name
# Those of them that are collected at the end, in order, and whether --ignore has no effect on them.
LATER = pytest.StashKey[dict[Path, bool]]()
SUITE = pytest.StashKey["Suite"]()
SETTINGS: pytest.StashKey[Settings] = pytest.StashKey()  # of the project


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options and the ini option."""
    group = parser.getgroup("lanecheck", "layouts of GPU matrix code")
    group.addoption(
        "--lanecheck",
        action="append",
        default=[],
        metavar="FILE",
        help="verify each entry of a TOML file as a test; a folder or a glob too; repeatable",
    )
    group.addoption(
        "--lanecheck-require",
        action="append",
        default=[],
        choices=(*CHECKS, VALUES),
        help="a check that must have evidence on every entry; values: what each launch writes is compared; repeatable",
    )
    group.addoption(
        "--lanecheck-allow-unchecked",
        action="store_true",
        help="pass, not skip, what could not be compared with its instruction",
    )
    group.addoption(
        "--lanecheck-allow-exec",
        action="store_true",
        help="call the functions FILE.py::function of the files in CI too (where the variable CI is set)",
    )
    group.addoption(
        "--lanecheck-kernels",
        action="store_true",
        help="verify each launch of a Triton kernel in the tests, without a GPU, by what a test compares it with",
    )
    group.addoption(
        "--lanecheck-scripts", action="store_true", help="with --lanecheck-kernels: run the files as scripts, not tests"
    )
    group.addoption(
        "--lanecheck-target", default="sm_90a", metavar="TARGET", help="the GPU that kernels are compiled for (sm_90a)"
    )
    configs = "the configurations of an autotuned kernel that are compared: the first and two others, or all"
    group.addoption("--lanecheck-configs", default="first", choices=("first", "all"), help=configs)
    group.addoption("--lanecheck-budget", type=float, default=60.0, metavar="S", help="seconds for one launch (60)")
    group.addoption(
        "--lanecheck-seconds", type=float, default=900.0, metavar="S", help="seconds to run a file's tests (900)"
    )
    group.addoption("--lanecheck-seed", type=int, metavar="N", help="the seed of an earlier run, to repeat it")
    parser.addini("lanecheck", "TOML files, folders or globs to verify, relative to rootdir", type="args", default=[])


def pytest_configure(config: pytest.Config) -> None:
    """Take the place of the tests if their kernels are to be verified; a child that records them leaves them alone."""
    if config.getoption("--lanecheck-kernels") and RECORDING not in os.environ:
        line = fault()
        if line:
            raise pytest.UsageError(line)
        tests = importlib.import_module("lanecheck.kernel_tests").KernelTests(config)
        config.pluginmanager.register(tests, "lanecheck-kernels")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Take our packages off the list of modules whose assertions pytest rewrites.

    pytest puts every package of a plugin's distribution there, by name: a repository's own `verify` would be rewritten
    for its name alone. Names that another plugin's distribution also has stay in the list.
    """
    manager = early_config.pluginmanager
    records = [
        f"\n{distribution.read_text('RECORD')}"
        for plugin, distribution in manager.list_plugin_distinfo()
        if getattr(plugin, "__name__", "") != __name__
    ]
    hook = manager.rewrite_hook
    marked = getattr(hook, "_must_rewrite", None)  # pytest offers no way to take a mark back
    if isinstance(marked, set):
        marked -= {name for name in OURS if not any(f"\n{name}/__init__.py" in record for record in records)}
        hook.mark_rewrite()  # with no name it forgets what it concluded from the marks


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Find the files that the options name, and those of them that this run collects.

    The ini option and `addopts` do not widen what the command line selects.
    """
    config = session.config
    option = _files(config.getoption("--lanecheck"), config.invocation_params.dir, "--lanecheck")
    listed = _files(config.getini("lanecheck"), config.rootpath, "ini option lanecheck:")
    settled = _settle(config, listed)
    if not (option or settled):
        return
    if not hasattr(config, "args_source"):
        raise pytest.UsageError("lanecheck: files as tests need pytest 7.2 or newer")
    selected = config.args_source is config.ArgsSource.ARGS
    words = {word.removeprefix("--lanecheck=") for word in config.invocation_params.args}
    typed = any(word.partition("=")[0] == "--lanecheck" for word in config.invocation_params.args)
    wanted = [*(option if typed or not selected else ()), *(() if selected else settled)]
    # As pytest collects a module that is an argument, whatever is ignored.
    named = words.intersection(config.getoption("--lanecheck"))
    exempt = {(config.invocation_params.dir / word).resolve() for word in named}
    config.stash[NAMED] = frozenset([*option, *settled])
    config.stash[LATER] = {file: file in exempt for file in wanted}


def _settle(config: pytest.Config, listed: list[Path]) -> list[Path]:
    """Keep `[tool.lanecheck]` of rootdir's pyproject.toml; return the files, its own if the ini option lists none."""
    file = config.rootpath / "pyproject.toml"
    if not file.is_file() or "[tool.lanecheck]" not in file.read_text(encoding="utf-8", errors="replace") or fault():
        return listed
    from verify.core.errors import UsageError
    from verify.core.settings import find_settings

    try:
        settings = find_settings(config.rootpath)
        if settings is None:
            return listed
        config.stash[SETTINGS] = settings
        return listed or settings.list_files()
    except UsageError as error:
        raise pytest.UsageError(f"lanecheck: {error}") from None


def _is_ignored(file: Path, session: pytest.Session) -> bool:
    """Return whether --ignore or --ignore-glob names a file or a folder above it, or a conftest.py ignores the file.

    pytest asks its hook on the way to a file; these files are not found that way. The hook isn't asked for the folders,
    because it also ignores those that pytest doesn't walk, such as `build`.
    """
    config = session.config
    folder = config.invocation_params.dir
    names = [(folder / word).resolve() for word in config.getoption("ignore") or ()]
    globs = [str(folder / word) for word in config.getoption("ignore_glob") or ()]
    for path in (file, *file.parents):
        if path in names or any(fnmatch.fnmatch(str(path), name) for name in globs):
            return True
    return bool(session.gethookproxy(file.parent).pytest_ignore_collect(collection_path=file, config=config))


def _files(words: Iterable[str], base: Path, option: str) -> list[Path]:
    """Return the files that words mean: files, folders with all TOML files below, and globs, relative to a folder."""
    listed: list[Path] = []
    for word in words:
        path = base / word
        if path.is_dir():
            inside = (file for file in path.rglob("*.toml") if not _is_hidden(file.relative_to(path)))
        else:
            inside = (file for name in glob.glob(str(path), recursive=True) if (file := Path(name)).is_file())
        files = [path] if path.is_file() else sorted(inside)
        if not files:
            problem = "no TOML file is in this folder" if path.is_dir() else f"no such file in {base}"
            raise pytest.UsageError(f"{option} {word}: {problem}")
        listed += [file.resolve() for file in files]
    return listed


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a file that is itself an argument; keep for the end a file in a folder that is an argument.

    pytest also passes files that were not selected, on its way to a selected test.
    """
    path, stash = file_path.resolve(), parent.config.stash
    if path not in stash.get(NAMED, frozenset()):
        return None
    if parent.session.isinitpath(file_path):
        stash[LATER].pop(path, None)
        collector: EntryFile = EntryFile.from_parent(parent, path=file_path)
        return collector
    if any(map(parent.session.isinitpath, file_path.parents)):
        stash[LATER].setdefault(path, False)
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, items: list[pytest.Item]) -> None:
    """Collect the other files last: a user's module with the name of one of ours has been imported by then."""
    for path, exempt in session.config.stash.get(LATER, {}).items():
        if not exempt and _is_ignored(path, session):  # now that pytest has loaded the conftest.py files on its way
            continue
        items += session.genitems(EntryFile.from_parent(session, path=path))


def fault() -> str:
    """Why the modules that an import would find are not ours, in one line; empty where they are."""
    line = name_shadowed_packages()
    if not line:
        from lanecheck.console import installation

        importlib.import_module("verify")  # that it is ours is seen in its content
        line = installation.fault()
    return line


def name_shadowed_packages() -> str:
    """Which of our packages another module hides, in one line; empty when none is.

    A module that is loaded counts as well as one that an `import` would find.
    """
    for name in sorted(OURS, key="verify".__ne__):
        loaded = sys.modules.get(name)
        specs = [loaded.__spec__ if loaded else importlib.util.find_spec(name), PathFinder.find_spec(name)]
        for spec in filter(None, specs):
            # A folder without __init__.py has no origin; `fault` reports where another package removed ours.
            origin = spec.origin or next(iter(spec.submodule_search_locations or ()), "missing")
            if HOME not in Path(origin).resolve().parents:
                return f"lanecheck: `{name}` is {origin}, not Lanecheck's own in {HOME}: rename yours, or {ELSEWHERE}"
    return ""


class EntryFile(pytest.File):
    """A TOML file of any kind of subjects; each is one test."""

    def collect(self) -> Iterator[pytest.Item]:
        """One item per entry of the file, in its order. Nothing is verified here."""
        line = fault()
        if line:
            raise self.CollectError(line)
        entries, problem = checker(self.config).read_entries(self.path)
        if problem:
            raise self.CollectError(problem)
        for entry in entries:
            yield EntryItem.from_parent(self, name=entry.name, entry=entry)


class EntryItem(pytest.Item):
    """The verification of one entry as a test."""

    def __init__(self, *, entry: GateEntry, **kwargs: object) -> None:
        super().__init__(**kwargs)  # type: ignore[arg-type]
        self.entry = entry

    def runtest(self) -> None:
        """Fail with the report unless the entry is verified; skip it where nothing could be compared."""
        settings = self.config.stash.get(SETTINGS, None)
        require = [check for check in self.config.getoption("--lanecheck-require") if check != VALUES]
        require = require or list(settings.require if settings is not None else ())
        allowed = self.config.getoption("--lanecheck-allow-unchecked")
        line = fault()
        if line:
            pytest.fail(line, pytrace=False)
        insist(checker(self.config), [self.entry], require, allowed)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the file and the line of the entry."""
        return self.path, self.entry.line - 1, self.name


def checker(config: pytest.Config) -> Suite:
    """Return the suite that verifies entries, one for the session: evidence of one entry is reused for the next."""
    if SUITE not in config.stash:
        from verify.gate import Suite

        settings = config.stash.get(SETTINGS, None)
        given = settings.of_kernels() if settings is not None else {}
        config.stash[SUITE] = Suite(config.getoption("--lanecheck-allow-exec"), "--lanecheck-allow-exec", given)
    return config.stash[SUITE]


def insist(checker: Suite, entries: Sequence[GateEntry], require: Sequence[str], allowed: bool) -> Report:
    """Return the report on the entries if all are verified; else the test fails with its text, or is skipped."""
    outcome = checker.verify(entries, require, allowed)
    if outcome.failure:
        raise NotVerified(outcome.failure)
    if outcome.unchecked:
        raise pytest.skip.Exception(outcome.unchecked, _use_item_location=True)
    return outcome.report


class NotVerified(AssertionError):
    """The failure of a test whose message is a report."""


class Shown:
    """What pytest shows of a failure: the report, once; in a summary line, the report's first line."""

    def __init__(self, text: str, where: tuple[Path, int | None]) -> None:
        self.text = text
        self.reprcrash = SimpleNamespace(path=str(where[0]), lineno=where[1] or 0, message=text.partition("\n")[0])

    def __str__(self) -> str:
        return self.text

    def toterminal(self, writer: Any) -> None:  # of a class that pytest does not export
        """Print the report within the terminal's columns."""
        from lanecheck.console.columns import wrap_clauses

        writer.write(wrap_clauses(self.text, writer.fullwidth))


@pytest.hookimpl(hookwrapper=True)  # which older versions of pytest know too
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
    """Show the report where a test fails with one, ours or the user's."""
    outcome = yield
    if call.excinfo is not None and isinstance(call.excinfo.value, NotVerified):
        where = Path(item.location[0]), item.location[1]
        outcome.get_result().longrepr = Shown(str(call.excinfo.value), where)


@pytest.fixture
def verify_atom(request: pytest.FixtureRequest) -> Callable[..., Report]:
    """`verify_atom("SM80_16x8x16", file="my_atoms.toml")` fails the test unless every selected atom is verified.

    A relative path is looked for beside the test first, then in the working folder. `require="isa"`, or several checks,
    makes evidence mandatory; `allow_unchecked=True` passes what could not be compared, which is skipped otherwise.
    """
    line = fault()
    if line:
        pytest.fail(line, pytrace=False)

    def verify(
        *names: str, file: str | Path | None = None, require: str | Sequence[str] = (), allow_unchecked: bool = False
    ) -> Report:
        __tracebackhide__ = True
        words = [require] if isinstance(require, str) else list(require)
        for word in words:
            if word not in CHECKS:
                pytest.fail(f"require={word!r}: no check has that name; one of {', '.join(CHECKS)}", pytrace=False)
        beside = request.path.parent / file if file is not None else None
        where = beside if beside is not None and beside.exists() else file
        entries, problem = checker(request.config).select(names, where, "atom")
        if problem:
            pytest.fail(problem, pytrace=False)
        return insist(checker(request.config), entries, words, allow_unchecked)

    return verify
