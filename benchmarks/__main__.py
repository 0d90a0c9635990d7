# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks [SUITE …]`: measure, and report which targets are met; `--write` writes docs/performance.md."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from math import inf
from pathlib import Path

from benchmarks.absolute import Absolute, Unmeasured
from benchmarks.paired import Figure
from benchmarks.programs import ProgramFailed, program
from gpu_checks.command import guard_exit
from lanecheck.console import command

SUITES = ("command", "atlas", "algebra", "batched", "campaign", "gpu", "laws", "scan", "tiling")
RECORDED = Path(__file__).parent / "performance" / "recorded.toml"
MET, MISSED, INCOMPLETE = 0, 1, 4
SECONDS = 4.0
BUSY = 0.5  # processes that work at once, above which it is said
EPILOG = """
exit code: 0 every target that was measured is met; 1 one is missed; 2 usage; 4 a suite that was named could not be
measured, or a part of it, and no target is missed; or the page lacks a library; 130 interrupted
"""
Suite = Callable[[], Iterable[Figure | Absolute]]


def main(argv: Sequence[str] | None = None) -> int:
    """Print the figures of some or all suites, and which targets are met."""
    parser = command.parser("python -m benchmarks", "Measure what has to be fast.", "command", EPILOG)
    parser.add_argument("suite", nargs="*", metavar="SUITE", help=f"{', '.join(SUITES)}; all when none is named")
    parser.add_argument("--write", action="store_true", help="compare with other libraries; write docs/performance.md")
    parser.add_argument("--python", metavar="FILE", type=interpreter, help="with --write: a Python that has them")
    parser.add_argument(
        "--seconds", type=positive, metavar="S", help=f"with --write: CPU seconds of a cell of that page ({SECONDS:g})"
    )
    more = "with the suite gpu, on an NVIDIA H200: append what its probe took to FILE, or to the data of that page"
    parser.add_argument("--record", nargs="?", type=Path, const=RECORDED, metavar="FILE", help=more)
    return guard_exit("benchmarks", lambda: _run(parser, argv))


def _run(parser: argparse.ArgumentParser, argv: Sequence[str] | None) -> int:
    arguments = parser.parse_args(argv)
    suites, record = arguments.suite, arguments.record
    if arguments.write:
        if suites or record:
            parser.error("--write measures what its page shows, and no suite")
        page = importlib.import_module("benchmarks.performance.page")
        missing = page.write(arguments.python or sys.executable, arguments.seconds or SECONDS)
        for library in missing:
            print(
                f"benchmarks: the page lacks {library['name']} ({library['install']}): {library['missing']}",
                file=sys.stderr,
            )
        return INCOMPLETE if missing else MET
    if arguments.python or arguments.seconds:
        parser.error("--python and --seconds are for --write")
    for word in suites:
        if word not in SUITES:
            parser.error(f"no suite is named {word!r}; one of {', '.join(SUITES)}")
    if record and suites != ["gpu"]:
        parser.error("--record is of the suite gpu: python -m benchmarks gpu --record")
    given = (record,) if record else ()
    code = measured({suite: partial(figures, suite, *given) for suite in suites or SUITES}, named=bool(suites))
    if record == RECORDED and code != INCOMPLETE:
        importlib.import_module("benchmarks.performance.page").refresh()
    return code


def interpreter(file: str) -> str:
    """The path of a Python that runs; raises ArgumentTypeError for anything else."""
    try:
        if program(file, "-c", "print(6 * 7)")().stdout == "42\n":
            return file
        why = "it is no Python"
    except (OSError, ProgramFailed) as error:
        why = str(error)
    raise argparse.ArgumentTypeError(f"{file}: {why}")


def positive(text: str) -> float:
    """A number of seconds above 0; raises ArgumentTypeError for anything else."""
    with suppress(ValueError):
        if 0 < (seconds := float(text)) < inf:
            return seconds
    raise argparse.ArgumentTypeError(f"{text!r} isn't a number of seconds above 0")


def figures(suite: str, *given: Path) -> Iterable[Figure | Absolute]:
    """The figures of a suite, whose module is loaded only now: the memory of this process is small before."""
    measurements: Iterable[Figure | Absolute] = importlib.import_module(f"benchmarks.{suite}").figures(*given)
    return measurements


def measured(suites: dict[str, Suite], named: bool) -> int:
    """Print the figures of suites, then how many targets are met and what was not measured."""
    if (load := os.getloadavg()[0]) > BUSY:
        print(f"benchmarks: the load is {load:.1f} processes: figures by the clock need idle cores", file=sys.stderr)
    outcomes: list[bool | None] = []
    missing = []
    for name, suite in suites.items():
        before = len(outcomes)
        try:
            for figure in suite():
                print(figure, flush=True)
                outcomes.append(figure.met)
        except Unmeasured as why:
            print(f"{name}: not measured: {why}", flush=True)
            missing.append(name)
        else:
            missing += [name] * (len(outcomes) == before)
    print(summary(outcomes, missing), flush=True)
    return MISSED if False in outcomes else INCOMPLETE if missing and named else MET


def summary(outcomes: Sequence[bool | None], missing: Sequence[str]) -> str:
    """How many targets are met, how many figures have none here, and what was not measured."""
    parts = [f"{outcomes.count(True)} of {len(outcomes) - outcomes.count(None)} targets met"]
    if None in outcomes:
        parts.append(f"without a target on this machine: {outcomes.count(None)}")
    if missing:
        parts.append(f"not measured: {', '.join(missing)}")
    return "; ".join(parts)


if __name__ == "__main__":
    raise SystemExit(main())
