# SPDX-License-Identifier: Apache-2.0
"""`lanecheck foreign PROJECT… --python VENV/bin/python`: verify the maps of other projects."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from lanecheck.console.command import RUNS_CODE, add_execution
from lanecheck.console.outputs import reserve_file
from lanecheck.console.progress import Progress
from verify.cli import arguments, ending, output
from verify.core.errors import Exit, UsageError
from verify.core.names import select
from verify.core.verdict import Check
from verify.foreign.agreement import page
from verify.foreign.checker import case
from verify.maps import isolation
from verify.maps.answers import ForeignMap, MissingMap, read_answer
from verify.report import Case, Report

ADAPTERS = Path(__file__).with_name("adapters")
DESCRIPTION = f"""Verify the maps of fragments that other projects have: their own functions are called for every lane
and value, and compared with the PTX ISA and with the project's own inverse. PROJECT is one of the adapters (--list), or
the path of an adapter of yours. The project is imported by the interpreter of --python, in a child process with a
folder, a home and limits of its own: a crash or a hang costs one map. That isolates accidents, it isn't a sandbox.

All commands that run third-party code: {RUNS_CODE}.
In CI (the variable CI is set) they need --allow-exec."""
EXAMPLE = "tinygrad triton --python venv/bin/python"
STOPS = {"list": ("output",)}


def main(argv: Sequence[str] | None = None) -> int:
    """Verify the maps of the projects that the arguments name; returns the exit code."""
    return ending.run_guarded(_main, argv)


def _main(argv: Sequence[str] | None) -> int:
    options = arguments.parse(_parser(), argv, STOPS)
    if options.list:
        output.write("\n".join(list_shipped()) + "\n", options.output)
        return Exit.OK
    if not options.projects:
        raise UsageError(f"which project? One of {', '.join(list_shipped())}, or the path of an adapter")
    arguments.check_execution(options.allow_exec)
    limits = Limits(options.seconds, options.start)
    results = verify_projects(options.projects, options.python, options.only, limits, options.quiet)
    if options.agreement:
        output.write(page(results), options.agreement)
    cases = tuple(case for _, _, case in results)
    return output.report(Report(cases, frozenset(map(Check, options.require))), options)


def _parser() -> argparse.ArgumentParser:
    parser = arguments.parser("lanecheck foreign", DESCRIPTION, EXAMPLE)
    parser.add_argument("projects", nargs="*", metavar="PROJECT", help="an adapter's name, or the path of one")
    parser.add_argument(
        "--python", metavar="FILE", default=sys.executable, help="the interpreter that has the projects (this one)"
    )
    parser.add_argument("--only", action="append", default=[], metavar="GLOB", help="only maps whose names match")
    parser.add_argument("--seconds", type=float, default=20.0, metavar="S", help="time for one map (20)")
    parser.add_argument("--start", type=float, default=120.0, metavar="S", help="time to import a project (120)")
    add_execution(parser)
    arguments.add_require(parser)
    words = "write the results there too, as a page of Markdown"
    parser.add_argument("--agreement", metavar="FILE", type=reserve_file, help=words)
    parser.add_argument("--list", action="store_true", help="print the adapters and stop")
    return parser


def list_shipped() -> list[str]:
    """Return the names of the adapters that come with Lanecheck."""
    return sorted(path.stem for path in ADAPTERS.glob("*.py") if path.stem != "__init__")


def _adapter(name: str) -> Path:
    if name.endswith(".py") or os.sep in name:
        path = Path(name)
        if not path.is_file():
            raise UsageError(f"{name}: there is no such adapter file")
        return path
    [chosen] = select([name], list_shipped(), "adapter")
    return ADAPTERS / f"{chosen}.py"


class Limits(NamedTuple):
    """How many seconds a project has."""

    map: float = 20.0  # for one map
    start: float = 120.0  # to be imported


LIMITS = Limits()


def verify_projects(
    projects: Sequence[str],
    python: str = sys.executable,
    only: Sequence[str] = (),
    limits: Limits = LIMITS,
    quiet: bool = True,
) -> list[tuple[str, ForeignMap | MissingMap, Case]]:
    """Return (project and version, map, its verdicts) for every map of some projects, which `python` imports."""
    if (path := shutil.which(python)) is None:
        raise UsageError(f"--python: {python} isn't a program that can be run")
    path = os.path.abspath(path)  # the child has a folder of its own
    every = []
    for adapter in map(_adapter, projects):
        named = str(adapter) if adapter.parent != ADAPTERS else adapter.stem
        for project, foreign in maps_of(adapter, path, only, limits, quiet):
            words = ["lanecheck", "foreign", named, "--python", path, "--only", foreign.name]
            every.append((project, foreign, case(project, foreign, shlex.join(words))))
    return every


def maps_of(
    adapter: Path, python: str, only: Sequence[str], limits: Limits, quiet: bool
) -> Iterator[tuple[str, ForeignMap | MissingMap]]:
    """Yield (project and version, map) for every map of an adapter; what doesn't come is missing, with the reason."""
    answers = isolation.answers(adapter, python, limits.map, limits.start, only)
    try:
        head = next(answers, {"missing": "its process answered nothing"})
    except isolation.NoAnswer as missing:
        head = {"missing": str(missing)}
    if "missing" in head:
        way_out = " (use --python)" if head["missing"].endswith("isn't installed here") else ""
        yield adapter.stem, MissingMap("all maps", head["missing"] + way_out, whole=True)
        return
    project, names = f"{head['project']} {head['version']}", head["maps"]
    why = "its process ended before it answered"
    with Progress(len(names), "maps", quiet) as shown:
        for name in names:
            try:
                answer = next(answers, {"name": name, "missing": why})
            except isolation.NoAnswer as missing:
                why = str(missing)
                answer = {"name": name, "missing": why}
            shown.step(name)
            yield project, read_answer(answer)
